"""What a person chooses is what the model gets, and what the client is told of it."""

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import Chat, script, use
from tests.e2e.permissions.kinds import ChatAs
from tests.support.acp_client import AcpClient
from tests.support.rpc import Call, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

MODES = ["default", "acceptEdits", "plan", "auto", "bypassPermissions"]


def change(chat: Chat, option: str, value: object, **more: object) -> Call:
    params = {"sessionId": chat.session, "configId": option, "value": value, **more}
    return chat.client.call("session/set_config_option", params)


async def chosen(chat: Chat, option: str, value: object, **more: object) -> dict[str, Json]:
    """The options after a change, by id."""
    answer = await change(chat, option, value, **more).result()
    assert answer.keys() == {"configOptions"}
    return {each["id"]: each for each in answer["configOptions"]}


async def opened(client: AcpClient) -> Json:
    """The answer of a session that nobody needs."""
    request = {"cwd": str(client.sandbox.project), "mcpServers": []}
    answer = await client.request("session/new", request)
    await client.request("session/close", {"sessionId": answer["sessionId"]})
    return answer


async def asked(chat: Chat) -> Json:
    """What the model is asked with the next prompt."""
    await chat.ask(script(["Yes."]))
    return dict(chat.requests()[-1].body)


@pytest.mark.contract("CF-034", "CF-075", "CF-001", "SE-010", "CF-016", "CF-064", "CF-043")
async def test_every_choice_is_in_the_next_request(chat: Chat) -> None:
    """Effort stays with the person over a switch of the model; fast mode too, where the model has it."""
    before = await asked(chat)
    assert before["model"].startswith("claude-opus")
    assert "speed" not in before

    mark = chat.mark
    options = await chosen(chat, "effort", "low")
    assert list(options) == ["mode", "model", "effort", "fast"]
    assert {name: option["currentValue"] for name, option in options.items()} == {
        "mode": "default",
        "model": "default",
        "effort": "low",
        "fast": "off",
    }
    assert (await chosen(chat, "fast", "on"))["fast"]["currentValue"] == "on"
    assert chat.order(since=mark, without=["session_info_update"]) == ["set_config_option", "done"] * 2
    body = await asked(chat)
    assert (body["output_config"]["effort"], body["speed"]) == ("low", "fast")

    options = await chosen(chat, "model", "sonnet")
    assert list(options) == ["mode", "model", "effort"]
    assert options["effort"]["currentValue"] == "low"
    body = await asked(chat)
    assert body["model"].startswith("claude-sonnet")
    assert body["output_config"]["effort"] == "low"
    assert "speed" not in body

    assert chat.updates("config_option_update") == [], "our own switch is no news"

    options = await chosen(chat, "model", "Opus")
    assert (options["model"]["currentValue"], options["fast"]["currentValue"]) == ("opus", "on")
    assert (await chosen(chat, "effort", "default"))["effort"]["currentValue"] == "default"
    assert (await chosen(chat, "fast", "off"))["fast"]["currentValue"] == "off"
    body = await asked(chat)
    assert body["model"].startswith("claude-opus")
    assert body["output_config"] == before["output_config"]
    assert "speed" not in body


@pytest.mark.contract("CF-029", "CF-034")
async def test_a_mode_may_be_chosen_in_two_ways(chat: Chat) -> None:
    mark = chat.mark
    assert (await chosen(chat, "mode", "plan"))["mode"]["currentValue"] == "plan"
    assert chat.order(since=mark) == ["set_config_option", "mode", "done"]
    assert chat.updates("current_mode_update", since=mark)[0]["currentModeId"] == "plan"
    assert "plan mode" in str(await asked(chat)).lower()

    mark = chat.mark
    await chat.set_mode("acceptEdits")
    assert chat.order(since=mark, without=["session_info_update"]) == ["set_mode", "options", "done"]
    (update,) = chat.updates("config_option_update", since=mark)
    assert [option["id"] for option in update["configOptions"]] == ["mode", "model", "effort", "fast"]
    assert update["configOptions"][0]["currentValue"] == "acceptEdits"


