"""What can happen to a session: the inputs of the coordinator, as closed sets of facts.

The client, Claude Code and the timers are the sources. Payloads that only rendering reads are
opaque here. Vocabulary: `lifecycles` §V.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

# ── the client ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PromptReceived:
    """A valid `session/prompt`; its content waits in the bridge under the turn's id."""

    turn: str


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """`session/cancel`: everything that was received before it."""


@dataclass(frozen=True, slots=True)
class PromptCancelRequested:
    """`$/cancel_request` of one `session/prompt` (M6.1)."""

    turn: str


@dataclass(frozen=True, slots=True)
class ChangeRequested:
    """A change of mode or configuration that waits for its turn in the queue (INV-S5)."""

    change: str


@dataclass(frozen=True, slots=True)
class ChangeFinished:
    """The change at the head of the queue was answered."""

    change: str


@dataclass(frozen=True, slots=True)
class CloseRequested:
    """`session/close`, `session/delete` or the end of the connection."""


@dataclass(frozen=True, slots=True)
class AskAnswered:
    """The client's answer to a permission request or a question.

    `option` is the id it selected; without one, `failure` is the error text it sent, and with
    neither it answered `cancelled` or something unreadable.
    """

    ask: str
    option: str | None = None
    failure: str | None = None


# ── the life of one Claude Code process ───────────────────────────────────────


class StartFailure(Enum):
    """Why Claude Code did not come up."""

    UNKNOWN_SESSION = "unknown_session"
    AUTH_REQUIRED = "auth_required"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class QueryInitialized:
    """The process answered its initialize request."""


@dataclass(frozen=True, slots=True)
class QueryStartFailed:
    """The process could not be started, or ended before it answered."""

    kind: StartFailure
    text: str


class StreamEnd(Enum):
    """How the frames of a process ended when nobody asked it to."""

    ENDED = "ended"
    DIED = "died"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """The last item of the tap's queue."""

    end: StreamEnd
    text: str = ""


@dataclass(frozen=True, slots=True)
class WorkerShuttingDown:
    """`system/worker_shutting_down`: what follows may still be buffered output."""


@dataclass(frozen=True, slots=True)
class QueryStopped:
    """The process that the bridge was told to stop is gone."""


# ── turns and their results ───────────────────────────────────────────────────

CommandState = Literal["queued", "started", "completed", "cancelled", "discarded", "refused"]


@dataclass(frozen=True, slots=True)
class CommandMoved:
    """`command_lifecycle` of one of our messages."""

    uuid: str
    state: CommandState


@dataclass(frozen=True, slots=True)
class Requesting:
    """`system/status requesting`: an API request starts, for these messages."""

    uuids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Echoed:
    """Claude Code replayed one of our messages."""

    uuid: str


CliState = Literal["idle", "running", "requires_action"]


@dataclass(frozen=True, slots=True)
class CliStateChanged:
    """`system/session_state_changed`."""

    state: CliState


@dataclass(frozen=True, slots=True)
class Result:
    """A `result` frame, read once."""

    uuids: tuple[str, ...] = ()
    origin: str | None = None
    subtype: str = "success"
    is_error: bool = False
    stop_reason: str | None = None
    terminal_reason: str | None = None
    num_turns: int = 1
    text: str = ""
    usage: Mapping[str, object] | None = None
    model_usage: Mapping[str, object] = field(default_factory=dict)
    cost: float | None = None
    error_kind: str | None = None
    """Kind of the assistant's API error that this result repeats (`rate_limit` …)."""
    auth_required: bool = False
    """The error is a sign-in condition, whatever its shape."""

    @property
    def aborted(self) -> bool:
        """Claude Code stopped the work itself or on an interrupt."""
        return (self.terminal_reason or "").startswith("aborted_")


# ── content of the conversation ───────────────────────────────────────────────


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


# ── what Claude Code asks ─────────────────────────────────────────────────────


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


# ── time ──────────────────────────────────────────────────────────────────────


class Timer(Enum):
    """The timers of a session; each is started by an output and ends as an event."""

    FORCE_CANCEL = "force_cancel"
    TEARDOWN = "teardown"
    FILE_PREVIEW = "file_preview"


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer that was not stopped before it ran out."""

    timer: Timer


Event = (
    PromptReceived
    | CancelRequested
    | PromptCancelRequested
    | ChangeRequested
    | ChangeFinished
    | CloseRequested
    | AskAnswered
    | QueryInitialized
    | QueryStartFailed
    | StreamClosed
    | WorkerShuttingDown
    | QueryStopped
    | CommandMoved
    | Requesting
    | Echoed
    | CliStateChanged
    | Result
    | MessageStarted
    | ToolStarted
    | ToolDispatched
    | ToolProgressed
    | ToolHooked
    | ToolReturned
    | ToolDenied
    | AskReceived
    | AskPrepared
    | AskWithdrawn
    | FormReceived
    | FormAnswered
    | TimerFired
)
