"""The status that is pushed: news alone, of the newest epoch, and never poorer than it was."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.accounts.identity import Identity
from bridge.config.auth import SIGNED_OUT, AuthStatus, gateway_status

KEY = AuthStatus("api_key", "Anthropic API key", "ANTHROPIC_API_KEY")
RICH = AuthStatus("account", "Claude Max", None, "a@example.org", "Acme", "max")
POOR = AuthStatus("account", "Claude Max", None, "a@example.org", None, "max")
OTHER = AuthStatus("account", "Claude Pro", None, "b@example.org", None, "pro")
STATUSES = (SIGNED_OUT, KEY, RICH, POOR, OTHER, gateway_status("h:1"), None)


def identity() -> tuple[Identity, list[Any]]:
    pushed: list[Any] = []
    return Identity(pushed.append), pushed


@pytest.mark.contract("AU-015")
@given(st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans())))
def test_no_two_pushes_in_a_row_are_equal(readings: list[tuple[AuthStatus | None, bool]]) -> None:  # INV-A1
    known, pushed = identity()
    for status, renews in readings:
        if renews:
            known.renew()
        known.read(status, known.epoch)
    assert all(one != other for one, other in pairwise(pushed))
    if any(status is not None for status, _ in readings):
        assert pushed


@pytest.mark.contract("AU-027")
@given(st.sampled_from(STATUSES), st.integers(1, 5))
def test_a_reading_of_an_older_epoch_is_discarded(status: AuthStatus | None, renewals: int) -> None:
    known, pushed = identity()
    old = known.epoch
    for _ in range(renewals):
        known.renew()
    known.read(status, old)
    assert pushed == []
    assert known.kind is None


@pytest.mark.contract("AU-026")
def test_a_poorer_reading_of_one_account_takes_nothing_away() -> None:
    known, pushed = identity()
    for status in (RICH, POOR, OTHER, POOR):
        known.read(status, known.epoch)
    assert pushed == [RICH.payload(), OTHER.payload(), POOR.payload()]


def test_after_a_sign_out_nothing_of_the_old_account_stays() -> None:
    known, pushed = identity()
    known.read(RICH, known.epoch)
    known.read(POOR, known.renew())
    assert pushed == [RICH.payload(), POOR.payload()]
