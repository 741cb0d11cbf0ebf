"""Messages that the user adds to a running turn, and turns that wait for their subagents (M4.5)."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    INITIALIZED,
    MESSAGE,
    RUNNING,
    TASK,
    Talk,
    aborted,
    answered,
    asked,
    begin,
    dispatched,
    end,
    moved,
    of,
    prepared,
    prompt,
    result,
    returned,
)

INJECTED = o.AnswerSteer("s", "injected")
SUBAGENT = e.TaskStarted("agent", "toolu_agent", True, True, None, "run")
LAUNCH = (dispatched("toolu_agent", "Agent"), SUBAGENT, returned("toolu_agent"))


def steer(id: str = "s", **more: Any) -> e.SteerReceived:
    return e.SteerReceived(id, **more)


def working() -> Talk:
    return Talk(prompt("A"), begin("A"))


# ── adding ────────────────────────────────────────────────────────────────────


def test_m4_5_a_message_goes_into_the_turn_that_runs_at_once() -> None:
    assert working()(steer()) == [o.SendSteer("s", "now"), INJECTED]


def test_m4_5_it_never_cancels_a_question_that_is_open() -> None:
    talk = working()
    talk(dispatched("toolu_1"), asked("ask", "toolu_1"), prepared("ask"))
    assert talk(steer()) == [o.SendSteer("s", "later"), INJECTED]


def test_m4_5_the_end_of_the_turn_is_the_result_of_the_last_message() -> None:
    talk = working()
    talk(steer())
    half = talk(aborted("A"), *moved("completed", "A"), *moved("started", "s"), e.Requesting(("s",)))
    assert of(o.AnswerPrompt, half) == []
    outputs = talk(e.Echoed("s"), MESSAGE, result("s"), *moved("completed", "s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A")]
    assert not talk.session.is_busy


def test_m4_5_a_message_that_was_folded_in_ends_with_the_shared_result() -> None:
    talk = working()
    talk(steer(), *moved("started", "s"), e.Echoed("s"))
    outputs = talk(result("A", "s"), *moved("completed", "A", "s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A")]


def test_m4_5_two_messages_wait_for_the_last_one() -> None:
    talk = working()
    talk(steer(), steer("t"))
    talk(aborted("A"), *moved("started", "s"), e.Echoed("s"), MESSAGE)
    assert of(o.AnswerPrompt, talk(aborted("s"), *moved("completed", "s"))) == []
    talk(*moved("started", "t"), e.Echoed("t"), MESSAGE)
    assert of(o.AnswerPrompt, talk(result("t"), *moved("completed", "t"), IDLE)) == [answered("A")]


def test_m4_5_a_message_that_is_dropped_leaves_the_turn_its_own_end() -> None:
    talk = working()
    talk(steer())
    outputs = talk(result("A"), *moved("completed", "A"), *moved("cancelled", "s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A")]


@pytest.mark.parametrize("ending", [(DEAD,), (CLOSE,), (CANCEL, aborted("A"), IDLE)])
def test_inv_t1_a_steered_turn_is_answered_however_it_ends(ending: tuple[Any, ...]) -> None:
    talk = working()
    talk(steer())
    outputs = talk(*ending)
    assert [answer.turn for answer in of(o.AnswerPrompt, outputs)] == ["A"]


def test_m4_5_before_the_turn_began_it_waits_and_is_still_part_of_it() -> None:
    talk = Talk(prompt("A"))
    assert talk(steer()) == [o.SendSteer("s", "later"), INJECTED]
    assert of(o.AnswerPrompt, talk(begin("A"), result("A"), *moved("completed", "A"))) == []
    talk(*moved("started", "s"), e.Echoed("s"), MESSAGE)
    assert of(o.AnswerPrompt, talk(result("s"), *moved("completed", "s"), IDLE)) == [answered("A")]


def test_m8_3_the_open_call_of_a_stopped_subagent_is_no_failure_of_the_next_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), LAUNCH)
    talk(e.ToolDispatched(e.ToolUse("child", "Bash", {}, parent="toolu_agent")))
    talk(result("A"), *moved("completed", "A"), IDLE, CANCEL, prompt("B"), e.TaskEnded("agent", "run"))
    assert of(o.AnswerPrompt, talk(begin("B"), result("B"))) == [answered("B")]


@pytest.mark.parametrize("end", ["completed", "cancelled"])
def test_m4_6_a_message_that_ends_without_a_result_does_not_hang_the_turn(end: e.CommandState) -> None:
    talk = working()
    talk(steer(), aborted("A"), *moved("cancelled", "A"), *moved("started", "s"), e.Echoed("s"), MESSAGE)
    (answer,) = of(o.AnswerPrompt, talk(*moved(end, "s"), IDLE))
    assert answer.outcome.failure is not None
    assert answer.outcome.failure.kind is o.FailureKind.NO_RESULT


def test_m4_6_a_turn_without_a_result_is_lost_when_a_prompt_begins_before_what_was_added() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), steer(), *moved("completed", "A"), IDLE)
    talk(RUNNING, *moved("started", "B"))
    (answer,) = of(o.AnswerPrompt, talk(e.Requesting(("B",))))
    assert (answer.turn, answer.outcome.failure is not None) == ("A", True)
    assert of(o.AnswerPrompt, talk(e.Echoed("B"), MESSAGE, result("B"))) == [answered("B")]


def test_m4_5_a_prompt_that_is_refused_is_answered_by_what_was_added_to_it() -> None:
    talk = Talk(prompt("A"), steer(), RUNNING, *moved("queued", "A"), *moved("refused", "A"))
    assert of(o.AnswerPrompt, talk(IDLE, RUNNING, *moved("queued", "s"))) == []
    talk(*moved("started", "s"), e.Echoed("s"), MESSAGE)
    assert talk.inserted == ["A"]
    assert of(o.AnswerPrompt, talk(result("s"), *moved("completed", "s"), IDLE)) == [answered("A")]


def test_m4_5_the_call_that_a_message_broke_off_is_closed_at_once() -> None:
    talk = working()
    talk(e.ToolStarted(e.ToolUse("toolu_1", "Bash")), steer())
    assert [closed.call for closed in of(o.CloseCall, talk(aborted("A")))] == ["toolu_1"]


def test_inv_t8_a_half_that_comes_twice_counts_once() -> None:
    talk = working()
    talk(steer(), steer("t"), *[aborted("A", used=(3, 5))] * 2, *moved("started", "s"), MESSAGE)
    talk(*[aborted("s", used=(4, 6))] * 2, *moved("started", "t"), MESSAGE)
    (answer,) = of(o.AnswerPrompt, talk(result("t", used=(1, 2))))
    assert answer.usage is not None
    assert (answer.usage.tokens.input, answer.usage.tokens.output) == (8, 13)


# ── a prompt comes before what was added ──────────────────────────────────────


def overtaken() -> Talk:
    """A waits for what was added to it before it began; B is received, and A has its result."""
    talk = Talk(prompt("A"), steer(), begin("A"), prompt("B"))
    assert of(o.AnswerPrompt, talk(result("A"), *moved("completed", "A"), *moved("started", "B"))) == []
    return talk


def test_m4_1_the_request_for_a_prompt_alone_ends_the_turn_before() -> None:
    talk = overtaken()
    assert of(o.AnswerPrompt, talk(e.Requesting(("B",)))) == [answered("A")]
    assert talk.inserted == ["A", "B"]
    assert of(o.AnswerPrompt, talk(e.Echoed("B"), MESSAGE, result("B"), *moved("completed", "B"))) == [
        answered("B")
    ]
    late = talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    assert of(o.ReportWork, late) == [o.ReportWork("running")], "work of its own"
    assert talk.session.admits_text


def test_m4_3_the_request_for_both_keeps_them_together() -> None:
    talk = overtaken()
    outputs = talk(e.Echoed("B"), *moved("started", "s"), e.Requesting(("B", "s")), e.Echoed("s"), MESSAGE)
    assert of(o.AnswerPrompt, outputs) == []
    assert talk.inserted == ["A", "B"]
    assert of(o.AnswerPrompt, talk(result("B", "s"), *moved("completed", "B", "s"), IDLE)) == [
        answered("A"),
        answered("B"),
    ]


def test_m8_3_calls_of_a_message_that_was_left_end_with_its_result() -> None:
    talk = overtaken()
    talk(e.Requesting(("B",)), e.Echoed("B"), MESSAGE, steer("t"), result("B"), *moved("completed", "B"))
    talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    talk(e.ToolStarted(e.ToolUse("toolu_1", "Bash")))
    assert [closed.call for closed in of(o.CloseCall, talk(aborted("s")))] == ["toolu_1"]


def test_m8_3_so_do_those_of_a_cycle() -> None:
    talk = Talk(prompt("A"), steer(), begin("A"), result("A"), *moved("completed", "A"))
    talk(RUNNING, e.Requesting(()), MESSAGE, e.ToolStarted(e.ToolUse("toolu_1", "Bash")))
    closed = of(o.CloseCall, talk(result(origin=TASK, num_turns=1)))
    assert [each.call for each in closed] == ["toolu_1"]


# ── a cancel ends what was added ──────────────────────────────────────────────


def test_m6_1_a_cancel_of_the_prompt_takes_its_messages_back() -> None:
    talk = working()
    talk(dispatched("toolu_1"), asked("ask", "toolu_1"), prepared("ask"), steer())
    outputs = talk(e.PromptCancelRequested("A"))
    assert of((o.CancelMessage, o.Interrupt), outputs) == [
        o.CancelMessage("s"),
        o.Interrupt(cancel_queued=False),
    ]
    talk(aborted("A"), *moved("cancelled", "A"), IDLE)
    assert not talk.session.is_busy


def test_m6_1_who_shared_what_a_message_broke_off_has_an_answer() -> None:
    talk = Talk(prompt("A"), prompt("B"), RUNNING, *moved("started", "A", "B"), steer())
    outputs = talk(aborted("A", "B"), *moved("cancelled", "A", "B"), e.PromptCancelRequested("A"))
    assert of(o.AnswerPrompt, outputs) == [answered("B"), answered("A", "cancelled")]
    assert talk.inserted == ["A", "B"]


def test_m6_1_a_prompt_that_waits_is_taken_back_with_its_messages() -> None:
    talk = Talk(prompt("A"), steer())
    outputs = talk(e.PromptCancelRequested("A"))
    assert of((o.CancelMessage, o.AnswerPrompt), outputs) == [
        o.CancelMessage("s"),
        answered("A", "cancelled"),
        o.CancelMessage("A"),
    ]


def test_inv_x1_a_message_of_a_cancelled_prompt_that_runs_after_all_is_hidden_and_stopped() -> None:
    talk = working()
    talk(steer(), e.PromptCancelRequested("A"), aborted("A"), *moved("cancelled", "A"))
    outputs = talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    assert of(o.Interrupt, outputs) == [o.Interrupt(cancel_queued=False)]
    assert not talk.session.admits_text
    assert of(o.AnswerPrompt, talk(aborted("s"), IDLE, prompt("B"), begin("B"), result("B"))) == [
        answered("B")
    ]


def test_m6_7_a_turn_that_waits_for_a_message_alone_is_answered_at_once() -> None:
    talk = overtaken()
    outputs = talk(CANCEL)
    assert of(o.AnswerPrompt, outputs) == [answered("B", "cancelled"), answered("A", "cancelled")]
    talk(e.Requesting(("B",)), e.Echoed("B"), MESSAGE)
    assert not talk.session.admits_text


def test_inv_x5_such_a_cancel_alone_interrupts_nobody() -> None:
    talk = overtaken()
    outputs = talk(e.PromptCancelRequested("A"))
    assert of((o.AnswerPrompt, o.Interrupt), outputs) == [answered("A", "cancelled")]
    assert [work.state for work in of(o.ReportWork, outputs)] == ["idle", "running"]
    assert of(o.AnswerPrompt, talk(e.Requesting(("B",)), result("B"))) == [answered("B")]


def test_inv_x1_a_cancelled_prompt_that_runs_first_is_no_part_of_the_turn() -> None:
    talk = Talk(prompt("A"), steer(), begin("A"), prompt("B"), e.PromptCancelRequested("B"))
    talk(result("A"), *moved("completed", "A"))
    outputs = talk(*moved("started", "B"), e.Requesting(("B",)), e.Echoed("B"), MESSAGE)
    assert of((o.AnswerPrompt, o.Interrupt), outputs) == [answered("A"), o.Interrupt(cancel_queued=False)]
    assert not talk.session.admits_text


def test_inv_x1_nor_is_one_that_runs_first_and_is_cancelled_then() -> None:
    talk = overtaken()
    outputs = talk(e.PromptCancelRequested("B"), e.Requesting(("B",)), MESSAGE)
    assert of(o.AnswerPrompt, outputs) == [answered("B", "cancelled"), answered("A")]
    assert not talk.session.admits_text


def test_inv_x3_what_a_turn_left_is_shown_after_a_cancel_of_another() -> None:
    talk = overtaken()
    talk(e.Requesting(("B",)), e.Echoed("B"), MESSAGE, e.PromptCancelRequested("B"), aborted("B"))
    talk(*moved("cancelled", "B"), *moved("started", "s"), MESSAGE)
    assert talk.session.admits_text


# ── a Claude Code that does not tell where a message is ───────────────────────


def unmarked(turn: str) -> tuple[e.Event, ...]:
    return (e.Requesting(()), e.Echoed(turn), MESSAGE)


def test_m4_5_the_echo_alone_tells_that_a_message_runs() -> None:
    talk = Talk(prompt("A"), RUNNING, unmarked("A"), steer())
    assert of(o.AnswerPrompt, talk(aborted(), unmarked("s"), result())) == []
    assert of(o.AnswerPrompt, talk(IDLE)) == [answered("A")]


def test_m4_5_a_command_without_an_echo_has_its_result() -> None:
    talk = Talk(prompt("A"), RUNNING, unmarked("A"), steer())
    assert of(o.AnswerPrompt, talk(aborted(), MESSAGE, result(num_turns=0), IDLE)) == [answered("A")]


def test_inv_x1_a_cancelled_message_that_is_not_dropped_is_hidden() -> None:
    talk = Talk(prompt("A"), RUNNING, unmarked("A"), steer())
    talk(CANCEL, aborted(), unmarked("s"))
    assert not talk.session.admits_text
    talk(prompt("B"))
    assert of(o.AnswerPrompt, talk(aborted(), unmarked("B"), result())) == [answered("B")]


def test_inv_t6_the_result_of_a_message_that_was_left_is_nobodys() -> None:
    talk = Talk(prompt("A"), RUNNING, unmarked("A"), prompt("B"), steer(), prompt("C"))
    talk(result(), unmarked("B"), result(), unmarked("s"))
    assert of(o.AnswerPrompt, talk(result())) == []
    assert of(o.AnswerPrompt, talk(unmarked("C"), result())) == [answered("C")]


# ── nothing to add to ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("talk", [Talk(), Talk(prompt("A"), begin("A"), *end("A"))])
def test_m4_5_without_a_turn_the_client_decides(talk: Talk) -> None:
    assert talk(steer(prompt_when_idle=False)) == [o.AnswerSteer("s", "promptRequired")]
    assert talk(steer()) == [o.AnswerSteer("s", "startedNewTurn"), o.SendPrompt("s")]
    assert of(o.AnswerPrompt, talk(begin("s"), *end("s"))) == [answered("s")]


def test_m4_5_a_turn_that_is_being_cancelled_takes_nothing() -> None:
    talk = working()
    talk(CANCEL)
    assert of(o.AnswerSteer, talk(steer(prompt_when_idle=False))) == [o.AnswerSteer("s", "promptRequired")]


def test_m4_5_what_is_added_after_a_cancel_belongs_to_the_prompt_that_came_after_it() -> None:
    talk = working()
    talk(CANCEL, prompt("B"))
    assert talk(steer(prompt_when_idle=False)) == [o.SendSteer("s", "later"), INJECTED]
    talk(aborted("A"), *moved("cancelled", "A"), begin("B"), result("B"), *moved("completed", "B"))
    talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    assert of(o.AnswerPrompt, talk(result("s"))) == [answered("B")]


def test_m2_3_after_a_loss_it_is_a_prompt_that_starts_claude_code_again() -> None:
    talk = Talk(DEAD)
    outputs = talk(steer())
    assert of((o.AnswerSteer, o.StartQuery), outputs) == [
        o.AnswerSteer("s", "startedNewTurn"),
        o.StartQuery(resume=True),
    ]
    assert of(o.SendPrompt, talk(INITIALIZED)) == [o.SendPrompt("s")]


def test_m12_a_goal_goes_into_the_turn_and_shows_at_once() -> None:
    outputs = working()(steer(goal=e.GoalCommand("ship it")))
    assert of((o.SendSteer, r.PublishGoal), outputs) == [
        o.SendSteer("s", "now"),
        r.PublishGoal(r.GoalSnapshot("ship it")),
    ]


# ── held ──────────────────────────────────────────────────────────────────────


def held() -> Talk:
    talk = working()
    talk(LAUNCH)
    outputs = talk(result("A"), *moved("completed", "A"), IDLE)
    assert of(o.AnswerPrompt, outputs) == []
    assert talk.session.is_busy
    return talk


def test_m4_a_turn_is_held_until_what_its_subagent_promised_has_streamed() -> None:
    talk = held()
    assert of(o.AnswerPrompt, talk(e.TaskEnded("agent", "run"), RUNNING, MESSAGE)) == []
    outputs = talk(result(origin=TASK, num_turns=1), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A")]


def test_m4_without_a_follow_up_the_next_idle_lets_it_go() -> None:
    assert of(o.AnswerPrompt, held()(e.TaskEnded("agent", "run"), IDLE)) == [answered("A")]


def test_m4_the_level_list_lets_it_go_too() -> None:
    assert of(o.AnswerPrompt, held()(e.LevelListed(frozenset()), IDLE)) == [answered("A")]


def test_m6_a_cancel_answers_a_held_turn_at_once() -> None:
    assert of(o.AnswerPrompt, held()(CANCEL)) == [answered("A", "cancelled")]


def test_m3_a_held_turn_keeps_its_outcome_when_claude_code_is_lost() -> None:
    assert of(o.AnswerPrompt, held()(DEAD)) == [answered("A")]


def test_m4_a_prompt_behind_a_held_turn_has_its_own_end() -> None:
    talk = held()
    outputs = talk(prompt("B"), begin("B"), *end("B"))
    assert [answer.turn for answer in of(o.AnswerPrompt, outputs)] == ["A", "B"]
