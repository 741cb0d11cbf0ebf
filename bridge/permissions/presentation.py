"""What a permission request shows beside its options.

The `toolCall` itself comes from the tool reports; the order of use is `title_override` and
`blocked_path` (arguments of that report), `offer` of the options, then `request_params` (permissions §3).
"""

import json
import re
from dataclasses import dataclass

from bridge.capabilities import ClientCapabilities
from bridge.permissions.ask import Ask
from bridge.permissions.labels import one_line, readable
from bridge.permissions.options import COMPUTER_USE, EXIT_PLAN, SANDBOX, Offer
from bridge.permissions.suggestions import CONTROL

_LONGEST = 4000
_PATH = 4096
_SHELLS = frozenset({"Bash", "PowerShell"})
_TERMINAL_CODES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))")


@dataclass(frozen=True, slots=True)
class Heading:
    """The two texts of the approval: the record of AIR, or `title` and `description` of ACP v2."""

    title: str
    description: str | None = None


def title_override(ask: Ask) -> str | None:
    """The title that replaces the tool call's own: a network host or a display name (PM-026, PM-027)."""
    if ask.use.name == SANDBOX:
        return one_line(ask.use.input.get("host"))
    return one_line(ask.display_name) if ask.use.name.startswith(COMPUTER_USE) else None


def blocked_path(ask: Ask) -> str | None:
    """The path that made Claude Code ask, unchanged; `None` unless it is one readable line (PM-032)."""
    path = ask.blocked_path
    if not isinstance(path, str) or not path.strip() or len(path) > _PATH:
        return None
    return None if CONTROL.search(path) or len(path.splitlines()) > 1 else path


def heading(ask: Ask, title: object) -> Heading:
    """The texts of the approval of a call whose tool call bears `title` (§3.2, PM-014 … PM-018)."""
    reason = readable(_TERMINAL_CODES.sub("", ask.reason)) if isinstance(ask.reason, str) else ""
    return Heading(_title(ask, title), f"Reason: {reason}" if 0 < len(reason) <= _LONGEST else None)


def request_params(
    session: str, offer: Offer, tool_call: dict[str, object], client: ClientCapabilities
) -> dict[str, object]:
    """The params of `session/request_permission` (PM-011, PM-012); the texts of v2 are beside the call."""
    params: dict[str, object] = {
        "sessionId": session,
        "toolCall": tool_call if client.air else _with_input(offer.ask, tool_call),
        "options": offer.rendered(),
    }
    if client.v2:
        texts = heading(offer.ask, tool_call.get("title"))
        params["title"] = texts.title
        if texts.description is not None:
            params["description"] = texts.description
    if client.air:
        record = _record(offer.ask, heading(offer.ask, tool_call.get("title")))
        params["_meta"] = {"jetbrains": {"air": {"version": 1, "permission": record}}}
    return params


def _title(ask: Ask, title: object) -> str:
    if ask.use.name == EXIT_PLAN:
        return "Ready to code?"
    if ask.use.name in _SHELLS and isinstance(title, str) and title:
        return title  # a command is approved as it will run, to the last line break (PM-023)
    return one_line(title, _LONGEST) or "Use tool?"


def _record(ask: Ask, texts: Heading) -> dict[str, object]:
    record: dict[str, object] = {"version": 1, "title": texts.title}
    if texts.description is not None:
        record["description"] = texts.description
    if ask.default_to_no:
        record["defaultToNo"] = True
    return record


def _with_input(ask: Ask, tool_call: dict[str, object]) -> dict[str, object]:
    """Shows the input of a request that would have no content otherwise (PM-037)."""
    shown = ask.use.name.startswith(COMPUTER_USE) or (
        ask.use.name == SANDBOX and title_override(ask) is not None
    )
    if not shown or tool_call.get("content"):
        return tool_call
    text = f"```json\n{json.dumps(ask.use.input, indent=2, ensure_ascii=False, default=str)}\n```"
    return {**tool_call, "content": [{"type": "content", "content": {"type": "text", "text": text}}]}
