"""What Claude Code is told and what it writes: its runs, its tools, commands and frames."""

from dataclasses import dataclass, field
from typing import Literal

from machines import events as e
from machines.outputs import Failure, FailureKind, Outcome
from machines.results.usage import Tokens

Priority = Literal["now", "next", "later"]
RANKS: tuple[Priority, ...] = ("now", "next", "later")

OPTIONS = (e.Option("allow", grants=True), e.Option("always", grants=True), e.Option("reject", grants=False))

_API = Failure(FailureKind.API, "API Error: 529", "overloaded")
_AUTH = Failure(FailureKind.AUTH_REQUIRED, "Please run /login")

ENDINGS: tuple[tuple[dict[str, object], Outcome], ...] = (
    ({"stop_reason": "end_turn", "terminal_reason": "completed"}, Outcome()),
    ({"stop_reason": "end_turn", "terminal_reason": "completed"}, Outcome()),
    ({"stop_reason": "end_turn", "terminal_reason": "completed"}, Outcome()),
    ({"stop_reason": "max_tokens"}, Outcome("max_tokens")),
    ({"stop_reason": "refusal"}, Outcome("refusal")),
    ({"subtype": "error_max_turns"}, Outcome("max_turn_requests")),
    ({"is_error": True, "text": _API.text, "error_kind": "overloaded"}, Outcome(failure=_API)),
    ({"is_error": True, "text": _AUTH.text, "auth_required": True}, Outcome(failure=_AUTH)),
)
"""Results that end a run, each with what its prompts are answered."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text delta of the message that streams; it passes no machine."""


@dataclass(slots=True, eq=False)
class Run:
    """Work that ends with one result: of prompts, or a cycle of Claude Code's own."""

    name: str
    cycle: bool
    members: list[str]
    """The messages it is of: prompts, and what was added to them."""
    began_with: int = 0
    """How many of them were there from the beginning; the others joined it."""
    tokens: Tokens = field(default_factory=Tokens)
    expected: Outcome | None = None
    """How its prompts are to be answered, once its end is written."""
    result: e.Result | None = None
    touched: bool = False
    """An interrupt was written while it ran, or before all its frames were handled."""
    hit_alone: bool = False
    """… by the cancel of one prompt."""
    seen: bool = False
    """The client was told that it runs."""
    over: bool = False
    """Its result was handled, or the client was told that it ended."""
    garbled: bool = False
    """A frame that tells where its messages are was lost."""


@dataclass(slots=True, eq=False)
class Tool:
    """A tool use of the message that runs."""

    use: e.ToolUse
    dispatched: bool = False
    ask: str | None = None
    """The control request that it waits for."""
    asked: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Something that Claude Code wrote."""

    event: e.Event | Text
    run: Run | None = None
    odd: bool = False
    """It was not written here: a frame that comes twice, or late."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Command: a user message."""

    uuid: str


@dataclass(frozen=True, slots=True)
class Addition:
    """Command: a user message that is added to a turn."""

    uuid: str
    priority: Priority


@dataclass(frozen=True, slots=True)
class Stop:
    """Command: an interrupt."""

    cancel_queued: bool


@dataclass(frozen=True, slots=True)
class Drop:
    """Command: `cancel_async_message`."""

    uuid: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Command: the answer of an ask."""

    ask: str
    grants: bool


Command = Prompt | Addition | Stop | Drop | Reply
