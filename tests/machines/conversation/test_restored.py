"""Subagents of a stored conversation: they run again in their sessions of before (R.4, R.5)."""

import pytest

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import ROOT, MessageChild, Place, RouteChild, SpawnChild, UpdateChild
from machines.children.delegations import Delegation, StoredAgent
from machines.children.forms.child_forms import FormName
from tests.machines.conversation.family import CHILD, asks, ended, launch, message, started
from tests.machines.talk import Talk, begin, prompt

SCOUT = StoredAgent("a", Delegation("c1", None, "Go.", "scout", "Help"), "explorer", None, "end_turn")
INNER = StoredAgent("b", Delegation("c2", "c1", "Look.", "inner", "Look"), "explorer", "a")


def of_before(form: FormName, *, shown: bool) -> Talk:
    return Talk(e.AgentsRestored((SCOUT, INNER), shown, 1000), prompt("A"), begin("A"), form=form)


@pytest.mark.contract("SA-096", "SA-097", "SA-098")
@pytest.mark.parametrize("shown", [True, False])
def test_one_of_before_goes_on_in_its_session(shown: bool) -> None:
    talk = of_before("rfd", shown=shown)
    told = [each for each in talk(message("m1", "b"), started("b", "m1")) if isinstance(each, CHILD)]
    outer = [UpdateChild(ROOT, "a", "scout (explorer)", "Help"), RouteChild("a", ("c1",))]
    labels = (None, None) if shown else ("inner (explorer)", "Look")
    assert told == [
        *([] if shown else outer),
        UpdateChild(Place("a"), "b", labels[0], labels[1], "running"),
        MessageChild("b", "m1", ROOT, "More by m1."),
        RouteChild("b", ("c2", "m1")),
    ]


def test_one_that_runs_unannounced_is_not_of_before() -> None:
    """A history that is told again names it, too."""
    talk = Talk(prompt("A"), begin("A"), started("a", "c1"), form="rfd")
    assert talk(e.AgentsRestored((SCOUT,), True), e.HistoryAnswered()) == []
    assert UpdateChild(ROOT, "a", "scout (explorer)", "Help", "running") in talk(launch("c1", name="scout"))


def test_a_request_of_one_that_nobody_was_told_of_is_on_the_root() -> None:
    talk = of_before("rfd", shown=False)
    (request,) = (each for each in talk(*asks("ask", "toolu", "a")) if isinstance(each, o.AskClient))
    assert request.place == ROOT


def test_air_numbers_generations_behind_those_of_before() -> None:
    talk = of_before("air", shown=True)
    spawned = [each for each in talk(message("m1", "a"), started("a", "m1")) if isinstance(each, SpawnChild)]
    assert [(each.session, each.name, each.prompt) for each in spawned] == [
        ("a:generation:1000", "scout", "More by m1.")
    ]
    talk(ended("a", call="m1"))
    again = [each for each in talk(message("m2", "a"), started("a", "m2")) if isinstance(each, SpawnChild)]
    assert [each.session for each in again] == ["a:generation:1001"]


@pytest.mark.parametrize("form", ["air", "rfd", "none"])
def test_what_is_true_now_is_told_once_more_in_the_public_draft_alone(form: FormName) -> None:
    talk = of_before(form, shown=True)
    told = talk(e.HistoryAnswered())
    assert told == (
        []
        if form != "rfd"
        else [
            UpdateChild(ROOT, "a", None, None, "idle", "end_turn"),
            UpdateChild(Place("a"), "b", None, None, "idle"),
        ]
    )
