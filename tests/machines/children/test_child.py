"""A subagent in the public form: one session for all that it is asked, and no state is the last (M21)."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.children.child_outputs import (
    ROOT,
    ChildState,
    ForgetChild,
    MessageChild,
    Place,
    RouteChild,
    UpdateChild,
)
from machines.children.forms.child import Child
from machines.children.forms.child_inputs import (
    Appear,
    AskOpened,
    AsksClosed,
    Delegate,
    Finish,
    Introduce,
    Labels,
    Lose,
    Rename,
    Repeat,
    Request,
    Restore,
    Spoke,
    Wake,
    Withdraw,
)
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
UNTOLD = Restore(ROOT, LABELS, ("c1",), stop="end_turn")
TOLD = Restore(ROOT, LABELS, ("c1",), shown=True, stop="end_turn")

OPEN = ("running", "requires_action", "stopping", "idle", "unexplained", "unknown")
BUSY, QUIET = OPEN[:3], OPEN[3:]
EVERYWHERE = ("registered", *OPEN)
OF_BEFORE = ("dormant", "introduced")
SAMPLES = (
    *(APPEAR, NEW_NAME, AGAIN, ASKING, Wake(), Wake(asking=True), OPENED, CLOSED, WITHDRAWN, Spoke()),
    *(DONE, STOPPED, GONE, SILENT, SAID, RESTARTED, Lose(), FORGET),
    *(UNTOLD, TOLD, Introduce(), Repeat()),
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
    Row("R.5 not told", "registered", UNTOLD, "dormant"),
    Row("R.4 told", "registered", TOLD, "idle", (RouteChild("a", ("c1",)),)),
    *(Row("R.4 told later", state, TOLD, "idle", (RouteChild("a", ("c1",)),)) for state in OF_BEFORE),
    *(Row("R.5 known", state, UNTOLD, state) for state in (*OPEN, *OF_BEFORE)),
    *(Row("R.4 known", state, TOLD, state) for state in OPEN),
    Row("R.5 above", "dormant", Introduce(), "introduced", (UpdateChild(ROOT, "a"), RouteChild("a", ()))),
    Row("R.5 asked again", "dormant", AGAIN, "running", (*told("running"), *ASKED)),
    Row("R.5 asked again", "introduced", AGAIN, "running", (*told("running"), *ASKED)),
    *(
        Row("R.5 asked again, asking", state, ASKING, "requires_action", (*outputs, *ASKED_BY_NOBODY))
        for state, outputs in (
            ("dormant", (*told("running"), *told("requires_action"))),
            ("introduced", told("requires_action")),
        )
    ),
    Row("R.5 running patch", "dormant", Wake(), "running", (*told("running"), RouteChild("a", ()))),
    Row("R.5 running patch", "introduced", Wake(), "running", told("running")),
    Row(
        "R.5 running patch, asking",
        "dormant",
        Wake(asking=True),
        "requires_action",
        (*told("running"), RouteChild("a", ()), *told("requires_action")),
    ),
    Row(
        "R.5 running patch, asking",
        "introduced",
        Wake(asking=True),
        "requires_action",
        told("requires_action"),
    ),
    Row("R.5 labels", "introduced", NEW_NAME, "introduced", RENAMED),
    Row("R.5 labels", "dormant", NEW_NAME, "dormant"),
    *(
        Row("R.5 it does nothing", state, event, state)
        for state in OF_BEFORE
        for event in (OPENED, CLOSED, Spoke(), DONE, Lose())
    ),
    *(Row("R.4 told again", state, Repeat(), state) for state in (*EVERYWHERE, *OF_BEFORE)),
)
REFUSED: Refused = {
    *((state, Appear) for state in (*OPEN, *OF_BEFORE)),
    *((state, Withdraw) for state in (*OPEN, *OF_BEFORE)),
    *((state, Introduce) for state in EVERYWHERE),
    ("introduced", Introduce),
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


@pytest.mark.contract("SA-098")
def test_whoever_is_of_before_is_told_with_its_labels_and_without_a_state() -> None:
    child = Child("a")
    assert child.handle(Restore(Place("p"), LABELS, ("c1",))) == ()
    assert child.handle(Introduce()) == (
        UpdateChild(Place("p"), "a", "scout (explorer)", "Look around"),
        RouteChild("a", ("c1",)),
    )
    assert child.handle(Repeat()) == (), "no state was told"
    assert child.handle(AGAIN)[0] == UpdateChild(Place("p"), "a", state="running")


def test_one_that_nobody_told_of_is_announced_when_it_runs_again() -> None:
    child = Child("a")
    child.handle(UNTOLD)
    assert child.handle(AGAIN) == (
        UpdateChild(ROOT, "a", "scout (explorer)", "Look around", "running"),
        MessageChild("a", "c2", Place("p"), "Go on."),
        RouteChild("a", ("c1", "c2")),
    )


def test_what_was_told_last_is_told_again() -> None:
    child = Child("a")
    child.handle(TOLD)
    assert child.handle(Repeat()) == told("idle", "end_turn")
    child.handle(AGAIN)
    assert child.handle(Repeat()) == told("running")
    child.handle(SAID)
    assert child.handle(Repeat()) == told("idle", "error", "It broke.")


KNOWN = (Restore, Introduce, Repeat)
"""What happens to those of before alone, or tells the same again."""


class AnyOrder(FreeWalk):
    def create(self) -> Child:
        return Child("a")

    @rule(event=st.sampled_from([each for each in SAMPLES if not isinstance(each, (Withdraw, *KNOWN))]))
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
