"""Turns that wait for their subagents, and what happens to them meanwhile (M4.1, M4.5, M6.1)."""

import pytest

from machines import events as e
from machines import outputs as o
from tests.machines.talk import (
    CANCEL,
    FORCE,
    IDLE,
    INTERRUPT,
    INTERRUPT_ONE,
    MESSAGE,
    RUNNING,
    TASK,
    Talk,
    answered,
    begin,
    cancel,
    dispatched,
    moved,
    of,
    prompt,
    result,
    returned,
)

SUBAGENT = e.TaskStarted("agent", "toolu_agent", True, True, None, "run")
SUBAGENT_ENDS = e.TaskEnded("agent", "run")


def held(*more: e.Event) -> Talk:
    """A was answered by the model, its subagent runs, and a message was added."""
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"), *more, e.SteerReceived("s"))
    return talk


def test_m4_1_a_refused_message_leaves_the_turn_its_own_end() -> None:
    talk = held()
    assert of(o.AnswerPrompt, talk(*moved("cancelled", "s"), SUBAGENT_ENDS)) == []
    assert of(o.AnswerPrompt, talk(RUNNING, MESSAGE, result(origin=TASK, num_turns=1), IDLE)) == [
        answered("A")
    ]


def test_m4_1_with_its_message_refused_it_waits_on_for_its_subagent() -> None:
    talk = held()
    assert of(o.AnswerPrompt, talk(*moved("cancelled", "s"), IDLE)) == []
    assert of(o.AnswerPrompt, talk(SUBAGENT_ENDS, result(origin=TASK, num_turns=1))) == [answered("A")]


@pytest.mark.parametrize(
    "begins",
    [
        (*moved("started", "B"), e.Requesting(("B",))),
        (*moved("started", "B"), e.Echoed("B"), e.Requesting(("B",))),
    ],
    ids=["asked", "echoed"],
)
def test_m4_1_a_prompt_that_overtakes_the_message_hands_off_with_the_known_outcome(
    begins: tuple[e.Event, ...],
) -> None:
    talk = held(prompt("B"))
    assert of(o.AnswerPrompt, talk(RUNNING, *begins)) == [answered("A")]
    assert of(o.AnswerPrompt, talk(MESSAGE, result("B"))) == [answered("B")]


def test_m4_1_the_result_of_the_message_holds_the_turn_again() -> None:
    talk = held()
    outputs = talk(*moved("started", "s"), e.Echoed("s"), MESSAGE, result("s"), *moved("completed", "s"))
    assert of(o.AnswerPrompt, outputs) == []
    assert of(o.AnswerPrompt, talk(SUBAGENT_ENDS, result(origin=TASK, num_turns=1))) == [answered("A")]


def test_inv_t8_its_result_counts_once_when_it_comes_twice() -> None:
    one = result("A", used=(1, 2))
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), one)
    assert of(o.ShowResult, talk(one)) == []
    (answer,) = of(o.AnswerPrompt, talk(SUBAGENT_ENDS, result(origin=TASK, num_turns=1)))
    assert answer.usage is not None
    assert (answer.usage.tokens.input, answer.usage.tokens.output) == (1, 2)


def test_m6_1_a_cancel_answers_it_at_once() -> None:
    talk = held()
    assert of(o.AnswerPrompt, talk(cancel("A"))) == [answered("A", "cancelled")]


def test_m4_1_who_goes_on_alone_waits_for_the_subagents_of_the_shared_work() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("started", "B"), e.Requesting(("A", "B")))
    talk(dispatched("toolu_agent", "Agent"), SUBAGENT)
    assert of(o.AnswerPrompt, talk(returned("toolu_agent"), cancel("A"))) == [answered("A", "cancelled")]
    assert of(o.AnswerPrompt, talk(result("A", "B"), *moved("completed", "A", "B"))) == []
    follow_up = talk(SUBAGENT_ENDS, MESSAGE, result(origin=TASK, num_turns=1))
    assert of(o.AnswerPrompt, follow_up) == [answered("B")]


def test_m5_its_message_is_work_again_behind_the_cycle_that_it_breaks_off() -> None:
    talk = held(SUBAGENT_ENDS, RUNNING, MESSAGE)
    states = [
        work.state
        for work in of(o.ReportWork, talk(result(origin=TASK, terminal_reason="aborted_streaming")))
    ]
    assert states == ["idle", "running"]


@pytest.mark.parametrize(
    "end",
    [(result(origin=TASK, terminal_reason="aborted_streaming", is_error=True), IDLE), (IDLE,)],
    ids=["result", "idle"],
)
def test_m4_1_a_cancel_answers_it_with_the_follow_up_that_it_stops_whoever_else_runs(
    end: tuple[e.Event, ...],
) -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), dispatched("toolu_2", "Agent"))
    talk(e.TaskStarted("other", "toolu_2", True, True, None, "run"), returned("toolu_2"), result("A"))
    talk(IDLE, SUBAGENT_ENDS, RUNNING, e.Requesting(()), MESSAGE)
    assert of(o.AnswerPrompt, talk(CANCEL)) == []
    assert of(o.AnswerPrompt, talk(*end)) == [answered("A", "cancelled")]


