"""What an answer to a permission request does: the reply to Claude Code and what follows from it.

`answered` maps an option id, the other functions map the ways to end without one. Each ask gets
exactly one outcome, except that nothing is written after Claude Code withdrew it (permissions §6, §7.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from bridge.permissions.ask import Ask
from bridge.permissions.options import (
    SANDBOX,
    Allow,
    Effect,
    KeepPlanning,
    LeavePlan,
    Offer,
    Refuse,
    StartAfresh,
)
from bridge.permissions.suggestions import Mode, Snapshot

_REFUSED = "User refused permission to run tool"
_ABORTED = "Tool use aborted"


@dataclass(frozen=True, slots=True)
class Reply:
    """A success reply to `can_use_tool`."""

    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error reply; Claude Code makes a failed tool result of it, and the turn goes on."""

    message: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The answer moved the session to a mode: tell the client before the reply is written."""

    mode: str


@dataclass(frozen=True, slots=True)
class AutoUnavailable:
    """The model has no auto mode, so accept edits was applied: warn once a session."""


@dataclass(frozen=True, slots=True)
class PlanStopped:
    """The turn will be interrupted at this ExitPlanMode; with a `plan` a fresh conversation follows."""

    call: str
    mode: str | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call never gets a tool result: report its end now."""

    call: str
    status: Literal["completed", "failed"]


FollowUp = ModeChanged | AutoUnavailable | PlanStopped | CallEnded


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reply, and what the session has to do about it, in order."""

    reply: Reply | Failure
    follow_ups: tuple[FollowUp, ...] = ()


def selected_option(result: object) -> str | None:
    """The option id of a client's response; `None` for `cancelled` and for anything unreadable."""
    outcome = result.get("outcome") if isinstance(result, Mapping) else None
    if not isinstance(outcome, Mapping) or outcome.get("outcome") != "selected":
        return None
    option = outcome.get("optionId")
    return option if isinstance(option, str) else None


def answered(offer: Offer, option: str, *, auto_supported: bool = True) -> Outcome:
    """The effect of the selected option; an id that this request did not offer grants nothing (PM-007).

    `auto_supported` is false when the current model is known to have no auto mode.
    """
    choice = offer.choice(option)
    if choice is None:
        return _ended(offer.ask, Failure(f"Permission option was not offered: {option}"))
    return _applied(offer.ask, choice.effect, auto_supported)


def unanswered(offer: Offer, *, background: bool = False) -> Outcome:
    """The client answered `cancelled` or something malformed (PM-043, PM-104).

    A subagent in the background is only refused, for nobody stopped its work (decision 32).
    """
    return _ended(offer.ask, _deny(offer.ask, _REFUSED) if background else Failure(_ABORTED))


def aborted(offer: Offer) -> Outcome:
    """The work was stopped before or while the request was open (PM-102, PM-103, PM-105)."""
    return _ended(offer.ask, Failure(_ABORTED))


def failed(offer: Offer, message: str) -> Outcome:
    """The client could not answer: its error reaches Claude, and the turn goes on."""
    return _ended(offer.ask, Failure(message))


def session_gone() -> Outcome:
    """The ask belongs to no session that is known; nothing was shown for it."""
    return Outcome(Reply({"behavior": "deny", "message": "Session not found"}))


def prompt_cancelled() -> Outcome:
    """The ask belongs to work that a cancel has already stopped; nothing was shown for it."""
    return Outcome(Reply({"behavior": "deny", "message": "The user cancelled this prompt."}))


def _applied(ask: Ask, effect: Effect, auto_supported: bool) -> Outcome:
    match effect:
        case Allow(updates):
            payload = [] if updates is None else updates.payload()
            changes = () if updates is None else tuple(ModeChanged(mode) for mode in _session_modes(updates))
            return _ended(ask, _allow(ask, payload, lasting=updates is not None), *changes)
        case Refuse():
            return _ended(ask, _deny(ask, _REFUSED))
        case LeavePlan(chosen):
            mode, warning = _supported(chosen, auto_supported)
            update = {"type": "setMode", "mode": mode, "destination": "session"}
            reply = _allow(ask, [update], lasting=chosen != "default")
            return Outcome(reply, (*warning, ModeChanged(mode)))
        case StartAfresh(chosen, plan):
            mode, warning = _supported(chosen, auto_supported)
            reply = _deny(ask, "User accepted the plan and requested a fresh context", interrupt=True)
            return Outcome(reply, (*warning, PlanStopped(ask.use.call, mode, plan)))
        case KeepPlanning():
            reply = _deny(ask, "User chose to keep planning", interrupt=True)
            return Outcome(reply, (PlanStopped(ask.use.call),))
        case _:
            assert_never(effect)


def _session_modes(updates: Snapshot) -> list[str]:
    return [update.mode for update in updates.updates if isinstance(update, Mode)]


def _supported(mode: str, auto_supported: bool) -> tuple[str, tuple[AutoUnavailable, ...]]:
    if mode == "auto" and not auto_supported:
        return "acceptEdits", (AutoUnavailable(),)
    return mode, ()


def _allow(ask: Ask, updates: list[object], *, lasting: bool) -> Reply:
    payload: dict[str, object] = {"behavior": "allow", "updatedInput": dict(ask.use.input)}
    if updates:
        payload["updatedPermissions"] = updates
    payload["toolUseID"] = ask.use.call
    payload["decisionClassification"] = "user_permanent" if lasting else "user_temporary"
    return Reply(payload)


def _deny(ask: Ask, message: str, *, interrupt: bool = False) -> Reply:
    payload: dict[str, object] = {"behavior": "deny", "message": message}
    if interrupt:
        payload["interrupt"] = True
    payload["toolUseID"] = ask.use.call
    payload["decisionClassification"] = "user_reject"
    return Reply(payload)


def _ended(ask: Ask, reply: Reply | Failure, *follow_ups: FollowUp) -> Outcome:
    if ask.use.name != SANDBOX:
        return Outcome(reply, follow_ups)
    allowed = isinstance(reply, Reply) and reply.payload["behavior"] == "allow"
    return Outcome(reply, (*follow_ups, CallEnded(ask.use.call, "completed" if allowed else "failed")))
