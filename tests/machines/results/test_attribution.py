"""Whose result it is (M4.2), and the unanswered prompts that it may belong to."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import Result
from machines.results.attribution import AUTONOMOUS_ORIGINS, Autonomous, Consumed, Own, attribute
from machines.stops.ledger import Entry, Ledger, Orphan
from machines.turns.turn import Turn
from machines.turns.turns import Turns


def turns_of(phases: Mapping[str, str]) -> Turns:
    """Prompts in the order given; the one that works, is steered or held is active."""
    turns = Turns()
    for uuid, phase in phases.items():
        turn = Turn(uuid, start=phase)
        turns.add(turn)
        if phase in {"working", "steered", "steer_pending", "held"}:
            turns.active = turn
    return turns


def owner(result: Result, phases: Mapping[str, str], entries: Mapping[str, Entry] | None = None) -> object:
    """The attribution, with the uuids of its turns; remembered messages came before them all."""
    orphans = {uuid: Orphan(place - 9, entry) for place, (uuid, entry) in enumerate((entries or {}).items())}
    decision = attribute(result, turns_of(phases), Ledger(orphans))
    return tuple(turn.uuid for turn in decision.turns) if isinstance(decision, Own) else type(decision)


TASK = "task-notification"

ROWS: tuple[tuple[str, Result, dict[str, str], dict[str, Entry], object], ...] = (
    ("1 a follow-up of a background task", Result(origin=TASK), {}, {}, Autonomous),
    ("1 a follow-up while a turn works", Result(origin=TASK), {"A": "working"}, {}, Autonomous),
    ("1 a prompt folded into a cycle", Result(("A",), TASK), {"A": "working"}, {}, ("A",)),
    ("1 a prompt folded, never seen to start", Result(("A",), TASK), {"A": "queued"}, {}, ("A",)),
    ("1 a follow-up that names a held turn", Result(("A",), TASK), {"A": "held"}, {}, Autonomous),
    ("1 a follow-up that names an answered one", Result(("Z",), TASK), {"A": "queued"}, {}, Autonomous),
    ("1 an unknown origin is the user's", Result(("A",), "unclassified"), {"A": "working"}, {}, ("A",)),
    ("1 an unknown origin without stamps", Result((), "new-kind"), {"A": "working"}, {}, ("A",)),
    ("2 its own", Result(("A",)), {"A": "working", "B": "queued"}, {}, ("A",)),
    ("2 a batch", Result(("B", "C")), {"B": "working", "C": "dispatched"}, {}, ("B", "C")),
    (
        "2 a batch, in the order received",
        Result(("C", "B")),
        {"B": "working", "C": "dispatched"},
        {},
        ("B", "C"),
    ),
    ("2 a batch with a cancelled member", Result(("B", "C")), {"C": "dispatched"}, {"B": "started"}, ("C",)),
    ("2 not the active one's", Result(("B",)), {"A": "working", "B": "queued"}, {}, ("B",)),
    ("3 of an orphan", Result(("A",)), {"B": "queued"}, {"A": "started"}, Consumed),
    ("3 of a held turn, once more", Result(("A",)), {"A": "held"}, {}, Consumed),
    ("3 of nobody", Result(("Z",)), {"B": "working"}, {}, Consumed),
    ("4 no stamps, a turn works", Result(), {"A": "working", "B": "queued"}, {"Z": "started"}, ("A",)),
    ("4 no stamps, an orphan ran", Result(), {"B": "queued"}, {"A": "started"}, Consumed),
    ("4 no stamps, an orphan waits", Result(), {"B": "queued"}, {"A": "pending"}, Consumed),
    ("4 no stamps, the head of the queue", Result(), {"A": "queued", "B": "queued"}, {}, ("A",)),
    ("4 no stamps, a held turn gives way", Result(), {"A": "held", "B": "dispatched"}, {}, ("B",)),
    ("4 no stamps, nobody waits", Result(), {}, {}, Consumed),
    ("4 no stamps, nothing was written yet", Result(), {"A": "received"}, {}, Consumed),
)


@pytest.mark.parametrize(
    ("result", "phases", "entries", "expected"),
    [pytest.param(*rest, id=f"M4.2.{rule}") for rule, *rest in ROWS],
)
def test_table(
    result: Result, phases: Mapping[str, str], entries: Mapping[str, Entry], expected: object
) -> None:
    assert owner(result, phases, entries) == expected


def test_m4_2_4_a_prompt_before_a_cancelled_one_gets_the_result() -> None:
    turns = turns_of({"A": "queued"})
    ledger = Ledger({"B": Orphan(place=2)})

    assert attribute(Result(), turns, ledger) == Own((*turns,))
    assert "B" in ledger


@pytest.mark.parametrize("origin", sorted(AUTONOMOUS_ORIGINS))
def test_m4_2_1_every_origin_of_its_own_work(origin: str) -> None:
    assert owner(Result(origin=origin), {"A": "working"}) is Autonomous


UUIDS = "ABCDEZ"
PHASES = st.sampled_from(["queued", "dispatched", "working", "held"])


@st.composite
def sessions(draw: st.DrawFn) -> dict[str, str]:
    """Prompts of which at most the first is active, as it is in a session."""
    phases = draw(st.dictionaries(st.sampled_from(UUIDS[:-1]), PHASES))
    return {
        uuid: phase if place == 0 or phase not in {"working", "held"} else "queued"
        for place, (uuid, phase) in enumerate(phases.items())
    }


RESULTS = st.builds(
    Result,
    uuids=st.lists(st.sampled_from(UUIDS), unique=True).map(tuple),
    origin=st.sampled_from([None, TASK, "peer", "unclassified"]),
)


@given(RESULTS, sessions())
def test_a_stamp_of_a_prompt_without_a_result_always_wins(result: Result, phases: dict[str, str]) -> None:
    named = tuple(uuid for uuid in phases if uuid in result.uuids and phases[uuid] != "held")

    decision = owner(result, phases)

    if named:
        assert decision == named
    elif result.origin in AUTONOMOUS_ORIGINS:
        assert decision is Autonomous
    elif result.uuids:
        assert decision is Consumed


@given(RESULTS, sessions())
def test_a_result_is_of_known_prompts_in_the_order_received(result: Result, phases: dict[str, str]) -> None:
    decision = owner(result, phases)

    if isinstance(decision, tuple):
        assert decision
        assert [uuid for uuid in phases if uuid in decision] == [*decision]
        assert len(decision) == 1 or set(decision) <= set(result.uuids)


def test_turns_keep_the_order_received_and_forget_answered_ones() -> None:
    turns = turns_of({"A": "queued", "B": "working", "C": "dispatched"})
    turns.started |= {"A", "B"}
    turns.finished["B"] = "completed"

    assert [turn.uuid for turn in turns] == ["A", "B", "C"]
    assert [turn.uuid for turn in turns.waiting()] == ["A", "C"]
    assert [turn.uuid for turn in turns.named(["C", "X", "A"])] == ["A", "C"]
    active = turns.get("B")
    assert active is turns.active
    assert active is not None
    turns.drop(active)
    assert (turns.active, turns.get("B"), len(turns)) == (None, None, 2)
    assert (turns.started, turns.finished) == ({"A"}, {})
    for turn in turns:
        turns.drop(turn)
    assert len(turns) == 0
