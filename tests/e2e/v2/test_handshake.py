"""Live: who gets ACP v2, and what is served there."""

from typing import Any

import pytest

from tests.conftest import StartAgent
from tests.e2e.v2.conftest import V2
from tests.support.acp_client import AcpClient
from tests.support.clients import CAPABILITIES
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.mark.contract("V2-001", "V2-002", "V2-004", "NG-045", "NG-046")
@pytest.mark.parametrize("env", [V2, {"CLAUDE_AGENT_ACP_PROTOCOL": "auto"}], ids=["experimental", "auto"])
async def test_whoever_asks_for_it_gets_v2(env: Any, start_agent: StartAgent) -> None:
    for requested, version in ((2, 2), (99, 2), (1, 1), (0, 1)):
        client = await start_agent(env=env)
        if version == 2:
            told = await client.initialize_v2(protocolVersion=requested)
        else:
            told = await client.initialize(protocolVersion=requested)
        assert told["protocolVersion"] == version


@pytest.mark.contract("V2-003", "NG-045")
async def test_without_the_switch_nobody_gets_it(start_agent: StartAgent) -> None:
    client = await start_agent()
    assert (await client.initialize_v2())["protocolVersion"] == 1
    session = await client.new_session()
    told = await client.wait_update("available_commands_update")
    assert told.body["params"]["sessionId"] == session


async def test_v2_alone_has_no_word_for_others(start_agent: StartAgent) -> None:
    client = await start_agent(env={"CLAUDE_AGENT_ACP_PROTOCOL": "v2"})
    params = {"protocolVersion": 1, "clientCapabilities": {}}
    error = await client.call("initialize", params).error()
    assert (error.code, error.data) == (-32022, {"requested": 1, "supported": [2]})
    assert (await client.initialize_v2())["protocolVersion"] == 2, "it may try again"


async def test_a_client_of_v2_says_who_it_is(start_agent: StartAgent) -> None:
    client = await start_agent(env=V2)
    error = await client.call("initialize", {"protocolVersion": 2, "capabilities": {}}).error()
    assert (error.code, error.data["errors"][0]["path"]) == (-32602, "info")
    assert (await client.initialize_v2())["protocolVersion"] == 2


@pytest.mark.contract("NG-048", "V2-023", "V2-024", "GL-035", "TC-038")
async def test_air_and_steering_are_left_behind(start_agent: StartAgent) -> None:
    client = await start_agent(env=V2)
    told = await client.initialize_v2(CAPABILITIES["air"])
    assert "jetbrains" not in str(told)
    assert "steering" not in str(told)
    session = await client.new_session()
    prompt = [{"type": "text", "text": "more"}]
    gone: dict[str, Json] = {
        "_session/steering": {"prompt": prompt},
        "_session/goal": {"action": "set", "objective": "Win"},
        "_session/async_task/stop": {"taskId": "t"},
        "session/load": {"cwd": str(client.sandbox.project), "mcpServers": []},
        "session/set_mode": {"modeId": "plan"},
        "authenticate": {"methodId": "x"},
        "logout": {},
        "tool_call/cancel": {"toolCallId": "t"},
    }
    for method, params in gone.items():
        error = await client.call(method, {"sessionId": session, **params}).error()
        assert error.code == -32601, method


async def test_only_before_other_requests_it_may_shake_hands_again(start_agent: StartAgent) -> None:
    """W§1.5."""
    client = await start_agent(env=V2)
    first = await client.initialize_v2()
    assert await client.initialize_v2({}) == first
    await client.request("session/list")
    params = {"protocolVersion": 2, "info": {"name": "x", "version": "0"}}
    error = await client.call("initialize", params).error()
    assert error.code == -32600
    assert error.data == "ACP v2 initialize must not be repeated after other requests"


@pytest.mark.parametrize("id", [1.5, None], ids=str)
async def test_an_id_is_a_text_or_an_integer(id: Any, v2_agent: AcpClient) -> None:
    mark = len(v2_agent.messages)
    v2_agent.send({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}})
    answer = await v2_agent.wait_for(lambda body: "error" in body and body["id"] is None, since=mark)
    assert answer.body["error"]["code"] == -32600


@pytest.mark.contract("V2-021", "V2-022", "NG-051")
async def test_providers_and_auth(start_agent: StartAgent) -> None:
    client = await start_agent(env=V2)
    told = await client.initialize_v2({"auth": {"terminal": {}, "_meta": {"gateway": True}}})
    kinds = {method["type"] for method in told["authMethods"]}
    assert kinds == {"terminal", "agent"}
    assert all(method["methodId"] for method in told["authMethods"])
    (row,) = (await client.request("providers/list"))["providers"]
    assert row["providerId"] == "main"
    route = {"providerId": "main", "apiType": "anthropic", "baseUrl": "http://127.0.0.1:9/a"}
    assert await client.request("providers/set", route) == {}
    assert await client.request("providers/disable", {"providerId": "main"}) == {}
    gateway = {"gateway": {"baseUrl": "http://127.0.0.1:9/b"}}
    assert await client.request("auth/login", {"methodId": "gateway", "_meta": gateway}) == {}
    assert await client.request("auth/logout") == {}
