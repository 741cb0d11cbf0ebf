"""Async tasks within a session: their turns, the list, stops, and the end of the process (A1)."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import events as e
from machines import outputs as o
from machines.companions.goal import Reset
from machines.tasks.async_tasks import GONE, REMEMBERED
from machines.tasks.task_outputs import AnswerStop, MoveTask, ReportTask, ShowTask, StopTask, TellStopped
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    INITIALIZED,
    RUNNING,
    TASK,
    Talk,
    aborted,
    answered,
    begin,
    dispatched,
    end,
    moved,
    prompt,
    result,
    returned,
)

UPDATES = (ShowTask, ReportTask, MoveTask)
FACTS = e.TaskFacts("local_bash", "wait")


def air(*events: Any) -> Talk:
    return Talk(*events, async_tasks=True)


def of_tasks(outputs: list[Any]) -> list[Any]:
    return [output for output in outputs if isinstance(output, get_args(o.TaskOutput))]


def listed(*tasks: str) -> e.LevelListed:
    return e.LevelListed(frozenset(tasks), dict.fromkeys(tasks, FACTS))


def started(task: str, call: str | None = "c", **more: Any) -> e.TaskStarted:
    return e.TaskStarted(task, call, backgrounded=True, facts=FACTS, **more)


def launched(task: str, call: str = "c", *, backgrounded: bool = True) -> e.TaskLaunched:
    return e.TaskLaunched(call, task, f"/{task}.output", backgrounded)


def over(task: str) -> tuple[e.Event, ...]:
    """What Claude Code says of an end (r08)."""
    notice = e.TaskEnded(task, status="completed", call="c", output_file=f"/{task}.output")
    return e.TaskEnded(task), notice, listed()


def spawn(task: str, call: str | None = "c", **more: Any) -> ShowTask:
    return ShowTask(task, "wait", "local_bash", "wait", call=call, **more)


def held() -> Talk:
    """A turn with a task whose call is not known."""
    return air(prompt("A"), begin("A"), started("t", None))


def runs(*more: Any) -> Talk:
    """A task that goes on after its turn."""
    return air(prompt("A"), begin("A"), dispatched("c"), started("t"), returned("c"), end("A"), *more)


def stop(request: str, task: str = "t") -> e.TaskStopRequested:
    return e.TaskStopRequested(request, task)


# ── a task and its turn ───────────────────────────────────────────────────────


def test_r08_a_command_in_the_background() -> None:
    talk = air(prompt("A"), begin("A"), dispatched("c"))
    first = talk(listed("t"), started("t"), launched("t"), returned("c"))
    assert first[:2] == [spawn("t", in_transcript=False), ReportTask("t", output_file="/t.output", call=None)]
    assert of_tasks(talk(end("A"))) == []
    assert of_tasks(talk(over("t"))) == [MoveTask("t", "completed"), ReportTask("t", output_file="/t.output")]


@pytest.mark.contract("AT-027")
def test_inv_b4_a_held_task_is_told_before_its_turn_is_answered() -> None:
    outputs = held()(end("A"))
    assert outputs.index(spawn("t", None)) < outputs.index(answered("A"))


@pytest.mark.parametrize(
    "ending",
    [(CANCEL, aborted("A"), IDLE), (CANCEL, IDLE), (DEAD,), (CLOSE,), (*moved("completed", "A"), IDLE)],
)
def test_inv_b4_whatever_ends_the_turn(ending: Any) -> None:
    outputs = held()(*ending)
    answer = next(n for n, each in enumerate(outputs) if isinstance(each, o.AnswerPrompt))
    assert outputs.index(spawn("t", None)) < answer


def test_inv_b4_a_turn_that_waits_for_a_subagent_has_its_result() -> None:
    talk = air(prompt("A"), begin("A"), e.TaskStarted("a", "agent", True, True), started("t", None))
    assert of_tasks(talk(result("A"))) == [spawn("t", None)]


def test_a_result_of_other_work_leaves_it_held() -> None:
    talk = held()
    assert of_tasks(talk(result(origin=TASK), prompt("B"), e.PromptCancelRequested("B"))) == []
    assert of_tasks(talk(started("t"))) == [spawn("t")]


def test_work_of_its_own_ends_with_its_result() -> None:
    talk = air(prompt("A"), begin("A"), end("A"), RUNNING, e.MessageStarted(), started("t", None))
    assert of_tasks(talk(result(origin=TASK))) == [spawn("t", None)]


# ── which tasks there are ─────────────────────────────────────────────────────


@pytest.mark.contract("AT-001")
def test_inv_b3_nobody_else_hears_of_tasks() -> None:
    talk = Talk(prompt("A"), begin("A"))
    outputs = talk(listed("t"), started("t"), launched("t"), e.TaskProgressed("t", summary="s"), over("t"))
    assert of_tasks(outputs) == []
    assert talk(stop("s")) == [AnswerStop("s")]


@pytest.mark.contract("AT-003", "AT-004")
@pytest.mark.parametrize(
    "facts", [e.TaskFacts("local_agent"), e.TaskFacts("local_workflow", subagent_type="scout")]
)
def test_inv_b5_a_subagent_is_no_task(facts: e.TaskFacts) -> None:
    talk = air(prompt("A"), begin("A"))
    start = e.TaskStarted("t", "c", True, True, facts=facts)
    level = e.LevelListed(frozenset({"t"}), {"t": facts})
    rest = (e.TaskBackgrounded("t", True), e.TaskProgressed("t", summary="s"), e.TaskMoved("t", "paused"))
    assert of_tasks(talk(start, level, rest, e.TaskEnded("t"), end("A"))) == []
    assert of_tasks(talk(level, start, rest, DEAD)) == []


@pytest.mark.parametrize(
    ("type", "says_where", "shown"),
    [
        ("local_bash", False, False),
        ("local_agent", False, False),
        ("local_workflow", False, True),
        ("local_workflow", True, False),
        ("", False, True),
    ],
)
def test_where_a_task_runs_is_said_or_follows_from_its_type(type: str, says_where: bool, shown: bool) -> None:
    start = e.TaskStarted("t", "c", facts=e.TaskFacts(type), says_where=says_where)
    outputs = air(prompt("A"), begin("A"))(start)
    assert [each.task for each in of_tasks(outputs)] == (["t"] if shown else [])


@pytest.mark.contract("AT-044")
def test_a_command_in_the_foreground_is_shown_once_it_is_not() -> None:
    talk = air(prompt("A"), begin("A"), dispatched("c"))
    foreground = e.TaskStarted("t", "c", facts=FACTS)
    assert of_tasks(talk(foreground, e.TaskBackgrounded("t", False))) == []
    assert of_tasks(talk(e.TaskBackgrounded("t", True))) == [spawn("t")]


def test_a_result_that_only_names_a_file_counts_for_its_own_task() -> None:
    talk = air(prompt("A"), begin("A"), started("t"))
    assert of_tasks(talk(launched("t", "other", backgrounded=False))) == []
    assert of_tasks(talk(launched("u", backgrounded=False))) == []
    outputs = talk(launched("t", backgrounded=False))
    assert of_tasks(outputs) == [ReportTask("t", output_file="/t.output")]


def test_b1_frames_of_an_earlier_run_are_late() -> None:
    talk = air(prompt("A"), begin("A"), started("t", run="2"))
    assert of_tasks(talk(e.TaskEnded("t", "1"), e.TaskMoved("t", "paused", "1"))) == []
    assert of_tasks(talk(e.TaskEnded("t", "2"))) == [MoveTask("t", "completed")]


def test_a_task_of_which_nothing_was_said_is_not_shown() -> None:
    assert of_tasks(air(prompt("A"), begin("A"))(e.TaskBackgrounded("t", True), end("A"))) == []


@pytest.mark.contract("AT-030", "AT-031")
def test_the_list_decides_what_is_alive() -> None:
    talk = runs(listed("t"))
    assert of_tasks(talk(listed("u"))) == [MoveTask("t", "stopped")]
    assert of_tasks(talk(e.TaskEnded("t"))) == [MoveTask("t", "completed")]


def test_a_task_that_the_list_never_had_is_not_dropped_by_it() -> None:
    assert of_tasks(runs()(listed())) == []


@pytest.mark.contract("AT-015", "AT-016")
def test_states_in_the_words_of_the_client() -> None:
    moves = runs()(*(e.TaskMoved("t", status) for status in ("pending", "paused", "paused", "running")))
    assert of_tasks(moves) == [MoveTask("t", "paused"), MoveTask("t", "running")]
    ends = {"completed": "completed", "failed": "failed", "killed": "stopped", "stopped": "stopped"}
    for status, told in ends.items():
        (update,) = of_tasks(runs()(e.TaskEnded("t", status=status, summary="Why.")))
        assert (update.state, update.summary) == (told, "Why.")


# ── stops ─────────────────────────────────────────────────────────────────────


@pytest.mark.contract("AT-035", "AT-036", "AT-037", "AT-042")
def test_a_stop() -> None:
    talk = runs()
    assert of_tasks(talk(stop("s"))) == [StopTask("t")]
    assert of_tasks(talk(stop("s2"))) == [AnswerStop("s2")]
    assert of_tasks(talk(e.TaskStopReplied("t"))) == [
        MoveTask("t", "stopped"),
        TellStopped("wait"),
        AnswerStop("s", stopped=True),
    ]
    assert of_tasks(talk(stop("s3"), e.TaskStopReplied("t"))) == [AnswerStop("s3")]


@pytest.mark.contract("AT-039")
@pytest.mark.parametrize("status", ["killed", "completed"])
def test_a_stop_is_told_also_if_the_end_came_first(status: str) -> None:
    talk = runs(stop("s"), e.TaskEnded("t", status=status))
    assert of_tasks(talk(e.TaskStopReplied("t"))) == [TellStopped("wait"), AnswerStop("s", stopped=True)]


@pytest.mark.contract("AT-040", "AT-041")
def test_there_is_nothing_to_stop() -> None:
    talk = runs(e.TaskEnded("t"))
    assert of_tasks(talk(stop("s"), stop("s2", "unknown"))) == [AnswerStop("s"), AnswerStop("s2")]
    assert of_tasks(held()(stop("s"))) == [AnswerStop("s")], "the client does not know it"
    assert of_tasks(runs(listed("t"), listed())(stop("s"))) == [AnswerStop("s")]


def test_a_stop_that_failed_may_be_tried_again() -> None:
    talk = runs(stop("s"))
    assert of_tasks(talk(e.TaskStopReplied("t", "no"))) == [AnswerStop("s", error="no")]
    assert of_tasks(talk(stop("s2"))) == [StopTask("t")]
    assert of_tasks(talk(e.TaskEnded("t"), e.TaskStopReplied("t", "no")))[1:] == [AnswerStop("s2")]


# ── the end of the process ────────────────────────────────────────────────────


@pytest.mark.contract("AT-033")
@pytest.mark.parametrize(
    ("ending", "state"),
    [(DEAD, "failed"), (CLOSE, "stopped"), ((CANCEL, DEAD), "stopped")],
)
def test_live_b1_a_task_ends_with_its_process(ending: Any, state: Any) -> None:
    talk = runs(prompt("B"), begin("B"), stop("s"))
    assert of_tasks(talk(ending)) == [MoveTask("t", state), AnswerStop("s", error=GONE)]
    assert of_tasks(talk(e.TaskStopReplied("t"), e.TaskStopReplied("t", "gone"))) == []


def test_a_task_outlives_the_conversation_that_started_it() -> None:
    talk = runs(listed("t"))
    assert not [each for each in of_tasks(talk(Reset(), listed("t"))) if isinstance(each, MoveTask)]
    assert of_tasks(talk(listed())) == [MoveTask("t", "stopped")]


def test_live_b1_a_session_that_another_process_takes_up() -> None:
    outputs = runs()(e.RecreateRequested())
    assert outputs.index(MoveTask("t", "failed")) < outputs.index(o.RecreateQuery())


def test_what_a_new_process_says_of_an_old_task_is_not_told() -> None:
    talk = runs(DEAD, prompt("B"), INITIALIZED, begin("B"))
    assert of_tasks(talk(started("t"), e.TaskEnded("t", status="stopped"))) == []


@pytest.mark.contract("AT-024")
def test_tasks_that_are_over_are_forgotten_in_time() -> None:
    talk = runs()
    for number in range(REMEMBERED + 9):
        talk(started(f"t{number}"), e.TaskEnded(f"t{number}"))
    known = talk.session._async_tasks._known
    assert len(known) <= REMEMBERED + 2
    assert of_tasks(talk(e.TaskEnded("t"))) == [MoveTask("t", "completed")], "one that runs is kept"


# ── in any order ──────────────────────────────────────────────────────────────

IDS = st.sampled_from(["t", "u", "agent"])
CALLS = st.sampled_from([None, "c"])
AGENT = e.TaskFacts("local_agent", "help")


def _facts(task: str) -> e.TaskFacts:
    return AGENT if task == "agent" else FACTS


def _level(tasks: frozenset[str]) -> e.LevelListed:
    return e.LevelListed(tasks, {task: _facts(task) for task in tasks})


def _start(task: str, call: str | None, where: bool) -> e.TaskStarted:
    return e.TaskStarted(task, call, task == "agent", where, facts=_facts(task))


FRAMES = (
    st.builds(_start, IDS, CALLS, st.booleans())
    | st.builds(_level, st.frozensets(IDS))
    | st.builds(e.TaskBackgrounded, IDS, st.booleans())
    | st.builds(e.TaskMoved, IDS, st.sampled_from(["running", "paused", "pending"]))
    | st.builds(e.TaskProgressed, IDS, call=CALLS, summary=st.sampled_from(["", "s"]))
    | st.builds(e.TaskEnded, IDS, status=st.sampled_from(["completed", "failed", "killed"]), call=CALLS)
    | st.builds(e.TaskLaunched, st.just("c"), st.sampled_from("tu"), st.just("/o"), st.booleans())
    | st.builds(e.TaskStopReplied, IDS, st.sampled_from([None, "no"]))
    | st.builds(e.TaskStopRequested, st.uuids().map(str), IDS)
    | st.sampled_from([CANCEL, IDLE, result("A"), result(origin=TASK), Reset()])
)


@pytest.mark.contract("AT-003", "AT-024", "AT-025", "AT-027", "AT-033", "AT-039", "AT-042")
@given(st.lists(FRAMES, max_size=30), st.sampled_from([DEAD, CLOSE]))
def test_in_any_order(frames: list[Any], last: Any) -> None:
    talk = air(prompt("A"), begin("A"))
    outputs: list[Any] = []
    for event in (*frames, last):
        outputs += (news := talk(event))
        if any(isinstance(each, o.AnswerPrompt) for each in news):
            assert "held" not in _phases(talk), "INV-B4"
    shown: set[str] = set()
    ends: dict[str, list[str]] = {}
    for each in outputs:
        match each:
            case ShowTask(task):
                assert task not in shown, "INV-B1"
                shown.add(task)
            case ReportTask(task) | MoveTask(task):
                assert task in shown, "INV-B1, INV-B6"
                if isinstance(each, MoveTask) and each.state not in {"running", "paused"}:
                    ends.setdefault(task, []).append(each.state)
    assert "agent" not in shown, "INV-B5"
    assert shown == ends.keys(), "LIVE-B1"
    assert all(len(states) == 1 or states[0] == "stopped" for states in ends.values()), "INV-B2"
    asked = [event.stop for event in frames if isinstance(event, e.TaskStopRequested)]
    answers = [each.stop for each in outputs if isinstance(each, AnswerStop)]
    assert sorted(asked) == sorted(answers), "each stop has one answer"
    told = sum(isinstance(each, TellStopped) for each in outputs)
    assert told <= len(shown), "once for a task"


def _phases(talk: Talk) -> set[str]:
    return {known.task.phase for known in talk.session._async_tasks._known.values()}


def test_a_beat_that_only_names_the_call_shows_the_task_and_says_no_more() -> None:
    talk = held()
    told = of_tasks(talk(e.TaskProgressed("t", call="c")))
    assert [type(each) for each in told] == [ShowTask]
    assert told[0].call == "c"


def test_an_entry_without_an_id_is_no_task() -> None:
    assert of_tasks(air()(e.LevelListed(frozenset({""}), {"": e.TaskFacts("local_bash")}))) == []
