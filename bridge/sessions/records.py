"""The records of a transcript: one JSON object a line, read forward as a stream or backward.

Broken lines, lines without an object and a last line that is still being written are no records.
Memory holds one line at a time.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from pydantic_core import from_json

Record = dict[str, Any]

LONGEST_LINE = 64 << 20
"""Bytes; a longer line is skipped. The longest that Claude Code writes hold a few images."""

_CHUNK = 64 << 10


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and where it starts in the file."""

    offset: int
    data: bytes


def read_lines(file: BinaryIO, end: int) -> Iterator[Line]:
    """The lines that start before `end`, from the first on; what is appended later is left out."""
    offset = 0
    file.seek(0)
    while offset < end and (data := file.readline(LONGEST_LINE + 1)):
        start, offset = offset, offset + len(data)
        if data.endswith(b"\n"):
            yield Line(start, data[:-1])
        elif len(data) <= LONGEST_LINE:
            yield Line(start, data)
        else:
            offset += _skip_line(file)


def read_backward(file: BinaryIO, end: int) -> Iterator[bytes]:
    """The lines before `end`, from the last on, in chunks of 64 KiB."""
    pieces: list[bytes] = []  # of the line under way, the last one first
    while end > 0:
        size = min(_CHUNK, end)
        end -= size
        file.seek(end)
        first, *lines = file.read(size).split(b"\n")
        if lines:
            yield b"".join([lines.pop(), *reversed(pieces)])
            yield from reversed(lines)
            pieces = []
        pieces.append(first)
        if len(pieces) * _CHUNK > LONGEST_LINE:
            pieces = [b"\0"]  # makes the rest of the line no record either
    if pieces:
        yield b"".join(reversed(pieces))


def parse(line: bytes) -> Record | None:
    """The record of a line; lone surrogates, which no UTF-8 can hold, become U+FFFD."""
    try:
        record = from_json(line, allow_inf_nan=False)
    except ValueError:  # broken, or one of the things that the slower parser bears
        return _parse_tolerantly(line)
    return record if isinstance(record, dict) else None


def _parse_tolerantly(line: bytes) -> Record | None:
    try:
        record = _DECODER.decode(line.decode(errors="replace"))
        if not isinstance(record, dict):
            return None
        return _mend(record) if b"\\ud" in line or b"\\uD" in line else record
    except (ValueError, RecursionError):
        return None


def _skip_line(file: BinaryIO) -> int:
    """Move behind the end of the line and return the number of bytes that were left of it."""
    skipped = 0
    while data := file.readline(_CHUNK):
        skipped += len(data)
        if data.endswith(b"\n"):
            break
    return skipped


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _mend(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_mend(key): _mend(each) for key, each in value.items()}
        case list():
            return [_mend(each) for each in value]
        case _:
            return value
