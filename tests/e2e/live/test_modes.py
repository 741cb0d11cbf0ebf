"""Permission modes with the real Claude Code: what the client sets holds for the next tool call."""

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.support.rpc import ALLOW, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def asked_for(chat: Chat, call: Json) -> int:
    """How often a tool call is asked for in the present mode."""
    before = len(chat.asked())
    await chat.ask(script([call], ["Done."]))
    return len(chat.asked()) - before


def write(chat: Chat, name: str) -> Json:
    """A call that writes a new file."""
    return use("Write", file_path=str(chat.project / name), content="x")


@pytest.mark.contract("PM-084", "PM-085", "SE-003")
async def test_the_modes_that_a_session_has(chat: Chat) -> None:
    (opened,) = [
        body["result"]
        for body in chat.client.received
        if chat.session == body.get("result", {}).get("sessionId")
    ]
    assert opened["modes"]["currentModeId"] == "default"
    assert [(mode["id"], mode["name"]) for mode in opened["modes"]["availableModes"]] == [
        ("default", "Manual"),
        ("acceptEdits", "Accept edits"),
        ("plan", "Plan"),
        ("auto", "Auto"),
        ("bypassPermissions", "Bypass permissions"),
    ]
    assert "models" not in opened


async def test_a_mode_holds_from_the_next_tool_call_on(chat: Chat) -> None:
    await chat.set_mode("bypassPermissions")
    assert await asked_for(chat, bash("touch a")) == 0
    await chat.set_mode("acceptEdits")
    assert await asked_for(chat, write(chat, "b")) == 0
    assert await asked_for(chat, bash("curl http://127.0.0.1:9/")) == 1
    await chat.set_mode("default")
    assert await asked_for(chat, write(chat, "c")) == 1
    assert await asked_for(chat, bash("touch d")) == 1
    await chat.set_mode("bypassPermissions")
    assert await asked_for(chat, write(chat, "e")) == 0
    assert sorted(path.name for path in chat.project.iterdir()) == ["a", "b", "c", "d", "e"]


async def test_plan_mode_is_told_to_the_model_and_left_by_a_choice(chat: Chat) -> None:
    await chat.set_mode("plan")
    await chat.ask(script(["I plan."]))
    assert "plan mode" in str(chat.requests()[-1].body).lower()
    mark = chat.mark

    chat.client.on_permission(lambda params: _select(params, "exit-plan-default"))
    await chat.ask(script([use("ExitPlanMode", plan="1. Do it.")], ["I do it."]))
    (asked,) = chat.asked()
    assert asked["toolCall"]["_meta"]["claudeCode"]["toolName"] == "ExitPlanMode"
    chat.client.on_permission(ALLOW)
    assert [update["currentModeId"] for update in chat.updates("current_mode_update", since=mark)] == [
        "default"
    ]
    assert await asked_for(chat, write(chat, "asked")) == 1


async def test_a_change_in_a_turn_holds_for_its_next_tool(chat: Chat) -> None:
    go = chat.project / "go"
    wait = bash(f"touch began; until [ -e {go} ]; do sleep 0.1; done")
    call = chat.prompt(script([wait], [write(chat, "free")], ["Done."]))
    await chat.until_made("began")
    await chat.set_mode("acceptEdits")
    go.touch()
    assert (await call.result())["stopReason"] == "end_turn"
    assert len(chat.asked()) == 1
    assert (chat.project / "free").exists()


async def test_changes_are_applied_in_their_order(chat: Chat) -> None:
    modes = ["plan", "acceptEdits", "bypassPermissions", "default", "acceptEdits"]
    params = [{"sessionId": chat.session, "modeId": mode} for mode in modes]
    with chat.client.one_write():
        calls = [chat.client.call("session/set_mode", each) for each in params]
    assert [await call.result() for call in calls] == [{}] * len(modes)
    assert await asked_for(chat, write(chat, "f")) == 0


async def test_a_mode_that_nobody_offers_is_refused(chat: Chat) -> None:
    for mode in ("turbo", "dontAsk", ""):
        call = chat.client.call("session/set_mode", {"sessionId": chat.session, "modeId": mode})
        assert (await call.error()).code == -32602
    await chat.is_well()


def _select(params: Json, option: str) -> Json:
    assert option in [each["optionId"] for each in params["options"]]
    return {"outcome": {"outcome": "selected", "optionId": option}}
