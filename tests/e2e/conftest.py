"""Fixtures of the end-to-end tests: agents that a module's tests share, with a session for each test."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import Chat
from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import ALLOW, Json
from tests.support.sandbox import Sandbox

NewChat = Callable[..., Awaitable[Chat]]
"""`await new_chat(client=…, mcpServers=[…])`: a session in a folder of its own."""


def assert_answered(client: AcpClient, since: int = 0) -> None:
    """Every request of ours was answered, and the log has no fault of the agent's own.

    The client itself notices an answer too many.
    """
    messages = client.messages[since:]
    sent = Counter(_ids(message.body for message in messages if message.direction == "sent"))
    answers = (message.body for message in messages if message.direction == "received")
    answered = Counter(body["id"] for body in answers if "method" not in body)
    assert not sent - answered
    assert "Traceback" not in client.stderr, client.stderr
    client.assert_clean()


def _ids(bodies: Iterable[Json]) -> Iterator[Any]:
    return (body["id"] for body in bodies if "method" in body and "id" in body)


@pytest.fixture(scope="session")
def agent_command() -> list[str]:
    """The agent under test, also for fixtures that outlive a test."""
    command = os.environ.get("CLAUDE_ACP_COMMAND")
    return shlex.split(command) if command else [sys.executable, "-m", "claude_acp"]


@pytest.fixture
async def start_agent(start_agent: StartAgent) -> AsyncIterator[StartAgent]:
    """Agents of a test's own, which leave nothing unanswered unless they had to die."""
    clients: list[AcpClient] = []

    async def start(**options: Any) -> AcpClient:
        clients.append(await start_agent(**options))
        return clients[-1]

    yield start
    for client in clients:
        if client.process.returncode in (None, 0):
            assert_answered(client)


@pytest.fixture(scope="module")
async def shared_api() -> AsyncIterator[ScriptedApi]:
    """The model of all sessions of a module."""
    async with ScriptedApi() as api:
        yield api


@pytest.fixture(scope="module")
def shared_sandbox(tmp_path_factory: pytest.TempPathFactory, shared_api: ScriptedApi) -> Sandbox:
    """Home and configuration of a module's agents."""
    return Sandbox(tmp_path_factory.mktemp("shared"), shared_api.url).create()


@pytest.fixture(scope="module")
async def shared_agent(agent_command: list[str], shared_sandbox: Sandbox) -> AsyncIterator[AcpClient]:
    """An agent of a plain client for all tests of a module, which keep it alive."""
    async with run_agent(agent_command, shared_sandbox, {"CLAUDE_CODE_MAX_RETRIES": "1"}) as client:
        await client.initialize()
        yield client


@pytest.fixture
async def new_chat(shared_agent: AcpClient, shared_api: ScriptedApi) -> AsyncIterator[NewChat]:
    """Opens sessions; after the test each request is answered, and what the client does is reset."""
    chats: list[Chat] = []

    async def start(client: AcpClient = shared_agent, **more: Any) -> Chat:
        mark = len(client.messages)
        project = _project(client, more.pop("cwd", None))
        session = await client.new_session(cwd=str(project), **more)
        chats.append(Chat(client, session, project, shared_api, mark))
        return chats[-1]

    yield start
    shared_agent.on_permission(ALLOW)
    shared_agent.handlers["elicitation/create"] = lambda _: {"action": "decline"}
    for chat in chats:
        if chat.client.process.returncode is None:
            await chat.client.request("session/close", {"sessionId": chat.session})
    for chat in chats[:1]:
        assert_answered(chat.client, chat.start)


@pytest.fixture
async def chat(new_chat: NewChat) -> Chat:
    """A session of the shared agent."""
    return await new_chat()


_FOLDERS = count()


def _project(client: AcpClient, wanted: str | None) -> Path:
    project = Path(wanted) if wanted else client.sandbox.project / f"p{next(_FOLDERS)}"
    project.mkdir(parents=True, exist_ok=True)
    return project
