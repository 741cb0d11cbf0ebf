"""The stop of a task: asked once, told once, answered always (A1)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.tasks.task_outputs import AnswerStop, StopTask, TellStopped
from machines.tasks.task_stop import Ask, Confirmed, Refused, TaskStop
from tests.machines.tables import Refused as RefusedPairs
from tests.machines.tables import Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

ASK, OK, GONE, NO = Ask("s"), Confirmed("wait"), Refused(), Refused("no")
SAMPLES = (ASK, OK, GONE, NO)

ROWS = (
    Row("A1 stop", "untouched", ASK, "stopping", (StopTask("t"),)),
    Row("A1 already", "stopping", Ask("other"), "stopping", (AnswerStop("other"),)),
    Row("A1 stopped", "told", ASK, "told", (AnswerStop("s"),)),
    Row("A1 ok", "stopping", OK, "told", (TellStopped("wait"), AnswerStop("s", stopped=True))),
    Row("A1 error", "stopping", NO, "untouched", (AnswerStop("s", error="no"),)),
    Row("A1 ended meanwhile", "stopping", GONE, "untouched", (AnswerStop("s"),)),
    *(Row("A1 late", name, event, name) for name in ("untouched", "told") for event in (OK, NO)),
)
REFUSED: RefusedPairs = set()


def at(state: str) -> TaskStop:
    stop = TaskStop("t", start=state)
    stop.stop = "s" if state == "stopping" else ""
    return stop


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(TaskStop, ROWS) == set()


def test_totality() -> None:
    assert refusals(TaskStop, at, SAMPLES) == REFUSED


class AnyOrder(FreeWalk):
    machine: TaskStop

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def create(self) -> TaskStop:
        return TaskStop("t")

    @rule()
    def ask(self) -> None:
        self.asked.append(str(len(self.asked)))
        self.feed(Ask(self.asked[-1]))

    @rule(event=st.sampled_from((OK, GONE, NO)))
    def reply(self, event: Any) -> None:
        self.feed(event)

    @invariant()
    def it_is_told_once(self) -> None:
        told = [each for each in self.outputs if isinstance(each, TellStopped)]
        stopped = [each for each in self.outputs if isinstance(each, AnswerStop) and each.stopped]
        assert len(told) == len(stopped) <= 1

    @invariant()
    def each_request_has_one_answer(self) -> None:
        answers = [each.stop for each in self.outputs if isinstance(each, AnswerStop)]
        assert len(answers) == len({*answers})
        open_ones = {*self.asked} - {*answers}
        assert open_ones == ({self.machine.stop} if self.machine.phase == "stopping" else set())


TestAnyOrder = pytest.mark.contract("AT-039", "AT-042")(in_any_order(AnyOrder))
