"""Failures as records: category, actions and title of each (M13, contract "Categories and actions")."""

import re

from machines.companions.session_reports import Action, Category, IncidentFacts
from machines.outputs import Failure, FailureKind
from machines.results.usage_limits import USAGE_LIMIT_PREFIXES

_RETRY: tuple[Action, ...] = ("retry",)
_NEW: tuple[Action, ...] = ("new_session",)

_BY_KIND: dict[str, tuple[Category, tuple[Action, ...]]] = {
    "billing_error": ("limit", ()),
    "account_on_hold": ("limit", ()),
    "rate_limit": ("limit", _RETRY),
    "max_output_tokens": ("limit", _NEW),
    "error_max_turns": ("limit", _NEW),
    "error_max_budget_usd": ("limit", _NEW),
    "invalid_request": ("request", ()),
    "model_not_found": ("request", ()),
}
"""Kinds that Claude Code names; every other one is a fault of the service that a retry may mend."""

_LINK = re.compile(r"https?://\S+|(?<!\w)/(?:[\w.-]+/)+[\w.-]*")
_TITLE = 256
_NO_TEXT = "Claude stopped with an error."


def facts_of(failure: Failure) -> IncidentFacts:
    """The record of a failure that ended a turn, or met a session without one."""
    title, details = _title(failure.text)
    match failure.kind:
        case FailureKind.TRANSPORT_LOST | FailureKind.WORKER_SHUTDOWN:
            return IncidentFacts("connection", "error", title, _NEW, details)
        case FailureKind.API if failure.text.startswith(USAGE_LIMIT_PREFIXES):
            return IncidentFacts("limit", "error", title, (), details)
        case FailureKind.API:
            category, actions = _BY_KIND.get(failure.error_kind or "", ("service", _RETRY))
            return IncidentFacts(category, "error", title, actions, details)
        case _:
            return IncidentFacts("service", "error", title, ("retry", "new_session"), details)


def retry_facts(error_kind: str | None, status: int | None, attempt: int, attempts: int) -> IncidentFacts:
    """The warning that Claude Code tries a request again (M15)."""
    if status is None:
        title = f"Reconnecting to Claude, attempt {attempt} of {attempts}."
        return IncidentFacts("connection", "warning", title)
    category, _ = _BY_KIND.get(error_kind or "", ("service", _RETRY))
    return IncidentFacts(category, "warning", f"Retrying Claude, attempt {attempt} of {attempts}.")


def _title(text: str) -> tuple[str, str | None]:
    """One line without links and paths; what is too long for it goes to the details (SF-048, SF-049)."""
    cleaned = " ".join(_LINK.sub("", text).split())
    if not cleaned:
        return _NO_TEXT, None
    return (cleaned, None) if len(cleaned) <= _TITLE else (cleaned[: _TITLE - 1] + "…", cleaned)
