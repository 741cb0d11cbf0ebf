"""A permission ask: the `can_use_tool` control request of Claude Code, read once.

Every field but the tool's name may be missing or of a wrong type; such a field counts as absent, so
reading never fails (permissions §1).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from machines.events import ToolUse


@dataclass(frozen=True, slots=True)
class Ask:
    """What Claude Code asks, and what it says about the reason."""

    id: str
    """Id of the control request: the key of the ask and of its withdrawal."""
    use: ToolUse
    agent: str | None = None
    """Task id of the subagent that asks; `None` in the main conversation."""
    suggestions: object = None
    """`permission_suggestions` as they came; `suggestions.snapshot` judges them."""
    blocked_path: object = None
    reason: object = None
    reason_type: str | None = None
    asked_by_rule: bool = False
    """`matched_ask_rule` names the rule of the user that forced this ask."""
    default_to_no: bool = False
    suppress_always_allow: bool = False
    """A rule would grant more than this ask needs."""
    mcp_server: Mapping[str, str] | None = None
    """`name` and `source` of the server of an `mcp__*` tool."""
    display_name: str | None = None

    @property
    def no_persistent(self) -> bool:
        """No lasting choice: an ask rule must keep asking, whatever marks it (decision 33, PM-063…065)."""
        return self.asked_by_rule or self.suppress_always_allow or self.reason_type == "rule"

    def text(self, key: str) -> str | None:
        """A text of the tool's input, trimmed; `None` when it is absent, blank or no text."""
        value = self.use.input.get(key)
        return (value.strip() or None) if isinstance(value, str) else None


def read_ask(frame: Mapping[str, object], parent: str | None = None) -> Ask:
    """Read one `control_request` frame of subtype `can_use_tool`.

    `parent` is the Agent or Task call of the asking subagent, which the frame does not name. A
    missing `tool_use_id` is replaced by the id of the request, so that the call can be shown.
    """
    request = _mapping(frame.get("request"))
    request_id = _text(frame.get("request_id")) or ""
    use = ToolUse(
        call=_text(request.get("tool_use_id")) or request_id,
        name=_text(request.get("tool_name")) or "",
        input=_mapping(request.get("input")),
        parent=parent,
    )
    return Ask(
        id=request_id,
        use=use,
        agent=_text(request.get("agent_id")),
        suggestions=request.get("permission_suggestions"),
        blocked_path=request.get("blocked_path"),
        reason=request.get("decision_reason"),
        reason_type=_text(request.get("decision_reason_type")),
        asked_by_rule=request.get("matched_ask_rule") is not None,
        default_to_no=request.get("default_to_no") is True,
        suppress_always_allow=request.get("suppress_always_allow_rule") is True,
        mcp_server=_server(request.get("mcp_server")),
        display_name=_text(request.get("display_name")),
    )


def _server(value: object) -> Mapping[str, str] | None:
    server = _mapping(value)
    if _text(server.get("name")) is None:
        return None
    return {key: text for key in ("name", "source") if (text := _text(server.get(key))) is not None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
