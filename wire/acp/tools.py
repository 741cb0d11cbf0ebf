"""Tool calls and the question whether one may run."""

from typing import Annotated, Any, Literal

from pydantic import Field

from wire.acp.base import Count, Lenient, SomeOf, Str, ValidItems, Wire
from wire.acp.content import ContentBlock

ToolKind = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
ToolCallStatus = Literal["pending", "in_progress", "completed", "failed"]


class Content(Wire):
    """A content block of a tool call."""

    type: Literal["content"]
    content: ContentBlock


class Diff(Wire):
    """A change of one file."""

    type: Literal["diff"]
    path: Str
    old_text: Lenient[Str] = None
    new_text: Str


class Terminal(Wire):
    """A terminal that the tool call shows."""

    type: Literal["terminal"]
    terminal_id: Str


ToolCallContent = Annotated[Content | Diff | Terminal, Field(discriminator="type")]


class ToolCallLocation(Wire):
    """A place in a file; lines count from 1."""

    path: Str
    line: Lenient[Count] = None


class _ToolCall(Wire):
    tool_call_id: Str
    name: Lenient[Str] = None
    kind: Lenient[ToolKind] = None
    status: Lenient[ToolCallStatus] = None
    raw_input: Any = None
    raw_output: Any = None


class ToolCall(_ToolCall):
    """The first report of a tool call."""

    session_update: Literal["tool_call"]
    title: Str
    content: SomeOf[ToolCallContent] = Field(default_factory=list)
    locations: SomeOf[ToolCallLocation] = Field(default_factory=list)


class ToolCallUpdate(_ToolCall):
    """What changed of a tool call; null means unchanged on v1."""

    title: Lenient[Str] = None
    content: Lenient[ValidItems[ToolCallContent]] = None
    locations: Lenient[ValidItems[ToolCallLocation]] = None


class ToolCallChange(ToolCallUpdate):
    """A later report of a tool call, as a session update."""

    session_update: Literal["tool_call_update"]


PermissionOptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(Wire):
    """One answer that the user can give."""

    option_id: Str
    name: Str
    kind: PermissionOptionKind


class RequestPermissionRequest(Wire):
    """Params of `session/request_permission`."""

    session_id: Str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class SelectedPermissionOutcome(Wire):
    """The user chose; only an option that was offered counts."""

    outcome: Literal["selected"]
    option_id: Str


class CancelledPermissionOutcome(Wire):
    """The question was put aside."""

    outcome: Literal["cancelled"]


class RequestPermissionResponse(Wire):
    """The client's answer to `session/request_permission`."""

    outcome: Annotated[SelectedPermissionOutcome | CancelledPermissionOutcome, Field(discriminator="outcome")]
