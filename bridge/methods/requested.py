"""What a client asks a session to be made of: folders, MCP servers, metadata (S§2, S§3.1, S§3.2)."""

import os
from collections.abc import Mapping, Sequence

from wire import rpc
from wire.acp.session import McpServer, McpServerHttp, McpServerSse, McpServerStdio


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
    """The servers of a request in Claude Code's form, by name."""
    return {server.name: entry for server in servers if (entry := _mcp_server(server)) is not None}


def meta_of(meta: Mapping[str, object], *keys: str) -> object:
    """What is at this place of `_meta`; None where it is not there."""
    value: object = meta
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


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
