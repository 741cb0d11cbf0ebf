"""Turns in the orders in which Claude Code was recorded to tell of them, with what the client gets of each.

The names are those of the recordings: r01 a tool, r02 two queued prompts, r03 and r04 a cancel with
a queued one, r05 and r06 a cancel during a tool and during a question, r07 a message that was added
at once, r09 a prompt that joins a cycle, r18 a killed process, r21 an API error.
"""

import pytest

from machines import events as e
from machines import outputs as o
from machines.tools.tool_call import ABANDONED, CANCELLED, STUCK
from tests.machines.talk import (
    ACTING,
    CANCEL,
    DONE,
    FORCE,
    IDLE,
    INITIALIZED,
    INTERRUPT,
    INTERRUPT_ONE,
    MESSAGE,
    RUNNING,
    START_FORCE,
    STOP_FORCE,
    STOPPED,
    TASK,
    WAITS,
    WORKS,
    Talk,
    aborted,
    answer,
    answered,
    asked,
    begin,
    cancel,
    dispatched,
    end,
    ended_badly,
    failed,
    hooked,
    moved,
    prepared,
    prompt,
    rejected,
    result,
    returned,
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


# ── a turn ────────────────────────────────────────────────────────────────────


def test_01_a_plain_turn() -> None:
    talk = Talk()

    assert talk(prompt("A")) == [o.SendPrompt("A")]
    assert talk(begin("A")) == [WORKS]
    assert talk(end("A", used=(10, 20))) == [DONE, answered("A", used=(10, 20))]
    assert talk.refused == []


def test_r01_a_turn_with_a_tool_that_is_asked_for() -> None:
    talk = Talk(prompt("A"), begin("A"))

    assert talk(tool("call"), ACTING, asked("ask", "call")) == [CALL, FULL, o.PrepareAsk("ask")]
    assert talk(prepared("ask")) == [WAITS, o.AskClient("ask")]
    assert talk(answer("ask", "allow-once")) == [o.ReplyAsk("ask", "allow-once"), WORKS]
    assert talk(RUNNING, hooked("call"), returned("call")) == [
        o.ReportHook(hooked("call")),
        o.ReturnCall(returned("call"), "completed"),
    ]
    assert talk(REQUEST, MESSAGE, end("A")) == [DONE, answered("A")]
    assert talk.refused == []


def test_a_rejected_tool_fails_and_the_turn_goes_on() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), asked("ask", "call"), prepared("ask"))
    refusal = returned("call", is_error=True, non_execution_kind="permission-rule")

    assert talk(answer("ask", "reject")) == [o.ReplyAsk("ask", "reject"), WORKS]
    assert talk(RUNNING, refusal, REQUEST, MESSAGE) == [o.ReturnCall(refusal, "failed")]
    assert talk(end("A")) == [DONE, answered("A")]


def test_a_tool_that_a_rule_denies_has_one_status_and_its_reason() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"))
    denial, refusal = e.ToolDenied("call", "Bash", "rule"), returned("call", is_error=True)

    assert talk(denial, refusal) == [o.DenyCall(denial), o.ReturnCall(refusal, "failed")]


def test_r20_a_command_that_echoes_after_its_output() -> None:
    talk = Talk(prompt("A"), RUNNING, moved("queued", "A"))

    assert talk(moved("started", "A"), MESSAGE, e.Echoed("A")) == [WORKS]
    assert talk(end("A", num_turns=0, stop_reason=None)) == [DONE, answered("A")]


def test_a_command_without_echo_and_stamps_is_the_head_of_the_queue() -> None:
    talk = Talk(prompt("A"), prompt("B"))

    assert talk(RUNNING, MESSAGE, result(num_turns=0)) == [WORKS, DONE, answered("A")]
    assert talk(e.Echoed("B"), MESSAGE, result()) == [WORKS, DONE, answered("B")]


def test_r21_an_api_error_fails_the_turn_and_the_next_one_is_normal() -> None:
    talk = Talk(prompt("A"), begin("A"))
    error = o.Failure(o.FailureKind.API, "API Error: 400 mock", "unknown")
    last = result("A", is_error=True, stop_reason="stop_sequence", text=error.text, error_kind="unknown")

    assert talk(last, moved("cancelled", "A"), IDLE) == [
        ended_badly(error),
        failed("A", error),
    ]
    assert talk(prompt("B"), begin("B"), end("B"))[-1] == answered("B")


