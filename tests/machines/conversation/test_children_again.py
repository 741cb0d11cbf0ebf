"""Subagents that are asked again, and those that ask the user (M20, M21)."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import (
    Place,
    SpawnChild,
)
from machines.children.forms.child_forms import FormName
from tests.machines.conversation.family import (
    asks,
    child_call,
    ended,
    launch,
    message,
    news,
    resumed,
    said,
    started,
    talk,
    working,
)
from tests.machines.talk import (
    CANCEL,
    DEAD,
    Talk,
    answer,
    begin,
    end,
    prompt,
    returned,
)

# ── asked again ───────────────────────────────────────────────────────────────


def asked_twice(form: FormName, *more: Any) -> Talk:
    """A subagent that was done and runs again."""
    return working(
        form, ended("a", run="1"), returned("c1"), message("c2", "a"), started("a", "c2", run="2"), *more
    )


@pytest.mark.contract("SA-064", "SA-066", "SA-067", "SA-069", "SA-070")
def test_m21_it_runs_again_in_its_session() -> None:
    it = working("rfd", ended("a", run="1"), returned("c1"))
    told = said(
        it(message("c2", "a"), started("a", "c2", run="2"), resumed("c2", "a"), started("a", "c2", run="2"))
    )
    assert told == ["ShowCall c2", "root a running", "a c2 from root", "c1,c2 to a", "completed c2"]
    assert said(it(ended("a", run="2", call="c2"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-021", "SA-018")
def test_m20_it_runs_again_in_another_session() -> None:
    it = working("air", ended("a", run="1"), returned("c1"))
    outputs = it(message("c2", "a"), started("a", "c2", run="2"), resumed("c2", "a"))
    assert said(outputs) == [
        "ShowCall c2",
        "root spawned a:generation:2",
        "c1,c2 to a:generation:2",
        "completed c2",
    ]
    (spawn,) = [each for each in outputs if isinstance(each, SpawnChild)]
    assert (spawn.name, spawn.prompt) == ("scout", "More by c2.")
    assert said(it(child_call("b1", "c1"), ended("a", run="2"))) == [
        *("ShowCall b1", "close b1", "root completed a:generation:2")
    ]


@pytest.mark.contract("SA-068")
def test_m21_who_asks_may_be_unknown() -> None:
    it = working("rfd", ended("a"))
    told = said(it(started("a", "c9", run="2", prompt="More.")))
    assert told == ["root a running", "a c9 from nobody", "c1,c9 to a"]


@pytest.mark.contract("SA-067")
def test_m21_one_subagent_asks_another() -> None:
    it = working("rfd", ended("a"), launch("c2"), started("b", "c2"))
    told = said(it(message("c3", "a", "c2"), started("a", "c3")))
    assert told[1:] == ["root a running", "a c3 from b", "c1,c3 to a"]


@pytest.mark.contract("SA-071", "SA-072")
def test_inv_h7_the_end_of_an_earlier_run_ends_nothing() -> None:
    it = asked_twice("rfd")
    late = it(ended("a", run="1"), ended("a", run="2", call="c1"))
    assert said(late) == []
    assert it.session._work.tasks.holds({"a"}), "nor does it settle the task"
    assert said(it(ended("a", run="2", call="c2"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-073")
def test_m21_the_result_of_a_message_whose_run_is_over_starts_nothing() -> None:
    it = asked_twice("rfd", ended("a", run="2", call="c2"))
    assert said(it(resumed("c2", "a"))) == ["completed c2"]
    assert not it.session._work.tasks.holds({"a"})


@pytest.mark.parametrize("form", ["rfd", "air"])
def test_m21_the_result_may_be_the_first_signal(form: FormName) -> None:
    it = working(form, ended("a"), returned("c1"), message("c2", "a"))
    told = said(it(resumed("c2", "a")))
    if form == "rfd":
        assert told == ["completed c2", "root a running", "a c2 from root", "c1,c2 to a"]
    else:
        assert told == ["completed c2", "root spawned a:generation:2", "c1,c2 to a:generation:2"]
    assert it.session._work.tasks.holds({"a"})
    again = [each for each in said(it(started("a", "c2", run="2"))) if " to a" not in each]
    assert again == []


def test_the_result_may_be_text() -> None:
    it = working("rfd", ended("a"), returned("c1"), message("c2", "a"))
    text = [{"type": "text", "text": '{"success": true, "resumedAgentId": "a"}'}]
    assert "root a running" in said(it(e.ToolReturned("c2", text)))
    assert "root b running" not in said(
        it(e.ToolReturned("c3", [{"type": "text", "text": '"resumedAgentId"'}]))
    )


@pytest.mark.contract("SA-075")
def test_m21_a_run_under_an_id_it_had_before_is_ended_by_that_run() -> None:
    it = asked_twice("rfd", ended("a", run="2"))
    assert said(it(started("a", "c1", run="3"))) == ["root a running", "c1,c2 to a"]
    assert said(it(ended("a", run="3", call="c2"))) == []
    assert said(it(ended("a", run="3", call="c1"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-076")
def test_m21_a_running_patch_tells_that_alone() -> None:
    it = working("rfd", ended("a", run="1"))
    assert said(it(e.TaskMoved("a", "running", "2"))) == ["root a running"]
    assert said(it(started("a", "c2", run="2", prompt="More."))) == ["a c2 from nobody", "c1,c2 to a"]


def test_m20_a_running_patch_is_the_first_sign_of_a_generation() -> None:
    it = working("air", ended("a", run="1"), message("c2", "scout"))
    outputs = it(e.TaskMoved("a", "running", "2"))
    assert said(outputs) == ["root spawned a:generation:2", "c1 to a:generation:2"]
    assert news(outputs)[0].prompt == "More by c2."
    assert said(it(e.TaskMoved("a", "running", "2"))) == []
    assert said(it(started("a", "c2", run="2"))) == ["c1,c2 to a:generation:2"]


def test_b1_a_patch_of_a_run_that_is_over_wakes_nobody() -> None:
    it = working("rfd", ended("a", run="1"))
    assert said(it(e.TaskMoved("a", "running", "1"))) == []


def test_an_agent_from_before_this_connection_stays_unexposed() -> None:
    """A replay will know whose it was."""
    it = talk("rfd")
    assert said(it(message("c2", "z"), started("z", "c2"), ended("z"))) == ["ShowCall c2", "forget c2"]


# ── requests ──────────────────────────────────────────────────────────────────


@pytest.mark.contract("SA-078", "SA-080", "SA-081", "PM-115")
def test_m21_it_waits_for_the_user_until_the_last_answer() -> None:
    it = working("rfd", child_call("b1", "c1"), child_call("b2", "c1"))
    assert said(it(*asks("1", "b1", "a"))) == ["root a requires_action", "ask 1 on a"]
    assert said(it(*asks("2", "b2", "a"))) == ["ask 2 on a"]
    assert said(it(answer("1", "allow-once"))) == []
    assert said(it(answer("2", "reject"))) == ["root a running"]


@pytest.mark.contract("SA-079")
def test_m21_a_question_is_a_request_too() -> None:
    it = working("rfd")
    outputs = it(e.FormReceived("f", agent="a"))
    assert said(outputs) == ["root a requires_action"]
    assert [each.place for each in outputs if isinstance(each, o.AskForm)] == [Place("a")]
    assert said(it(e.FormAnswered("f", "decline"))) == ["root a running"]


@pytest.mark.contract("SA-082", "PM-115")
def test_m21_one_that_ended_while_it_waited_does_not_run() -> None:
    it = working("rfd", *asks("1", "b1", "a"))
    assert said(it(ended("a"), answer("1", "allow-once"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-083", "PM-116")
def test_m21_one_that_is_asked_again_while_it_waits_says_so() -> None:
    it = working(
        "rfd", child_call("b1", "c1"), *asks("1", "b1", "a"), ended("a", run="1"), message("c2", "a")
    )
    assert said(it(started("a", "c2", run="2")))[0] == "root a requires_action"
    assert said(it(answer("1", "allow-once"))) == ["root a running"]


@pytest.mark.contract("SA-084", "SA-085", "PM-118")
def test_m21_a_cancel_withdraws_and_nothing_is_told_before_the_end() -> None:
    """The client never answers; the request counts no more all the same."""
    it = working("rfd", child_call("b1", "c1"), *asks("1", "b1", "a"))
    assert said(it(CANCEL, e.AskWithdrawn("1"))) == []
    assert said(it(ended("a", "killed", run="1")))[0] == "root a idle cancelled"
    it(end("A"), prompt("B"), begin("B"), message("c2", "a"))
    assert said(it(started("a", "c2", run="2")))[0] == "root a running"


def test_m21_so_does_the_loss_of_the_process() -> None:
    it = working("rfd", child_call("b1", "c1"), *asks("1", "b1", "a"))
    told = [each for each in said(it(DEAD)) if each.startswith("root a")]
    assert told == ["root a idle"]


def test_m21_one_that_goes_on_after_a_cancel_says_so() -> None:
    it = working("rfd", *asks("1", "b1", "a"), CANCEL)
    assert said(it(e.MessageStarted("c1"))) == ["root a running"]


def test_m21_claude_code_itself_may_withdraw() -> None:
    it = working("rfd", *asks("1", "b1", "a"))
    assert said(it(e.AskWithdrawn("1"))) == ["root a running"]


@pytest.mark.contract("PM-113", "SA-060")
def test_a_request_of_one_that_is_not_announced_is_on_the_root() -> None:
    it = talk("rfd", started("a", "c1"))
    assert said(it(*asks("1", "b1", "a"))) == ["ShowCall b1", "ask 1 on root"]
    assert said(it(launch("c1")))[-1] == "root a requires_action"


def test_a_call_that_only_its_request_tells_of_is_its_subagent_s() -> None:
    it = working("rfd")
    (shown,) = [each for each in it(*asks("1", "b1", "a")) if isinstance(each, o.ShowCall)]
    assert shown.use.parent == "c1"


def test_m20_a_subagent_that_a_cancel_ended_asks_nobody() -> None:
    it = talk("air", launch("c1"), started("a", "c1", background=True), CANCEL)
    outputs = it(*asks("1", "b1", "a"))
    assert [type(each) for each in outputs if isinstance(each, o.DenyAsk | o.AskClient)] == [o.DenyAsk]
