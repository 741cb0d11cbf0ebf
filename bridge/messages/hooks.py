"""Hooks of Claude Code as events."""

from bridge.messages.raw import Raw, mapping, optional, text
from bridge.view.session_info import clean_summary
from machines.companions.compaction import Summarized
from machines.events import ToolHooked


def read_hook(request: Raw) -> ToolHooked | Summarized | None:
    """A hook that a lifecycle waits for: the end of a tool, the summary of a compaction."""
    told = mapping(request, "input")
    match told.get("hook_event_name"):
        case "PostToolUse":
            return ToolHooked(
                text(told, "tool_use_id") or text(request, "tool_use_id"),
                text(told, "tool_name"),
                mapping(told, "tool_input"),
                told.get("tool_response"),
                optional(told, "agent_id"),
            )
        case "PostCompact":
            summary = clean_summary(text(told, "compact_summary"))
            return Summarized(summary) if summary is not None else None
        case _:
            return None
