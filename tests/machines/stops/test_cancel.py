"""The window between a cancel and the end of the stopped work's tail (M6)."""

from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.stops.cancel import Cancel, EndReported, Renew, Stop
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

SAMPLES = (Stop(), EndReported(), Renew())

ROWS = (
    Row("M6 cancel", "clear", Stop(), "stopping"),
    Row("M6 cancel again", "stopping", Stop(), "stopping"),
    Row("M6 cancel of the tail", "draining", Stop(), "draining"),
    Row("M6 work end reported", "stopping", EndReported(), "draining"),
    Row("M6 end without a cancel", "clear", EndReported(), "clear"),
    Row("M6 end reported twice", "draining", EndReported(), "draining"),
    Row("M6 turn activates", "draining", Renew(), "clear"),
    Row("M6 turn activates while stopping", "stopping", Renew(), "clear"),
    Row("M6 turn activates without a cancel", "clear", Renew(), "clear"),
)


def at(state: str) -> Cancel:
    return Cancel(start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Cancel, ROWS) == set()


def test_totality_nothing_is_refused() -> None:
    assert refusals(Cancel, at, SAMPLES) == set()


@pytest.mark.parametrize(
    ("state", "in_effect", "admits_text", "admits_new"),
    [("clear", False, True, True), ("stopping", True, True, False), ("draining", False, False, False)],
)
def test_m6_what_each_state_lets_through(
    state: str, in_effect: bool, admits_text: bool, admits_new: bool
) -> None:
    cancel = at(state)

    assert (cancel.in_effect, cancel.admits_text, cancel.admits_new) == (in_effect, admits_text, admits_new)


class AnyOrder(Walk):
    rows = ROWS
    refused: ClassVar[Refused] = set()

    def begin(self) -> None:
        super().begin()
        self.fed: list[object] = []

    def create(self) -> Cancel:
        return Cancel()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def handle(self, event: object) -> None:
        self.fed.append(event)
        super().handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match state, event:
            case _, Renew():
                return "clear", ()
            case "clear", Stop():
                return "stopping", ()
            case "stopping", EndReported():
                return "draining", ()
        return state, ()

    @invariant()
    def nothing_is_dropped_after_new_work_began(self) -> None:  # INV-X3
        since = self.fed[::-1]
        since = since[: since.index(Renew())] if Renew() in since else since
        assert (self.machine.phase == "clear") == (Stop() not in since)


TestAnyOrder = in_any_order(AnyOrder)
