"""Work that Claude Code starts itself: its calls are closed with it, and no prompt gets its end (M5)."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.tools.tool_call import ABANDONED, CANCELLED
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    DONE,
    IDLE,
    MESSAGE,
    RUNNING,
    STOPPED,
    TASK,
    WORKS,
    Talk,
    aborted,
    answered,
    begin,
    cancel,
    dispatched,
    end,
    moved,
    of,
    prompt,
    result,
    returned,
    streamed,
    use,
)

CYCLE_ENDS = result(origin=TASK, num_turns=1)
SUBAGENT = e.TaskStarted("agent", "toolu_agent", True, True, None, "run")


def closings(outputs: list[Any]) -> dict[str, str]:
    return {output.call: output.text for output in of(o.CloseCall, outputs)}


def cycle(*events: Any) -> Talk:
    return Talk(MESSAGE, *events)


def child_call(call: str) -> e.ToolDispatched:
    return e.ToolDispatched(e.ToolUse(call, "Bash", {"command": "ls"}, parent="toolu_agent"))


def test_m5_a_message_without_a_prompt_begins_a_cycle_and_its_result_ends_it() -> None:
    talk = Talk()
    assert talk(MESSAGE) == [WORKS]
    assert talk(CYCLE_ENDS) == [DONE]
    assert talk(IDLE) == []


@pytest.mark.contract("CY-017")
def test_m5_a_call_that_a_cycle_leaves_behind_is_closed() -> None:
    outputs = cycle(dispatched("a"), streamed("b"), returned("a"))(CYCLE_ENDS)
    assert closings(outputs) == {"b": ABANDONED}
    assert outputs[-1] == DONE


@pytest.mark.contract("CY-004", "CY-006", "CY-011")
@pytest.mark.parametrize("ending", [(aborted(origin=TASK), IDLE), (IDLE,)])
def test_m6_a_cancelled_cycle_closes_its_calls_as_cancelled_before_it_ends(ending: tuple[Any, ...]) -> None:
    talk = cycle(dispatched("a"), streamed("b"))
    outputs = [*talk(CANCEL), *talk(*ending)]
    assert closings(outputs) == {"a": CANCELLED, "b": ABANDONED}
    (idle,) = of(o.ReportWork, outputs)
    assert idle == STOPPED
    assert all(outputs.index(each) < outputs.index(idle) for each in of(o.CloseCall, outputs))


@pytest.mark.contract("CY-006")
def test_m5_without_a_cancel_nothing_ends_as_cancelled() -> None:
    outputs = cycle(streamed("a"))(CYCLE_ENDS, IDLE)
    assert closings(outputs) == {"a": ABANDONED}
    assert of(o.ReportWork, outputs) == [DONE]


@pytest.mark.contract("CY-005", "CY-013")
@pytest.mark.parametrize("ending", [(aborted(origin=TASK), IDLE), (IDLE,)])
def test_inv_x4_the_command_of_a_background_subagent_goes_on(ending: tuple[Any, ...]) -> None:
    talk = cycle(
        dispatched("toolu_agent"), SUBAGENT, returned("toolu_agent"), child_call("child"), dispatched("mine")
    )
    outputs = [*talk(CANCEL), *talk(*ending)]
    assert closings(outputs) == {"mine": CANCELLED}
    assert of(o.ReturnCall, talk(returned("child"))) != []


@pytest.mark.contract("CY-007", "CY-008")
def test_m5_a_turn_that_takes_a_cycle_over_closes_the_calls_when_it_settles() -> None:
    talk = cycle(dispatched("a"), prompt("A"))
    taken = talk(begin("A"), dispatched("b"))
    assert closings(taken) == {}
    outputs = talk(CANCEL, aborted("A"), *moved("cancelled", "A"), IDLE)
    assert closings(outputs) == {"a": CANCELLED, "b": CANCELLED}
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]
    assert of(o.ReportWork, outputs) == [STOPPED]


@pytest.mark.contract("CY-014")
def test_m5_a_cycle_that_is_aborted_without_a_cancel_shows_its_result() -> None:
    talk = cycle(streamed("a"))
    outputs = talk(aborted(origin=TASK), IDLE)
    assert len(talk.shown) == 1
    assert closings(outputs) == {"a": ABANDONED}
    assert len(of(o.ReportWork, outputs)) == 1


@pytest.mark.parametrize("ending", [CLOSE, DEAD])
def test_m2_2_the_end_of_a_session_closes_the_calls_of_its_cycle_first(ending: Any) -> None:
    outputs = cycle(dispatched("a"))(ending)
    assert set(closings(outputs)) == {"a"}
    (idle,) = of(o.ReportWork, outputs)
    assert outputs.index(of(o.CloseCall, outputs)[0]) < outputs.index(idle)


@pytest.mark.contract("CY-012")
def test_m4_5_the_cycle_behind_a_held_turn_closes_its_calls_before_it_is_idle() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent"), SUBAGENT, returned("toolu_agent"))
    held = talk(result("A"), *moved("completed", "A"), IDLE)
    assert of(o.AnswerPrompt, held) == [], "a subagent of the turn still runs"
    ended = talk(e.TaskEnded("agent", "run"), MESSAGE, dispatched("late"), CYCLE_ENDS)
    assert set(closings(ended)) == {"late"}
    assert of(o.AnswerPrompt, ended) == [answered("A")]
    last_idle = [each for each in ended if each == DONE][-1]
    assert ended.index(of(o.CloseCall, ended)[0]) < ended.index(last_idle)


def test_m4_2_a_cycle_between_two_prompts_takes_no_answer() -> None:
    talk = Talk(prompt("A"), begin("A"), *end("A"))
    outputs = talk(MESSAGE, prompt("B"), CYCLE_ENDS, IDLE, *moved("queued", "B"))
    assert of(o.AnswerPrompt, outputs) == []
    assert of(o.AnswerPrompt, talk(begin("B"), *end("B"))) == [answered("B")]


def test_m5_a_question_of_a_cycle_waits_for_the_user() -> None:
    ask = e.AskReceived("ask", use("a"), (e.Option("allow-once", grants=True),))
    talk = cycle(dispatched("a"))
    waiting = talk(ask, e.AskPrepared("ask"))
    assert [type(each) for each in of((o.AskClient, o.ReportWork), waiting)] == [o.ReportWork, o.AskClient]


def test_m7_a_cancelled_prompt_that_a_cycle_took_up_is_over_with_the_result_of_the_cycle() -> None:
    talk = cycle(prompt("A"), cancel("A"), *moved("started", "A"), e.Requesting(("A",)))
    talk(*moved("cancelled", "A"), result("A", origin=TASK, num_turns=1), IDLE)
    talk(prompt("B"), CANCEL, *moved("cancelled", "B"))
    outputs = talk(RUNNING, e.Requesting(()), MESSAGE)
    assert outputs == [WORKS]
    assert talk.session.admits_text