@pytest.mark.parametrize("dispatch", [True, False], ids=["dispatched", "streamed"])
def test_m8_3_a_call_without_a_result_ends_with_its_turn(dispatch: bool) -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call") if dispatch else streamed("call"))
    stuck = o.Failure(o.FailureKind.INCOMPLETE_CALL, STUCK)

    assert talk(result("A")) == (
        [o.CloseCall("call", STUCK), ended_badly(stuck), failed("A", stuck)]
        if dispatch
        else [o.CloseCall("call", ABANDONED), DONE, answered("A")]
    )


# ── several prompts ───────────────────────────────────────────────────────────


def test_05_two_prompts_one_after_the_other() -> None:
    talk = Talk(prompt("A"), begin("A"))

    assert talk(prompt("B"), moved("queued", "B")) == [o.SendPrompt("B")]
    assert talk(result("A", used=(1, 2)), moved("completed", "A")) == [DONE, answered("A", used=(1, 2))]
    assert talk(moved("started", "B"), e.Requesting(("B",)), e.Echoed("B"), MESSAGE) == [WORKS]
    assert talk(result("B", used=(1, 3)), moved("completed", "B"), IDLE)[-1].turn == "B"
    assert talk.refused == []


@pytest.mark.contract("CY-022", "CY-023")
def test_r02_two_waiting_prompts_run_together() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), prompt("C"), moved("queued", "B", "C"))
    talk(result("A"), moved("completed", "A"))

    assert talk(e.Echoed("B"), moved("started", "B"), moved("started", "C")) == [WORKS]
    assert talk(e.Requesting(("B", "C")), e.Echoed("C"), MESSAGE) == []
    assert talk.inserted == ["A", "B", "C"]
    assert talk(result("B", "C", used=(3, 4))) == [DONE, answered("B"), answered("C", used=(3, 4))]
    assert talk(moved("completed", "B", "C"), IDLE) == []
    assert talk.refused == []


@pytest.mark.contract("CY-023")
def test_a_prompt_that_joins_the_running_turn_after_a_tool_is_answered_with_it() -> None:
    talk = Talk(prompt("U"), begin("U"), tool("call"), prompt("V"), moved("queued", "V"))

    assert talk(returned("call"), e.Echoed("V"), moved("started", "V")) == [
        o.ReturnCall(returned("call"), "completed")
    ]
    assert talk.inserted == ["U", "V"]
    assert talk(MESSAGE, moved("completed", "V")) == []
    assert talk(result("U", "V", used=(5, 6)), moved("completed", "U"), IDLE) == [
        DONE,
        answered("U"),
        answered("V", used=(5, 6)),
    ]


def test_m4_1_without_lifecycle_frames_the_next_echo_ends_the_turn_before() -> None:
    talk = Talk(prompt("A"), RUNNING, e.Echoed("A"), MESSAGE, prompt("B"))

    assert talk(e.Echoed("B")) == [DONE, answered("A"), WORKS]
    assert talk(result()) == [DONE, answered("B")]


def test_m4_2_2_a_result_of_another_prompt_ends_the_one_that_lost_its_own() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"))

    assert talk(result("B", used=(1, 1)))[:-1] == [DONE, answered("A"), WORKS, DONE]


def test_r09_a_prompt_that_joins_a_cycle_takes_it_over() -> None:
    talk = Talk(RUNNING, e.Requesting(()), MESSAGE, prompt("B"), moved("queued", "B"), tool("call"))

    assert talk(returned("call"), e.Echoed("B"), moved("started", "B")) == [
        o.ReturnCall(returned("call"), "completed")
    ]
    assert talk.session.active_turn == "B"
    talk(e.Requesting(("B",)), MESSAGE, moved("completed", "B"))
    assert talk(result("B", origin=TASK), IDLE) == [DONE, answered("B")]


# ── cancel ────────────────────────────────────────────────────────────────────


@pytest.mark.contract("CY-020")
def test_02_a_cancel_while_text_streams() -> None:
    talk = Talk(prompt("A"), begin("A"))

    assert talk(CANCEL) == [START_FORCE, INTERRUPT]
    assert talk.session.admits_text
    assert talk(aborted("A")) == [STOPPED, STOP_FORCE, answered("A", "cancelled")]
    assert not talk.session.admits_text
    assert talk(moved("cancelled", "A"), IDLE, prompt("B"), begin("B")) == [o.SendPrompt("B"), WORKS]
    assert talk.session.admits_text
    assert talk(end("B")) == [DONE, answered("B")]


