"""What happens to a Claude Code process: how it starts, and how it ends."""

from dataclasses import dataclass
from enum import Enum


class StartFailure(Enum):
    """Why Claude Code did not come up."""

    UNKNOWN_SESSION = "unknown_session"
    AUTH_REQUIRED = "auth_required"
    WITHDRAWN = "withdrawn"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class QueryInitialized:
    """The process answered its initialize request."""


@dataclass(frozen=True, slots=True)
class QueryStartFailed:
    """The process could not be started, or ended before it answered."""

    kind: StartFailure
    text: str
    reason: str | None = None
    """What makes it this failure, where that is known by name."""


class StreamEnd(Enum):
    """How the frames of a process ended when nobody asked it to."""

    ENDED = "ended"
    DIED = "died"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """The last item of the tap's queue."""

    end: StreamEnd
    text: str = ""


@dataclass(frozen=True, slots=True)
class WorkerShuttingDown:
    """`system/worker_shutting_down`: what follows may still be buffered output."""


@dataclass(frozen=True, slots=True)
class QueryStopped:
    """The process that the bridge was told to stop is gone."""
