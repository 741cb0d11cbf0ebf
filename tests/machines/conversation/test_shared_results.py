"""Prompts that share a result while one of them waits: for a message that was added, or for its files."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from machines.companions.incident import Book
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    MESSAGE,
    RUNNING,
    Talk,
    aborted,
    answered,
    begin,
    cancel,
    end,
    moved,
    of,
    prompt,
    result,
)

ANSWERS = (o.AnswerPrompt, r.ReportFiles)
TIMED_OUT = e.TimerFired(e.Timer.FILE_PREVIEW)


def wants(turn: str) -> e.PromptReceived:
    """A prompt that wants a report of its files."""
    return e.PromptReceived(turn, None, f"r{turn}")


def together(*prompts: e.PromptReceived) -> Talk:
    """Prompts that Claude Code works on in one turn."""
    first, *others = (each.turn for each in prompts)
    talk = Talk(*prompts, begin(first), book=Book("S", "epoch"))
    talk(
        *moved("started", *others),
        e.Requesting((first, *others)),
        *map(e.Echoed, others),
        MESSAGE,
    )
    return talk


def done(*turns: str) -> tuple[Any, ...]:
    return (result(*turns), *moved("completed", *turns), IDLE)


def listed(turn: str) -> e.FilesPreviewed:
    return e.FilesPreviewed(turn, (f"/{turn}",))


def raw(talk: Talk, *events: Any) -> list[Any]:
    """Everything that comes of them."""
    return [output for event in events for output in talk.session.handle(event)]


def kinds(outputs: list[Any]) -> list[str]:
    """Reports and answers in short, in their order."""
    return [
        f"{each.request} {'there' if each.paths else each.reason}"
        if isinstance(each, r.ReportFiles)
        else f"{each.turn} {each.outcome.stop_reason if each.outcome.failure is None else 'failed'}"
        for each in of(ANSWERS, outputs)
    ]


# ── files ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("prompts", "at_once", "told"),
    [
        ((prompt("A"), wants("B")), ["A end_turn"], {"B": ["rB there", "B end_turn"]}),
        ((wants("A"), prompt("B")), [], {"A": ["rA there", "A end_turn", "B end_turn"]}),
        (
            (wants("A"), wants("B")),
            [],
            {"A": ["rA there", "A end_turn"], "B": ["rB there", "B end_turn"]},
        ),
        (
            (wants("A"), wants("B")),
            [],
            {"B": ["rB there"], "A": ["rA there", "A end_turn", "B end_turn"]},
        ),
    ],
)
def test_m14_each_of_them_waits_for_its_own_files(
    prompts: tuple[e.PromptReceived, ...], at_once: list[str], told: dict[str, list[str]]
) -> None:
    talk = together(*prompts)
    assert kinds(talk(*done("A", "B"))) == at_once
    for turn, answers in told.items():
        assert kinds(talk(listed(turn))) == answers
    assert not talk.session.is_busy


def test_m14_the_cancel_of_one_answers_who_waited_for_it_alone() -> None:
    talk = together(wants("A"), prompt("B"))
    talk(*done("A", "B"))
    assert kinds(talk(cancel("A"))) == ["rA cancelled", "A cancelled", "B end_turn"]


def test_m14_the_time_runs_on_for_whoever_still_waits() -> None:
    talk = together(wants("A"), wants("B"))
    talk(*done("A", "B"))
    timers = of((o.StartTimer, o.StopTimer), talk(listed("A")))
    assert timers == [o.StopTimer(e.Timer.FILE_PREVIEW), o.StartTimer(e.Timer.FILE_PREVIEW)]
    assert kinds(talk(TIMED_OUT)) == ["rB timeout", "B end_turn"]


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (TIMED_OUT, ["rA timeout", "A end_turn", "rB timeout", "B end_turn"]),
        (CANCEL, ["rA cancelled", "A cancelled", "rB cancelled", "B cancelled"]),
        (cancel("B"), ["rB cancelled", "B cancelled"]),
        (cancel("A"), ["rA cancelled", "A cancelled"]),
        (DEAD, ["rA providerError", "A end_turn", "rB providerError", "B end_turn"]),
        (CLOSE, ["rA cancelled", "A cancelled", "rB cancelled", "B cancelled"]),
    ],
)
def test_inv_r1_what_ends_one_ends_each(event: e.Event, ends: list[str]) -> None:
    talk = together(wants("A"), wants("B"))
    talk(*done("A", "B"))
    assert kinds(talk(event)) == ends


def test_m14_nothing_of_the_next_prompt_comes_before_the_answer() -> None:
    talk = together(prompt("A"), wants("B"))
    talk(*done("A", "B"))
    outputs = raw(talk, prompt("C"), *begin("C"))
    assert kinds(outputs) == ["rB timeout", "B end_turn"]
    assert outputs.index(answered("B")) < outputs.index(o.InsertPrompt("C"))
    assert of(o.AnswerPrompt, talk(*end("C"))) == [answered("C")]


def test_m14_a_prompt_that_was_taken_up_waits_for_the_files_of_those_before_it() -> None:
    talk = together(prompt("A"), wants("B"))
    talk(prompt("C"), *moved("queued", "C"), *moved("started", "C"))
    assert kinds(talk(result("A", "B"))) == ["A end_turn"]
    outputs = raw(talk, listed("B"))
    assert kinds(outputs) == ["rB there", "B end_turn"]
    assert outputs.index(answered("B")) < outputs.index(o.InsertPrompt("C"))


def test_inv_t2_a_prompt_that_is_lost_waits_for_the_files_of_those_before_it() -> None:
    talk = Talk(wants("A"), prompt("B"), begin("A"), e.SteerReceived("s"))
    talk(*moved("started", "B"), *moved("completed", "A", "B"), IDLE, RUNNING, *moved("started", "s"))
    assert kinds(talk(e.Echoed("s"), MESSAGE, result("s"), *moved("completed", "s"), IDLE)) == []
    assert kinds(talk(listed("A"))) == ["rA there", "A end_turn", "B failed"]


def test_m4_3_a_prompt_whose_shared_result_is_lost_ends_with_the_turn_that_it_joined() -> None:
    talk = Talk(prompt("A"), prompt("B"), prompt("C"), begin("A"), e.SteerReceived("s"), e.Echoed("B"))
    talk(*moved("started", "B"), *moved("completed", "A", "B"), IDLE, RUNNING, *moved("started", "s", "C"))
    outputs = talk(e.Requesting(("s", "C")), MESSAGE, result("s", "C"))
    assert of(o.AnswerPrompt, outputs) == [answered("A"), answered("B"), answered("C")]


def test_m14_a_command_that_asks_no_model_waits_for_no_files_either() -> None:
    talk = Talk(wants("B"), begin("B"), result("B"), *moved("completed", "B"), IDLE)
    outputs = talk(prompt("C"), RUNNING, *moved("started", "C"), MESSAGE)
    assert kinds(outputs)[:2] == ["rB timeout", "B end_turn"]
    assert talk.session.active_turn == "C"


def test_m14_a_result_that_comes_twice_changes_nothing() -> None:
    talk = together(wants("A"), wants("B"))
    talk(*done("A", "B"))
    assert kinds(talk(result("A", "B"), result("B"))) == []
    assert kinds(talk(listed("A"), listed("B"))) == ["rA there", "A end_turn", "rB there", "B end_turn"]


def test_m4_5_a_message_to_a_turn_that_waits_for_its_files_alone_is_a_prompt() -> None:
    talk = together(wants("A"))
    talk(*done("A"))
    steered = e.SteerReceived("s")
    assert of(o.AnswerSteer, talk(steered)) == [o.AnswerSteer("s", "startedNewTurn")]
    assert kinds(talk(begin("s"))) == ["rA timeout", "A end_turn"]
    assert of(o.AnswerPrompt, talk(*end("s"))) == [answered("s")]


# ── messages that were added ──────────────────────────────────────────────────


def steered(priority: str) -> Talk:
    """A message was added to A, and B is folded into A's work; the echo is the first that tells it."""
    talk = Talk(prompt("A"), begin("A"), e.SteerReceived("s"), prompt("B"))
    talk(*moved("queued", "s", "B"))
    if priority == "now":
        talk(*moved("started", "B"))
    outputs = talk(e.Echoed("B"), *moved("started", "B"), e.Requesting(("A", "B")), MESSAGE)
    assert of(o.AnswerPrompt, outputs) == [], priority
    return talk


