"""A plan on ACP v2 that goes on in an empty conversation: the work goes on, told once."""

import pytest

from tests.e2e.chat import script
from tests.e2e.permissions.test_plans import CLEAR, planned
from tests.e2e.permissions.test_plans import plans as plans
from tests.e2e.permissions.words import select
from tests.e2e.v2.conftest import NewV2Chat

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def test_a_plan_goes_on_in_an_empty_conversation(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.ask("remember the zebra " + script(["A zebra."]))
    choice = {"sessionId": chat.session, "configId": "mode", "type": "id", "value": "plan"}
    await chat.chat.client.request("session/set_config_option", choice)
    mark = chat.mark
    chat.chat.client.on_permission(select(CLEAR))
    end = await chat.ask(planned(["Never said."]))
    assert end["stopReason"] == "end_turn"
    (asked,) = [each for each in chat.chat.asked() if each["options"][-1]["name"] == "No, keep planning"]
    assert asked["title"] == "Ready to code?"
    words = [
        each.get("state", "message")
        for each in chat.updates(since=mark)
        if each["sessionUpdate"] in {"user_message", "state_update"}
    ]
    assert words == ["message", "running", "requires_action", "running", "idle"]
    assert chat.chat.text(since=mark).startswith("Hello! This is the scripted model speaking.")
    assert end["usage"]["totalTokens"] >= 45
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"
