"""Runs scenarios on one agent and keeps what it sent."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bridge.demo.api import ScriptedApi
from tests.compare.normalise import Entry, entries
from tests.compare.scenarios import Scenario, Stage
from tests.support.acp_client import AcpClient, run_agent
from tests.support.clients import CAPABILITIES
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox, bundled_cli

SCENARIO_SECONDS = 90.0
START = "start"
"""Name under which the handshake and the first session are told."""


class Runner:
    """One agent for one kind of client; it is started again when a scenario has broken it."""

    def __init__(self, command: Sequence[str], client: str, root: Path, api: ScriptedApi) -> None:
        self._command = command
        self._kind = client
        self._root = root.resolve()
        self._api = api
        self._running = AsyncExitStack()
        self._client: AcpClient | None = None

    async def start(self) -> list[Entry]:
        """The handshake and a first session."""
        return await self._run(self._open)

    async def play(self, scenario: Scenario) -> list[Entry]:
        """One scenario in a session of its own."""
        return await self._run(lambda client: self._play(client, scenario))

    async def _run(self, act: Callable[[AcpClient], Awaitable[list[Entry]]]) -> list[Entry]:
        """What an act made the agent send; a failure is told as the last entry."""
        client: AcpClient | None = None
        since = 0
        try:
            async with asyncio.timeout(SCENARIO_SECONDS):
                client = await self._agent()
                since = len(client.messages)
                return await act(client)
        except Exception as error:
            await self.close()
            told = self._told(client, since) if client else []
            return [*told, Entry(f"FAILED {str(error) or repr(error)}", {}, failed=True)]

    async def _open(self, client: AcpClient) -> list[Entry]:
        opened = client.call("session/new", {"cwd": str(client.sandbox.project), "mcpServers": []})
        await opened.message()
        await asyncio.sleep(0.5)
        return self._told(client, 0)

    async def _play(self, client: AcpClient, scenario: Scenario) -> list[Entry]:
        project = client.sandbox.root / scenario.name
        _furnish(project, scenario)
        opened = await client.request(
            "session/new", {"cwd": str(project), "mcpServers": list(scenario.mcp_servers)}
        )
        session = opened["sessionId"]
        await client.request("session/set_mode", {"sessionId": session, "modeId": scenario.mode})
        client.handlers.update(scenario.handlers)
        since = len(client.messages)
        await scenario.play(Stage(client, session, project))
        await asyncio.sleep(0.3)
        told = self._told(client, since)
        await client.call("session/close", {"sessionId": session}).message()
        client.violations.clear()
        return told

    async def close(self) -> None:
        """End the agent, whatever it still does."""
        if self._client is not None:
            await self._client.kill()
            self._client = None
        await self._running.aclose()
        self._running = AsyncExitStack()

    async def _agent(self) -> AcpClient:
        if self._client is None:
            sandbox = Sandbox(self._root, self._api.url)
            self._client = await self._running.enter_async_context(
                run_agent(self._command, sandbox, check=False)
            )
            await self._client.call("initialize", _handshake(self._kind)).message()
        return self._client

    def _told(self, client: AcpClient, since: int) -> list[Entry]:
        sent = [message.body for message in client.messages if message.direction == "sent"]
        methods = {body["id"]: body["method"] for body in sent if "id" in body and "method" in body}
        received = [message.body for message in client.messages[since:] if message.direction == "received"]
        root = str(self._root)
        paths = {root: "<root>", re.sub(r"[^A-Za-z0-9]", "-", root): "<root>"}
        return entries(received, paths, methods)


@asynccontextmanager
async def runner(command: Sequence[str], client: str) -> AsyncIterator[Runner]:
    """A runner with a scripted API and a place of its own."""
    with TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as folder:
        async with ScriptedApi() as api:
            run = Runner(command, client, Path(folder), api)
            try:
                yield run
            finally:
                await run.close()


async def record(
    command: Sequence[str], client: str, scenarios: Iterable[Scenario]
) -> AsyncGenerator[tuple[str, list[Entry]]]:
    """What an agent sends in each scenario, by the scenario's name; the handshake comes first."""
    async with runner(command, client) as run:
        yield START, await run.start()
        for scenario in scenarios:
            yield scenario.name, await run.play(scenario)


def _same_for_both() -> dict[str, str | None]:
    """One Claude Code for every agent, with the same tools: an agent may bring another version."""
    return {"CLAUDE_CODE_EXECUTABLE": str(bundled_cli()), "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}


def _handshake(kind: str) -> Json:
    info: Mapping[str, Any] = {"name": "claude-acp-compare", "version": "0"}
    return {"protocolVersion": 1, "clientCapabilities": dict(CAPABILITIES[kind]), "clientInfo": dict(info)}


def _furnish(project: Path, scenario: Scenario) -> None:
    project.mkdir(parents=True, exist_ok=True)
    for name, content in scenario.files.items():
        (project / name).write_bytes(content)
