"""Compaction in both of its forms: asked for, automatic, stopped, impossible."""

from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import pytest

from bridge.demo.api import ApiRequest, ScriptedApi
from tests.e2e.chat import Chat, bash, script
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.support.rpc import HANG, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

NOISE = ("commands", "usage", "cost", "session_info_update")
SUMMARY = "The scripted summary."


@pytest.fixture
def slow_summary(shared_api: ScriptedApi) -> Iterator[None]:
    """The model takes its time to write a summary."""

    def respond(asked: ApiRequest) -> Sequence[Any] | None:
        return [{"delay": 300}] if asked.kind == "compact" else None

    shared_api.respond = respond
    yield
    shared_api.respond = None


def reports(chat: Chat) -> list[Json]:
    """All reports of a compaction, in either form."""
    updates = [update for update in chat.updates() if "ompact" in str(update)]
    return [update for update in updates if update["sessionUpdate"] not in {"available_commands_update"}]


async def with_history(chat: Chat) -> Chat:
    """A session in which something was said."""
    await chat.ask("remember the zebra " + script(["A zebra."]))
    return chat


@pytest.mark.contract("CC-001", "CC-010", "CC-013")
async def test_compaction_as_an_update_of_its_own(chat_as: ChatAs) -> None:
    chat = await with_history(await chat_as("rfd"))
    mark = chat.mark
    assert (await chat.ask("/compact"))["stopReason"] == "end_turn"
    updates = chat.updates("compaction_update", since=mark)
    assert [update["status"] for update in updates] == ["in_progress", "completed"]
    assert len({update["compactionId"] for update in updates}) == 1
    assert updates[-1]["summary"][0]["text"].startswith(SUMMARY)
    assert all("_meta" not in update for update in updates)
    assert "contextCompaction" not in str(chat.updates())
    assert chat.updates("tool_call") == []
    await chat.is_well()
    assert SUMMARY in str(chat.requests()[-1].body["messages"])


@pytest.mark.contract("CC-002", "CC-003", "CC-010", "CC-011", "CC-012", "CC-014")
async def test_compaction_as_a_call(chat_as: ChatAs) -> None:
    chat = await with_history(await chat_as("plain"))
    mark = chat.mark
    assert (await chat.ask("/compact"))["stopReason"] == "end_turn"
    (call,) = chat.updates("tool_call", since=mark)
    assert (call["title"], call["kind"], call["status"]) == ("Compact conversation", "think", "in_progress")
    assert call["_meta"]["claudeCode"]["toolName"] == "compact"
    shown = chat.client.tool_call(call["toolCallId"], chat.session)
    assert shown["status"] == "completed"
    assert shown["rawOutput"]["preTokens"] > 0
    assert "contextCompaction" not in str(chat.updates())
    assert chat.updates("compaction_update") == []
    await chat.is_well()


@pytest.mark.contract("CC-004", "CC-006", "CC-014")
async def test_compaction_as_a_call_with_the_facts_of_air(chat_as: ChatAs) -> None:
    chat = await with_history(await chat_as("air"))
    mark = chat.mark
    assert (await chat.ask("/compact"))["stopReason"] == "end_turn"
    reported = [air(update)["contextCompaction"] for update in reports(chat) if "_meta" in update]
    assert reported[0] == {"version": 1}
    assert reported[-1]["trigger"] == "manual"
    assert reported[-1]["preTokens"] > 0
    assert {facts["version"] for facts in reported} == {1}
    assert chat.order(since=mark, without=NOISE)[-2:] == ["update completed", "end_turn"]
    await chat.is_well()


@pytest.mark.parametrize("kind", ["rfd", "air"])
async def test_compaction_of_its_own_in_a_turn(kind: str, chat_as: ChatAs) -> None:
    """The turn goes on behind it, and is answered once."""
    chat = await with_history(await chat_as(kind))
    full = {"usage": {"input_tokens": 990_000}}
    result = await chat.ask(script([bash("touch made"), full], ["Goes on."]))
    assert result["stopReason"] == "end_turn"
    told = [update["status"] for update in reports(chat) if "status" in update]
    assert told[0] == "in_progress"
    assert told[-1] == "completed"
    assert (chat.project / "made").exists()
    if kind == "air":
        assert air(reports(chat)[-1])["contextCompaction"]["trigger"] == "automatic"
    await chat.is_well()


@pytest.mark.contract("CC-017")
@pytest.mark.parametrize(("kind", "end"), [("rfd", "cancelled"), ("plain", "failed"), ("air", "failed")])
async def test_a_cancel_ends_the_compaction_before_the_turn(
    kind: str, end: str, chat_as: ChatAs, slow_summary: None
) -> None:
    chat = await with_history(await chat_as(kind))
    mark = chat.mark
    call = chat.prompt("/compact")
    with anyio.fail_after(HANG):
        while not reports(chat):  # noqa: ASYNC110 - either of two kinds of updates
            await anyio.sleep(0.02)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    last = (await call.message()).seq
    told = [update["status"] for update in reports(chat) if "status" in update]
    assert told == ["in_progress", end]
    assert "ompact" not in str(chat.updates("tool_call_update", since=last))
    assert "canceled" not in chat.text(since=mark)
    await chat.is_well()


async def test_nothing_to_compact_is_said(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    assert (await chat.ask("/compact"))["stopReason"] == "end_turn"
    assert chat.text() == "Error: No messages to compact"
    assert [update for update in reports(chat) if "status" in update] == []
    await chat.is_well()


async def test_a_prompt_behind_a_compaction_is_answered(chat_as: ChatAs) -> None:
    chat = await with_history(await chat_as("plain"))
    with chat.client.one_write():
        first, second = chat.prompt("/compact"), chat.prompt(script(["Second."]))
    assert (await first.result())["stopReason"] == "end_turn"
    assert (await second.result())["stopReason"] == "end_turn"
    assert (await first.message()).seq < (await second.message()).seq
    assert chat.text().endswith("Second.")
