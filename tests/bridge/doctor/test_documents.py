"""The page about configuration names what there is, and its examples can be read."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bridge.__main__ import USAGE
from bridge.initialize import VERSION

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
MANIFEST = json.loads((ROOT / "docs" / "registry" / "agent.json").read_text(encoding="utf-8"))

_OURS = re.compile(r"(?:CLAUDE|ANTHROPIC|SSH|AWS)_[A-Z_]*[A-Z]|MAX_THINKING_TOKENS|IS_SANDBOX|NO_BROWSER")


def variables() -> Iterator[str]:
    """The environment variables that the agent's code names; what the demo sets for itself is its own."""
    for path in (ROOT / "bridge").rglob("*.py"):
        if not {"demo", "doctor"} & {*path.parts}:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and _OURS.fullmatch(node.value)
                ):
                    yield node.value


@pytest.mark.parametrize("name", sorted({*variables()}))
def test_each_variable_has_its_place(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("flag", sorted({*re.findall(r"--[a-z-]+", USAGE)}))
def test_each_flag_has_its_place(flag: str) -> None:
    assert re.search(rf"`[^`]*{flag}\b", PAGE)


def test_the_examples_are_json() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    assert len(examples) == 2
    for example in examples:
        (server,) = json.loads(example)["agent_servers"].values()
        assert server["command"] == "claude-acp"


def test_the_links_within_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}

    assert {*re.findall(r"\]\(#([^)]*)\)", PAGE)} <= anchors


def test_the_registry_manifest_is_of_this_version() -> None:
    """Required fields and shapes of the ACP registry's format."""
    assert {"id", "name", "version", "description", "distribution"} <= MANIFEST.keys()
    assert re.fullmatch(r"[a-z][a-z0-9-]*", MANIFEST["id"])
    assert MANIFEST["version"] == VERSION
    assert MANIFEST["distribution"] == {"uvx": {"package": f"claude-acp=={VERSION}"}}


def test_the_icon_is_small_and_takes_the_editor_s_colour() -> None:
    icon = ElementTree.parse(ROOT / "docs" / "registry" / "icon.svg").getroot()

    assert (icon.get("width"), icon.get("height")) == ("16", "16")
    assert {icon.get("stroke"), icon.get("fill")} == {"currentColor", "none"}
