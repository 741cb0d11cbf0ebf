"""Category, actions and title of every failure (M13, "Categories and actions")."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.companions.failure_table import facts_of, retry_facts
from machines.outputs import Failure, FailureKind
from machines.results.usage_limits import USAGE_LIMIT_PREFIXES

API = FailureKind.API
TITLE = 256


def table(failure: Failure) -> tuple[Any, ...]:
    facts = facts_of(failure)
    return facts.category, facts.severity, facts.actions


@pytest.mark.parametrize(
    ("kinds", "row"),
    [
        pytest.param(
            (
                "verification_required",
                "cloud_credential_error",
                "overloaded",
                "server_error",
                "brand_new",
                None,
            ),
            ("service", "error", ("retry",)),
            marks=pytest.mark.contract("SF-020", "SF-036"),
        ),
        pytest.param(
            ("billing_error", "account_on_hold"),
            ("limit", "error", ()),
            marks=pytest.mark.contract("SF-021"),
        ),
        (("rate_limit",), ("limit", "error", ("retry",))),
        pytest.param(
            ("max_output_tokens", "error_max_turns"),
            ("limit", "error", ("new_session",)),
            marks=pytest.mark.contract("SF-023"),
        ),
        pytest.param(
            ("error_max_budget_usd",),
            ("limit", "error", ("new_session",)),
            marks=pytest.mark.contract("SF-024"),
        ),
        pytest.param(
            ("invalid_request", "model_not_found"),
            ("request", "error", ()),
            marks=pytest.mark.contract("SF-025"),
        ),
    ],
)
def test_the_kinds_that_claude_code_names(kinds: tuple[str | None, ...], row: tuple[Any, ...]) -> None:
    for kind in kinds:
        assert table(Failure(API, "It failed.", kind)) == row


@pytest.mark.contract("SF-021")
@pytest.mark.parametrize("prefix", USAGE_LIMIT_PREFIXES)
def test_a_usage_limit_is_known_by_its_text(prefix: str) -> None:
    assert table(Failure(API, f"{prefix} limit.", "rate_limit")) == ("limit", "error", ())


@pytest.mark.contract("SF-028")
def test_a_fault_of_our_own() -> None:
    for kind in (FailureKind.NO_RESULT, FailureKind.INCOMPLETE_CALL, FailureKind.RESTART_FAILED):
        assert table(Failure(kind, "Nobody knows.")) == ("service", "error", ("retry", "new_session"))


def test_a_lost_process() -> None:
    for kind in (FailureKind.TRANSPORT_LOST, FailureKind.WORKER_SHUTDOWN):
        assert table(Failure(kind, "It is gone.")) == ("connection", "error", ("new_session",))


@pytest.mark.contract("SF-045")
def test_the_title_is_the_text_of_the_error() -> None:
    facts = facts_of(Failure(API, "API Error: 529\n  Overloaded"))
    assert (facts.title, facts.details) == ("API Error: 529 Overloaded", None)


@pytest.mark.contract("SF-047")
@pytest.mark.parametrize("text", ["", " \n", "https://example.org/x"])
def test_a_title_of_our_own_only_without_a_text(text: str) -> None:
    assert facts_of(Failure(API, text)).title == "Claude stopped with an error."


@pytest.mark.contract("SF-049")
@given(st.text(alphabet="ab ", max_size=600))
def test_what_is_too_long_for_a_title_goes_to_the_details(text: str) -> None:
    facts = facts_of(Failure(API, f"x{text}"))
    whole = " ".join(f"x{text}".split())
    assert len(facts.title) <= TITLE
    assert (facts.details is None) == (len(whole) <= TITLE)
    assert (facts.details or facts.title) == whole


@pytest.mark.contract("SF-048")
@pytest.mark.parametrize(
    "text",
    [
        "Failed at https://secret.example.org/key?token=s3cret in the end",
        "Failed in /home/secret/project/file.py in the end",
    ],
)
def test_a_title_has_no_link_and_no_path(text: str) -> None:
    facts = facts_of(Failure(API, text))
    assert "secret" not in facts.title
    assert facts.title.startswith("Failed")
    assert facts.title.endswith("in the end")


def test_a_retry_is_a_warning_without_actions() -> None:
    lost = retry_facts(None, None, 2, 10)
    assert (lost.category, lost.severity, lost.actions) == ("connection", "warning", ())
    assert lost.title == "Reconnecting to Claude, attempt 2 of 10."
    busy = retry_facts("rate_limit", 429, 1, 10)
    assert (busy.category, busy.title) == ("limit", "Retrying Claude, attempt 1 of 10.")
