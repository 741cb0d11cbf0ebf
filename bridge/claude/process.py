"""One Claude Code process: started once, spoken to in order, and gone when it has stopped."""

import itertools
import json
import logging
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import Process, TaskGroup

from bridge.claude.errors import ClaudeGone, ControlError, StartFailed, explain_start, find_executable
from bridge.claude.frames import OUR_REQUESTS, Closed, Frame
from bridge.claude.launch import Launch, initialize_fields, sdk_options
from bridge.claude.lean import load_sdk
from machines.process.process_events import StartFailure

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient

    from bridge.claude.tap import Deliver, Gate, TapTransport

START_LIMIT = 60.0
"""Seconds for the answer to initialize; MCP servers may have to start first."""

_PATIENCE = 2.0
"""Seconds that a stream may outlive the process or the pipe beside it."""

_log = logging.getLogger(__name__)


class Claude:
    """One Claude Code process, from its start to its end.

    `tasks` hosts its writer and must live until `stop` has returned. `gate` is asked between
    frames once the process is ready, so that a client which does not read slows Claude Code down
    instead of filling our memory; control replies wait with the frames around them, and so does
    the time limit of `request`. `stop` passes a closed gate.
    """

    def __init__(self, tasks: TaskGroup, gate: "Gate | None" = None) -> None:
        self._tasks = tasks
        self._gate = gate
        self._tap: TapTransport | None = None
        self._client: ClaudeSDKClient | None = None
        self._early: list[Frame | Closed] = []
        """What came before anyone listened."""
        self._deliver: Deliver = self._early.append
        self._lines, self._unwritten = anyio.create_memory_object_stream[str](math.inf)
        self._written = anyio.Event()
        self._ids = itertools.count(1)
        self._replies: dict[str, _Reply] = {}
        self._refusal: Mapping[str, object] = {}
        """The error result of a process that does not start."""
        self._ready = False
        self._closed: Closed | None = None
        self._gone = anyio.Event()
        self.launch: Launch | None = None
        """What it was started with."""
        self._info: dict[str, object] = {}
        self._failure: Exception | None = None
        self._starting = anyio.CancelScope()
        self._running = anyio.Event()
        """The process runs, or the start has failed."""
        self._settled = anyio.Event()
        """No start is under way."""
        self._settled.set()
        self._stopping = anyio.Lock()

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    async def spawn(self, launch: Launch, limit: float = START_LIMIT) -> None:
        """Let a process come up before anyone listens to it; `start` tells how that went.

        Returns as soon as the process runs.
        """
        self._begin(launch, limit)
        await self._running.wait()

    async def start(
        self, launch: Launch, deliver: "Deliver", limit: float = START_LIMIT
    ) -> dict[str, object]:
        """Start the process, or go on with the one that was spawned, and answer its initialize reply.

        `deliver` gets every frame from the first on, and `Closed` last; it must not raise. A start
        that fails or is stopped raises `StartFailed` instead of delivering `Closed`, and leaves no
        process.
        """
        if self.launch is None:
            self._begin(launch, limit)
        for item in self._early:
            deliver(item)
        self._deliver = deliver
        try:
            await self._settled.wait()
        except BaseException:
            await self.stop()
            raise
        if self._failure is not None:
            raise self._failure
        return self._info

    def send(self, line: Mapping[str, object]) -> None:
        """Write one message; it goes out in the order of the calls, or nowhere if the process is gone."""
        text = json.dumps(line, allow_nan=False) + "\n"
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._lines.send_nowait(text)

    def reply(self, request_id: str, payload: Mapping[str, object]) -> None:
        """Answer a control request of Claude Code's."""
        self._respond({"subtype": "success", "request_id": request_id, "response": payload})

    def refuse(self, request_id: str, error: str) -> None:
        """Answer a control request of Claude Code's with an error, as for an aborted ask."""
        self._respond({"subtype": "error", "request_id": request_id, "error": error})

    async def request(
        self,
        subtype: str,
        timeout: float = 30,  # noqa: ASYNC109 - a scope of the caller's would not pause with the gate
        **fields: object,
    ) -> Mapping[str, object]:
        """Make a control request and answer its reply, whose frame is delivered as well.

        Raises `ControlError` for a refusal or after `timeout` seconds, `ClaudeGone` when the
        process ends first.
        """
        request_id = f"{OUR_REQUESTS}{next(self._ids)}"
        reply = self._replies[request_id] = _Reply()
        if self._gone.is_set():
            reply.arrived.set()
        request = {"subtype": subtype, **fields}
        try:
            self.send({"type": "control_request", "request_id": request_id, "request": request})
            while not reply.arrived.is_set():
                with anyio.move_on_after(timeout):
                    await reply.arrived.wait()
                if not reply.arrived.is_set() and not (self._tap and self._tap.held):
                    raise ControlError(
                        f"Claude Code did not answer {subtype} within {timeout:g} s.", "timeout"
                    )
        finally:
            del self._replies[request_id]
        return reply.read(subtype)

    async def stop(self) -> None:
        """End the process, by force after five seconds; it is gone on return. May be repeated."""
        with anyio.CancelScope(shield=True):
            self._starting.cancel()
            await self._settled.wait()
            await self._end()

    def kill(self) -> None:
        """End the process and its children at once, for a shutdown that has no time left."""
        if self._tap is not None:
            self._tap.kill()

    # ── the start ─────────────────────────────────────────────────────────────

    def _begin(self, launch: Launch, limit: float) -> None:
        self.launch, self._settled = launch, anyio.Event()
        self._tasks.start_soon(self._come_up, launch, limit, name="claude start")

    async def _come_up(self, launch: Launch, limit: float) -> None:
        try:
            with self._starting:
                self._info = await self._start(launch, limit)
            if self._starting.cancelled_caught:
                told = "Claude Code was stopped while it started."
                self._failure = StartFailed(StartFailure.FAILED, told)
        except Exception as error:
            self._failure = error
        finally:
            self._running.set()
            self._settled.set()

    async def _start(self, launch: Launch, limit: float) -> dict[str, object]:
        executable = find_executable(launch.cli_path, os.environ)
        await to_thread.run_sync(load_sdk)
        from bridge.claude.tap import TapTransport, client_on

        options = {**sdk_options(launch, os.environ, _euid()), "cli_path": executable}
        tap = self._tap = TapTransport(options, initialize_fields(launch), self._take, self._running.set)
        self._client = client_on(tap)
        try:
            with anyio.fail_after(limit):
                await self._client.connect()
            self._open(tap)
            return await self._client.get_server_info() or {}
        except Exception as error:
            await self._end()
            raise self._explain(error, limit, executable) from error
        except BaseException:
            await self._end()
            raise

    def _open(self, tap: "TapTransport") -> None:
        self._ready = True
        tap.gate = self._gate
        self._tasks.start_soon(self._write, tap, name="claude writer")
        self._tasks.start_soon(self._watch, tap, name="claude watch")
        if self._closed is not None:
            self._deliver(self._closed)

    def _explain(self, error: Exception, limit: float, executable: str | None) -> StartFailed:
        errors = self._refusal.get("errors")
        reason = self._refusal.get("startup_failure_reason")
        if isinstance(errors, list) and errors:
            said = "\n".join(str(text) for text in errors)
        elif isinstance(error, TimeoutError):
            said = f"Claude Code did not answer within {limit:g} s."
        else:
            said = (self._closed and self._closed.text) or str(error)
        return explain_start(said, reason if isinstance(reason, str) else None, executable)

    # ── what it writes ────────────────────────────────────────────────────────

    def _take(self, item: Frame | Closed) -> None:
        """Pass an item on, after what waits for it has been woken."""
        match item:
            case Frame():
                if item.type == "control_response":
                    self._settle(item.raw.get("response"))
                elif item.type == "result" and not self._ready:
                    self._refusal = item.raw
                self._deliver(item)
            case Closed():
                self._closed = item
                self._gone.set()
                for reply in self._replies.values():
                    reply.arrived.set()
                if self._ready:
                    self._deliver(item)

    def _settle(self, response: object) -> None:
        if not isinstance(response, Mapping):
            return
        reply = self._replies.get(str(response.get("request_id")))
        if reply is not None:
            reply.response = response
            reply.arrived.set()

    # ── what is written to it, and its end ────────────────────────────────────

    def _respond(self, response: Mapping[str, object]) -> None:
        self.send({"type": "control_response", "response": response})

    async def _write(self, tap: "TapTransport") -> None:
        try:
            async for line in self._unwritten:
                await tap.write_line(line)
        except ClaudeGone as gone:
            _log.debug("%s", gone)
            with anyio.move_on_after(_PATIENCE):
                await self._gone.wait()
            self.kill()  # it reads no more, so it can do no more; mostly it is gone already
        finally:
            self._unwritten.close()
            self._written.set()

    async def _watch(self, tap: "TapTransport") -> None:
        """Close a stdout that a child holds open after the process itself has ended."""
        if self._process is None:
            return
        await self._process.wait()
        seen = -1
        while not self._gone.is_set():
            if seen == tap.seq and not tap.held:
                await tap.drop_output()
            seen = tap.seq
            with anyio.move_on_after(_PATIENCE):
                await self._gone.wait()

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._stopping:
                self._lines.close()
                if self._tap is not None:
                    await self._end_process(self._tap)
                self._unwritten.close()

    async def _end_process(self, tap: "TapTransport") -> None:
        with anyio.move_on_after(1 if self._ready else 0):
            await self._written.wait()
        if tap.process is not None:
            await tap.end()
            with anyio.move_on_after(_PATIENCE):
                await self._gone.wait()
        if self._client is not None:
            await self._client.disconnect()
            self._client = None
        await tap.close()

    @property
    def _process(self) -> Process | None:
        return self._tap.process if self._tap else None


class _Reply:
    """The answer to one control request of ours, or the end of the process."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.response: Mapping[str, object] | None = None

    def read(self, subtype: str) -> Mapping[str, object]:
        match self.response:
            case None:
                raise ClaudeGone(f"Claude Code ended before it answered {subtype}.")
            case {"subtype": "error"}:
                code = self.response.get("error_code")
                raise ControlError(str(self.response.get("error")), code if isinstance(code, str) else None)
            case {"response": Mapping() as payload}:
                return payload
            case _:
                return {}


def _euid() -> int:
    """The effective user; systems without one have no root either."""
    return os.geteuid() if hasattr(os, "geteuid") else 1
