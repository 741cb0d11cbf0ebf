"""`session/new`: what a session is made of (S§2, S§3)."""

import os
from collections.abc import Sequence

from bridge.live.setup import Setup
from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from bridge.permissions.modes import bypass_allowed, catalog, start_mode
from wire import rpc
from wire.acp.session import McpServer, McpServerHttp, McpServerSse, McpServerStdio, NewSessionRequest
from wire.params import read


def new(sessions: Sessions, inbound: Inbound) -> None:
    """Create a session with an empty conversation."""
    params = read(NewSessionRequest, inbound.params)
    check_folders(params.cwd, params.additional_directories)
    uid = os.geteuid() if hasattr(os, "geteuid") else None
    sandbox = bool(os.environ.get("IS_SANDBOX"))
    bypass = bypass_allowed(disabled=False, uid=uid, sandbox=sandbox, requested=None)
    modes = catalog(auto=True, bypass=bypass)
    setup = Setup(
        id=sessions.host.new_id(),
        cwd=params.cwd,
        client=sessions.client,
        modes=modes,
        mode=start_mode(modes).mode,
        add_dirs=tuple(params.additional_directories),
        mcp_servers=mcp_servers(params.mcp_servers),
    )
    sessions.open(setup, inbound)


def check_folders(cwd: str, additional: Sequence[str]) -> None:
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


def mcp_servers(servers: Sequence[McpServer]) -> dict[str, object]:
    """The servers of a request in Claude Code's form, by name (S§3.1)."""
    return {server.name: entry for server in servers if (entry := _mcp_server(server)) is not None}


def _mcp_server(server: McpServer) -> dict[str, object] | None:
    match server:
        case McpServerHttp() | McpServerSse():
            headers = {header.name: header.value for header in server.headers}
            return {"type": server.type, "url": server.url, "headers": headers}
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return {"type": "stdio", "command": server.command, "args": list(server.args), "env": env}
        case _:
            return None


def _invalid(text: str, data: object) -> rpc.WireError:
    return rpc.WireError(rpc.INVALID_PARAMS, f"Invalid params: {text}", data)
