"""Permission requests in the life of a session: each is settled once, whoever ends it (M9)."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    Talk,
    aborted,
    answer,
    answered,
    asked,
    begin,
    dispatched,
    end,
    moved,
    of,
    prepared,
    prompt,
    streamed,
    use,
)

CALL = "toolu_1"
SETTLED = (o.ReplyAsk, o.DenyAsk, o.AbortAsk)


def asking(*more: Any) -> Talk:
    return Talk(prompt("A"), begin("A"), dispatched(CALL), asked("ask", CALL), prepared("ask"), *more)


def test_m9_a_call_is_shown_before_its_question() -> None:
    talk = Talk(prompt("A"), begin("A"))
    outputs = talk(asked("ask", CALL), prepared("ask"))
    shown, question = of((o.ShowCall, o.AskClient), outputs)
    assert (shown.use.call, question.ask) == (CALL, "ask")


def test_m5_while_it_is_open_the_work_waits_for_the_user() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched(CALL))
    waiting = talk(asked("ask", CALL), prepared("ask"))
    assert of(o.ReportWork, waiting) == [o.ReportWork("requires_action")]
    assert of(o.ReportWork, talk(answer("ask", "allow-once"))) == [o.ReportWork("running")]


@pytest.mark.contract("PM-002", "PM-102")
@pytest.mark.parametrize("late", ["ask", "prepared"])
def test_m9_a_call_that_is_aborted_already_asks_nobody(late: str) -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched(CALL))
    if late == "ask":
        outputs = [*talk(CANCEL), *talk(asked("ask", CALL), prepared("ask"))]
    else:
        outputs = talk(asked("ask", CALL), e.AskWithdrawn("ask"), prepared("ask"))
    assert of((o.AskClient, o.WithdrawRequest), outputs) == []
    assert len(of(o.ReplyAsk, outputs)) == 0


@pytest.mark.contract("PM-105")
@pytest.mark.parametrize("option", ["reject", "allow-once", "never-offered", None])
def test_m9_an_answer_after_the_cancel_grants_nothing(option: str | None) -> None:
    talk = asking()
    cancelled = talk(CANCEL)
    assert of(o.WithdrawRequest, cancelled) == [o.WithdrawRequest("ask")]
    outputs = talk(answer("ask", option), e.AskWithdrawn("ask"), aborted("A"), *moved("cancelled", "A"), IDLE)
    assert of((o.ReplyAsk, o.AskClient, o.WithdrawRequest), outputs) == []
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]


@pytest.mark.parametrize("ending", [(e.AskWithdrawn("ask"),), (CANCEL,), (DEAD,), (CLOSE,)])
def test_inv_p2_an_open_request_is_withdrawn_once(ending: tuple[Any, ...]) -> None:
    talk = asking()
    outputs = [*talk(*ending), *talk(*ending, answer("ask", "allow-once"))]
    assert of(o.WithdrawRequest, outputs) == [o.WithdrawRequest("ask")]
    assert of(o.ReplyAsk, outputs) == []


def test_inv_p1_two_questions_are_answered_in_any_order() -> None:
    talk = asking(dispatched("toolu_2"), asked("two", "toolu_2"), prepared("two"))
    first = talk(answer("two", "allow-once"))
    assert [(each.ask, each.option) for each in of(o.ReplyAsk, first)] == [("two", "allow-once")]
    assert of(o.ReportWork, first) == [], "the other one is still open"
    second = talk(answer("ask", "reject"))
    assert [(each.ask, each.option) for each in of(o.ReplyAsk, second)] == [("ask", "reject")]
    assert of(o.ReportWork, second) == [o.ReportWork("running")]


@pytest.mark.parametrize("times", [2, 3])
def test_inv_p1_an_answer_that_comes_again_is_ignored(times: int) -> None:
    outputs = asking()(*[answer("ask", "allow-once")] * times)
    assert len(of(SETTLED, outputs)) == 1


@pytest.mark.contract("PM-099")
def test_m9_no_state_of_the_session_answers_for_the_user() -> None:
    talk = Talk(prompt("A"), begin("A"))
    outputs = talk(
        e.AskReceived("ask", use(CALL, "Write"), (e.Option("allow-once", grants=True),)), prepared("ask")
    )
    assert of(SETTLED, outputs) == []
    assert of(o.AskClient, outputs) != []


def test_m9_a_client_that_fails_to_ask_denies() -> None:
    (denied,) = of(SETTLED, asking()(answer("ask", failure="no user interface")))
    assert not isinstance(denied, o.ReplyAsk)


def test_m9_a_call_that_only_streamed_is_asked_for_under_its_own_id() -> None:
    talk = Talk(prompt("A"), begin("A"), streamed(CALL))
    outputs = talk(asked("ask", CALL), prepared("ask"), answer("ask", "allow-once"), *end("A"))
    assert len(of(o.ShowCall, outputs)) <= 1
    assert [each.ask for each in of(o.ReplyAsk, outputs)] == ["ask"]
    assert [each.turn for each in of(o.AnswerPrompt, outputs)] == ["A"]
