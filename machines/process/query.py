"""One Claude Code process, from its start to the end of its frames (M3).

1. It ends exactly once: `ended` by itself, or `stopped` by us (INV-Q1).
2. A process that never answered its initialize request is a failed start, not a lost stream.
3. After `worker_shutting_down` frames may still come; the end then counts as a shutdown.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle
from machines.events import (
    QueryInitialized,
    QueryStartFailed,
    StartFailure,
    StreamClosed,
    StreamEnd,
    WorkerShuttingDown,
)
from machines.outputs import Failure, FailureKind, StopQuery

DIED = "The Claude Agent process exited unexpectedly. Send the prompt again to continue."


@dataclass(frozen=True, slots=True)
class Stop:
    """The session closes, or replaces this process."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process answered: prompts may be sent."""


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The process never answered."""

    cause: QueryStartFailed


@dataclass(frozen=True, slots=True)
class Lost:
    """The process ended under the session; None when it ended cleanly."""

    failure: Failure | None


Input = QueryInitialized | QueryStartFailed | WorkerShuttingDown | StreamClosed | Stop
Signal = Ready | StartFailed | Lost | StopQuery


class Query(Lifecycle[Input, Signal]):
    """Lifecycle of one Claude Code process."""

    starting = State(initial=True)
    streaming = State()
    draining = State()
    ended = State(final=True)
    stopped = State(final=True)

    initialized = starting.to(streaming, on="report_ready")
    start_failed = starting.to(ended, on="report_start_failure")
    shut_down = streaming.to(draining)
    close_stream = ended.from_(streaming, draining, on="report_loss") | starting.to(
        ended, on="report_early_end"
    )
    stop = stopped.from_(starting, streaming, draining, on="stop_process")

    triggers: ClassVar[dict[type, str]] = {
        QueryInitialized: "initialized",
        QueryStartFailed: "start_failed",
        WorkerShuttingDown: "shut_down",
        StreamClosed: "close_stream",
        Stop: "stop",
    }

    def report_ready(self) -> None:
        """Tell the session that it may go on."""
        self.put(Ready())

    def report_start_failure(self, cause: QueryStartFailed) -> None:
        """Tell the session why there is no process."""
        self.put(StartFailed(cause))

    def report_early_end(self, cause: StreamClosed) -> None:
        """The frames ended before the initialize reply came."""
        self.put(StartFailed(QueryStartFailed(StartFailure.FAILED, cause.text)))

    def report_loss(self, cause: StreamClosed) -> None:
        """Tell the session what became of its process (M3 finish rules, step 7)."""
        self.put(Lost(self._failure(cause)))

    def stop_process(self) -> None:
        """Have the process stopped; whatever it still says is dropped."""
        self.put(StopQuery())

    def _failure(self, cause: StreamClosed) -> Failure | None:
        if self.phase == "draining":
            return Failure(FailureKind.WORKER_SHUTDOWN, DIED)
        match cause.end:
            case StreamEnd.ENDED:
                return None
            case StreamEnd.DIED:
                return Failure(FailureKind.TRANSPORT_LOST, DIED)
            case StreamEnd.BROKEN:
                return Failure(FailureKind.TRANSPORT_LOST, cause.text or DIED)
