"""The name of a conversation: made once by Claude, or given by the person, and found again in the list."""

from pathlib import Path

import pytest

from tests.e2e.chat import Chat, script, slow
from tests.e2e.sessions.traffic import load
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def row(chat: Chat, folder: Path | None = None) -> Json:
    """The session in the list of its folder."""
    params = {"cwd": str(folder or chat.project)}
    (only,) = (await chat.client.request("session/list", params))["sessions"]
    return dict(only)


def titles(chat: Chat) -> list[str]:
    return [update["title"] for update in chat.updates("session_info_update")]


@pytest.mark.contract("SE-081", "SE-086", "SE-088", "SE-090", "SE-095")
async def test_a_title_is_made_after_the_first_turn_and_told_once(chat: Chat) -> None:
    """The turn's end does not wait for it; the next turns say nothing of it."""
    await chat.ask("Tell me about lighthouses. " + script(["They shine."]))
    await chat.client.wait_update("session_info_update", since=chat.start)
    (asked,) = [
        asked
        for asked in chat.api.side_requests
        if asked.kind == "title" and "lighthouses" in str(asked.body["messages"])
    ]
    assert "They shine." in str(asked.body["messages"])
    await chat.ask(script(["More words about it."]))
    await chat.ask(script(["And more."]))
    assert titles(chat) == ["Scripted session"]
    assert (await row(chat))["title"] == "Scripted session"


@pytest.mark.contract("SE-084", "SE-087")
async def test_a_few_letters_make_no_title(chat: Chat) -> None:
    await chat.ask("/context")
    await chat.is_well()
    await chat.client.wait_update("session_info_update", since=chat.start)
    assert titles(chat) == ["Scripted session"], "made after the turn that said enough"


@pytest.mark.contract("SE-092")
async def test_a_turn_that_is_cancelled_makes_no_title(chat: Chat) -> None:
    call = chat.prompt("Tell me about volcanoes. " + script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.set_mode("plan")
    asked = [asked for asked in chat.api.side_requests if "volcanoes" in str(asked.body["messages"])]
    assert not [each for each in asked if each.kind == "title"]
    await chat.ask(script(["They smoke."]))
    await chat.client.wait_update("session_info_update", since=chat.start)


@pytest.mark.contract("SE-089")
async def test_a_name_that_the_person_gives_is_the_title(chat: Chat) -> None:
    await chat.ask("Tell me about lighthouses. " + script(["They shine."]))
    await chat.client.wait_update("session_info_update", since=chat.start)
    await chat.ask("/rename My own   name")
    told = await chat.client.wait_update(
        "session_info_update", lambda u: "own" in u["title"], since=chat.start
    )
    assert told.body["params"]["update"]["title"] == "My own name"
    await chat.ask(script(["Goes on."]))
    assert titles(chat) == ["Scripted session", "My own name"]
    assert (await row(chat))["title"] == "My own name"

    await chat.client.request("session/close", {"sessionId": chat.session})
    mark = chat.mark
    await load(chat.client, chat.session, cwd=str(chat.project))
    assert chat.updates("session_info_update", since=mark) == []
    await chat.ask(script(["Still so named."]))
    await chat.ask(script(["Still."]))
    assert {update["title"] for update in chat.updates("session_info_update", since=mark)} <= {"My own name"}
    assert (await row(chat))["title"] == "My own name"


async def test_a_session_of_a_linked_folder_is_listed_by_either_name(chat: Chat) -> None:
    link = chat.project.with_name(chat.project.name + "-link")
    link.symlink_to(chat.project)
    client = chat.client
    session = await client.new_session(cwd=str(link))
    await client.prompt(session, "Hello there. " + script(["Hello."])).result()
    await client.request("session/close", {"sessionId": session})
    for folder in (link, chat.project, Path(f"{link}/")):
        assert (await row(chat, folder))["sessionId"] == session
        mark = chat.mark
        await load(client, session, cwd=str(folder))
        assert client.text(session, since=mark) == "Hello."
        await client.request("session/close", {"sessionId": session})
