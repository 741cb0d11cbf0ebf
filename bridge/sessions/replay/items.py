"""What a stored conversation consists of, free of the file's format and of any client's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class UserText:
    """A text that the user wrote; the blocks of one message share its id."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a subagent was asked by whoever coordinates it, behind its first prompt."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class UserImage:
    """An image that the user gave: base64 data with its type, or an address."""

    message_id: str
    data: str = ""
    mime_type: str = ""
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class AgentText:
    """A whole text of an answer, with the id it had live."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AgentThought:
    """A whole thinking block of an answer."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call with its complete input."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call; `structured` is Claude Code's own form of it, if the record has only one."""

    call: str
    content: Any
    is_error: bool
    structured: Any = None


@dataclass(frozen=True, slots=True)
class CompactionSummary:
    """The conversation before this point was compacted to a summary.

    `text` is the whole message without marks, `summary` its core where the framing is known.
    """

    message_id: str
    text: str
    summary: str | None


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """Claude Code's own message that the usage was spent, in place of an answer.

    `prompt` is the uuid of the prompt that got it. `stands` says that no real answer came after it;
    of several that stand, the last counts.
    """

    message_id: str
    record: str
    text: str
    prompt: str | None
    stands: bool


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """Background work ended; `call` is the tool call that started it. Nothing to see by itself."""

    task: str
    status: str
    call: str | None
    summary: str | None


Item = (
    UserText | Asked | UserImage | AgentText | AgentThought | ToolUse | ToolResult
    | CompactionSummary | UsageLimit | TaskEnd
)  # fmt: skip
