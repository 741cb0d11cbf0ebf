"""Turns of the real Claude Code: their order, their texts, their numbers, their ends."""

from itertools import groupby
from typing import Any

import pytest

from tests.e2e.chat import NOISE, Chat, bash, script
from tests.e2e.conftest import NewChat

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.mark.contract("SE-004", "TC-015", "SE-100", "SE-102", "TC-062", "PM-008")
async def test_a_turn_with_a_tool_comes_in_order(chat: Chat) -> None:
    await chat.client.wait_update("available_commands_update", since=chat.start)
    assert chat.order(without=()) == ["commands"]
    mark = chat.mark

    result = await chat.ask(script(["One two three.", bash("touch made; echo hi")], ["Done it."]))

    assert chat.order(since=mark, without=["commands", "usage", "session_info_update"]) == [
        *("prompt", "text", "call pending", "update", "request_permission", "allow-once"),
        *("update", "update completed", "text", "cost", "end_turn"),
    ]
    assert texts_by_message(chat) == ["One two three.", "Done it."]
    assert (chat.project / "made").exists()
    assert result["usage"] == {
        "inputTokens": 20,
        "outputTokens": 10,
        "cachedReadTokens": 0,
        "cachedWriteTokens": 0,
        "totalTokens": 30,
    }
    quota = result["_meta"]["quota"]
    assert quota["token_count"]["totalTokens"] == 30
    assert [row["token_count"]["totalTokens"] for row in quota["model_usage"]] == [30]
    *_, last = chat.updates("usage_update")
    assert last["cost"]["amount"] > 0
    assert last["_meta"]["_claude/model"] == quota["model_usage"][0]["model"]


@pytest.mark.contract("TC-015", "SE-097")
async def test_the_text_before_each_tool_is_there_once(chat: Chat) -> None:
    steps = [[f"Step {n}.", bash(f"touch f{n}")] for n in range(5)]
    await chat.ask(script(*steps, ["End."]))

    said = chat.order(without=[*NOISE, "request_permission", "allow-once"])
    assert said == ["prompt", *["text", "call pending", "update completed"] * 5, "text", "end_turn"]
    assert texts_by_message(chat) == [*(f"Step {n}." for n in range(5)), "End."]


async def test_thinking_is_shown_and_an_empty_thought_is_not(chat: Chat) -> None:
    await chat.ask(script([{"thinking": ""}, "Now."]))
    assert chat.order() == ["prompt", "text", "end_turn"]

    mark = chat.mark
    await chat.ask(script([{"thinking": "I think. Twice."}, "Then."]))
    assert chat.order(since=mark) == ["prompt", "thought", "text", "end_turn"]
    assert chat.text("agent_thought_chunk") == "I think. Twice."


async def test_fifty_turns_in_a_row_each_with_its_own_end(chat: Chat) -> None:
    """Every fifth starts a command in the background, whose end comes between the turns."""
    for n in range(50):
        mark = chat.mark
        background = [[bash("sleep 0.2", run_in_background=True)]] if n % 5 == 0 else []
        result = await chat.ask(script(*background, [f"Answer {n}."]))
        assert result["stopReason"] == "end_turn"
        assert chat.text(since=mark).count(f"Answer {n}.") == 1
        assert [f"Answer {m}." in chat.text() for m in range(n + 2)] == [True] * (n + 1) + [False]


async def test_three_sessions_at_once_do_not_mix(new_chat: NewChat) -> None:
    chats = [await new_chat() for _ in range(3)]
    steps: list[list[Any]] = [
        [[f"I am {n}.", bash(f"echo {n} > mine")], [{"text": f"still {n} " * 30, "pace": 0.01}]]
        for n in range(3)
    ]
    calls = [chat.prompt(script(*step)) for chat, step in zip(chats, steps, strict=True)]
    assert [(await call.result())["stopReason"] for call in calls] == ["end_turn"] * 3

    for n, chat in enumerate(chats):
        assert chat.text() == f"I am {n}." + f"still {n} " * 30
        assert (chat.project / "mine").read_text() == f"{n}\n"
        assert len(chat.asked()) == 1
        assert [call["status"] for call in chat.calls().values()] == ["completed"]


async def test_the_context_meter_shows_the_last_message(chat: Chat) -> None:
    steps = [[bash(f"touch f{n}"), {"usage": {"input_tokens": n * 10_000}}] for n in (1, 2, 3)]
    await chat.ask(script(*steps, ["End.", {"usage": {"input_tokens": 40_000}}]))
    updates = chat.updates("usage_update")
    assert len({update["size"] for update in updates}) == 1
    assert 40_000 <= updates[-1]["used"] < 50_000


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [(400, -32603, "bad words"), (401, -32000, "Authentication required"), (429, -32603, "429")],
)
async def test_an_error_of_the_model_is_told_and_the_next_turn_is_fine(
    status: int, code: int, says: str, chat: Chat
) -> None:
    failing = {"error": status, "message": "bad words", "headers": {"retry-after": "0"}}
    error = await chat.prompt(script([failing])).error()
    assert error.code == code
    assert says in error.message
    await chat.is_well()


async def test_a_connection_that_breaks_midway_shows_the_text_once(chat: Chat) -> None:
    result = await chat.ask(script(["One part.", {"cut": True, "times": 1}]))
    assert result["stopReason"] == "end_turn"
    # Claude Code asks again, or goes on behind what it has.
    assert chat.text() in {"One part.", "One part.All done."}
    await chat.is_well()


async def test_the_end_of_a_background_command_is_told_without_a_prompt(chat: Chat) -> None:
    command = bash("sleep 1; echo over", run_in_background=True)
    result = await chat.ask(script([command], ["Started."], ["It is over."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "Started."
    mark = chat.mark

    await chat.client.wait_update("usage_update", lambda update: "cost" in update, since=mark)
    assert chat.text(since=mark) == "It is over."
    *_, last = chat.updates("usage_update")
    assert last["_meta"]["_claude/origin"]["kind"] == "task-notification"
    await chat.is_well()


def texts_by_message(chat: Chat) -> list[str]:
    """The text of each message, by the ids of its chunks."""
    chunks = chat.updates("agent_message_chunk")
    grouped = groupby(chunks, lambda chunk: chunk["messageId"])
    texts = {id: "".join(chunk["content"]["text"] for chunk in group) for id, group in grouped}
    assert len(texts) == len({chunk["messageId"] for chunk in chunks})
    return list(texts.values())
