"""Cancel of everything and of one prompt, in every place where it can meet the work (M6, M6.1, M8.3)."""

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
    Talk,
    aborted,
    answered,
    begin,
    cancel,
    moved,
    of,
    prompt,
    result,
    streamed,
)


def test_m6_9_one_cancel_is_one_interrupt() -> None:
    talk = Talk()

    assert talk(prompt("A"), CANCEL) == [o.SendPrompt("A"), answered("A", "cancelled"), INTERRUPT]
    assert talk(begin("A"), prompt("B")) == [o.SendPrompt("B")], "a second one would meet B"


def test_m6_9_a_cancel_of_all_also_stops_what_was_cancelled_alone() -> None:
    talk = Talk(prompt("A"), cancel("A"), prompt("B"))

    assert talk(CANCEL) == [answered("B", "cancelled"), INTERRUPT]
    assert talk(begin("A")) == [], "a second one would meet the next prompt"


def test_m6_1_a_prompt_that_started_before_its_cancel_was_read_is_interrupted_and_not_shown() -> None:
    talk = Talk(prompt("A"))

    assert talk(cancel("A")) == [answered("A", "cancelled"), o.CancelMessage("A")]
    assert talk(RUNNING, *moved("queued", "A"), *moved("started", "A")) == []
    assert not talk.session.admits_text
    assert talk(e.Requesting(("A",))) == [INTERRUPT_ONE]
    assert talk(e.Echoed("A"), MESSAGE, aborted("A"), *moved("cancelled", "A"), IDLE) == []
    assert talk(prompt("B"), begin("B"))[-1] == o.ReportWork("running")
    assert talk.session.admits_text


@pytest.mark.contract("CY-021")
def test_inv_x5_a_cancelled_prompt_that_runs_together_with_another_is_left_alone() -> None:
    talk = Talk(prompt("B"), prompt("C"), *moved("queued", "B", "C"))

    assert talk(cancel("B")) == [answered("B", "cancelled"), o.CancelMessage("B")]
    taken_up = talk(e.Echoed("B"), *moved("started", "B", "C"), e.Requesting(("B", "C")), e.Echoed("C"))
    assert taken_up == [o.ReportWork("running")]
    assert talk.session.active_turn == "C"


def test_m6_1_without_lifecycle_frames_its_echo_is_its_start() -> None:
    talk = Talk(prompt("A"), cancel("A"))

    assert talk(RUNNING, e.Requesting(()), e.Echoed("A")) == [INTERRUPT_ONE]
    assert not talk.session.admits_text
    assert talk(MESSAGE, aborted(), IDLE) == []
    assert talk(prompt("B"), RUNNING, e.Echoed("B"), MESSAGE)[-1] == o.ReportWork("running")
    assert talk.session.admits_text


@pytest.mark.parametrize("marks", [True, False])
def test_m7_a_prompt_that_becomes_active_does_not_bring_back_one_cancelled_behind_it(marks: bool) -> None:
    talk = Talk(prompt("A"), prompt("B"))
    uuids = ("B",) if marks else ()
    talk(*(moved("queued", "A", "B") if marks else ()), cancel("B"), RUNNING, e.Echoed("A"), MESSAGE)

    assert talk(result("A") if marks else result())[-1] == answered("A")
    talk(*(moved("started", "B") if marks else ()), e.Requesting(uuids), e.Echoed("B"))
    assert talk(MESSAGE, result(*uuids), IDLE) == []
    assert not talk.session.admits_text


def test_inv_x1_who_runs_with_a_prompt_that_was_cancelled_before_stays_hidden_after_the_force() -> None:
    talk = Talk(prompt("A"), prompt("B"), prompt("C"), cancel("A"), RUNNING, *moved("queued", "A", "B", "C"))
    talk(e.Echoed("A"), e.Echoed("B"), *moved("started", "A", "B", "C"))
    talk(CANCEL, FORCE)
    talk(e.Requesting(("A", "B", "C")), e.Echoed("C"), MESSAGE)
    assert not talk.session.admits_text


