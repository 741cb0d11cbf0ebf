"""Questions of the model as forms, and tools of the client's MCP servers."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.chat import Chat, script, use
from tests.e2e.conftest import NewChat
from tests.support import echo_mcp
from tests.support.rpc import Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

COLOR = use(
    "AskUserQuestion",
    questions=[
        {
            "question": "Which color?",
            "header": "Color",
            "multiSelect": False,
            "options": [
                {"label": "Red", "description": "Warm"},
                {"label": "Blue", "description": "Cool"},
            ],
        }
    ],
)


def told(chat: Chat) -> str:
    """What the model got as the result of its tool."""
    blocks = chat.requests()[-1].body["messages"][-1]["content"]
    return json.dumps([block["content"] for block in blocks if block["type"] == "tool_result"])


def choose_second(params: Json) -> Json:
    """Answer a form with the second choice of its first field."""
    name, schema = next(iter(params["requestedSchema"]["properties"].items()))
    return {"action": "accept", "content": {name: schema["oneOf"][1]["const"]}}


@pytest.mark.contract("PM-083", "SE-012")
async def test_a_question_is_a_form_and_the_model_gets_the_answer(chat: Chat) -> None:
    chat.client.handlers["elicitation/create"] = choose_second
    result = await chat.ask(script([COLOR], ["Thanks."]))
    assert result["stopReason"] == "end_turn"
    (form,) = chat.asked("elicitation/create")
    assert form["toolCallId"] in chat.calls()
    assert form["mode"] == "form"
    assert "Which color?" in json.dumps(form)
    assert chat.asked() == []
    assert "Blue" in told(chat)
    assert [call["status"] for call in chat.calls().values()] == ["completed"]
    assert chat.order() == [
        *("prompt", "call pending", "create", "accept", "update completed", "text", "end_turn")
    ]


async def test_a_declined_question_tells_the_model_that_it_was_skipped(chat: Chat) -> None:
    chat.client.handlers["elicitation/create"] = lambda _: {"action": "decline"}
    assert (await chat.ask(script([COLOR], ["Then I decide."])))["stopReason"] == "end_turn"
    assert chat.text() == "Then I decide."
    assert "Red" not in told(chat)
    assert "Blue" not in told(chat)


async def test_a_cancelled_question_ends_the_call_and_the_turn_goes_on(chat: Chat) -> None:
    answers: list[Json] = [{"action": "cancel"}, {"action": "perhaps"}, {}]
    chat.client.handlers["elicitation/create"] = lambda _: answers.pop()
    while answers:
        assert (await chat.ask(script([COLOR], ["I go on."])))["stopReason"] == "end_turn"
    assert chat.text() == "I go on." * 3
    assert [call["status"] for call in chat.calls().values()] == ["failed"] * 3


async def test_a_cancel_withdraws_an_open_form(chat: Chat) -> None:
    chat.client.handlers["elicitation/create"] = never
    call = chat.prompt(script([COLOR], ["No."]))
    form = await chat.client.wait_question("elicitation/create", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert form.body["id"] in chat.client.withdrawn
    assert [call["status"] for call in chat.calls().values()] == ["failed"]
    chat.client.answer(form.body["id"], {"action": "accept", "content": {}})
    await chat.is_well()


@pytest.mark.contract("PM-033", "PM-079")
async def test_a_tool_of_the_clients_mcp_server_can_be_called(new_chat: NewChat) -> None:
    server = {
        "name": "echo",
        "command": sys.executable,
        "args": [str(Path(echo_mcp.__file__)), "one", "two words"],
        "env": [{"name": "ECHO_VALUE", "value": "from the client"}],
    }
    chat = await new_chat(mcpServers=[server])
    await chat.ask(script([use("mcp__echo__environment", name="ECHO_VALUE")], ["Done."]))
    assert "from the client" in told(chat)
    assert "two words" in told(chat)
    (asked,) = chat.asked()
    assert asked["toolCall"]["_meta"]["claudeCode"]["mcpServer"]["name"] == "echo"
    assert [option["kind"] for option in asked["options"]] == ["allow_once", "allow_always", "reject_once"]
    assert [call["status"] for call in chat.calls().values()] == ["completed"]

    await chat.ask(script([use("mcp__echo__fail")], ["Done."]))
    assert [call["status"] for call in chat.calls().values()] == ["completed", "failed"]


async def test_an_mcp_server_that_does_not_start_is_told_and_spoils_nothing(new_chat: NewChat) -> None:
    missing = {"name": "gone", "command": "/no/such/server", "args": [], "env": []}
    chat = await new_chat(mcpServers=[missing])
    await chat.ask(script(["All the same."]))
    assert "gone" in chat.text().removesuffix("All the same.")
    await chat.is_well()
