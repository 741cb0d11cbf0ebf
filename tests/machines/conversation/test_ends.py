"""The end of a process and the close of a session, at any moment of a turn (M3, M2.2)."""

import pytest

from machines import events as e
from machines import outputs as o
from machines.tools.tool_call import CANCELLED, STUCK
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    DONE,
    FORCE,
    IDLE,
    INITIALIZED,
    LOST,
    MESSAGE,
    RUNNING,
    STOP_FORCE,
    STOPPED,
    Talk,
    answer,
    answered,
    asked,
    begin,
    cancel,
    dispatched,
    end,
    ended_badly,
    failed,
    prepared,
    prompt,
    result,
    streamed,
    use,
)

REQUEST = e.Requesting(("A",))
CALL = o.ShowCall(e.ToolUse("call", "Bash"), streaming=True)
FULL = o.RefineCall(use("call"))
WITHDRAW = o.WithdrawRequest("ask")


def tool(call: str) -> tuple[e.Event, ...]:
    """A streamed tool use and its consolidated message."""
    return (streamed(call), dispatched(call))


# ── the end of the process ────────────────────────────────────────────────────


@pytest.mark.contract("CY-024")
def test_r18_a_process_that_is_killed_in_a_turn_and_started_again() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), asked("ask", "call"), prepared("ask"), prompt("B"))

    assert talk(DEAD) == [
        WITHDRAW,
        o.CloseCall("call", STUCK),
        ended_badly(LOST),
        failed("A", LOST),
        failed("B", LOST),
        STOP_FORCE,
    ]
    assert talk(prompt("C")) == [o.StartQuery(resume=True)]
    assert talk(INITIALIZED) == [o.TellRestarted(), o.SendPrompt("C")]
    assert talk(begin("C"), end("C"))[-1] == answered("C")


@pytest.mark.contract("CY-024")
def test_m2_3_a_process_that_dies_between_turns_is_missed_by_the_next_prompt_alone() -> None:
    talk = Talk(prompt("A"), begin("A"), end("A"))

    assert talk(DEAD) == [STOP_FORCE]
    assert talk(prompt("B"), prompt("C")) == [o.StartQuery(resume=True)]
    assert talk(INITIALIZED) == [o.TellRestarted(), o.SendPrompt("B"), o.SendPrompt("C")]


@pytest.mark.contract("CY-025")
def test_m2_3_a_process_that_does_not_come_back_fails_what_waits_and_is_tried_again() -> None:
    talk = Talk(DEAD, prompt("A"), prompt("B"))
    text = "Claude Code could not be restarted: exit code 1. Start a new session."
    failure = o.Failure(o.FailureKind.RESTART_FAILED, text)

    assert talk(e.QueryStartFailed(e.StartFailure.FAILED, "exit code 1")) == [
        failed("A", failure),
        failed("B", failure),
    ]
    assert talk(prompt("C")) == [o.StartQuery(resume=True)]
    assert talk(INITIALIZED) == [o.TellRestarted(), o.SendPrompt("C")], "it is told once"


def test_m3_a_clean_end_answers_with_what_there_is_and_fails_what_waits() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"))

    assert talk(e.StreamClosed(e.StreamEnd.ENDED)) == [DONE, answered("A"), failed("B", LOST), STOP_FORCE]


def test_m3_a_cancelled_turn_whose_process_dies_is_cancelled() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), CANCEL)

    outputs = talk(DEAD)

    assert outputs[:-1] == [o.CloseCall("call", CANCELLED), STOPPED, STOP_FORCE, answered("A", "cancelled")]


@pytest.mark.parametrize("end_of_stream", [*e.StreamEnd], ids=lambda end: end.value)
def test_m5_a_cycle_whose_process_ends_ends_with_an_error(end_of_stream: e.StreamEnd) -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE, tool("call"))

    assert talk(e.StreamClosed(end_of_stream)) == [o.CloseCall("call", STUCK), ended_badly(LOST), STOP_FORCE]


def test_m3_a_warned_end_is_a_shutdown() -> None:
    talk = Talk(prompt("A"), begin("A"), e.WorkerShuttingDown(), MESSAGE, tool("call"))
    down = o.Failure(o.FailureKind.WORKER_SHUTDOWN, LOST.text)

    assert talk(e.StreamClosed(e.StreamEnd.ENDED))[1:] == [ended_badly(down), failed("A", down), STOP_FORCE]


def test_inv_q2_nothing_counts_that_comes_after_the_end() -> None:
    talk = Talk(prompt("A"), begin("A"), DEAD)

    assert talk(begin("A"), tool("call"), asked("ask", "call"), result("A"), IDLE, DEAD) == []


# ── close ─────────────────────────────────────────────────────────────────────

STOP = [STOP_FORCE, o.StopQuery(), o.StartTimer(e.Timer.TEARDOWN)]
CLOSED = [o.StopTimer(e.Timer.TEARDOWN), o.AnswerClose()]


@pytest.mark.parametrize("last", [e.QueryStopped(), e.TimerFired(e.Timer.TEARDOWN)], ids=["gone", "late"])
def test_43_a_close_ends_everything_and_is_answered_last(last: e.Event) -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), asked("ask", "call"), prepared("ask"), prompt("B"))

    assert talk(CLOSE) == [
        WITHDRAW,
        o.CloseCall("call", CANCELLED),
        answered("B", "cancelled"),
        STOPPED,
        answered("A", "cancelled"),
        *STOP,
    ]
    assert talk(CLOSE, begin("A"), result("A"), IDLE, prepared("ask"), answer("ask", "allow-once")) == []
    assert talk(last) == CLOSED
    assert talk(CLOSE, e.QueryStopped(), DEAD, FORCE) == []


def test_m2_2_close_in_every_state() -> None:
    assert Talk()(CLOSE) == STOP
    assert Talk(DEAD)(CLOSE) == [STOP_FORCE, *CLOSED]
    assert Talk(DEAD, prompt("A"))(CLOSE) == [answered("A", "cancelled"), *STOP]
    assert Talk(RUNNING, e.Requesting(()), MESSAGE)(CLOSE) == [STOPPED, *STOP]
    cancelled = Talk(prompt("A"), begin("A"), CANCEL)
    assert cancelled(CLOSE) == [STOPPED, STOP_FORCE, answered("A", "cancelled"), *STOP]


def test_m2_2_a_prompt_of_a_closed_session_is_cancelled() -> None:
    talk = Talk(CLOSE, e.QueryStopped())

    assert answered("A", "cancelled") in talk(prompt("A"))


def test_a_prompt_that_came_before_the_process_is_sent_when_it_is_there() -> None:
    talk = Talk(prompt("A"), prompt("B"), CANCEL, prompt("C"), cancel("C"), prompt("D"), starts=False)

    assert talk(INITIALIZED) == [o.AnswerOpen(), o.SendPrompt("D")]


def test_m2_a_prompt_of_a_session_that_does_not_come_up_is_answered() -> None:
    talk = Talk(prompt("A"), starts=False)
    failure = o.Failure(o.FailureKind.RESTART_FAILED, "Claude Code could not be started: exit code 1.")

    assert talk(DEAD)[1:] == [failed("A", o.Failure(failure.kind, failure.text.replace("1.", "-9.")))]
