"""Token usage of turns, read from results (M4.4, INV-T8)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.results.usage import Tally, Tokens, Usage, read_model_tokens, read_tokens


def usage(tokens: Tokens) -> dict[str, object]:
    """The Messages API's form."""
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
        "service_tier": "standard",
    }


def model_row(tokens: Tokens) -> dict[str, object]:
    """The form of `modelUsage`."""
    return {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "cacheReadInputTokens": tokens.cache_read,
        "cacheCreationInputTokens": tokens.cache_write,
        "costUSD": 0.5,
        "contextWindow": 200_000,
    }


@pytest.mark.parametrize(
    "value", [None, "many", {}, {"input_tokens": "7"}, {"output_tokens": True}, {"input_tokens": -1}]
)
@pytest.mark.contract("SE-103")
def test_what_is_missing_or_malformed_counts_nothing(value: object) -> None:
    tally = Tally(totals={})
    tally.read(value if isinstance(value, Mapping) else None, {"opus": value}, own=True)

    assert read_tokens(value) == read_model_tokens(value) == Tokens()
    assert tally.usage() is None


@pytest.mark.contract("CY-022")
def test_zeros_are_unknown() -> None:
    tally = Tally(totals={})
    tally.read(usage(Tokens()), {}, own=True)

    assert tally.usage() is None


def test_m4_4_the_first_result_after_a_resume_only_sets_the_baseline() -> None:
    tally = Tally()
    tally.begin()
    tally.read(usage(Tokens(3, 4)), {"opus": model_row(Tokens(1003, 2004))}, own=True)
    assert tally.usage() == Usage(Tokens(3, 4), (("opus", Tokens(3, 4)),))

    tally.begin()
    tally.read(usage(Tokens(5, 6)), {"opus": model_row(Tokens(1008, 2010))}, own=True)
    assert tally.usage() == Usage(Tokens(5, 6), (("opus", Tokens(5, 6)),))


def test_m4_4_autonomous_results_advance_the_reading_and_are_not_added() -> None:
    tally = Tally(totals={})
    tally.begin()
    tally.read(usage(Tokens(9, 9)), {"opus": model_row(Tokens(9, 9))}, own=False)
    assert tally.usage() is None

    tally.read(usage(Tokens(1, 2)), {"opus": model_row(Tokens(10, 11))}, own=True)
    assert tally.usage() == Usage(Tokens(1, 2), (("opus", Tokens(1, 2)),))


def test_a_counter_that_was_reset_starts_anew() -> None:
    tally = Tally(totals={"opus": Tokens(100, 100)})
    tally.read(usage(Tokens(1, 2)), {"opus": model_row(Tokens(1, 2))}, own=True)

    assert tally.usage() == Usage(Tokens(1, 2), (("opus", Tokens(1, 2)),))


COUNTS = st.integers(0, 50)
TOKENS = st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS)


@dataclass(frozen=True)
class Spent:
    """One result: what the main loop used, what a second model used beside it, whose it is."""

    main: Tokens
    side: Tokens
    own: bool
    ends_turn: bool


SPENDING = st.lists(st.builds(Spent, TOKENS, TOKENS, st.booleans(), st.booleans()), max_size=12)


@given(SPENDING)
def test_inv_t8_the_usage_of_all_turns_is_that_of_all_own_results(spending: list[Spent]) -> None:
    told, by_model = Tokens(), dict[str, Tokens]()
    totals = {"opus": Tokens(), "haiku": Tokens()}
    tally = Tally(totals={})
    tally.begin()
    for spent in [*spending, Spent(Tokens(), Tokens(), own=True, ends_turn=True)]:
        totals = {"opus": totals["opus"].plus(spent.main), "haiku": totals["haiku"].plus(spent.side)}
        rows = {model: model_row(total) for model, total in totals.items()}
        tally.read(usage(spent.main), rows, own=spent.own)
        if spent.ends_turn:
            answer = tally.usage() or Usage(Tokens())
            told = told.plus(answer.tokens)
            for model, tokens in answer.by_model:
                by_model[model] = by_model.get(model, Tokens()).plus(tokens)
            tally.begin()

    own = [spent for spent in spending if spent.own]
    assert told == total(spent.main for spent in own)
    assert by_model.get("opus", Tokens()) == total(spent.main for spent in own)


def total(readings: Iterable[Tokens]) -> Tokens:
    """The sum of readings."""
    everything = Tokens()
    for tokens in readings:
        everything = everything.plus(tokens)
    return everything


@given(TOKENS, TOKENS)
def test_a_difference_added_again_gives_the_later_reading(earlier: Tokens, share: Tokens) -> None:
    later = earlier.plus(share)

    assert later.minus(earlier) == share
    assert later.total == earlier.total + share.total
