"""Requests that are open together, and requests that somebody else decides."""

import json

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import NOISE, statuses, told
from tests.support.rpc import Call, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

ALLOWED: Json = {"outcome": {"outcome": "selected", "optionId": "allow-once"}}
REJECTED: Json = {"outcome": {"outcome": "selected", "optionId": "reject"}}


async def two_open(chat: Chat) -> tuple[Call, list[Json]]:
    """A turn whose two reads outside the project are asked for at once."""
    outside = chat.project.parent / f"{chat.project.name}-outside"
    outside.mkdir()
    for name in ("a", "b"):
        (outside / name).write_text(f"text of {name}")
    chat.client.on_permission(never)
    reads = [use("Read", file_path=str(outside / name)) for name in ("a", "b")]
    call = chat.prompt(script(reads, ["Done."]))
    first = await chat.client.wait_question(since=chat.start)
    second = await chat.client.wait_question(since=first.seq + 1)
    return call, [first.body, second.body]


@pytest.mark.contract("PM-010")
async def test_two_requests_are_answered_in_reverse(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call, (first, second) = await two_open(chat)
    chat.client.answer(second["id"], ALLOWED)
    chat.client.answer(first["id"], REJECTED)
    assert (await call.result())["stopReason"] == "end_turn"
    results = {result["tool_use_id"]: result for result in told(chat)}
    refused, read = (results[id] for id in chat.calls())
    assert refused["is_error"]
    assert "text of b" in str(read["content"])
    assert statuses(chat) == ["failed", "completed"]


async def test_an_error_of_the_client_fails_its_own_call(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call, (first, second) = await two_open(chat)
    chat.client.fail(first["id"], -32603, "no window")
    chat.client.answer(second["id"], ALLOWED)
    assert (await call.result())["stopReason"] == "end_turn"
    assert told(chat)[0]["content"] == "Tool permission request failed: Error: no window"
    assert statuses(chat) == ["failed", "completed"]


async def test_a_cancel_withdraws_both(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call, (first, second) = await two_open(chat)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert {first["id"], second["id"]} <= set(chat.client.withdrawn)
    assert statuses(chat) == ["failed", "failed"]
    chat.client.answer(first["id"], ALLOWED)
    await chat.is_well()


@pytest.mark.contract("PM-100", "PM-103")
@pytest.mark.parametrize(("decision", "status"), [("allow", "completed"), ("deny", "failed")])
async def test_a_request_that_a_hook_decides_is_withdrawn(
    decision: str, status: str, chat_as: ChatAs
) -> None:
    """The person's own hook answers while the client still shows the request."""
    folder = (await chat_as("plain")).project
    output = {"hookEventName": "PermissionRequest", "decision": {"behavior": decision}}
    (folder / "decision").write_text(json.dumps({"hookSpecificOutput": output}))
    wait = f"until [ -e {folder}/go ]; do sleep 0.05; done; cat {folder}/decision"
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": wait}]}
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.local.json").write_text(
        json.dumps({"hooks": {"PermissionRequest": [hook]}})
    )
    chat = await chat_as("plain", cwd=str(folder))
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("npm test; touch made")], ["Done."]))
    request = await chat.client.wait_question(since=chat.start)
    (folder / "go").touch()
    assert (await call.result())["stopReason"] == "end_turn"
    assert request.body["id"] in chat.client.withdrawn
    assert statuses(chat) == [status]
    assert (folder / "made").exists() == (decision == "allow")
    words = chat.order(without=NOISE)
    assert words.index("withdrawn") < words.index(f"update {status}")
    chat.client.answer(request.body["id"], ALLOWED)
    await chat.is_well()
