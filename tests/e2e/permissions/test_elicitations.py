"""Forms and links of MCP servers: the client is asked, the server gets the answer."""

import sys
from pathlib import Path

import pytest

from tests.e2e.chat import Chat, script, use
from tests.e2e.permissions import asking_mcp
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import NOISE, statuses, told
from tests.support.rpc import Handler, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

SERVER = {"name": "asking", "command": sys.executable, "args": [str(Path(asking_mcp.__file__))], "env": []}
SCHEMA = {"type": "object", "properties": {"dish": {"type": "string", "title": "Dish"}}, "required": ["dish"]}
FORM = use("mcp__asking__order", message="What will it be?", requestedSchema=SCHEMA)
LINK = use(
    "mcp__asking__order", mode="url", message="Sign in", url="https://localhost/in", elicitationId="e1"
)


async def heard(chat: Chat, handler: Handler, call: Json) -> str:
    """What the server hears when the client answers like this."""
    chat.client.handlers["elicitation/create"] = handler
    assert (await chat.ask(script([call], ["Thanks."])))["stopReason"] == "end_turn"
    return str(told(chat)[-1]["content"])


async def test_a_form_of_a_server(chat_as: ChatAs) -> None:
    chat = await chat_as("plain", mcpServers=[SERVER])
    answer = {"action": "accept", "content": {"dish": "soup"}}
    assert '"dish": "soup"' in await heard(chat, lambda _: answer, FORM)
    (form,) = chat.asked("elicitation/create")
    assert form["message"] == "What will it be?"
    assert form["requestedSchema"]["properties"]["dish"]["title"] == "Dish"
    assert chat.order(without=NOISE) == [
        *("prompt", "call pending", "request_permission", "allow-once", "create", "accept"),
        *("update completed", "text", "end_turn"),
    ]


async def test_no_answer_is_no_consent(chat_as: ChatAs) -> None:
    chat = await chat_as("plain", mcpServers=[SERVER])
    assert '"action": "decline"' in await heard(chat, lambda _: {"action": "decline"}, FORM)
    assert '"action": "cancel"' in await heard(chat, lambda _: {"action": "perhaps"}, FORM)


@pytest.mark.parametrize(("kind", "call"), [("bare", FORM), ("plain", LINK)])
async def test_what_a_client_cannot_show_is_cancelled(kind: str, call: Json, chat_as: ChatAs) -> None:
    chat = await chat_as(kind, mcpServers=[SERVER])
    answer = await heard(chat, never, call)
    assert '"action": "accept"' not in answer
    assert chat.asked("elicitation/create") == []


async def test_a_cancel_withdraws_the_form_of_a_server(chat_as: ChatAs) -> None:
    chat = await chat_as("plain", mcpServers=[SERVER])
    chat.client.handlers["elicitation/create"] = never
    call = chat.prompt(script([FORM], ["No."]))
    form = await chat.client.wait_question("elicitation/create", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert form.body["id"] in chat.client.withdrawn
    assert statuses(chat) == ["failed"]
    await chat.is_well()
