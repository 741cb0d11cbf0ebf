"""Rare orders: a turn over but for its report, prompts that begin meanwhile, asks before their turn."""

import pytest

from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from machines.companions.incident import Book
from tests.machines.talk import (
    CANCEL,
    DONE,
    IDLE,
    INITIALIZED,
    INTERRUPT_ONE,
    MESSAGE,
    RUNNING,
    TASK,
    WAITS,
    WORKS,
    Talk,
    aborted,
    answered,
    asked,
    begin,
    cancel,
    dispatched,
    end,
    moved,
    of,
    prepared,
    prompt,
    result,
    returned,
)

PLAN = "toolu_plan"
SUBAGENT = e.TaskStarted("agent", "toolu_agent", True, True, None, "run")


def reporting() -> Talk:
    """A turn whose result is there; the list of its files is still being made."""
    talk = Talk(e.PromptReceived("A", None, "r"), begin("A"), book=Book("S", "epoch"))
    assert of(o.AnswerPrompt, talk(result("A"))) == []
    return talk


def test_m4_a_prompt_that_begins_ends_the_wait_for_the_report_before_it() -> None:
    talk = reporting()
    outputs = talk(prompt("B"), begin("B"))
    (report,) = of(r.ReportFiles, outputs)
    assert (report.paths, report.reason) == (None, "timeout")
    assert of(o.AnswerPrompt, outputs) == [answered("A")]
    assert of(o.AnswerPrompt, talk(end("B"))) == [answered("B")]


def test_m4_a_prompt_that_was_taken_up_meanwhile_is_active_behind_the_report() -> None:
    talk = reporting()
    assert of(o.AnswerPrompt, talk(prompt("B"), *moved("started", "B"))) == []
    outputs = talk(e.FilesPreviewed("A", ()))
    assert of((o.AnswerPrompt, o.ReportWork), outputs) == [answered("A"), WORKS]
    assert of(o.AnswerPrompt, talk(end("B"))) == [answered("B")]


def test_m6_1_a_prompt_that_is_cancelled_behind_the_report_of_another_is_stopped_and_hidden() -> None:
    talk = reporting()
    talk(prompt("B"), *moved("queued", "B"), *moved("started", "B"))
    outputs = talk(cancel("B"))
    assert of((o.AnswerPrompt, o.Interrupt), outputs) == [answered("B", "cancelled"), INTERRUPT_ONE]
    assert of((o.ReportWork, o.Interrupt), talk(e.Requesting(("B",)), e.Echoed("B"), MESSAGE)) == []
    assert not talk.session.admits_text
    assert of(o.AnswerPrompt, talk(aborted("B"), *moved("cancelled", "B"), IDLE)) == []
    assert of(o.AnswerPrompt, talk(e.FilesPreviewed("A", ()))) == [answered("A")]


def test_m14_a_prompt_that_is_cancelled_while_its_files_are_listed_is_cancelled() -> None:
    outputs = reporting()(cancel("A"))
    (report,) = of(r.ReportFiles, outputs)
    assert (report.paths, report.reason) == (None, "cancelled")
    assert [each.outcome.stop_reason for each in of(o.AnswerPrompt, outputs)] == ["cancelled"]


def test_m6_a_prompt_behind_a_cancel_begins_before_the_stopped_one_has_its_result() -> None:
    talk = Talk(prompt("A"), begin("A"))
    talk(CANCEL, prompt("B"))
    outputs = talk(*moved("queued", "B"), *moved("started", "B"), e.Echoed("B"))
    assert of(o.AnswerPrompt, outputs) == [answered("A", "cancelled")]
    assert of(o.AnswerPrompt, talk(MESSAGE, *end("B"))) == [answered("B")]


def test_m5_a_question_that_opens_before_its_turn_begins_makes_it_wait() -> None:
    talk = Talk(prompt("A"))
    talk(asked("ask", "toolu_1"), prepared("ask"))
    assert of(o.ReportWork, talk(begin("A"))) == [WORKS, WAITS]


def test_m4_5_a_message_that_is_added_to_a_held_turn_is_work_again() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    outputs = talk(returned("toolu_agent"), result("A"), *moved("completed", "A"))
    assert of(o.ReportWork, outputs) == [DONE]
    assert of(o.ReportWork, talk(e.SteerReceived("s"))) == [WORKS]


def test_m4_a_placeholder_of_a_cycle_lets_no_held_turn_go() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"), e.TaskEnded("agent", "run"))
    assert of(o.AnswerPrompt, talk(result(origin=TASK, num_turns=0))) == []
    assert of(o.AnswerPrompt, talk(result(origin=TASK, num_turns=1))) == [answered("A")]