@pytest.mark.contract("CF-033", "CF-027", "CF-028", "CF-009")
async def test_a_wrong_value_is_named_and_changes_nothing(chat: Chat) -> None:
    wrong: list[tuple[str, object, Json, str, object]] = [
        ("nope", "x", {}, "Unknown config option: nope", None),
        ("mode", "bogus", {}, "Invalid value for config option mode: bogus", None),
        ("mode", "dontAsk", {}, "Invalid value for config option mode: dontAsk", None),
        ("model", "zzz", {}, "Invalid value for config option model: zzz", None),
        ("effort", "huge", {}, "Invalid value for config option effort: huge", None),
        ("fast", "maybe", {}, "Invalid value for config option fast: maybe", None),
        (
            *("fast", True, {"type": "boolean"}),
            "Config option fast takes a string value, but received: true",
            {"configId": "fast", "value": True},
        ),
    ]
    mark = chat.mark
    for option, value, more, text, data in wrong:
        error = await change(chat, option, value, **more).error()
        assert (error.code, error.message) == (-32602, f"Invalid params: {text}")
        if data is not None:
            assert error.data == data
    for value in (True, 7, None, {"a": 1}):
        error = await change(chat, "effort", value).error()
        assert error.code == -32602
        assert "value" in str(error.data)

    for mode, text in [
        ("manual", "Invalid Mode: manual"),
        ("", "Invalid Mode: "),
        ("dontAsk", "Mode dontAsk is not available in this session"),
    ]:
        params = {"sessionId": chat.session, "modeId": mode}
        error = await chat.client.call("session/set_mode", params).error()
        assert (error.code, error.message) == (-32602, f"Invalid params: {text}")
    assert chat.updates(since=mark) == []
    options = await chosen(chat, "effort", "default")
    assert [option["currentValue"] for option in options.values()] == ["default", "default", "default", "off"]


async def test_a_session_that_is_unknown_has_nothing_to_choose(shared_agent: AcpClient) -> None:
    unknown = {"sessionId": "00000000-0000-4000-8000-000000000000"}
    for method, params in [
        ("session/set_config_option", {"configId": "effort", "value": "low"}),
        ("session/set_mode", {"modeId": "plan"}),
    ]:
        error = await shared_agent.call(method, {**unknown, **params}).error()
        assert (error.code, error.data) == (-32002, unknown)
    assert (await shared_agent.call("session/set_model", unknown).error()).code == -32601


@pytest.mark.contract("NG-054", "CF-075", "CF-033")
async def test_a_client_that_knows_booleans_gets_one(start_agent: StartAgent, api: ScriptedApi) -> None:
    client = await start_agent()
    await client.initialize({"session": {"configOptions": {"boolean": {}}}})
    session = await client.new_session()
    chat = Chat(client, session, client.sandbox.project, api, 0)
    options = await chosen(chat, "fast", True, type="boolean")
    assert (options["fast"]["type"], options["fast"]["currentValue"]) == ("boolean", True)
    assert (await asked(chat))["speed"] == "fast"
    error = await change(chat, "fast", "on").error()
    text = 'Invalid params: Config option fast takes a boolean value, but received: "on"'
    assert (error.message, error.data) == (text, {"configId": "fast", "value": "on"})
    options = await chosen(chat, "fast", False, type="boolean")
    assert options["fast"]["currentValue"] is False


