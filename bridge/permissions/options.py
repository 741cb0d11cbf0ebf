"""The answers that a permission request offers, each with the effect it has.

An offer is made once, for one ask, and kept until the answer: ids, labels and effects of an open
request never change (permissions §4, §7.1, PM-005, PM-010, PM-060).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Literal
from urllib.parse import urlsplit

from bridge.permissions.ask import Ask
from bridge.permissions.labels import covers_host, covers_tool, file_label, one_line, shell_label, showable
from bridge.permissions.suggestions import Snapshot, lasting_rule, snapshot
from machines.events import Option

OptionKind = Literal["allow_once", "allow_always", "reject_once"]

QUESTION = "AskUserQuestion"
EXIT_PLAN = "ExitPlanMode"
SANDBOX = "SandboxNetworkAccess"
COMPUTER_USE = "mcp__computer-use__"

_ORDER: dict[OptionKind, int] = {"allow_once": 0, "allow_always": 1, "reject_once": 2}
_SKILL_NAME = 1000


@dataclass(frozen=True, slots=True)
class Allow:
    """The call runs; `updates` are remembered by Claude Code."""

    updates: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call does not run, and Claude goes on."""


@dataclass(frozen=True, slots=True)
class LeavePlan:
    """The plan is approved and the session goes on in `mode`."""

    mode: str


@dataclass(frozen=True, slots=True)
class StartAfresh:
    """The plan is approved and continued in `mode` by a new conversation that knows only the plan."""

    mode: str
    plan: str


@dataclass(frozen=True, slots=True)
class KeepPlanning:
    """The plan is rejected and the turn stops."""


Effect = Allow | Refuse | LeavePlan | StartAfresh | KeepPlanning


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: what the client shows, and what it does."""

    id: str
    name: str
    kind: OptionKind
    effect: Effect


@dataclass(frozen=True, slots=True)
class Offer:
    """An ask and its answers, in the order of the request."""

    ask: Ask
    choices: tuple[Choice, ...]

    def choice(self, option: str) -> Choice | None:
        """The offered answer with this exact id (PM-007)."""
        return next((choice for choice in self.choices if choice.id == option), None)

    def options(self) -> tuple[Option, ...]:
        """The answers as the lifecycle of the request knows them."""
        return tuple(Option(choice.id, grants(choice.effect)) for choice in self.choices)

    def rendered(self) -> list[dict[str, object]]:
        """The `options` of `session/request_permission`."""
        return [{"optionId": each.id, "name": each.name, "kind": each.kind} for each in self.choices]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the answers depend on beside the ask itself."""

    cwd: str
    home: str
    modes: Sequence[str] = ()
    """Ids of the session's permission modes."""
    mode_before_plan: str | None = None
    context_used: int | None = None
    """Percent of the context window, where it is known."""
    in_turn: bool = True
    """A prompt owns the request, so a fresh context could go on with it."""


def grants(effect: Effect) -> bool:
    """Whether the CLI is told to run the call."""
    return isinstance(effect, Allow | LeavePlan)


def offer(ask: Ask, situation: Situation) -> Offer:
    """The answers to one ask, grouped by kind, with the declines first when the ask says so (PM-051, PM-020).

    A question is no permission: `ValueError` for `AskUserQuestion`.
    """
    reject_first = -1 if ask.default_to_no else 2
    order: dict[OptionKind, int] = {**_ORDER, "reject_once": reject_first}
    return Offer(ask, tuple(sorted(_choices(ask, situation), key=lambda choice: order[choice.kind])))


def used_percent(used: int | None, size: int | None) -> int | None:
    """The share of the context window in whole percent, halves up, within 0…100."""
    if used is None or size is None or size <= 0:
        return None
    return max(0, min(100, int(used * 100 / size + 0.5)))


def _choices(ask: Ask, situation: Situation) -> list[Choice]:
    match ask.use.name:
        case "AskUserQuestion":
            raise ValueError("a question is asked by a form, not by a permission request")
        case "EnterPlanMode":
            return [_once("Yes, enter plan mode"), _reject("No, start implementing now")]
        case "ExitPlanMode":
            return _plan_choices(ask, situation)
        case _:
            lasting = [] if ask.no_persistent else _lasting(ask, situation)
            return [_once("Yes"), *lasting, _reject("No")]


def _lasting(ask: Ask, situation: Situation) -> list[Choice]:
    """The lasting answers of a tool family: from the suggestions, or made here (§4)."""
    tool = ask.use.name
    match tool:
        case "Skill":
            return _skill_choices(ask)
        case "WebFetch":
            host = _hostname(ask.text("url"))
            return (
                _always(f"Yes, and don't ask again for {host}", lasting_rule(tool, f"domain:{host}"))
                if host
                else []
            )
        case (
            "Bash"
            | "PowerShell"
            | "Read"
            | "Glob"
            | "Grep"
            | "Edit"
            | "Write"
            | "NotebookEdit"
            | "SandboxNetworkAccess"
        ):
            return _suggested(ask, situation)
        case _ if tool.startswith("mcp__"):
            return _suggested(ask, situation)
        case _:
            return _always(f"Yes, and don't ask again for {_tool_label(ask)} commands", lasting_rule(tool))


