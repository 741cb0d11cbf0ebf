"""What a session tells of itself: goal, failure records, file reports, compactions, notices (M11 … M14)."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from bridge.capabilities import ClientCapabilities
from bridge.tools.render import with_air
from machines.companions.session_reports import (
    CompactionFacts,
    GoalSnapshot,
    ReportCompaction,
    ReportFiles,
    ReportIncident,
    ShowSummary,
)

Update = dict[str, object]

COMPACT_TITLE = "Compact conversation"

_MAX_PATHS = 1024
_MAX_PATH = 4096
_MAX_REPORT = 256 * 1024
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MARKUP = re.compile(r"^#{1,6}\s+|\*\*|__|(?<!`)`(?!`)", re.MULTILINE)


def air(payload: Mapping[str, object]) -> dict[str, object]:
    """A payload in its envelope, as `_meta`."""
    return with_air({}, payload)


def info_update(payload: Mapping[str, object]) -> Update:
    """A `session_info_update` that carries one AIR payload."""
    return {"sessionUpdate": "session_info_update", "_meta": air(payload)}


def goal_update(goal: GoalSnapshot | None) -> Update:
    """The goal, with the keys that are known; none is an explicit null (GL-011 … GL-013)."""
    if goal is None:
        return info_update({"goal": None})
    snapshot: dict[str, object] = {"objective": goal.objective, "status": "active"}
    optional = {
        "iterations": goal.iterations,
        "lastReason": goal.last_reason,
        "createdAt": goal.created_at,
    }
    snapshot |= {key: value for key, value in optional.items() if value is not None}
    return info_update({"goal": {**snapshot, "controlMethod": "_session/goal"}})


def failure_record(incident: ReportIncident) -> dict[str, object]:
    """A failure record: these keys and no others (SF-003 … SF-005)."""
    facts = incident.facts
    record: dict[str, object] = {
        "id": incident.id,
        "revision": incident.revision,
        "category": facts.category,
        "severity": facts.severity,
        "title": facts.title,
    }
    if facts.details is not None:
        record["details"] = facts.details
    return {**record, "actions": list(facts.actions)}


def incident_update(incident: ReportIncident) -> Update:
    """A failure record outside of an answer."""
    return info_update({"sessionFailure": failure_record(incident)})


def files_update(report: ReportFiles, roots: Iterable[str]) -> Update:
    """The file-change report (M14); reads the links of the paths, so a worker thread may run it."""
    if report.paths is None:
        body: dict[str, object] = {"status": "unavailable", "reason": report.reason}
    else:
        paths, truncated = _reported_paths(report.paths, [Path(root).resolve() for root in roots])
        body = {"status": "reported", "paths": paths, "declaredComplete": False, "truncated": truncated}
    return info_update({"agentFileChangeReport": {"version": 1, "requestId": report.request, **body}})


def compaction_update(report: ReportCompaction, client: ClientCapabilities, *, opened: bool) -> Update | None:
    """The status of a compaction in the client's form; None when it adds nothing for this client.

    `opened` says that the client was shown it before.
    """
    if report.facts is not None and report.summary is None and opened and not client.air:
        if client.compaction:
            return None  # the boundary's facts are AIR's alone
        return _facts_call(report)
    if client.compaction:
        return _compaction_entity(report, client)
    return _compaction_call(report, client, opened=opened)


def summary_update(piece: ShowSummary, client: ClientCapabilities) -> Update:
    """A piece of a summary; as a tool call it only says that the compaction goes on."""
    if not client.compaction:
        going_on = ReportCompaction(piece.id, "in_progress")
        return _compaction_call(going_on, client, opened=True)
    return {
        "sessionUpdate": "compaction_summary_chunk",
        "compactionId": piece.id,
        "content": {"type": "text", "text": piece.text},
    }


def clean_summary(text: str) -> str | None:
    """The body of a summary without its framing; None when the framing is not understood."""
    text = re.sub(r"<analysis>.*?</analysis>", "", text, flags=re.DOTALL)
    body = re.search(r"<summary>(.*?)</summary>", text, flags=re.DOTALL)
    if body is not None:
        return body[1].strip() or None
    _, found, rest = text.partition("\nSummary:\n")
    if not found:
        return None
    return rest.partition("\n\nIf you need specific details")[0].strip() or None


def notice(severity: str, text: str, fallback_title: str) -> Update:
    """A notice: one line of up to 256 characters is the title, a longer text the description (SE-120)."""
    plain = _MARKUP.sub("", text).strip()
    first, _, rest = plain.partition("\n")
    update: Update = {"sessionUpdate": "notice", "severity": severity}
    if first and len(first) <= 256:
        update["title"] = first
        if rest.strip():
            update["description"] = rest.strip()
        return update
    return {**update, "title": fallback_title, "description": plain}


def _compaction_entity(report: ReportCompaction, client: ClientCapabilities) -> Update:
    update: Update = {
        "sessionUpdate": "compaction_update",
        "compactionId": report.id,
        "status": report.status,
    }
    if report.summary is not None:
        update["summary"] = [{"type": "text", "text": report.summary}]
    if report.error is not None:
        update["error"] = report.error
    if client.air:
        update["_meta"] = air({"contextCompaction": _facts(report.facts)})
    return update


def _compaction_call(report: ReportCompaction, client: ClientCapabilities, *, opened: bool) -> Update:
    status = "failed" if report.status == "cancelled" else report.status
    update: Update = {
        "sessionUpdate": "tool_call_update" if opened else "tool_call",
        "toolCallId": report.id,
    }
    if not opened:
        update |= {"title": COMPACT_TITLE, "kind": "think"}
    update["status"] = status
    error = report.error
    if error is not None:
        text = f"Compaction failed: {error}"
        update["content"] = [{"type": "content", "content": {"type": "text", "text": text}}]
    if client.air:
        facts = _facts(report.facts) | ({"error": error} if error is not None else {})
        update["_meta"] = air({"contextCompaction": facts})
        return update
    if report.facts is not None:
        update["rawOutput"] = {key: value for key, value in _facts(report.facts).items() if key != "version"}
    return {**update, "_meta": {"claudeCode": {"toolName": "compact"}}}


def _facts_call(report: ReportCompaction) -> Update:
    """What the boundary adds to a call that has its status already."""
    raw = {key: value for key, value in _facts(report.facts).items() if key != "version"}
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": report.id,
        "rawOutput": raw,
        "_meta": {"claudeCode": {"toolName": "compact"}},
    }


def _facts(facts: CompactionFacts | None) -> dict[str, object]:
    known = facts or CompactionFacts()
    values = {
        "trigger": known.trigger,
        "preTokens": known.pre_tokens,
        "postTokens": known.post_tokens,
        "durationMs": known.duration_ms,
    }
    return {"version": 1, **{key: value for key, value in values.items() if value is not None}}


def _reported_paths(paths: Iterable[str], roots: list[Path]) -> tuple[list[str], bool]:
    reported: list[str] = []
    dropped = False
    size = 0
    for path in dict.fromkeys(paths):
        real = _inside(path, roots)
        size += len(json.dumps(real)) + 2 if real is not None else 0
        if real is None or len(reported) >= _MAX_PATHS or size > _MAX_REPORT - 512:
            dropped = True
        elif real not in reported:
            reported.append(real)
    return reported, dropped


def _inside(path: str, roots: list[Path]) -> str | None:
    """The canonical path, if it is one below a root that may be told."""
    if _CONTROL.search(path) or len(path) > _MAX_PATH or not roots:
        return None
    try:
        real = (roots[0] / path).resolve()
    except (OSError, RuntimeError, ValueError):
        return None  # a name that no file can have, or a circle of links
    within = real not in roots and any(root in real.parents for root in roots)
    text = str(real)
    return text if within and len(text) <= _MAX_PATH and not _CONTROL.search(text) else None
