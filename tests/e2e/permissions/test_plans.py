"""Plans: every choice, with and without the plan's file, and what follows from it."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from bridge.demo.api import ApiRequest, ScriptedApi
from bridge.demo.script import MARKER
from tests.e2e.chat import Chat, bash, script, slow, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import NOISE, air, local_rules, offered, select, statuses
from tests.support.rpc import CANCELLED, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

PLAN = "# Plan\n1. Touch it."
PLAN_FILE = "{PLANFILE}"
KEEP = {"exit-plan-auto": "auto", "exit-plan-bypass": "bypassPermissions", "exit-plan-default": "default"}
_PATH = re.compile(r"/[^\s\"'`\\]+/plans/[\w-]+\.md")


@pytest.fixture(autouse=True)
def plans(shared_api: ScriptedApi) -> Any:
    """The model writes its plan to the file that Claude Code tells it."""

    def respond(asked: ApiRequest) -> Sequence[Any] | None:
        if asked.kind != "turn" or PLAN_FILE not in asked.prompt:
            return None
        (path,) = set(_PATH.findall(json.dumps(asked.body["messages"]) + json.dumps(asked.body["system"])))
        steps = json.loads(asked.prompt.partition(MARKER)[2].replace(PLAN_FILE, path))
        return steps[asked.step] if asked.step < len(steps) else ["All done."]

    shared_api.respond = respond
    yield
    shared_api.respond = None


def planned(*after: list[Any]) -> str:
    """A prompt whose model writes a plan, asks to leave plan mode, and goes on."""
    return script([use("Write", file_path=PLAN_FILE, content=PLAN)], [use("ExitPlanMode")], *after)


async def plan(chat: Chat, option: str, *after: list[Any]) -> Json:
    """One turn in plan mode whose plan is answered with an option."""
    await chat.set_mode("plan")
    chat.client.on_permission(select(option))
    return await chat.ask(planned(*after))


def modes(chat: Chat, since: int) -> list[str]:
    """The modes that the client was told of, which the option confirmed."""
    told = [update["currentModeId"] for update in chat.updates("current_mode_update", since=since)]
    for update in chat.updates("config_option_update", since=since)[-1:]:
        (mode,) = [option for option in update["configOptions"] if option["id"] == "mode"]
        assert [mode["currentValue"]] == told[-1:]
    return told


def exit_call(chat: Chat) -> Json:
    """The call that asks to leave plan mode, as an editor sees it in the end."""
    (request,) = [asked for asked in chat.asked() if asked["options"][-1]["name"] == "No, keep planning"]
    return chat.client.tool_call(request["toolCall"]["toolCallId"], chat.session)


# ── without leaving the conversation ──────────────────────────────────────────


@pytest.mark.contract("PM-076", "PM-093", "TC-135", "TC-212")
@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_what_a_plan_offers(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    await plan(chat, "exit-plan-default", ["I start."])
    (request,) = chat.asked()
    names = offered(request)
    assert list(names) == [
        *("exit-plan-default", "exit-plan-clear-auto", "exit-plan-auto", "exit-plan-bypass", "reject")
    ]
    assert re.fullmatch(
        r"Yes, clear context( \(\d+% used\))? and use auto mode", names["exit-plan-clear-auto"]
    )
    raw = request["toolCall"]["rawInput"]
    assert raw["planFilePath"].endswith(".md")
    if kind == "air":
        assert "plan" not in raw
        assert air(request)["permission"]["title"] == "Ready to code?"
    else:
        assert raw["plan"] == PLAN
    assert request["toolCall"]["title"] == "Approve Plan"
    assert exit_call(chat)["title"] == "Exited Plan Mode"
    assert statuses(chat) == ["completed", "completed"]


@pytest.mark.contract("PM-048")
@pytest.mark.parametrize("option", KEEP)
async def test_an_approved_plan_goes_on_in_the_chosen_mode(option: str, chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    mark = chat.mark
    chat.client.on_permission(
        lambda params: select(option if option in offered(params) else "allow-once")(params)
    )
    result = await chat.ask(planned(["I start.", bash("npm test")], ["Done."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text(since=mark).startswith("I start.")
    assert chat.text(since=mark).endswith("Done.")
    assert modes(chat, mark)[-1] == KEEP[option]
    assert len(chat.asked()) == (2 if option == "exit-plan-default" else 1)
    assert local_rules(chat.project) == []


@pytest.mark.contract("PM-048", "PM-076")
async def test_accept_edits_is_offered_where_no_other_mode_is(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    settings = chat.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    forbidden = {"disableAutoMode": "disable", "disableBypassPermissionsMode": "disable"}
    settings.write_text(json.dumps({"permissions": forbidden}))
    chat = await chat_as("plain", cwd=str(chat.project))
    mark = chat.mark
    write = use("Write", file_path=str(chat.project / "f"), content="f")
    await plan(chat, "exit-plan-accept-edits", [write], ["Done."])
    assert list(offered(chat.asked()[0])) == [
        *("exit-plan-default", "exit-plan-clear-accept-edits", "exit-plan-accept-edits", "reject")
    ]
    assert len(chat.asked()) == 1
    assert modes(chat, mark)[-1] == "acceptEdits"
    assert (chat.project / "f").exists()


@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_a_rejected_plan_ends_the_turn_in_plan_mode(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    mark = chat.mark
    result = await plan(chat, "reject", ["Never said."])
    assert result["stopReason"] == "cancelled"
    assert chat.order(since=mark, without=(*NOISE, "mode", "session_info_update"))[-4:] == [
        *("request_permission", "reject", "update failed", "cancelled")
    ]
    call = exit_call(chat)
    assert "rejected" in call["rawOutput"]
    assert ("rejected" in str(call["content"])) == (kind == "plain")
    assert chat.text(since=mark) == ""

    chat.client.on_permission(select("exit-plan-default"))
    await chat.ask(planned(["I start."]))
    assert chat.text(since=mark) == "I start."


async def test_a_plan_that_nobody_answers_goes_on_in_plan_mode(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    chat.client.on_permission(CANCELLED)
    result = await chat.ask(planned(["I go on."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "I go on."
    assert statuses(chat) == ["completed", "failed"]


async def test_a_cancel_withdraws_an_open_plan(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.set_mode("plan")
    chat.client.on_permission(never)
    call = chat.prompt(planned(["Never said."]))
    request = await chat.client.wait_question(since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert request.body["id"] in chat.client.withdrawn
    assert statuses(chat) == ["completed", "failed"]
    await chat.is_well()


async def test_plan_mode_is_entered_by_the_model(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.ask(script([use("EnterPlanMode")], ["I plan."]))
    assert modes(chat, chat.start) == ["plan"]
    (call,) = chat.calls().values()
    assert call["kind"] == "switch_mode"
    assert call["status"] == "completed"
    words = chat.order(without=("commands", "usage", "cost"))
    assert words.index("mode") < words.index("update completed")


# ── in an empty conversation ──────────────────────────────────────────────────

CLEAR = "exit-plan-clear-auto"


@pytest.mark.contract("PM-049", "PM-094", "PM-095", "PM-096", "TC-209", "TC-222")
@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_a_plan_goes_on_in_an_empty_conversation(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    await chat.ask("remember the zebra " + script(["A zebra."]))
    mark = chat.mark
    before = len(chat.api.requests)
    result = await plan(chat, CLEAR, ["Never said."])

    assert result["stopReason"] == "end_turn"
    assert exit_call(chat)["status"] == "completed"
    assert "rawOutput" not in exit_call(chat)
    assert modes(chat, mark)[-1] == "auto"
    order = chat.order(since=mark)
    assert order.index("update completed", order.index(CLEAR)) < order.index("mode", order.index(CLEAR))
    costs = [update["cost"] for update in chat.updates("usage_update", since=mark) if "cost" in update]
    assert len(costs) == 2  # of both conversations
    last = [asked for asked in chat.api.requests[before:] if asked.kind == "turn"][-1]
    assert last.prompt == f"Implement the following plan:\n\n{PLAN}"
    assert "zebra" not in str(last.body["messages"])
    assert chat.text(since=mark).startswith("Hello! This is the scripted model speaking.")
    assert "fresh context" not in json.dumps(chat.updates(since=mark))
    assert result["usage"]["totalTokens"] >= 45
    await chat.is_well()


async def test_a_clear_choice_of_bypass(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("bypassPermissions")
    mark = chat.mark
    await plan(chat, "exit-plan-clear-bypass")
    assert modes(chat, mark)[-1] == "bypassPermissions"
    chat.client.on_permission(never)
    await chat.ask(script([bash("npm test")], ["Done."]))
    assert len(chat.asked()) == 1


async def test_a_cancel_in_the_restart_cancels_the_turn(chat_as: ChatAs, shared_api: ScriptedApi) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    chat.client.on_permission(never)
    call = chat.prompt(planned())
    request = await chat.client.wait_question(since=chat.start)
    with chat.client.one_write():
        chat.client.answer(request.body["id"], {"outcome": {"outcome": "selected", "optionId": CLEAR}})
        chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert modes(chat, request.seq) == []
    await chat.is_well()


async def test_a_cancel_after_the_restart_cancels_the_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.set_mode("plan")
    chat.client.on_permission(select(CLEAR))
    text = f"{PLAN}\n" + script([slow()])
    write = use("Write", file_path=PLAN_FILE, content=text)
    call = chat.prompt(script([write], [use("ExitPlanMode")]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert "word-99" not in chat.text()
    await chat.is_well()


async def test_a_prompt_behind_a_restart_is_answered(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    chat.client.on_permission(select(CLEAR))
    first = chat.prompt(planned())
    await chat.client.wait_question(since=chat.start)
    second = chat.prompt(script(["Second."]))
    assert (await first.result())["stopReason"] == "end_turn"
    await chat.ask(script(["Third."]))
    assert second.done
    assert chat.text(since=(await first.message()).seq) == "Second.Third."


async def test_steering_in_a_restart_does_not_hold_the_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    chat.client.on_permission(select(CLEAR))
    call = chat.prompt(planned())
    await chat.client.wait_question(since=chat.start)
    steer: Json = {"sessionId": chat.session, "prompt": [{"type": "text", "text": script(["Steered."])}]}
    assert await chat.client.request("_session/steering", steer) == {"outcome": "injected"}
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    await chat.ask(script(["Third."]))
    assert call.done
    # Claude Code may take it up in one go with what follows, and the scripted model answers one of them.
    assert any("Steered." in str(asked.body["messages"]) for asked in chat.api.requests)


async def test_a_close_in_a_restart_answers_everything(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    await chat.set_mode("plan")
    chat.client.on_permission(select(CLEAR))
    call = chat.prompt(planned())
    await chat.client.wait_question(since=chat.start)
    await chat.client.wait_update("tool_call_update", _has_left_plan_mode, since=chat.start)
    close = chat.client.call("session/close", {"sessionId": chat.session})
    assert (await call.result())["stopReason"] == "cancelled"
    assert await close.result() == {}


def _has_left_plan_mode(update: Json) -> bool:
    name = update.get("_meta", {}).get("claudeCode", {}).get("toolName")
    return name == "ExitPlanMode" and update.get("status") == "completed"
