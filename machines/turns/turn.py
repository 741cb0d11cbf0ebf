"""One accepted prompt until its single answer (M4).

1. A prompt is answered exactly once, in whatever order things happen (INV-T1).
2. It is written to Claude Code at once, never held back for an earlier turn; `received` only
   lasts while there is no process to write to.
3. `dispatched` is a prompt that Claude Code took up while another turn is the active one; once a
   request of the model names it beside that turn it is `joined`: its text is in the conversation.
4. While text that the user added is unanswered, it is `steered` when Claude Code works, and
   `steer_pending` when a result came that is not the end, and the text is not taken up yet.
   `held` has its own result, and subagents of the turn still run. Both keep the outcome.
5. `settling` is the time between the outcome and the answer, which its own report may take, or that of
   a prompt received before it. No output belongs to it any more.
6. That it is in the conversation is told before anything of its work; ACP v2 answers it then.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.companions.session_reports import ReportIncident
from machines.events import GoalCommand
from machines.outputs import AnswerPrompt, Failure, InsertPrompt, Outcome, SendPrompt
from machines.results.usage import Usage


@dataclass(frozen=True, slots=True)
class Send:
    """There is a process to write to."""


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The process that it was written to is replaced, and did not answer it."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Claude Code took it up beside the active turn."""


@dataclass(frozen=True, slots=True)
class Join:
    """The model is asked with it, in the work of the active turn (M4.3)."""


@dataclass(frozen=True, slots=True)
class Activate:
    """It is the turn that the conversation's output belongs to."""


@dataclass(frozen=True, slots=True)
class Steer:
    """The user added text that is not answered yet."""


@dataclass(frozen=True, slots=True)
class BreakOff:
    """A result came, and added text is still to be answered."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PickUp:
    """Claude Code has text that was added: a result is still to come."""


@dataclass(frozen=True, slots=True)
class Unsteer:
    """All added text was picked up by a result."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Its own result came, but subagents that it started still run."""

    outcome: Outcome
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Conclude:
    """Its outcome is final."""

    outcome: Outcome
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """Nothing stands between the outcome and the answer any more."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """It was cancelled before it became active."""


@dataclass(frozen=True, slots=True)
class Fail:
    """There is nobody left to serve it."""

    failure: Failure
    incident: ReportIncident | None = None


Input = (
    Send
    | TakeBack
    | Dispatch
    | Join
    | Activate
    | Steer
    | BreakOff
    | PickUp
    | Unsteer
    | Hold
    | Conclude
    | Reported
    | Withdraw
    | Fail
)
Signal = SendPrompt | InsertPrompt | AnswerPrompt


class Turn(Lifecycle[Input, Signal]):
    """Lifecycle of one prompt."""

    received = State(initial=True)
    queued = State()
    dispatched = State()
    joined = State()
    working = State()
    steered = State()
    steer_pending = State()
    held = State()
    settling = State()
    settled = State(final=True)

    send_prompt = received.to(queued, on="write")
    take_back = received.from_(queued, dispatched, joined)
    dispatch = queued.to(dispatched) | stay(dispatched) | stay(joined)
    join = joined.from_(queued, dispatched, on="insert") | stay(joined)
    activate = working.from_(queued, dispatched, on="insert") | joined.to(working)
    steer = working.to(steered) | held.to(steer_pending) | stay(steered) | stay(steer_pending)
    break_off = steered.to(steer_pending, on="keep_half") | stay(steer_pending, on="keep_half")
    pick_up = steer_pending.to(steered)
    unsteer = working.from_(steered, steer_pending)
    hold = held.from_(working, steered, steer_pending, on="keep_outcome")
    conclude = settling.from_(
        queued, dispatched, joined, working, steered, steer_pending, held, on="keep_outcome"
    )
    report = settling.to(settled, on="answer")
    withdraw = settled.from_(received, queued, dispatched, joined, on="answer_cancelled")
    fail = settled.from_(
        received,
        queued,
        dispatched,
        joined,
        working,
        steered,
        steer_pending,
        held,
        settling,
        on="answer_failed",
    )

    triggers: ClassVar[dict[type, str]] = {
        Send: "send_prompt",
        TakeBack: "take_back",
        Dispatch: "dispatch",
        Join: "join",
        Activate: "activate",
        Steer: "steer",
        BreakOff: "break_off",
        PickUp: "pick_up",
        Unsteer: "unsteer",
        Hold: "hold",
        Conclude: "conclude",
        Reported: "report",
        Withdraw: "withdraw",
        Fail: "fail",
    }

    def __init__(self, uuid: str, *listeners: object, start: str | None = None) -> None:
        self.uuid = uuid
        self.place = 0
        """In the order received."""
        self.outcome = Outcome()
        self.usage: Usage | None = None
        self.goal: GoalCommand | None = None
        self.spawned: set[str] = set()
        """Subagents that were started or resumed in it."""
        self.steers: set[str] = set()
        """Every message that was added to it."""
        self.waiting_steers: set[str] = set()
        """Those that no result has named yet."""
        self.batch: set[str] = set()
        """Prompts that shared a result of it that was not its end: they are answered with it."""
        super().__init__(*listeners, start=start)

    @property
    def is_written(self) -> bool:
        """Claude Code has it, and it was never the active one."""
        return self.phase in {"queued", "dispatched", "joined"}

    @property
    def is_taken_up(self) -> bool:
        """Claude Code works on it beside the active one, or will next."""
        return self.phase in {"dispatched", "joined"}

    @property
    def is_steered(self) -> bool:
        """Text was added to it that is not answered yet."""
        return self.phase in {"steered", "steer_pending"}

    def write(self) -> None:
        """Write the user message."""
        self.put(SendPrompt(self.uuid))

    def insert(self) -> None:
        """Tell that it is in the conversation."""
        self.put(InsertPrompt(self.uuid))

    def keep_half(self, cause: BreakOff) -> None:
        """Remember the answer in case that nothing follows."""
        self.outcome = cause.outcome

    def keep_outcome(self, cause: Hold | Conclude) -> None:
        """Remember what the answer will be."""
        self.outcome, self.usage = cause.outcome, cause.usage

    def answer(self) -> None:
        """Answer with the outcome that was kept."""
        self.put(AnswerPrompt(self.uuid, self.outcome, self.usage))

    def answer_cancelled(self) -> None:
        """Answer a prompt that never ran: there is no usage to tell."""
        self.put(AnswerPrompt(self.uuid, Outcome("cancelled")))

    def answer_failed(self, cause: Fail) -> None:
        """Answer with the reason."""
        self.put(AnswerPrompt(self.uuid, Outcome(failure=cause.failure, incident=cause.incident)))
