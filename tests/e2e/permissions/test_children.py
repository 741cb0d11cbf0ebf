"""What subagents ask: where the request goes, what it names, and who is stopped by its answer."""

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import select
from tests.support.rpc import CANCELLED, REJECT, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def agent(*steps: list[Json | str], background: bool = False) -> Json:
    """A call of a subagent that does what the steps say."""
    told = {"description": "Help", "prompt": script(*steps), "subagent_type": "general-purpose"}
    return use("Agent", **told, run_in_background=background)


def requests(chat: Chat) -> list[Json]:
    """Every permission request of the conversation, its children's too."""
    return [
        message.body["params"]
        for message in chat.client.messages[chat.start :]
        if message.direction == "received" and message.body.get("method") == "session/request_permission"
    ]


@pytest.mark.contract("PM-036", "PM-113")
@pytest.mark.parametrize("kind", ["plain", "airmin"])
async def test_a_request_of_a_subagent_names_the_call_it_works_for(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    work = agent([bash("npm test; touch child")], ["Child done."])
    result = await chat.ask(script([work], ["All done."]))
    assert result["stopReason"] == "end_turn"
    (request,) = requests(chat)
    assert request["sessionId"] == chat.session
    (parent,) = [id for id, call in chat.calls().items() if call["kind"] == "think"]
    assert request["toolCall"]["toolCallId"] in chat.calls()
    if kind != "airmin":
        assert request["toolCall"]["_meta"]["claudeCode"] == {"toolName": "Bash", "parentToolUseId": parent}
    assert (chat.project / "child").exists()
    assert {call["status"] for call in chat.calls().values()} == {"completed"}


async def test_a_subagent_that_is_refused_goes_on(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(REJECT)
    result = await chat.ask(
        script([agent([bash("npm test; touch child")], ["Child goes on."])], ["All done."])
    )
    assert result["stopReason"] == "end_turn"
    assert not (chat.project / "child").exists()
    assert "Child goes on." in str(chat.requests()[-1].body["messages"])


async def test_what_a_subagent_may_the_main_conversation_may_too(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(select("allow-with-updates"))
    await chat.ask(script([agent([bash("npm test")], ["Child done."])], [bash("npm test")], ["All done."]))
    assert len(requests(chat)) == 1


async def test_a_cancel_withdraws_what_a_subagent_asks(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    call = chat.prompt(script([agent([bash("npm test; touch child")], ["No."])], ["No."]))
    request = await chat.client.wait_question(since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert request.body["id"] in chat.client.withdrawn
    assert {each["status"] for each in chat.calls().values()} == {"failed"}
    assert not (chat.project / "child").exists()
    await chat.is_well()


async def test_a_cancel_withdraws_what_a_subagent_in_the_background_asks(chat_as: ChatAs) -> None:
    """Claude Code stops it too; the end of its call is told when it is there."""
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    call = chat.prompt(
        script([agent([bash("npm test; touch child")], ["No."], background=True)], ["Started."])
    )
    request = await chat.client.wait_question(since=chat.start)
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert request.body["id"] in chat.client.withdrawn
    await chat.client.wait_update(
        "tool_call_update", lambda update: update.get("status") == "failed", since=chat.start
    )
    await chat.is_well()
    assert [each["status"] for each in chat.calls().values()] == ["completed", "failed"]
    assert not (chat.project / "child").exists()


async def test_a_subagent_in_the_background_is_refused_by_no_answer(chat_as: ChatAs) -> None:
    """Nobody stopped its work, so it goes on, and its report reaches the conversation (decision 32)."""
    chat = await chat_as("plain")
    chat.client.on_permission(CANCELLED)
    work = agent([bash("npm test; touch child")], ["Child goes on."], background=True)
    result = await chat.ask(script([work], ["Started."], ["It told me."]))
    assert result["stopReason"] == "end_turn"
    assert len(requests(chat)) == 1
    assert not (chat.project / "child").exists()
    while not chat.text().endswith("It told me."):  # a child that is done early holds no answer
        await chat.client.wait_update("agent_message_chunk", since=chat.mark)
    assert "Child goes on." in str(chat.requests()[-1].body["messages"])
    await chat.is_well()


async def test_a_subagent_in_the_background_asks_after_its_turn_has_spoken(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    work = agent([{"delay": 1}, bash("npm test; touch child")], ["Child done."], background=True)
    result = await chat.ask(script([work], ["Started."], ["It told me."]))
    assert result["stopReason"] == "end_turn"
    assert (chat.project / "child").exists()
    assert chat.text() == "Started.It told me."
    await chat.is_well()
