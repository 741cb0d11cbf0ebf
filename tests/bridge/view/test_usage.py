"""How full the context is: answers of real models count, and each number is told once (S§10)."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.view.usage import ContextUsage, prompt_usage
from machines.results.usage import Tokens, Usage

MODEL = "claude-opus-5"
COUNTS = {
    "input_tokens": 10,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 2,
    "output_tokens": 1,
}


def used(*messages: tuple[str, Any]) -> list[Any]:
    usage = ContextUsage()
    return [usage.start_message(model, counts) for model, counts in messages]


def test_every_token_of_the_answer_is_in_the_context() -> None:
    (update,) = used((MODEL, COUNTS))
    assert update["used"] == 18
    assert update["_meta"] == {"_claude/model": MODEL}


@pytest.mark.contract("SE-101")
def test_claude_codes_own_words_leave_it_as_it_is() -> None:
    first, second = used((MODEL, COUNTS), ("<synthetic>", {"input_tokens": 0, "output_tokens": 0}))
    assert first["used"] == 18
    assert second is None
    usage = ContextUsage()
    usage.start_message(MODEL, COUNTS)
    usage.start_message("<synthetic>", {"input_tokens": 0})
    assert (usage.used, usage.model) == (18, MODEL)


@given(st.lists(st.integers(0, 3), max_size=12))
def test_no_number_is_told_twice_in_a_row(counts: list[int]) -> None:
    usage = ContextUsage()
    told = [usage.start_message(MODEL, {"input_tokens": 1})]
    told += [usage.add({"output_tokens": count}) for count in counts]
    numbers = [update["used"] for update in told if update is not None]
    assert all(one != other for one, other in pairwise(numbers))
    assert usage.used == 1 + (counts[-1] if counts else 0)


@pytest.mark.parametrize(
    "counts", [None, "x", {}, {"input_tokens": -1}, {"input_tokens": True}, {"input_tokens": "7"}]
)
def test_what_is_no_count_is_not_counted(counts: object) -> None:
    usage = ContextUsage()
    usage.start_message(MODEL, counts)
    assert usage.used in {0, None}


@pytest.mark.parametrize(
    ("known", "model", "size"),
    [
        ({MODEL: 500_000}, MODEL, 500_000),
        ({f"{MODEL}-20260101": 500_000}, MODEL, 500_000),
        ({"claude-haiku-5": 100_000}, MODEL, 200_000),
        ({}, f"{MODEL}[1m]", 1_000_000),
        ({}, MODEL, 200_000),
    ],
)
def test_the_window_is_that_of_the_model_that_answers(known: dict[str, int], model: str, size: int) -> None:
    usage = ContextUsage()
    usage.learn({name: {"contextWindow": window} for name, window in known.items()})
    usage.start_message(model, COUNTS)
    assert usage.size == size


def test_an_estimate_counts_until_a_result_tells() -> None:
    usage = ContextUsage()
    usage.suggest(300_000)
    usage.start_message(MODEL, COUNTS)
    assert usage.size == 300_000
    usage.learn({MODEL: {"contextWindow": 400_000}})
    assert usage.size == 400_000


def test_what_is_not_known_is_left_out_of_an_answer() -> None:
    assert prompt_usage(None) == {}
    usage = Usage(Tokens(3, 4), ((MODEL, Tokens(3, 4)),))
    assert prompt_usage(usage)["usage"]["inputTokens"] == 3  # type: ignore[index]  # an object
