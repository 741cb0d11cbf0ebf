import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sessions import records
from bridge.sessions.records import parse, read_backward, read_lines

LINES = st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")), max_size=30)


@given(LINES, st.booleans())
def test_lines_come_with_their_places_and_backward_in_the_reverse_order(
    lines: list[bytes], ended: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    file = io.BytesIO(data)
    forward = [*read_lines(file, len(data))]
    assert b"\n".join(line.data for line in forward) == data.removesuffix(b"\n")
    assert all(data[line.offset :].startswith(line.data) for line in forward)
    backward = [*read_backward(file, len(data))]
    assert [line for line in reversed(backward) if line] == [line.data for line in forward if line.data]


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 40))
def test_chunks_may_end_anywhere(sizes: list[int], chunk: int) -> None:
    data = b"".join(b"%d" % (size % 10) * size + b"\n" for size in sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_CHUNK", chunk)
        backward = [*read_backward(io.BytesIO(data), len(data))]
    assert backward == data.split(b"\n")[::-1] or not data


def test_what_is_appended_while_reading_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"one\ntwo\n")
    with path.open("rb", buffering=0) as file, path.open("ab", buffering=0) as writer:
        seen = []
        for line in read_lines(file, 8):
            seen.append(line.data)
            writer.write(b"more\n")
    assert seen == [b"one", b"two"]


@pytest.mark.parametrize("far", [False, True])
def test_a_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch, far: bool) -> None:
    monkeypatch.setattr(records, "LONGEST_LINE", 1_000)
    monkeypatch.setattr(records, "_CHUNK", 100)
    huge = b'{"a":"%s"}' % (b"x" * (5_000 if far else 1_101))
    data = b'{"first":1}\n' + huge + b'\n{"last":1}\n'
    forward = [record for line in read_lines(io.BytesIO(data), len(data)) if (record := parse(line.data))]
    backward = [record for line in read_backward(io.BytesIO(data), len(data)) if (record := parse(line))]
    assert forward == [{"first": 1}, {"last": 1}]
    assert backward == [{"last": 1}, {"first": 1}]


def test_memory_holds_one_line_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t"
    line = json.dumps({"type": "user", "text": "x" * 100_000}).encode() + b"\n"
    path.write_bytes(line * 100)
    with path.open("rb") as file:
        tracemalloc.start()
        assert sum(1 for each in read_lines(file, len(line) * 100) if parse(each.data)) == 100
        assert sum(1 for each in read_backward(file, len(line) * 100) if parse(each)) == 100
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 20 * len(line)


def test_a_single_line_of_twelve_megabytes_is_a_record() -> None:
    line = b'{"image":"%s"}' % (b"A" * 12_000_000)
    data = line + b"\n"
    (forward,) = read_lines(io.BytesIO(data), len(data))
    assert parse(forward.data) == {"image": "A" * 12_000_000}
    assert line in read_backward(io.BytesIO(data), len(data))


@pytest.mark.parametrize(
    "line",
    [
        b"", b" ", b"3", b'"x"', b"[]", b"{", b'{"a":', b'{"a":1}}', b'{"a":NaN}', b'{"a":-Infinity}',
        b"\0\0\0", b"[" * 100_000, b'{"a":' * 100_000, b'{"n":' + b"9" * 10_000 + b"}", b"\xff\xfe",
    ],
)  # fmt: skip
def test_what_is_no_object_is_no_record(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b'{"a":1}\r', {"a": 1}),
        (b'  {"a":1}', {"a": 1}),
        ('{"a":"\u2028\u2029\x85\x7f"}'.encode(), {"a": "\u2028\u2029\x85\x7f"}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        (b'{"a":"x\\ud83dy"}', {"a": "x\ufffdy"}),
        (
            b'{"a":["\\uDE00"],"\\ud83d":{"b":"\\ude00\\ud83d"}}',
            {"a": ["\ufffd"], "\ufffd": {"b": "\ufffd\ufffd"}},
        ),
        (b'{"a":"\xed\xa0\x80\xff"}', {"a": "\ufffd\ufffd\ufffd\ufffd"}),
    ],
)
def test_a_record_can_always_be_written_as_utf_8(line: bytes, record: dict[str, object]) -> None:
    assert parse(line) == record
    json.dumps(parse(line), ensure_ascii=False).encode()


@given(st.binary())
def test_no_line_is_an_exception(line: bytes) -> None:
    record = parse(line)
    assert record is None or isinstance(record, dict)
