"""Sessions with the real Claude Code: what they are opened with, and that they close."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import SESSION_HEADER, SLEEP, Chat, bash, claudes, script, slow, use
from tests.e2e.conftest import NewChat
from tests.support import echo_mcp
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json, never
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.mark.contract("SE-058", "SE-059", "CY-019")
async def test_a_close_ends_what_runs_then_answers_and_nothing_follows(chat: Chat) -> None:
    running = chat.prompt(script([bash(f"touch began; {SLEEP}")]))
    await chat.until_made("began")
    queued = chat.prompt(script(["Never."]))
    first = chat.client.call("session/close", {"sessionId": chat.session})
    second = chat.client.call("session/close", {"sessionId": chat.session})
    assert await first.result() == {}
    assert await second.result() == {}
    assert (await running.result())["stopReason"] == "cancelled"
    assert (await queued.result())["stopReason"] == "cancelled"
    assert chat.order()[-6:] == [
        *("prompt", "close", "cancelled", "update failed", "cancelled", "done")
    ] or chat.order()[-5:] == ["prompt", "close", "update failed", "cancelled", "done"]
    closed = (await first.message()).seq
    error = await chat.prompt(script(["Too late."])).error()
    assert (error.code, error.data) == (-32002, {"sessionId": chat.session})
    assert chat.updates(since=closed) == []
    assert not [command for command in claudes(chat.client).values() if chat.session in command]


async def test_a_close_withdraws_an_open_question(chat: Chat) -> None:
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch never")]))
    question = await chat.client.wait_question(since=chat.start)
    assert await chat.client.request("session/close", {"sessionId": chat.session}) == {}
    assert (await call.result())["stopReason"] == "cancelled"
    assert question.body["id"] in chat.client.withdrawn
    assert chat.order()[-4:] == ["withdrawn", "update failed", "cancelled", "done"]
    assert not (chat.project / "never").exists()


async def test_a_close_of_one_session_leaves_the_other_alone(chat: Chat, new_chat: NewChat) -> None:
    other = await new_chat()
    call = other.prompt(script([slow(20)]))
    await other.client.wait_update("agent_message_chunk", since=other.start)
    await chat.client.request("session/close", {"sessionId": chat.session})
    assert (await call.result())["stopReason"] == "end_turn"
    assert other.text() == slow(20)["text"]


@pytest.mark.contract("SE-001")
async def test_a_folder_that_is_none_is_refused_before_anything_starts(shared_agent: AcpClient) -> None:
    project = shared_agent.sandbox.project
    file = project / "file"
    file.touch()
    here = str(project)
    bad: list[Json] = [
        {"cwd": "relative"},
        {"cwd": ""},
        {"cwd": str(project / "missing")},
        {"cwd": str(file)},
        {"cwd": here, "additionalDirectories": ["also/relative"]},
    ]
    before = claudes(shared_agent)
    for params in bad:
        error = await shared_agent.call("session/new", {"mcpServers": [], **params}).error()
        assert error.code == -32602, params
        assert error.data, params
    assert claudes(shared_agent) == before


async def test_an_additional_directory_belongs_to_the_session(new_chat: NewChat, tmp_path: Path) -> None:
    chat = await new_chat(additionalDirectories=[str(tmp_path)])
    await chat.set_mode("acceptEdits")
    write = {"name": "Write", "input": {"file_path": str(tmp_path / "there"), "content": "x"}}
    await chat.ask(script([write], ["Done."]))
    assert chat.asked() == []
    assert (tmp_path / "there").exists()


async def test_a_session_has_the_id_that_the_transcript_has(chat: Chat) -> None:
    await chat.ask(script(["Hello."]))
    assert [asked.headers[SESSION_HEADER] for asked in chat.requests()] == [chat.session]
    stored = chat.client.sandbox.config.glob(f"projects/*/{chat.session}.jsonl")
    assert len([*stored]) == 1


@pytest.mark.contract("CL-004")
async def test_nothing_that_prints_reaches_the_output(start_agent: StartAgent, sandbox: Sandbox) -> None:
    """The log is at its most talkative, a hook and an MCP server print; the client judges each line."""
    hook = {"matcher": "*", "hooks": [{"type": "command", "command": "echo noise; echo noise >&2"}]}
    (sandbox.config / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    noisy = {
        "name": "noisy",
        "command": "sh",
        "args": ["-c", f"echo noise; echo noise >&2; exec {sys.executable} {echo_mcp.__file__}"],
        "env": [],
    }
    client = await start_agent(env={"CLAUDE_ACP_LOG": "debug", "CLAUDE_CODE_DEBUG": "1"})
    await client.initialize()
    session = await client.new_session(mcpServers=[noisy])
    call = script([use("mcp__noisy__greet", who="you")], ["Done."])
    assert (await client.prompt(session, f"my-own-words {call}").result())["stopReason"] == "end_turn"
    assert "sk-ant-scripted" not in client.stderr
    levels = [line for line in client.stderr.splitlines() if "my-own-words" in line and " DEBUG " not in line]
    assert levels == []
