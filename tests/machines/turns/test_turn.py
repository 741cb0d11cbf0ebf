"""One accepted prompt until its single answer (M4)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.outputs import AnswerPrompt, Failure, FailureKind, InsertPrompt, Outcome, SendPrompt
from machines.results.usage import Tokens, Usage
from machines.turns.turn import (
    Activate,
    BreakOff,
    Conclude,
    Dispatch,
    Fail,
    Hold,
    Join,
    PickUp,
    Reported,
    Send,
    Steer,
    TakeBack,
    Turn,
    Unsteer,
    Withdraw,
)
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

USAGE = Usage(Tokens(10, 20))
END = Conclude(Outcome(), USAGE)
CANCELLED = Conclude(Outcome("cancelled"))
HALF = BreakOff(Outcome("refusal"))
HELD = Hold(Outcome("max_tokens"), USAGE)
GONE = Failure(FailureKind.TRANSPORT_LOST, "It is gone.")

SAMPLES = (
    Send(),
    TakeBack(),
    Dispatch(),
    Join(),
    Activate(),
    Steer(),
    HALF,
    PickUp(),
    Unsteer(),
    HELD,
    END,
    CANCELLED,
    Reported(),
    Withdraw(),
    Fail(GONE),
)

ACTIVE = ("working", "steered", "steer_pending", "held")
FAILED = (AnswerPrompt("A", Outcome(failure=GONE)),)
INSERTED = (InsertPrompt("A"),)
NOT_RUN = (AnswerPrompt("A", Outcome("cancelled")),)

ROWS = (
    Row("M4.1 preconditions met", "received", Send(), "queued", (SendPrompt("A"),)),
    Row("M4.1 cancel before it was sent", "received", Withdraw(), "settled", NOT_RUN),
    Row("M2 reviving, start failed", "received", Fail(GONE), "settled", FAILED),
    Row("M2.1 process replaced", "queued", TakeBack(), "received"),
    Row("M2.1 process replaced", "dispatched", TakeBack(), "received"),
    Row("M4.1 taken up, nothing active", "queued", Activate(), "working", INSERTED),
    Row("M4.1 taken up beside another", "queued", Dispatch(), "dispatched"),
    Row("M4.1 result of a queued one", "queued", END, "settling"),
    Row("M4.1 cancel of a queued one", "queued", Withdraw(), "settled", NOT_RUN),
    Row("M4.1 un-owed idle after its end", "queued", Fail(GONE), "settled", FAILED),
    Row("M2.1 process replaced", "joined", TakeBack(), "received"),
    Row("M4.3 one request for both", "queued", Join(), "joined", INSERTED),
    Row("M4.3 one request for both", "dispatched", Join(), "joined", INSERTED),
    Row("M4.3 another request", "joined", Join(), "joined"),
    Row("M4.1 taken up twice", "joined", Dispatch(), "joined"),
    Row("M6.1 the other is cancelled alone", "joined", Activate(), "working"),
    Row("M4.3 result of the batch", "joined", END, "settling"),
    Row("M4.1 cancel of a joined one", "joined", Withdraw(), "settled", NOT_RUN),
    Row("M3 finish (8)", "joined", Fail(GONE), "settled", FAILED),
    Row("M4.1 taken up twice", "dispatched", Dispatch(), "dispatched"),
    Row("M4.1 the other ended", "dispatched", Activate(), "working", INSERTED),
    Row("M4.3 result of the batch", "dispatched", END, "settling"),
    Row("M4.1 cancel of a dispatched one", "dispatched", Withdraw(), "settled", NOT_RUN),
    Row("M3 finish (8)", "dispatched", Fail(GONE), "settled", FAILED),
    Row("M4.1 own result", "working", END, "settling"),
    Row("M4.1 steered", "working", Steer(), "steered"),
    Row("M4.1 own result, subagents run", "working", HELD, "held"),
    Row("M4.1 un-owed idle", "working", Fail(GONE), "settled", FAILED),
    Row("M4.1 steered again", "steered", Steer(), "steered"),
    Row("M4.1 steers answered", "steered", Unsteer(), "working"),
    Row("M4.1 the interrupted half", "steered", HALF, "steer_pending"),
    Row("M4.1 another prompt begins", "steered", END, "settling"),
    Row("M4.1 steered, subagents run", "steered", HELD, "held"),
    Row("M3 finish (7), steered", "steered", Fail(GONE), "settled", FAILED),
    Row("M4.1 steered again", "steer_pending", Steer(), "steer_pending"),
    Row("M4.1 another half", "steer_pending", HALF, "steer_pending"),
    Row("M4.1 echo of a steer", "steer_pending", PickUp(), "steered"),
    Row("M4.1 steers answered", "steer_pending", Unsteer(), "working"),
    Row("M4.1 steered, ready at idle", "steer_pending", END, "settling"),
    Row("M4.1 ready at idle, subagents run", "steer_pending", HELD, "held"),
    Row("M3 finish (7), steered", "steer_pending", Fail(GONE), "settled", FAILED),
    Row("M4.1 held, steered", "held", Steer(), "steer_pending"),
    Row("M4.1 held, last subagent ended", "held", END, "settling"),
    Row("M3 finish (7), held", "held", Fail(GONE), "settled", FAILED),
    Row("M4.1 report done", "settling", Reported(), "settled", (AnswerPrompt("A", Outcome(), None),)),
    Row("M3 finish (7), settling", "settling", Fail(GONE), "settled", FAILED),
)

KINDS = {type(sample) for sample in SAMPLES}
TAKEN: dict[str, set[type]] = {
    "received": {Send, Withdraw, Fail},
    "queued": {TakeBack, Dispatch, Join, Activate, Conclude, Withdraw, Fail},
    "dispatched": {TakeBack, Dispatch, Join, Activate, Conclude, Withdraw, Fail},
    "joined": {TakeBack, Dispatch, Join, Activate, Conclude, Withdraw, Fail},
    "working": {Steer, Hold, Conclude, Fail},
    "steered": {Steer, BreakOff, Unsteer, Hold, Conclude, Fail},
    "steer_pending": {Steer, BreakOff, PickUp, Unsteer, Hold, Conclude, Fail},
    "held": {Steer, Conclude, Fail},
    "settling": {Reported, Fail},
}
REFUSED: Refused = {(state, kind) for state, taken in TAKEN.items() for kind in KINDS - taken}


def at(state: str) -> Turn:
    return Turn("A", start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Turn, ROWS) == set()


def test_totality() -> None:
    assert refusals(Turn, at, SAMPLES) == REFUSED


def test_m4_5_the_half_is_the_outcome_in_case_that_nothing_follows() -> None:
    turn = at("steered")
    turn.handle(HALF)
    assert turn.outcome == HALF.outcome


@pytest.mark.parametrize("state", ["queued", "dispatched", "joined", *ACTIVE])
@pytest.mark.parametrize("end", [END, CANCELLED], ids=["end_turn", "cancelled"])
def test_m4_4_the_answer_is_the_outcome_that_was_concluded(state: str, end: Conclude) -> None:
    turn = at(state)

    assert turn.handle(end) == ()
    assert turn.handle(Reported()) == (AnswerPrompt("A", end.outcome, end.usage),)


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED

    def begin(self) -> None:
        super().begin()
        self.kept: Hold | Conclude = END
        self.taken_back = 0

    def create(self) -> Turn:
        return Turn("A")

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        if isinstance(event, Hold | Conclude):
            self.kept = event
        match event:
            case TakeBack():
                self.taken_back += 1
            case Dispatch() if state == "joined":
                return "joined", ()
            case Join() | Activate() if state != "joined":
                return ("joined" if isinstance(event, Join) else "working"), INSERTED
            case Send():
                return "queued", (SendPrompt("A"),)
            case Fail(failure):
                return "settled", (AnswerPrompt("A", Outcome(failure=failure)),)
            case Withdraw():
                return "settled", NOT_RUN
            case Reported():
                return "settled", (AnswerPrompt("A", self.kept.outcome, self.kept.usage),)
        then = {
            TakeBack: "received",
            Dispatch: "dispatched",
            Join: "joined",
            Activate: "working",
            Steer: "steered" if state in {"working", "steered"} else "steer_pending",
            BreakOff: "steer_pending",
            PickUp: "steered",
            Unsteer: "working",
            Hold: "held",
            Conclude: "settling",
        }
        return then[type(event)], ()

    @invariant()
    def it_is_answered_exactly_once_and_at_its_end(self) -> None:  # INV-T1
        answers = [each for each in self.outputs if isinstance(each, AnswerPrompt)]
        assert len(answers) == self.machine.is_terminated

    @invariant()
    def it_is_written_at_most_once_a_process_and_before_its_answer(self) -> None:
        kinds = [type(each) for each in self.outputs]
        assert AnswerPrompt not in kinds[:-1]
        assert kinds.count(SendPrompt) <= 1 + self.taken_back

    @invariant()
    def it_is_in_the_conversation_once_a_process(self) -> None:  # INV-T7
        kinds = [type(each) for each in self.outputs]
        assert kinds.count(InsertPrompt) <= 1 + self.taken_back


TestAnyOrder = in_any_order(AnyOrder)
