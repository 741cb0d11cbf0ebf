"""What the answer of a turn is, given its result (M4.4)."""

from machines.events import Result
from machines.outputs import Failure, FailureKind, Outcome

LIMIT_SUBTYPES = frozenset({"error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"})


def outcome_of(result: Result, *, cancelled: bool) -> Outcome:
    """The first row that fits; `cancelled` says that a cancel is in effect."""
    if cancelled:
        return Outcome("cancelled")
    if result.stop_reason == "refusal":
        return Outcome("refusal")
    if result.auth_required:
        return Outcome(failure=Failure(FailureKind.AUTH_REQUIRED, result.text))
    if result.stop_reason == "max_tokens":
        return Outcome("max_tokens")
    if result.subtype == "error_during_execution" and result.aborted:
        return Outcome("cancelled")
    if result.is_error:
        kind = result.error_kind or (result.subtype if result.subtype in LIMIT_SUBTYPES else None)
        return Outcome(failure=Failure(FailureKind.API, result.text, kind))
    if result.subtype in LIMIT_SUBTYPES:
        return Outcome("max_turn_requests")
    return Outcome("end_turn")
