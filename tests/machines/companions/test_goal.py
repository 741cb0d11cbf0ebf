"""The goal: what a command asks for is shown at once, and taken back when it fails (M12)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.companions.goal import (
    Checked,
    CommandDropped,
    CommandEnded,
    CommandStarted,
    Goal,
    Reset,
    Submitted,
    Told,
)
from machines.companions.session_reports import GoalSnapshot, PublishGoal
from tests.machines.tables import Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

OLD, NEW, OTHER = GoalSnapshot("old", 3), GoalSnapshot("new"), GoalSnapshot("other", 1, "why", 7)
SET, CLEAR = Submitted("u", "new"), Submitted("u", None)
BEGUN, OK, BAD = CommandStarted("u"), CommandEnded("u", True), CommandEnded("u", False)
GONE, NOT_MINE = CommandDropped("u"), CommandDropped("x")
TOLD, LATE, CHECKED, LATE_CHECK = Told(NEW), Told(OTHER), Checked("new", "not yet"), Checked("old", "no")
RESET = Reset()
SAMPLES = (SET, BEGUN, OK, GONE, TOLD, CHECKED, RESET)


def shown(goal: GoalSnapshot | None) -> tuple[PublishGoal]:
    return (PublishGoal(goal),)


def busy(rule: str, event: object, then: str, outputs: tuple[object, ...] = ()) -> tuple[Row, Row]:
    """The same in both states of a command; where nothing happens, it stays there."""
    return (
        Row(rule, "pending", event, then or "pending", outputs),
        Row(rule, "running", event, then or "running", outputs),
    )


ROWS = (
    Row("M12 set", "settled", SET, "pending", shown(NEW)),
    Row("M12 clear", "settled", CLEAR, "pending", shown(None)),
    *busy("M12 another command", SET, "pending", shown(NEW)),
    Row("M12 taken up", "pending", BEGUN, "running"),
    Row("M12 another message", "pending", CommandStarted("x"), "pending"),
    Row("M12 taken up", "running", BEGUN, "running"),
    Row("M12 taken up", "settled", BEGUN, "settled"),
    *busy("M12 done", OK, "settled"),
    *busy("M12 failed", BAD, "settled", shown(OLD)),
    *busy("M12 another message", CommandEnded("x", True), ""),
    Row("M12 done", "settled", OK, "settled"),
    *busy("M12 dropped", GONE, "settled", shown(OLD)),
    *busy("M12 no process", CommandDropped(), "settled", shown(OLD)),
    *busy("M12 another is dropped", NOT_MINE, ""),
    Row("M12 dropped", "settled", GONE, "settled"),
    *busy("M12 told what was asked for", TOLD, "settled", shown(NEW)),
    *busy("M12 late news", LATE, ""),
    Row("M12 told", "settled", LATE, "settled", shown(OTHER)),
    *busy("M12 checked", CHECKED, "settled", shown(GoalSnapshot("old", 4, "not yet"))),
    *busy("M12 late check", LATE_CHECK, ""),
    Row("M12 checked", "settled", LATE_CHECK, "settled", shown(GoalSnapshot("old", 4, "no"))),
    *busy("M12 new conversation", RESET, "settled", shown(None)),
    Row("M12 new conversation", "settled", RESET, "settled", shown(None)),
)


def at(state: str) -> Goal:
    goal = Goal(start=state)
    goal.published = goal.previous = OLD
    if state != "settled":
        goal.command, goal.expected = "u", "new"
    return goal


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Goal, ROWS) == set()


def test_totality() -> None:
    assert refusals(Goal, at, SAMPLES) == set()


def last(*events: Any) -> Any:
    machine = Goal()
    published = [output.goal for event in events for output in machine.handle(event)]
    return published[-1]


@pytest.mark.contract("GL-031")
def test_m12_the_second_of_two_commands_fails_back_to_the_goal_before_both() -> None:  # INV-G1
    second = Submitted("v", "second")
    assert last(Told(OLD), SET, second, CommandEnded("v", False)) == OLD


@pytest.mark.contract("GL-030")
def test_m12_the_news_of_claude_code_have_the_last_word() -> None:
    assert last(SET, BEGUN, OK, Told(GoalSnapshot("new", 2, "half", 9))) == GoalSnapshot("new", 2, "half", 9)


@pytest.mark.contract("GL-034")
def test_m12_without_news_the_checks_of_the_mirror_count() -> None:
    assert last(SET, OK, Checked("new", "a"), Checked("new", "b")) == GoalSnapshot("new", 2, "b")


_NOTHING = object()


class AnyOrder(FreeWalk):
    def __init__(self) -> None:
        super().__init__()
        self.goal: GoalSnapshot | None = None
        self.fallback: object = _NOTHING

    def create(self) -> Goal:
        return Goal()

    @rule(uuid=st.sampled_from("uvx"), objective=st.sampled_from((None, "new", "other")))
    def submit(self, uuid: str, objective: str | None) -> None:
        before = self.goal
        (shown,) = self.feed(Submitted(uuid, objective))
        assert (shown.goal.objective if shown.goal else None) == objective
        if self.fallback is _NOTHING:
            self.fallback = before

    @rule(uuid=st.sampled_from("uvx"), ok=st.booleans())
    def end(self, uuid: str, ok: bool) -> None:
        self.feed(CommandEnded(uuid, ok))

    @rule(event=st.sampled_from((BEGUN, GONE, NOT_MINE, TOLD, LATE, CHECKED, LATE_CHECK, RESET)))
    def other(self, event: object) -> None:
        state = self.machine.phase
        for output in self.feed(event):
            # Late news never show while a command is under way (INV-G2).
            assert state == "settled" or event in {GONE, NOT_MINE, TOLD, LATE, CHECKED, LATE_CHECK, RESET}
            assert state == "settled" or self.machine.phase == "settled", output

    def feed(self, event: object) -> tuple[Any, ...]:
        under_way = self.machine.phase != "settled"
        outputs = super().feed(event)
        for output in outputs:
            self.goal = output.goal
        failed = (isinstance(event, CommandEnded) and not event.ok) or isinstance(event, CommandDropped)
        if under_way and self.machine.phase == "settled":
            if failed:
                assert self.goal == self.fallback  # INV-G1
            self.fallback = _NOTHING
        return outputs

    @invariant()
    def what_is_shown_is_what_is_known(self) -> None:
        machine = self.machine
        assert isinstance(machine, Goal)
        assert machine.published == self.goal


TestAnyOrder = pytest.mark.contract("GL-029", "GL-031")(in_any_order(AnyOrder))