@pytest.mark.contract("CY-019", "TC-215")
def test_r05_a_cancel_during_a_tool() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), CANCEL)

    assert talk(rejected("call")) == [o.ReturnCall(rejected("call"), "failed")]
    assert talk(aborted("A", reason="aborted_tools")) == [STOPPED, STOP_FORCE, answered("A", "cancelled")]


@pytest.mark.contract("CY-019", "TC-215")
def test_a_cancelled_call_without_a_result_is_closed_before_the_answer() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), streamed("next"), CANCEL)

    assert talk(aborted("A")) == [
        o.CloseCall("call", CANCELLED),
        o.CloseCall("next", ABANDONED),
        STOPPED,
        STOP_FORCE,
        answered("A", "cancelled"),
    ]


def test_04_a_cancel_while_the_user_is_asked() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), asked("ask", "call"), prepared("ask"))

    assert talk(CANCEL) == [WITHDRAW, START_FORCE, INTERRUPT]
    assert talk(answer("ask", "allow-once")) == [], "the answer came too late"
    assert talk(e.AskWithdrawn("ask"), RUNNING, rejected("call")) == [
        o.ReturnCall(rejected("call"), "failed")
    ]
    assert talk(aborted("A"), moved("cancelled", "A"), IDLE)[-1] == answered("A", "cancelled")


def test_06_a_cancel_with_a_queued_prompt_answers_that_first() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), moved("queued", "B"))

    assert talk(CANCEL) == [answered("B", "cancelled"), START_FORCE, INTERRUPT]
    assert talk(moved("cancelled", "B"), aborted("A", used=(7, 8))) == [
        STOPPED,
        STOP_FORCE,
        answered("A", "cancelled", used=(7, 8)),
    ]
    assert talk(prompt("C"), moved("cancelled", "A"), IDLE, begin("C"), end("C"))[-1] == answered("C")


def test_a_cancel_of_prompts_that_run_together() -> None:
    talk = Talk(prompt("B"), prompt("C"), moved("queued", "B", "C"), moved("started", "B", "C"), MESSAGE)

    assert talk(CANCEL) == [answered("C", "cancelled"), START_FORCE, INTERRUPT]
    assert talk(aborted("B", "C")) == [STOPPED, STOP_FORCE, answered("B", "cancelled")]


def test_a_result_that_was_on_its_way_when_the_cancel_came_ends_the_turn_as_cancelled() -> None:
    talk = Talk(prompt("A"), begin("A"), CANCEL)

    assert talk(result("A", used=(1, 2)))[-1] == answered("A", "cancelled", used=(1, 2))


def test_inv_x1_nothing_of_the_tail_is_shown() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), CANCEL, aborted("A"))

    assert talk(MESSAGE, tool("late"), hooked("call"), returned("call")) == []
    assert talk(asked("late-ask", "late")) == [o.DenyAsk("late-ask", "The user cancelled this prompt.")]
    assert talk(result(origin=TASK)) == []


def test_m6_new_work_after_the_tail_is_shown() -> None:
    talk = Talk(prompt("A"), begin("A"), CANCEL, aborted("A"), moved("cancelled", "A"), IDLE)

    assert talk(RUNNING, e.Requesting(()), MESSAGE) == [WORKS]
    assert talk.session.admits_text


def test_m6_a_repeated_cancel_interrupts_again_and_starts_no_second_timer_of_its_own() -> None:
    talk = Talk(prompt("A"), begin("A"), CANCEL)

    assert talk(CANCEL) == [START_FORCE, INTERRUPT], "starting a timer that runs changes nothing"


@pytest.mark.parametrize("talk", [Talk(), Talk(prompt("A"), begin("A"), end("A"))], ids=["new", "idle"])
def test_m6_an_idle_session_has_nothing_to_cancel(talk: Talk) -> None:
    assert talk(CANCEL) == []
    assert talk(RUNNING, e.Requesting(()), MESSAGE) == [WORKS], "what comes next is not meant"


def test_live_t1_the_timer_answers_when_claude_code_does_not_react() -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"), CANCEL, prompt("B"))

    assert talk(FORCE) == [o.CloseCall("call", CANCELLED), STOPPED, STOP_FORCE, answered("A", "cancelled")]
    assert talk(MESSAGE, aborted("A"), moved("cancelled", "A")) == [], "it reacted after all"
    assert talk(begin("B"), end("B"))[-1] == answered("B")


