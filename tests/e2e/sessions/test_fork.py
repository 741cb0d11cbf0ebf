"""Copies of a conversation: whole, up to a message, up to a message that only its text identifies."""

import hashlib

import pytest

from bridge.demo.api import ScriptedApi
from tests.e2e.chat import Chat, script, slow
from tests.e2e.conftest import NewChat
from tests.e2e.sessions.traffic import load, texts, told
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def request(chat: Chat, point: object = None, **more: object) -> Json:
    """A fork of the session, at a message if one is given."""
    meta = {} if point is None else {"_meta": {"jetbrains": {"air": {"fork": point}}}}
    return {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": [], **meta, **more}


def fingerprint(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


async def talk(chat: Chat, *words: str) -> list[str]:
    """One turn for each word; the ids of the answers."""
    for word in words:
        await chat.ask(f"Say {word}. {script([word])}")
    ids = [update["messageId"] for update in chat.updates("agent_message_chunk")]
    return list(dict.fromkeys(ids))


async def history(chat: Chat, api: ScriptedApi, fork: str) -> str:
    """What the model is told of the past when the fork goes on."""
    await chat.client.prompt(fork, "Go on. " + script(["On."])).result()
    assert api.requests[-1].headers["x-claude-code-session-id"] == fork
    await chat.client.request("session/close", {"sessionId": fork})
    return str(api.requests[-1].body["messages"])


@pytest.mark.contract("SE-037", "SE-051", "NG-027")
async def test_a_fork_holds_the_whole_conversation_or_ends_with_a_message(
    chat: Chat, shared_api: ScriptedApi
) -> None:
    first, second, _ = await talk(chat, "alpha", "beta", "gamma")
    client, mark = chat.client, chat.mark
    call = client.call("session/fork", request(chat))
    whole = await call.result()
    assert whole.keys() >= {"sessionId", "modes", "configOptions"}
    assert whole["sessionId"] != chat.session
    assert client.updates(whole["sessionId"], "agent_message_chunk") == [], "a fork replays nothing"
    commands = await client.wait_update("available_commands_update", since=mark)
    assert commands.seq > (await call.message()).seq
    past = await history(chat, shared_api, whole["sessionId"])
    assert all(f"Say {word}." in past for word in ("alpha", "beta", "gamma"))

    for message_id, left, gone in [(first, "alpha", "beta"), (f"{second}:segment:3", "beta", "gamma")]:
        at = await client.request("session/fork", request(chat, {"version": 1, "messageId": message_id}))
        past = await history(chat, shared_api, at["sessionId"])
        assert f"Say {left}." in past
        assert f"Say {gone}." not in past

    mark = chat.mark
    await chat.ask("More. " + script(["delta"]))
    assert chat.text(since=mark) == "delta", "the source goes on untouched"
    assert "Go on." not in str(shared_api.requests[-1].body["messages"])


@pytest.mark.contract("SE-029", "SE-031")
async def test_a_fork_begins_with_the_model_and_the_mode_of_what_it_keeps(chat: Chat) -> None:
    (first,) = await talk(chat, "alpha")
    for option, value in (("model", "sonnet"), ("mode", "acceptEdits")):
        asked = {"sessionId": chat.session, "configId": option, "value": value}
        await chat.client.request("session/set_config_option", asked)
    await talk(chat, "beta")
    for point, kept in ((None, ("sonnet", "acceptEdits")), (first, ("default", "default"))):
        fork = None if point is None else {"version": 1, "messageId": point}
        told = await chat.client.request("session/fork", request(chat, fork))
        options = {option["id"]: option["currentValue"] for option in told["configOptions"]}
        assert (options["model"], options["mode"]) == kept


@pytest.mark.contract("SE-042", "SE-044", "SE-046", "SE-050")
async def test_a_message_is_found_by_its_text_and_its_place_among_equal_ones(
    chat: Chat, shared_api: ScriptedApi
) -> None:
    await talk(chat, "same", "other", "same")
    client = chat.client
    for occurrence, past_prompts in [(1, 1), (2, 3)]:
        point = {"messageFingerprint": fingerprint("same"), "messageOccurrence": occurrence}
        at = await client.request("session/fork", request(chat, {"version": 1, "messageId": "x", **point}))
        past = await history(chat, shared_api, at["sessionId"])
        assert past.count("Say ") == past_prompts

    unique = {"version": 1, "messageId": "x", "messageFingerprint": fingerprint("other")}
    at = await client.request("session/fork", request(chat, unique))
    assert (await history(chat, shared_api, at["sessionId"])).count("Say ") == 2

    for point in (
        {"version": 1, "messageId": "nope"},
        {"version": 1, "messageId": "nope", "messageFingerprint": fingerprint("same")},
        {**unique, "messageId": "nope", "messageFingerprint": fingerprint("never said")},
        {
            "version": 1,
            "messageId": "nope",
            "messageFingerprint": fingerprint("same"),
            "messageOccurrence": 3,
        },
    ):
        error = await client.call("session/fork", request(chat, point)).error()
        text = f"Invalid params: Fork point message nope was not found in session {chat.session}"
        assert (error.code, error.message, error.data) == (-32602, text, {"messageId": "nope"})


@pytest.mark.contract("SE-038", "SE-039")
async def test_a_fork_point_of_another_version_or_without_a_message_is_none(
    chat: Chat, shared_api: ScriptedApi
) -> None:
    await talk(chat, "alpha", "beta")
    for point in ({"version": 2, "messageId": "nope"}, {"version": 1, "messageId": " "}):
        fork = await chat.client.request("session/fork", request(chat, point))
        assert "Say beta." in await history(chat, shared_api, fork["sessionId"])


async def test_a_fork_is_stored_named_and_looks_like_its_source(chat: Chat) -> None:
    await talk(chat, "alpha")
    client = chat.client
    fork = (await client.request("session/fork", request(chat)))["sessionId"]
    await client.prompt(fork, "Go on. " + script(["On."])).result()
    await client.request("session/close", {"sessionId": fork})
    listed = await client.request("session/list", {"cwd": str(chat.project)})
    titles = {row["sessionId"]: row["title"] for row in listed["sessions"]}
    assert titles.keys() == {chat.session, fork}
    assert titles[fork] == f"{titles[chat.session]} (fork)"
    mark = chat.mark
    await load(client, fork, cwd=str(chat.project))
    replayed = texts(told(client, fork, since=mark), "agent_message")
    assert replayed == ["alpha", "On."]
    assert {"messageId": (await talk(chat))[0]}.items() <= client.updates(fork, since=mark)[1].items()
    await client.request("session/close", {"sessionId": fork})


async def test_a_session_may_be_forked_while_it_works_and_the_fork_be_elsewhere(
    chat: Chat, new_chat: NewChat, shared_api: ScriptedApi
) -> None:
    await talk(chat, "alpha")
    elsewhere = await new_chat()
    running = chat.prompt("Long. " + script([slow(20)]))
    await chat.client.wait_update("agent_message_chunk", lambda u: "word" in str(u), since=chat.start)
    fork = await chat.client.request("session/fork", request(chat, cwd=str(elsewhere.project)))
    assert "Say alpha." in await history(chat, shared_api, fork["sessionId"])
    assert (await running.result())["stopReason"] == "end_turn"
    assert chat.text().endswith(slow(20)["text"])
