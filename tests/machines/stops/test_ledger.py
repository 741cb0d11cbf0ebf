"""Messages of answered prompts that Claude Code may still have (M7)."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.events import CommandState
from machines.stops.ledger import Entry, Ledger, Orphan

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


def ledger_of(**entries: Entry) -> Ledger:
    """A ledger of messages in the order received."""
    return Ledger({uuid: Orphan(place, entry) for place, (uuid, entry) in enumerate(entries.items(), 1)})


def entries_of(ledger: Ledger) -> dict[str, Entry]:
    return {uuid: orphan.entry for uuid, orphan in ledger.orphans.items()}


@pytest.mark.parametrize(("state", "entry", "then"), ROWS, ids=lambda cell: str(cell))
def test_m7_a_lifecycle_frame_moves_an_entry(state: CommandState, entry: Entry, then: Entry | None) -> None:
    ledger = ledger_of(A=entry)

    ledger.move("A", state)

    assert entries_of(ledger).get("A") == then


def test_m7_frames_of_other_messages_change_nothing() -> None:
    ledger = ledger_of(A="pending")

    for state in get_args(CommandState):
        ledger.move("B", state)

    assert entries_of(ledger) == {"A": "pending"}


def test_m7_an_activation_ends_what_came_before_it() -> None:
    ledger = ledger_of(A="started", B="pending", C="pending")

    ledger.clear(before=2)
    assert entries_of(ledger) == {"C": "pending"}
    assert "C" in ledger
    assert ledger.orphans
    ledger.clear()
    assert not ledger.orphans


@pytest.mark.parametrize(
    ("uuids", "left"),
    [
        pytest.param(("A",), {"C": "pending"}, id="a result covers all started and zombie at once"),
        pytest.param(("C",), {}, id="also when it names a pending one"),
        pytest.param(("X",), {"A": "started", "B": "zombie", "C": "pending"}, id="a stranger covers nothing"),
    ],
)
def test_m7_a_stamped_result(uuids: tuple[str, ...], left: dict[str, Entry]) -> None:
    ledger = ledger_of(A="started", B="zombie", C="pending")

    ledger.consume(uuids)

    assert entries_of(ledger) == left


@pytest.mark.parametrize(
    ("entries", "head", "consumed", "left"),
    [
        pytest.param({}, None, False, {}, id="nothing is left"),
        pytest.param(
            {"A": "started", "B": "pending", "C": "zombie"}, 0, True, {"B": "pending"}, id="all that ran"
        ),
        pytest.param({"A": "pending", "B": "pending"}, None, True, {"B": "pending"}, id="one that waited"),
        pytest.param({"A": "pending"}, 2, True, {}, id="one that waited before a prompt"),
        pytest.param({"A": "pending"}, 0, False, {"A": "pending"}, id="the prompt before it is first"),
    ],
)
def test_m4_2_4_a_result_without_stamps(
    entries: dict[str, Entry], head: int | None, consumed: bool, left: dict[str, Entry]
) -> None:
    ledger = ledger_of(**entries)

    assert ledger.consume_unstamped(head) == consumed
    assert entries_of(ledger) == left


@pytest.mark.parametrize(
    ("named", "due"),
    [
        pytest.param(["B"], [True, False], id="cancelled alone, once"),
        pytest.param(["A"], [False, False], id="the cancel of all stopped it"),
        pytest.param(["A", "B"], [False, False], id="the interrupt of one meets both"),
        pytest.param(["C"], [False, False], id="it was dropped"),
        pytest.param(["B", "D"], [True, False], id="both cancelled alone"),
        pytest.param(["X"], [False, False], id="nobody's"),
    ],
)
def test_m6_1_an_interrupt_is_due_once_for_what_runs_together(named: list[str], due: list[bool]) -> None:
    ledger = ledger_of(A="started")
    for place, uuid in enumerate("BCD", 2):
        ledger.add(uuid, Orphan(place, stopped=False))
    ledger.move("C", "cancelled")

    assert [ledger.stop(named), ledger.stop(named)] == due


def test_m6_9_an_interrupt_of_all_leaves_none_due() -> None:
    ledger = ledger_of(A="started")
    ledger.add("B", Orphan(2, stopped=False))

    ledger.stop()

    assert not ledger.stop(["B"])


MESSAGES = st.sampled_from("ABCD")
ENTRIES = st.dictionaries(MESSAGES, st.sampled_from(get_args(Entry)))


@given(ENTRIES, st.lists(st.tuples(MESSAGES, st.sampled_from(get_args(CommandState)))))
def test_frames_never_bring_a_message_back(
    entries: dict[str, Entry], frames: list[tuple[str, CommandState]]
) -> None:
    ledger = ledger_of(**entries)

    for uuid, state in frames:
        before = {*ledger.orphans}
        ledger.move(uuid, state)
        assert {*ledger.orphans} <= before


@given(ENTRIES)
def test_enough_results_empty_it(entries: dict[str, Entry]) -> None:
    ledger = ledger_of(**entries)

    results = 0
    while ledger.consume_unstamped(None):
        results += 1

    assert not ledger.orphans
    assert results == sum(entry == "pending" for entry in entries.values()) + any(
        entry != "pending" for entry in entries.values()
    )
