"""What can happen to one async task (A1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from machines.tasks.task_events import TaskFacts

End = Literal["completed", "failed", "stopped"]


def end_of(status: str) -> End:
    """Claude Code's word for an end in the client's: `killed` and the like are `stopped`."""
    match status:
        case "completed" | "failed":
            return status
        case _:
            return "stopped"


@dataclass(frozen=True, slots=True)
class Told:
    """A start, an entry of the level list, or a result says something of it."""

    facts: TaskFacts = field(default_factory=TaskFacts)
    call: str | None = None
    background: bool = True
    """It proves that the task runs in the background."""
    by_level: bool = False
    """Only the level list says so."""


@dataclass(frozen=True, slots=True)
class Disowned:
    """It is a subagent."""


@dataclass(frozen=True, slots=True)
class Progressed:
    """It goes on."""

    call: str | None = None
    description: str = ""
    summary: str = ""
    last_tool: str = ""
    usage: Mapping[str, object] = field(default_factory=dict)
    output_file: str = ""


@dataclass(frozen=True, slots=True)
class Paused:
    """It rests."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """It runs again."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Claude Code told its end."""

    state: End = "completed"
    summary: str = ""
    call: str | None = None
    output_file: str = ""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """The list of background work names it no more."""


@dataclass(frozen=True, slots=True)
class TurnOver:
    """The turn that it began in has its result."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Claude Code stopped it on the client's request."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Its process is gone, or is about to go."""

    state: End = "failed"


Change = Told | Disowned | Progressed | Paused | Resumed | Ended | Unlisted | TurnOver | Stopped | Lost
