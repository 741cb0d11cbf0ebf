"""The tool calls of a session: who may appear, who closes what, and what comes late (M8, M8.3)."""

from typing import Any

import pytest

from machines import outputs as o
from machines.events import (
    ToolDenied,
    ToolDispatched,
    ToolHooked,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    ToolUse,
)
from machines.feed import Feed
from machines.tools import calls as calls_module
from machines.tools.calls import Calls
from machines.tools.tool_call import ABANDONED, CANCELLED, STUCK, Occasion

BASH = ToolUse("call", "Bash", {"command": "ls"})
PLAN = ToolUse("plan", "TodoWrite", {"todos": []})
OK = ToolReturned("call", "done")
ERROR = ToolReturned("call", "no", is_error=True)
HOOK = ToolHooked("call", "Bash", response={"stdout": "done"})
BEAT = ToolProgressed("call-heartbeat-0", "Bash", parent="call", elapsed=30)
DENIAL = ToolDenied("call", "Bash", "rule")
STARTED = ToolStarted(ToolUse("call", "Bash"))
DISPATCHED = ToolDispatched(BASH)


class Shown:
    """Calls, and what was put about them since the last look; what is unknown is told apart."""

    def __init__(self) -> None:
        self.feed = Feed(lambda signal: signal)  # type: ignore[arg-type,return-value]  # all are outputs
        self.calls = Calls(self.feed)

    def __call__(self, *events: Any, admitted: bool = True) -> list[Any]:
        for event in events:
            match event:
                case ToolStarted():
                    self.calls.start(event, admitted=admitted)
                case ToolDispatched():
                    self.calls.dispatch(event, admitted=admitted)
                case ToolProgressed():
                    self.calls.progress(event)
                case ToolHooked():
                    self.calls.hook(event)
                case ToolDenied():
                    self.calls.deny(event)
                case _:
                    self.calls.finish(event)
        return self.told()

    def told(self) -> list[Any]:
        return [each for each in self.feed.take() if not isinstance(each, o.Ignored)]


@pytest.mark.contract("TC-215")
def test_m8_streamed_dispatched_hooked_and_returned() -> None:
    shown = Shown()

    assert shown(STARTED, DISPATCHED, BEAT, HOOK, OK) == [
        o.ShowCall(STARTED.use, streaming=True),
        o.RefineCall(BASH),
        o.ReportProgress(BEAT, "call"),
        o.ReportHook(HOOK),
        o.ReturnCall(OK, "completed"),
    ]
    assert "call" not in shown.calls


def test_m8_a_use_that_did_not_stream_is_shown_whole() -> None:
    assert Shown()(DISPATCHED) == [o.ShowCall(BASH)]


def test_m8_what_was_never_shown_reports_nothing() -> None:
    assert Shown()(OK, HOOK, BEAT, DENIAL) == []


@pytest.mark.contract("TC-098", "TC-100", "TC-216")
def test_m8_a_beat_of_an_unknown_call_goes_to_its_parent() -> None:
    shown = Shown()
    shown(DISPATCHED)

    own = ToolProgressed("call", "Bash", parent="other")
    nobody = ToolProgressed("x", "Bash", parent="y")
    orphan = ToolProgressed("x", "Bash")
    assert shown(BEAT, own, nobody, orphan) == [o.ReportProgress(BEAT, "call"), o.ReportProgress(own, "call")]


def test_inv_c5_a_hook_counts_once_before_or_after_the_result() -> None:
    before, after = Shown(), Shown()

    assert before(DISPATCHED, HOOK, OK, HOOK)[1:] == [o.ReportHook(HOOK), o.ReturnCall(OK, "completed")]
    assert after(DISPATCHED, OK, HOOK, HOOK)[1:] == [o.ReturnCall(OK, "completed"), o.ReportHook(HOOK)]


@pytest.mark.parametrize("end", [ERROR, DENIAL], ids=["failed", "denied"])
def test_m8_a_hook_after_an_error_does_not_count(end: Any) -> None:
    shown = Shown()
    shown(DISPATCHED, end, ERROR)

    assert shown(HOOK) == []


def test_m8_3_nothing_that_comes_late_reopens_a_closed_call() -> None:
    shown = Shown()
    shown(DISPATCHED)
    shown.calls.close_all(Occasion.CANCELLED)

    assert shown.told() == [o.CloseCall("call", CANCELLED)]
    assert shown(OK, HOOK, BEAT, DENIAL, DISPATCHED) == []


def test_m8_a_second_result_changes_nothing() -> None:
    shown = Shown()
    shown(DISPATCHED, HOOK, OK)

    assert shown(OK, HOOK) == []


