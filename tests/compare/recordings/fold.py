"""What depends on the model's pace and on luck is taken out of the traffic before it is compared.

A call's input streams in as many pieces as the model of the run cuts it into: the reports of one
stretch become one. Messages are told apart by what they say, not by their number, because that of all
later ones would change with one that is missing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.compare.normalise import joined, matters
from tests.support.rpc import Json

_CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
_RESULT_KEYS = ("terminal_output", "terminal_output_delta", "terminal_exit", "mcp_output_delta")
_NEWS = "changing auto mode to no longer charge"
_SAID = 40


def fold(messages: Sequence[Json], paths: Mapping[str, str]) -> list[Json]:
    """Messages, `named` already, with reports of input merged and texts in place of message ids."""
    folded: list[Json] = []
    for message in joined([message for message in messages if matters(message) and not _is_news(message)]):
        update = _update(message)
        before = _update(folded[-1]) if folded else {}
        if _is_input(update) and _is_input(before) and before["toolCallId"] == update["toolCallId"]:
            _merge(before, update)
        else:
            folded.append(json.loads(json.dumps(message)))
    for message in folded:
        _name_by_text(_update(message), paths)
        _name_by_cost(_update(message))
        _name_by_call(_update(message))
    return [_by_id(message) for message in folded]


def _is_news(message: Json) -> bool:
    """Whether Claude Code tells of its prices: that is once in a while, and of one version."""
    return _NEWS in json.dumps(_update(message))


def _update(message: Json) -> Json:
    update: Json = (message.get("params") or {}).get("update") or {}
    return update


def _is_input(update: Json) -> bool:
    """Whether this is a report on input that came further, and on nothing else."""
    meta = update.get("_meta") or {}
    return (
        update.get("sessionUpdate") == "tool_call_update"
        and "status" not in update
        and "rawOutput" not in update
        and "toolResponse" not in (meta.get("claudeCode") or {})
        and not any(key in meta for key in _RESULT_KEYS)
    )


def _merge(before: Json, update: Json) -> None:
    meta = {**(before.get("_meta") or {}), **(update.get("_meta") or {})}
    before.update(update)
    if meta:
        before["_meta"] = meta


def _name_by_text(update: Json, paths: Mapping[str, str]) -> None:
    if update.get("sessionUpdate") in _CHUNKS and "messageId" in update:
        content = update.get("content") or {}
        del update["messageId"]
        said = str(content.get("text", content.get("type")))
        for path in sorted(paths, key=len, reverse=True):
            said = said.replace(path, paths[path])
        update["says"] = said[:_SAID]


def _name_by_cost(update: Json) -> None:
    """What a turn cost is no mere reading of the context."""
    if update.get("sessionUpdate") == "usage_update" and "cost" in update:
        update["says"] = "cost"


def _name_by_call(update: Json) -> None:
    """A message to a subagent has the id of the call that sent it."""
    if update.get("sessionUpdate") == "session_message" and "messageId" in update:
        update["callId"] = update.pop("messageId")


def _by_id(value: Any) -> Any:
    """Config options by their id and the choices of each by their value, so that one more moves no other.

    Without commands: in ACP v1 they are told when they come, which is not compared either.
    """
    if isinstance(value, list):
        return [_by_id(part) for part in value]
    if not isinstance(value, dict):
        return value
    found = {key: _by_id(part) for key, part in value.items() if key != "availableCommands"}
    if isinstance(options := value.get("configOptions"), list):
        found["configOptions"] = {
            option.get("id") or option["configId"]: _choices(option) for option in options
        }
    return found


def _choices(option: Json) -> Json:
    choices = option.get("options")
    if not isinstance(choices, list):
        return option
    return {**option, "options": {choice["value"]: choice for choice in choices}}
