"""What a session tells of its subagents, for clients that show each in a session of its own (M20, M21)."""

from dataclasses import dataclass
from typing import Literal

from machines.tools.tool_events import ToolReturned, ToolUse

ChildEnd = Literal["completed", "failed", "cancelled", "disconnected"]
"""How a generation ends, in the AIR form."""
ChildState = Literal["running", "requires_action", "idle", "unknown"]
"""What a subagent does, in the RFD form."""
ChildStop = Literal["end_turn", "cancelled", "error"]
"""Why it is idle, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Place:
    """A session that shows something: the root, or that of a subagent."""

    child: str | None = None
    """Session id of the subagent."""


ROOT = Place()


@dataclass(frozen=True, slots=True)
class SpawnChild:
    """AIR: a subagent begins, in a session of this generation's own."""

    parent: Place
    session: str
    name: str
    task: str
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class EndChild:
    """AIR: it ended, and so did its session."""

    parent: Place
    session: str
    state: ChildEnd


@dataclass(frozen=True, slots=True)
class UpdateChild:
    """RFD: the first word of a subagent, or what changed of it; None for what did not."""

    parent: Place
    session: str
    title: str | None = None
    description: str | None = None
    state: ChildState | None = None
    stop: ChildStop | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MessageChild:
    """RFD: what a subagent is asked to do, in its own transcript."""

    session: str
    message: str
    sender: Place | None
    """None when nobody knows."""
    text: str


@dataclass(frozen=True, slots=True)
class RouteChild:
    """From now on these lanes lead to the session; what waited on them goes first (Routing 4)."""

    session: str
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForgetChild:
    """A subagent that is never shown: nothing waits on its lanes any more."""

    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShowFailedLaunch:
    """AIR: a launch, hidden behind the subagent that it was to start, failed before there was one."""

    use: ToolUse
    result: ToolReturned


ChildOutput = SpawnChild | EndChild | UpdateChild | MessageChild | RouteChild | ForgetChild | ShowFailedLaunch
