"""A session and its processes: opening, loss and revival, changes, and the close in every state (M2, M3)."""

from machines import events as e
from machines import outputs as o
from machines.process.session import CLOSED_EARLY
from tests.machines.talk import CLOSE, INITIALIZED, Talk

STOP_TEARDOWN = o.StopTimer(e.Timer.TEARDOWN)
CLOSED = o.Failure(o.FailureKind.TRANSPORT_LOST, "The session was closed.")


def change(name: str) -> e.ChangeRequested:
    return e.ChangeRequested(name)


def changed(name: str) -> e.ChangeFinished:
    return e.ChangeFinished(name)


def test_inv_s5_changes_are_applied_one_at_a_time_in_their_order() -> None:
    talk = Talk()

    assert talk(change("mode"), change("model"), change("effort")) == [o.ApplyChange("mode")]
    assert talk(changed("mode")) == [o.ApplyChange("model")]
    assert talk(changed("model")) == [o.ApplyChange("effort")]
    assert talk(changed("effort")) == []


def test_m2_2_a_close_answers_the_changes_that_wait() -> None:
    talk = Talk(change("mode"), change("model"))

    outputs = talk(CLOSE, e.QueryStopped())

    assert outputs.index(o.FailChange("model", CLOSED)) < outputs.index(o.AnswerClose())
    assert o.FailChange("mode", CLOSED) not in outputs, "it is being applied, and ends by itself"
    assert talk(changed("mode")) == []


def test_m2_2_a_closing_session_shows_nothing_that_its_process_still_says() -> None:
    talk = Talk()
    assert (talk.session.admits_text, talk.session.admits_new) == (True, True)

    talk(CLOSE)

    assert (talk.session.admits_text, talk.session.admits_new) == (False, False)


def test_m2_2_a_change_of_a_closing_session_is_answered() -> None:
    talk = Talk(CLOSE)

    assert o.FailChange("mode", CLOSED) in talk(change("mode"))


def test_m2_2_a_close_while_it_opens_fails_the_request_that_opens_it() -> None:
    talk = Talk(starts=False)

    outputs = talk(change("mode"), CLOSE)

    assert outputs[0] == o.RefuseOpen(e.StartFailure.WITHDRAWN, CLOSED_EARLY)
    assert o.FailChange("mode", CLOSED) in outputs


def test_m2_3_a_change_that_waited_behind_another_starts_a_lost_session_again() -> None:
    talk = Talk(change("mode"), change("model"), e.StreamClosed(e.StreamEnd.DIED))

    assert talk(changed("mode")) == [o.StartQuery(resume=True)]
    assert talk(INITIALIZED) == [o.TellRestarted(), o.ApplyChange("model")]


def test_a_change_that_ends_in_a_lost_session_starts_nothing_by_itself() -> None:
    talk = Talk(change("mode"), e.StreamClosed(e.StreamEnd.DIED))

    assert talk(changed("mode")) == []
    assert talk.session.phase == "lost"
