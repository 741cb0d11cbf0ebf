"""The requests of ACP v2, each read by its own model and served by the method of v1 (`acp-wire` §2.1)."""

from collections.abc import Mapping

from bridge.methods import accounts, configuring, opening, prompting, stored
from bridge.methods.sessions import Method, Sessions
from bridge.peer import Inbound, Port
from bridge.v2 import results
from bridge.v2.updates import Updates
from wire import rpc
from wire.acp.v2 import requests as w
from wire.params import read

Params = dict[str, object]


def methods(port: Port, updates: Updates) -> Mapping[str, Method]:
    """Every method that is served: no `_session/*`, no `session/load`, no `session/set_mode` (V2-023)."""
    return {
        "auth/login": accounts.authenticate,
        "auth/logout": accounts.logout,
        "providers/list": accounts.list_providers,
        "providers/set": accounts.set_provider,
        "providers/disable": accounts.disable_provider,
        "session/new": _opening(w.NewSessionRequest, opening.new),
        "session/fork": _opening(w.ForkSessionRequest, opening.fork),
        "session/resume": lambda sessions, inbound: _resume(sessions, inbound, updates),
        "session/list": stored.list_sessions,
        "session/delete": _ending(stored.delete, updates),
        "session/close": _ending(prompting.close, updates),
        "session/prompt": _prompt,
        "session/set_config_option": lambda sessions, inbound: _configure(sessions, inbound, port),
    }


def _opening(model: type[w.NewSessionRequest], serve: Method) -> Method:
    def served(sessions: Sessions, inbound: Inbound) -> None:
        inbound.read_as(_setup(read(model, inbound.params), inbound.params), results.opened)
        serve(sessions, inbound)

    return served


def _resume(sessions: Sessions, inbound: Inbound, updates: Updates) -> None:
    """With `replayFrom` the history is told before the answer, without it none is (SE-036)."""
    request = read(w.ResumeSessionRequest, inbound.params)
    params = _setup(request, inbound.params)
    params.pop("replayFrom", None)
    match request.replay_from:
        case None:
            inbound.read_as(params, results.opened)
            opening.resume(sessions, inbound)
        case w.ReplayFromStart():
            updates.replay_begins(request.session_id)

            def opened(result: Mapping[str, object]) -> Mapping[str, object]:
                updates.replay_ends(request.session_id)
                return results.opened(result)

            inbound.read_as(params, opened)
            opening.load(sessions, inbound)
        case other:
            text = f"Invalid params: Unsupported replayFrom type: {other.type}"
            raise rpc.WireError(rpc.INVALID_PARAMS, text, {"type": other.type})


def _ending(serve: Method, updates: Updates) -> Method:
    """Nothing of the session is remembered after its end (§8.2.14)."""

    def served(sessions: Sessions, inbound: Inbound) -> None:
        session = inbound.params.get("sessionId")

        def ended(result: Mapping[str, object]) -> Mapping[str, object]:
            updates.forget(str(session))
            return result

        inbound.read_as(inbound.params, ended)
        serve(sessions, inbound)

    return served


def _prompt(sessions: Sessions, inbound: Inbound) -> None:
    """Answered once it is in the conversation; a prompt without content is none."""
    prompting.check_kinds(inbound.params.get("prompt"))
    read(w.PromptRequest, inbound.params)
    prompting.prompt(sessions, inbound)


def _configure(sessions: Sessions, inbound: Inbound, port: Port) -> None:
    """The new list is told as an update, then as the answer (§6.8)."""
    request = read(w.SetSessionConfigOptionRequest, inbound.params)
    params = {key: value for key, value in inbound.params.items() if key != "type"}
    if request.type == "boolean":
        params["type"] = "boolean"

    def changed(result: Mapping[str, object]) -> Mapping[str, object]:
        update = {"sessionUpdate": "config_option_update", **result}
        port.notify("session/update", {"sessionId": request.session_id, "update": update})
        return {"configOptions": results.config_options(result["configOptions"])}

    inbound.read_as(params, changed)
    configuring.set_config_option(sessions, inbound)


# ── params ────────────────────────────────────────────────────────────────────


def _setup(request: w.NewSessionRequest, given: Mapping[str, object]) -> Params:
    """The same request in the terms of v1."""
    return {**given, "mcpServers": [_server(server) for server in _unique(request.mcp_servers)]}


def _unique(servers: list[w.McpServer]) -> list[w.McpServer]:
    names = [server.name for server in servers if not isinstance(server, w.Unknown)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        text = f"Invalid params: MCP server names must be unique, but there are two of {twice}"
        raise rpc.WireError(rpc.INVALID_PARAMS, text, {"name": twice})
    return servers


def _server(server: w.McpServer) -> Params:
    match server:
        case w.McpServerStdio():
            env = [variable.dump() for variable in server.env]
            return {"name": server.name, "command": server.command, "args": list(server.args), "env": env}
        case w.McpServerHttp():
            headers = [header.dump() for header in server.headers]
            return {"type": "http", "name": server.name, "url": server.url, "headers": headers}
        case _:
            text = f"Invalid params: MCP servers of type {server.type} are not supported"
            raise rpc.WireError(rpc.INVALID_PARAMS, text, {"type": server.type})
