"""What goes wrong at the model: retries, errors, broken streams, limits, and what each client is told."""

from typing import Any

import anyio
import pytest

from bridge.demo.script import CLOSING
from tests.e2e.chat import Chat, script, slow
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.support.rpc import HANG, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


KEYS = {"id", "revision", "category", "severity", "title", "details", "reason", "actions"}


def failing(status: int, *, times: int | None = None, message: str = "bad words") -> Json:
    """An error of the model's API, at once."""
    error: Json = {"error": status, "message": message, "headers": {"retry-after": "0"}}
    return error if times is None else {**error, "times": times}


def records(chat: Chat, since: int | None = None) -> list[Json]:
    """The failures that a client was told of in updates."""
    infos = chat.updates("session_info_update", since=since)
    carried = [air(info) for info in infos if "jetbrains" in (info.get("_meta") or {})]
    return [each["sessionFailure"] for each in carried if "sessionFailure" in each]


@pytest.mark.contract("SF-001", "TC-049")
@pytest.mark.parametrize("kind", ["plain", "airmin"])
async def test_without_records_a_failure_is_an_error(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    error = await chat.prompt(script([failing(400)])).error()
    assert error.code == -32603
    assert error.message.startswith("Internal error: API Error: 400")
    assert error.data["errorKind"]
    assert records(chat) == []
    await chat.is_well()


@pytest.mark.contract("SF-002", "SF-009", "SF-016", "SF-022", "SF-027", "SF-044", "SF-050", "TC-049")
async def test_a_failure_is_a_record_of_the_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    ids = set()
    for status, category in ((400, "service"), (500, "service"), (429, "limit")):
        result = await chat.ask(script([failing(status)]))
        assert result["stopReason"] == "end_turn"
        record = air(result)["sessionFailure"]
        assert (record["category"], record["severity"], record["actions"]) == (category, "error", ["retry"])
        assert "bad words" in record["title"] or str(status) in record["title"]
        assert set(record) <= KEYS
        ids.add(record["id"])
    assert len(ids) == 3
    assert all(id.endswith(":error") for id in ids)
    assert chat.text() == ""
    await chat.is_well()


@pytest.mark.contract("SF-018", "SF-030", "SF-037", "SF-038")
async def test_retries_are_warnings_of_the_turn_that_runs(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    result = await chat.ask(script([failing(529, times=2), "At last."]))
    assert result["stopReason"] == "end_turn"
    assert "sessionFailure" not in str(result)
    assert chat.text() == "At last."
    warnings = records(chat)
    assert [record["title"] for record in warnings] == [f"Retrying Claude, attempt {n} of 2." for n in (1, 2)]
    assert len({record["id"] for record in warnings}) == 1
    assert [record["revision"] for record in warnings] == [1, 2]
    assert {record["severity"] for record in warnings} == {"warning"}
    assert [record["actions"] for record in warnings] == [[], []]


@pytest.mark.contract("SF-026", "SF-041")
async def test_a_failure_behind_retries_goes_on_with_their_record(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    result = await chat.ask(script([failing(529)]))
    record = air(result)["sessionFailure"]
    warnings = records(chat)
    assert record["id"] == warnings[-1]["id"]
    assert record["revision"] == warnings[-1]["revision"] + 1
    assert (record["category"], record["severity"], record["actions"]) == ("service", "error", ["retry"])
    await chat.is_well()


@pytest.mark.contract("SF-001")
async def test_a_client_without_records_hears_nothing_of_retries(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script([failing(529, times=2), "At last."]))
    assert chat.text() == "At last."
    assert "etrying" not in str(chat.updates())


@pytest.mark.contract("SF-031", "SF-039")
async def test_a_connection_that_cannot_be_made_is_a_warning_of_its_own(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    result = await chat.ask(script([{"cut": True, "times": 1}, "At last."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "At last."
    for record in records(chat):
        assert record["title"].startswith("Reconnecting to Claude, attempt 1 of ")
        assert record["category"] == "connection"
    assert records(chat)


@pytest.mark.contract("SF-033")
@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_a_refused_key_asks_for_a_sign_in(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    error = await chat.prompt(script([failing(401, message="invalid x-api-key")])).error()
    assert error.code == -32000
    assert records(chat) == []
    await chat.is_well()


PART: list[Any] = ["Part.", {"stop": "max_tokens"}]
TOO_LONG = "exceeded the 128000 output token maximum"


async def test_a_text_that_is_cut_once_goes_on(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert (await chat.ask(script(PART, ["Rest."])))["stopReason"] == "end_turn"
    assert chat.text() == "Part.Rest."


async def test_a_text_that_is_cut_again_and_again_fails_with_its_limit(chat_as: ChatAs) -> None:
    """Claude Code asks the model a few times to go on, then gives up."""
    chat = await chat_as("plain")
    error = await chat.prompt(script(*[PART] * 6)).error()
    assert TOO_LONG in error.message
    assert error.data == {"errorKind": "max_output_tokens"}
    assert chat.text() == "Part." * 4 + error.message.removeprefix("Internal error: ")
    await chat.is_well()


@pytest.mark.contract("SF-016")
async def test_a_text_that_is_cut_again_and_again_is_a_record_of_its_limit(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    result = await chat.ask(script(*[PART] * 6))
    assert result["stopReason"] == "end_turn"
    record = air(result)["sessionFailure"]
    assert (record["category"], record["actions"]) == ("limit", ["new_session"])
    assert TOO_LONG in record["title"]
    await chat.is_well()


async def test_a_refusal_is_told_as_one(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    refusal: list[Any] = [{"stop": "refusal"}]
    result = await chat.ask(script(*[refusal] * 4))
    assert result["stopReason"] == "refusal"
    assert chat.text()
    await chat.is_well()


async def test_a_cancel_during_retries_is_a_cancel(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = chat.prompt(script([{**failing(529), "headers": {"retry-after": "60"}}]))
    await chat.client.wait_update(
        "session_info_update", lambda info: "sessionFailure" in str(info), since=chat.start
    )
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert {record["severity"] for record in records(chat)} == {"warning"}
    await chat.is_well()


async def test_a_cancel_before_the_first_word(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    steps: list[list[Any]] = [[{"hang": True}], [{"delay": 300}, "Late."]]
    for n, step in enumerate(steps):
        call = chat.prompt(script(step))
        with anyio.fail_after(HANG):
            while len(chat.requests()) == n:  # noqa: ASYNC110 - no event tells it
                await anyio.sleep(0.02)
        chat.cancel()
        assert (await call.result())["stopReason"] == "cancelled"
    assert chat.text() == ""
    await chat.is_well()


async def test_a_stream_that_breaks_in_a_text_is_told_once(chat_as: ChatAs) -> None:
    """Claude Code goes on behind the part it has, or asks again for all of it, as a message of its own."""
    chat = await chat_as("air")
    whole = "word-0 word-1 word-2"
    result = await chat.ask(script([slow(3, 0.01), {"cut": True}]))
    assert result["stopReason"] == "end_turn"
    told: dict[str, str] = {}
    for chunk in chat.updates("agent_message_chunk"):
        told[chunk["messageId"]] = told.get(chunk["messageId"], "") + chunk["content"]["text"]
    broken = [text for text in told.values() if text != CLOSING]
    assert all(whole.startswith(text) for text in broken), "once; the end of what broke off may be lost"
    if [*told.values()][-1:] != [CLOSING]:  # it gave up
        assert air(result)["sessionFailure"]["severity"] == "error"
    await chat.is_well()