def test_m6_a_held_prompt_that_is_cancelled_alone_is_answered_at_once() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    talk(returned("toolu_agent"), result("A"), *moved("completed", "A"))
    outputs = talk(cancel("A"))
    assert of((o.AnswerPrompt, o.StartTimer), outputs) == [answered("A", "cancelled")]


def test_m4_6_an_idle_answers_no_turn_whose_added_message_is_still_unanswered() -> None:
    talk = Talk(prompt("A"), begin("A"), e.SteerReceived("s"))
    assert of(o.AnswerPrompt, talk(IDLE, IDLE)) == []
    outputs = talk(RUNNING, *moved("started", "s"), e.Echoed("s"), MESSAGE, result("s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A")]


def test_m2_1_a_message_that_will_not_run_is_not_said_to_the_next_process() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched(PLAN, "ExitPlanMode"), e.PlanStopped(PLAN, afresh=True))
    talk(e.SteerReceived("s"), *moved("cancelled", "s"))
    words = "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"
    talk(
        e.ToolReturned(PLAN, "rejected", is_error=True),
        result("A", is_error=True, terminal_reason="aborted_tools", diagnostic=words),
    )
    assert of((o.ContinuePlan, o.SendSteer), talk(INITIALIZED)) == [o.ContinuePlan("A")]


@pytest.mark.parametrize(("option", "declined"), [("allow-once", "allow-once"), (None, "reject")])
def test_a_subagent_in_the_background_is_refused_by_no_answer(option: str | None, declined: str) -> None:
    """Nobody stopped it, so its request must not stay without an answer (decision 32)."""
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    use = e.ToolUse("toolu_1", "Bash", {}, "toolu_agent")
    options = (e.Option("allow-once", grants=True), e.Option("reject", grants=False))
    talk(e.AskReceived("ask", use, options, "agent"), prepared("ask"))
    outputs = talk(e.AskAnswered("ask", option, None))
    assert of(o.ReplyAsk, outputs) == [o.ReplyAsk("ask", declined)]


def test_a_limit_that_is_told_twice_or_to_nobody_is_one_incident_or_none() -> None:
    limit = e.LimitReplayed("u:error", "You've hit your limit")
    assert Talk()(limit) == []
    book = Book("S", "epoch")
    talk = Talk(limit, book=book)
    first = book.open["u:error"]
    talk(limit)
    assert book.open["u:error"] is first


def test_it_says_which_calls_the_client_sees_open() -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_1"))
    assert talk.session.shows("toolu_1")
    talk(returned("toolu_1"))
    assert not talk.session.shows("toolu_1")


@pytest.mark.parametrize("event", [e.TaskMoved("t", "paused"), e.TaskProgressed("t", summary="half")])
def test_what_a_task_is_doing_changes_no_turn(event: e.TaskEvent) -> None:
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_agent", "Agent"), SUBAGENT)
    assert talk(event) == []
    assert of(o.AnswerPrompt, talk(returned("toolu_agent"), *end("A"))) == []


# ── what a cancel leaves in Claude Code (M7) ──────────────────────────────────


CYCLE = (RUNNING, e.Requesting(()), MESSAGE, dispatched("toolu_cycle"))


def test_m7_a_shared_result_is_also_that_of_a_prompt_that_was_folded_in_and_cancelled() -> None:
    talk = Talk(prompt("A"), begin("A"))
    talk(prompt("B"), CANCEL, *moved("queued", "B"), e.Echoed("B"), *moved("started", "B"))
    talk(*moved("cancelled", "B"), aborted("A", "B"), *moved("cancelled", "A"), IDLE)
    shown = talk(*CYCLE)
    assert [each.use.call for each in of(o.ShowCall, shown)] == ["toolu_cycle"], "new work is shown"


@pytest.mark.parametrize("state", ["refused", "discarded", "cancelled"])
def test_m7_nothing_is_expected_of_a_queued_prompt_that_claude_code_is_done_with(
    state: e.CommandState,
) -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("queued", "B"), *moved(state, "B"))
    talk(CANCEL, aborted("A"), *moved("cancelled", "A"), IDLE)
    assert of(o.ShowCall, talk(*CYCLE))


def test_m7_a_prompt_that_was_cancelled_while_it_ran_may_still_have_a_result() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("queued", "B"), *moved("started", "B"))
    talk(*moved("cancelled", "B"), CANCEL, aborted("A"), *moved("cancelled", "A"))
    assert of(o.AnswerPrompt, talk(aborted("B"), IDLE)) == []
    assert of(o.ShowCall, talk(*CYCLE))


def test_m9_a_call_that_the_client_saw_end_asks_for_nothing() -> None:
    """Its prompt was cancelled alone, and Claude Code goes on with it before it hears of that."""
    talk = Talk(prompt("A"), begin("A"), dispatched("toolu_1"), prompt("B"), *moved("queued", "B"))
    talk(cancel("A"))
    assert of(o.CloseCall, talk(e.Echoed("B"), *moved("started", "B")))
    outputs = talk(dispatched("toolu_1"), asked("ask", "toolu_1"), prepared("ask"))
    assert of((o.ShowCall, o.AskClient), outputs) == []
    assert [denied.ask for denied in of(o.DenyAsk, outputs)] == ["ask"]


