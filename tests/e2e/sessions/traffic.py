"""What a client was told of a session, in a form in which a replay can be compared with the live traffic.

Chunks of one message are one entry, all reports of a tool call too, at the place of the first. What
differs by rule is taken out of both sides, each rule in a function of its own.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bridge.messages.prompts import link
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json, Message

Entry = dict[str, Any]

NOT_TOLD_AGAIN = frozenset({"usage_update", "available_commands_update", "session_info_update"})
"""A replay has none of them (S§8.1)."""

INTERRUPTED = "[Request interrupted by user for tool use]"
"""Claude Code's own line; only a replay shows it (S§8.2)."""


async def load(client: AcpClient, session: str, **more: Any) -> Json:
    """Load a session in the sandbox's project."""
    params = {"sessionId": session, "cwd": str(client.sandbox.project), "mcpServers": []}
    return await client.request("session/load", {**params, **more})


def told(client: AcpClient, session: str, *, since: int = 0, until: int | None = None) -> list[Entry]:
    """The entries of a stretch of messages: prompts sent, and everything shown."""
    entries: list[Entry] = []
    calls: dict[str, Entry] = {}
    for message in client.messages[since:until]:
        params = message.body.get("params") or {}
        if params.get("sessionId") == session:
            _tell(message, params, entries, calls)
    return [entry for entry in (_without_rules(entry) for entry in _plans(entries)) if entry is not None]


def texts(entries: Iterable[Entry], kind: str) -> list[str]:
    """The texts of one kind of entries."""
    return [str(entry["text"]) for entry in entries if entry["is"] == kind and "text" in entry]


def _tell(message: Message, params: Json, entries: list[Entry], calls: dict[str, Entry]) -> None:
    if message.body.get("method") == "session/prompt":
        entries += _as_replayed(params["prompt"])
        return
    if message.body.get("method") != "session/update":
        return
    update = dict(params["update"])
    kind = update.pop("sessionUpdate")
    if kind in NOT_TOLD_AGAIN:
        return
    if kind.startswith("tool_call"):
        id = update["toolCallId"]
        if id not in calls:
            calls[id] = {"is": "call"}
            entries.append(calls[id])
        _merge(calls[id], update)
    elif kind.endswith("_chunk"):
        _add_chunk(entries, kind.removesuffix("_chunk"), update)
    else:
        entries.append({"is": kind, **update})


def _add_chunk(entries: list[Entry], kind: str, update: Json) -> None:
    content, message_id = update["content"], update.get("messageId")
    same = entries and entries[-1]["is"] == kind != "user_message" and entries[-1]["id"] == message_id
    if content["type"] == "text" and same:
        entries[-1]["text"] += content["text"]
    elif content["type"] == "text":
        entries.append({"is": kind, "id": message_id, "text": content["text"]})
    else:
        entries.append({"is": kind, "id": message_id, **content})


def _merge(call: Entry, update: Mapping[str, Any]) -> None:
    """As an editor does: later values replace earlier ones, metadata key by key."""
    for key, value in update.items():
        if isinstance(value, dict) and isinstance(call.get(key), dict):
            _merge(call[key], value)
        elif value is not None:
            call[key] = value if not isinstance(value, dict) else dict(value)


# ── what differs by rule ──────────────────────────────────────────────────────


def _as_replayed(blocks: Iterable[Json]) -> list[Entry]:
    """A prompt as its record shows it: links as text, embedded texts as context at the end (S§8.2)."""
    shown: list[Entry] = []
    context: list[Entry] = []
    for block in blocks:
        match block["type"]:
            case "resource_link":
                shown.append({"text": link(block["uri"], block["name"])})
            case "resource":
                uri, text = block["resource"]["uri"], block["resource"]["text"]
                shown.append({"text": link(uri)})
                context.append({"text": f'\n<context ref="{uri}">\n{text}\n</context>'})
            case "text":
                shown.append({"text": block["text"]})
            case _:
                shown.append(dict(block))
    return [{"is": "user_message", **each} for each in [*shown, *context]]


def _plans(entries: Iterable[Entry]) -> list[Entry]:
    """Of plans in a row the last; one right behind a prompt only repeats an earlier one (SE-104)."""
    kept: list[Entry] = []
    for entry in entries:
        if entry["is"] == "plan" and kept:
            if kept[-1]["is"] == "user_message":
                continue
            if kept[-1]["is"] == "plan":
                kept.pop()
        kept.append(entry)
    return kept


def _without_rules(entry: Entry) -> Entry | None:
    if entry["is"] == "user_message":
        entry = {key: value for key, value in entry.items() if key != "id"}  # the client's own has none
        return None if entry.get("text") == INTERRUPTED else entry
    if entry["is"] != "call":
        return entry
    meta = entry.get("_meta", {}).get("claudeCode", {})
    if "parentToolUseId" in meta:
        return None  # a subagent has a transcript of its own (S§8.4)
    for key in ("toolResponse", "nonExecutionKind"):
        meta.pop(key, None)  # no hooks and no sidecar in a replay (tool calls §10)
    if meta.get("toolName") in {"Edit", "Write"}:
        # The exact change comes from a hook (tool calls §10).
        entry["content"], entry["locations"] = "a change", [place["path"] for place in entry["locations"]]
    elif meta.get("toolName") == "Read":
        # The raw numbered text, its trailing empty line included (tool calls §10).
        entry["content"] = re.sub(r"\\n\d+\\t\\n", r"\\n", repr(entry.get("content")))
    elif meta.get("toolName") == "Agent":
        # Live the report comes in parts, stored it is one text (tool calls §10).
        parts = [part["content"]["text"] for part in entry.get("content", [])]
        entry["content"] = " ".join(" ".join(parts).split())
    return entry
