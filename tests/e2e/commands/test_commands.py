"""Commands of the real Claude Code as an editor's user sees them: /usage, /mcp, forks, raw messages."""

import sys

import pytest

from tests.e2e.chat import Chat, bash, script
from tests.e2e.conftest import NewChat
from tests.support import echo_mcp
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

ECHO: Json = {"name": "echo", "command": sys.executable, "args": [str(echo_mcp.__file__)], "env": []}
BROKEN: Json = {"name": "broken", "command": "/nonexistent/server", "args": [], "env": []}

ADVICE = (
    "Run `/mcp reconnect <server>` to reconnect one server, or `/mcp reconnect` to reconnect every server "
    "that is not connected and not disabled."
)
CONNECTED = "**Connected**\n- `echo`: 4 tools"
FAILED = "**Failed**\n- `broken`: ENOENT: no such file or directory, posix\\_spawn 'stdio'"


async def said(chat: Chat, prompt: str) -> str:
    mark = chat.mark
    assert (await chat.ask(prompt))["stopReason"] == "end_turn"
    return chat.text(since=mark)


@pytest.mark.contract("SE-105")
async def test_usage_is_told_as_markdown_in_the_turn_of_its_prompt(chat: Chat) -> None:
    await chat.ask(script(["Hello."]))
    mark = chat.mark
    await chat.ask("/usage\n")
    assert chat.text(since=mark).startswith(
        "## Usage\n\n---\n\n### This session\n\n| Cost | API time | Active |"
    )
    assert "| Input | 10 |\n" in chat.text(since=mark)
    assert chat.order(since=mark)[:3] == ["prompt", "text", "end_turn"]
    assert len(chat.updates("agent_message_chunk", since=mark)) == 1
    await chat.is_well()


async def test_usage_beside_other_words_is_a_prompt(chat: Chat) -> None:
    blocks = [{"type": "text", "text": "/usage"}, {"type": "text", "text": script(["I answer."])}]
    await chat.ask(blocks)
    assert "### This session" not in chat.text()


@pytest.mark.contract("SE-111", "SE-112", "SE-113")
async def test_mcp_servers_are_listed_switched_and_connected_again(new_chat: NewChat) -> None:
    chat = await new_chat(mcpServers=[ECHO, BROKEN])
    await chat.ask(script(["Hello."]))  # now both have tried to start
    both = f"**MCP servers:** 2 (1 failed, 1 connected)\n\n{FAILED}\n\n{CONNECTED}\n\n{ADVICE}"
    assert await said(chat, "/mcp") == both

    off = f"**MCP servers:** 2 (1 failed, 1 disabled)\n\n{FAILED}\n\n**Disabled:** `echo`\n\n{ADVICE}"
    assert await said(chat, "/mcp disable echo") == f"- Disabled `echo`\n\n{off}"
    assert await said(chat, "/mcp enable all") == f"- Enabled `echo`\n\n{both}"

    failed = "- Couldn't reconnect `broken`: ENOENT: no such file or directory, posix\\_spawn 'stdio'"
    assert await said(chat, "/mcp reconnect") == f"{failed}\n\n{both}"
    assert await said(chat, "/mcp reconnect nosuch") == f'There\'s no MCP server named "nosuch".\n\n{both}'
    assert await said(chat, "/mcp frob") == (
        '"frob" isn\'t a recognized /mcp action. Try reconnect, enable, or disable.'
    )
    await chat.is_well()


@pytest.mark.contract("SE-111")
async def test_prompts_behind_mcp_keep_their_order(new_chat: NewChat) -> None:
    chat = await new_chat(mcpServers=[ECHO])
    first = chat.prompt("/mcp reconnect echo")
    second = chat.prompt(script(["The second."]))
    await first.result()
    await second.result()
    order = chat.order(without=("commands", "usage", "cost", "session_info_update"))
    assert order == ["prompt", "text", "end_turn", "text", "end_turn"]
    texts = [update["content"]["text"] for update in chat.updates("agent_message_chunk")]
    assert texts[0].startswith("- Reconnected `echo`\n\n**MCP servers:** 1")
    assert "".join(texts[1:]) == "The second."


@pytest.mark.contract("SE-114")
async def test_mcp_is_offered_with_its_actions(chat: Chat) -> None:
    (offered,) = chat.updates("available_commands_update")[:1]
    (row,) = [row for row in offered["availableCommands"] if row["name"] == "mcp"]
    assert row["input"] == {"hint": "[reconnect|enable|disable [<server>|all]]"}


async def test_a_server_that_does_not_start_is_told_of_once(new_chat: NewChat) -> None:
    chat = await new_chat(mcpServers=[BROKEN])
    await chat.ask(script(["Hello."]))
    await chat.ask(script(["Again."]))
    assert chat.updates("agent_message_chunk")[0]["content"]["text"] == (
        '**MCP server "broken" failed to start:** '
        "Its tools are unavailable in this session. Run /mcp for the error."
    )
    assert chat.text().count("failed to start") == 1


@pytest.mark.contract("SE-008")
async def test_raw_messages_go_out_before_what_is_made_of_them(new_chat: NewChat) -> None:
    wanted = [{"type": "result", "origin": "human"}, {"type": "system", "subtype": "init"}]
    chat = await new_chat(_meta={"claudeCode": {"emitRawSDKMessages": wanted}})
    await chat.ask(script([bash("true")], ["Done."]))
    raw = [
        message.body["params"]
        for message in chat.client.messages[chat.start :]
        if message.body.get("method") == "_claude/sdkMessage"
    ]
    assert {params["sessionId"] for params in raw} == {chat.session}
    assert [params["message"]["type"] for params in raw] == ["system", "result"]
    order = chat.order(without=("usage", "text"))
    assert order.index("sdkMessage", order.index("sdkMessage") + 1) < order.index("cost")


@pytest.mark.contract("SE-037")
async def test_a_fork_is_named_after_its_source(chat: Chat) -> None:
    await chat.ask(script(["The original."]))
    await chat.client.wait_update("session_info_update", since=chat.start)
    title = chat.updates("session_info_update")[0]["title"]
    asked = {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": []}
    fork = (await chat.client.request("session/fork", asked))["sessionId"]
    mark = chat.mark
    await chat.client.prompt(fork, script(["The copy."])).result()
    told = await chat.client.wait_update("session_info_update", since=mark)
    assert told.body["params"]["sessionId"] == fork
    assert told.body["params"]["update"]["title"] == f"{title} (fork)"
    listed = await chat.client.request("session/list", {"cwd": str(chat.project)})
    titles = {row["sessionId"]: row["title"] for row in listed["sessions"]}
    assert titles == {chat.session: title, fork: f"{title} (fork)"}
    await chat.client.request("session/close", {"sessionId": fork})
