"""Fast mode: mirrored, explained, and published only when it reads differently."""

import pytest

from bridge.config.fast import Fast, Report, initial, model_switched, reported, requested

ABOUT = "Faster responses on supported models"


@pytest.mark.parametrize(
    ("state", "reason", "fast"),
    [
        ("on", None, Fast(True)),
        ("cooldown", None, Fast(True)),
        ("off", None, Fast()),
        ("off", "free", Fast(False, "free")),
        ("off", "sdk_opt_in_required", Fast()),
        (None, None, Fast()),
        (7, ["free"], Fast()),
    ],
)
def test_the_value_at_the_start(state: object, reason: object, fast: Fast) -> None:
    assert initial(state, reason) == fast


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("free", "not available on the free plan"),
        ("extra_usage_disabled", "requires extra usage to be enabled for this account"),
        ("model_not_allowed", "not available for the selected model"),
        ("not_first_party", "not available on this API provider"),
        ("disabled_by_env", "disabled by environment configuration"),
        ("network_error", "eligibility could not be verified (network error)"),
    ],
)
def test_a_reason_is_told_while_it_is_off(reason: str, text: str) -> None:
    assert Fast(False, reason).description == f"{ABOUT} — {text}"
    assert Fast(True, reason).description == ABOUT
    assert Fast().description == ABOUT


@pytest.mark.contract("CF-076")
@pytest.mark.parametrize(
    ("fast", "state", "reason", "report"),
    [
        (Fast(), "off", None, Report(Fast())),
        (Fast(), "on", None, Report(Fast(True), visible=True)),
        (Fast(True), "off", None, Report(Fast(), visible=True)),
        (
            Fast(True),
            "off",
            "network_error",
            Report(Fast(False, "network_error"), True, "eligibility could not be verified (network error)"),
        ),
        (Fast(), "off", "free", Report(Fast(False, "free"), visible=True)),
        (Fast(False, "free"), "off", "free", Report(Fast(False, "free"))),
        (Fast(False, "free"), "off", None, Report(Fast(), visible=True)),
        (Fast(), "off", "sdk_opt_in_required", Report(Fast())),
        (Fast(True), "on", "free", Report(Fast(True, "free"))),
        (Fast(True), "cooldown", "free", Report(Fast(True))),
        (Fast(True), None, "free", Report(Fast(True))),
        (Fast(True), "maybe", None, Report(Fast(True))),
        (Fast(True), ["off"], None, Report(Fast(True))),
    ],
)
def test_what_a_report_changes(fast: Fast, state: object, reason: object, report: Report) -> None:
    assert reported(fast, state, reason) == report


def test_a_report_about_a_model_without_it_changes_nothing() -> None:
    assert reported(Fast(True), "off", "free", offered=False) == Report(Fast(True))


def test_changes_by_the_client_and_of_the_model() -> None:
    assert requested(Fast(False, "free"), True) == Fast(True)
    assert requested(Fast(True), False) == Fast()
    assert model_switched(Fast(False, "model_not_allowed")) == Fast()
    assert model_switched(Fast(False, "free")) == Fast(False, "free")
    assert model_switched(Fast(True)) == Fast(True)
