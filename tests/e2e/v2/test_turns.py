"""Turns on ACP v2: prompts are answered when they begin, their work ends with a state."""

import base64

import pytest

from tests.e2e.chat import SLEEP, bash, script, slow
from tests.e2e.v2.conftest import NewV2Chat
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.mark.contract("V2-005", "V2-009", "V2-039")
async def test_a_plain_turn(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    call = chat.chat.prompt(script(["All is well."]))
    told = await call.result()
    end = await chat.ended()
    assert chat.order() == ["prompt", "user_message", "inserted", "running", "text", "idle end_turn"]
    (message,) = chat.updates("user_message")
    assert message["messageId"] == told["messageId"]
    assert [block["type"] for block in message["content"]] == ["text"]
    assert chat.chat.text() == "All is well."
    assert all(chunk["messageId"] for chunk in chat.updates("agent_message_chunk"))
    assert end["usage"]["outputTokens"] > 0
    assert end["_meta"]["quota"]["model_usage"]


@pytest.mark.contract("V2-018", "V2-019", "V2-038", "TC-227", "PM-117")
async def test_a_command_that_is_allowed(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    end = await chat.ask(script(["I look.", bash("echo hi > made.txt; echo héllo")], ["Done."]))
    assert end["stopReason"] == "end_turn"
    assert chat.order(without=["terminal_update"]) == [
        *("prompt", "user_message", "inserted", "running", "text", "update pending"),
        *("requires_action", "request_permission", "allow-once", "running"),
        *("update completed", "text", "idle end_turn"),
    ]
    (asked,) = chat.chat.asked()
    call = chat.call()
    assert asked["title"] == "echo hi > made.txt; echo héllo" == call["title"]
    assert asked["subject"]["type"] == "tool_call"
    assert asked["subject"]["toolCall"]["toolCallId"] == call["toolCallId"]
    assert "status" not in asked["subject"]["toolCall"]
    assert (call["name"], call["kind"], call["status"]) == ("Bash", "execute", "completed")
    assert call["content"] == [{"type": "terminal", "terminalId": call["toolCallId"]}]
    first = chat.updates("tool_call_update")[0]
    assert first["title"]
    terminal: Json = {}
    for update in chat.updates("terminal_update"):
        terminal |= update
    assert terminal["command"] == "echo hi > made.txt; echo héllo"
    assert base64.b64decode(terminal["output"]["data"]).decode().strip() == "héllo"
    assert terminal["exitStatus"] == {"exitCode": 0}
    kinds = [
        each["sessionUpdate"]
        for each in chat.updates()
        if "terminal" in each["sessionUpdate"] or "tool" in each["sessionUpdate"]
    ]
    assert kinds[0] == "terminal_update", "announced before the report that names it"
    assert kinds[-1] == "tool_call_update", "its status is last"


async def test_a_command_that_is_refused(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    chat.chat.client.on_permission(lambda _: {"outcome": {"outcome": "selected", "optionId": "reject"}})
    end = await chat.ask(script([bash("touch no.txt")], ["A pity."]))
    assert end["stopReason"] in {"end_turn", "cancelled"}
    assert chat.call()["status"] == "failed"
    assert not (chat.chat.project / "no.txt").exists()


@pytest.mark.contract("V2-010")
async def test_a_cancel_while_text_streams(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    call = chat.chat.prompt(script([slow()]))
    await call.result()
    await chat.chat.client.wait_update("agent_message_chunk", since=chat.chat.start)
    chat.chat.cancel()
    assert (await chat.ended())["stopReason"] == "cancelled"
    assert chat.order()[-1] == "idle cancelled"
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"


async def test_a_cancel_while_a_tool_runs(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    call = chat.chat.prompt(script([bash(f"touch began; {SLEEP}")], ["No."]))
    await call.result()
    await chat.chat.until_made("began")
    chat.chat.cancel()
    assert (await chat.ended())["stopReason"] == "cancelled"
    assert chat.call()["status"] == "cancelled"
    assert [each for each in chat.order() if each.startswith(("update", "idle"))][-2:] == [
        "update cancelled",
        "idle cancelled",
    ]