def test_m8_the_same_id_in_a_new_use_is_a_fresh_call() -> None:
    shown = Shown()
    shown(STARTED, DISPATCHED, OK)

    assert shown(STARTED, OK) == [o.ShowCall(STARTED.use, streaming=True), o.ReturnCall(OK, "completed")]


def test_m6_no_new_call_while_a_cancel_is_in_effect_but_results_of_open_ones() -> None:
    shown = Shown()
    shown(DISPATCHED)
    late = ToolUse("late", "Bash")

    assert shown(ToolStarted(late), ToolDispatched(late), DISPATCHED, admitted=False) == []
    assert shown.calls.is_over("late")
    assert not shown.calls.is_over("call")
    assert shown(ERROR) == [o.ReturnCall(ERROR, "failed")]
    shown.calls.forget_dropped()
    assert not shown.calls.is_over("late")


@pytest.mark.parametrize(
    ("occasion", "streaming", "whole"),
    [
        (Occasion.TURN_ENDED, ABANDONED, STUCK),
        (Occasion.CANCELLED, ABANDONED, CANCELLED),
        (Occasion.LOST, STUCK, STUCK),
    ],
)
@pytest.mark.contract("TC-215")
def test_m8_3_who_closes_gives_the_reason(occasion: Occasion, streaming: str, whole: str) -> None:
    shown = Shown()
    shown(STARTED, ToolDispatched(ToolUse("whole", "Bash")))

    missing = shown.calls.close_all(occasion)

    assert shown.told() == [o.CloseCall("call", streaming), o.CloseCall("whole", whole)]
    assert missing
    assert not shown.calls.close_all(occasion)


def test_m8_3_a_call_that_was_never_dispatched_is_not_missing_a_result() -> None:
    shown = Shown()
    shown(STARTED)

    assert not shown.calls.close_all(Occasion.TURN_ENDED)


def test_m8_3_kept_calls_stay_open() -> None:
    shown = Shown()
    child = ToolUse("child", "Bash", parent="agent")
    shown(DISPATCHED, ToolDispatched(child))

    shown.calls.close_all(Occasion.CANCELLED, lambda use: use.parent == "agent")

    assert shown.told() == [o.CloseCall("call", CANCELLED)]
    assert "child" in shown.calls


@pytest.mark.contract("CY-017")
def test_m8_3_the_end_of_a_cycle_closes_what_never_ran() -> None:
    shown = Shown()
    child = ToolUse("child", "Bash", {}, parent="agent")
    shown(STARTED, ToolDispatched(ToolUse("whole", "Bash")), ToolStarted(child))

    shown.calls.close_abandoned(lambda use: use.parent == "agent")

    assert shown.told() == [o.CloseCall("call", ABANDONED)]
    assert "whole" in shown.calls
    assert "child" in shown.calls


def test_m8_a_plan_is_shown_as_a_plan() -> None:
    shown = Shown()
    result = ToolReturned("plan", "kept")

    streamed = ToolStarted(ToolUse("plan", "TodoWrite"))
    assert shown(streamed, ToolDispatched(PLAN), ToolDispatched(PLAN)) == [o.ShowPlan(PLAN)]
    assert shown(ToolHooked("plan", "TodoWrite"), result) == [o.ShowPlanResult(PLAN, result)]
    assert shown(result) == []


@pytest.mark.contract("TC-143")
def test_m8_a_plan_that_needs_a_permission_is_a_call_and_ends_with_its_result() -> None:
    shown = Shown()
    shown(ToolDispatched(PLAN))
    result = ToolReturned("plan", "kept")

    shown.calls.announce(PLAN, "ask")

    assert shown.told() == [o.ShowCall(PLAN, ask="ask")]
    assert shown(result) == [o.ReturnCall(result, "completed")]


def test_inv_x1_a_plan_of_stopped_work_shows_nothing_more() -> None:
    shown = Shown()
    shown(ToolDispatched(PLAN))

    shown.calls.close_all(Occasion.CANCELLED)

    assert shown(ToolReturned("plan", "kept")) == []


def test_inv_c4_a_call_that_the_client_knows_is_not_announced_again() -> None:
    shown = Shown()
    shown(STARTED)

    shown.calls.announce(BASH, "ask")

    assert shown.told() == []


def test_only_so_many_ended_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "REMEMBERED", 2)
    shown = Shown()
    uses = [ToolUse(f"call-{number}", "Bash") for number in range(3)]
    for use in uses:
        shown(ToolDispatched(use), ToolReturned(use.call))

    hooks = [ToolHooked(use.call, "Bash") for use in uses]
    assert shown(*hooks) == [o.ReportHook(hook) for hook in hooks[1:]]
