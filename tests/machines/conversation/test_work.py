"""What ACP v2 tells of the work: prompts as they join the conversation, usage at an end, who waits first."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import UpdateChild
from machines.conversation import Conversation
from machines.results.usage import Tokens, Usage
from tests.machines.talk import (
    CANCEL,
    IDLE,
    INITIALIZED,
    MESSAGE,
    OPTIONS,
    TASK,
    Talk,
    aborted,
    begin,
    end,
    moved,
    prepared,
    prompt,
    result,
)


def usage(input: int, output: int) -> Usage:
    tokens = Tokens(input, output)
    return Usage(tokens, (("opus", tokens),))


def test_a_prompt_is_in_the_conversation_before_anything_of_its_work() -> None:
    session = Conversation()
    session.open()
    session.handle(INITIALIZED)
    session.handle(prompt("A"))
    outputs = [each for event in begin("A") for each in session.handle(event)]
    assert outputs == [o.InsertPrompt("A"), o.ReportWork("running")]


def test_a_prompt_that_never_began_is_not() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), moved("queued", "B"))
    talk(CANCEL)
    talk(aborted("A"), moved("completed", "A"), IDLE)
    assert talk.inserted == ["A"]


def test_a_prompt_without_frames_of_its_own_is_when_its_result_says_so() -> None:
    talk = Talk(prompt("A"))
    talk(result("A"))
    assert talk.inserted == ["A"]


def test_prompts_that_share_a_result_are_told_before_their_work_ends() -> None:
    """M4.3: of the second one nothing else was heard."""
    session = Conversation()
    session.open()
    session.handle(INITIALIZED)
    session.handle(prompt("A"))
    session.handle(prompt("B"))
    for event in begin("A"):
        session.handle(event)
    outputs = [each for each in session.handle(result("A", "B")) if not isinstance(each, o.ShowResult)]
    kinds = [type(each) for each in outputs]
    assert kinds == [o.InsertPrompt, o.ReportWork, o.AnswerPrompt, o.AnswerPrompt]
    assert outputs[0] == o.InsertPrompt("B")


def test_the_end_of_work_says_what_it_used() -> None:
    talk = Talk(prompt("A"), begin("A"), end("A", used=(3, 4)))
    assert talk.used == [usage(3, 4)]


def test_the_end_of_a_cycle_says_what_that_used_alone() -> None:
    """INV-T6: the prompts before and behind it use what they use."""
    talk = Talk(prompt("A"), begin("A"), end("A", used=(3, 4)))
    talk(MESSAGE)
    cycle = result(origin=TASK, num_turns=1, usage={"input_tokens": 5, "output_tokens": 6})
    talk(cycle, IDLE)
    assert talk.used[-1] == Usage(Tokens(5, 6))
    talk(prompt("B"), begin("B"), result("B", usage={"input_tokens": 1, "output_tokens": 2}))
    assert talk.used[-1] == Usage(Tokens(1, 2))


def test_the_end_of_work_that_told_nothing_says_nothing() -> None:
    talk = Talk(prompt("A"), begin("A"), end("A"))
    assert talk.used == [None]


@pytest.mark.contract("V2-034")
def test_a_subagent_waits_first_and_then_the_work_that_waits_for_it() -> None:
    session = Conversation(form="rfd")
    session.open()
    launch = e.ToolUse("launch", "Agent", {"prompt": "Look."})
    asked = e.AskReceived("ask", e.ToolUse("c", "Bash", {}, "launch"), OPTIONS, "child")
    before: tuple[Any, ...] = (INITIALIZED, prompt("A"), *begin("A"), e.ToolDispatched(launch))
    for event in (*before, e.TaskStarted("child", "launch", True), asked):
        session.handle(event)
    outputs = session.handle(prepared("ask"))
    kinds = [type(each) for each in outputs if isinstance(each, UpdateChild | o.ReportWork | o.AskClient)]
    assert kinds == [UpdateChild, o.ReportWork, o.AskClient]
