"""The file of a skill: where it is looked for, and which one is meant."""

from pathlib import Path

import pytest

from bridge.tools.reporters import reporter_of
from bridge.tools.reporters.reporter import UseView
from bridge.tools.reporters.skill import skill_path
from tests.bridge.tools.clients import AIR_BARE, PLAIN


def put(folder: Path, name: str | None = None, *, before: str = "") -> str:
    folder.mkdir(parents=True)
    named = f"name: {name}\n" if name else ""
    (folder / "SKILL.md").write_text(f"{before}---\n{named}description: d\n---\n", encoding="utf-8")
    return str(folder / "SKILL.md")


def find(skill: str, tmp_path: Path) -> str | None:
    return skill_path(skill, cwd=str(tmp_path / "w"), home=str(tmp_path / "h"))


@pytest.mark.contract("TC-052", "TC-141")
@pytest.mark.parametrize(
    "folder",
    ["w/.claude/skills/demo", "w/.agents/skills/demo", "h/.claude/skills/demo", "h/.agents/skills/demo"],
)
def test_a_skill_lies_in_the_project_or_at_home(folder: str, tmp_path: Path) -> None:
    assert find("demo", tmp_path) is None
    path = put(tmp_path / folder)

    assert find("demo", tmp_path) == path


def test_the_project_comes_before_home(tmp_path: Path) -> None:
    put(tmp_path / "h/.claude/skills/demo")
    near = put(tmp_path / "w/.agents/skills/demo")

    assert find("demo", tmp_path) == near


@pytest.mark.parametrize(
    "folder",
    [
        "w/team/.claude/skills/demo",
        "w/.claude/plugins/team/skills/demo",
        "h/.claude/plugins/marketplaces/shop/plugins/team/skills/demo",
        "w/.claude/skills/demo",
    ],
)
def test_a_scope_names_a_folder_or_a_plugin(folder: str, tmp_path: Path) -> None:
    path = put(tmp_path / folder)

    assert find("team:demo", tmp_path) == path


def test_a_skill_may_name_itself(tmp_path: Path) -> None:
    put(tmp_path / "w/.claude/skills/demo", "other")
    put(tmp_path / "w/.claude/skills/a", "unrelated")
    path = put(tmp_path / "w/.claude/skills/b", '"demo"')

    assert find("demo", tmp_path) == path
    assert find("other", tmp_path) == str(tmp_path / "w/.claude/skills/demo/SKILL.md")
    assert find("a", tmp_path) is None, "it has another name"


def test_a_command_of_the_name_is_no_skill_of_another_folder(tmp_path: Path) -> None:
    put(tmp_path / "w/.claude/skills/b", "demo")
    (tmp_path / "w/.claude/commands").mkdir()
    (tmp_path / "w/.claude/commands/demo.md").write_text("x", encoding="utf-8")

    assert find("demo", tmp_path) is None
    assert find("team:demo", tmp_path) is not None


def test_only_the_head_of_the_file_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "w/.claude/skills/demo"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nx: {'y' * 9000}\nname: other\n---\n", encoding="utf-8")

    assert find("demo", tmp_path) == str(folder / "SKILL.md")


@pytest.mark.parametrize(
    "skill", ["../demo", "a/demo", "a\\demo", "..", "", ":", "demo:", "a\0b:demo", "x" * 5000]
)
def test_a_name_that_is_a_path_is_refused(skill: str, tmp_path: Path) -> None:
    put(tmp_path / "w/.claude/skills/a/demo")
    put(tmp_path / "w/.claude/demo")

    assert find(skill, tmp_path) is None


@pytest.mark.contract("TC-010", "TC-052")
def test_air_alone_is_told(tmp_path: Path) -> None:
    path = put(tmp_path / "w/.claude/skills/demo")
    skill = {"skill": "demo"}
    roots = (str(tmp_path / "w"), str(tmp_path / "h"))
    reporter = reporter_of("Skill")

    assert reporter.use(UseView("Skill", skill, AIR_BARE, *roots)).air == {
        "skill": {"name": "demo", "path": path}
    }
    gone = {"skill": "gone"}
    assert reporter.use(UseView("Skill", gone, AIR_BARE, *roots)).air == {"skill": {"name": "gone"}}
    assert reporter.use(UseView("Skill", skill, PLAIN, *roots)).air == {}
