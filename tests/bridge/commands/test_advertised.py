"""The commands that a client may offer."""

from pathlib import Path
from typing import Any

import pytest

from bridge.commands.advertised import MCP_COMMAND, commands_update
from bridge.messages import items as f
from bridge.tools.reporters.skill import skill_files
from tests.bridge.view.screens import AIR, PLAIN, screen

Rows = dict[str, Any]


def listed(*commands: object, **more: Any) -> Rows:
    update = commands_update([*commands], more.pop("hidden", ()), **more)
    rows = update["availableCommands"]
    assert isinstance(rows, list)
    return {row["name"]: row for row in rows}


def row(name: str, **more: object) -> Rows:
    return {"name": name, "description": "d", "argumentHint": "", **more}


@pytest.mark.contract("SE-114")
def test_mcp_is_always_offered_in_its_own_form_and_once() -> None:
    assert commands_update(None, ()) == {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [MCP_COMMAND],
    }
    assert listed(row("mcp", argumentHint="other"))["mcp"] == MCP_COMMAND


def test_commands_for_a_terminal_are_left_out() -> None:
    names = ("clear", "cost", "login", "logout", "todos", "color", "two words", "", "compact")
    assert [*listed(*map(row, names), hidden=["color"])] == ["compact", "mcp"]


@pytest.mark.parametrize(
    ("hint", "shown"),
    [("[x]", {"hint": "[x]"}), (["a", "b"], {"hint": "a b"}), ("", None), (None, None), ([], None)],
)
def test_a_hint_is_told_if_there_is_one(hint: object, shown: object) -> None:
    assert listed(row("do", argumentHint=hint))["do"] == {"name": "do", "description": "d", "input": shown}


def test_prompts_of_mcp_servers_have_a_name_that_can_be_typed_and_the_first_of_two_wins() -> None:
    rows = listed(row("demo:hello (MCP)"), row("do"), row("do", description="other"), {"name": "bare"}, 5)
    assert [*rows] == ["mcp:demo:hello", "do", "bare", "mcp"]
    assert rows["do"]["description"] == "d"
    assert rows["bare"] == {"name": "bare", "description": "", "input": None}


@pytest.mark.contract("SE-118")
def test_skills_are_named_as_such_with_their_file() -> None:
    rows = listed(row("a"), row("b"), row("c"), skills={"a": "/p/SKILL.md", "b": None, "gone": None})
    assert rows["a"]["_meta"] == {
        "jetbrains": {"air": {"version": 1, "kind": "skill", "skillPath": "/p/SKILL.md"}}
    }
    assert rows["b"]["_meta"] == {"jetbrains": {"air": {"version": 1, "kind": "skill"}}}
    assert "_meta" not in rows["c"]
    assert "gone" not in rows


def skill(folder: Path, name: str = "") -> str:
    folder.mkdir(parents=True)
    file = folder / "SKILL.md"
    file.write_text(f"---\nname: {name}\n---\nDo it." if name else "Do it.")
    return str(file)


@pytest.mark.contract("SE-118")
def test_files_of_skills_are_found_by_the_name_they_give_themselves(tmp_path: Path) -> None:
    cwd, home = tmp_path / "p", tmp_path / "h"
    mine = skill(cwd / ".claude/skills/one")
    other = skill(cwd / ".agents/skills/folder", "two")
    skill(home / ".claude/skills/one")
    users = skill(home / ".claude/skills/three", "three")
    skill(home / ".claude/skills/unlisted")
    found = skill_files(["one", "two", "three", "four", "folder"], cwd=str(cwd), home=str(home))
    assert found == {"one": mine, "two": other, "three": users}


@pytest.mark.contract("SE-118")
@pytest.mark.parametrize(("client", "updates"), [(AIR, 2), (PLAIN, 1)])
def test_the_list_goes_out_again_to_air_once_the_skills_are_known(client: Any, updates: int) -> None:
    on, shown, _ = screen(client)
    on.list_commands([row("verify")])
    for _ in range(2):
        on.note_init(f.Initialized({"skills": ["verify"]}))
    sent = shown.take()
    assert len(sent) == updates
    assert ("_meta" in sent[-1]["availableCommands"][0]) is (client is AIR)