@pytest.mark.contract("CF-053", "CF-057", "CF-059", "CF-062", "CF-005", "CF-055")
async def test_air_is_recommended_a_model_and_an_effort(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    answer = await opened(chat.client)
    options = {option["id"]: option for option in answer["configOptions"]}
    for name, value in [("model", "opus"), ("effort", "medium")]:
        assert options[name]["currentValue"] == value
        assert options[name]["_meta"] == {"jetbrains": {"air": {"version": 1, "recommendedValue": value}}}
        assert "default" not in [row["value"] for row in options[name]["options"]]
    kinds = ["standard", "standard", "plan", "auto_review", "full_access"]
    for rows in (answer["modes"]["availableModes"], options["mode"]["options"]):
        assert [row["_meta"]["jetbrains"]["air"]["kind"] for row in rows] == kinds
    assert (await asked(chat))["output_config"]["effort"] == "medium"

    after = await chosen(chat, "effort", "high")
    assert after["effort"]["currentValue"] == "high"
    assert after["effort"]["_meta"]["jetbrains"]["air"]["recommendedValue"] == "medium"
    after = await chosen(chat, "model", "sonnet")
    assert (after["model"]["currentValue"], after["effort"]["currentValue"]) == ("sonnet", "high")
    assert after["model"]["_meta"]["jetbrains"]["air"]["recommendedValue"] == "opus"
    body = await asked(chat)
    assert body["model"].startswith("claude-sonnet")
    assert body["output_config"]["effort"] == "high"


@pytest.mark.contract("CF-051", "CF-002", "CF-006", "CF-049", "CF-050")
async def test_another_client_gets_plain_rows(shared_agent: AcpClient) -> None:
    answer = await opened(shared_agent)
    assert [row["id"] for row in answer["modes"]["availableModes"]] == MODES
    options = {option["id"]: option for option in answer["configOptions"]}
    assert [row["value"] for row in options["mode"]["options"]] == MODES
    names = ["Manual", "Accept edits", "Plan", "Auto", "Bypass permissions"]
    assert [row["name"] for row in options["mode"]["options"]] == names
    first, second, *_ = options["model"]["options"]
    assert (first["value"], first["description"]) == ("default", "Opus")
    assert second["name"].startswith("Opus ")
    assert options["effort"]["options"][0] == {"value": "default", "name": "Default"}
    assert "_meta" not in str(answer)


@pytest.mark.contract("CF-042")
async def test_a_model_that_is_typed_is_the_one_that_is_shown(chat: Chat) -> None:
    await chat.ask("/model sonnet")
    (update,) = chat.updates("config_option_update")
    model = next(option for option in update["configOptions"] if option["id"] == "model")
    assert model["currentValue"] == "sonnet"
    assert (await asked(chat))["model"].startswith("claude-sonnet")


@pytest.mark.contract("CF-032")
async def test_a_plan_that_is_approved_moves_to_the_mode_of_the_answer(chat: Chat) -> None:
    await chat.set_mode("plan")
    mark = chat.mark
    chat.client.on_permission(lambda _: {"outcome": {"outcome": "selected", "optionId": "exit-plan-default"}})
    await chat.ask(script([use("ExitPlanMode", plan="1. Do it.")], ["I do it."]))
    assert [update["currentModeId"] for update in chat.updates("current_mode_update", since=mark)] == [
        "default"
    ]
    (update,) = chat.updates("config_option_update", since=mark)
    assert update["configOptions"][0]["currentValue"] == "default"
    words = [word for word in chat.order(since=mark) if word in {"mode", "options", "end_turn"}]
    assert words == ["mode", "options", "end_turn"]


@pytest.mark.contract("CF-011", "CF-012")
@pytest.mark.parametrize("loads", [False, True], ids=["new", "load"])
async def test_a_request_can_take_bypass_away(loads: bool, chat_as: ChatAs) -> None:
    meta = {"claudeCode": {"options": {"allowDangerouslySkipPermissions": False}}}
    chat = await chat_as("plain", **({} if loads else {"_meta": meta}))
    if loads:
        request = {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": [], "_meta": meta}
        answer = await chat.client.request("session/load", request)
        assert [row["id"] for row in answer["modes"]["availableModes"]] == MODES[:-1]
    error = await change(chat, "mode", "bypassPermissions").error()
    assert error.message.endswith("Invalid value for config option mode: bypassPermissions")
    params = {"sessionId": chat.session, "modeId": "bypassPermissions"}
    error = await chat.client.call("session/set_mode", params).error()
    assert error.message.endswith("Mode bypassPermissions is not available in this session")
