"""Fixtures of all tests: the scripted API, and agents that are started in a place of their own."""

import os
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bridge.demo.api import ScriptedApi
from tests.support.acp_client import AcpClient, run_agent
from tests.support.sandbox import Sandbox

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("nightly", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

StartAgent = Callable[..., Awaitable[AcpClient]]
"""`await start_agent(env={…}, command=[…], sandbox=…)`: a client whose agent ends with the test."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of async tests: the agent's own."""
    return "asyncio"


@pytest.fixture
async def api() -> AsyncIterator[ScriptedApi]:
    """A scripted Messages API on loopback."""
    async with ScriptedApi() as api:
        yield api


@pytest.fixture
def sandbox(tmp_path: Path, api: ScriptedApi) -> Sandbox:
    """Home, configuration and project of the agents of one test."""
    return Sandbox(tmp_path / "sandbox", api.url).create()


@pytest.fixture
def agent_command() -> list[str]:
    """The agent under test; `CLAUDE_ACP_COMMAND` names another one."""
    command = os.environ.get("CLAUDE_ACP_COMMAND")
    return shlex.split(command) if command else [sys.executable, "-m", "claude_acp"]


@pytest.fixture
async def start_agent(agent_command: list[str], sandbox: Sandbox) -> AsyncIterator[StartAgent]:
    """Starts agents; each must end in time and have kept the rules when the test is over."""
    async with AsyncExitStack() as running:

        async def start(**options: Any) -> AcpClient:
            options = {"command": agent_command, "sandbox": sandbox, **options}
            return await running.enter_async_context(run_agent(**options))

        yield start


@pytest.fixture
async def agent(start_agent: StartAgent) -> AcpClient:
    """An initialized agent, for a plain client."""
    client = await start_agent()
    await client.initialize()
    return client
