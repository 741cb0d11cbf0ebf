"""Messages of answered prompts that Claude Code may still have (M7)."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import CommandState
from machines.ledger import Entry, Ledger

ROWS = (
    ("started", "pending", "started"),
    ("queued", "pending", "pending"),
    ("cancelled", "pending", None),
    ("completed", "pending", None),
    ("discarded", "pending", None),
    ("refused", "pending", None),
    ("queued", "started", "started"),
    ("started", "started", "started"),
    ("cancelled", "started", "zombie"),
    ("completed", "started", None),
    ("discarded", "started", None),
    ("refused", "started", None),
    ("queued", "zombie", "zombie"),
    ("completed", "zombie", None),
)


@pytest.mark.parametrize(("state", "entry", "then"), ROWS, ids=lambda cell: str(cell))
def test_m7_a_lifecycle_frame_moves_an_entry(state: CommandState, entry: Entry, then: Entry | None) -> None:
    ledger = Ledger({"A": entry})

    ledger.move("A", state)

    assert ledger.entries.get("A") == then


def test_m7_frames_of_other_messages_change_nothing() -> None:
    ledger = Ledger({"A": "pending"})

    for state in get_args(CommandState):
        ledger.move("B", state)

    assert ledger.entries == {"A": "pending"}


def test_m7_seeded_by_how_far_it_was() -> None:
    ledger = Ledger()
    ledger.orphan("A", started=True, stopped=True)
    ledger.orphan("B", started=False, stopped=False)

    assert ledger.entries == {"A": "started", "B": "pending"}
    assert "A" in ledger
    assert not ledger.is_empty
    ledger.clear()
    assert ledger.is_empty


@pytest.mark.parametrize(
    ("uuids", "left"),
    [
        pytest.param(("A",), {"C": "pending"}, id="a result covers all started and zombie at once"),
        pytest.param(("C",), {}, id="also when it names a pending one"),
        pytest.param(("X",), {"A": "started", "B": "zombie", "C": "pending"}, id="a stranger covers nothing"),
    ],
)
def test_m7_a_stamped_result(uuids: tuple[str, ...], left: dict[str, Entry]) -> None:
    ledger = Ledger({"A": "started", "B": "zombie", "C": "pending"})

    ledger.consume(uuids)

    assert ledger.entries == left


@pytest.mark.parametrize(
    ("entries", "consumed", "left"),
    [
        pytest.param({}, False, {}, id="nothing is left"),
        pytest.param(
            {"A": "started", "B": "pending", "C": "zombie"}, True, {"B": "pending"}, id="all that ran"
        ),
        pytest.param({"A": "pending", "B": "pending"}, True, {"B": "pending"}, id="one that waited"),
    ],
)
def test_m4_2_4_a_result_without_stamps(
    entries: dict[str, Entry], consumed: bool, left: dict[str, Entry]
) -> None:
    ledger = Ledger(dict(entries))

    assert ledger.consume_unstamped() == consumed
    assert ledger.entries == left


def test_m6_1_a_message_without_an_interrupt_is_stopped_once() -> None:
    ledger = Ledger()
    ledger.orphan("A", started=False, stopped=True)
    ledger.orphan("B", started=False, stopped=False)
    ledger.orphan("C", started=False, stopped=False)
    ledger.move("C", "cancelled")

    assert [ledger.stop(uuids) for uuids in (["A"], ["C"], ["A", "B"], ["B"])] == [False, False, True, False]


MESSAGES = st.sampled_from("ABCD")


@given(
    st.dictionaries(MESSAGES, st.sampled_from(get_args(Entry))),
    st.lists(st.tuples(MESSAGES, st.sampled_from(get_args(CommandState)))),
)
def test_frames_never_bring_a_message_back(
    entries: dict[str, Entry], frames: list[tuple[str, CommandState]]
) -> None:
    ledger = Ledger(dict(entries))

    for uuid, state in frames:
        before = {*ledger.entries}
        ledger.move(uuid, state)
        assert {*ledger.entries} <= before


@given(st.dictionaries(MESSAGES, st.sampled_from(get_args(Entry))))
def test_enough_results_empty_it(entries: dict[str, Entry]) -> None:
    ledger = Ledger(dict(entries))

    results = 0
    while ledger.consume_unstamped():
        results += 1

    assert ledger.is_empty
    assert results == sum(entry == "pending" for entry in entries.values()) + any(
        entry != "pending" for entry in entries.values()
    )
