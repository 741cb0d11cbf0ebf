"""The Claude Code process of a session and its timers: the effects that end as events."""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from bridge.claude.errors import ClaudeGone, ControlError, StartFailed
from bridge.claude.frames import OUR_REQUESTS, Closed, Frame
from bridge.claude.launch import Launch
from bridge.claude.process import Claude
from bridge.messages.items import Side
from machines import events as e

if TYPE_CHECKING:
    from bridge.claude.tap import Gate

log = logging.getLogger(__name__)

SECONDS = {e.Timer.FORCE_CANCEL: 30.0, e.Timer.TEARDOWN: 5.0, e.Timer.FILE_PREVIEW: 2.0}

REPLY_LIMIT = 30.0
"""Seconds for the reply to a control request."""

Mail = Frame | Closed | e.Event | Side | Callable[[], None]
Reply = Mapping[str, object] | Exception
OnReply = Callable[[Reply], None]
Post = Callable[[Mail], None]
Admit = Callable[[Mapping[str, object]], None]
"""Looks at the initialize reply; raises StartFailed for an account that may not be used."""
IsStored = Callable[[Launch], bool]
"""Whether there is a transcript of the conversation that a launch resumes; may block."""


class SessionProcess:
    """Starts, feeds and stops the process that serves a session, at most one at a time (INV-S1)."""

    def __init__(
        self,
        tasks: TaskGroup,
        post: Post,
        drop_frames: Callable[[], None],
        gate: "Gate | None",
        admit: Admit,
        is_stored: IsStored,
        spawned: Claude | None = None,
    ) -> None:
        self._drop_frames = drop_frames
        self._tasks = tasks
        self._post = post
        self._gate = gate
        self._admit = admit
        self._is_stored = is_stored
        self._claude: Claude | None = None
        self._left: Claude | None = None
        """The process before, as long as it may still write the transcript."""
        self._spawned = spawned  # it came up for the first start
        self._requests = 0
        self._replies: dict[str, OnReply] = {}
        self._timers: dict[e.Timer, anyio.CancelScope] = {}
        self.serial = 0
        """Counts the processes that were let go of."""
        self.info: Mapping[str, object] = {}
        """The initialize reply of the process that runs, or ran last."""

    def start(self, launch: Launch, resumed: Launch | None = None) -> None:
        """Start a process; it ends as `QueryInitialized` or `QueryStartFailed`.

        `resumed` takes the place of `launch` if the conversation is stored: Claude Code refuses to
        resume what is not there, and to start anew what is.
        """
        spawned, self._spawned = self._spawned, None
        if spawned is not None and spawned.launch == (resumed or launch):
            claude, before = spawned, None
        else:
            claude, before = Claude(self._tasks, self._gate), spawned or (self._left if resumed else None)
        self._claude, self._left = claude, None
        self._tasks.start_soon(self._start, claude, launch, resumed, before, name="claude start")

    def stop(self) -> None:
        """Stop the process; it ends as `QueryStopped`."""
        self._tasks.start_soon(self._stop, self._claude, name="claude stop")

    def discard(self) -> None:
        """Let go of a process, that ended by itself or is not wanted; what it still said does not count."""
        self._drop_frames()
        self.serial += 1
        if self._claude is not None:
            self._tasks.start_soon(self._claude.stop, name="claude clean-up")
            self._claude, self._left = None, self._claude
        for request_id in tuple(self._replies):
            self._fail_reply(request_id, ClaudeGone("Claude Code ended before it answered."))

    def kill(self) -> None:
        """End the process at once: there is no time left."""
        if self._claude is not None:
            self._claude.kill()

    def send(self, line: Mapping[str, object]) -> None:
        """Write a line, in the order of the calls."""
        if self._claude is not None:
            self._claude.send(line)

    def reply(self, request_id: str, payload: Mapping[str, object]) -> None:
        """Answer a control request."""
        if self._claude is not None:
            self._claude.reply(request_id, payload)

    def refuse(self, request_id: str, error: str) -> None:
        """Answer a control request with an error."""
        if self._claude is not None:
            self._claude.refuse(request_id, error)

    def request(self, subtype: str, on_reply: OnReply | None = None, **fields: object) -> None:
        """Make a control request, in the order of the calls.

        The reply is handled at its place among the frames: `on_reply` gets its payload, or the
        `ControlError` or `ClaudeGone` that came instead.
        """
        self._requests += 1
        request_id = f"{OUR_REQUESTS}s{self._requests}"
        if self._claude is None:
            if on_reply is not None:
                on_reply(ClaudeGone("Claude Code does not run."))
            return
        if on_reply is not None:
            self._replies[request_id] = on_reply
            self._tasks.start_soon(self._expire, subtype, request_id, name=f"claude {subtype}")
        request = {"subtype": subtype, **fields}
        self._claude.send({"type": "control_request", "request_id": request_id, "request": request})

    def replied(self, response: Mapping[str, object]) -> None:
        """A control response came, one of ours or not."""
        on_reply = self._replies.pop(str(response.get("request_id")), None)
        if on_reply is None:
            return
        if response.get("subtype") == "error":
            code = response.get("error_code")
            on_reply(ControlError(str(response.get("error")), code if isinstance(code, str) else None))
            return
        payload = response.get("response")
        on_reply(payload if isinstance(payload, Mapping) else {})

    def start_timer(self, timer: e.Timer) -> None:
        """Start a timer, unless it runs."""
        if timer not in self._timers:
            scope = self._timers[timer] = anyio.CancelScope()
            self._tasks.start_soon(self._time, timer, scope, name=timer.value)

    def stop_timer(self, timer: e.Timer) -> None:
        """Stop a timer, if it runs."""
        scope = self._timers.pop(timer, None)
        if scope is not None:
            scope.cancel()

    async def _start(
        self, claude: Claude, launch: Launch, resumed: Launch | None, before: Claude | None
    ) -> None:
        def deliver(item: Frame | Closed) -> None:
            if self._claude is claude:
                self._post(item)

        if before is not None:
            await before.stop()  # two processes must not share a session
        if resumed is not None and (claude.launch or await to_thread.run_sync(self._is_stored, resumed)):
            launch = resumed
        try:
            info = await claude.start(launch, deliver)
            self._admit(info)
            self.info = info
        except StartFailed as failure:
            self._post(e.QueryStartFailed(failure.kind, failure.text, failure.reason))
            await claude.stop()  # the end of a process that was refused is no news
        except Exception as error:
            log.exception("Claude Code could not be started")
            self._post(e.QueryStartFailed(e.StartFailure.FAILED, type(error).__name__))
        else:
            self._post(e.QueryInitialized())

    async def _stop(self, claude: Claude | None) -> None:
        if claude is not None:
            await claude.stop()
        self._post(e.QueryStopped())

    async def _expire(self, subtype: str, request_id: str) -> None:
        await anyio.sleep(REPLY_LIMIT)
        late = ControlError(f"Claude Code did not answer {subtype} within {REPLY_LIMIT:g} s.", "timeout")
        self._post(lambda: self._fail_reply(request_id, late))

    def _fail_reply(self, request_id: str, error: Exception) -> None:
        on_reply = self._replies.pop(request_id, None)
        if on_reply is not None:
            on_reply(error)

    async def _time(self, timer: e.Timer, scope: anyio.CancelScope) -> None:
        with scope:
            await anyio.sleep(SECONDS[timer])
            self._timers.pop(timer, None)
            self._post(e.TimerFired(timer))