def test_the_timer_of_a_cancel_that_is_over_ends_nothing() -> None:
    talk = Talk(prompt("A"), begin("A"), CANCEL, aborted("A"), prompt("B"), begin("B"))

    assert talk(FORCE) == []


@pytest.mark.contract("CY-021")
def test_m6_1_a_queued_prompt_is_cancelled_alone() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), prompt("C"), moved("queued", "B", "C"))

    assert talk(cancel("B")) == [answered("B", "cancelled"), o.CancelMessage("B")]
    assert talk(moved("cancelled", "B"), result("A"))[-1] == answered("A")
    assert talk(moved("started", "C"), e.Requesting(("C",)), MESSAGE, result("C"))[-1] == answered("C")


@pytest.mark.contract("CY-021")
def test_m6_1_the_active_prompt_is_cancelled_and_the_next_one_runs() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), moved("queued", "B"))

    assert talk(cancel("A")) == [START_FORCE, INTERRUPT_ONE]
    assert talk(aborted("A"), moved("cancelled", "A")) == [STOPPED, STOP_FORCE, answered("A", "cancelled")]
    assert talk(moved("started", "B"), e.Requesting(("B",)), e.Echoed("B"), MESSAGE) == [WORKS]
    assert talk(end("B")) == [DONE, answered("B")]


def test_m6_1_one_of_prompts_that_run_together_is_cancelled_and_the_other_goes_on() -> None:
    talk = Talk(prompt("B"), prompt("C"), moved("queued", "B", "C"), moved("started", "B", "C"), MESSAGE)
    talk(tool("call"))

    assert talk(cancel("B")) == [answered("B", "cancelled")]
    assert talk.session.active_turn == "C"
    assert talk(returned("call"), result("B", "C", used=(3, 4))) == [
        o.ReturnCall(returned("call"), "completed"),
        DONE,
        answered("C", used=(3, 4)),
    ]


def test_m6_1_an_answered_prompt_can_not_be_cancelled() -> None:
    talk = Talk(prompt("A"), begin("A"), end("A"))

    assert talk(cancel("A"), cancel("nobody")) == []


# ── what nobody waits for ─────────────────────────────────────────────────────


def test_r07_frames_of_a_message_that_nobody_sent_are_harmless() -> None:
    talk = Talk(prompt("A"), begin("A"), moved("queued", "S"))
    talk(result("A", stop_reason=None, terminal_reason="aborted_streaming"), moved("cancelled", "A"))

    talk(moved("started", "S"), e.Requesting(("S",)), e.Echoed("S"), MESSAGE, result("S"))
    assert talk(moved("completed", "S"), IDLE) == []
    assert talk(prompt("B"), begin("B"), end("B")) == [o.SendPrompt("B"), WORKS, DONE, answered("B")]


STRANGERS = (
    e.Echoed("nobody"),
    *moved("started", "nobody"),
    *moved("cancelled", "nobody"),
    result("nobody"),
    returned("nothing"),
    hooked("nothing"),
    e.ToolProgressed("nothing", "Bash"),
    e.ToolDenied("nothing", "Bash"),
    e.AskWithdrawn("nothing"),
    answer("nothing", "allow-once"),
    prepared("nothing"),
    FORCE,
    e.TimerFired(e.Timer.TEARDOWN),
    INITIALIZED,
    e.QueryStartFailed(e.StartFailure.FAILED, "late"),
)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda event: type(event).__name__)
def test_an_event_of_nothing_that_is_known_changes_nothing(stranger: e.Event) -> None:
    talk = Talk(prompt("A"), begin("A"), tool("call"))

    assert talk(stranger) == []
    assert talk(returned("call"), end("A"))[-2:] == [DONE, answered("A")]


REPEATED = (
    *begin("A"),
    *tool("call"),
    hooked("call"),
    returned("call"),
    result("A"),
    *moved("completed", "A"),
)


@pytest.mark.parametrize("place", range(len(REPEATED)), ids=lambda place: type(REPEATED[place]).__name__)
def test_a_frame_that_comes_twice_ends_nothing_twice(place: int) -> None:
    frames = [*REPEATED[: place + 1], *REPEATED[place:]]
    talk = Talk(prompt("A"))

    outputs = talk(*frames, IDLE)

    assert [each for each in outputs if isinstance(each, o.AnswerPrompt)] == [answered("A")]
    assert [each for each in outputs if isinstance(each, o.ReturnCall)] == [
        o.ReturnCall(returned("call"), "completed")
    ]
    assert outputs.count(DONE) == outputs.count(WORKS)
