"""Agents whose Claude Code does what a scenario says (`tests.support.fake_cli`)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chat import Chat
from tests.e2e.conftest import NewChat
from tests.support import fake_cli
from tests.support.acp_client import AcpClient, run_agent
from tests.support.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the fake Claude Code plays."""

    folder: Path
    client: AcpClient
    new_chat: NewChat

    def plan(self, **scenario: Any) -> None:
        """Let it play this from its next start on."""
        fake_cli.install(self.folder, scenario)

    async def open(self, **scenario: Any) -> Chat:
        """A session of a scenario."""
        self.plan(**scenario)
        return replace(await self.new_chat(), is_scripted=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the scenario and of the log."""
    return tmp_path_factory.mktemp("stage")


@pytest.fixture(scope="module")
async def shared_agent(
    agent_command: list[str], shared_sandbox: Sandbox, folder: Path
) -> AsyncIterator[AcpClient]:
    """An agent of a plain client, with the fake Claude Code."""
    async with run_agent(agent_command, shared_sandbox, fake_cli.install(folder)) as client:
        await client.initialize()
        yield client


@pytest.fixture
def stage(folder: Path, shared_agent: AcpClient, new_chat: NewChat) -> Stage:
    """Opens sessions of scenarios."""
    return Stage(folder, shared_agent, new_chat)
