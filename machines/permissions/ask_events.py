"""What Claude Code asks of the user, and what comes of it."""

from dataclasses import dataclass

from machines.tools.tool_events import ToolUse


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that a permission request offers."""

    id: str
    grants: bool


@dataclass(frozen=True, slots=True)
class AskReceived:
    """`can_use_tool`, keyed by its control request id."""

    ask: str
    use: ToolUse
    options: tuple[Option, ...] = ()
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class PlanStopped:
    """The answer to a plan interrupts the turn; `afresh` goes on with the plan in a new conversation."""

    call: str
    afresh: bool


@dataclass(frozen=True, slots=True)
class AskPrepared:
    """What the request shows is ready: a preview that had to be read from disk, or nothing."""

    ask: str


@dataclass(frozen=True, slots=True)
class AskWithdrawn:
    """`control_cancel_request`: nobody waits for the answer any more."""

    ask: str


@dataclass(frozen=True, slots=True)
class FormReceived:
    """A question of the model (`use` is its tool call), or a form or link of an MCP server."""

    ask: str
    use: ToolUse | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class FormAnswered:
    """The client's answer to a form; `action` is `accept`, `decline`, or whatever it sent."""

    ask: str
    action: str | None
    answer: object = None
