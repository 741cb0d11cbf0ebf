"""An async task as its client sees it: one spawn, then changes, then one end (A1)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.tasks.async_task import UNNAMED, AsyncTask
from machines.tasks.task_changes import (
    Disowned,
    Ended,
    Lost,
    Paused,
    Progressed,
    Resumed,
    Stopped,
    Told,
    TurnOver,
    Unlisted,
)
from machines.tasks.task_events import TaskFacts
from machines.tasks.task_outputs import MoveTask, ReportTask, ShowTask
from tests.machines.tables import Refused, Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

FACTS = TaskFacts("local_bash", "wait")
CALL = "toolu_1"
START = Told(FACTS, CALL)
FOREGROUND = Told(FACTS, CALL, background=False)
NAMELESS = Told(FACTS)
LISTED = Told(FACTS, by_level=True)
LAUNCHED = Told(TaskFacts(output_file="/t.output"), CALL)
STEP = Progressed(summary="half")
STEP_OF = Progressed(CALL, summary="half")
DONE, NOTICE = Ended("completed"), Ended("failed", "Exit 1", CALL, "/t.output")
KILLED = Ended("stopped")

SAMPLES = (
    *(START, FOREGROUND, NAMELESS, LISTED, LAUNCHED, STEP, STEP_OF, Paused(), Resumed()),
    *(DONE, NOTICE, KILLED, Unlisted(), TurnOver(), Stopped(), Lost(), Lost("stopped"), Disowned()),
)

OPEN = ("unknown", "held", "running", "paused", "unlisted", "unseen", "ended")
RUNS = ("running", "paused")
OVER = ("unlisted", "ended")


def spawn(call: str | None = CALL, **more: Any) -> ShowTask:
    return ShowTask("t", "wait", "local_bash", "wait", call=call, **more)


def state(name: Any, summary: str = "") -> MoveTask:
    return MoveTask("t", name, summary)


FILE = ReportTask("t", output_file="/t.output")
HALF = ReportTask("t", summary="half")

ROWS = (
    # a start, an entry of the list, a launch
    Row("A1 in the background", "unknown", START, "running", (spawn(),)),
    Row("A1 no call yet", "unknown", NAMELESS, "held"),
    Row("A1 in the foreground", "unknown", FOREGROUND, "unknown"),
    Row("A1 the call arrives", "held", START, "running", (spawn(),)),
    Row("A1 the call arrives in a pause", "held paused", START, "paused", (spawn(), state("paused"))),
    Row("A1 listed again", "held", LISTED, "held"),
    *(Row("A1 again", name, START, name, (ReportTask("t", "wait"),)) for name in RUNS),
    *(Row("A1 launched", name, LAUNCHED, name, (FILE,)) for name in RUNS),
    Row("A1 it was in the background", "unseen", START, "ended", (spawn(), state("completed"))),
    Row("A1 it was not", "unseen", FOREGROUND, "unseen"),
    *(Row("A1 over", name, START, name) for name in OVER),
    *(Row("A1 only the file", name, LAUNCHED, name, (FILE,)) for name in OVER),
    # subagents
    *(Row("INV-B5", name, Disowned(), "ignored") for name in ("unknown", "held", "unseen", *OVER)),
    *(Row("INV-B5", name, Disowned(), "ignored", (state("stopped"),)) for name in RUNS),
    # progress
    *(Row("A1 progress", name, STEP, name, (HALF,)) for name in RUNS),
    Row("A1 progress waits", "held", STEP, "held"),
    Row("A1 progress names the call", "held", STEP_OF, "running", (spawn(), HALF)),
    Row(
        "A1 progress in a pause",
        "held paused",
        STEP_OF,
        "paused",
        (spawn(), state("paused"), HALF),
    ),
    *(Row("A1 nothing shows", name, STEP_OF, name) for name in ("unknown", "unseen")),
    *(Row("A1 over", name, STEP, name) for name in OVER),
    *(Row("A1 only the file", name, Progressed(output_file="/t.output"), name, (FILE,)) for name in OVER),
    # rest
    Row("A1 pause", "running", Paused(), "paused", (state("paused"),)),
    Row("A1 resume", "paused", Resumed(), "running", (state("running"),)),
    *(Row("A1 same", name, Paused(), name) for name in OPEN if name != "running"),
    *(Row("A1 same", name, Resumed(), name) for name in OPEN if name != "paused"),
    # its end
    *(Row("A1 end", name, DONE, "ended", (state("completed"),)) for name in RUNS),
    *(Row("A1 end", name, NOTICE, "ended", (FILE, state("failed", "Exit 1"))) for name in RUNS),
    Row("A1 ended first", "held", DONE, "ended", (spawn(None), state("completed"))),
    Row(
        "A1 its end names the call",
        "held",
        NOTICE,
        "ended",
        (spawn(output_file="/t.output"), state("failed", "Exit 1")),
    ),
    Row("A1 unseen end", "unknown", DONE, "unseen"),
    Row("A1 unseen end", "unseen", NOTICE, "unseen"),
    Row("A1 corrected", "unlisted", DONE, "ended", (state("completed"),)),
    Row("A1 as told", "unlisted", KILLED, "ended"),
    Row("A1 once", "ended", NOTICE, "ended", (FILE,)),
    # the list
    *(Row("A1 dropped", name, Unlisted(), "unlisted", (state("stopped"),)) for name in RUNS),
    Row("A1 dropped", "held", Unlisted(), "unlisted", (spawn(None), state("stopped"))),
    *(Row("A1 not shown", name, Unlisted(), name) for name in ("unknown", "unseen", *OVER)),
    # its turn
    Row("INV-B4", "held", TurnOver(), "running", (spawn(None),)),
    Row("INV-B4", "held paused", TurnOver(), "paused", (spawn(None), state("paused"))),
    *(Row("A1 not held", name, TurnOver(), name) for name in OPEN if name != "held"),
    # a stop
    *(Row("A1 stopped", name, Stopped(), "ended", (state("stopped"),)) for name in RUNS),
    Row("A1 told already", "unlisted", Stopped(), "ended"),
    *(Row("A1 nothing to stop", name, Stopped(), name) for name in ("unknown", "held", "unseen", "ended")),
    # the process
    *(Row("LIVE-B1", name, Lost(), "ended", (state("failed"),)) for name in RUNS),
    *(Row("LIVE-B1", name, Lost("stopped"), "ended", (state("stopped"),)) for name in RUNS),
    Row("LIVE-B1", "held", Lost(), "ended", (spawn(None), state("failed"))),
    Row("LIVE-B1", "unlisted", Lost(), "ended"),
    *(Row("LIVE-B1", name, Lost(), name) for name in ("unknown", "unseen", "ended")),
)
REFUSED: Refused = set()


def at(where: str) -> AsyncTask:
    """A command in this state; it has its call as soon as it is shown."""
    name, _, rests = where.partition(" ")
    task = AsyncTask("t", start=name)
    if name != "unknown":
        task.facts = FACTS
    if name in {*RUNS, *OVER}:
        task.call = CALL
    if rests:
        task.waiting.append(MoveTask("t", "paused"))
    return task


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    rows = [Row(row.rule, row.state.partition(" ")[0], row.event, row.then) for row in ROWS]
    assert missing(AsyncTask, rows) == set()


def test_totality() -> None:
    assert refusals(AsyncTask, at, SAMPLES) == REFUSED


# ── what the spawn says ───────────────────────────────────────────────────────


def told(*events: Any) -> list[Any]:
    task = AsyncTask("t")
    return [output for event in events for output in task.handle(event)]


@pytest.mark.contract("AT-012", "AT-046")
@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ((START,), True),
        ((Told(TaskFacts(skip_transcript=True), CALL),), False),
        ((LISTED, START), False),
        ((LISTED, TurnOver()), False),
        ((FOREGROUND, LISTED), True),
        ((Told(), Told(TaskFacts(skip_transcript=True), CALL)), False),
        ((LAUNCHED,), True),
    ],
)
def test_the_transcript_has_what_claude_code_puts_there(events: Any, shown: bool) -> None:
    assert told(*events)[0].in_transcript is shown


@pytest.mark.contract("AT-007")
def test_the_spawn_has_what_is_known_by_then() -> None:
    (alone,) = told(NAMELESS, TurnOver())
    assert (alone.output_file, alone.call) == ("", None)
    (known,) = told(LISTED, LAUNCHED)
    assert known == spawn(in_transcript=False, output_file="/t.output")


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (TaskFacts("local_workflow", "does it", name="audit"), "audit"),
        (TaskFacts("local_bash", "does it"), "does it"),
        (TaskFacts(), UNNAMED),
    ],
)
def test_a_task_is_called_after_its_workflow_or_its_description(facts: TaskFacts, name: str) -> None:
    assert told(Told(facts, CALL))[0].title == name


@pytest.mark.contract("AT-020", "AT-021", "AT-022", "AT-023")
@pytest.mark.parametrize("event", [START, STEP_OF, NOTICE, LAUNCHED])
def test_the_call_comes_from_whatever_names_it(event: Any) -> None:
    assert told(NAMELESS, event)[0].call == CALL


@pytest.mark.contract("AT-025")
def test_what_waits_follows_the_spawn_in_its_order() -> None:
    first, second = Progressed(summary="one"), Progressed(last_tool="Read", usage={"tokens": 1})
    outputs = told(NAMELESS, first, Paused(), Paused(), Resumed(), second, DONE)
    assert outputs == [
        spawn(None),
        ReportTask("t", summary="one"),
        state("paused"),
        state("running"),
        ReportTask("t", last_tool="Read", usage={"tokens": 1}),
        state("completed"),
    ]


@pytest.mark.contract("AT-026")
def test_a_task_that_ends_first_has_no_call() -> None:
    assert told(NAMELESS, DONE) == [spawn(None), state("completed")]


@pytest.mark.contract("AT-027", "AT-028")
@pytest.mark.parametrize(
    ("event", "known"),
    [
        (START, ReportTask("t", "wait", call=CALL)),
        (STEP_OF, ReportTask("t", summary="half", call=CALL)),
        (LAUNCHED, ReportTask("t", output_file="/t.output", call=CALL)),
    ],
)
def test_a_call_that_comes_later_is_reported(event: Any, known: ReportTask) -> None:
    assert told(NAMELESS, TurnOver(), event) == [spawn(None), known]


@pytest.mark.contract("TC-223")
def test_a_task_keeps_the_call_that_started_it() -> None:
    outputs = told(START, Progressed("other", summary="half"), Told(FACTS, "other"))
    assert {output.call for output in outputs} == {CALL, None}


@pytest.mark.contract("AT-030", "AT-031", "AT-032")
@pytest.mark.parametrize("end", ["completed", "failed"])
def test_its_own_end_corrects_what_the_list_said(end: Any) -> None:
    outputs = told(START, Unlisted(), Ended(end), Ended("failed"), Unlisted())
    assert outputs == [spawn(), state("stopped"), state(end)]


def test_an_end_that_came_too_early_is_told_with_the_spawn() -> None:
    outputs = told(Ended("failed"), Ended("completed", "Exit 1", CALL), LAUNCHED)
    assert [type(each) for each in outputs] == [ShowTask, MoveTask]
    assert outputs[1] == state("failed", "Exit 1")


# ── in any order ──────────────────────────────────────────────────────────────

ENDS = {"completed", "failed", "stopped"}


class AnyOrder(FreeWalk):
    def create(self) -> AsyncTask:
        return AsyncTask("t")

    @rule(event=st.sampled_from(SAMPLES))
    def any_event(self, event: Any) -> None:
        before = self.machine.phase
        outputs = self.feed(event)
        if before == "ended":
            assert not [each for each in outputs if isinstance(each, MoveTask)], "INV-B2"
        if isinstance(event, Lost | TurnOver):
            assert self.machine.phase != "held", "INV-B4"
        if isinstance(event, Lost):
            assert self.machine.phase not in RUNS, "LIVE-B1"
        if before == "ignored":
            assert outputs == (), "INV-B5"

    @invariant()
    def the_spawn_is_first_and_comes_once(self) -> None:  # INV-B1, INV-B6
        kinds = [type(each) for each in self.outputs]
        assert kinds[:1] in ([], [ShowTask])
        assert kinds.count(ShowTask) <= 1

    @invariant()
    def a_report_says_something(self) -> None:  # INV-B6
        assert not [each for each in self.outputs if isinstance(each, ReportTask) and each.says_nothing]

    @invariant()
    def states_are_told_as_they_change(self) -> None:  # INV-B2
        moves = [each.state for each in self.outputs if isinstance(each, MoveTask)]
        ends = [move for move in moves if move in ENDS]
        assert len(ends) <= 1 or (len(ends) == 2 and ends[0] == "stopped" != ends[1])
        assert moves[len(moves) - len(ends) :] == ends, "nothing comes between or after"
        assert all(a != b for a, b in zip(["running", *moves], moves, strict=False))


TestAnyOrder = pytest.mark.contract("AT-013", "AT-024", "AT-025", "AT-031")(in_any_order(AnyOrder))
