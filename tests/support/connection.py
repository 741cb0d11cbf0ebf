"""The tests' end of a stdio connection: it keeps and checks every message of an agent process.

It collects violations: a line of stdout that is not one JSON-RPC object in UTF-8, an answer that
nobody waits for, a message about a session that nobody knows, and whatever the oracle of outgoing
messages reports. They fail the test at the next wait or at the end.
"""

import asyncio
import importlib
import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Literal

from tests.support.processes import Mark
from tests.support.rpc import AgentGoneError, Call, Handler, Json, Message, RequestId
from tests.support.sandbox import Sandbox

EXIT_SECONDS = 5.0
"""How long an agent may live on after the end of its input; three times that under load."""


class Connection:
    """One connection to one agent process, from its start to the end of all it started."""

    handlers: dict[str, Handler]
    """How requests of the agent are answered, by method; others get an error."""

    def __init__(
        self, process: asyncio.subprocess.Process, mark: Mark, sandbox: Sandbox, *, check: bool = True
    ) -> None:
        self.sandbox = sandbox
        self.process = process
        self.mark = mark
        self.messages: list[Message] = []
        self.violations: list[str] = []
        self.handlers = {}
        self.questions: dict[RequestId, Json] = {}
        """Requests of the agent that nobody has answered or withdrawn yet."""
        self.withdrawn: list[RequestId] = []
        """Requests that the agent took back with `$/cancel_request`."""
        self.exit_seconds: float | None = None
        self._start = time.monotonic()
        self._ids = count(1)
        self._calls: dict[RequestId, list[asyncio.Future[Message]]] = {}
        self._sessions: set[str] = set()
        self._sent_methods: dict[RequestId, str] = {}
        self._stderr = bytearray()
        self._held: bytearray | None = None
        self._news = asyncio.Event()
        self._closed = False
        self._check = _oracle() if check else None
        self._readers = [asyncio.create_task(self._read()), asyncio.create_task(self._read_stderr())]

    # ── sending ───────────────────────────────────────────────────────────────

    def send(self, body: Json) -> Message:
        """Send one message as it is."""
        message = self._record("sent", body)
        self.send_raw(json.dumps(body, ensure_ascii=False).encode() + b"\n")
        return message

    def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be a message."""
        assert self.process.stdin is not None
        if self._held is None:
            self.process.stdin.write(data)
        else:
            self._held += data

    @contextmanager
    def one_write(self) -> Iterator[None]:
        """Let everything that is sent inside leave in one write."""
        self._held = bytearray()
        try:
            yield
        finally:
            held, self._held = bytes(self._held), None
            self.send_raw(held)

    def expect(self, id: RequestId, method: str) -> Call:
        """Be ready for the answer to a request that is sent by other means."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._calls.setdefault(id, []).append(answer)
        self._sent_methods[id] = method
        return Call(id, answer)

    def call(self, method: str, params: Json | None = None, *, id: RequestId = None) -> Call:
        """Send a request; an id of its own unless one is given."""
        call = self.expect(next(self._ids) if id is None else id, method)
        self._note_sessions(params)
        self.send({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params or {}})
        return call

    def notify(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def answer(self, id: RequestId, result: Json) -> None:
        """Answer a question that was left open, late answers included."""
        self.questions.pop(id, None)
        self.send({"jsonrpc": "2.0", "id": id, "result": result})

    def fail(self, id: RequestId, code: int, message: str) -> None:
        """Answer a question with an error."""
        self.questions.pop(id, None)
        self.send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    @property
    def stderr(self) -> str:
        """What the agent wrote to its log so far."""
        return self._stderr.decode(errors="replace")

    # ── the end ───────────────────────────────────────────────────────────────

    def assert_clean(self) -> None:
        """Fail if anything that the agent sent so far breaks a rule."""
        assert not self.violations, "\n".join(self.violations)

    async def close(self) -> int:
        """Close the agent's input and demand that it and all it started end in time; its exit status."""
        assert self.process.stdin is not None
        start = time.monotonic()
        self.process.stdin.close()
        limit = _exit_limit()
        left = await self.mark.wait_gone(limit)
        self.exit_seconds = time.monotonic() - start
        await self.kill()
        assert not left, f"still there {limit:.0f} s after the end of input: {left}"
        self.assert_clean()
        assert self.process.returncode is not None
        return self.process.returncode

    async def kill(self) -> None:
        """End the agent and all it started, and read what it still had to say."""
        await self.mark.kill()
        await self.process.wait()
        await asyncio.wait(self._readers, timeout=5)
        for reader in self._readers:
            reader.cancel()

    # ── reading ───────────────────────────────────────────────────────────────

    async def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while data := await self.process.stdout.read(1 << 20):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(line)
        if rest:
            self.violations.append(f"the output ends within a line: {rest[:200]!r}")
        self._closed = True
        for answers in self._calls.values():
            for answer in answers:
                answer.set_exception(self._gone())
                answer.exception()  # nobody need look at it
        self._news.set()

    def _gone(self) -> AgentGoneError:
        return AgentGoneError(f"the agent is gone; its log ends with\n{self.stderr[-2000:]}")

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(1 << 16):
            self._stderr += data

    def _take(self, line: bytes) -> None:
        """One line of stdout; a fault of a test's own handler must not end the reading."""
        try:
            self._line(line)
        except Exception as error:
            self.violations.append(f"{error!r} while reading {line[:1000]!r}")

    def _line(self, line: bytes) -> None:
        try:
            body = json.loads(line.decode("utf-8"))
        except ValueError:
            self.violations.append(f"not JSON in UTF-8: {line[:200]!r}")
            return
        if not isinstance(body, dict) or body.get("jsonrpc") != "2.0":
            self.violations.append(f"not a JSON-RPC object: {line[:200]!r}")
            return
        message = self._record("received", body)
        self._news.set()
        if "method" not in body:
            self._response(message)
        elif "id" in body:
            self._question(body)
            self._inspect(body)
        elif body["method"] == "$/cancel_request":
            self.withdrawn.append(body["params"]["requestId"])
            self.questions.pop(body["params"]["requestId"], None)
        else:
            self._inspect(body)

    def _response(self, message: Message) -> None:
        body = message.body
        waiting = self._calls.get(body.get("id"))
        if waiting:
            self._note_sessions(body.get("result"))
            waiting.pop(0).set_result(message)
            self._note_version(body)
            self._inspect(body)
        elif not ("error" in body and body.get("id") is None):
            self.violations.append(f"an answer that nobody waits for: {str(body)[:200]}")

    def _question(self, body: Json) -> None:
        handler = self.handlers.get(body["method"])
        if handler is None:
            self.fail(body["id"], -32601, f"Method not found: {body['method']}")
            return
        self.questions[body["id"]] = body
        result = handler(body["params"])
        if result is not None:
            self.answer(body["id"], result)

    def _inspect(self, body: Json) -> None:
        """Check one message of the agent."""
        params = body.get("params")
        if isinstance(params, dict):
            update = params.get("update")
            if isinstance(update, dict):
                self._note_child(update)
            session = params.get("sessionId")
            if session is not None and session not in self._sessions:
                self.violations.append(f"a message about the unknown session {session}: {str(body)[:200]}")
        if self._check is not None:
            self._check(body, self._sent_methods)

    def _note_version(self, body: Json) -> None:
        """From the answer to `initialize` on, the judge is that of the version that was agreed."""
        result = body.get("result")
        if self._check is not None and isinstance(result, dict) and result.get("protocolVersion") == 2:
            self._check = importlib.import_module("tests.support.oracle_v2").check_outgoing

    def _note_sessions(self, params: Json | None) -> None:
        if isinstance(params, dict) and isinstance(params.get("sessionId"), str):
            self._sessions.add(params["sessionId"])

    def _note_child(self, update: Json) -> None:
        """A subagent's session exists from its announcement on."""
        if update.get("sessionUpdate") == "subagent_update":
            self._sessions.add(update["sessionId"])
        elif update.get("sessionUpdate") == "subagent_spawned":
            self._sessions.add(update["subagentSessionId"])

    def _record(self, direction: Literal["sent", "received"], body: Json) -> Message:
        message = Message(len(self.messages), time.monotonic() - self._start, direction, body)
        self.messages.append(message)
        return message


def _exit_limit() -> float:
    loaded = os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)
    return EXIT_SECONDS * (3 if loaded else 1)


def _oracle() -> Callable[[Json, Mapping[RequestId, str]], None] | None:
    """The check of every message that the agent sends, where there is one."""
    if importlib.util.find_spec("tests.support.oracle") is None:
        return None
    module: Any = importlib.import_module("tests.support.oracle")
    check: Callable[[Json, Mapping[RequestId, str]], None] = module.check_outgoing
    return check
