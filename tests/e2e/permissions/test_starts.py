"""The mode that a session starts in, and the modes that it may not have."""

import json

import pytest

from tests.e2e.chat import Chat, bash, script
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import statuses
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

CAUTIOUS = {"claudeCode": {"options": {"allowDangerouslySkipPermissions": False}}}


def configure(chat: Chat, **permissions: object) -> str:
    """Write the person's settings for later sessions of the project; its folder."""
    path = chat.project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"permissions": permissions}))
    return str(chat.project)


def opened(chat: Chat) -> Json:
    """Modes of the session as the answer to its opening has them."""
    for message in chat.client.messages[chat.start :]:
        if message.direction == "received" and "modes" in (message.body.get("result") or {}):
            modes: Json = message.body["result"]["modes"]
            return modes
    raise AssertionError("no modes")


def ids(modes: Json) -> list[str]:
    """The offered modes."""
    return [mode["id"] for mode in modes["availableModes"]]


@pytest.mark.contract("PM-087")
async def test_a_mode_that_never_asks_is_kept_from_the_settings(chat_as: ChatAs) -> None:
    folder = configure(await chat_as("plain"), defaultMode="dontAsk")
    chat = await chat_as("plain", cwd=folder)
    assert opened(chat)["currentModeId"] == "default"
    assert "dontAsk" not in ids(opened(chat))
    await chat.ask(script([bash("npm test; touch never")], ["I may not."]))
    assert chat.asked() == []
    assert statuses(chat) == ["failed"]

    await chat.set_mode("default")
    await chat.ask(script([bash("npm test")], ["Now I may."]))
    assert len(chat.asked()) == 1


@pytest.mark.contract("PM-089", "PM-090", "PM-091")
async def test_bypass_is_taken_away_by_the_client(chat_as: ChatAs) -> None:
    folder = configure(await chat_as("plain"), defaultMode="bypassPermissions")
    free = await chat_as("plain", cwd=folder)
    assert opened(free)["currentModeId"] == "bypassPermissions"
    chat = await chat_as("plain", cwd=folder, _meta=CAUTIOUS)
    assert "bypassPermissions" not in ids(opened(chat))
    assert opened(chat)["currentModeId"] == "default"
    await chat.ask(script([bash("npm test")], ["Done."]))
    assert len(chat.asked()) == 1

    await chat.client.request("session/close", {"sessionId": chat.session})
    place: Json = {"sessionId": chat.session, "cwd": folder, "mcpServers": [], "_meta": CAUTIOUS}
    modes = (await chat.client.request("session/load", place))["modes"]
    assert "bypassPermissions" not in ids(modes)
    assert modes["currentModeId"] == "default"
    call = chat.client.call("session/set_mode", {"sessionId": chat.session, "modeId": "bypassPermissions"})
    assert (await call.error()).code == -32602
