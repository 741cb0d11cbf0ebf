"""An input that streams: what is known of it after each fragment."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tools.partial import InputScan, PartialInputs

KEYS = st.text(alphabet='ab"\\,{}[]:é', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\,{}[]\n\u2028é😀', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def members_before_last_comma(prefix: str) -> dict[str, Any] | None:
    """The slow way: the longest part up to a comma that is JSON once it is closed."""
    for at in range(len(prefix) - 1, -1, -1):
        if prefix[at] == ",":
            try:
                parsed = json.loads(prefix[:at] + "}")
            except ValueError:
                continue
            if isinstance(parsed, dict):
                return parsed
    return None


@pytest.mark.contract("TC-081", "TC-104")
@given(st.dictionaries(KEYS, VALUES, max_size=5), st.lists(st.integers(0, 200), max_size=12), st.booleans())
def test_every_prefix_tells_its_complete_members(
    whole: dict[str, Any], cuts: list[int], ascii_only: bool
) -> None:
    text = json.dumps(whole, ensure_ascii=ascii_only)
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    scan, known = InputScan(), None
    for start, end in pairwise(edges):
        found = scan.feed(text[start:end])
        if end == len(text):
            assert found is None, "the complete message tells the rest"
            break
        expected = members_before_last_comma(text[:end])
        assert (found is not None) == (expected != known), "told when a member was completed, and only then"
        known = expected
        if found is not None:
            assert found == expected
            assert [*found] == [*(expected or {})]
    assert scan.closed


@pytest.mark.parametrize(
    "fragments",
    [
        ['{"a": tru, "b": 1, "c": 2'],
        ['{"a": NaN, "b": 1'],
        ["{, ", '"a": 1, "b"'],
        ['{"a" 1, "b": 2, '],
        ["[1, 2, 3"],
        ["nothing, at, all"],
        ["}", '{"a": 1, "b"'],
        ['{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "b": 1'],
    ],
)
def test_what_is_no_json_tells_nothing(fragments: list[str]) -> None:
    scan = InputScan()

    assert [scan.feed(fragment) for fragment in fragments] == [None] * len(fragments)


def test_an_escape_may_be_cut_in_two() -> None:
    scan = InputScan()

    assert scan.feed('{"a": "x\\') is None
    assert scan.feed('", still a string') is None
    assert scan.feed('", "b": 1') == {"a": 'x", still a string'}


def test_a_report_owns_what_it_got() -> None:
    scan = InputScan()
    first = scan.feed('{"a": 1, ')
    scan.feed('"b": 2, ')

    assert first == {"a": 1}


def test_each_block_of_each_lane_is_read_by_itself() -> None:
    inputs = PartialInputs()
    inputs.begin(None, 0, "t0")
    inputs.begin(None, 1, "t1")
    inputs.begin("parent", 0, "t2")

    assert inputs.feed(None, 0, '{"a": 1, ') == ("t0", {"a": 1})
    assert inputs.feed("parent", 0, '{"c": 3, ') == ("t2", {"c": 3})
    assert inputs.feed(None, 1, '{"b": 2, ') == ("t1", {"b": 2})
    inputs.end(None, 0)
    assert inputs.feed(None, 0, '"d": 4, ') is None
    inputs.clear(None)
    assert inputs.feed(None, 1, '"e": 5, ') is None
    assert inputs.feed("parent", 0, '"f": 6, ') == ("t2", {"c": 3, "f": 6})
    assert inputs.feed("parent", 0, '"g": 7}') is None
    assert inputs.feed("parent", 0, '{"h": 8, ') is None, "the input is complete"
