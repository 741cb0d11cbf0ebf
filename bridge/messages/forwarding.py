"""Which frames a client wants to get as they are: `_meta.claudeCode.emitRawSDKMessages` (SE-008)."""

from collections.abc import Callable, Mapping

from bridge.messages.raw import Raw, mapping, text

Wanted = Callable[[Raw], bool]

_PRIVATE = frozenset(
    {"control_request", "control_response", "control_cancel_request", "keep_alive", "transcript_mirror"}
)
"""Between Claude Code and the agent alone."""

_FIELDS = frozenset({"type", "subtype", "origin"})


def wanted_frames(setting: object) -> Wanted | None:
    """The frames that a setting names: all, those that fit one of `{type, subtype?, origin?}`, or none."""
    if setting is True:
        return _is_message
    listed = setting if isinstance(setting, list) else []
    filters = [entry for entry in listed if isinstance(entry, Mapping) and isinstance(entry.get("type"), str)]
    if not filters:
        return None
    return lambda raw: _is_message(raw) and any(_fits(raw, entry) for entry in filters)


def _is_message(raw: Raw) -> bool:
    return text(raw, "type") not in _PRIVATE


def _fits(raw: Raw, wanted: Raw) -> bool:
    """Every field that the filter has is the frame's; the origin goes by its kind."""
    shown = {**raw, "origin": mapping(raw, "origin").get("kind")}
    return all(shown.get(key) == wanted[key] for key in _FIELDS & wanted.keys())
