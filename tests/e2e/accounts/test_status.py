"""Live: sign-in methods, the status that is pushed, and requests without a credential."""

from typing import Any

import pytest

from tests.conftest import StartAgent
from tests.support.acp_client import AcpClient
from tests.support.rpc import RpcError

pytestmark = [pytest.mark.anyio, pytest.mark.live]

NO_KEY: dict[str, str | None] = {"ANTHROPIC_API_KEY": None}
HIDE = ["--hide-claude-auth"]
SIGN_IN = "Authentication required: Sign in with an API key or a Console account to use this integration."


def is_status(body: Any) -> bool:
    return bool(body.get("method") == "_auth/status_update")


def statuses(agent: AcpClient) -> list[Any]:
    return [body["params"]["authStatus"] for body in agent.received if is_status(body)]


@pytest.mark.contract("AU-014", "AU-015", "AU-016", "AU-021", "NG-038")
async def test_the_status_is_pushed_once_after_the_handshake(start_agent: StartAgent) -> None:
    agent = await start_agent()
    answer = await agent.initialize("bare")
    assert answer["agentCapabilities"]["_meta"]["authStatus"] == {}
    await agent.wait_for(is_status)
    assert agent.received[0]["result"] == answer
    session = await agent.new_session()
    assert (await agent.prompt(session, 'SCRIPT [["a"]]').result())["stopReason"] == "end_turn"
    assert (await agent.prompt(session, 'SCRIPT [["b"]]').result())["stopReason"] == "end_turn"
    key = {"kind": "api_key", "label": "Anthropic API key", "detail": "ANTHROPIC_API_KEY"}
    assert statuses(agent) == [key]


@pytest.mark.contract("AU-007", "AU-010")
async def test_without_a_credential_a_turn_asks_to_sign_in(start_agent: StartAgent) -> None:
    agent = await start_agent(env=NO_KEY)
    await agent.initialize("air")
    session = await agent.new_session()
    await agent.wait_for(is_status)
    assert statuses(agent) == [{"kind": "none", "label": "Not logged in"}]
    for _ in range(2):
        with pytest.raises(RpcError) as refused:
            await agent.prompt(session, "hello").result()
        assert (refused.value.code, refused.value.message) == (-32000, "Authentication required")
        assert refused.value.data is None
    assert agent.text(session) == ""
    assert not [u for u in agent.updates(session) if "sessionFailure" in str(u)]


@pytest.mark.contract("AU-030", "AU-036", "CL-003")
async def test_hidden_accounts_never_open_a_session(
    start_agent: StartAgent, agent_command: list[str]
) -> None:
    agent = await start_agent(command=[*agent_command, *HIDE], env=NO_KEY)
    await agent.initialize("air")
    for _ in range(2):
        with pytest.raises(RpcError) as refused:
            await agent.new_session()
        assert (refused.value.code, refused.value.message, refused.value.data) == (-32000, SIGN_IN, None)
    assert agent.updates() == []


async def test_an_api_key_passes_the_guard(start_agent: StartAgent, agent_command: list[str]) -> None:
    agent = await start_agent(command=[*agent_command, *HIDE])
    await agent.initialize("plain")
    session = await agent.new_session()
    assert (await agent.prompt(session, 'SCRIPT [["a"]]').result())["stopReason"] == "end_turn"


@pytest.mark.contract("AU-001", "AU-002", "AU-004", "NG-033")
@pytest.mark.parametrize(
    ("kind", "env", "flags", "methods"),
    [
        ("plain", {}, [], []),
        ("zed", {}, [], ["claude-ai-login", "console-login"]),
        ("zed", {}, HIDE, ["console-login"]),
        ("zed", {"NO_BROWSER": "1"}, [], ["claude-login"]),
        ("zed", {"NO_BROWSER": "1"}, HIDE, []),
    ],
)
async def test_the_ways_to_sign_in(
    start_agent: StartAgent,
    agent_command: list[str],
    kind: str,
    env: dict[str, str],
    flags: list[str],
    methods: list[str],
) -> None:
    remote = dict.fromkeys(("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "CLAUDE_CODE_REMOTE", "NO_BROWSER"))
    agent = await start_agent(command=[*agent_command, *flags], env={**remote, **env})
    offered = (await agent.initialize(kind))["authMethods"]
    assert [method["id"] for method in offered] == methods
    for method in offered:
        restart = method["_meta"]["terminal-auth"]
        assert restart["args"][-len(method["args"]) :] == method["args"]
        assert set(flags) <= set(restart["args"])


@pytest.mark.contract("AU-006")
async def test_other_methods_are_for_a_terminal(agent: AcpClient) -> None:
    with pytest.raises(RpcError) as refused:
        await agent.request("authenticate", {"methodId": "console-login"})
    assert refused.value.code == -32602
    assert refused.value.message == "Invalid params: Unsupported authentication method: console-login"
    assert refused.value.data == {"methodId": "console-login"}
