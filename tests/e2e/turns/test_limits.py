"""Usage limits in a stored conversation: a record for who knows records, the text for everyone else.

Claude Code tells of a limit only to subscribers, so another failure that it stored is renamed.
"""

import pytest

from tests.e2e.chat import Chat, script
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

STORED = "Credit balance is too low"
LIMIT = "You've hit your session limit · resets 3pm"
PROSE = "You've hit your head."
FAILING = script([{"error": 400, "message": "Your credit balance is too low to access the Anthropic API."}])


async def with_limit(chat: Chat) -> Json:
    """A stored conversation: prose of the model, a limit, an answer; the record of the limit, if any."""
    await chat.ask(script([PROSE]))
    message = (await chat.prompt(FAILING).message()).body
    await chat.ask(script(["Later."]))
    await chat.client.request("session/close", {"sessionId": chat.session})
    (path,) = (chat.client.sandbox.config / "projects").glob(f"*/{chat.session}.jsonl")
    path.write_text(path.read_text().replace(STORED, LIMIT))
    record: Json = air(message["result"])["sessionFailure"] if "result" in message else {}
    return record


async def load(chat: Chat) -> list[str]:
    """What the client is told of the stored conversation, in short."""
    mark = chat.mark
    place = {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": []}
    await chat.client.request("session/load", place)
    told = []
    for update in chat.updates(since=mark):
        match update["sessionUpdate"]:
            case "agent_message_chunk":
                told.append(update["content"]["text"])
            case "session_info_update" if "sessionFailure" in str(update):
                told.append("failure")
    return told


@pytest.mark.contract("SF-013", "SF-056", "SF-057", "SF-058", "SF-060")
async def test_a_limit_is_replayed_as_a_record_in_its_place(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    live = await with_limit(chat)
    mark = chat.mark
    assert await load(chat) == [PROSE, "failure", "Later."]
    infos = [
        each for each in chat.updates("session_info_update", since=mark) if "sessionFailure" in str(each)
    ]
    record = air(infos[0])["sessionFailure"]
    assert record["id"] == live["id"]
    assert (record["category"], record["title"], record["actions"]) == ("limit", LIMIT, [])
    await chat.is_well()


@pytest.mark.contract("SF-061")
async def test_a_limit_is_replayed_as_it_was_stored_for_others(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await with_limit(chat)
    assert await load(chat) == [PROSE, LIMIT, "Later."]
    assert "jetbrains" not in str(chat.updates())
    await chat.is_well()
