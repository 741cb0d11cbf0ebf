"""Cancels and queues with the real Claude Code: who is stopped, who goes on, and what is seen of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.e2e.chat import SLEEP, Chat, bash, script, slow
from tests.support.rpc import Call, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def first_text(chat: Chat, since: int = 0) -> None:
    """Wait until the model speaks."""
    await chat.client.wait_update("agent_message_chunk", since=max(since, chat.start))


async def stop_reasons(calls: Sequence[Call]) -> list[Any]:
    """How they ended, in the order in which they were sent."""
    return [(await call.result())["stopReason"] for call in calls]


async def sequence(*calls: Call) -> list[int]:
    """Places of the answers among all messages."""
    return [(await call.message()).seq for call in calls]


# ── cancel ────────────────────────────────────────────────────────────────────


@pytest.mark.contract("CY-022")
async def test_a_cancel_stops_the_text_and_the_next_prompt_has_its_own(chat: Chat) -> None:
    call = chat.prompt(script([slow()]))
    await first_text(chat)
    chat.cancel()
    result = await call.result()
    assert result["stopReason"] == "cancelled"
    assert any(count for count in result.get("usage", {"none": 1}).values()), "an invented zero"
    mark = chat.mark

    await chat.is_well()
    assert "word-" not in chat.text(since=mark)


@pytest.mark.contract("CY-019", "CY-020")
async def test_a_cancel_stops_the_tool_that_runs(chat: Chat) -> None:
    call = chat.prompt(script(["I wait.", bash(f"touch began; {SLEEP}; touch ended")], ["No."]))
    await chat.until_made("began")
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert chat.order() == [
        *("prompt", "text", "call pending", "request_permission", "allow-once", "cancel"),
        *("update failed", "cancelled"),
    ]
    await chat.is_well()
    assert not (chat.project / "ended").exists()


@pytest.mark.contract("PM-006", "PM-103", "CY-019")
async def test_a_cancel_withdraws_an_open_question_and_a_late_answer_changes_nothing(chat: Chat) -> None:
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch never")], ["No."]))
    question = await chat.client.wait_question(since=chat.start)
    with chat.client.one_write():
        chat.cancel()
        after = chat.prompt(script(["Second."]))
    assert (await call.result())["stopReason"] == "cancelled"
    assert question.body["id"] in chat.client.withdrawn
    options = question.body["params"]["options"]
    allow = next(option["optionId"] for option in options if option["kind"] == "allow_once")
    chat.client.answer(question.body["id"], {"outcome": {"outcome": "selected", "optionId": allow}})

    assert (await after.result())["stopReason"] == "end_turn"
    assert chat.text() == "Second."
    (shown,) = chat.calls().values()
    assert shown["status"] == "failed"
    assert not (chat.project / "never").exists()
    words = chat.order()
    assert words.index("withdrawn") < words.index("update failed") < words.index("cancelled")


async def test_a_prompt_and_its_cancel_in_one_write(chat: Chat) -> None:
    for _ in range(3):
        with chat.client.one_write():
            call = chat.prompt(script([slow()]))
            chat.cancel()
        assert await stop_reasons([call]) == ["cancelled"]
        await chat.is_well()
    assert "word-" not in chat.text()


async def test_a_prompt_right_behind_a_cancel_is_not_meant_by_it(chat: Chat) -> None:
    for n in range(3):
        mark = chat.mark
        first = chat.prompt(script([slow()]))
        await first_text(chat, mark)
        with chat.client.one_write():
            chat.cancel()
            second = chat.prompt(script([f"Second {n}."]))
        assert await stop_reasons([first, second]) == ["cancelled", "end_turn"]
        assert chat.text(since=(await first.message()).seq) == f"Second {n}."


async def test_a_cancel_without_work_changes_nothing(chat: Chat) -> None:
    chat.cancel()
    await chat.is_well()
    chat.cancel()
    chat.client.notify("session/cancel", {"sessionId": "nobody"})
    await chat.is_well()


async def test_two_cancels_are_as_good_as_one(chat: Chat) -> None:
    call = chat.prompt(script([slow()]))
    await first_text(chat)
    chat.cancel()
    chat.cancel()
    assert await stop_reasons([call]) == ["cancelled"]
    await chat.is_well()


# ── queues ────────────────────────────────────────────────────────────────────


async def test_two_prompts_are_answered_one_after_the_other(chat: Chat) -> None:
    first = chat.prompt(script([slow(12)]))
    await first_text(chat)
    second = chat.prompt(script(["Mine."]))
    assert await stop_reasons([first, second]) == ["end_turn", "end_turn"]
    one, two = await sequence(first, second)
    assert one < two
    assert [(await call.result())["usage"]["totalTokens"] for call in (first, second)] == [15, 15]
    assert chat.text() == slow(12)["text"] + "Mine."
    assert chat.text(since=one) == "Mine."


@pytest.mark.contract("CY-023", "CY-022")
async def test_prompts_that_wait_together_are_answered_together(chat: Chat) -> None:
    first = chat.prompt(script([slow(12)]))
    await first_text(chat)
    with chat.client.one_write():
        second, third = chat.prompt("Just this."), chat.prompt(script(["Both at once."]))
    assert await stop_reasons([first, second, third]) == ["end_turn"] * 3
    one, two, three = await sequence(first, second, third)
    assert one < two < three
    assert chat.text(since=one) == "Both at once."
    assert not chat.updates("agent_message_chunk", since=two)
    assert "usage" not in await second.result()
    assert (await third.result())["usage"]["totalTokens"] == 15
    assert len(chat.requests()) == 2


async def test_a_prompt_during_a_tool_is_answered_once_and_no_text_twice(chat: Chat) -> None:
    go = chat.project / "go"
    wait = bash(f"touch began; until [ -e {go} ]; do sleep 0.1; done")
    first = chat.prompt(script(["Before.", wait], ["After."]))
    await chat.until_made("began")
    second = chat.prompt(script(["Second."], ["Third."]))
    go.touch()
    assert await stop_reasons([first, second]) == ["end_turn", "end_turn"]
    one, two = await sequence(first, second)
    assert one < two
    assert chat.text().startswith("Before.")
    assert chat.text().count("Before.") == 1
    await chat.is_well()


async def test_a_cancel_means_the_whole_queue_and_nothing_later(chat: Chat) -> None:
    first = chat.prompt(script([slow()]))
    await first_text(chat)
    with chat.client.one_write():
        second, third = chat.prompt(script(["B."])), chat.prompt(script(["C."]))
        chat.cancel()
        last = chat.prompt(script(["Later."]))
    assert await stop_reasons([first, second, third]) == ["cancelled"] * 3
    one, two, three = await sequence(first, second, third)
    assert two < three < one
    assert "usage" not in await second.result()
    assert await stop_reasons([last]) == ["end_turn"]
    assert chat.text(since=one) == "Later."
    assert "B." not in chat.text()


@pytest.mark.contract("CY-021")
async def test_one_prompt_of_the_queue_is_cancelled_alone(chat: Chat) -> None:
    first = chat.prompt(script([slow(30)]))
    await first_text(chat)
    with chat.client.one_write():
        second, third = chat.prompt(script(["B."])), chat.prompt(script(["C."]))
    chat.client.notify("$/cancel_request", {"requestId": second.id})
    assert await stop_reasons([second]) == ["cancelled"]
    assert not first.done
    assert await stop_reasons([first, third]) == ["end_turn", "end_turn"]
    assert chat.text() == slow(30)["text"] + "C."


@pytest.mark.contract("CY-021")
async def test_the_running_prompt_is_cancelled_alone(chat: Chat) -> None:
    first = chat.prompt(script([slow()]))
    await first_text(chat)
    second = chat.prompt(script(["Second."]))
    chat.client.notify("$/cancel_request", {"requestId": first.id})
    assert await stop_reasons([first, second]) == ["cancelled", "end_turn"]
    assert chat.text(since=(await first.message()).seq) == "Second."
    chat.client.notify("$/cancel_request", {"requestId": first.id})
    await chat.is_well()


@pytest.mark.contract("CY-021", "CY-023")
async def test_of_prompts_that_run_together_one_is_cancelled_alone(chat: Chat) -> None:
    first = chat.prompt(script([slow(12)]))
    await first_text(chat)
    with chat.client.one_write():
        second, third = chat.prompt("Just this."), chat.prompt(script([slow(20)]))
    await first_text(chat, (await first.message()).seq)
    chat.client.notify("$/cancel_request", {"requestId": second.id})
    assert await stop_reasons([second]) == ["cancelled"]
    assert not third.done
    assert await stop_reasons([third]) == ["end_turn"]
    assert chat.text(since=(await first.message()).seq) == slow(20)["text"]
    await chat.is_well()
