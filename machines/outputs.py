"""What a session has to do about what happened: the outputs of the coordinator.

The bridge performs them in their order: updates and answers go to the one writer, everything
that takes time is started as an effect whose end is a new event.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from machines.children.child_outputs import ROOT, ChildOutput, Place
from machines.companions.session_reports import (
    PreviewFiles,
    PublishGoal,
    ReportCompaction,
    ReportFiles,
    ReportIncident,
    ShowSummary,
)
from machines.events import (
    Result,
    StartFailure,
    Timer,
    ToolDenied,
    ToolHooked,
    ToolProgressed,
    ToolReturned,
    ToolUse,
)
from machines.process.process_outputs import (
    AbortAsk as AbortAsk,
)
from machines.process.process_outputs import (
    AnswerSteer as AnswerSteer,
)
from machines.process.process_outputs import (
    ApplyChange as ApplyChange,
)
from machines.process.process_outputs import (
    AskForm as AskForm,
)
from machines.process.process_outputs import (
    CancelMessage as CancelMessage,
)
from machines.process.process_outputs import (
    ContinuePlan as ContinuePlan,
)
from machines.process.process_outputs import (
    DenyAsk as DenyAsk,
)
from machines.process.process_outputs import (
    DropQuery as DropQuery,
)
from machines.process.process_outputs import (
    Interrupt as Interrupt,
)
from machines.process.process_outputs import (
    PrepareAsk as PrepareAsk,
)
from machines.process.process_outputs import (
    RecreateQuery as RecreateQuery,
)
from machines.process.process_outputs import (
    ReplaceQuery as ReplaceQuery,
)
from machines.process.process_outputs import (
    ReplyAsk as ReplyAsk,
)
from machines.process.process_outputs import (
    ReplyForm as ReplyForm,
)
from machines.process.process_outputs import (
    SendPrompt as SendPrompt,
)
from machines.process.process_outputs import (
    SendSteer as SendSteer,
)
from machines.process.process_outputs import (
    StartQuery as StartQuery,
)
from machines.process.process_outputs import (
    StopQuery as StopQuery,
)
from machines.results.usage import Usage
from machines.tasks.task_outputs import TaskOutput as TaskOutput

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
CallStatus = Literal["completed", "failed", "cancelled"]


class FailureKind(Enum):
    """Why a prompt has no stop reason; the bridge knows the code and the record of each."""

    AUTH_REQUIRED = "auth_required"
    API = "api"
    NO_RESULT = "no_result"
    INCOMPLETE_CALL = "incomplete_tool_call"
    TRANSPORT_LOST = "transport_lost"
    WORKER_SHUTDOWN = "worker_shutdown"
    RESTART_FAILED = "restart_failed"


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a turn that is an error."""

    kind: FailureKind
    text: str
    error_kind: str | None = None
    """Claude Code's own name of an API error (`rate_limit` …)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ends: with a stop reason or with a failure."""

    stop_reason: StopReason = "end_turn"
    failure: Failure | None = None
    incident: ReportIncident | None = None
    """The failure's record, for a client that has records: it travels in the answer."""


# ── to the client: answers ────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StartReplay:
    """Tell the client the stored conversation; its end is `HistoryReplayed` or `HistoryFailed`."""


@dataclass(frozen=True, slots=True)
class AnswerOpen:
    """Answer the request that opened the session, then send what follows an answer."""


@dataclass(frozen=True, slots=True)
class RefuseOpen:
    """Fail the request that opened the session."""

    kind: StartFailure
    text: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class InsertPrompt:
    """The prompt is in the conversation now: where it stands is known, its end is not (M4.1)."""

    turn: str


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """The single answer of a prompt; `usage` is left out when it is not known."""

    turn: str
    outcome: Outcome
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class AnswerClose:
    """Answer every request that asked to close the session; nothing follows it."""


# ── to the client: updates and requests ───────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ShowCall:
    """First report of a tool call; `streaming` when its input has yet to come."""

    use: ToolUse
    streaming: bool = False
    ask: str | None = None
    """The permission request that announces it."""


