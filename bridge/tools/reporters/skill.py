"""Skill: its name and, for AIR, the file that defines it (`tool-calls` §4)."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bridge.tools.facts import Json, ResultFacts, UseFacts
from bridge.tools.reading import first_text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView

_CONTAINERS = (".claude/skills", ".agents/skills")
_READ_LIMIT = 8192
_FRONTMATTER = re.compile(r"---\s*\n(.*?)\n---", re.DOTALL)
_NAME = re.compile(r"^name:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class Skill(Reporter):
    """The text of a skill is for the model alone, so its result shows nothing."""

    tools = ("Skill",)

    def use(self, use: UseView) -> UseFacts:
        skill = first_text(use.input, "skill")
        return UseFacts(
            title=f"Load skill: {skill}" if skill else "Load skill",
            air=_named(skill, use) if skill and use.client.air else {},
        )

    def result(self, result: ResultView) -> ResultFacts:
        return ResultFacts()


def _named(skill: str, use: UseView) -> Json:
    path = skill_path(skill, cwd=use.cwd, home=use.home)
    return {"skill": {"name": skill, **({"path": path} if path else {})}}


def skill_path(skill: str, *, cwd: str, home: str) -> str | None:
    """The SKILL.md of a skill, by its folder or by the name it gives itself; None when not found."""
    scope, _, name = skill.rpartition(":")
    if not name or any(part in skill for part in ("/", "\\", "..")):
        return None
    bases = [Path(base) for base in (cwd, home) if base]
    containers = [*_scoped(scope, bases), *(base / container for base in bases for container in _CONTAINERS)]
    for container in containers:
        file = container / name / "SKILL.md"
        if os.path.isfile(file) and _own_name(file) in (None, name):
            return str(file)
    if not scope and any(os.path.isfile(base / ".claude/commands" / f"{name}.md") for base in bases):
        return None
    return next((str(file) for file in _skills(containers) if _own_name(file) == name), None)


def skill_files(names: Iterable[str], *, cwd: str, home: str) -> dict[str, str]:
    """The SKILL.md of each of these skills that has one; the files are read once, the project's first."""
    wanted = set(names)
    containers = [Path(base) / container for base in (cwd, home) if base for container in _CONTAINERS]
    found: dict[str, str] = {}
    for file in _skills(containers):
        name = _own_name(file) or file.parent.name
        if name in wanted:
            found.setdefault(name, str(file))
    for name in (name for name in wanted if ":" in name):
        if path := skill_path(name, cwd=cwd, home=home):
            found[name] = path
    return found


def _scoped(scope: str, bases: list[Path]) -> Iterator[Path]:
    if not scope:
        return
    for base in bases:
        yield from (base / scope / container for container in _CONTAINERS)
        plugins = base / ".claude/plugins"
        yield plugins / scope / "skills"
        yield from (
            plugins / "marketplaces" / market / "plugins" / scope / "skills"
            for market in _names(plugins / "marketplaces")
        )


def _skills(containers: list[Path]) -> Iterator[Path]:
    for container in containers:
        for name in _names(container):
            file = container / name / "SKILL.md"
            if os.path.isfile(file):
                yield file


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):  # a name that no file system takes
        return []


def _own_name(file: Path) -> str | None:
    """The name in the frontmatter; None when it gives none or cannot be read."""
    try:
        with file.open("rb") as opened:
            head = opened.read(_READ_LIMIT).decode(errors="replace")
    except OSError:
        return None
    frontmatter = _FRONTMATTER.match(head.lstrip("\ufeff"))
    name = _NAME.search(frontmatter[1]) if frontmatter else None
    return name[1].strip("\"'") or None if name else None
