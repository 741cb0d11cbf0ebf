"""The methods of ACP v1 and the sessions that they are for.

Params are read by the models of `wire`, so a bad one is told by its field's name. Rules: S§2, S§3.
"""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from bridge.capabilities import ClientCapabilities
from bridge.live.session import Host, LiveSession
from bridge.live.setup import Setup
from bridge.messages.prompts import unsupported_block
from bridge.peer import Inbound
from bridge.permissions.modes import bypass_allowed, catalog, mode_error, start_mode
from wire import rpc
from wire.acp.config import SetSessionModeRequest
from wire.acp.session import CancelNotification, CloseSessionRequest, NewSessionRequest, PromptRequest
from wire.params import read

log = logging.getLogger(__name__)


class Sessions:
    """Every live session of the connection, by its id."""

    def __init__(self, host: Host, client: ClientCapabilities) -> None:
        self._host = host
        self._client = client
        self._live: dict[str, LiveSession] = {}
        self._emptied = anyio.Event()

    def request(self, inbound: Inbound) -> None:
        """Serve one request; raises WireError for one that can't be served."""
        serve = _REQUESTS.get(inbound.method)
        if serve is None:
            raise rpc.method_not_found(inbound.method)
        serve(self, inbound)

    def notification(self, method: str, params: Mapping[str, object]) -> None:
        """Serve one notification; unknown sessions and methods are ignored, with a log line."""
        if method != "session/cancel":
            log.info("ignored the notification %s", method)
            return
        session = self._live.get(read(CancelNotification, params).session_id)
        if session is None:
            log.info("ignored a cancel for an unknown session")
        else:
            session.cancel()

    def cancelled(self, inbound: Inbound) -> None:
        """`$/cancel_request`: a prompt alone, or a session that is being created."""
        for session in self._live.values():
            if session.is_opened_by(inbound):
                session.close()
            else:
                session.cancel_prompt(inbound)

    async def close_all(self) -> None:
        """Close every session, in parallel, and wait for the last."""
        for session in tuple(self._live.values()):
            session.close()
        while self._live:
            self._emptied = anyio.Event()
            await self._emptied.wait()

    def kill_all(self) -> None:
        """End the processes of sessions that did not close in time."""
        for session in self._live.values():
            session.kill()

    # ── methods ──

    def _new(self, inbound: Inbound) -> None:
        params = read(NewSessionRequest, inbound.params)
        check_folders(params.cwd, params.additional_directories)
        sandbox = bool(os.environ.get("IS_SANDBOX"))
        uid = os.geteuid() if hasattr(os, "geteuid") else None
        bypass = bypass_allowed(disabled=False, uid=uid, sandbox=sandbox, requested=None)
        modes = catalog(auto=True, bypass=bypass)
        setup = Setup(
            id=self._host.new_id(),
            cwd=params.cwd,
            client=self._client,
            modes=modes,
            mode=start_mode(modes).mode,
            add_dirs=tuple(params.additional_directories),
            mcp_servers=mcp_servers(params.mcp_servers),
        )
        session = LiveSession(setup, self._host, self._forget)
        self._live[setup.id] = session
        session.open(inbound)

    def _prompt(self, inbound: Inbound) -> None:
        params = read(PromptRequest, inbound.params)
        session = self._session(params.session_id)
        blocks = [block.dump() for block in params.prompt]
        unsupported = unsupported_block(blocks)
        if unsupported is not None:
            text = f"Invalid params: Content blocks of type {unsupported} are not supported"
            raise rpc.WireError(rpc.INVALID_PARAMS, text, {"type": unsupported})
        session.prompt(inbound, blocks, self._host.new_id())

    def _set_mode(self, inbound: Inbound) -> None:
        params = read(SetSessionModeRequest, inbound.params)
        session = self._session(params.session_id)
        problem = mode_error(params.mode_id, session.setup.modes)
        if problem is not None:
            raise rpc.WireError(rpc.INVALID_PARAMS, f"Invalid params: {problem}")
        session.change_mode(inbound, params.mode_id, self._host.new_id())

    def _close(self, inbound: Inbound) -> None:
        session = self._live.get(read(CloseSessionRequest, inbound.params).session_id)
        if session is None:
            inbound.respond({})  # closing twice is no error
        else:
            session.close(inbound)

    def _session(self, id: str) -> LiveSession:
        session = self._live.get(id)
        if session is None or session.is_closing:
            raise rpc.WireError(rpc.RESOURCE_NOT_FOUND, data={"sessionId": id})
        return session

    def _forget(self, session: LiveSession) -> None:
        if self._live.get(session.setup.id) is session:
            del self._live[session.setup.id]
        if not self._live:
            self._emptied.set()


def check_folders(cwd: str, additional: list[str]) -> None:
    """Raise WireError for folders that a session can't work in, before any side effect (SE-001)."""
    relative = [path for path in additional if not os.path.isabs(path)]
    if relative:
        text = f"`additionalDirectories` entries must be absolute paths, but received: {', '.join(relative)}"
        raise _invalid(text, {"additionalDirectories": relative})
    if not os.path.isabs(cwd):
        raise _invalid(f"`cwd` must be an absolute path, but received: {cwd}", {"cwd": cwd})
    if not os.path.exists(cwd):
        raise _invalid(f"`cwd` does not exist on the machine running the agent: {cwd}", {"cwd": cwd})
    if not os.path.isdir(cwd):
        raise _invalid(f"`cwd` is not a directory: {cwd}", {"cwd": cwd})


def mcp_servers(servers: list[Any]) -> dict[str, object]:
    """The servers of a request in Claude Code's form, by name (S§3.1)."""
    return {server.name: entry for server in servers if (entry := _mcp_server(server)) is not None}


def _mcp_server(server: Any) -> dict[str, object] | None:
    kind = getattr(server, "type", "stdio")
    if kind in {"http", "sse"}:
        return {"type": kind, "url": server.url, "headers": {h.name: h.value for h in server.headers}}
    if kind == "stdio":
        env = {variable.name: variable.value for variable in server.env}
        return {"type": "stdio", "command": server.command, "args": list(server.args), "env": env}
    return None


def _invalid(text: str, data: object) -> rpc.WireError:
    return rpc.WireError(rpc.INVALID_PARAMS, f"Invalid params: {text}", data)


_REQUESTS: Mapping[str, Callable[[Sessions, Inbound], None]] = {
    "session/new": Sessions._new,
    "session/prompt": Sessions._prompt,
    "session/set_mode": Sessions._set_mode,
    "session/close": Sessions._close,
}
