"""Fixtures of the tests of ACP v2: sessions of one agent that serves it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.e2e.conftest import NewChat
from tests.e2e.v2.talk import V2Chat
from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import ALLOW
from tests.support.sandbox import Sandbox

V2 = {"CLAUDE_AGENT_ACP_EXPERIMENTAL_V2": "1", "CLAUDE_CODE_MAX_RETRIES": "1"}

NewV2Chat = Callable[..., Awaitable[V2Chat]]


@pytest.fixture(scope="module")
async def v2_agent(agent_command: list[str], shared_sandbox: Sandbox) -> AsyncIterator[AcpClient]:
    """An agent of a v2 client for all tests of a module."""
    async with run_agent(agent_command, shared_sandbox, V2) as client:
        await client.initialize_v2()
        yield client


@pytest.fixture
async def v2_chat(v2_agent: AcpClient, new_chat: NewChat) -> AsyncIterator[NewV2Chat]:
    """Opens sessions; what the client answers is reset after the test."""

    async def start(**more: Any) -> V2Chat:
        return V2Chat(await new_chat(client=v2_agent, **more))

    yield start
    v2_agent.on_permission(ALLOW)
    v2_agent.handlers["elicitation/create"] = lambda _: {"action": "decline"}
