"""The work that the user waits for, of a turn or of Claude Code itself (M5)."""

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.outputs import Failure, FailureKind, Outcome, ReportWork
from machines.turns.foreground import (
    CycleStarted,
    Foreground,
    RequestOpened,
    RequestsClosed,
    TurnInserted,
    WorkEnded,
)
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

DONE = WorkEnded(Outcome())
STOPPED = WorkEnded(Outcome("cancelled"))
FAILED = WorkEnded(Outcome(failure=Failure(FailureKind.API, "API Error: 500")))
RELEASED = RequestsClosed()
WITHDRAWN = RequestsClosed(withdrawn=True)

SAMPLES = (TurnInserted(), CycleStarted(), RequestOpened(), RELEASED, WITHDRAWN, DONE, STOPPED, FAILED)

RUNNING = ReportWork("running")
BLOCKED = ReportWork("requires_action")


def idle(cause: WorkEnded) -> tuple[ReportWork]:
    return (ReportWork("idle", cause.outcome),)


ROWS = (
    Row("M5 turn inserted", "idle", TurnInserted(), "running", (RUNNING,)),
    Row("M5 cycle starts", "idle", CycleStarted(), "cycling", (RUNNING,)),
    Row("M5 cycle before what was added", "running", CycleStarted(), "cycling"),
    Row("M5 blocked cycle before it", "requires_action", CycleStarted(), "cycle_requires_action"),
    Row("M5 turn takes the cycle over", "cycling", TurnInserted(), "running"),
    Row("M5 turn takes the blocked cycle over", "cycle_requires_action", TurnInserted(), "requires_action"),
    Row("M5 request opens", "running", RequestOpened(), "requires_action", (BLOCKED,)),
    Row("M5 request opens in a cycle", "cycling", RequestOpened(), "cycle_requires_action", (BLOCKED,)),
    Row("M5 second request", "requires_action", RequestOpened(), "requires_action"),
    Row("M5 second request in a cycle", "cycle_requires_action", RequestOpened(), "cycle_requires_action"),
    Row("M5 request without work", "idle", RequestOpened(), "idle"),
    Row("M5 last request closes", "requires_action", RELEASED, "running", (RUNNING,)),
    Row("M5 last request closes in a cycle", "cycle_requires_action", RELEASED, "cycling", (RUNNING,)),
    Row("M5 last request withdrawn by a cancel", "requires_action", WITHDRAWN, "running"),
    Row("M5 last request of a cycle withdrawn", "cycle_requires_action", WITHDRAWN, "cycling"),
    Row("M5 nothing was open", "idle", RELEASED, "idle"),
    Row("M5 nothing of the turn was open", "running", RELEASED, "running"),
    Row("M5 nothing of the cycle was open", "cycling", WITHDRAWN, "cycling"),
    Row("M5 turn settles", "running", DONE, "idle", idle(DONE)),
    Row("M5 turn fails", "running", FAILED, "idle", idle(FAILED)),
    Row("M5 turn ends while it waits", "requires_action", STOPPED, "idle", idle(STOPPED)),
    Row("M5 cycle ends", "cycling", DONE, "idle", idle(DONE)),
    Row("M5 cycle ends while it waits", "cycle_requires_action", STOPPED, "idle", idle(STOPPED)),
)

REFUSED: Refused = {
    ("idle", WorkEnded),
    ("running", TurnInserted),
    ("requires_action", TurnInserted),
    *((state, CycleStarted) for state in ("cycling", "cycle_requires_action")),
}


def at(state: str) -> Foreground:
    return Foreground(start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Foreground, ROWS) == set()


def test_totality() -> None:
    assert refusals(Foreground, at, SAMPLES) == REFUSED


def test_what_counts_as_idle_and_as_a_cycle() -> None:
    facts = {state.id: (at(state.id).is_idle, at(state.id).is_cycle) for state in Foreground.states}

    assert facts == {
        "idle": (True, False),
        "cycling": (False, True),
        "running": (False, False),
        "requires_action": (False, False),
        "cycle_requires_action": (False, True),
    }


class AnyOrder(Walk):
    """The oracle keeps three facts: whose work it is, whether it waits, what was reported last."""

    rows = ROWS
    refused = REFUSED

    def begin(self) -> None:
        super().begin()
        self.owner, self.blocked = "", False

    def create(self) -> Foreground:
        return Foreground()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        outputs: tuple[object, ...] = ()
        match event:
            case TurnInserted() | CycleStarted():
                outputs = () if self.owner else (RUNNING,)
                self.owner = "turn" if event == TurnInserted() else "cycle"
            case RequestOpened() if self.owner:
                outputs = () if self.blocked else (BLOCKED,)
                self.blocked = True
            case RequestsClosed(withdrawn):
                outputs = (RUNNING,) if self.blocked and not withdrawn else ()
                self.blocked = False
            case WorkEnded(outcome):
                outputs = (ReportWork("idle", outcome),)
                self.owner, self.blocked = "", False
        waits = {"turn": "requires_action", "cycle": "cycle_requires_action"}
        works = {"turn": "running", "cycle": "cycling"}
        return (waits if self.blocked else works).get(self.owner, "idle"), outputs

    @invariant()
    def the_reports_alternate(self) -> None:  # INV-F1
        states = ["idle", *(each.state for each in self.outputs if isinstance(each, ReportWork))]
        after = {
            "idle": {"running"},
            "running": {"requires_action", "idle"},
            "requires_action": {"running", "idle", "requires_action"},
        }
        assert all(second in after[first] for first, second in pairwise(states))

    @invariant()
    def each_end_has_its_outcome(self) -> None:
        assert all(
            (each.outcome is not None) == (each.state == "idle")
            for each in self.outputs
            if isinstance(each, ReportWork)
        )


TestAnyOrder = in_any_order(AnyOrder)