def test_m4_1_a_cancelled_prompt_that_starts_after_all_hands_off_and_is_not_shown() -> None:
    talk = Talk(
        prompt("A"), begin("A"), prompt("B"), cancel("B"), dispatched("toolu_agent", "Agent"), SUBAGENT
    )
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"))
    assert of(o.AnswerPrompt, talk(*moved("started", "B"))) == [answered("A")]
    talk(e.Requesting(("B",)), e.Echoed("B"), MESSAGE)
    assert not talk.session.admits_text

    talk(result("B"), IDLE, SUBAGENT_ENDS, RUNNING, e.Requesting(()), MESSAGE)
    assert talk.session.admits_text


def test_m6_1_the_prompt_behind_a_cancelled_one_that_only_waits_is_work_again() -> None:
    talk = Talk(prompt("A"), prompt("B"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"), RUNNING, *moved("started", "B"))
    outputs = talk(cancel("A"))
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]
    assert outputs[-1] == o.ReportWork("running")
    assert of(o.AnswerPrompt, talk(e.Requesting(("B",)), MESSAGE, result("B"))) == [answered("B")]


def test_inv_t7_who_shares_the_result_of_a_turn_that_waits_is_in_the_conversation() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), prompt("C"), *moved("started", "B", "C"))
    talk(dispatched("toolu_agent", "Agent"), SUBAGENT, returned("toolu_agent"))
    assert of(o.AnswerPrompt, talk(result("A", "B", "C"))) == [answered("A"), answered("B")]
    assert talk.inserted == ["A", "B", "C"]


@pytest.mark.parametrize(("stop", "interrupt"), [(CANCEL, INTERRUPT), (cancel("A"), INTERRUPT_ONE)])
@pytest.mark.parametrize("added_first", [True, False])
def test_m6_a_cancel_stops_the_follow_up_of_a_turn_with_a_message_behind_it(
    added_first: bool, stop: e.Event, interrupt: o.Interrupt
) -> None:
    follow_up = (SUBAGENT_ENDS, RUNNING, e.Requesting(()), MESSAGE, dispatched("toolu_2"))
    talk = held(*(() if added_first else follow_up))
    talk(follow_up if added_first else ())
    outputs = talk(stop)
    assert interrupt in outputs
    assert of((o.CloseCall, o.AnswerPrompt), outputs) == []
    end = talk(returned("toolu_2", is_error=True), result(origin=TASK, terminal_reason="aborted_tools"))
    assert of((o.ReturnCall, o.AnswerPrompt), end)[1:] == [answered("A", "cancelled")]


def test_m7_the_force_timer_hides_the_follow_up_that_it_gives_up_and_no_later_one() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"), IDLE)
    talk(SUBAGENT_ENDS, RUNNING, e.Requesting(()), MESSAGE, CANCEL)
    assert of(o.AnswerPrompt, talk(FORCE)) == [answered("A", "cancelled")]
    talk(e.Requesting(()), MESSAGE)
    assert not talk.session.admits_text

    talk(result(origin=TASK, terminal_reason="aborted_streaming"), IDLE, RUNNING, e.Requesting(()), MESSAGE)
    assert talk.session.admits_text


def test_m4_3_a_refused_prompt_whose_message_ran_with_a_turn_that_waits_is_answered() -> None:
    talk = Talk(prompt("A"), prompt("B"), e.SteerReceived("s"), *moved("refused", "A"), begin("B"))
    talk(*moved("started", "s"), e.Requesting(("B", "s")))
    talk(dispatched("toolu_agent", "Agent"), SUBAGENT, returned("toolu_agent"))
    assert of(o.AnswerPrompt, talk(result("B", "s"))) == [answered("A")]
    assert of(o.AnswerPrompt, talk(SUBAGENT_ENDS, result(origin=TASK, num_turns=1))) == [answered("B")]


def test_m4_1_the_message_of_a_refused_prompt_takes_the_place_of_a_turn_that_waits() -> None:
    talk = Talk(prompt("A"), prompt("B"), e.SteerReceived("s"), *moved("refused", "A"), begin("B"))
    talk(dispatched("toolu_agent", "Agent"), SUBAGENT, returned("toolu_agent"), result("B"), IDLE, RUNNING)
    outputs = talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"))
    assert of(o.AnswerPrompt, outputs) == [answered("B")]
    assert talk.session.active_turn == "A"
    talk(MESSAGE, dispatched("toolu_bash", "Bash"))
    outputs = talk(cancel("A"), IDLE)
    (closed,) = of(o.CloseCall, outputs)
    assert outputs.index(closed) < outputs.index(answered("A", "cancelled"))


def test_m4_1_a_message_behind_the_request_for_the_next_prompt_is_added_to_that_prompt() -> None:
    talk = Talk(prompt("A"), prompt("B"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"), *moved("started", "B"))
    assert of(o.AnswerPrompt, talk(e.Requesting(("B",)))) == [answered("A")]
    talk(e.SteerReceived("s"), e.Echoed("B"), MESSAGE, result("B"), *moved("completed", "B"))
    assert of(o.AnswerPrompt, talk(*moved("started", "s"), MESSAGE, result("s"))) == [answered("B")]


def test_inv_t2_a_lost_echo_leaves_the_first_of_two_prompts_behind_a_report_first() -> None:
    talk = Talk(e.PromptReceived("A", report="files"), prompt("B"), prompt("C"), begin("A"), result("A"))
    talk(*moved("completed", "A"), *moved("started", "B", "C"), e.Requesting(("B", "C")))
    talk(e.Echoed("C"), MESSAGE)
    assert talk.session.active_turn == "B"