@pytest.mark.parametrize("stop", [CANCEL, cancel("A")])
def test_m6_what_was_added_to_a_turn_that_waits_for_its_files_ends_with_it(stop: e.Event) -> None:
    talk = Talk(e.PromptReceived("A", report="files"), prompt("B"), begin("A"), e.SteerReceived("s"))
    talk(aborted("A"), *moved("completed", "A"), cancel("B"), *moved("started", "B"))  # it overtakes `s`
    assert of(o.AnswerPrompt, talk(stop)) == [answered("A", "cancelled")]

    talk(e.Requesting(("B",)), e.Echoed("B"), aborted("B"), *moved("started", "s"), e.Requesting(("s",)))
    talk(e.Echoed("s"), MESSAGE)
    assert not talk.session.admits_text


def test_m6_what_was_added_to_a_turn_that_waits_for_its_files_is_shown_behind_cancelled_work() -> None:
    talk = Talk(e.PromptReceived("A", report="files"), prompt("B"), e.SteerReceived("s"), begin("A"))
    talk(result("A"), *moved("completed", "A"), cancel("B"), *moved("started", "B"), MESSAGE)  # overtakes `s`
    assert not talk.session.admits_text
    talk(result("B"), *moved("completed", "B"), IDLE, RUNNING, *moved("started", "s"), MESSAGE)
    assert talk.session.admits_text


def test_m6_what_was_added_to_a_turn_that_waits_for_its_files_may_run_with_cancelled_work() -> None:
    talk = Talk(e.PromptReceived("A", report="files"), prompt("B"), e.SteerReceived("s"), cancel("B"))
    talk(*begin("A"), result("A"), *moved("completed", "A"), *moved("started", "B", "s"))
    talk(e.Requesting(("B", "s")), MESSAGE)
    assert talk.session.admits_text


def test_m6_1_a_cancelled_prompt_that_starts_after_one_without_a_result_is_not_shown() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), cancel("B"), *moved("completed", "A"))
    outputs = talk(*moved("started", "B"), e.Requesting(("B",)))
    assert [answer.turn for answer in of(o.AnswerPrompt, outputs)] == ["A"]
    assert outputs[-1] == INTERRUPT_ONE
    talk(e.Echoed("B"), MESSAGE)
    assert not talk.session.admits_text


def test_m6_1_a_cancelled_prompt_that_starts_after_a_lost_result_is_not_shown_under_its_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), e.SteerReceived("s"), cancel("B"))
    talk(*moved("completed", "A"), IDLE, RUNNING, *moved("started", "B"), e.Requesting(("B",)), MESSAGE)
    assert not talk.session.admits_text
    assert of(o.ShowCall, talk(streamed("toolu_of_b"))) == []


def test_m4_5_a_message_that_runs_with_a_cancelled_prompt_is_answered_in_its_turn() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), e.SteerReceived("s"), cancel("B"), aborted("A"))
    talk(*moved("cancelled", "A"), e.Echoed("B"), e.Echoed("s"), *moved("started", "B", "s"))
    talk(e.Requesting(("B", "s")), MESSAGE)
    assert of(o.AnswerPrompt, talk(result("B", "s"))) == [answered("A")]


def test_m7_a_prompt_whose_shared_result_came_before_the_cancel_hides_nothing_that_follows() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("started", "B"), e.Requesting(("A", "B")))
    talk(e.SteerReceived("s"), *moved("cancelled", "B"), aborted("A", "B"), *moved("cancelled", "A"))
    talk(CANCEL, *moved("cancelled", "s"), IDLE, RUNNING, e.Requesting(()), MESSAGE)
    assert talk.session.admits_text


def test_m7_work_of_two_prompts_that_were_cancelled_one_by_one_is_hidden_after_the_force() -> None:
    talk = Talk(prompt("A"), begin("A"), prompt("B"), *moved("started", "B"), e.Requesting(("A", "B")))
    talk(cancel("A"), CANCEL, FORCE)
    talk(e.Requesting(("A", "B")), MESSAGE)
    assert not talk.session.admits_text


def test_m7_a_prompt_that_ended_without_a_result_hides_nothing_after_the_force() -> None:
    talk = Talk(prompt("A"), begin("A"), *moved("completed", "A"), CANCEL)
    assert of(o.AnswerPrompt, talk(FORCE)) == [answered("A", "cancelled")]
    talk(IDLE, RUNNING, e.Requesting(()), MESSAGE)
    assert talk.session.admits_text
