"""What an idle ends: it carries no identity, so what is owed is counted (M4.6)."""

import pytest

from machines import events as e
from machines import outputs as o
from machines.turns.turns import NO_RESULT
from tests.machines.talk import (
    CANCEL,
    DONE,
    IDLE,
    MESSAGE,
    RUNNING,
    STOP_FORCE,
    STOPPED,
    TASK,
    Talk,
    aborted,
    answered,
    begin,
    ended_badly,
    failed,
    moved,
    prompt,
    result,
    streamed,
)

LOST = o.Failure(o.FailureKind.NO_RESULT, NO_RESULT)


def test_m4_6_an_idle_of_a_result_answers_nothing_more() -> None:
    talk = Talk(prompt("A"), begin("A"), result("A"), prompt("B"))

    assert talk(IDLE) == []


def test_m4_6_an_unowed_idle_after_the_end_of_the_message_fails_the_turn() -> None:
    talk = Talk(prompt("A"), begin("A"))

    assert talk(*moved("completed", "A"), IDLE) == [ended_badly(LOST), failed("A", LOST)]


def test_m4_6_before_the_end_of_the_message_it_takes_a_second_one() -> None:
    talk = Talk(prompt("A"), begin("A"))

    assert talk(IDLE) == []
    assert talk(IDLE) == [ended_badly(LOST), failed("A", LOST)]


def test_m4_6_a_late_result_is_still_taken_after_the_first_one() -> None:
    talk = Talk(prompt("A"), begin("A"), IDLE)

    assert talk(result("A")) == [DONE, answered("A")]


def test_m4_6_without_lifecycle_frames_one_idle_is_enough() -> None:
    talk = Talk(prompt("A"), RUNNING, e.Echoed("A"), MESSAGE)

    assert talk(IDLE) == [ended_badly(LOST), failed("A", LOST)]


def test_m4_1_a_queued_prompt_that_claude_code_dropped_fails_at_the_idle() -> None:
    talk = Talk(prompt("A"), RUNNING, moved("queued", "A"))

    assert talk(moved("discarded", "A")) == [], "its result might still come"
    assert talk(IDLE) == [failed("A", LOST)]


def test_m4_1_also_when_the_idle_is_that_of_a_result_before() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), moved("queued", "B"), moved("refused", "B"))

    assert talk(result("A"), moved("completed", "A")) == [DONE, answered("A")]
    assert talk(IDLE) == [failed("B", LOST)]


def test_m4_6_the_idle_after_a_prompt_that_followed_without_a_pause_is_its_own() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), moved("queued", "B"), result("A"))
    talk(moved("completed", "A"), moved("started", "B"), e.Requesting(("B",)), e.Echoed("B"), MESSAGE)

    assert talk(moved("completed", "B"), IDLE) == [ended_badly(LOST), failed("B", LOST)]


def test_m4_6_prompts_that_share_a_lost_result_fail_together() -> None:
    talk = Talk(prompt("B"), prompt("C"), moved("queued", "B", "C"), moved("started", "B", "C"), MESSAGE)

    outputs = talk(moved("completed", "B", "C"), IDLE)

    assert outputs == [ended_badly(LOST), failed("B", LOST), failed("C", LOST)]


@pytest.mark.contract("CY-004", "CY-011")
def test_m5_an_unowed_idle_ends_a_cancelled_cycle_and_closes_its_calls_first() -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE, streamed("call"), CANCEL)

    assert talk(IDLE) == [
        o.CloseCall("call", "Claude stopped this tool call before it ran."),
        STOPPED,
        STOP_FORCE,
    ]


def test_m5_an_unowed_idle_ends_a_cycle() -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE)

    assert talk(IDLE) == [DONE]


def test_m4_6_the_idle_of_a_cycle_that_ended_ends_nothing() -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE)

    assert talk(result(origin=TASK)) == [DONE]
    assert talk(IDLE) == []


@pytest.mark.parametrize(
    ("last", "told"),
    [
        pytest.param(result(origin="wake-up"), DONE, id="of an unknown origin"),
        pytest.param(result(), DONE, id="of none"),
        pytest.param(result("stranger"), DONE, id="stamped with a stranger"),
        pytest.param(aborted(), STOPPED, id="aborted"),
        pytest.param(
            result(is_error=True, stop_reason=None, text="API Error: 500"),
            ended_badly(o.Failure(o.FailureKind.API, "API Error: 500")),
            id="failed",
        ),
    ],
)
def test_m5_a_result_of_nobody_is_the_end_of_the_cycle_that_runs(last: e.Result, told: o.ReportWork) -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE)

    assert talk(last) == [told]
    assert talk(IDLE) == []


def test_m4_1_an_idle_while_a_cancel_is_in_effect_ends_the_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), CANCEL)

    assert talk(IDLE) == [STOPPED, STOP_FORCE, answered("A", "cancelled")]
