"""The fixtures bring up our agent with the real CLI, in a place of its own."""

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.support.acp_client import AcpClient

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def test_a_prompt_goes_to_the_scripted_model_and_back(agent: AcpClient, api: ScriptedApi) -> None:
    session = await agent.new_session()
    bash = '{"name": "Bash", "input": {"command": "touch made"}}'
    result = await agent.prompt(session, f'SCRIPT [["I make it.", {bash}], [" Made."]]').result()
    assert result["stopReason"] == "end_turn"
    assert agent.text(session) == "I make it. Made."
    assert len(agent.asked()) == 1
    assert (agent.sandbox.project / "made").exists()
    assert [request.step for request in api.requests] == [0, 1]


async def test_a_later_agent_finds_what_an_earlier_one_left(start_agent: StartAgent) -> None:
    first = await start_agent()
    await first.initialize()
    session = await first.new_session()
    await first.prompt(session, 'SCRIPT [["remember me"]]').result()
    assert await first.close() == 0
    second = await start_agent()
    await second.initialize()
    place = {"cwd": str(second.sandbox.project), "mcpServers": []}
    await second.request("session/load", {"sessionId": session, **place})
    assert second.text(session) == "remember me"
