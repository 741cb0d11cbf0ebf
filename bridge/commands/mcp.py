"""`/mcp`: what it asks for, and the MCP servers as a list of Markdown (S§12.2)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bridge.commands.markdown import code, escaped, one_line
from bridge.messages.raw import Raw, optional, rows, text

Action = Literal["reconnect", "enable", "disable"]

_ACTIONS: Mapping[str, Action] = {"reconnect": "reconnect", "enable": "enable", "disable": "disable"}

_BEFORE = {"failed": "Failed", "needs-auth": "Needs authentication", "pending": "Connecting"}
_GROUPS = {**_BEFORE, "connected": "Connected"}
_COUNTED = {"needs-auth": "need authentication", "pending": "connecting"}

_ADVICE = (
    "Run `/mcp reconnect <server>` to reconnect one server, or `/mcp reconnect` to reconnect every server "
    "that is not connected and not disabled."
)
_NOTHING_TO_DO: Mapping[Action, str] = {
    "reconnect": "Every MCP server is connected or disabled. There is nothing to reconnect.",
    "enable": "Every MCP server is already enabled.",
    "disable": "Every MCP server is already disabled.",
}
_DONE: Mapping[Action, str] = {"reconnect": "Reconnected", "enable": "Enabled", "disable": "Disabled"}
_FOR_A_TERMINAL = ("in the terminal", "`/mcp reconnect all` here", "aren't available in this session")
_UNKNOWN = re.compile(r"no MCP server named", re.IGNORECASE)

_LONGEST_ERROR = 160
_WRAPPER = re.compile(
    r"-?\d+|.*::.*|(?=.{1,60}$)[^.!?]*\b(?:failed|error|exception)(?:\s+-?\d+)?", re.IGNORECASE
)
_CODE = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class McpCommand:
    """What the user typed; without an action the status alone."""

    action: Action | None = None
    server: str | None = None
    """None means every server that the action fits."""
    lacks_server: bool = False
    """Enabling or disabling everything has to be said."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One configured server and its state."""

    name: str
    status: str
    scope: str = ""
    error: str | None = None
    tools: int | None = None


def read_mcp(prompt: str) -> McpCommand | None:
    """The command that a prompt is; None for another one, and for an action nobody knows."""
    command, *words = prompt.split() or [""]
    if command != "/mcp":
        return None
    if not words:
        return McpCommand()
    action = _ACTIONS.get(words[0].lower())
    if action is None:
        return None
    server = " ".join(words[1:])
    if server == "all" or (not server and action == "reconnect"):
        return McpCommand(action)
    return McpCommand(action, server or None, lacks_server=not server)


def read_servers(reply: Raw) -> list[McpServer]:
    """The reply to `mcp_status`."""
    return [
        McpServer(
            text(row, "name"),
            text(row, "status"),
            text(row, "scope"),
            optional(row, "error"),
            len(rows(row, "tools")) if isinstance(row.get("tools"), list) else None,
        )
        for row in rows(reply, "mcpServers")
    ]


def targets(command: McpCommand, servers: Sequence[McpServer]) -> list[str]:
    """Names of the servers that an action is for, each once; none for one that is not there."""
    if command.lacks_server:
        return []
    if command.server is not None:
        return [command.server] if any(server.name == command.server for server in servers) else []
    match command.action:
        case "reconnect":
            fitting = [server for server in servers if server.status in _BEFORE]
        case "enable":
            fitting = [server for server in servers if server.status == "disabled"]
        case _:
            fitting = [server for server in servers if server.status != "disabled"]
    return list(dict.fromkeys(server.name for server in fitting))


def outcome_lines(command: McpCommand, errors: Mapping[str, str | None], said: str) -> str:
    """What became of an action, by server; `errors` holds None for one that went well.

    `said` is Claude Code's own text: its sentences that hold in an editor too come first.
    """
    kept = useful_sentences(said)
    lines = [_outcome(command, name, error) for name, error in errors.items()]
    if not lines and command.lacks_server:
        lines = [f"Name a server or `all`, for example `/mcp {command.action} <server>`."]
    elif not lines and command.server is not None:
        lines = [] if _UNKNOWN.search(kept) else [f"There's no MCP server named {code(command.server)}."]
    elif not lines and command.action is not None:
        lines = [_NOTHING_TO_DO[command.action]]
    return "\n\n".join(part for part in (kept, "\n".join(lines)) if part)


def _outcome(command: McpCommand, name: str, error: str | None) -> str:
    if command.action is None:
        return ""
    if error is None:
        return f"- {_DONE[command.action]} {code(name)}"
    return f"- Couldn't {command.action} {code(name)}: {short_error(error)}"


def status_list(servers: Sequence[McpServer]) -> str:
    """All servers by state, those that need attention first."""
    if not servers:
        return "No MCP servers are configured."
    return "\n\n".join(_status_blocks(servers))


def _status_blocks(servers: Sequence[McpServer]) -> Iterator[str]:
    by_status: dict[str, list[McpServer]] = {status: [] for status in _GROUPS}
    for server in servers:
        by_status.setdefault(server.status, []).append(server)
    disabled = by_status.pop("disabled", [])
    by_status["disabled"] = disabled
    counts = [_counted(status, len(group)) for status, group in by_status.items() if group]
    yield f"**MCP servers:** {len(servers)} ({', '.join(counts)})"
    names = Counter(server.name for server in servers)
    for status, group in by_status.items():
        if group and status != "disabled":
            title = _GROUPS.get(status) or escaped(status[:1].upper() + status[1:])
            yield "\n".join([f"**{title}**", *(_line(server, names) for server in group)])
    if disabled:
        yield f"**Disabled:** {', '.join(_name(server, names) for server in disabled)}"
    if any(server.status in _BEFORE for server in servers):
        yield _ADVICE


def _counted(status: str, number: int) -> str:
    if status == "needs-auth" and number == 1:
        return "1 needs authentication"
    return f"{number} {_COUNTED.get(status) or escaped(status)}"


def _line(server: McpServer, names: Mapping[str, int]) -> str:
    error = short_error(server.error) if server.error else ""
    tools = None if server.tools is None else f"{server.tools} tool{'' if server.tools == 1 else 's'}"
    told = "; ".join(part for part in (error, tools) if part)
    return f"- {_name(server, names)}" + (f": {told}" if told else "")


def _name(server: McpServer, names: Mapping[str, int]) -> str:
    scope = f" ({escaped(server.scope)})" if names[server.name] > 1 and server.scope else ""
    return code(server.name) + scope


def short_error(error: str) -> str:
    """The cause without what wraps it: two sentences, 160 characters at most."""
    parts = one_line(error).split(": ")
    while len(parts) > 1 and _WRAPPER.fullmatch(parts[0]) and not all(map(_CODE.fullmatch, parts[1:])):
        parts.pop(0)
    shown = " ".join(re.split(r"(?<=[.!?]) ", ": ".join(parts))[:2])
    return escaped(shown if len(shown) <= _LONGEST_ERROR else f"{shown[: _LONGEST_ERROR - 1]}…")


def useful_sentences(said: str) -> str:
    """What of Claude Code's text is not about its terminal."""
    sentences = re.split(r"(?<=[.!?])\s+", said.strip())
    return " ".join(each for each in sentences if not any(mark in each for mark in _FOR_A_TERMINAL))
