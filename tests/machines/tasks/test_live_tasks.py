"""Which tasks run, who waits for them, and which of them a cancel does not stop (B1)."""

import pytest

from machines.events import TaskBackgrounded, TaskEnded, TaskMoved, TaskStarted
from machines.tasks.live_tasks import REMEMBERED, LiveTasks


def agent(task: str, *, background: bool = True, parent: str | None = None, run: str = "1") -> TaskStarted:
    return TaskStarted(task, f"call-{task}", True, background, parent, run)


def command(task: str) -> TaskStarted:
    return TaskStarted(task, f"call-{task}", False, True)


def running(*events: TaskStarted | TaskBackgrounded | TaskEnded) -> LiveTasks:
    tasks = LiveTasks()
    for event in events:
        tasks.take(event)
    return tasks


def test_a_task_that_nobody_knows_goes_nowhere() -> None:
    tasks = LiveTasks()
    assert tasks.take(TaskBackgrounded("x", backgrounded=True)) is False
    assert tasks.by_id == {}


def test_b1_only_a_subagent_begins_a_run() -> None:
    tasks = LiveTasks()
    assert tasks.take(agent("a")) is True
    assert tasks.take(command("c")) is False
    assert tasks.take(TaskBackgrounded("a", True)) is False


def test_b1_a_turn_waits_for_the_subagents_it_spawned_until_they_end() -> None:
    tasks = running(agent("a"), command("c"))
    assert tasks.holds({"a"})
    assert not tasks.holds({"c"}), "nobody waits for a command"
    assert not tasks.holds({"other"})
    tasks.take(TaskEnded("a"))
    assert not tasks.holds({"a"})


def test_b1_the_level_list_lets_go_but_never_starts_anything() -> None:
    tasks = running(agent("a"), command("c"))
    tasks.list_level(frozenset({"unknown"}))
    assert not tasks.holds({"a"})
    assert set(tasks.by_id) == {"a"}, "a command that it does not name is over"
    tasks.list_level(frozenset({"a"}))
    assert tasks.holds({"a"})


def test_b1_a_command_in_the_foreground_is_not_of_the_list() -> None:
    tasks = running(TaskStarted("c", "call-c", False, False))
    tasks.list_level(frozenset())
    assert set(tasks.by_id) == {"c"}


def test_b1_frames_of_an_earlier_run_are_late() -> None:
    tasks = running(agent("a", run="2"))
    assert tasks.take(TaskEnded("a", "1")) is False
    assert tasks.take(TaskBackgrounded("a", False, "1")) is False
    assert tasks.in_background("a")
    assert tasks.holds({"a"})
    tasks.take(TaskEnded("a", "2"))
    assert not tasks.by_id


@pytest.mark.parametrize(
    ("outer", "inner", "goes_on"), [(True, False, True), (False, True, True), (False, False, False)]
)
def test_inv_x4_what_an_agent_in_the_background_runs_goes_on(outer: bool, inner: bool, goes_on: bool) -> None:
    tasks = running(agent("out", background=outer), agent("in", background=inner, parent="out"))
    assert tasks.in_background("in") is goes_on
    assert ("call-in" in tasks.background_calls()) is goes_on


def test_b1_an_agent_that_nobody_knows_counts_as_in_the_background() -> None:
    assert LiveTasks().in_background("stranger")
    assert not LiveTasks().in_background(None)


def test_b1_agents_that_name_each_other_as_parents_end_the_search() -> None:
    tasks = running(agent("a", background=False, parent="b"), agent("b", background=False, parent="a"))
    assert not tasks.in_background("a")


def again(call: str, run: str = "2") -> TaskStarted:
    return TaskStarted("a", call, True, True, None, run)


def test_b1_an_agent_that_runs_again_still_names_the_call_that_started_it() -> None:
    tasks = running(agent("a"), TaskEnded("a"), again("message"))
    assert tasks.background_calls() == {"call-a", "message"}
    tasks.take(TaskEnded("a"))
    assert tasks.background_calls() == frozenset()


def test_inv_h7_the_end_of_an_earlier_run_is_late() -> None:
    tasks = running(agent("a"), TaskEnded("a"), again("message"))
    assert tasks.is_late(TaskEnded("a", call="call-a"))
    assert tasks.is_late(TaskEnded("a", "1"))
    assert not tasks.is_late(TaskEnded("a", "2", call="message"))
    assert not tasks.is_late(TaskEnded("a", call="unheard-of"))


def test_b1_a_message_or_a_patch_has_an_idle_agent_run_again() -> None:
    tasks = running(agent("a"))
    assert not tasks.resume("a", "message"), "it runs already"
    tasks.take(TaskEnded("a"))
    assert not tasks.resume("a", "call-a"), "that run is over"
    assert not tasks.resume("stranger", "message")
    assert tasks.resume("a", "message")
    assert tasks.holds({"a"})
    tasks.take(TaskEnded("a"))
    assert tasks.is_late(TaskMoved("a", "running", "1")), "a word of the run that is over"
    assert tasks.take(TaskMoved("a", "running", "2"))
    assert tasks.holds({"a"})


def test_b1_only_so_many_idle_agents_are_remembered() -> None:
    tasks = LiveTasks()
    for n in range(REMEMBERED + 10):
        tasks.take(agent(str(n)))
        tasks.take(TaskEnded(str(n)))
    assert len(tasks.runs) == REMEMBERED
    assert not tasks.resume("0", "message")
    assert tasks.resume(str(REMEMBERED + 9), "message")


def test_b1_nothing_outlives_the_process() -> None:
    tasks = running(agent("a"))
    tasks.take(TaskBackgrounded("a", False))
    assert not tasks.in_background("a")
    tasks.clear()
    assert not tasks.holds({"a"})
