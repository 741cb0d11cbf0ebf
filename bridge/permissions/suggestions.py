"""What Claude Code proposes to remember: validated as a whole, and copied at that moment.

The label that a client sees and the effect that a late answer applies come from the same copy,
whatever happens to the source in between (permissions §5, PM-054 … PM-062).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

RulesChange = Literal["addRules", "replaceRules", "removeRules"]
DirectoriesChange = Literal["addDirectories", "removeDirectories"]

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters but tab and line breaks."""

_RULES = frozenset({"addRules", "replaceRules", "removeRules"})
_DIRECTORIES = frozenset({"addDirectories", "removeDirectories"})
_DESTINATIONS = frozenset({"session", "cliArg", "userSettings", "projectSettings", "localSettings"})
_BEHAVIORS = frozenset({"allow", "deny", "ask"})
_MODES = frozenset({"default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"})
_MANY = 100
_NAME, _CONTENT, _PATH = 512, 10_000, 4096


@dataclass(frozen=True, slots=True)
class Rule:
    """A permission rule; without `content` it covers the whole tool."""

    tool: str
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """A change of rules."""

    change: RulesChange
    rules: tuple[Rule, ...]
    behavior: str
    destination: str

    @property
    def allows(self) -> bool:
        """It adds permissions and does nothing else."""
        return self.change == "addRules" and self.behavior == "allow"


@dataclass(frozen=True, slots=True)
class Mode:
    """A change of the permission mode."""

    mode: str
    destination: str


@dataclass(frozen=True, slots=True)
class Directories:
    """A change of the working directories."""

    change: DirectoriesChange
    directories: tuple[str, ...]
    destination: str


Update = Rules | Mode | Directories


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A valid, non-empty bundle of updates, in its order."""

    updates: tuple[Update, ...]
    copy: str
    """The bundle as JSON text: nothing can change it, and it holds only plain data."""

    def payload(self) -> list[object]:
        """The exact updates, as `updatedPermissions` of a reply."""
        return cast("list[object]", json.loads(self.copy))


def snapshot(suggestions: object) -> Snapshot | None:
    """Validate and copy a whole bundle; `None` when any part of it is not understood."""
    if not isinstance(suggestions, list) or not 1 <= len(suggestions) <= _MANY:
        return None
    try:
        copy = json.dumps(suggestions, allow_nan=False)
        plain = json.loads(copy)
    except (TypeError, ValueError, RecursionError):
        return None
    updates = tuple(update for each in plain if (update := _update(each)) is not None)
    return Snapshot(updates, copy) if len(updates) == len(plain) else None


def lasting_rule(tool: str, content: str | None = None) -> Snapshot | None:
    """The bundle that allows `tool` in the project's local settings (PM-082); `None` for a bad name."""
    rule = {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    return snapshot([update])


def _update(value: object) -> Update | None:
    if not isinstance(value, Mapping):
        return None
    destination = _member(value.get("destination"), _DESTINATIONS)
    if destination is None:
        return None
    kind = value.get("type")
    if _member(kind, _RULES):
        return _rules_update(cast("RulesChange", kind), value, destination)
    if _member(kind, _DIRECTORIES):
        directories = _all_bounded(value.get("directories"), _PATH)
        return Directories(cast("DirectoriesChange", kind), directories, destination) if directories else None
    mode = _member(value.get("mode"), _MODES)
    return Mode(mode, destination) if kind == "setMode" and mode is not None else None


def _rules_update(change: RulesChange, value: Mapping[str, object], destination: str) -> Rules | None:
    listed = value.get("rules")
    behavior = _member(value.get("behavior"), _BEHAVIORS)
    if behavior is None or not isinstance(listed, list) or len(listed) > _MANY:
        return None
    rules = tuple(rule for each in listed if (rule := _rule(each)) is not None)
    if len(rules) != len(listed) or not (rules or change == "replaceRules"):
        return None
    return Rules(change, rules, behavior, destination)


def _rule(value: object) -> Rule | None:
    if not isinstance(value, Mapping):
        return None
    tool = _bounded(value.get("toolName"), _NAME)
    if tool is None:
        return None
    if "ruleContent" not in value:
        return Rule(tool)
    content = _bounded(value["ruleContent"], _CONTENT)
    return Rule(tool, content) if content is not None else None


def _all_bounded(value: object, limit: int) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MANY:
        return ()
    texts = tuple(text for each in value if (text := _bounded(each, limit)) is not None)
    return texts if len(texts) == len(value) else ()


def _bounded(value: object, limit: int) -> str | None:
    if not isinstance(value, str) or len(value) > limit:
        return None
    return value if value.strip() and CONTROL.search(value) is None else None


def _member(value: object, allowed: frozenset[str]) -> str | None:
    return value if isinstance(value, str) and value in allowed else None
