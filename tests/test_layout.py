"""Where things are: who may import whom, how long things may be, what must not load at the start."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STANDARD = sys.stdlib_module_names

MAY_IMPORT = {
    "wire": {"wire", "pydantic", "pydantic_core"},
    "machines": {"machines", "statemachine"},
    "bridge": {"bridge", "machines", "wire", "anyio"},
    "bridge/claude": {"bridge", "machines", "wire", "anyio", "claude_agent_sdk"},
    "bridge/sessions": {"bridge", "machines", "wire", "anyio", "pydantic_core"},
    "diagrams": {"diagrams", "machines", "statemachine"},
    "claude_acp.py": {"bridge"},
}
"""Besides the standard library; the longest matching path counts."""

NOT_IN_MACHINES = frozenset(
    {"asyncio", "threading", "subprocess", "socket", "time", "random", "logging", "os", "pathlib"}
)
"""A machine decides; clocks, chance and the world come in as events."""

LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40
FILES_OF_A_PACKAGE = 8
LARGER_PACKAGES = {
    "bridge/live": "one live session: its mailbox, and a file for each thing that it does",
    "bridge/tools/reporters": "one file a family of tools, found by their names",
    "wire/acp": "one file an area of the protocol's schema",
}
VAGUE = frozenset({"util", "utils", "helper", "helpers", "manager", "managers", "misc"})

NOT_AT_THE_START = (
    "claude_agent_sdk",
    "mcp",
    "jsonschema",
    "pydantic",
    "bridge.live",
    "bridge.v2",
    "machines.conversation",
)
"""Costs more than the answer to `initialize` may take; loaded while the client reads it."""


def sources() -> list[Path]:
    """Our code outside the tests."""
    folders = [ROOT / name for name in ("machines", "wire", "bridge", "diagrams")]
    return [ROOT / "claude_acp.py", *(path for folder in folders for path in sorted(folder.rglob("*.py")))]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


every_source = pytest.mark.parametrize("path", sources(), ids=name)


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of the modules that the code imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "a relative import" if node.level else (node.module or "").partition(".")[0]


def forbidden_imports(path: str, source: str) -> set[str]:
    """What the code at a path imports against the rules."""
    place = max((each for each in MAY_IMPORT if f"{path}/".startswith(f"{each}/")), key=len)
    names = set(imported(ast.parse(source)))
    allowed = MAY_IMPORT[place] | (STANDARD - NOT_IN_MACHINES if place == "machines" else STANDARD)
    return names - allowed


def long_functions(source: str) -> dict[str, int]:
    """Functions above the limit, with their lines."""
    lengths = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {function: lines for function, lines in lengths.items() if lines > LINES_OF_A_FUNCTION}


def vague_names(path: str, source: str) -> set[str]:
    """Parts of the path, and classes and functions, whose name says nothing."""
    defined = (
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    names = [*path.removesuffix(".py").split("/"), *defined]
    return {each for each in names if VAGUE & set(_words(each))}


def _words(identifier: str) -> list[str]:
    spaced = "".join(f" {letter}" if letter.isupper() else letter for letter in identifier)
    return spaced.replace("_", " ").lower().split()


@every_source
def test_a_module_imports_only_what_its_place_allows(path: Path) -> None:
    assert forbidden_imports(name(path), path.read_text(encoding="utf-8")) == set()


@every_source
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    assert len(source.splitlines()) <= LINES_OF_A_FILE
    assert long_functions(source) == {}


@every_source
def test_a_name_says_what_it_is(path: Path) -> None:
    assert vague_names(name(path), path.read_text(encoding="utf-8")) == set()


def test_a_package_holds_one_topic() -> None:
    files: dict[str, int] = {}
    for path in sources():
        if not path.stem.startswith("__") and path.parent != ROOT:
            files[name(path.parent)] = files.get(name(path.parent), 0) + 1
    too_large = {each: count for each, count in files.items() if count > FILES_OF_A_PACKAGE}

    assert too_large.keys() == LARGER_PACKAGES.keys(), "a reason for each, and none without need"


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("machines/turns/turn.py", "import asyncio", {"asyncio"}),
        ("machines/turns/turn.py", "def f():\n    from time import monotonic", {"time"}),
        ("machines/turns/turn.py", "from wire.rpc import Request", {"wire"}),
        ("wire/rpc.py", "from machines.turns.turn import Turn", {"machines"}),
        ("bridge/agent.py", "import claude_agent_sdk._internal", {"claude_agent_sdk"}),
        ("bridge/claude/tap.py", "import claude_agent_sdk._internal", set()),
        ("bridge/agent.py", "from .claude import tap", {"a relative import"}),
        ("diagrams/pages.py", "from bridge import agent", {"bridge"}),
    ],
)
def test_a_forbidden_import_is_found(path: str, line: str, found: set[str]) -> None:
    assert forbidden_imports(path, line) == found


def test_a_long_function_and_a_vague_name_are_found() -> None:
    source = "class TurnManager:\n    def run(self):\n" + "        self.step()\n" * LINES_OF_A_FUNCTION

    assert long_functions(source) == {"run": LINES_OF_A_FUNCTION + 1}
    assert vague_names("bridge/tool_utils.py", source) == {"tool_utils", "TurnManager"}


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "diagrams").glob("*.md")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_the_links_of_a_document_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))

    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


def test_nothing_slow_is_loaded_before_initialize_is_answered() -> None:
    script = "import sys, bridge.__main__, bridge.serve; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = done.stdout.split()

    assert "bridge.agent" in loaded
    assert [each for each in NOT_AT_THE_START if each in loaded] == []
