"""The transport under the SDK: every frame is stamped and delivered before the SDK may look at it.

The SDK keeps what it does well (argv, environment, lines, stderr, the handshake). It sees no
message, ask or hook: those would pass its 100 slots and its own tasks, and lose their order
(`claude-sdk` §1–2). Importing this module imports the SDK; `process` does so after `load_sdk()`.
"""

import json
import logging
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    CLIJSONDecodeError,
    ProcessError,
    Transport,
)
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

from bridge.claude.errors import ClaudeGone, describe_exit
from bridge.claude.frames import OUR_REQUESTS, Closed, Frame
from machines.process.process_events import StreamEnd

Deliver = Callable[[Frame | Closed], None]
Gate = Callable[[], Awaitable[None] | None]
"""Answers None while frames may flow, else what to await before the next one."""

EOF_GRACE = 2.0
TERM_GRACE = 3.0
"""Seconds that a process gets after the end of its input, and after SIGTERM: it ends its tools then."""

_log = logging.getLogger(__name__)


class TapTransport(Transport):
    """One process: its frames in the order it wrote them, then its end.

    `gate` is asked after each frame and holds the whole stream back: frames, asks and control
    replies keep their order. So nothing that opens the gate may wait for a frame.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        initialize: Mapping[str, object],
        deliver: Deliver,
        on_running: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner = SubprocessCLITransport(
            _no_prompt(), ClaudeAgentOptions(**options, stderr=self._note_stderr)
        )
        self._initialize = initialize
        self._deliver = deliver
        self._on_running = on_running
        self.seq = 0
        self._holding: anyio.CancelScope | None = None
        self._ending = False
        self.gate: Gate | None = None
        self.stderr: deque[str] = deque(maxlen=20)

    @property
    def process(self) -> Process | None:
        """The running process, or None before and after."""
        return self._inner._process

    @property
    def held(self) -> bool:
        """The gate is closed."""
        return self._holding is not None

    # ── the six methods that the SDK calls ────────────────────────────────────

    async def connect(self) -> None:
        await self._inner.connect()
        self._on_running()

    async def write(self, data: str) -> None:
        """Pass a line on; the SDK's initialize request is completed with our fields."""
        message = json.loads(data)
        if message.get("type") == "control_request":
            message["request"] |= self._initialize
        # The pipe of a process that ended already is broken. Its reader is about to learn why; an
        # error here would make the SDK stop the reader first.
        with suppress(ClaudeGone):
            await self.write_line(json.dumps(message) + "\n")

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Deliver every frame, and yield to the SDK only what is its own."""
        closed = None
        try:
            async for raw in self._inner.read_messages():
                self.seq += 1
                self._deliver(Frame(self.seq, raw))
                if _is_for_sdk(raw):
                    yield raw
                if self.gate is not None and not self._ending and (opening := self.gate()) is not None:
                    await self._hold(opening)
            closed = await self._exited(StreamEnd.ENDED, 0)
        except ProcessError as error:
            closed = await self._exited(StreamEnd.DIED, error.exit_code)
        except Exception as error:
            closed = await self._broken(error)
        finally:
            code = self.process.returncode if self.process else None
            self._deliver(closed or self._closed(StreamEnd.ENDED, code))
        # The SDK gives its handshake up only when its reader fails.
        raise CLIConnectionError("Claude Code has ended.")

    async def close(self) -> None:
        await self.end()
        await self._drain()
        await self._inner.close()

    def is_ready(self) -> bool:
        return self._inner.is_ready()

    async def end_input(self) -> None:
        await self._inner.end_input()

    # ── what the process object calls ─────────────────────────────────────────

    async def write_line(self, line: str) -> None:
        """Write a line of ours as it is; raises `ClaudeGone`."""
        try:
            await self._inner.write(line)
        except CLIConnectionError as error:
            raise ClaudeGone(str(error)) from error

    async def drop_output(self) -> None:
        """Stop to read a stream whose process is gone."""
        if self.process is not None and self.process.stdout is not None:
            await self.process.stdout.aclose()

    # ── the end ───────────────────────────────────────────────────────────────

    async def end(self, eof_grace: float = EOF_GRACE) -> None:
        """End the process: no more input, then SIGTERM, then SIGKILL; it is gone on return."""
        self._ending = True
        if self._holding is not None:
            self._holding.cancel()
        process = self.process
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(eof_grace):
                await self.end_input()
                await process.wait()
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                with anyio.move_on_after(TERM_GRACE):
                    await process.wait()
            if process.returncode is None:
                self.kill()
                await process.wait()

    def kill(self) -> None:
        """End the process at once, and what it started: that would go on without it."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        orphans = list(_descendants(process.pid))
        with suppress(ProcessLookupError):
            process.kill()
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def _exited(self, end: StreamEnd, code: int | None) -> Closed:
        """The process is gone by itself, or because it was told to."""
        await self._read_last_stderr()
        if self._ending:
            return self._closed(StreamEnd.ENDED, code)
        return self._closed(end, code, "\n".join([describe_exit(code or 0), *self.stderr]))

    async def _broken(self, error: Exception) -> Closed:
        """The stream cannot be read on: end a process that may go on to write it."""
        asked = self._ending
        await self.end(eof_grace=0)
        return self._closed(StreamEnd.ENDED if asked else StreamEnd.BROKEN, text=_describe_break(error))

    async def _drain(self) -> None:
        """Take what nobody read: the pipe is closed at its end alone."""
        if self.process is not None and self.process.stdout is not None:
            with suppress(anyio.ClosedResourceError), anyio.move_on_after(1, shield=True):
                async for _ in self.process.stdout:
                    pass

    async def _read_last_stderr(self) -> None:
        """Wait for the end of stderr, which a child of the process may hold open."""
        reader = self._inner._stderr_task
        if reader is not None:
            with anyio.move_on_after(1):
                await reader.wait()

    def _closed(self, end: StreamEnd, code: int | None = None, text: str = "") -> Closed:
        return Closed(self.seq + 1, end, code, text)

    async def _hold(self, opening: Awaitable[None]) -> None:
        with anyio.CancelScope() as self._holding:
            await opening
        self._holding = None

    def _note_stderr(self, line: str) -> None:
        self.stderr.append(line[:1000])
        _log.debug("claude: %s", line)


def client_on(tap: TapTransport) -> ClaudeSDKClient:
    """The SDK's client; it has no options, because the transport has them all."""
    return ClaudeSDKClient(ClaudeAgentOptions(), transport=tap)


def _is_for_sdk(raw: Mapping[str, Any]) -> bool:
    """Answers to the SDK's own requests, and messages to in-process MCP servers."""
    match raw:
        case {"type": "control_response", "response": {"request_id": str(id)}}:
            return not id.startswith(OUR_REQUESTS)
        case {"type": "control_request", "request": {"subtype": "mcp_message"}}:
            return True
        case _:
            return False


def _describe_break(error: Exception) -> str:
    match error:
        case CLIJSONDecodeError(original_error=json.JSONDecodeError()):
            return "Claude Code wrote a line that is not JSON."
        case CLIJSONDecodeError():
            return "Claude Code wrote a line that is too long to read."
        case _:
            _log.error("reading Claude Code failed", exc_info=error)
            return f"Reading Claude Code failed: {type(error).__name__}."


def _descendants(pid: int) -> Iterator[int]:
    """The processes under one, as far as the system lists them (Linux)."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from _descendants(child)


async def _no_prompt() -> AsyncIterator[dict[str, Any]]:
    """Prompts are lines like any other; the SDK's transport wants a stream of them."""
    return
    yield
