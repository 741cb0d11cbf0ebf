"""What can happen to a session: the inputs of the coordinator, as closed sets of facts.

The client, Claude Code and the timers are the sources. Payloads that only rendering reads are
opaque here. Vocabulary: `lifecycles` §V.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from machines.children.delegations import (
    AgentsRestored as AgentsRestored,
)
from machines.children.delegations import (
    HistoryAnswered as HistoryAnswered,
)
from machines.permissions.ask_events import (
    AskPrepared as AskPrepared,
)
from machines.permissions.ask_events import (
    AskReceived as AskReceived,
)
from machines.permissions.ask_events import (
    AskWithdrawn as AskWithdrawn,
)
from machines.permissions.ask_events import (
    FormAnswered as FormAnswered,
)
from machines.permissions.ask_events import (
    FormReceived as FormReceived,
)
from machines.permissions.ask_events import (
    Option as Option,
)
from machines.permissions.ask_events import (
    PlanStopped as PlanStopped,
)
from machines.process.process_events import (
    QueryInitialized as QueryInitialized,
)
from machines.process.process_events import (
    QueryStartFailed as QueryStartFailed,
)
from machines.process.process_events import (
    QueryStopped as QueryStopped,
)
from machines.process.process_events import (
    StartFailure as StartFailure,
)
from machines.process.process_events import (
    StreamClosed as StreamClosed,
)
from machines.process.process_events import (
    StreamEnd as StreamEnd,
)
from machines.process.process_events import (
    WorkerShuttingDown as WorkerShuttingDown,
)
from machines.tasks.task_events import (
    LevelListed as LevelListed,
)
from machines.tasks.task_events import (
    TaskBackgrounded as TaskBackgrounded,
)
from machines.tasks.task_events import (
    TaskEnded as TaskEnded,
)
from machines.tasks.task_events import (
    TaskEvent as TaskEvent,
)
from machines.tasks.task_events import (
    TaskFacts as TaskFacts,
)
from machines.tasks.task_events import (
    TaskLaunched as TaskLaunched,
)
from machines.tasks.task_events import (
    TaskMoved as TaskMoved,
)
from machines.tasks.task_events import (
    TaskProgressed as TaskProgressed,
)
from machines.tasks.task_events import (
    TaskStarted as TaskStarted,
)
from machines.tasks.task_events import (
    TaskStopReplied as TaskStopReplied,
)
from machines.tasks.task_events import (
    TaskStopRequested as TaskStopRequested,
)
from machines.tools.tool_events import (
    MessageStarted as MessageStarted,
)
from machines.tools.tool_events import (
    ToolDenied as ToolDenied,
)
from machines.tools.tool_events import (
    ToolDispatched as ToolDispatched,
)
from machines.tools.tool_events import (
    ToolHooked as ToolHooked,
)
from machines.tools.tool_events import (
    ToolProgressed as ToolProgressed,
)
from machines.tools.tool_events import (
    ToolReturned as ToolReturned,
)
from machines.tools.tool_events import (
    ToolStarted as ToolStarted,
)
from machines.tools.tool_events import (
    ToolUse as ToolUse,
)

# ── the client ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class GoalCommand:
    """The text of a message is `/goal …`; without an objective it clears the goal."""

    objective: str | None


@dataclass(frozen=True, slots=True)
class PromptReceived:
    """A valid `session/prompt`; its content waits in the bridge under the turn's id."""

    turn: str
    goal: GoalCommand | None = None
    report: str | None = None
    """Request id of the file-change report that it asks for."""


@dataclass(frozen=True, slots=True)
class SteerReceived:
    """`_session/steering`, or a goal that is set while a turn runs (M4.5)."""

    steer: str
    goal: GoalCommand | None = None
    prompt_when_idle: bool = True
    """Without a running turn it becomes a prompt of its own; else the client has to send one."""


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
    """The change at the head of the queue was answered, or Claude Code died before it could be."""

    change: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class RecreateRequested:
    """Another process has to serve the session: its account or its provider changed."""


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


# ── how a session is opened ───────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class HistoryReplayed:
    """The client was told the whole stored conversation."""


@dataclass(frozen=True, slots=True)
class HistoryFailed:
    """The stored conversation could not be told."""

    text: str


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
    diagnostic: str | None = None
    """Claude Code's own note about an interrupted turn; never shown."""
    auth_required: bool = False
    """The error is a sign-in condition, whatever its shape."""

    @property
    def from_model(self) -> bool:
        """A model answered; a command that Claude Code carries out by itself has no output tokens."""
        tokens = (self.usage or {}).get("output_tokens")
        return isinstance(tokens, int) and tokens > 0

    @property
    def aborted(self) -> bool:
        """Claude Code stopped the work itself or on an interrupt."""
        return (self.terminal_reason or "").startswith("aborted_")


@dataclass(frozen=True, slots=True)
class ApiRetried:
    """`system/api_retry`: a request to the API is tried again."""

    attempt: int
    attempts: int
    error_kind: str | None = None
    status: int | None = None
    """HTTP status; None when no response came."""

    @property
    def is_sign_in(self) -> bool:
        """A sign-in condition, which has no record (AU-011)."""
        return self.error_kind in {"authentication_failed", "oauth_org_not_allowed"}


@dataclass(frozen=True, slots=True)
class FilesPreviewed:
    """The reply about the files that a turn changed; without paths, whether it failed or said nothing."""

    turn: str
    paths: tuple[str, ...] | None
    failed: bool = False


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


@dataclass(frozen=True, slots=True)
class LimitReplayed:
    """The stored conversation ends in a usage limit, which the client was told under this id."""

    id: str
    text: str


Event = (
    PromptReceived
    | SteerReceived
    | CancelRequested
    | PromptCancelRequested
    | ChangeRequested
    | ChangeFinished
    | RecreateRequested
    | CloseRequested
    | AskAnswered
    | HistoryReplayed
    | HistoryFailed
    | HistoryAnswered
    | AgentsRestored
    | LimitReplayed
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
    | ApiRetried
    | FilesPreviewed
    | TaskStarted
    | TaskBackgrounded
    | TaskMoved
    | TaskProgressed
    | TaskEnded
    | LevelListed
    | TaskLaunched
    | TaskStopRequested
    | TaskStopReplied
    | MessageStarted
    | ToolStarted
    | ToolDispatched
    | ToolProgressed
    | ToolHooked
    | ToolReturned
    | ToolDenied
    | AskReceived
    | PlanStopped
    | AskPrepared
    | AskWithdrawn
    | FormReceived
    | FormAnswered
    | TimerFired
)
