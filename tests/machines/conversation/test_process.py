"""A plan that goes on in an empty conversation, another process at a quiet point, changes in their order."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.companions.incident import Book
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    INITIALIZED,
    Talk,
    aborted,
    answered,
    begin,
    dispatched,
    end,
    moved,
    of,
    prompt,
    result,
)

PLAN = "toolu_plan"
APPROVED = e.PlanStopped(PLAN, afresh=True)
NOT_UP = e.QueryStartFailed(e.StartFailure.FAILED, "exit code 1")
SIGNED_OUT = e.QueryStartFailed(e.StartFailure.AUTH_REQUIRED, "Please run /login")
WANTED = e.RecreateRequested()


# ── a plan that goes on afresh (M2.1) ─────────────────────────────────────────


def interrupted(turn: str) -> tuple[e.Event, ...]:
    """What Claude Code says when the answer to a plan stops its turn."""
    words = "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"
    return (
        e.ToolReturned(PLAN, "rejected", is_error=True),
        aborted(turn, reason="aborted_tools", diagnostic=words),
    )


def approving() -> Talk:
    return Talk(prompt("A"), begin("A"), dispatched(PLAN, "ExitPlanMode"), APPROVED)


@pytest.mark.contract("PM-097")
def test_m2_1_the_turn_goes_on_in_an_empty_conversation() -> None:
    talk = approving()
    outputs = talk(*interrupted("A"))
    assert of((o.ReplaceQuery, o.AnswerPrompt), outputs) == [o.ReplaceQuery()]
    assert talk.session.phase == "restarting"
    assert of(o.ContinuePlan, talk(INITIALIZED)) == [o.ContinuePlan("A")]
    outputs = talk(begin("A"), *end("A"))
    assert of(o.AnswerPrompt, outputs) == [answered("A")]
    assert not talk.session.is_busy


def test_m2_1_a_prompt_that_comes_meanwhile_waits_for_the_plan() -> None:
    talk = approving()
    talk(*interrupted("A"))
    assert of(o.SendPrompt, talk(prompt("B"))) == []
    outputs = talk(INITIALIZED)
    assert of((o.ContinuePlan, o.SendPrompt), outputs) == [o.ContinuePlan("A"), o.SendPrompt("B")]


def test_m2_1_a_prompt_that_the_old_process_had_is_written_to_the_new_one() -> None:
    talk = approving()
    talk(prompt("B"), *moved("queued", "B"))
    talk(*interrupted("A"))
    outputs = talk(INITIALIZED)
    assert of((o.ContinuePlan, o.SendPrompt), outputs) == [o.ContinuePlan("A"), o.SendPrompt("B")]
    ended = talk(begin("A"), *end("A"), begin("B"), *end("B"))
    assert of(o.AnswerPrompt, ended) == [answered("A"), answered("B")]


def test_m2_1_a_message_that_was_added_goes_behind_the_plan() -> None:
    talk = approving()
    talk(e.SteerReceived("s"))
    talk(*interrupted("A"))
    outputs = talk(INITIALIZED)
    assert of((o.ContinuePlan, o.SendSteer), outputs) == [o.ContinuePlan("A"), o.SendSteer("s", "next")]


def test_m2_1_what_is_added_in_the_restart_waits_for_the_next_process() -> None:
    talk = approving()
    talk(*interrupted("A"))
    assert talk(e.SteerReceived("s")) == [o.AnswerSteer("s", "injected")]
    outputs = talk(INITIALIZED)
    assert of((o.ContinuePlan, o.SendSteer), outputs) == [o.ContinuePlan("A"), o.SendSteer("s", "next")]


def test_m2_1_a_cancel_ends_the_turn_and_the_process_that_is_being_started() -> None:
    talk = approving()
    talk(*interrupted("A"))
    outputs = talk(CANCEL)
    assert of((o.DropQuery, o.AnswerPrompt), outputs) == [o.DropQuery(), answered("A", "cancelled")]
    assert talk.session.phase == "lost"
    assert of(o.StartQuery, talk(prompt("B"))) == [o.StartQuery(resume=True)]


@pytest.mark.parametrize("failure", [NOT_UP, SIGNED_OUT])
def test_m2_1_a_process_that_does_not_come_up_fails_the_turn(failure: e.QueryStartFailed) -> None:
    talk = approving()
    talk(*interrupted("A"))
    (answer,) = of(o.AnswerPrompt, talk(failure))
    assert answer.turn == "A"
    assert answer.outcome.failure is not None
    assert talk.session.phase == "lost"


def test_m2_1_a_close_meanwhile_ends_everything() -> None:
    talk = approving()
    talk(*interrupted("A"))
    assert of(o.AnswerPrompt, talk(CLOSE)) == [answered("A", "cancelled")]


def test_m2_1_a_plan_that_is_only_rejected_ends_its_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched(PLAN, "ExitPlanMode"), e.PlanStopped(PLAN, afresh=False))
    outputs = talk(*interrupted("A"), *moved("completed", "A"), IDLE)
    assert of(o.ReplaceQuery, outputs) == []
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]


def test_m2_1_a_cancel_before_the_interruption_forgets_the_plan() -> None:
    talk = approving()
    talk(CANCEL)
    outputs = talk(*interrupted("A"), *moved("cancelled", "A"), IDLE)
    assert of(o.ReplaceQuery, outputs) == []
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]


def test_m2_1_another_result_is_no_interruption() -> None:
    outputs = approving()(result("A"), *moved("completed", "A"), IDLE)
    assert of(o.ReplaceQuery, outputs) == []
    assert len(of(o.AnswerPrompt, outputs)) == 1


# ── another process at a quiet point (M2 `recreating`) ────────────────────────


@pytest.mark.contract("AU-044")
def test_m2_a_quiet_session_is_taken_up_by_another_process_at_once() -> None:
    talk = Talk(prompt("A"), begin("A"), *end("A"))
    assert talk(WANTED) == [o.RecreateQuery()]
    assert of(o.SendPrompt, talk(prompt("B"))) == []
    assert talk(INITIALIZED) == [o.TellRecreated(), o.SendPrompt("B")]


@pytest.mark.contract("AU-044")
def test_m2_a_running_turn_ends_first_and_later_prompts_wait() -> None:
    talk = Talk(prompt("A"), begin("A"))
    assert talk(WANTED, prompt("B")) == []
    outputs = talk(*end("A"))
    assert of((o.AnswerPrompt, o.RecreateQuery, o.SendPrompt), outputs) == [answered("A"), o.RecreateQuery()]
    assert of(o.SendPrompt, talk(INITIALIZED)) == [o.SendPrompt("B")]


def test_m2_what_the_old_process_still_says_does_not_count() -> None:
    talk = Talk(WANTED)
    assert talk(IDLE, e.MessageStarted()) == []
    assert talk.session.phase == "recreating"


@pytest.mark.parametrize("failure", [NOT_UP, SIGNED_OUT])
def test_m2_a_process_that_does_not_come_up_loses_the_session_for_now(failure: e.QueryStartFailed) -> None:
    talk = Talk(WANTED, prompt("A"), book=Book("S", "epoch"))
    outputs = talk(failure)
    (told,) = of(o.TellRecreated, outputs)
    assert told.failure is not None
    assert [answer.turn for answer in of(o.AnswerPrompt, outputs)] == ["A"]
    assert of(o.StartQuery, talk(prompt("B"))) == [o.StartQuery(resume=True)]


@pytest.mark.parametrize("ending", [DEAD, CLOSE])
def test_m2_a_session_that_ends_meanwhile_is_told_as_done(ending: Any) -> None:
    talk = Talk(prompt("A"), begin("A"), WANTED)
    assert of(o.TellRecreated, talk(ending)) == [o.TellRecreated()]


def test_m2_wanted_twice_is_done_once() -> None:
    talk = Talk(prompt("A"), begin("A"), WANTED, WANTED)
    assert of(o.RecreateQuery, talk(*end("A"), INITIALIZED, IDLE)) == [o.RecreateQuery()]


# ── changes of the configuration (INV-S5) ─────────────────────────────────────


def change(name: str) -> e.ChangeRequested:
    return e.ChangeRequested(name)


def test_inv_s5_changes_are_made_one_at_a_time_in_their_order() -> None:
    talk = Talk()
    assert talk(change("a"), change("b"), change("c")) == [o.ApplyChange("a")]
    assert talk(e.ChangeFinished("a")) == [o.ApplyChange("b")]
    assert talk(e.ChangeFinished("b")) == [o.ApplyChange("c")]
    assert talk(e.ChangeFinished("c")) == []
    assert talk(change("d")) == [o.ApplyChange("d")]


def test_decision_28_a_change_starts_a_lost_claude_code_again() -> None:
    talk = Talk(DEAD)
    assert talk(change("a")) == [o.StartQuery(resume=True)]
    assert of(o.ApplyChange, talk(INITIALIZED)) == [o.ApplyChange("a")]


def test_decision_28_a_change_that_claude_code_died_on_is_made_by_the_next_one() -> None:
    talk = Talk(change("a"), change("b"))
    outputs = talk(DEAD, e.ChangeFinished("a", lost=True))
    assert of((o.StartQuery, o.ApplyChange), outputs) == [o.StartQuery(resume=True)]
    assert talk(INITIALIZED)[-1] == o.ApplyChange("a")
    assert talk(e.ChangeFinished("a")) == [o.ApplyChange("b")]


def test_decision_28_if_that_fails_the_change_fails_with_what_to_do() -> None:
    talk = Talk(DEAD, change("a"))
    (failed,) = of(o.FailChange, talk(NOT_UP))
    assert failed.failure.text.endswith("Start a new session.")


def test_m2_2_a_close_fails_what_waits() -> None:
    talk = Talk(change("a"), change("b"))
    assert [failed.change for failed in of(o.FailChange, talk(CLOSE))] == ["b"]
