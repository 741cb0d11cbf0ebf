"""Asks as Claude Code sends them, for the tests of this folder."""

from typing import Any

from bridge.permissions.ask import Ask, read_ask
from bridge.permissions.options import Offer, Situation, offer

CWD, HOME = "/work/app", "/home/me"
SITUATION = Situation(
    cwd=CWD, home=HOME, modes=("default", "acceptEdits", "plan", "auto", "bypassPermissions")
)


def ask_for(tool: str, tool_input: dict[str, Any] | None = None, **fields: Any) -> Ask:
    """An ask with the fields of the control request that a test is about."""
    request = {
        "subtype": "can_use_tool",
        "tool_name": tool,
        "input": tool_input or {},
        "tool_use_id": "toolu_1",
    }
    return read_ask({"type": "control_request", "request_id": "req-1", "request": request | fields})


def offered(tool: str, tool_input: dict[str, Any] | None = None, **fields: Any) -> Offer:
    return offer(ask_for(tool, tool_input, **fields), SITUATION)


def shown(made: Offer) -> list[tuple[str, str, str]]:
    """Id, kind and name of each option, in order."""
    return [(choice.id, choice.kind, choice.name) for choice in made.choices]


def lasting(made: Offer) -> list[str]:
    """The names of the choices that outlive the call."""
    return [choice.name for choice in made.choices if choice.kind == "allow_always"]


def add_rules(*rules: tuple[str, str | None], to: str = "session", behavior: str = "allow") -> dict[str, Any]:
    listed = [{"toolName": tool} | ({} if text is None else {"ruleContent": text}) for tool, text in rules]
    return {"type": "addRules", "rules": listed, "behavior": behavior, "destination": to}


def add_directories(*directories: str, to: str = "session") -> dict[str, Any]:
    return {"type": "addDirectories", "directories": list(directories), "destination": to}


def set_mode(mode: str, to: str = "session") -> dict[str, Any]:
    return {"type": "setMode", "mode": mode, "destination": to}