def _suggested(ask: Ask, situation: Situation) -> list[Choice]:
    bundle = snapshot(ask.suggestions)
    if bundle is None:
        return []
    name = _bundle_label(ask, bundle, situation)
    return _always(name, bundle) if name else []


def _bundle_label(ask: Ask, bundle: Snapshot, situation: Situation) -> str | None:
    tool, cwd, home = ask.use.name, situation.cwd, situation.home
    match tool:
        case "Bash" | "PowerShell":
            return shell_label(bundle, tool)
        case "Read":
            return file_label(bundle, "Read", ask.text("file_path"), cwd=cwd, home=home)
        case "Glob" | "Grep":
            return file_label(bundle, "Read", ask.text("path") or cwd, cwd=cwd, home=home, search=True)
        case "Edit" | "Write":
            return file_label(bundle, "Edit", ask.text("file_path"), cwd=cwd, home=home)
        case "NotebookEdit":
            return file_label(bundle, "Edit", ask.text("notebook_path"), cwd=cwd, home=home)
        case "SandboxNetworkAccess":
            host = one_line(ask.use.input.get("host"))
            again = f"Yes, and don't ask again for {host}"
            return again if host and covers_host(bundle, tool, host) else None
        case _:
            suffix = "" if tool.startswith(COMPUTER_USE) else " commands"
            return (
                f"Yes, and don't ask again for {_tool_label(ask)}{suffix}"
                if covers_tool(bundle, tool)
                else None
            )


def _skill_choices(ask: Ask) -> list[Choice]:
    skill = ask.text("skill")
    if skill is None or len(skill) > _SKILL_NAME:
        return []
    exact = _always(
        f"Yes, and don't ask again for {skill}", lasting_rule("Skill", skill), "allow-skill-exact"
    )
    word, blank, _ = skill.partition(" ")
    if not blank:
        return exact
    name = f"Yes, and don't ask again for {word}:* commands"
    return [*exact, *_always(name, lasting_rule("Skill", f"{word}:*"), "allow-skill-prefix")]


def _plan_choices(ask: Ask, situation: Situation) -> list[Choice]:
    """Fresh context, keep context, manual approval, reject (§7.1, decision 14)."""
    preferred = ["auto", "bypassPermissions"]
    if situation.mode_before_plan == "bypassPermissions":
        preferred.reverse()
    elevated = [mode for mode in preferred if mode in situation.modes] or ["acceptEdits"]
    choices = [_keep_context(mode) for mode in elevated]
    plan = ask.text("plan")
    if plan is not None and situation.in_turn:
        choices.insert(0, _fresh_context(elevated[0], plan, situation.context_used))
    manual = Choice("exit-plan-default", "Yes, manually approve edits", "allow_once", LeavePlan("default"))
    reject = Choice("reject", "No, keep planning", "reject_once", KeepPlanning())
    return [*choices, manual, reject]


def _keep_context(mode: str) -> Choice:
    names = {
        "auto": ("exit-plan-auto", "Yes, and use auto mode"),
        "bypassPermissions": ("exit-plan-bypass", "Yes, and bypass permissions"),
        "acceptEdits": ("exit-plan-accept-edits", "Yes, auto-accept edits"),
    }
    return Choice(*names[mode], "allow_always", LeavePlan(mode))


def _fresh_context(mode: str, plan: str, used: int | None) -> Choice:
    names = {
        "auto": ("exit-plan-clear-auto", "use auto mode"),
        "bypassPermissions": ("exit-plan-clear-bypass", "bypass permissions"),
        "acceptEdits": ("exit-plan-clear-accept-edits", "auto-accept edits"),
    }
    option, what = names[mode]
    usage = "" if used is None else f" ({used}% used)"
    return Choice(option, f"Yes, clear context{usage} and {what}", "allow_always", StartAfresh(mode, plan))


def _once(name: str) -> Choice:
    return Choice("allow-once", name, "allow_once", Allow())


def _reject(name: str) -> Choice:
    return Choice("reject", name, "reject_once", Refuse())


def _always(name: str, updates: Snapshot | None, option: str = "allow-with-updates") -> list[Choice]:
    """A lasting answer, or none when its effect is not valid or its name cannot be shown as it is."""
    if updates is None or not showable(name):
        return []
    return [Choice(option, name, "allow_always", Allow(updates))]


def _tool_label(ask: Ask) -> str:
    name = (ask.display_name or "").strip()
    return name if showable(name) else ask.use.name


def _hostname(url: str | None) -> str | None:
    """The host as Claude Code's rules know it; `None` for a URL that parsers read in different ways."""
    if url is None or re.search(r"[\s\\\x00-\x1f]", url):
        return None
    try:
        parts = urlsplit(url)
        host, _checked = (parts.hostname or "").encode("idna").decode(), parts.port
        if ":" in host and "%" not in host:
            return f"[{IPv6Address(host).compressed}]"
        if re.search(r"(^|\.)(\d+|0x[0-9a-f]*)\.?\Z", host):
            return str(IPv4Address(host))
    except ValueError:
        return None
    return host if parts.scheme and re.fullmatch(r"[a-z0-9_.-]+", host) else None
