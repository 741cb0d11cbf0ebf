"""`session/update`: everything that is reported while a session lives."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from wire.acp.base import Count, Int, Lenient, Marker, Number, SomeOf, Str, ValidItems, Wire
from wire.acp.config import SessionConfigOption
from wire.acp.content import ContentBlock
from wire.acp.session import Usage
from wire.acp.tools import ToolCall, ToolCallChange

# ── messages and plans ────────────────────────────────────────────────────────


class ContentChunk(Wire):
    """A piece of a message."""

    session_update: Literal["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
    content: ContentBlock
    message_id: Lenient[Str] = None


class PlanEntry(Wire):
    """One task of a plan."""

    content: Str
    priority: Literal["high", "medium", "low"]
    status: Literal["pending", "in_progress", "completed"]


class Plan(Wire):
    """The whole plan, for a client without `plan`."""

    session_update: Literal["plan"]
    entries: SomeOf[PlanEntry]


class PlanItems(Wire):
    """A plan as a list of tasks."""

    type: Literal["items"]
    plan_id: Str
    entries: SomeOf[PlanEntry]


class PlanFile(Wire):
    """A plan in a file."""

    type: Literal["file"]
    plan_id: Str
    uri: Str


class PlanMarkdown(Wire):
    """A plan as text."""

    type: Literal["markdown"]
    plan_id: Str
    content: Str


class PlanUpdate(Wire):
    """One of several plans, for a client with `plan`."""

    session_update: Literal["plan_update"]
    plan: Annotated[PlanItems | PlanFile | PlanMarkdown, Field(discriminator="type")]


class PlanRemoved(Wire):
    """A plan that no longer applies."""

    session_update: Literal["plan_removed"]
    plan_id: Str


# ── the session itself ────────────────────────────────────────────────────────


class UnstructuredCommandInput(Wire):
    """Free text behind a command."""

    hint: Str


class AvailableCommand(Wire):
    """One slash command."""

    name: Str
    description: Str
    input: Lenient[UnstructuredCommandInput] = None


class AvailableCommandsUpdate(Wire):
    """The whole list of commands."""

    session_update: Literal["available_commands_update"]
    available_commands: SomeOf[AvailableCommand]


class CurrentModeUpdate(Wire):
    """The session went to another mode."""

    session_update: Literal["current_mode_update"]
    current_mode_id: Str


class ConfigOptionUpdate(Wire):
    """The whole list of options."""

    session_update: Literal["config_option_update"]
    config_options: SomeOf[SessionConfigOption]


class SessionInfoUpdate(Wire):
    """Title and time; left out means unchanged, null means cleared."""

    session_update: Literal["session_info_update"]
    title: Lenient[Str] = None
    updated_at: Lenient[Str] = None


class Cost(Wire):
    """What the session has cost; `currency` is an ISO 4217 code."""

    amount: Number
    currency: Str


class UsageUpdate(Wire):
    """Tokens in the context window, and its size."""

    session_update: Literal["usage_update"]
    used: Count
    size: Count
    cost: Lenient[Cost] = None


class Notice(Wire):
    """A message of the system; `severity` is `info`, `warning`, `error`, or newer."""

    session_update: Literal["notice"]
    severity: Str
    title: Annotated[Str, Field(min_length=1)]
    description: Lenient[Str] = None


class CompactionUpdate(Wire):
    """A compaction; `status` is `in_progress`, `completed`, `failed`, `cancelled`, or newer."""

    session_update: Literal["compaction_update"]
    compaction_id: Str
    status: Str
    summary: Lenient[ValidItems[ContentBlock]] = None
    error: Lenient[Str] = None


class CompactionSummaryChunk(Wire):
    """A piece of a compaction's summary."""

    session_update: Literal["compaction_summary_chunk"]
    compaction_id: Str
    content: ContentBlock


# ── subagents ─────────────────────────────────────────────────────────────────


class Error(Wire):
    """Why a run of a subagent failed."""

    code: Int
    message: Str
    data: object = None


class WorkingState(Wire):
    """`running`, `requires_action`, `unknown`, or a state of a later version."""

    state: Str


class IdleStateUpdate(Wire):
    """The subagent waits; `error` says why, when `stop_reason` is `error`."""

    state: Literal["idle"]
    stop_reason: Lenient[Str] = None
    usage: Lenient[Usage] = None
    error: Lenient[Error] = None


def _state(value: object) -> str:
    state = value.get("state") if isinstance(value, dict) else getattr(value, "state", None)
    return "idle" if state == "idle" else "other"


StateUpdate = Annotated[
    Annotated[IdleStateUpdate, Tag("idle")] | Annotated[WorkingState, Tag("other")],
    Discriminator(_state),
]


class SubagentSessionCapabilities(Wire):
    """What the client can do with the subagent's session."""

    cancel: Lenient[Marker] = None


class SubagentUpdate(Wire):
    """A subagent's session; fields that are left out are unchanged, null clears them."""

    session_update: Literal["subagent_update"]
    session_id: Str
    title: Lenient[Str] = None
    description: Lenient[Str] = None
    capabilities: Lenient[SubagentSessionCapabilities] = None
    state: Lenient[StateUpdate] = None
    cwd: Str | None = None
    additional_directories: list[Str] | None = None


class SessionMessage(Wire):
    """A message between two sessions."""

    session_update: Literal["session_message"]
    message_id: Str
    sender_session_id: Lenient[Str] = None
    recipient_session_id: Lenient[Str] = None
    sender_message_id: Lenient[Str] = None
    recipient_message_id: Lenient[Str] = None
    content: Lenient[ValidItems[ContentBlock]] = None


class SessionMessageChunk(Wire):
    """A piece of such a message."""

    session_update: Literal["session_message_chunk"]
    message_id: Str
    content: ContentBlock


SessionUpdate = Annotated[
    ContentChunk
    | ToolCall
    | ToolCallChange
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk,
    Field(discriminator="session_update"),
]


class SessionNotification(Wire):
    """Params of `session/update`."""

    session_id: Str
    update: SessionUpdate
