"""What a frame can mean beside an event of a lifecycle: facts that nothing waits for."""

from dataclasses import dataclass

from bridge.messages.raw import Raw
from machines import events as e
from machines.companions.compaction import (
    BoundaryPassed,
    Compacted,
    Compacting,
    CompactionFailed,
    Summarized,
    SummaryStreamed,
)
from machines.companions.goal import Checked, Reset, Told


@dataclass(frozen=True, slots=True)
class Content:
    """Text of the conversation: it goes to the client as it is, unless a cancel dropped it."""

    update: dict[str, object]
    synthetic: bool = False
    """Claude Code wrote it, not the model."""
    command: str = ""
    """The local command whose output it is."""
    lane: str | None = None
    """Whose text it is: None for the root's."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A whole text of the model's in the root conversation, whether it streamed or not."""

    text: str


@dataclass(frozen=True, slots=True)
class UsageRead:
    """Token counts of a root message; `model` is given where one starts."""

    usage: object
    model: object = None
    starts: bool = False


@dataclass(frozen=True, slots=True)
class ModeReported:
    """Claude Code is in this permission mode."""

    mode: str


@dataclass(frozen=True, slots=True)
class CommandsListed:
    """The slash commands changed."""

    commands: object


@dataclass(frozen=True, slots=True)
class Initialized:
    """`system/init`, which comes before every turn."""

    raw: Raw


@dataclass(frozen=True, slots=True)
class ConversationReset:
    """Claude Code went on under another conversation id (`/clear`)."""

    id: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A control request that wants an answer."""

    request_id: str
    request: Raw


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply to a control request, at its place among the frames."""

    response: Raw


@dataclass(frozen=True, slots=True)
class Informed:
    """`system/informational`: something for the user to read."""

    level: str
    text: str
    id: str
    call: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFellBack:
    """Claude Code went on with another model; `text` is its own notice."""

    text: str
    id: str


@dataclass(frozen=True, slots=True)
class Originated:
    """What the result that follows was started by, in Claude Code's own words."""

    origin: Raw


@dataclass(frozen=True, slots=True)
class LinkDone:
    """What an MCP server sent the user to a link for is done."""

    elicitation: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """`system/memory_recall`: memories that Claude Code put into the context by itself."""

    id: str
    mode: str
    memories: tuple[Raw, ...]


Fact = (
    Content
    | Spoken
    | UsageRead
    | ModeReported
    | CommandsListed
    | Initialized
    | ConversationReset
    | Asked
    | Replied
    | Informed
    | ModelFellBack
    | Originated
    | LinkDone
    | Recalled
)
Side = (
    Compacting
    | Summarized
    | SummaryStreamed
    | Compacted
    | CompactionFailed
    | BoundaryPassed
    | Told
    | Checked
    | Reset
)
"""Inputs of lifecycles that go along with the turns."""
Item = e.Event | Side | Fact
