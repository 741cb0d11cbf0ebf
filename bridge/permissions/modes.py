"""The permission modes of a session: which are offered, which one it starts in, how they are shown.

The catalog is decided once, when the session is made, and does not change with the model
(permissions §10, config-and-auth §4). The mode is always passed to Claude Code explicitly.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ModeKind = Literal["standard", "plan", "auto_review", "full_access"]


@dataclass(frozen=True, slots=True)
class SessionMode:
    """One row of the list that a client offers."""

    id: str
    name: str
    description: str
    kind: ModeKind


_ALL = (
    SessionMode("default", "Manual", "Always ask before making changes", "standard"),
    SessionMode("acceptEdits", "Accept edits", "Automatically accept all file edits", "standard"),
    SessionMode("plan", "Plan", "Create a plan before making changes", "plan"),
    SessionMode("auto", "Auto", "Claude handles permission decisions", "auto_review"),
    SessionMode("bypassPermissions", "Bypass permissions", "Accepts all permissions", "full_access"),
)
_KNOWN = frozenset({"default", "acceptEdits", "plan", "auto", "bypassPermissions", "dontAsk"})
_SETTING_NAMES = {mode.lower(): mode for mode in _KNOWN} | {
    "manual": "default",
    "bypass": "bypassPermissions",
}

AUTO_UNAVAILABLE = (
    "Auto mode unavailable",
    "the selected model does not support Auto mode; using Accept edits instead.",
)
"""Title and text of the warning, once a session; a notice writes the text with a capital."""


@dataclass(frozen=True, slots=True)
class Start:
    """The mode a session starts in."""

    mode: str
    """Passed to Claude Code."""
    warnings: tuple[str, ...] = ()
    """Lines for stderr."""

    @property
    def reported(self) -> str:
        """The mode id that the client sees: `dontAsk` has no row, `default` is the near one (decision 31)."""
        return "default" if self.mode == "dontAsk" else self.mode


def bypass_allowed(*, disabled: bool, uid: int | None, sandbox: bool, requested: object) -> bool:
    """Whether a session may skip all permissions; decides the row and the CLI flag together.

    `disabled`: a settings tier forbids it. `uid`: the effective one, `None` where there is none.
    `sandbox`: `IS_SANDBOX` is set. `requested`: `allowDangerouslySkipPermissions` of the session's
    options, where only `false` removes it (PM-089, PM-090, CF-014, CF-015).
    """
    return not disabled and (uid != 0 or sandbox) and requested is not False


def catalog(*, auto: bool, bypass: bool) -> tuple[SessionMode, ...]:
    """The modes that a session offers, in their fixed order (PM-084, PM-085, PM-088)."""
    hidden = {name for name, shown in (("auto", auto), ("bypassPermissions", bypass)) if not shown}
    return tuple(mode for mode in _ALL if mode.id not in hidden)


def start_mode(
    modes: Sequence[SessionMode],
    *,
    explicit: str | None = None,
    transcript: str | None = None,
    setting: object = None,
) -> Start:
    """Resolve the start: a mode the session already had, its transcript, the settings, `default`.

    `setting` is `permissions.defaultMode` as the settings hold it, `None` when they have none.
    """
    offered = {mode.id for mode in modes}
    if explicit is not None and (explicit in offered or explicit == "dontAsk"):
        return Start(explicit)
    if transcript is None:
        return _from_settings(offered, setting)
    if transcript in offered:
        return Start(transcript)
    fallback = _from_settings(offered, setting)
    ignored = f"Ignoring permission mode {_quoted(transcript)} of the resumed transcript"
    return Start(fallback.mode, (f"{ignored}: not available in this session.", *fallback.warnings))


def mode_of_setting(setting: object) -> str | None:
    """The mode that a settings value names, in any case and by its aliases; `None` for no mode (CF-017)."""
    return _SETTING_NAMES.get(setting.strip().lower()) if isinstance(setting, str) else None


def effective_mode(mode: str, supports_auto: bool | None) -> tuple[str, bool]:
    """The mode that really applies on a model, and whether it fell back (CF-020 … CF-022, CF-026).

    A model that says nothing about auto counts as supporting it.
    """
    return ("acceptEdits", True) if mode == "auto" and supports_auto is False else (mode, False)


def mode_error(mode: str, modes: Sequence[SessionMode]) -> str | None:
    """Why a client cannot select `mode`; `None` when it can (CF-027, CF-028)."""
    if mode not in _KNOWN:
        return f"Invalid Mode: {mode}"
    listed = any(each.id == mode for each in modes)
    return None if listed else f"Mode {mode} is not available in this session"


def mode_before_plan(remembered: str | None, old: str, new: str) -> str | None:
    """What to remember at a change of mode: the one that was left for plan, until plan is left (CF-031)."""
    if new != "plan":
        return None
    return remembered if old == "plan" else old


def mode_state(modes: Sequence[SessionMode], current: str, *, air: bool) -> dict[str, object]:
    """The `modes` of a session response."""
    rows = [
        {"id": mode.id, "name": mode.name, "description": mode.description} | _kind(mode, air)
        for mode in modes
    ]
    return {"currentModeId": current, "availableModes": rows}


def mode_option(modes: Sequence[SessionMode], current: str, *, air: bool) -> dict[str, object]:
    """The same rows as the config option `mode` (CF-004, CF-005)."""
    rows = [
        {"value": mode.id, "name": mode.name, "description": mode.description} | _kind(mode, air)
        for mode in modes
    ]
    return {
        "id": "mode",
        "name": "Mode",
        "description": "Session permission mode",
        "category": "mode",
        "type": "select",
        "currentValue": current,
        "options": rows,
    }


def _kind(mode: SessionMode, air: bool) -> dict[str, object]:
    return {"_meta": {"jetbrains": {"air": {"version": 1, "kind": mode.kind}}}} if air else {}


def _from_settings(offered: set[str], setting: object) -> Start:
    if setting is None:
        return Start("default")
    mode = mode_of_setting(setting)
    if mode is None:
        shown = _quoted(setting)
        return Start("default", (f'permissions.defaultMode {shown} is not a mode; using "default".',))
    if mode == "dontAsk":
        told = 'permissions.defaultMode "dontAsk" applies; clients see it as "default".'
        return Start(mode, (told,))
    if mode in offered:
        return Start(mode)
    gone = f'permissions.defaultMode "{mode}" is not available in this session; falling back to "default".'
    return Start("default", (gone,))


def _quoted(value: object) -> str:
    """A foreign value for a log line: on one line, and short."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:80]}…"
