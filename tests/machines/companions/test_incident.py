"""Incidents: growing revisions of one id, and silence after they are over (M13)."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.companions.incident import Activate, Book, Incident, Recover, Warn
from machines.companions.session_reports import IncidentFacts, ReportIncident
from tests.machines.tables import Refused, Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

MAYBE = IncidentFacts("connection", "warning", "The connection is slow.", ("retry",))
FAILED = IncidentFacts("service", "error", "The service failed.", ("retry",), "details")
SAMPLES = (Warn(MAYBE), Activate(FAILED), Recover())


def told(facts: IncidentFacts) -> tuple[ReportIncident]:
    return (ReportIncident("i", 1, facts),)


ROWS = (
    Row("M13 warning", "new", Warn(MAYBE), "warning", told(MAYBE)),
    Row("M13 next attempt", "warning", Warn(MAYBE), "warning", told(MAYBE)),
    Row("M13 a warning is weaker", "active", Warn(MAYBE), "active"),
    *(Row("M13 failure", s, Activate(FAILED), "active", told(FAILED)) for s in ("new", "warning", "active")),
    *(Row("M13 over", state, Recover(), "recovered") for state in ("new", "warning", "active")),
)
REFUSED: Refused = set()


def at(state: str) -> Incident:
    return Incident("i", start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Incident, ROWS) == set()


def test_totality() -> None:
    assert refusals(Incident, at, SAMPLES) == REFUSED


class AnyOrder(FreeWalk):
    def create(self) -> Incident:
        return Incident("i")

    @rule(event=st.sampled_from(SAMPLES))
    def any_event(self, event: Any) -> None:
        over = self.machine.is_terminated
        assert not (self.feed(event) and over), "what is over is never sent again (INV-I4)"

    @invariant()
    def revisions_grow_by_one(self) -> None:  # INV-I1
        assert [each.revision for each in self.outputs] == [*range(1, len(self.outputs) + 1)]


TestAnyOrder = in_any_order(AnyOrder)


def test_inv_i2_a_turn_has_one_id_and_incidents_of_the_session_never_share_one() -> None:
    book = Book("S", "e")
    assert book.turn_id("t") == book.turn_id("t") == "t:error"
    assert book.session_id() != book.session_id()
    assert Book("S", "f").session_id() != Book("S", "e").session_id()


def test_a_notice_with_the_same_title_is_a_revision_of_it() -> None:
    book = Book("S", "e")
    first, again, other = book.notice_id("a"), book.notice_id("a"), book.notice_id("b")
    assert first == again != other
    assert [book.revise(first), book.revise(first), book.revise(other)] == [1, 2, 1]
