"""A message to a turn that waits for its subagents: what the turn's answer is stays known (M4.1, M4.5)."""

import pytest

from machines import events as e
from machines import outputs as o
from tests.machines.talk import (
    IDLE,
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


def test_m6_1_a_cancel_answers_it_at_once() -> None:
    talk = held()
    assert of(o.AnswerPrompt, talk(cancel("A"))) == [answered("A", "cancelled")]
