"""Reports of tool calls on ACP v2: upserts, terminals of their own, changes of files (W§8.2.5 … 7)."""

import base64
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.diffs.patch import git_patch

Json = Mapping[str, object]
Update = dict[str, object]

REMEMBERED = 2048
"""How many calls are remembered; an older one is only told its changes anew."""

_CLEARED = ("name", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput")
"""What a call that starts again under its old id has to lose."""
_TERMINAL = frozenset({"terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"})


@dataclass(slots=True)
class _Call:
    """What the client holds of a call beside its fields."""

    meta: dict[str, object] = field(default_factory=dict)
    terminal: bool = False
    command: str | None = None


class ToolCalls:
    """Every call of a connection that the client was told of, by its session and id."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], _Call] = OrderedDict()

    def forget(self, session: str) -> None:
        """The session ended."""
        for key in [key for key in self._calls if key[0] == session]:
            del self._calls[key]

    def subject(self, session: str, call: Json) -> Update:
        """The call of a permission request, which the client takes as one more report of it.

        It has no status, and all that is known of its `_meta` (§8.2.6).
        """
        id = str(call.get("toolCallId"))
        self._remember(session, id)
        known = self._calls[session, id]
        _changed(known, plain_meta(_mapping(call.get("_meta"))), again=False)
        fields = {key: value for key, value in tool_fields(call).items() if key != "status"}
        return {"toolCallId": id, **fields, **({"_meta": dict(known.meta)} if known.meta else {})}

    def updates(self, session: str, update: Json) -> list[Update]:
        """A `tool_call` or `tool_call_update` of v1: first what its terminal tells, then the rest."""
        id, starts = str(update["toolCallId"]), update["sessionUpdate"] == "tool_call"
        known = self._remember(session, id)
        fields = tool_fields(update)
        given = _mapping(update.get("_meta"))
        name = _mapping(given.get("claudeCode")).get("toolName")
        if starts and known is None and isinstance(name, str) and name:
            fields.setdefault("name", name)
        call = self._calls[session, id]
        told = _terminal_updates(call, id, given, fields)
        again = starts and known is not None
        meta = _changed(call, plain_meta(given), again=again)
        if again:
            fields = {**dict.fromkeys(_CLEARED), **fields}
        if meta:
            fields["_meta"] = meta
        if fields or starts:
            told.append({"sessionUpdate": "tool_call_update", "toolCallId": id, **fields})
        return told

    def _remember(self, session: str, id: str) -> _Call | None:
        known = self._calls.pop((session, id), None)
        self._calls[session, id] = known or _Call()
        while len(self._calls) > REMEMBERED:
            self._calls.popitem(last=False)
        return known


def tool_fields(call: Json) -> Update:
    """The fields of a call: null meant nothing on v1, and changes of files have another form."""
    outside = ("sessionUpdate", "toolCallId", "_meta")
    fields = {key: value for key, value in call.items() if key not in outside and value is not None}
    content = fields.get("content")
    if isinstance(content, Sequence):
        fields["content"] = [_content(item) for item in content]
    return fields


def plain_meta(meta: Json) -> Update:
    """`_meta` without the terminal's channel, and without the name that is a field by now."""
    told = {key: value for key, value in meta.items() if key not in _TERMINAL}
    claude = {
        key: value for key, value in _mapping(told.pop("claudeCode", None)).items() if key != "toolName"
    }
    return {**told, "claudeCode": claude} if claude else told


def _changed(call: _Call, news: Json, *, again: bool) -> Update:
    """The patch by top-level key; what is under `claudeCode` is merged before, since a patch replaces it.

    A `toolResponse` is told and not kept: it may be large, and nothing behind it changes the rest.
    """
    before = call.meta
    held = {} if again else before
    claude, told = _mapping(held.get("claudeCode")), _mapping(news.get("claudeCode"))
    lasting = {**claude, **{key: value for key, value in told.items() if key != "toolResponse"}}
    wanted = {**held, **news}
    if told:
        wanted["claudeCode"] = lasting
    patch = {key: value for key, value in wanted.items() if key not in before or before[key] != value}
    if "toolResponse" in told:
        patch["claudeCode"] = {**lasting, **told}
    patch |= dict.fromkeys(before.keys() - wanted.keys())
    call.meta = wanted
    return patch


# ── terminals ─────────────────────────────────────────────────────────────────


def _terminal_updates(call: _Call, id: str, meta: Json, fields: Json) -> list[Update]:
    """The terminal is announced before a report names it, its output comes before its exit (§6.11)."""
    told: list[Update] = []
    info, exit = _mapping(meta.get("terminal_info")), meta.get("terminal_exit")
    if info:
        call.terminal, call.command = True, None
    command = _command(call, fields)
    if info or command:
        told.append(_terminal(id, **command))
    for channel in ("terminal_output", "terminal_output_delta"):
        data = _mapping(meta.get(channel)).get("data")
        if isinstance(data, str) and channel == "terminal_output":
            told.append(_terminal(id, output={"data": _encoded(data)}))
        elif isinstance(data, str):
            told.append({"sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": _encoded(data)})
    if isinstance(exit, Mapping):
        facts = {"exitCode": exit.get("exit_code"), "signal": exit.get("signal")}
        status = {key: value for key, value in facts.items() if value is not None}
        told.append(_terminal(id, exitStatus=status))
    return told


def _command(call: _Call, fields: Json) -> dict[str, object]:
    """The command, once its input names it; it is told when it changes."""
    command = _mapping(fields.get("rawInput")).get("command")
    if not call.terminal or not isinstance(command, str) or not command or command == call.command:
        return {}
    call.command = command
    return {"command": command}


def _terminal(id: str, **fields: object) -> Update:
    return {"sessionUpdate": "terminal_update", "terminalId": id, **fields}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


# ── changes of files ──────────────────────────────────────────────────────────


def _content(item: object) -> object:
    if not isinstance(item, Mapping) or item.get("type") != "diff":
        return item
    air = _mapping(_mapping(_mapping(item.get("_meta")).get("jetbrains")).get("air"))
    exact = _mapping(air.get("diffPatch")).get("text")
    path = str(item.get("path"))
    if isinstance(exact, str):
        added = "\nnew file mode " in exact.partition("@@")[0]
        return _diff(path, exact, added=added)
    old, new = item.get("oldText"), item.get("newText")
    patch = git_patch(path, old if isinstance(old, str) else None, str(new or ""))
    return _diff(path, patch, added=old is None)


def _diff(path: str, patch: str | None, *, added: bool) -> Json:
    told: dict[str, object] = {
        "type": "diff",
        "changes": [{"operation": "add" if added else "modify", "path": path}],
    }
    return told if patch is None else {**told, "patch": {"format": "git_patch", "text": patch}}


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}