@dataclass(frozen=True, slots=True)
class RefineCall:
    """The complete input of a call that the client knows."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class ReportProgress:
    """A beat of a running call, reported at `target` (itself or its parent)."""

    beat: ToolProgressed
    target: str


@dataclass(frozen=True, slots=True)
class ReportHook:
    """What a PostToolUse hook told about a call; never a status."""

    hook: ToolHooked


@dataclass(frozen=True, slots=True)
class ReturnCall:
    """The result of a call, with its final status."""

    result: ToolReturned
    status: CallStatus


@dataclass(frozen=True, slots=True)
class DenyCall:
    """A rule refused the call; its error result follows."""

    denial: ToolDenied


@dataclass(frozen=True, slots=True)
class CloseCall:
    """Give a call without a result its final status."""

    call: str
    text: str
    status: CallStatus = "failed"


@dataclass(frozen=True, slots=True)
class ShowPlan:
    """A use of a tool that keeps the plan: it is shown as a plan, not as a call."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class ShowPlanResult:
    """The result of such a use."""

    use: ToolUse
    result: ToolReturned


@dataclass(frozen=True, slots=True)
class ShowResult:
    """What a result frame tells the client before any answer: text not yet shown, usage, cost.

    `outcome` is the end of the work that the result is of, `turn` the first prompt it answers;
    without a turn it is work that Claude Code started itself.
    """

    result: Result
    outcome: Outcome
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class AskClient:
    """Send the permission request of an ask."""

    ask: str
    place: Place = ROOT
    """The session that it is sent in."""


@dataclass(frozen=True, slots=True)
class WithdrawRequest:
    """Send `$/cancel_request` for the permission request of an ask."""

    ask: str


@dataclass(frozen=True, slots=True)
class TellRecreated:
    """Whoever wanted the session recreated hears how it went; None when it went well."""

    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class TellRestarted:
    """Tell the client, once a loss, that Claude Code was started again (M2.3)."""


@dataclass(frozen=True, slots=True)
class ReportWork:
    """The state of the foreground work changed; only ACP v2 shows it."""

    state: Literal["running", "requires_action", "idle"]
    outcome: Outcome | None = None
    usage: Usage | None = None
    """What the work used that ended, as far as it is known."""


# ── to the client: changes that fail ──


@dataclass(frozen=True, slots=True)
class FailChange:
    """The change can't be carried out, since Claude Code did not come back."""

    change: str
    failure: Failure


# ── to the bridge itself ──────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Start a timer, if it does not run."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class StopTimer:
    """Stop a timer; nothing happens when it does not run."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that a lifecycle refused: to be counted and logged, in one place."""

    lifecycle: str
    state: str
    event: object


Output = (
    ChildOutput
    | StartReplay
    | AnswerOpen
    | RefuseOpen
    | InsertPrompt
    | AnswerPrompt
    | AnswerClose
    | ShowCall
    | RefineCall
    | ReportProgress
    | ReportHook
    | ReturnCall
    | DenyCall
    | CloseCall
    | ShowPlan
    | ShowPlanResult
    | ShowResult
    | AskClient
    | WithdrawRequest
    | TellRestarted
    | ReportCompaction
    | ShowSummary
    | PublishGoal
    | ReportIncident
    | PreviewFiles
    | ReportFiles
    | ReportWork
    | TaskOutput
    | StartQuery
    | ReplaceQuery
    | RecreateQuery
    | TellRecreated
    | DropQuery
    | ContinuePlan
    | StopQuery
    | SendPrompt
    | SendSteer
    | AnswerSteer
    | Interrupt
    | CancelMessage
    | PrepareAsk
    | ReplyAsk
    | DenyAsk
    | AbortAsk
    | AskForm
    | ReplyForm
    | ApplyChange
    | FailChange
    | StartTimer
    | StopTimer
    | Ignored
)
