"""Lines and bytes: splitting under any chunking, and encoding any JSON (`acp-wire` §5.1, §5.3)."""

import json
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.json_values import json_values
from wire.lines import MAX_LINE, Line, LineSplitter, Oversize, encode


def split(*chunks: bytes, limit: int = MAX_LINE) -> list[Line]:
    """Everything that comes out until the end of the input."""
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.close()


def test_a_line_is_given_as_soon_as_it_is_complete() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"a\nb") == ["a"]
    assert splitter.feed(b"") == []
    assert splitter.feed(b"c\n\nd\n") == ["bc", "d"]
    assert splitter.close() == []


def test_the_last_line_needs_no_lf() -> None:
    assert split(b"a\nb") == ["a", "b"]
    assert split(b"a\r") == ["a"]


def test_crlf_bom_and_blank_lines_are_accepted() -> None:
    assert split(b"\xef\xbb\xbf{}\r\n\r\n \t\n\n\xef\xbb\xbf\n[]\r\n") == ["{}", "[]"]


def test_only_lf_ends_a_line() -> None:
    text = "a\u2028b\u2029c\x85d\x0ce\x1cf\rg"
    assert split(text.encode() + b"\n") == [text]


def test_invalid_utf_8_is_replaced() -> None:
    assert split(b'"\xff"\n', '"ü"'.encode("utf-16-le") + b"\n")[0] == '"\ufffd"'


def test_a_character_may_be_cut_between_chunks() -> None:
    euro = "€".encode()
    assert split(euro[:1], euro[1:2], euro[2:] + b"\n") == ["€"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"", b"\r"])
def test_the_limit_counts_neither_cr_nor_lf(end: bytes) -> None:
    assert split(b"1234" + end, limit=4) == ["1234"]
    assert split(b"12345" + end, limit=4) == [Oversize(4)]


def test_an_oversize_line_is_reported_once_and_at_once_and_the_next_one_is_read() -> None:
    splitter = LineSplitter(4)
    assert splitter.feed(b"a\n12345") == ["a", Oversize(4)]
    assert splitter.feed(b"6789" * 100) == []
    assert splitter.feed(b"0\nb\n") == ["b"]
    assert splitter.close() == []


def test_an_oversize_line_at_the_end_is_reported_once() -> None:
    assert split(b"12345", b"6", limit=4) == [Oversize(4)]


def test_an_oversize_line_is_not_kept() -> None:
    splitter = LineSplitter(1000)
    for _ in range(100):
        splitter.feed(b"x" * 1000)
    assert len(splitter._buffer) <= 1000


def test_a_long_line_in_small_chunks_is_scanned_once() -> None:
    """Quadratic scanning would take hours here."""
    splitter = LineSplitter()
    chunk = b"x" * 1024
    for _ in range(30 * 1024):
        assert splitter.feed(chunk) == []
    (line,) = splitter.feed(b"\n")
    assert isinstance(line, str)
    assert len(line) == 30 * 1024 * 1024


@given(st.binary(max_size=60), st.lists(st.integers(0, 60)), st.integers(1, 20))
def test_chunking_does_not_change_the_lines(data: bytes, cuts: list[int], limit: int) -> None:
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[start:end] for start, end in pairwise(edges)]
    assert split(*chunks, limit=limit) == split(data, limit=limit)


frames = st.sampled_from([b"a", b"\r", b"\n", b"12345", b"\xef\xbb\xbf", b" ", b"\xe2\x82", b"\xac"])


@given(st.lists(frames, max_size=30), st.integers(1, 8))
def test_lines_are_what_splitting_at_lf_gives(parts: list[bytes], limit: int) -> None:
    expected: list[Line] = []
    for raw in b"".join(parts).split(b"\n"):
        line = raw.removesuffix(b"\r")
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        if len(line) > limit:
            expected.append(Oversize(limit))
        elif text.strip(" \t\r"):
            expected.append(text)
    assert split(*parts, limit=limit) == expected


# ── encoding ──────────────────────────────────────────────────────────────────


def test_text_is_written_as_utf_8() -> None:
    assert encode({"a": "ü\u2028日"}) == '{"a":"ü\u2028日"}\n'.encode()


def test_a_lone_surrogate_is_written_in_escapes() -> None:
    assert encode({"a": "\ud800", "b": "ü"}) == b'{"a":"\\ud800","b":"\\u00fc"}\n'


@given(st.lists(json_values, min_size=1, max_size=4))
def test_what_is_encoded_comes_back_as_the_same_lines(values: list[object]) -> None:
    lines = split(b"".join(encode(value) for value in values))
    # Through json once: two surrogates side by side are one character on any wire.
    assert [json.loads(str(line)) for line in lines] == [json.loads(json.dumps(value)) for value in values]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"a": value})
    with pytest.raises(ValueError, match="JSON"):
        encode(["\ud800", value])
