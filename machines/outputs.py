"""What a session has to do about what happened: the outputs of the coordinator.

The bridge performs them in their order: updates and answers go to the one writer, everything
that takes time is started as an effect whose end is a new event.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

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
from machines.session_reports import (
    PreviewFiles,
    PublishGoal,
    ReportCompaction,
    ReportFiles,
    ReportIncident,
    ShowSummary,
)
from machines.usage import Usage

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
class AnswerOpen:
    """Answer the request that opened the session, then send what follows an answer."""


@dataclass(frozen=True, slots=True)
class RefuseOpen:
    """Fail the request that opened the session."""

    kind: StartFailure
    text: str


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


@dataclass(frozen=True, slots=True)
class WithdrawRequest:
    """Send `$/cancel_request` for the permission request of an ask."""

    ask: str


@dataclass(frozen=True, slots=True)
class TellRestarted:
    """Tell the client, once a loss, that Claude Code was started again (M2.3)."""


@dataclass(frozen=True, slots=True)
class ReportWork:
    """The state of the foreground work changed; only ACP v2 shows it."""

    state: Literal["running", "requires_action", "idle"]
    outcome: Outcome | None = None


# ── to Claude Code ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class StartQuery:
    """Start a process; `resume` takes up the stored conversation of the session."""

    resume: bool = False


@dataclass(frozen=True, slots=True)
class StopQuery:
    """Stop the process; its end is `QueryStopped`."""


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Write the user message of a turn."""

    turn: str


@dataclass(frozen=True, slots=True)
class SendSteer:
    """Write a message into the running turn; `now` interrupts what is being generated."""

    steer: str
    priority: Literal["now", "later"]


@dataclass(frozen=True, slots=True)
class AnswerSteer:
    """Answer a steering request."""

    steer: str
    outcome: Literal["injected", "startedNewTurn", "promptRequired"]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop what runs, and with `cancel_queued` drop what waits; its reply is never awaited."""

    cancel_queued: bool


@dataclass(frozen=True, slots=True)
class CancelMessage:
    """Drop one message that Claude Code has not started."""

    uuid: str


@dataclass(frozen=True, slots=True)
class PrepareAsk:
    """Find out what a permission request has to show; its end is `AskPrepared`."""

    ask: str


@dataclass(frozen=True, slots=True)
class ReplyAsk:
    """Reply with what the offered option means."""

    ask: str
    option: str


@dataclass(frozen=True, slots=True)
class DenyAsk:
    """Reply that the tool may not run, without having asked."""

    ask: str
    text: str


@dataclass(frozen=True, slots=True)
class AbortAsk:
    """Reply with an error: the tool does not run, the turn goes on."""

    ask: str
    text: str


@dataclass(frozen=True, slots=True)
class AskForm:
    """Send the `elicitation/create` request of a question."""

    ask: str


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """Reply with what the client answered to a form."""

    ask: str
    answer: object


@dataclass(frozen=True, slots=True)
class ApplyChange:
    """Carry out a change of mode or configuration; its end is `ChangeFinished`."""

    change: str


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
    AnswerOpen
    | RefuseOpen
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
    | StartQuery
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
