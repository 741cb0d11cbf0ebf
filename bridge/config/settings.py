"""The settings of Claude Code for a folder, read without ever failing.

Claude Code reads the same files itself; the agent needs a few values before it starts (mode, bypass,
model, effort) and the managed environment before everything else. Use: `read_settings(settings_paths(…))`
in a worker thread at session creation and after a change of a file, `Settings.problems` to stderr, then
the properties; `managed_env(read_managed(…))` once at the start of the process. Rules: config-and-auth §7.
"""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.permissions.modes import mode_of_setting

Values = Mapping[str, object]

_LARGEST = 4 << 20
_ESCALATING = frozenset({"acceptEdits", "auto", "bypassPermissions"})
_TYPES: Mapping[str, type] = {
    "availableModels": list,
    "effortLevel": str,
    "env": dict,
    "model": str,
    "modelOverrides": dict,
    "modelSettings": dict,
    "permissions": dict,
}
_MODEL_CONFIG = ("modelOverrides", "availableModels")


@dataclass(frozen=True, slots=True)
class SettingsPaths:
    """Where each tier is, as absolute paths."""

    user: str
    project: str
    local: str
    managed: str


@dataclass(frozen=True, slots=True)
class Tier:
    """The values of one file; without them, why, unless it just does not exist."""

    values: Values = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All tiers of one session. Precedence: managed, programmatic, local, project, user."""

    user: Values = field(default_factory=dict)
    project: Values = field(default_factory=dict)
    local: Values = field(default_factory=dict)
    programmatic: Values = field(default_factory=dict)
    """What the client passed along when it created the session."""
    managed: Values = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """Lines for stderr."""

    @property
    def tiers(self) -> tuple[Values, ...]:
        """From the weakest to the strongest."""
        return (self.user, self.project, self.local, self.programmatic, self.managed)

    @property
    def merged(self) -> Values:
        """As Claude Code merges: objects by key, lists joined without repeats, else the stronger value."""
        merged: Values = {}
        for tier in self.tiers:
            merged = _merged(merged, tier)
        return merged

    @property
    def default_mode(self) -> object:
        """`permissions.defaultMode` of the strongest tier that has a usable one.

        A repository must not widen permissions by what it commits, so the project's file cannot
        (C§4.2). When no tier has a usable value, one that is not usable is returned, to be told.
        """
        unusable: object = None
        for tier in reversed(self.tiers):
            value = _object(tier.get("permissions")).get("defaultMode")
            mode = mode_of_setting(value)
            if mode is not None and not (tier is self.project and mode in _ESCALATING):
                return value
            unusable = value if mode is None and unusable is None else unusable
        return unusable

    @property
    def bypass_disabled(self) -> bool:
        """Any tier forbids to bypass permissions (CF-014)."""
        return any(
            _object(tier.get("permissions")).get("disableBypassPermissionsMode") == "disable"
            for tier in self.tiers
        )

    @property
    def auto_disabled(self) -> bool:
        """Any tier forbids the auto mode."""
        return any(
            "disable"
            in (tier.get("disableAutoMode"), _object(tier.get("permissions")).get("disableAutoMode"))
            for tier in self.tiers
        )


def settings_paths(cwd: str, config_dir: str, platform: str) -> SettingsPaths:
    """The files of a session; `platform` is `sys.platform`, `config_dir` the root of the user's (CL-013)."""
    project = os.path.join(cwd, ".claude")
    return SettingsPaths(
        user=os.path.join(config_dir, "settings.json"),
        project=os.path.join(project, "settings.json"),
        local=os.path.join(project, "settings.local.json"),
        managed=managed_path(platform),
    )


def managed_path(platform: str) -> str:
    """The file of the organization's policy."""
    if platform == "darwin":
        return "/Library/Application Support/ClaudeCode/managed-settings.json"
    if platform == "win32":
        return "C:\\Program Files\\ClaudeCode\\managed-settings.json"
    return "/etc/claude-code/managed-settings.json"


