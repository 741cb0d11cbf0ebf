"""OAuth of the client's MCP servers, by a link that the client opens (S§12.5)."""

import logging
from collections.abc import Callable, Collection, Mapping

import anyio
from anyio.abc import TaskGroup

from bridge.claude.errors import ClaudeGone, ControlError
from bridge.commands.requests import ACTION_LIMIT, ask, ask_servers
from bridge.live.process import SessionProcess
from bridge.peer import Answer
from bridge.view.client import SessionClient

POLL = 1.0
"""Seconds between two looks at a server."""
STARTING = 30
"""Looks at servers that still connect."""
PATIENCE = 600
"""Looks at a server that the user signs in to."""

log = logging.getLogger(__name__)


class McpSignIn:
    """Signs in to the servers that need it, one after the other, and in one run at a time."""

    def __init__(
        self, client: SessionClient, process: SessionProcess, tasks: TaskGroup, new_id: Callable[[], str]
    ) -> None:
        self._client = client
        self._process = process
        self._tasks = tasks
        self._new_id = new_id
        self._running: anyio.CancelScope | None = None

    def start(self, servers: Collection[str]) -> None:
        """Look after these servers in the background, unless a run goes on."""
        if servers and self._running is None:
            self._running = anyio.CancelScope()
            self._tasks.start_soon(self._run, self._running, servers, name="mcp sign-in")

    def stop(self) -> None:
        """The session or its process ends; an open link is taken back."""
        if self._running is not None:
            self._running.cancel()

    async def _run(self, scope: anyio.CancelScope, servers: Collection[str]) -> None:
        try:
            with scope:
                for name in await self._in_need(servers):
                    await self._sign_in(name)
        except (ControlError, ClaudeGone) as error:
            log.warning("Signing in to an MCP server failed: %s", error)
        finally:
            self._running = None

    async def _in_need(self, servers: Collection[str]) -> list[str]:
        """Those that need a sign-in, once all have tried to connect."""
        for _ in range(STARTING):
            known = [server for server in await ask_servers(self._process) if server.name in servers]
            if all(server.status != "pending" for server in known):
                break
            await anyio.sleep(POLL)
        return [server.name for server in known if server.status == "needs-auth"]

    async def _sign_in(self, name: str) -> None:
        try:
            reply = await ask(self._process, "mcp_authenticate", ACTION_LIMIT, serverName=name)
        except ControlError as error:
            log.warning("MCP server %s offers no sign-in: %s", name, error)
            return
        url = reply.get("authUrl")
        if reply.get("requiresUserAction") is True and isinstance(url, str):
            await _Link(self._client, f"mcp-oauth-{self._new_id()}", name, url).follow(self._process)


class _Link:
    """One link that the client shows, until the server is connected or nobody waits for it."""

    def __init__(self, client: SessionClient, id: str, server: str, url: str) -> None:
        self._client = client
        self._id = id
        self._server = server
        self._url = url
        self._is_open = True
        self._refused = anyio.Event()

    async def follow(self, process: SessionProcess) -> None:
        """Show it, watch the server, and tell the client when it is done."""
        params: Mapping[str, object] = {
            "mode": "url",
            "message": f"Authenticate with MCP server {self._server}",
            "url": self._url,
            "elicitationId": self._id,
        }
        request = self._client.request("elicitation/create", params, self._answered)
        connected = False
        try:
            connected = await self._watch(process)
        finally:
            if connected:
                self._client.complete(self._id)
            elif self._is_open:
                self._client.withdraw(request)

    async def _watch(self, process: SessionProcess) -> bool:
        """Whether the server got connected."""
        for _ in range(PATIENCE):
            with anyio.move_on_after(POLL):
                await self._refused.wait()
                return False
            status = {server.name: server.status for server in await ask_servers(process)}.get(self._server)
            if status not in {"needs-auth", "pending"}:
                return status == "connected"
        return False

    def _answered(self, answer: Answer) -> None:
        self._is_open = False
        if answer.result is None or answer.result.get("action") != "accept":
            self._refused.set()
