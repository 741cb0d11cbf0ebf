"""What the client already has is not sent again (`tool-calls` §8)."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from bridge.tools.facts import Content, Json, Update
from bridge.tools.reading import mapping

FIELDS = ("status", "title", "kind", "content", "locations", "rawInput", "rawOutput")
_FLAGS = ("is_mcp_tool_call", "terminal_info")
_REMEMBERED_CALLS = 2048

_Leaves = dict[tuple[str, ...], object]


@dataclass(slots=True)
class _Held:
    """What the client holds of one call."""

    fields: Update
    meta: _Leaves
    pinned: bool = False
    """A preview is shown: no refinement of the input may replace the content."""


@dataclass(slots=True)
class FieldTracker:
    """Leaves out the fields of a `tool_call_update` that are equal to the last ones, for every client."""

    _calls: dict[str, _Held] = field(default_factory=dict)

    def reduced(self, update: Update, *, replace_content: bool = False) -> Update | None:
        """The update without what the client holds; None when nothing is left to tell.

        `replace_content` is for the hook, the result, a denial and the end of a call: only they may
        replace a pinned preview.
        """
        call = str(update["toolCallId"])
        meta = mapping(update.get("_meta"))
        fields = {key: update[key] for key in FIELDS if key in update}
        if update["sessionUpdate"] == "tool_call":
            self._calls[call] = _Held(fields, _leaves(meta))
            return update
        held = self._calls.get(call)
        if held is None:
            return update
        dropped = {
            key for key, value in fields.items() if key in held.fields and same(held.fields[key], value)
        }
        if "content" in fields and held.pinned:
            if replace_content:
                held.pinned = False
            else:
                dropped.add("content")
        changed_meta = _merge(held.meta, _leaves(meta))
        for key in dropped:
            del fields[key]
        held.fields |= fields
        appended = any(key not in ("claudeCode", "jetbrains") for key in meta)
        if not fields and not appended and not changed_meta:
            return None
        return {key: value for key, value in update.items() if key not in dropped}

    def pin(self, call: str, preview: Content) -> None:
        """A permission request shows this as the content of the call."""
        if held := self._calls.get(call):
            held.fields["content"] = [*preview]
            held.pinned = True

    def forget(self, call: str) -> None:
        """The call is over: an update that comes late meets nothing."""
        self._calls.pop(call, None)


@dataclass(slots=True)
class ChangedMeta:
    """Leaves out the keys of `_meta` that AIR holds already; runs last on what is sent."""

    _calls: OrderedDict[str, _Leaves] = field(default_factory=OrderedDict)

    def reduced(self, update: Update) -> Update | None:
        """The update without unchanged keys; None when it says nothing any more."""
        call = str(update["toolCallId"])
        meta = mapping(update.get("_meta"))
        held = self._calls.get(call)
        if update["sessionUpdate"] == "tool_call" or held is None:
            self._remember(call, _compared(meta))
            return update
        self._calls.move_to_end(call)
        rest = {key: value for key, value in update.items() if key != "_meta"}
        if changed := _changed(meta, held):
            rest["_meta"] = changed
        held |= _compared(meta)
        return rest if rest.keys() - {"sessionUpdate", "toolCallId"} else None

    def _remember(self, call: str, meta: _Leaves) -> None:
        self._calls[call] = meta
        self._calls.move_to_end(call)
        if len(self._calls) > _REMEMBERED_CALLS:
            self._calls.popitem(last=False)


def same(left: object, right: object) -> bool:
    """Equality of two JSON values: the order of keys does not count, and `true` is not 1."""
    if left is right:
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return len(left) == len(right) and all(key in right and same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def _leaves(meta: Json) -> _Leaves:
    """The keys that clients merge one by one, each under its path."""
    jetbrains = mapping(meta.get("jetbrains"))
    return {
        **{("claudeCode", key): value for key, value in mapping(meta.get("claudeCode")).items()},
        **{("jetbrains", "air", key): value for key, value in mapping(jetbrains.get("air")).items()},
        **{("jetbrains", key): value for key, value in jetbrains.items() if key != "air"},
    }


def _merge(held: _Leaves, news: _Leaves) -> bool:
    changed = any(_is_news(held, path, value) for path, value in news.items())
    held |= news
    return changed


def _is_news(held: _Leaves, path: tuple[str, ...], value: object) -> bool:
    return path not in held or not same(held[path], value)


def _compared(meta: Json) -> _Leaves:
    return _leaves(meta) | {(key,): meta[key] for key in _FLAGS if key in meta}


def _changed(meta: Json, held: _Leaves) -> Update:
    """Output of a terminal is appended by the client, so it is never compared."""

    def news(values: object, *path: str) -> Update:
        found = mapping(values).items()
        return {key: value for key, value in found if _is_news(held, (*path, key), value)}

    rest: Update = {
        key: value for key, value in meta.items() if key not in ("claudeCode", "jetbrains", *_FLAGS)
    }
    rest |= news({key: meta[key] for key in _FLAGS if key in meta})
    if claude := news(meta.get("claudeCode"), "claudeCode"):
        rest["claudeCode"] = claude
    jetbrains = {key: value for key, value in mapping(meta.get("jetbrains")).items() if key != "air"}
    if air := news(mapping(meta.get("jetbrains")).get("air"), "jetbrains", "air"):
        jetbrains["air"] = air
    return rest | {"jetbrains": jetbrains} if jetbrains else rest
