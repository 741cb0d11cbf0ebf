"""The turn of a local command: its text is replaced at its place, and the turn waits for it."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast

import anyio
import pytest
from anyio.abc import TaskGroup

from bridge.commands.local import LocalCommands
from bridge.live.process import SessionProcess
from bridge.messages.items import Content
from bridge.messages.stream import chunk
from tests.bridge.commands.ends import REFUSED, Process, servers

pytestmark = pytest.mark.anyio

RESULT = {"type": "result"}
REPLY = {"type": "control_response"}
LIST = "**MCP servers:** 1 (1 connected)\n\n**Connected**\n- `a`"


class Turn:
    """A session's side: what is shown, and which frames are read, in one order."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.process = Process()
        self.seen: list[str] = []
        self.reconnected: list[str] = []
        self.commands = LocalCommands(
            cast("SessionProcess", self.process),
            tasks,
            cast("Callable[[Any], None]", self._post),
            lambda content: self.seen.append(cast("Any", content.update)["content"]["text"]),
            self.reconnected.extend,
        )

    def _post(self, mail: Callable[[], None]) -> None:
        mail()
        self.release()

    def release(self) -> None:
        self.seen += [cast("str", raw["type"]) for raw in self.commands.released()]

    def frame(self, raw: Mapping[str, object]) -> None:
        if not self.commands.holds(raw):
            self.seen.append(cast("str", raw["type"]))

    def says(self, text: str, command: str) -> None:
        content = Content(chunk("agent_message_chunk", text, "m1"), synthetic=True, command=command)
        if not self.commands.note(content):
            self.seen.append(text)

    def begin(self, prompt: str) -> None:
        self.commands.begin([{"type": "text", "text": prompt}])


@pytest.fixture
async def turn() -> AsyncIterator[Turn]:
    async with anyio.create_task_group() as tasks:
        yield Turn(tasks)
        tasks.cancel_scope.cancel()


async def settle() -> None:
    await anyio.wait_all_tasks_blocked()


@pytest.mark.contract("SE-111")
async def test_frames_behind_the_text_wait_for_the_answer(turn: Turn) -> None:
    turn.begin("/mcp")
    await settle()
    turn.says("Use a terminal.", "mcp")
    turn.frame(RESULT)
    turn.frame(REPLY)
    assert turn.seen == ["control_response"]
    turn.process.answer(servers(a="connected"))
    await settle()
    assert turn.seen == ["control_response", LIST, "result"]


async def test_an_answer_that_is_there_before_the_text_holds_nothing(turn: Turn) -> None:
    turn.process.answers["mcp_status"] = [servers(a="connected")]
    turn.begin("/mcp")
    await settle()
    turn.says("Use a terminal.", "mcp")
    turn.frame(RESULT)
    assert turn.seen == [LIST, "result"]


@pytest.mark.contract("SE-106", "SE-112")
@pytest.mark.parametrize(
    ("prompt", "command"), [("/usage", "usage"), ("/mcp", "mcp"), ("/mcp enable", "mcp")]
)
async def test_a_failure_leaves_the_text(turn: Turn, prompt: str, command: str) -> None:
    turn.begin(prompt)
    await settle()
    turn.says("The text.", command)
    turn.frame(RESULT)
    turn.process.answer(REFUSED)
    await settle()
    assert turn.seen == ["The text.", "result"]


@pytest.mark.contract("SE-106")
async def test_an_answer_that_makes_no_sense_leaves_the_text(turn: Turn) -> None:
    turn.process.answers["get_usage"] = [{"session": {"total_cost_usd": -1}}]
    turn.begin(" /usage\n")
    await settle()
    turn.says("The text.", "usage")
    assert turn.seen == ["The text."]


async def test_a_cancel_leaves_the_text_and_lets_everything_pass(turn: Turn) -> None:
    turn.begin("/mcp reconnect")
    await settle()
    turn.says("The text.", "mcp")
    turn.frame(RESULT)
    turn.commands.abandon()
    turn.release()
    assert turn.seen == ["The text.", "result"]
    turn.process.answer(servers(a="failed"))
    await settle()
    assert [asked["subtype"] for asked in turn.process.asked] == ["mcp_status"]


async def test_the_next_turn_has_its_own_answer(turn: Turn) -> None:
    turn.begin("/mcp")
    await settle()
    turn.begin("/mcp")
    await settle()
    turn.says("Use a terminal.", "mcp")
    turn.process.answer(servers(old="connected"))
    await settle()
    assert turn.seen == []
    turn.process.answer(servers(a="connected"))
    await settle()
    assert turn.seen == [LIST]


async def test_texts_of_other_commands_and_prompts_of_several_blocks_stay(turn: Turn) -> None:
    turn.begin("/mcp")
    turn.says("Something else.", "model")
    turn.says("From the model.", "")
    assert turn.seen == ["Something else.", "From the model."]
    turn.commands.begin([{"type": "text", "text": "/usage"}, {"type": "text", "text": "more"}])
    turn.says("The text.", "usage")
    assert turn.seen[2:] == ["The text."]


@pytest.mark.contract("SE-112", "SE-115")
async def test_an_action_goes_on_after_one_server_failed(turn: Turn) -> None:
    turn.process.answers = {
        "mcp_status": [
            servers(a="failed", b="needs-auth", c="connected"),
            servers(a="failed", b="needs-auth"),
        ],
        "mcp_reconnect": [REFUSED, {}],
    }
    turn.begin("/mcp reconnect")
    await settle()
    turn.says("Reconnect, enable, and disable aren't available in this session.", "mcp")
    assert turn.seen[0].startswith(
        "- Couldn't reconnect `a`: Server not found: x\n- Reconnected `b`\n\n**MCP"
    )
    asked = [(asked["subtype"], asked.get("serverName")) for asked in turn.process.asked]
    assert asked[1:3] == [("mcp_reconnect", "a"), ("mcp_reconnect", "b")]
    assert turn.reconnected == ["a", "b"]


@pytest.mark.contract("SE-112")
@pytest.mark.parametrize(("action", "enabled"), [("enable", True), ("disable", False)])
async def test_servers_are_switched_by_their_name(turn: Turn, action: str, enabled: bool) -> None:
    turn.process.answers = {"mcp_status": [servers(a="connected")], "mcp_toggle": [{}]}
    turn.begin(f"/mcp {action} a")
    await settle()
    assert {"subtype": "mcp_toggle", "serverName": "a", "enabled": enabled} in turn.process.asked
    assert turn.reconnected == []
