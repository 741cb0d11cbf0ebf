"""What a reporter finds out about a call, before anything is written for a client.

`tool-calls` §2: a reporter reads the data of Claude Code once and states facts; the renderer
alone knows the fields of ACP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Json = Mapping[str, object]
Item = dict[str, object]
Content = Sequence[Json]
"""Items of the `content` of a tool call."""
Locations = Sequence[Json]
Update = dict[str, object]
"""The payload of one `session/update`."""
Updates = list[Update]

Kind = Literal["read", "edit", "search", "execute", "think", "fetch", "switch_mode", "other"]


class Undecided(Enum):
    """The reporter leaves the choice to the common rule."""

    UNDECIDED = "undecided"


UNDECIDED = Undecided.UNDECIDED


@dataclass(frozen=True, slots=True)
class UseFacts:
    """What a tool use says."""

    title: str
    kind: Kind = "other"
    locations: Locations | None = None
    """None leaves the field out; an empty list says that the tool has locations, not yet known."""
    change: Json | None = None
    """The diff block of the change that the input describes."""
    display: Content = ()
    """A copy of input that the user reads, for clients that do not render `rawInput` (§4.6)."""
    withheld: tuple[str, ...] = ()
    """Keys of the input that AIR does not get in `rawInput`, since another field holds them."""
    command: bool = False
    """It runs in a terminal, where the client has one."""
    air: Json = field(default_factory=dict)
    """What goes under `_meta.jetbrains.air`."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What a command left behind."""

    text: str | None
    """None when it is shown as blocks, such as an image, and not as text."""
    exit_code: int | None = None
    """None when it is not known."""
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """What the result of a tool says."""

    title: str | None = None
    content: Content | None = None
    """For a command: what is shown where the client has no terminal."""
    command: CommandOutput | None = None
    raw_output: object = UNDECIDED
    """The text for `rawOutput`; None when the result is shown elsewhere or not worth showing."""
    plan_file: str | None = None
