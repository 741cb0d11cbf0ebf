"""Live: providers and gateways, seen in the requests that reach the model's API."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.support.acp_client import AcpClient
from tests.support.rpc import Call, RpcError

pytestmark = [pytest.mark.anyio, pytest.mark.live]

HEADERS = {"x-gateway-user": "team-7"}


@pytest.fixture
async def gateway() -> AsyncIterator[ScriptedApi]:
    async with ScriptedApi() as api:
        yield api


def provider(api_type: str, url: str, **more: Any) -> dict[str, Any]:
    return {"providerId": "main", "apiType": api_type, "baseUrl": url, "headers": HEADERS, **more}


async def current(agent: AcpClient) -> Any:
    (row,) = (await agent.request("providers/list"))["providers"]
    return row


async def ended(call: Call) -> str:
    return str((await call.result())["stopReason"])


@pytest.mark.contract("AU-039", "AU-040", "AU-042")
async def test_the_one_provider_and_its_route(agent: AcpClient, api: ScriptedApi) -> None:
    native = {"apiType": "anthropic", "baseUrl": api.url}
    row = {"providerId": "main", "supported": ["anthropic", "bedrock", "vertex"], "required": False}
    assert await current(agent) == {**row, "current": native}

    assert await agent.request("providers/set", provider("bedrock", "http://127.0.0.1:9/a")) == {}
    assert await agent.request("providers/set", provider("anthropic", "http://127.0.0.1:9/b")) == {}
    shown = await current(agent)
    assert shown["current"] == {"apiType": "anthropic", "baseUrl": "http://127.0.0.1:9/b"}
    assert "team-7" not in str(shown)

    assert await agent.request("providers/disable", {"providerId": "zz"}) == {}
    assert (await current(agent))["current"]["baseUrl"] == "http://127.0.0.1:9/b"
    assert await agent.request("providers/disable", {"providerId": "main"}) == {}
    assert (await current(agent))["current"] == native


@pytest.mark.contract("AU-041")
@pytest.mark.parametrize(
    ("params", "text", "data"),
    [
        (
            {"providerId": "x", "apiType": "anthropic", "baseUrl": "https://a"},
            'Unknown provider ID "x"; expected "main".',
            {"providerId": "x"},
        ),
        (
            {"providerId": "main", "apiType": "openai", "baseUrl": "https://a"},
            'Unsupported apiType "openai" for provider "main".',
            {"apiType": "openai", "supported": ["anthropic", "bedrock", "vertex"]},
        ),
        (
            {"providerId": "main", "apiType": "anthropic", "baseUrl": "ftp://x"},
            "baseUrl must be a non-empty absolute http(s) URL.",
            {"baseUrl": "ftp://x"},
        ),
        (
            {"providerId": "main", "apiType": "vertex", "baseUrl": "https://a"},
            "vertex apiType requires non-empty `_meta.claudeCode.vertex.projectId` and "
            "`_meta.claudeCode.vertex.region`.",
            None,
        ),
    ],
)
async def test_a_bad_provider_changes_nothing(
    agent: AcpClient, api: ScriptedApi, params: dict[str, Any], text: str, data: Any
) -> None:
    with pytest.raises(RpcError) as refused:
        await agent.request("providers/set", params)
    assert (refused.value.code, refused.value.message) == (-32602, f"Invalid params: {text}")
    assert refused.value.data == data
    assert (await current(agent))["current"]["baseUrl"] == api.url


@pytest.mark.contract("AU-043", "AU-045")
async def test_an_open_session_goes_on_at_the_new_provider(
    agent: AcpClient, api: ScriptedApi, gateway: ScriptedApi
) -> None:
    session = await agent.new_session()
    option = {"sessionId": session, "configId": "effort", "value": "high"}
    await agent.request("session/set_config_option", option)
    await agent.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    assert await ended(agent.prompt(session, 'SCRIPT [["At home."]]')) == "end_turn"
    since = len(agent.received)

    await agent.request("providers/set", provider("anthropic", gateway.url))

    (update,) = agent.updates(session, "config_option_update", since=since)
    values = {option["id"]: option["currentValue"] for option in update["configOptions"]}
    assert (values["effort"], values["mode"]) == ("high", "plan")
    asked = len(api.requests)
    assert await ended(agent.prompt(session, 'SCRIPT [["Elsewhere."]]')) == "end_turn"
    (request,) = gateway.requests
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["authorization"] == "Bearer acp-proxy"
    assert headers["x-gateway-user"] == "team-7"
    assert "At home." in str(request.body["messages"]), "the conversation goes on"
    assert request.body["output_config"]["effort"] == "high"
    assert len(api.requests) == asked

    await agent.request("providers/disable", {"providerId": "main"})
    assert await ended(agent.prompt(session, 'SCRIPT [["Back."]]')) == "end_turn"
    assert "Elsewhere." in str(api.requests[-1].body["messages"])
    assert len(gateway.requests) == 1


@pytest.mark.contract("AU-044")
async def test_a_running_turn_is_never_cut_off(
    agent: AcpClient, api: ScriptedApi, gateway: ScriptedApi
) -> None:
    session = await agent.new_session()
    call = agent.prompt(session, 'SCRIPT [[{"delay": 1}, "Still here."]]')
    await agent.wait_for(lambda _: bool(api.requests))
    change = agent.call("providers/set", provider("anthropic", gateway.url))
    later = agent.prompt(session, 'SCRIPT [["There."]]')
    assert await ended(call) == "end_turn"
    assert await change.result() == {}
    assert await ended(later) == "end_turn"
    assert (await call.message()).seq < (await change.message()).seq < (await later.message()).seq
    assert agent.text(session) == "Still here.There."
    assert len(gateway.requests) == 1


@pytest.mark.contract("AU-005", "AU-003")
async def test_a_gateway_sign_in_routes_later_sessions(
    start_agent: StartAgent, api: ScriptedApi, gateway: ScriptedApi
) -> None:
    agent = await start_agent()
    answer = await agent.initialize({"auth": {"_meta": {"gateway": True}}})
    assert [method["id"] for method in answer["authMethods"]] == ["gateway", "gateway-bedrock"]
    before = await agent.new_session()
    meta = {"gateway": {"baseUrl": gateway.url, "headers": HEADERS}}
    since = len(agent.received)
    assert await agent.request("authenticate", {"methodId": "gateway", "_meta": meta}) == {}
    host = gateway.url.removeprefix("http://")
    pushed = await agent.wait_for(lambda body: body.get("method") == "_auth/status_update", since=since)
    status = {"kind": "gateway", "label": "Custom model gateway", "detail": host}
    assert pushed.body["params"]["authStatus"] == status

    after = await agent.new_session()
    assert await ended(agent.prompt(before, 'SCRIPT [["one"]]')) == "end_turn"
    assert await ended(agent.prompt(after, 'SCRIPT [["two"]]')) == "end_turn"
    assert (len(api.requests), len(gateway.requests)) == (1, 1)
    assert await current(agent) == {
        **await current(agent),
        "current": {"apiType": "anthropic", "baseUrl": gateway.url},
    }


@pytest.mark.contract("AU-012", "AU-013")
async def test_a_logout_forgets_every_route(agent: AcpClient, api: ScriptedApi, gateway: ScriptedApi) -> None:
    session = await agent.new_session()
    await agent.request("providers/set", provider("anthropic", gateway.url))
    assert await agent.request("logout", {}) == {}
    assert (await current(agent))["current"]["baseUrl"] == api.url
    assert await ended(agent.prompt(session, 'SCRIPT [["home"]]')) == "end_turn"
    assert gateway.requests == []
