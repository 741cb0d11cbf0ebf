"""The tour's ACP client: one agent process, JSON-RPC on its stdin and stdout."""

import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Literal

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

Json = dict[str, Any]
Direction = Literal["sent", "received"]

_MAX_LINE = 64 * 1024 * 1024
_STDERR_TAIL = 2000
_EXIT_SECONDS = 10.0


class AgentError(Exception):
    """The agent answered with an error, or went away."""


class Client:
    """Sends requests and tells what arrives, in its order.

    `observe` sees every message both ways, `permit` answers permission requests with the id of
    an offered option.
    """

    def __init__(
        self,
        process: Process,
        observe: Callable[[Direction, Json], None],
        permit: Callable[[Json], Awaitable[str]],
    ) -> None:
        self._process = process
        self._observe = observe
        self._permit = permit
        self._ids = count(1)
        self._arrived: dict[int, anyio.Event] = {}
        self._answers: dict[int, Json] = {}
        self._stderr = ""

    async def request(self, method: str, params: Json) -> Json:
        """Send a request and wait for its result; raises `AgentError` for an error."""
        id = next(self._ids)
        self._arrived[id] = anyio.Event()
        await self._send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        await self._arrived[id].wait()
        answer = self._answers.get(id)
        if answer is None:
            raise self._failure(f"the agent ended during {method}")
        if "error" in answer:
            raise self._failure(f"{method}: {answer['error'].get('message')}")
        result: Json = answer["result"]
        return result

    async def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def close(self) -> int:
        """End the agent's input and return its exit status."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        with anyio.move_on_after(_EXIT_SECONDS):
            return await self._process.wait()
        raise AgentError(f"the agent did not end within {_EXIT_SECONDS:.0f} s of the end of its input")

    async def _send(self, body: Json) -> None:
        assert self._process.stdin is not None
        self._observe("sent", body)
        try:
            await self._process.stdin.send(json.dumps(body).encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise self._failure("the agent is gone") from error

    def _failure(self, text: str) -> AgentError:
        return AgentError(f"{text}\n{self._stderr}".rstrip())

    async def read(self) -> None:
        """Take in messages until the agent closes its output."""
        assert self._process.stdout is not None
        lines = BufferedByteReceiveStream(self._process.stdout)
        try:
            while True:
                await self._take(self._parse(await lines.receive_until(b"\n", _MAX_LINE)))
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
            for waiting in self._arrived.values():
                waiting.set()

    def _parse(self, line: bytes) -> Json:
        try:
            body = json.loads(line)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._failure(f"the agent wrote no JSON-RPC message: {line[:80]!r}")
        return body

    async def read_log(self) -> None:
        """Keep the end of the agent's log, to show when something fails."""
        assert self._process.stderr is not None
        async for data in self._process.stderr:
            self._stderr = (self._stderr + data.decode(errors="replace"))[-_STDERR_TAIL:]

    async def _take(self, body: Json) -> None:
        self._observe("received", body)
        if "method" not in body:
            id = body.get("id")
            if isinstance(id, int) and id in self._arrived:
                self._answers[id] = body
                self._arrived[id].set()
        elif body["method"] == "session/request_permission":
            option = await self._permit(body["params"])
            outcome = {"outcome": "selected", "optionId": option}
            await self._send({"jsonrpc": "2.0", "id": body["id"], "result": {"outcome": outcome}})
        elif "id" in body:
            error = {"code": -32601, "message": f"Method not found: {body['method']}"}
            await self._send({"jsonrpc": "2.0", "id": body["id"], "error": error})


@asynccontextmanager
async def run_client(
    command: Sequence[str],
    env: Mapping[str, str],
    observe: Callable[[Direction, Json], None],
    permit: Callable[[Json], Awaitable[str]],
) -> AsyncIterator[Client]:
    """Start an agent and connect to it; whatever happens, the process is gone at the end."""
    try:
        process = await anyio.open_process(command, env=env, stderr=subprocess.PIPE)
    except OSError as error:
        raise AgentError(f"the agent cannot be started: {error}") from error
    async with process:
        client = Client(process, observe, permit)
        async with anyio.create_task_group() as readers:
            readers.start_soon(client.read)
            readers.start_soon(client.read_log)
            try:
                yield client
            finally:
                if process.returncode is None:
                    process.kill()
                readers.cancel_scope.cancel()