def test_m7_work_of_its_own_is_not_taken_for_a_prompt_that_still_waits() -> None:
    """Claude Code ended the turn, and began again before it read what was written meanwhile."""
    talk = Talk(prompt("A"), begin("A"), prompt("B"), CANCEL)
    talk(end("A"), *moved("completed", "A"), IDLE)
    assert of(o.ShowCall, talk(*CYCLE))


def test_m7_without_marks_it_may_be_that_prompt() -> None:
    talk = Talk(prompt("A"), e.Requesting(()), e.Echoed("A"), MESSAGE, prompt("B"), CANCEL)
    talk(e.Result((), num_turns=1), IDLE)
    assert of(o.ShowCall, talk(*CYCLE)) == []


def test_m4_6_a_prompt_whose_message_is_done_never_gets_a_result() -> None:
    """The idle is owed to work of Claude Code's own, which came between."""
    talk = Talk(prompt("A"), begin("A"), *moved("completed", "A"), RUNNING, MESSAGE)
    (answer,) = of(o.AnswerPrompt, talk(e.Result((), origin="task-notification", num_turns=1), IDLE))
    assert answer.turn == "A"
    assert answer.outcome.failure is not None
    assert answer.outcome.failure.kind is o.FailureKind.NO_RESULT


def shared(*uuids: str) -> Talk:
    """Prompts that Claude Code takes up together; the first of their answers starts a subagent."""
    talk = Talk(*(prompt(uuid) for uuid in uuids), *(moved("started", uuid)[0] for uuid in uuids))
    talk(e.Requesting(uuids), *(e.Echoed(uuid) for uuid in uuids), MESSAGE)
    talk(dispatched("toolu_agent", "Agent"), SUBAGENT, returned("toolu_agent"))
    return talk


def test_m4_of_prompts_that_share_a_result_the_last_waits_for_their_subagents() -> None:
    talk = shared("A", "B", "C")
    answers = of(o.AnswerPrompt, talk(result("A", "B", "C", used=(3, 4)), IDLE))
    assert [(each.turn, each.outcome, each.usage) for each in answers] == [
        ("A", o.Outcome(), None),
        ("B", o.Outcome(), None),
    ]
    assert talk.session.active_turn == "C"
    assert of(o.AnswerPrompt, talk(e.TaskEnded("agent", "run"))) == []
    (last,) = of(o.AnswerPrompt, talk(e.Result((), origin="task-notification", num_turns=1), IDLE))
    assert (last.turn, last.outcome) == ("C", o.Outcome())
    assert last.usage is not None
    assert (last.usage.tokens.input, last.usage.tokens.output) == (3, 4), "what they used together"


def test_m4_a_cancel_answers_the_one_that_waits() -> None:
    talk = shared("A", "B")
    talk(result("A", "B"), IDLE)
    (answer,) = of(o.AnswerPrompt, talk(CANCEL))
    assert (answer.turn, answer.outcome.stop_reason) == ("B", "cancelled")


def test_m4_1_nothing_is_folded_into_a_prompt_that_is_done() -> None:
    """Two prompts ended without a result, and no idle came, since a task goes on."""
    talk = shared("A", "B")
    talk(*moved("completed", "A", "B"), prompt("C"), *moved("queued", "C"), *moved("started", "C"))
    outputs = talk(e.Requesting(("C",)))
    answers = of(o.AnswerPrompt, outputs)
    assert [each.turn for each in answers] == ["A", "B"], "in their order, before the next one"
    for each in answers:
        assert each.outcome.failure is not None
        assert each.outcome.failure.kind is o.FailureKind.NO_RESULT
    assert talk.session.active_turn == "C"
    (answer,) = of(o.AnswerPrompt, talk(e.Echoed("C"), MESSAGE, result("C"), IDLE))
    assert (answer.turn, answer.outcome) == ("C", o.Outcome())


def test_m4_1_work_of_its_own_is_not_part_of_a_prompt_that_is_done() -> None:
    talk = Talk(prompt("A"), begin("A"), *moved("completed", "A"))
    outputs = of((o.AnswerPrompt, o.ReportWork), talk(*CYCLE))
    assert [type(each) for each in outputs] == [o.ReportWork, o.AnswerPrompt, o.ReportWork]
    assert [each.state for each in of(o.ReportWork, outputs)] == ["idle", "running"], "work of its own"
    ended = of(o.ReportWork, talk(e.Result((), origin="task-notification", num_turns=1)))
    assert [each.state for each in ended] == ["idle"]
