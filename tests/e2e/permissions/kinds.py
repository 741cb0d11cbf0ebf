"""Fixtures for sessions of every kind of client, on agents that a module's tests share."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.e2e.chat import Chat
from tests.e2e.conftest import NewChat
from tests.support.acp_client import AcpClient, run_agent
from tests.support.clients import CAPABILITIES
from tests.support.rpc import ALLOW
from tests.support.sandbox import Sandbox

ChatAs = Callable[..., Awaitable[Chat]]
"""`await chat_as("air", mcpServers=[…])`: a session of a client of that kind."""

RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "2"}


@pytest.fixture(scope="module")
async def agent_of(
    agent_command: list[str], shared_sandbox: Sandbox
) -> AsyncIterator[Callable[[str], Awaitable[AcpClient]]]:
    """Agents by the kind of their client, each started when a test first wants it."""
    async with AsyncExitStack() as running:
        agents: dict[str, AcpClient] = {}

        async def start(kind: str) -> AcpClient:
            if kind not in agents:
                client = await running.enter_async_context(run_agent(agent_command, shared_sandbox, RETRIES))
                await client.initialize(CAPABILITIES[kind])
                agents[kind] = client
            return agents[kind]

        yield start


@pytest.fixture
async def chat_as(
    agent_of: Callable[[str], Awaitable[AcpClient]], new_chat: NewChat
) -> AsyncIterator[ChatAs]:
    """Opens sessions; what their client answers is reset after the test."""
    used: list[AcpClient] = []

    async def start(kind: str, **more: Any) -> Chat:
        used.append(await agent_of(kind))
        return await new_chat(client=used[-1], **more)

    yield start
    for client in used:
        client.on_permission(ALLOW)
        client.handlers["elicitation/create"] = lambda _: {"action": "decline"}
