"""What happens to messages and tool calls: the content of a conversation, as facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """The first frame of an API message or of a consolidated message; an edge, not a delta."""

    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool use as the model wrote it: the id that every later report of the call bears."""

    call: str
    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    parent: str | None = None
    """Id of the Agent or Task call whose subagent made it."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool use began to stream; its input is still empty."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class ToolDispatched:
    """A consolidated assistant message holds the tool use with its complete input."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """`tool_progress`: a beat of a call that runs."""

    call: str
    name: str
    parent: str | None = None
    elapsed: float | None = None
    subagent_type: str | None = None
    subagent_retry: object = None


@dataclass(frozen=True, slots=True)
class ToolHooked:
    """A PostToolUse hook of a call."""

    call: str
    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    response: object = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A `tool_result` block and what its message says about it."""

    call: str
    content: object = None
    is_error: bool = False
    structured: object = None
    """`tool_use_result` of a message that holds this one result."""
    non_execution_kind: str | None = None
    user_feedback: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolDenied:
    """`system/permission_denied`: a rule or a mode refused the call."""

    call: str
    name: str
    reason_type: str | None = None
    reason: str | None = None
    message: str | None = None
