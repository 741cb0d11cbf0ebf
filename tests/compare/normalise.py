"""What is told of a run once everything is gone that no two runs share.

Ids become names in the order of their first appearance, paths and times become placeholders, and
the chunks of one text become one. Numbers of usage and cost stay.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.rpc import Json

_ID_KEYS = {
    "sessionId": "session",
    "subagentSessionId": "child",
    "toolCallId": "call",
    "messageId": "message",
    "parentToolUseId": "call",
    "callId": "call",
    "terminalId": "call",
    "terminal_id": "call",
    "taskId": "task",
    "agentId": "agent",
    "compactionId": "compaction",
    "requestId": "request",
    "runId": "run",
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_TEXTS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
_VOLATILE = ("durationMs", "totalDurationMs", "duration_ms", "durationSeconds", "updatedAt")
"""Keys whose numbers are measured."""
_RANDOM = re.compile(
    r"""\b(b[a-z0-9]{8}|a[0-9a-f]{16})\b      # ids of background tasks and agents
    | (?<=127\.0\.0\.1:)\d+                # the port of the scripted API
    | (?<=Resuming\ agent\ )[0-9a-f]{7}
    | (?<="ref":")[0-9a-f]{6}
    | (?<=duration_ms:\ )\d+
    | (?<=-blob-)[\w-]+                     # a stored result of an MCP tool
    | (?<=-)[a-z]+-[a-z]+(?=\.md)           # the whimsical name of a plan file
    """,
    re.VERBOSE,
)
"""What differs from run to run within texts."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message: what it is, for the alignment, and its fields by path."""

    title: str
    fields: Mapping[str, str]
    failed: bool = False
    """Not a message at all: the run broke here."""


def entries(messages: Sequence[Json], paths: Mapping[str, str], methods: Mapping[Any, str]) -> list[Entry]:
    """The messages of an agent in order; `methods` are those of the requests that it answers."""
    return tell([named(message, methods) for message in messages], paths)


def tell(messages: Sequence[Json], paths: Mapping[str, str]) -> list[Entry]:
    """The same for messages that are `named` already."""
    plain = _without_ids(joined([message for message in messages if matters(message)]), paths)
    return [Entry(_title(message), dict(_flat(message))) for message in plain]


def named(message: Json, methods: Mapping[Any, str]) -> Json:
    """The message without its JSON-RPC id: a response bears its method instead."""
    rest = {key: value for key, value in message.items() if key not in ("id", "jsonrpc")}
    if "method" not in message:
        rest["response"] = methods.get(message.get("id"), "nobody")
    return rest


def matters(message: Json) -> bool:
    """Titles and command lists come when they come; one scenario is enough to see them."""
    return _kind(message) not in ("available_commands_update", "session_info_update")


def joined(messages: Sequence[Json]) -> list[Json]:
    """Neighbouring chunks of one message become one."""
    joined: list[Json] = []
    for message in messages:
        before = joined[-1] if joined else {}
        if _kind(message) in _TEXTS and _chunk_of(before) == _chunk_of(message):
            content = before["params"]["update"]["content"]
            content["text"] = content.get("text", "") + message["params"]["update"]["content"].get("text", "")
        else:
            joined.append(json.loads(json.dumps(message)))
    return joined


def _chunk_of(message: Json) -> tuple[Any, ...]:
    update = message.get("params", {}).get("update", {})
    content = update.get("content")
    kind = content.get("type") if isinstance(content, dict) else None
    said = update.get("messageId"), update.get("says")
    return _kind(message), message.get("params", {}).get("sessionId"), *said, kind


def names(messages: Sequence[Json]) -> dict[str, str]:
    """The ids in messages with their names: a kind, and the place in the order of first appearance."""
    found: dict[str, str] = {}
    for key, value in _pairs(messages):
        if key in _ID_KEYS and isinstance(value, str) and value not in found:
            kind = _ID_KEYS[key]
            number = sum(1 for name in found.values() if name.startswith(f"<{kind} ")) + 1
            found[value] = f"<{kind} {number}>"
    return found


def _without_ids(messages: list[Json], paths: Mapping[str, str]) -> list[Json]:
    replaced = {**names(messages), **paths}
    longest = sorted(replaced, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(text) for text in longest)) if longest else re.compile(r"(?!)")

    def clean(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            text = pattern.sub(lambda match: replaced[match.group()], value)
            text = _TIME.sub("<time>", _UUID.sub("<uuid>", text))
            return _RANDOM.sub("<random>", text)
        if isinstance(value, dict):
            return {name: clean(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [clean(part) for part in value]
        return "<measured>" if key in _VOLATILE and value is not None else value

    return [clean(message) for message in messages]


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key, part
            yield from _pairs(part)
    elif isinstance(value, list):
        for part in value:
            yield from _pairs(part)


def _kind(message: Json) -> str:
    update = message.get("params", {}).get("update", {})
    return str(update.get("sessionUpdate", "")) if message.get("method") == "session/update" else ""


def _title(message: Json) -> str:
    """One line that says what a message is, without what it says."""
    if "response" in message:
        outcome = "error" if "error" in message else "result"
        return f"{outcome} of {message['response']}"
    update = message["params"].get("update")
    if update is None:
        return str(message["method"])
    details = [
        _word(update[key]) for key in ("toolCallId", "status", "state", "messageId", "says") if key in update
    ]
    if message["params"]["sessionId"] != "<session 1>":
        details.append(f"in {message['params']['sessionId']}")
    return " ".join([_kind(message), *details])


def _word(value: Any) -> str:
    """A value in a title; of a subagent's state its name."""
    return str(value["state"] if isinstance(value, dict) and "state" in value else value)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _flat(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for at, part in enumerate(value):
            yield from _flat(part, f"{path}[{at}]")
    else:
        yield path, json.dumps(value, ensure_ascii=False)