def test_m4_5_a_prompt_that_is_folded_into_a_steered_turn_is_answered_with_it() -> None:
    talk = steered("later")
    assert of(o.AnswerPrompt, talk(result("A", "B"), *moved("completed", "A", "B"))) == []
    outputs = talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    assert of((o.AnswerPrompt, o.ReportWork), outputs) == [], "what is said now is the turn's"
    outputs = talk(result("s"), *moved("completed", "s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A"), answered("B")]
    assert not talk.session.is_busy


def test_m4_5_so_it_is_when_the_message_interrupted_them() -> None:
    talk = steered("now")
    assert of(o.AnswerPrompt, talk(aborted("A", "B"), *moved("completed", "A", "B"))) == []
    talk(*moved("started", "s"), e.Requesting(("s",)), e.Echoed("s"), MESSAGE)
    outputs = talk(result("s"), *moved("completed", "s"), IDLE)
    assert of(o.AnswerPrompt, outputs) == [answered("A"), answered("B")]


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (IDLE, []),
        (CANCEL, ["B cancelled"]),
        (cancel("A"), ["B end_turn"]),
        (cancel("B"), ["B cancelled"]),
        (DEAD, ["A failed", "B failed"]),
        (CLOSE, ["B cancelled", "A cancelled"]),
    ],
)
def test_m4_5_what_ends_them_before_the_message_is_answered(event: e.Event, ends: list[str]) -> None:
    talk = steered("later")
    talk(result("A", "B"), *moved("completed", "A", "B"), *moved("started", "s"), e.Requesting(("s",)))
    assert kinds(talk(event)) == ends
    if event is DEAD or event is CLOSE:
        assert not talk.session.is_busy
        return
    rest = kinds(talk(result("s") if event is IDLE else aborted("s"), *moved("completed", "s"), IDLE))
    assert sorted([*ends, *rest]) == sorted({each.split()[0]: each for each in [*ends, *rest]}.values())
    assert not talk.session.is_busy


