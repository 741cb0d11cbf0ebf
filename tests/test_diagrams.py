"""The pages in `diagrams/` say what the machines declare, and are current."""

from pathlib import Path

import pytest
from statemachine import HistoryState, State

from diagrams.__main__ import main
from diagrams.mermaid import chart
from diagrams.pages import discover, page, pages, stale, write
from machines._core import Lifecycle


class Door(Lifecycle[object, object]):
    """One door, which a key opens.

    Only the first line goes into the index.
    """

    state = State(initial=True)
    ajar = State(enter="ring", exit="hush")
    gone = State(final=True)

    push = state.to(ajar, cond="unlocked or forced", unless="barred", on=["creak", "swing"])
    knock = state.to(None, on="creak")
    push |= ajar.to(ajar, internal=True, cond="forced", before="creak", after="swing")
    close = ajar.to(state)
    ajar.to(gone, unless="hinges or frame")
    demolish = gone.from_(state, ajar)

    unlocked = forced = barred = hinges = frame = False

    def ring(self) -> None: ...
    def hush(self) -> None: ...
    def creak(self) -> None: ...
    def swing(self) -> None: ...


class House(Lifecycle[object, object]):
    """Nested and parallel states, a history and a generated event."""

    class rooms(State.Compound):  # noqa: N801 - a state's id
        kitchen = State(initial=True)
        garden = State()
        last = HistoryState(type="deep")
        walk = kitchen.to(garden)

    class systems(State.Parallel):  # noqa: N801 - a state's id
        class heat(State.Compound):  # noqa: N801 - a state's id
            cold = State(initial=True)
            warm = State(final=True)
            burn = cold.to(warm)

        class light(State.Compound):  # noqa: N801 - a state's id
            dark = State(initial=True)
            lit = State(final=True)
            shine = dark.to(lit)

    leave = rooms.to(systems)
    enter = systems.to(rooms.last)
    done_state_systems = systems.to(rooms)


def test_the_chart_shows_ids_events_guards_and_actions_in_the_declared_order() -> None:
    assert chart(Door).splitlines() == [
        "stateDiagram-v2",
        "    state_",
        "    ajar : ajar",
        "    ajar : on entry → ring",
        "    ajar : on exit → hush",
        "    gone",
        "    [*] --> state_",
        "    gone --> [*]",
        "    state_ --> ajar : push [(unlocked or forced) and not barred] → creak, swing",
        "    state_ --> state_ : knock → creak",
        "    state_ --> gone : demolish",
        "    ajar --> ajar : push [forced] → creak, swing",
        "    ajar --> state_ : close",
        "    ajar --> gone : [not (hinges or frame)]",
        "    ajar --> gone : demolish",
    ]


def test_nested_states_regions_history_and_generated_events() -> None:
    assert chart(House).splitlines() == [
        "stateDiagram-v2",
        "    state rooms {",
        '        state "H*" as last',
        "        kitchen",
        "        garden",
        "        [*] --> kitchen",
        "        kitchen --> garden : walk",
        "    }",
        "    state systems {",
        "        state heat {",
        "            cold",
        "            warm",
        "            [*] --> cold",
        "            warm --> [*]",
        "            cold --> warm : burn",
        "        }",
        "        [*] --> heat",
        "        --",
        "        state light {",
        "            dark",
        "            lit",
        "            [*] --> dark",
        "            lit --> [*]",
        "            dark --> lit : shine",
        "        }",
        "        [*] --> light",
        "    }",
        "    [*] --> rooms",
        "    rooms --> systems : leave",
        "    systems --> last : enter",
        "    systems --> rooms : done_state_systems",
    ]


def test_a_page_holds_the_rules_of_the_module_and_a_row_for_every_transition() -> None:
    text = page(Door)

    assert text.startswith("# Door\n")
    assert "The pages in `diagrams/` say what the machines declare, and are current." in text
    assert [line for line in text.splitlines() if line.startswith("| ")] == [
        "| from | event | guard | does | to |",
        "| state | push | (unlocked or forced) and not barred | creak, swing | ajar |",
        "| state | knock |  | creak | state |",
        "| state | demolish |  |  | gone |",
        "| ajar | (on entry) |  | ring |  |",
        "| ajar | push | forced | creak, swing | ajar |",
        "| ajar | close |  |  | state |",
        "| ajar |  | not (hinges or frame) |  | gone |",
        "| ajar | demolish |  |  | gone |",
        "| ajar | (on exit) |  | hush |  |",
    ]


def test_the_index_names_each_lifecycle_once() -> None:
    index = pages([Door, House])["README.md"]

    assert "| [Door](door.md) | One door, which a key opens. | 3 | 7 |" in index
    assert (
        "| [House](house.md) | Nested and parallel states, a history and a generated event. | 10 | 6 |"
        in index
    )


def test_missing_changed_and_orphaned_pages_are_stale_until_they_are_written(tmp_path: Path) -> None:
    wanted = pages([Door, House])
    (tmp_path / "door.md").write_text("an older door", encoding="utf-8")
    (tmp_path / "stable.md").write_text("a lifecycle that is no more", encoding="utf-8")

    assert stale(wanted, tmp_path) == ["README.md", "door.md", "house.md", "stable.md"]
    assert write(wanted, tmp_path) == ["README.md", "door.md", "house.md", "stable.md"]
    assert stale(wanted, tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "door.md", "house.md"]


def test_the_pages_of_the_tree_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--check"])

    assert capsys.readouterr().out == ""
    assert status == 0


def test_the_lifecycles_are_found_by_themselves() -> None:
    root = Path(__file__).parents[1]
    assert {each.__module__ for each in discover()} == {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in root.joinpath("machines").rglob("*.py")
        if "(Lifecycle[" in path.read_text(encoding="utf-8")
    }
