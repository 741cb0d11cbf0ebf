"""Signing in to an MCP server of the client, with the real Claude Code and a real OAuth exchange."""

import asyncio
import urllib.request

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import script
from tests.support.acp_client import AcpClient
from tests.support.oauth_mcp import OAuthMcp
from tests.support.rpc import Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

CONNECTED = "**MCP servers:** 1 (1 connected)\n\n**Connected**\n- `guarded`: 1 tool"


@pytest.fixture
async def air(start_agent: StartAgent) -> AcpClient:
    """A client that opens links."""
    client = await start_agent()
    await client.initialize("air")
    return client


def visits(params: Json) -> Json:
    """The user follows the link and signs in."""
    asyncio.get_running_loop().run_in_executor(None, lambda: urllib.request.urlopen(params["url"]).close())
    return {"action": "accept"}


def refuses(_: Json) -> Json:
    """The user does not want to."""
    return {"action": "decline"}


async def open_session(client: AcpClient, server: OAuthMcp) -> str:
    listed = [{"type": "http", "name": "guarded", "url": server.url, "headers": []}]
    return await client.new_session(mcpServers=listed)


async def connected(client: AcpClient, session: str) -> None:
    mark = len(client.messages)
    await client.prompt(session, "/mcp").result()
    assert client.text(session, since=mark) == CONNECTED


@pytest.mark.contract("SE-116", "SE-117")
async def test_a_new_session_asks_for_the_sign_in_and_connects(air: AcpClient) -> None:
    with OAuthMcp() as server:
        air.handlers["elicitation/create"] = visits
        session = await open_session(air, server)
        done = await air.wait_for(lambda body: body.get("method") == "elicitation/complete")
        (asked,) = air.asked("elicitation/create")
        assert asked["mode"] == "url"
        assert asked["message"] == "Authenticate with MCP server guarded"
        assert asked["url"].startswith(f"{server.base}/authorize?")
        assert asked["elicitationId"].startswith("mcp-oauth-")
        assert done.body["params"] == {"elicitationId": asked["elicitationId"]}
        assert len(server.visited) == 1
        await connected(air, session)


@pytest.mark.contract("SE-115")
async def test_a_reconnect_offers_again_what_was_declined(air: AcpClient) -> None:
    with OAuthMcp() as server:
        air.handlers["elicitation/create"] = refuses
        session = await open_session(air, server)
        await air.wait_question("elicitation/create")
        air.handlers["elicitation/create"] = visits
        mark = len(air.messages)
        await air.prompt(session, "/mcp reconnect guarded").result()
        assert air.text(session, since=mark).startswith("- Couldn't reconnect `guarded`")
        await air.wait_for(lambda body: body.get("method") == "elicitation/complete", since=mark)
        await connected(air, session)


async def test_a_close_takes_an_open_link_back(air: AcpClient) -> None:
    with OAuthMcp() as server:
        air.handlers["elicitation/create"] = never
        session = await open_session(air, server)
        asked = await air.wait_question("elicitation/create")
        await air.request("session/close", {"sessionId": session})
        await air.wait_for(lambda body: body.get("method") == "$/cancel_request")
        assert air.withdrawn == [asked.body["id"]]


async def test_a_client_that_opens_no_links_is_told(start_agent: StartAgent) -> None:
    client = await start_agent()
    await client.initialize("rfd")
    with OAuthMcp() as server:
        session = await open_session(client, server)
        await client.prompt(session, script(["Hello."])).result()
        assert client.updates(session, "notice") == [
            {
                "sessionUpdate": "notice",
                "severity": "info",
                "title": 'MCP server "guarded" needs authentication',
                "description": "Its tools are unavailable until the server is authenticated.",
            }
        ]
        assert client.asked("elicitation/create") == []
