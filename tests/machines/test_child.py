"""A subagent in the public form: one session for all that it is asked, and no state is the last (M21)."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.child import (
    Appear,
    AskOpened,
    AsksClosed,
    Child,
    Delegate,
    Finish,
    Labels,
    Lose,
    Rename,
    Request,
    Spoke,
    Wake,
    Withdraw,
)
from machines.child_outputs import ROOT, ChildState, ForgetChild, MessageChild, Place, RouteChild, UpdateChild
from tests.machines.tables import Refused, Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

LABELS = Labels("scout (explorer)", "Look around")
APPEAR = Appear(ROOT, LABELS, ("c1",), Request("c1", "Go.", ROOT))
AGAIN = Delegate(("c1", "c2"), Request("c2", "Go on.", Place("p")))
ASKING = Delegate(("c1", "c2"), Request("c2", "Go on."), asking=True)
DONE, STOPPED, GONE = Finish("end_turn"), Finish("cancelled"), Finish(disconnected=True)
SILENT, SAID, RESTARTED = Finish("error"), Finish("error", "It broke."), Finish()
OPENED, CLOSED, WITHDRAWN = AskOpened(), AsksClosed(), AsksClosed(withdrawn=True)
NEW_NAME, SAME_NAME = Rename(Labels("scout", "Look around")), Rename(Labels(None, None))
FORGET = Withdraw(("c1",))

OPEN = ("running", "requires_action", "stopping", "idle", "unexplained", "unknown")
BUSY, QUIET = OPEN[:3], OPEN[3:]
EVERYWHERE = ("registered", *OPEN)
SAMPLES = (
    *(APPEAR, NEW_NAME, AGAIN, ASKING, Wake(), Wake(asking=True), OPENED, CLOSED, WITHDRAWN, Spoke()),
    *(DONE, STOPPED, GONE, SILENT, SAID, RESTARTED, Lose(), FORGET),
)


def told(state: ChildState, stop: Any = None, error: str | None = None) -> tuple[UpdateChild]:
    return (UpdateChild(ROOT, "a", None, None, state, stop, error),)


ASKED = (MessageChild("a", "c2", Place("p"), "Go on."), RouteChild("a", ("c1", "c2")))
ASKED_BY_NOBODY = (MessageChild("a", "c2", None, "Go on."), RouteChild("a", ("c1", "c2")))
ANNOUNCED = (
    UpdateChild(ROOT, "a", "scout (explorer)", "Look around", "running"),
    MessageChild("a", "c1", ROOT, "Go."),
    RouteChild("a", ("c1",)),
)
RENAMED = (UpdateChild(ROOT, "a", "scout", "Look around"),)

ROWS = (
    Row("M21 parent known", "registered", APPEAR, "running", ANNOUNCED),
    Row("M21 parent unknown at its end", "registered", FORGET, "withdrawn", (ForgetChild(("c1",)),)),
    Row("M21 not announced", "registered", NEW_NAME, "registered"),
    *(Row("M21 labels", state, NEW_NAME, state, RENAMED) for state in OPEN),
    *(Row("M21 asked again", state, AGAIN, "running", (*told("running"), *ASKED)) for state in QUIET),
    *(
        Row(
            "M21 asked again, asking",
            s,
            ASKING,
            "requires_action",
            (*told("requires_action"), *ASKED_BY_NOBODY),
        )
        for s in QUIET
    ),
    *(Row("M21 repeated signal", state, AGAIN, state, ASKED) for state in BUSY),
    Row("M21 not announced", "registered", AGAIN, "registered"),
    *(Row("M21 running patch", state, Wake(), "running", told("running")) for state in QUIET),
    *(
        Row("M21 running patch, asking", s, Wake(asking=True), "requires_action", told("requires_action"))
        for s in QUIET
    ),
    *(Row("M21 runs already", state, Wake(), state) for state in ("registered", *BUSY)),
    Row("M21 request opens", "running", OPENED, "requires_action", told("requires_action")),
    Row("M21 it goes on after all", "stopping", OPENED, "requires_action"),
    *(Row("M21 only from running", s, OPENED, s) for s in ("registered", "requires_action", *QUIET)),
    Row("M21 last request answered", "requires_action", CLOSED, "running", told("running")),
    Row("M21 withdrawn by a cancel", "requires_action", WITHDRAWN, "stopping"),
    *(Row("M21 nothing to close", s, CLOSED, s) for s in EVERYWHERE if s != "requires_action"),
    Row("M21 the cancel did not stop it", "stopping", Spoke(), "running", told("running")),
    *(Row("M21 it speaks", state, Spoke(), state) for state in EVERYWHERE if state != "stopping"),
    *(Row("M21 done", state, DONE, "idle", told("idle", "end_turn")) for state in BUSY),
    *(Row("M21 stopped", state, STOPPED, "idle", told("idle", "cancelled")) for state in BUSY),
    *(Row("M21 restarted", state, RESTARTED, "idle", told("idle")) for state in BUSY),
    *(Row("M21 failed", s, SAID, "idle", told("idle", "error", "It broke.")) for s in BUSY),
    *(Row("M21 failed silently", s, SILENT, "unexplained", told("idle", "error")) for s in BUSY),
    *(Row("M21 disconnected", state, GONE, "unknown", told("unknown")) for state in BUSY),
    Row("M21 the text comes later", "unexplained", SAID, "idle", told("idle", "error", "It broke.")),
    Row("M21 end again", "unexplained", DONE, "unexplained"),
    *(Row("M21 end again", state, SAID, state) for state in ("idle", "unknown")),
    *(Row("M21 stream end", state, Lose(), "idle", told("idle")) for state in BUSY),
    *(Row("M21 stream end", state, Lose(), state) for state in ("idle", "unknown")),
    Row("M21 stream end", "unexplained", Lose(), "idle"),
)
REFUSED: Refused = {
    *((state, Appear) for state in OPEN),
    *((state, Withdraw) for state in OPEN),
    ("registered", Finish),
    ("registered", Lose),
}


def at(state: str) -> Child:
    return Child("a", start=state)


@pytest.mark.contract("SA-041", "SA-045", "SA-046", "SA-076", "SA-083", "PM-116", "SA-084")
@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Child, ROWS) == set()


def test_totality() -> None:
    assert refusals(Child, at, SAMPLES) == REFUSED


@pytest.mark.contract("SA-033")
def test_only_labels_that_changed_are_told() -> None:
    child = Child("a")
    child.handle(Appear(ROOT, Labels("explorer", None)))
    assert child.handle(Rename(Labels("explorer", "Look around"))) == (
        UpdateChild(ROOT, "a", None, "Look around"),
    )
    assert child.handle(Rename(Labels("explorer", "Look around"))) == ()
    assert child.handle(SAME_NAME) == ()
    assert child.handle(Rename(LABELS)) == (UpdateChild(ROOT, "a", "scout (explorer)"),)


class AnyOrder(FreeWalk):
    def create(self) -> Child:
        return Child("a")

    @rule(event=st.sampled_from([each for each in SAMPLES if not isinstance(each, Withdraw)]))
    def any_event(self, event: Any) -> None:
        if (self.machine.phase, type(event)) not in REFUSED:
            self.feed(event)

    @invariant()
    def states_alternate(self) -> None:  # INV-H4
        said = [each for each in self.outputs if isinstance(each, UpdateChild) and each.state is not None]
        for before, after in pairwise(said):
            repeats = before.state == after.state == "idle" and after.error is not None
            assert repeats or before.state != after.state, said
            assert after.state != "requires_action" or before.state != "requires_action"

    @invariant()
    def what_it_is_asked_appears_once(self) -> None:  # INV-H6
        asked = [each.message for each in self.outputs if isinstance(each, MessageChild)]
        assert len(asked) == len({*asked})

    @invariant()
    def it_is_announced_first(self) -> None:  # INV-H1
        assert not self.outputs or self.outputs[0] == ANNOUNCED[0]


TestAnyOrder = in_any_order(AnyOrder)
