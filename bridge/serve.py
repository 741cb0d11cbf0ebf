"""The process of the agent: stdio, signals, and the one task group that everything runs in."""

import gc
import logging
import os
import signal
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from bridge.agent import Agent
from bridge.capabilities import ClientCapabilities
from bridge.initialize import Versions, served_versions
from bridge.logs import set_up_logs
from bridge.peer import Peer, Port
from bridge.stdio import Writer, claim_stdout, read_lines
from bridge.tracing import TRACE, TRACE_TEXT, Trace

if TYPE_CHECKING:
    from bridge.methods.sessions import Method, Sessions

log = logging.getLogger(__name__)

FLUSH = 5.0
"""Seconds that the last messages get to reach a client that reads slowly."""


def serve(environ: Mapping[str, str], trace: str | None = None, *, hide_claude: bool = False) -> int:
    """Serve one client on stdin and stdout until it is gone; returns the exit status."""
    stdout = claim_stdout()
    set_up_logs(environ)
    versions, problem = served_versions(environ)
    if problem is not None:
        log.warning("%s", problem)
    path = trace or environ.get(TRACE)
    opened = _open_trace(path, environ) if path else None
    process = AgentProcess(stdout, opened, versions, hide_claude=hide_claude)
    anyio.run(process.run)
    return process.status


class AgentProcess:
    """Holds what lives as long as the process."""

    tasks: TaskGroup

    def __init__(self, stdout: int, trace: Trace | None, versions: Versions, *, hide_claude: bool) -> None:
        self._versions = versions
        self._hide_claude = hide_claude
        self._stdout = stdout
        self._trace = trace
        self._done = anyio.Event()
        self.status = 0

    async def run(self) -> None:
        """Serve until the agent is shut, then write what is queued."""
        async with anyio.create_task_group() as self.tasks:
            self._writer = Writer(self._stdout, lambda: peer.close("broken"))
            peer = Peer(self._writer.send, self._make_agent)
            self.tasks.start_soon(self._writer.run)
            self.tasks.start_soon(self._watch_signals)
            self.tasks.start_soon(self._read, peer)
            await self._done.wait()
            with anyio.CancelScope(shield=True):
                await self._writer.finish(FLUSH)
            self.tasks.cancel_scope.cancel()

    def open_sessions(self, peer: Peer, client: ClientCapabilities) -> "Sessions":
        """Import what sessions need; runs in a worker thread."""
        from bridge.accounts.accounts import Accounts
        from bridge.claude.lean import load_sdk
        from bridge.config.settings import managed_env, managed_path, read_tier
        from bridge.live.host import Host
        from bridge.methods.sessions import Sessions
        from bridge.sessions.folders import config_folder, projects_folder

        policy = read_tier(managed_path(sys.platform))
        os.environ.update(managed_env(policy.values))
        if policy.problem is not None:
            log.error("Failed to resolve managed policy settings: %s", policy.problem)
        load_sdk()
        gc.freeze()  # the imports stay; no later collection looks at them
        gc.enable()
        projects = projects_folder(config_folder(os.environ, Path.home()))
        port, methods = _spoken(peer, client)
        host = Host(
            peer=port,
            accounts=Accounts(
                self.tasks,
                lambda status: peer.notify("_auth/status_update", {"authStatus": status}),
                os.environ,
                hide_claude=self._hide_claude,
            ),
            tasks=self.tasks,
            now=time.monotonic,
            new_id=lambda: str(uuid.uuid4()),
            gate=self._writer.gate,
            trace=self._trace,
            home=str(Path.home()),
            environ=os.environ,
            projects=projects,
        )
        return Sessions(host, client, methods, projects)

    def shut(self, *, clean: bool) -> None:
        """The agent is done."""
        self.status = 0 if clean else 1
        self._done.set()

    def _make_agent(self, peer: Peer) -> Agent:
        self._agent = Agent(peer, self, self._sign_in, self._versions)
        return self._agent

    def _sign_in(self, client: ClientCapabilities) -> Sequence[Mapping[str, object]]:
        if not (client.auth_terminal or client.terminal_auth or client.gateway_auth):
            return ()
        from bridge.config.auth import auth_methods

        own = ["--hide-claude-auth"] if self._hide_claude else []
        program = [sys.executable, "-m", "claude_acp", *own]
        return auth_methods(client, os.environ, program, hide_claude=self._hide_claude)

    async def _read(self, peer: Peer) -> None:
        await read_lines(0, peer.receive)
        peer.close("eof")

    async def _watch_signals(self) -> None:
        names = [name for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
        with anyio.open_signal_receiver(*(getattr(signal, name) for name in names)) as signals:
            async for received in signals:
                log.info("ends on %s", received.name)
                self._agent.stop()


def _spoken(peer: Peer, client: ClientCapabilities) -> "tuple[Port, Mapping[str, Method]]":
    """Where sessions send, and the methods of the version that was agreed."""
    if client.v2:
        from bridge.v2 import requests
        from bridge.v2.port import TranslatingPort

        port = TranslatingPort(peer)
        return port, requests.methods(port, port.updates)
    from bridge.methods.table import METHODS

    return peer, METHODS


def _open_trace(path: str, environ: Mapping[str, str]) -> Trace | None:
    try:
        return Trace(os.path.expanduser(path), with_text=environ.get(TRACE_TEXT) == "1", now=time.monotonic)
    except OSError as error:
        log.error("no trace: %s can't be written: %s", path, error.strerror)
        return None
