"""Claude Code is killed, and the session goes on with what was said before."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from tests.e2e.chat import Chat, bash, claudes, script, slow, use
from tests.e2e.conftest import NewChat
from tests.support.rpc import HANG, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

LOST = "The Claude Agent process exited unexpectedly. Send the prompt again to continue."
RESTARTED = "Claude Code was restarted"


async def kill_claude(chat: Chat) -> None:
    """Kill the CLI of a session as an out-of-memory killer would, and let the agent notice."""
    pids = [pid for pid, command in claudes(chat.client).items() if chat.session in command]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    with anyio.fail_after(HANG):
        while any(Path(f"/proc/{pid}").exists() for pid in pids):  # noqa: ASYNC110, ASYNC240 - no event
            await anyio.sleep(0.02)
    await anyio.sleep(0.2)


def wait(chat: Chat) -> Json:
    """A command that ends with the test, also when nobody is left to end it."""
    go = chat.project / "go"
    return bash(f"touch began; until [ -e {go} ]; do sleep 0.1; done")


async def remember(chat: Chat) -> None:
    """A turn that the model must know of later."""
    await chat.ask("remember the zebra " + script(["A zebra."]))


async def assert_goes_on(chat: Chat) -> None:
    """The next prompt is told of the restart once, is answered, and the model knows what was said."""
    said = chat.text().startswith("A zebra.")
    mark = chat.mark
    assert (await chat.ask(script(["I am back."])))["stopReason"] == "end_turn"
    assert chat.text(since=mark) == f"{RESTARTED}I am back."
    asked = str(chat.requests()[-1].body["messages"])
    assert ("remember the zebra" in asked, "A zebra." in asked) == (said, said)
    await chat.is_well()


@pytest.mark.contract("CY-024", "SE-122")
async def test_killed_between_turns(chat: Chat) -> None:
    await remember(chat)
    await kill_claude(chat)
    await assert_goes_on(chat)


@pytest.mark.contract("SE-122")
async def test_commands_that_appeared_meanwhile_are_listed(chat: Chat) -> None:
    await chat.ask(script(["Hello."]))
    await kill_claude(chat)
    file = chat.project / ".claude" / "commands" / "fresh.md"
    file.parent.mkdir(parents=True)
    file.write_text("Say hello.")
    assert "fresh" not in listed(chat)
    await chat.ask(script(["I am back."]))
    assert "fresh" in listed(chat)


def listed(chat: Chat) -> set[str]:
    """The commands that the client was told last."""
    return {
        str(command["name"]) for command in chat.updates("available_commands_update")[-1]["availableCommands"]
    }


@pytest.mark.contract("CY-024", "SE-122")
async def test_killed_while_it_speaks(chat: Chat) -> None:
    await remember(chat)
    mark = chat.mark
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=mark)
    queued = chat.prompt(script(["Never said."]))
    await kill_claude(chat)
    for lost in (call, queued):
        error = await lost.error()
        assert (error.code, error.message) == (-32603, LOST)
    await assert_goes_on(chat)
    assert "Never said." not in chat.text()


@pytest.mark.contract("CY-024")
async def test_killed_while_a_tool_runs(chat: Chat) -> None:
    await remember(chat)
    mark = chat.mark
    call = chat.prompt(script(["I wait.", wait(chat)]))
    await chat.until_made("began")
    await kill_claude(chat)
    assert (await call.error()).message == LOST
    (chat.project / "go").touch()
    assert chat.order(since=mark) == [
        *("prompt", "text", "call pending", "request_permission", "allow-once"),
        *("update failed", "error -32603"),
    ]
    await assert_goes_on(chat)


@pytest.mark.contract("CY-024")
async def test_killed_with_a_question_open(chat: Chat) -> None:
    chat.client.on_permission(never)
    await remember(chat)
    call = chat.prompt(script(["I ask.", bash("touch never")]))
    question = await chat.client.wait_question(since=chat.start)
    await kill_claude(chat)
    assert (await call.error()).message == LOST
    assert question.body["id"] in chat.client.withdrawn
    assert chat.order()[-3:] == ["withdrawn", "update failed", "error -32603"]
    chat.client.answer(question.body["id"], {"outcome": {"outcome": "cancelled"}})
    await assert_goes_on(chat)


@pytest.mark.contract("CY-024")
async def test_killed_after_a_cancel_the_prompt_is_cancelled(chat: Chat) -> None:
    call = chat.prompt(script([wait(chat)]))
    await chat.until_made("began")
    for pid, command in claudes(chat.client).items():
        if chat.session in command:
            os.kill(pid, signal.SIGSTOP)  # so that it can't react to the cancel
    chat.cancel()
    await kill_claude(chat)
    (chat.project / "go").touch()
    assert (await call.result())["stopReason"] == "cancelled"
    assert [call["status"] for call in chat.calls().values()] == ["failed"]
    await assert_goes_on(chat)


async def test_a_mode_survives_and_can_be_set_meanwhile(chat: Chat) -> None:
    await chat.ask(script(["Hello."]))
    await kill_claude(chat)
    await chat.set_mode("acceptEdits")
    for name in ("f", "g"):
        await chat.ask(script([use("Write", file_path=str(chat.project / name), content="x")], ["Done."]))
        assert (chat.project / name).exists()
        await kill_claude(chat)
    assert chat.asked() == []


async def test_a_loss_before_anything_was_said_starts_anew(chat: Chat) -> None:
    await kill_claude(chat)
    await assert_goes_on(chat)


async def test_a_loss_before_anything_was_stored_starts_anew(chat: Chat) -> None:
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    await kill_claude(chat)
    assert (await call.error()).message == LOST
    await assert_goes_on(chat)


async def test_other_sessions_do_not_notice(chat: Chat, new_chat: NewChat) -> None:
    other = await new_chat()
    call = other.prompt(script([slow(30)]))
    await other.client.wait_update("agent_message_chunk", since=other.start)
    await kill_claude(chat)
    await assert_goes_on(chat)
    assert (await call.result())["stopReason"] == "end_turn"
    assert other.text() == slow(30)["text"]
