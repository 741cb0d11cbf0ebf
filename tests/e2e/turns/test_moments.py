"""Cancels, losses and local commands at the moments that the other tests leave out."""

import anyio
import pytest

from bridge.demo.api import ScriptedApi
from tests.e2e.chat import SLEEP, bash, script, slow
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.e2e.turns.losses import kill_claude
from tests.support.rpc import Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

LOST = "The Claude Agent process exited unexpectedly. Send the prompt again to continue."
RESTARTED = "Claude Code was restarted"


# ── the process is lost ───────────────────────────────────────────────────────


@pytest.mark.contract("SF-029", "CY-024")
async def test_a_loss_in_a_text_is_a_record_and_the_next_prompt_starts_anew(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask("remember the zebra " + script(["A zebra."]))
    mark = chat.mark
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=mark)
    await kill_claude(chat)
    result = await call.result()
    assert result["stopReason"] == "end_turn"
    record = air(result)["sessionFailure"]
    assert (record["category"], record["severity"]) == ("connection", "error")
    assert (record["title"], record["actions"]) == (LOST, ["new_session"])
    mark = chat.mark
    await chat.ask(script(["I am back."]))
    assert chat.text(since=mark) == "I am back."
    assert "remember the zebra" in str(chat.requests()[-1].body["messages"])


@pytest.mark.contract("CY-024")
async def test_a_loss_in_a_tool_ends_its_call(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    await chat.ask(script(["A zebra."]))
    go = chat.project / "go"
    call = chat.prompt(script([bash(f"touch began; until [ -e {go} ]; do sleep 0.1; done")]))
    await chat.until_made("began")
    await kill_claude(chat)
    assert (await call.error()).message == LOST
    go.touch()
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    mark = chat.mark
    await chat.ask(script(["I am back."]))
    (notice,) = chat.updates("notice", since=mark)
    assert RESTARTED in str(notice)
    assert chat.text(since=mark) == "I am back."


@pytest.mark.contract("CY-024")
async def test_a_loss_with_a_request_open_withdraws_it(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script(["A zebra."]))
    chat.client.on_permission(never)
    mark = chat.mark
    call = chat.prompt(script([bash("npm test; touch never")]))
    request = await chat.client.wait_question(since=mark)
    await kill_claude(chat)
    assert (await call.error()).message == LOST
    assert request.body["id"] in chat.client.withdrawn
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    mark = chat.mark
    await chat.ask(script(["I am back."]))
    assert chat.text(since=mark) == f"{RESTARTED}I am back."
    assert not (chat.project / "never").exists()


@pytest.mark.contract("CY-024")
async def test_prompts_that_start_it_anew_together_are_all_answered(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script(["A zebra."]))
    await kill_claude(chat)
    await anyio.sleep(0.3)  # the agent notices
    mark = chat.mark
    with chat.client.one_write():
        calls = [chat.prompt(script([text])) for text in ("One.", "Two.")]
    assert [(await call.result())["stopReason"] for call in calls] == ["end_turn"] * 2
    assert chat.text(since=mark).count(RESTARTED) == 1
    assert chat.text(since=mark).endswith("Two.")


@pytest.mark.contract("CC-017")
async def test_a_loss_in_a_compaction_ends_it(chat_as: ChatAs, shared_api: ScriptedApi) -> None:
    chat = await chat_as("plain")
    await chat.ask(script(["A zebra."]))
    shared_api.respond = lambda asked: [{"delay": 300}] if asked.kind == "compact" else None
    call = chat.prompt("/compact")
    await chat.client.wait_update("tool_call", since=chat.start)
    await kill_claude(chat)
    shared_api.respond = None
    assert (await call.error()).message == LOST
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    await chat.ask(script(["I am back."]))


# ── cancels ───────────────────────────────────────────────────────────────────


async def test_a_cancel_in_a_tool_and_a_prompt_in_one_write(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    first = chat.prompt(script(["I wait.", bash(f"touch began; {SLEEP}; touch ended")], ["No."]))
    await chat.until_made("began")
    with chat.client.one_write():
        chat.cancel()
        second = chat.prompt(script(["Second."]))
    assert (await first.result())["stopReason"] == "cancelled"
    assert (await second.result())["stopReason"] == "end_turn"
    assert chat.text() == "I wait.Second."
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    assert not (chat.project / "ended").exists()


async def test_a_cancel_of_one_prompt_with_a_request_open_leaves_the_next(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    first = chat.prompt(script([bash("npm test; touch never")], ["No."]))
    request = await chat.client.wait_question(since=chat.start)
    second = chat.prompt(script(["Second."]))
    chat.client.notify("$/cancel_request", {"requestId": first.id})
    assert (await first.result())["stopReason"] == "cancelled"
    assert request.body["id"] in chat.client.withdrawn
    assert (await second.result())["stopReason"] == "end_turn"
    assert chat.text() == "Second."
    assert not (chat.project / "never").exists()


async def test_a_cancel_while_a_call_is_written(chat_as: ChatAs) -> None:
    """Its input was never complete: it did not run, and it is not left open."""
    chat = await chat_as("plain")
    write: Json = {"name": "Bash", "input": {"command": "touch never " * 30}, "pieces": 100, "pace": 0.1}
    call = chat.prompt(script([write], ["No."]))
    await chat.client.wait_update("tool_call", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    assert not (chat.project / "never").exists()
    await chat.is_well()


async def test_a_close_in_a_tool_answers_everything(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = chat.prompt(script([bash(f"touch began; {SLEEP}")], ["No."]))
    await chat.until_made("began")
    close = chat.client.call("session/close", {"sessionId": chat.session})
    assert (await call.result())["stopReason"] == "cancelled"
    assert await close.result() == {}
    assert [each["status"] for each in chat.calls().values()] == ["failed"]
    assert (await call.message()).seq < (await close.message()).seq


# ── commands that need no model ───────────────────────────────────────────────


async def test_local_commands_say_what_they_have_to_once(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask("remember the zebra " + script(["A zebra."]))
    asked = len(chat.requests())
    for command, says in (("/context", "Context Usage"), ("/cost", "cost")):
        mark = chat.mark
        assert (await chat.ask(command))["stopReason"] == "end_turn"
        text = chat.text(since=mark)
        assert says in text
        assert text.count(text.strip()[:20]) == 1
        assert "<local-command" not in text
    assert len(chat.requests()) == asked

    assert (await chat.ask("/clear"))["stopReason"] == "end_turn"
    await chat.is_well()
    assert "zebra" not in str(chat.api.requests[-1].body["messages"])


async def test_a_command_that_nobody_knows_is_a_prompt(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert (await chat.ask("/nosuch " + script(["I do not know it."])))["stopReason"] == "end_turn"
    assert chat.text() == "I do not know it."
