"""Commands: with a terminal in either form, without one, denied, failed, in the background."""

from typing import Any

import pytest

from tests.e2e.tools.story import AIR_KINDS, DENIED, DESCRIPTION, OTHER_KINDS, Story
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

terminals = pytest.mark.parametrize("story", ["zed", "air"], indirect=True)
air_clients = pytest.mark.parametrize("story", AIR_KINDS, indirect=True)
others = pytest.mark.parametrize("story", OTHER_KINDS, indirect=True)

COMMANDS = {"bash": "out", "fails": "Exit code 3\nbad", "child": "child"}
"""Calls that ran a command, and its output."""


def channel(story: Story, call: str) -> list[tuple[str, Any]]:
    """What went through the terminal channel of a call, in order."""
    metas = [report.get("_meta", {}) for report in story.reports(call)]
    return [(key, value) for meta in metas for key, value in meta.items() if key.startswith("terminal_")]


def shown(story: Story, call: str) -> list[list[Json]]:
    """Every `content` that the call had."""
    return [report["content"] for report in story.reports(call) if "content" in report]


@terminals
@pytest.mark.contract("TC-059", "TC-066", "TC-067", "TC-068", "TC-096", "NG-029", "NG-030")
@pytest.mark.parametrize("call", COMMANDS)
async def test_a_command_is_a_terminal(story: Story, call: str) -> None:
    id = f"toolu_{call}"
    terminal = [{"type": "terminal", "terminalId": id}]
    assert story.opening(call)["content"] == terminal
    assert story.opening(call)["_meta"]["terminal_info"] == {"terminal_id": id}
    assert all(content == terminal for content in shown(story, call)), "and nothing besides it"
    assert "rawOutput" not in story.end(call)

    output = "terminal_output" if story.kind == "zed" else "terminal_output_delta"
    code = {"bash": 0, "child": 0, "fails": 1 if story.is_air else 3}[call]
    assert channel(story, call) == [
        ("terminal_info", {"terminal_id": id}),
        (output, {"terminal_id": id, "data": COMMANDS[call]}),
        ("terminal_exit", {"terminal_id": id, "exit_code": code, "signal": None}),
    ]


@pytest.mark.parametrize("story", ["bare", "plain", "rfd", "airmin"], indirect=True)
async def test_no_terminal_without_its_flag(story: Story) -> None:
    for call in (*COMMANDS, "background", "denied"):
        assert channel(story, call) == []
        assert "terminal" not in str(shown(story, call))


@air_clients
@pytest.mark.contract("TC-050", "TC-113")
async def test_the_description_of_a_command_is_its_title_for_air(story: Story) -> None:
    assert story.air("bash")["commandTitle"] == DESCRIPTION
    assert story.end("bash")["title"] == "echo out; touch made"
    assert story.end("bash")["rawInput"]["description"] == DESCRIPTION
    assert "commandTitle" not in story.air("fails")
    quoted = [content for content in shown(story, "bash") if DESCRIPTION in str(content)]
    assert len(quoted) == (0 if story.kind == "air" else 1)


@pytest.mark.contract("TC-074")
async def test_everybody_hears_why_a_command_did_not_run(story: Story) -> None:
    assert story.claude("denied")["nonExecutionKind"] == "permission-rule"
    assert story.end("denied")["status"] == "failed"
    assert "nonExecutionKind" not in story.claude("fails"), "it ran"
    told = [content for content in shown(story, "denied") if "Permission denied: " in str(content)]
    assert len(told) == 1
    assert DENIED in str(told)


@others
async def test_a_command_in_the_background_is_over_for_its_call(story: Story) -> None:
    assert story.end("background")["status"] == "completed"
    assert "asyncTasks" not in str(story.reports("background"))
    if story.kind == "zed":
        keys = [key for key, _ in channel(story, "background")]
        assert keys == ["terminal_info", "terminal_output", "terminal_exit"]


async def test_a_command_in_the_background_is_marked_for_air(air: Story, airmin: Story) -> None:
    assert air.air("background")["asyncTasks"] == {"backgrounded": True}
    assert "asyncTasks" not in airmin.air("background")
    assert (air.end("background")["status"], airmin.end("background")["status"]) == ("completed",) * 2
