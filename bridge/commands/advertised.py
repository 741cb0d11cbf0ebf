"""The slash commands that a client may offer (S§11)."""

import re
from collections.abc import Iterable, Mapping

from bridge.view.session_info import air

HIDDEN = frozenset(
    [
        "clear",
        "cost",
        "keybindings-help",
        "login",
        "logout",
        "output-style:new",
        "release-notes",
        "todos",
        "mcp",
    ]
)
"""Commands that make no sense outside a terminal; `mcp` is offered in our own form."""

MCP_COMMAND: Mapping[str, object] = {
    "name": "mcp",
    "description": "Show the MCP servers and their status, or reconnect, enable, or disable a server",
    "input": {"hint": "[reconnect|enable|disable [<server>|all]]"},
}

_MCP_PROMPT = re.compile(r"^(?P<server>[^:\s]+):(?P<command>\S+) \(MCP\)$")


def commands_update(
    commands: object, terminal_only: Iterable[str], skills: Mapping[str, str | None] | None = None
) -> dict[str, object]:
    """The `available_commands_update` for the commands that Claude Code listed.

    `skills` names those that are skills, with their file where it is known; for AIR alone (SE-118).
    """
    hidden = HIDDEN | set(terminal_only)
    rows: dict[str, Mapping[str, object]] = {}
    for command in commands if isinstance(commands, list) else []:
        row = _row(command)
        if row is not None and row["name"] not in hidden:
            rows.setdefault(str(row["name"]), row)
    for name, path in (skills or {}).items():
        if name in rows:
            file = {"skillPath": path} if path is not None else {}
            rows[name] = {**rows[name], "_meta": air({"kind": "skill", **file})}
    rows["mcp"] = MCP_COMMAND
    return {"sessionUpdate": "available_commands_update", "availableCommands": list(rows.values())}


def _row(command: object) -> dict[str, object] | None:
    if not isinstance(command, Mapping) or not isinstance(command.get("name"), str):
        return None
    name = str(command["name"])
    prompt = _MCP_PROMPT.match(name)
    if prompt:
        name = f"mcp:{prompt['server']}:{prompt['command']}"
    if not name or any(character.isspace() for character in name):
        return None
    hint = command.get("argumentHint")
    if isinstance(hint, list):
        hint = " ".join(str(part) for part in hint)
    description = command.get("description")
    return {
        "name": name,
        "description": description if isinstance(description, str) else "",
        "input": {"hint": hint} if isinstance(hint, str) and hint else None,
    }
