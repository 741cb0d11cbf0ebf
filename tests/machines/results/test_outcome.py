"""What the answer of a turn is, given its result (M4.4)."""

import pytest

from machines.events import Result
from machines.outputs import Failure, FailureKind, Outcome
from machines.results.outcome import outcome_of

API_ERROR = Failure(FailureKind.API, "API Error: 529", "overloaded")
SIGN_IN = Failure(FailureKind.AUTH_REQUIRED, "Please run /login")

ROWS = (
    ("success", Result(stop_reason="end_turn", terminal_reason="completed"), Outcome("end_turn")),
    ("local command", Result(num_turns=0), Outcome("end_turn")),
    ("refusal", Result(stop_reason="refusal"), Outcome("refusal")),
    ("refusal, is_error", Result(stop_reason="refusal", is_error=True, text="no"), Outcome("refusal")),
    (
        "login text",
        Result(is_error=True, auth_required=True, text="Please run /login"),
        Outcome(failure=SIGN_IN),
    ),
    (
        "login text with a stop reason",
        Result(auth_required=True, stop_reason="max_tokens", text="Please run /login"),
        Outcome(failure=SIGN_IN),
    ),
    ("max_tokens", Result(stop_reason="max_tokens"), Outcome("max_tokens")),
    ("max_tokens, is_error", Result(stop_reason="max_tokens", is_error=True), Outcome("max_tokens")),
    (
        "is_error",
        Result(
            is_error=True,
            stop_reason="stop_sequence",
            terminal_reason="api_error",
            text="API Error: 529",
            error_kind="overloaded",
        ),
        Outcome(failure=API_ERROR),
    ),
    (
        "aborted by Claude Code itself",
        Result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools"),
        Outcome("cancelled"),
    ),
    (
        "aborted for a steer",
        Result(subtype="success", terminal_reason="aborted_streaming"),
        Outcome("end_turn"),
    ),
    ("error_during_execution", Result(subtype="error_during_execution"), Outcome("end_turn")),
    ("error_max_turns", Result(subtype="error_max_turns"), Outcome("max_turn_requests")),
    ("error_max_budget_usd", Result(subtype="error_max_budget_usd"), Outcome("max_turn_requests")),
    (
        "error_max_structured_output_retries",
        Result(subtype="error_max_structured_output_retries"),
        Outcome("max_turn_requests"),
    ),
    (
        "a limit, is_error",
        Result(subtype="error_max_turns", is_error=True, text="Too many turns"),
        Outcome(failure=Failure(FailureKind.API, "Too many turns", "error_max_turns")),
    ),
)

every = pytest.mark.parametrize(
    ("result", "outcome"), [pytest.param(*rest, id=f"M4.4 {name}") for name, *rest in ROWS]
)


@every
def test_table(result: Result, outcome: Outcome) -> None:
    assert outcome_of(result, cancelled=False) == outcome


@every
def test_m4_4_a_cancel_in_effect_comes_first(result: Result, outcome: Outcome) -> None:
    assert outcome_of(result, cancelled=True) == Outcome("cancelled")
