"""What the screen follows by itself: commands in the background, usage, the end of a conversation."""

from typing import Any

from bridge.messages import items as f
from bridge.view.screen import Screen
from machines import events as e
from machines import outputs as o
from tests.bridge.view.screens import AIR, PLAIN, ZED, Json, Shown, State, screen

USE = e.ToolUse("c1", "Bash", {"command": "make", "run_in_background": True})
STARTED = e.TaskStarted("t1", "c1", backgrounded=True)
ENDED = e.TaskEnded("t1")


def launch(on: Screen, state: State) -> None:
    state.open.add("c1")
    on.show_call(o.ShowCall(USE, streaming=False), None)


def give_result(on: Screen, state: State, **more: Any) -> None:
    state.open.discard("c1")
    on.return_call(o.ReturnCall(e.ToolReturned("c1", "It runs.", is_error=False, **more), "completed"))


def exits(shown: Shown) -> list[Json]:
    found = [update.get("_meta", {}).get("terminal_exit") for update in shown.take()]
    return [end for end in found if end]


def test_the_terminal_of_a_command_in_the_background_ends_with_its_task() -> None:
    on, shown, state = screen(ZED)
    launch(on, state)
    on.note_task(STARTED)
    give_result(on, state, structured={"backgroundTaskId": "t1"})
    assert exits(shown) == []
    on.note_task(ENDED)
    on.note_task(ENDED)
    assert exits(shown) == [{"terminal_id": "c1", "exit_code": None, "signal": None}]


def test_a_command_that_was_sent_to_the_background_is_known_by_its_task() -> None:
    on, shown, state = screen(ZED)
    launch(on, state)
    on.note_task(e.TaskStarted("t1", "c1"))
    on.note_task(e.TaskBackgrounded("t1", backgrounded=True))
    give_result(on, state, structured={"stdout": ""})
    assert exits(shown) == []
    on.note_task(ENDED)
    assert len(exits(shown)) == 1


def test_a_task_that_is_over_before_the_result_ends_the_terminal_behind_it() -> None:
    on, shown, state = screen(ZED)
    launch(on, state)
    on.note_task(STARTED)
    on.note_task(ENDED)
    assert exits(shown) == []
    give_result(on, state, structured={"backgroundTaskId": "t1"})
    assert len(exits(shown)) == 1


def test_the_end_of_the_process_ends_all_terminals() -> None:
    on, shown, state = screen(ZED)
    launch(on, state)
    on.note_task(STARTED)
    give_result(on, state, structured={"backgroundTaskId": "t1"})
    on.end_tasks()
    on.end_tasks()
    assert len(exits(shown)) == 1


def test_tasks_go_with_their_conversation() -> None:
    on, shown, _ = screen(PLAIN)
    on.send(on.reports.task_created("1", "Fix it"))
    on.plan_again()
    assert [update["sessionUpdate"] for update in shown.take()] == ["plan", "plan"]
    on.forget_conversation()
    on.plan_again()
    assert shown.take() == []


def test_usage_names_what_started_the_work_in_full() -> None:
    on, shown, _ = screen(AIR)
    origin = {"kind": "task-notification", "producer": "session-task", "runId": "r1"}
    on.note(f.UsageRead({"input_tokens": 5}, "claude-opus-5-5", starts=True))
    on.note(f.Originated(origin))
    on.show_result(o.ShowResult(e.Result(cost=0.5), o.Outcome("end_turn")))
    *_, update = shown.take()
    assert update["_meta"]["_claude/origin"] == origin
    assert update["cost"] == {"amount": 0.5, "currency": "USD"}


def test_a_result_that_repeats_a_notice_is_not_told_again() -> None:
    on, shown, _ = screen(PLAIN)
    on.begin_turn()
    on.note(f.Informed("warning", "Mind  this.", "id"))
    on.show_result(o.ShowResult(e.Result(text="Mind this.\n"), o.Outcome("end_turn")))
    assert len(shown.take()) == 1
    on.begin_turn()
    on.show_result(o.ShowResult(e.Result(text="Mind this.\n"), o.Outcome("end_turn")))
    assert len(shown.take()) == 1
