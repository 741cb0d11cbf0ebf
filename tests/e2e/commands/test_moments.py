"""What the real Claude Code does at awkward moments of a command, and what goes with a conversation."""

import asyncio
import sys

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import Chat, bash, script, use
from tests.support.acp_client import AcpClient
from tests.support.rpc import Call, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

SILENT: Json = {
    "name": "silent",
    "command": sys.executable,
    "args": ["-c", "import time; time.sleep(300)"],
    "env": [],
}
"""A server that never answers."""


@pytest.fixture
async def silent(start_agent: StartAgent) -> tuple[AcpClient, str]:
    """A client whose session has a server that takes the whole time that it is given."""
    client = await start_agent(env={"MCP_TIMEOUT": "8000"})
    await client.initialize()
    return client, await client.new_session(mcpServers=[SILENT])


async def reconnecting(client: AcpClient, session: str) -> Call:
    """A prompt whose action takes long: Claude Code itself has answered it at once."""
    running = client.prompt(session, "/mcp reconnect silent")
    await asyncio.sleep(1)
    assert client.text(session) == ""
    return running


@pytest.mark.contract("SE-112")
async def test_a_cancel_ends_an_action_that_takes_long(silent: tuple[AcpClient, str]) -> None:
    client, session = silent
    running = await reconnecting(client, session)
    queued = client.prompt(session, script(["Never."]))
    client.cancel(session)
    assert (await running.result())["stopReason"] == "cancelled"
    assert (await queued.result())["stopReason"] == "cancelled"
    assert client.text(session) == ""
    assert (await client.prompt(session, script(["All is well."])).result())["stopReason"] == "end_turn"
    assert client.text(session).endswith("All is well.")


async def test_a_close_in_an_action_is_answered(silent: tuple[AcpClient, str]) -> None:
    client, session = silent
    running = await reconnecting(client, session)
    assert await client.request("session/close", {"sessionId": session}) == {}
    assert (await running.result())["stopReason"] == "cancelled"


@pytest.mark.contract("SE-104")
async def test_tasks_are_shown_again_until_the_conversation_is_cleared(chat: Chat) -> None:
    await chat.ask(script([use("TaskCreate", subject="Fix it", description="The bug")], ["Noted."]))
    mark = chat.mark
    await chat.ask(script(["I go on."]))
    assert [update["entries"][0]["content"] for update in chat.updates("plan", since=mark)] == ["Fix it"]
    await chat.ask("/clear")
    mark = chat.mark
    await chat.is_well()
    assert chat.updates("plan", since=mark) == []


@pytest.mark.contract("TC-069")
async def test_the_terminal_of_a_background_command_ends_with_the_command(start_agent: StartAgent) -> None:
    client = await start_agent()
    await client.initialize("zed")
    session = await client.new_session()
    gate = client.sandbox.project / "gate"
    wait = f"until [ -e {gate} ]; do python3 -c 'import time; time.sleep(0.1)'; done"
    launch = bash(wait, run_in_background=True)
    await client.prompt(session, script([launch], ["It runs."], ["It is over."])).result()
    assert not ends(client.updates(session))
    gate.touch()
    last = await client.wait_update(
        "usage_update", lambda update: "cost" in update, since=len(client.messages)
    )
    (call,) = client.updates(session, "tool_call")
    assert ends(client.updates(session)) == [
        {"terminal_id": call["toolCallId"], "exit_code": None, "signal": None}
    ]
    origin = last.body["params"]["update"]["_meta"]["_claude/origin"]
    assert origin["kind"] == "task-notification"
    assert {"producer", "runId"} <= origin.keys()


def ends(updates: list[Json]) -> list[Json]:
    found = [update.get("_meta", {}).get("terminal_exit") for update in updates]
    return [end for end in found if end]