def read_settings(paths: SettingsPaths, programmatic: Values | None = None) -> Settings:
    """Read every tier; what cannot be read counts as empty."""
    # From home, the project's folder is the user's: its file must not count as committed.
    project = (
        Tier()
        if os.path.realpath(paths.project) == os.path.realpath(paths.user)
        else read_tier(paths.project)
    )
    user, local, managed = (read_tier(path) for path in (paths.user, paths.local, paths.managed))
    told = [tier.problem for tier in (user, project, local, managed) if tier.problem is not None]
    for path, tier in zip(
        (paths.user, paths.project, paths.local, paths.managed), (user, project, local, managed), strict=True
    ):
        told += [
            f"Settings at {path}: {name} has a wrong type and counts as absent."
            for name in mistyped(tier.values)
        ]
    return Settings(
        user.values, project.values, local.values, programmatic or {}, managed.values, tuple(told)
    )


def mistyped(values: Values) -> list[str]:
    """The settings that the agent reads and whose values are of no use to it."""
    return [name for name, kind in _TYPES.items() if name in values and not isinstance(values[name], kind)]


def read_tier(path: str) -> Tier:
    """Read one file. It opens without blocking and reads a bounded amount, whatever lies at the path."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return Tier()
    except (OSError, ValueError) as error:
        return Tier(problem=f"Settings at {path} cannot be opened: {_cause(error)}.")
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return Tier(problem=f"Settings at {path} are no file.")
        with open(handle, "rb", closefd=False) as file:
            return parse_tier(path, file.read(_LARGEST + 1))
    except OSError as error:
        return Tier(problem=f"Settings at {path} cannot be read: {_cause(error)}.")
    finally:
        os.close(handle)


def parse_tier(path: str, content: bytes) -> Tier:
    """Read the content of one file: a JSON object in UTF-8, with or without a byte order mark."""
    if len(content) > _LARGEST:
        return Tier(problem=f"Settings at {path} are larger than {_LARGEST >> 20} MiB.")
    if not content.strip():
        return Tier()
    try:
        values = json.loads(content.decode("utf-8-sig", "replace"))  # as Claude Code reads it
    except (ValueError, RecursionError):
        return Tier(problem=f"Settings at {path} are no valid JSON.")
    return (
        Tier(values) if isinstance(values, dict) else Tier(problem=f"Settings at {path} are no JSON object.")
    )


def programmatic_settings(given: object, model_config: str | None = None) -> Values:
    """The settings of the client's options, an object or its JSON text, over `CLAUDE_MODEL_CONFIG`.

    `ValueError` when the variable holds anything but a JSON object (C§6).
    """
    own: object = given
    if isinstance(given, str):
        own = parse_tier("", given.encode("utf-8", "replace")).values
    if not model_config:
        return _object(own)
    try:
        config = json.loads(model_config)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise ValueError("CLAUDE_MODEL_CONFIG must be a JSON object")
    return {key: config[key] for key in _MODEL_CONFIG if key in config} | dict(_object(own))


def managed_env(managed: Values) -> dict[str, str]:
    """The variables that the organization's policy sets (CL-005, CL-006); unusable entries are left out."""
    found: dict[str, str] = {}
    for name, value in _object(managed.get("env")).items():
        text = (
            value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else None
        )
        if text is not None and name and not set("=\0") & set(name) and "\0" not in text:
            found[name] = text
    return found


def _merged(weak: Values, strong: Values) -> Values:
    merged = dict(weak)
    for key, value in strong.items():
        held = merged.get(key)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(held, value)
        elif isinstance(held, list) and isinstance(value, list):
            merged[key] = _joined(held, value)
        else:
            merged[key] = value
    return merged


def _joined(weak: Sequence[object], strong: Sequence[object]) -> list[object]:
    joined: list[object] = []
    for item in (*weak, *strong):
        if item not in joined:
            joined.append(item)
    return joined


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or "the path is not valid"


def _object(value: object) -> Values:
    return value if isinstance(value, Mapping) else {}