def test_m4_5_a_prompt_after_the_message_was_dropped_follows_the_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), e.SteerReceived("s"), prompt("B"))
    talk(*moved("cancelled", "s"), result("A"), *moved("completed", "A"))
    outputs = raw(talk, *moved("started", "B"), e.Echoed("B"), MESSAGE)
    assert of((o.AnswerPrompt, o.InsertPrompt), outputs) == [answered("A"), o.InsertPrompt("B")]


def test_inv_t2_a_prompt_without_a_result_is_answered_before_one_that_overtakes_its_turns_message() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("started", "B"), e.Requesting(("A", "B")))
    talk(
        e.SteerReceived("s"), e.SteerReceived("t"), *moved("completed", "A", "B"), IDLE, prompt("C"), RUNNING
    )
    talk(*moved("started", "s"), e.Requesting(("s",)), result("s"), *moved("started", "C"))
    handed_off = of(o.AnswerPrompt, talk(e.Requesting(("C",))))
    assert [answer.turn for answer in handed_off] == ["A", "B"]
    assert of(o.AnswerPrompt, talk(e.Echoed("C"), MESSAGE, result("C"))) == [answered("C")]


def test_m4_5_a_follow_up_ends_no_turn_whose_message_is_still_to_come() -> None:
    talk = Talk(prompt("A"), begin("A"), e.SteerReceived("s"), *moved("completed", "A"), IDLE)
    assert of(o.AnswerPrompt, talk(RUNNING, e.Requesting(()), MESSAGE, result(origin="peer"), IDLE)) == []
    outputs = talk(RUNNING, *moved("started", "s"), e.Requesting(("s",)), MESSAGE, result("s"))
    assert of(o.AnswerPrompt, outputs) == [answered("A")]
