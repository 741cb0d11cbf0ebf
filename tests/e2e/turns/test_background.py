"""Work in the background: turns that wait for it, cycles that it starts, cancels and prompts in between."""

import pytest

from tests.e2e.chat import SLEEP, Chat, bash, script, slow, use
from tests.e2e.permissions.kinds import ChatAs
from tests.support.rpc import Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

NOISE = ("commands", "usage", "cost", "update", "session_info_update")


def background(chat: Chat, name: str = "go") -> Json:
    """A command in the background that ends once a file of that name is there."""
    return bash(f"until [ -e {chat.project / name} ]; do sleep 0.05; done; echo over", run_in_background=True)


def agent(*steps: list[Json | str]) -> Json:
    """A subagent in the background."""
    told = {"description": "Help", "prompt": script(*steps), "subagent_type": "general-purpose"}
    return use("Agent", **told, run_in_background=True)


async def cycle_over(chat: Chat, since: int) -> Json:
    """The last usage of the next cycle that Claude Code starts by itself."""

    def fits(update: Json) -> bool:
        origin = update.get("_meta", {}).get("_claude/origin", {})
        return "cost" in update and origin.get("kind") == "task-notification"

    message = await chat.client.wait_update("usage_update", fits, since=since)
    update: Json = message.body["params"]["update"]
    return update


async def test_a_command_in_the_background_is_told_when_it_ends(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    result = await chat.ask(script([background(chat)], ["Started."], ["It is over."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "Started."
    assert [call["status"] for call in chat.calls().values()] == ["completed"]
    mark = chat.mark
    (chat.project / "go").touch()
    await cycle_over(chat, mark)
    assert chat.text(since=mark) == "It is over."
    assert chat.updates("user_message_chunk") == []
    await chat.is_well()


@pytest.mark.contract("CY-002", "CY-003", "CY-015", "CY-016")
async def test_a_cancel_ends_the_calls_of_a_cycle(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(
        script([background(chat)], ["Started."], ["Over.", bash(f"touch began; {SLEEP}")], ["No."])
    )
    mark = chat.mark
    (chat.project / "go").touch()
    await chat.until_made("began")
    chat.cancel()
    await chat.client.wait_update("tool_call_update", lambda u: u.get("status") == "failed", since=mark)
    mark = chat.mark
    await chat.is_well()
    assert "No." not in chat.text(since=mark)
    assert [call["status"] for call in chat.calls().values()] == ["completed", "failed"]


async def test_a_request_of_a_cycle_is_withdrawn_by_a_cancel(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script([background(chat)], ["Started."], [bash("npm test; touch never")], ["No."]))
    chat.client.on_permission(never)
    mark = chat.mark
    (chat.project / "go").touch()
    request = await chat.client.wait_question(since=mark)
    chat.cancel()
    await chat.client.wait_update("tool_call_update", lambda u: u.get("status") == "failed", since=mark)
    assert request.body["id"] in chat.client.withdrawn
    assert not (chat.project / "never").exists()
    await chat.is_well()


async def test_a_prompt_in_a_cycle_has_its_own_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script([background(chat)], ["Started."], [slow(20, 0.05)]))
    mark = chat.mark
    (chat.project / "go").touch()
    await chat.client.wait_update("agent_message_chunk", since=mark)
    result = await chat.ask(script(["Mine."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text(since=mark) == slow(20)["text"] + "Mine."
    await chat.is_well()


async def test_a_turn_waits_for_its_subagent_in_the_background(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call = chat.prompt(script([agent([{"delay": 1}, "Child done."])], ["Started."], ["It told me."]))
    result = await call.result()
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "Started.It told me."
    last = (await call.message()).seq
    assert chat.updates("agent_message_chunk", since=last) == []
    await chat.is_well()


async def test_a_prompt_behind_a_turn_that_waits_is_answered(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    first = chat.prompt(script([agent([{"delay": 2}, "Child done."])], ["Started."], ["It told me."]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    second = chat.prompt(script(["Second."]))
    for call in (first, second):
        assert (await call.result())["stopReason"] == "end_turn"
    assert (await first.message()).seq < (await second.message()).seq
    assert "Second." in chat.text()
    await chat.is_well()


@pytest.mark.parametrize("kind", ["plain", "rfd"])
async def test_a_cancel_ends_a_turn_that_waits(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    work = agent([bash("npm test; touch child; sleep 3; touch grown"), "No."])
    call = chat.prompt(script([work], ["Started."], ["No."]))
    await chat.until_made("child")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    result = await call.result()
    assert result["stopReason"] == "cancelled"
    await chat.client.wait_update("tool_call_update", lambda u: u.get("status") == "failed", since=chat.start)
    mark = chat.mark
    await chat.is_well()
    assert "No." not in chat.text(since=mark)
    assert not (chat.project / "grown").exists()


async def test_a_cancel_of_a_follow_up_ends_the_turn_that_waits_for_another_subagent(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    agents = [agent([{"delay": 0.5}, "First."]), agent([{"delay": 60}, "Second."])]
    call = chat.prompt(script(agents, ["Started."], [slow(400, 0.05)]))
    await chat.client.wait_update(
        "agent_message_chunk", lambda update: "word" in update["content"]["text"], since=chat.start
    )
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()


async def test_a_cancel_of_one_prompt_stops_its_follow_up_with_a_message_behind_it(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    work = agent([{"delay": 0.5}, "Child done."])
    call = chat.prompt(script([work], ["Started."], [bash("npm test; touch never")], ["No."]))
    request = await chat.client.wait_question(since=chat.start)
    message = {"sessionId": chat.session, "prompt": [{"type": "text", "text": script(["No."])}]}
    assert await chat.client.request("_session/steering", message) == {"outcome": "injected"}
    chat.client.notify("$/cancel_request", {"requestId": call.id})
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()
    assert request.body["id"] in chat.client.withdrawn
    assert "No." not in chat.text()
    assert not (chat.project / "never").exists()


@pytest.mark.contract("CY-018")
async def test_a_close_in_a_cycle_ends_its_calls_first(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script([background(chat)], ["Started."], [bash(f"touch began; {SLEEP}")], ["No."]))
    (chat.project / "go").touch()
    await chat.until_made("began")
    mark = chat.mark
    close = chat.client.call("session/close", {"sessionId": chat.session})
    assert await close.result() == {}
    (ended,) = chat.updates("tool_call_update", since=mark)
    assert ended["status"] == "failed"
    assert [call["status"] for call in chat.calls().values()] == ["completed", "failed"]
    assert chat.updates(since=(await close.message()).seq) == []
