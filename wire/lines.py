"""Bytes to lines and messages to bytes, without any I/O.

A line ends at LF and nowhere else: U+2028 and its like are legal inside a JSON string. Rules:
`acp-wire` §5.1 (limits, text) and §5.3.
"""

import json
from dataclasses import dataclass

MAX_LINE = 32 * 1024 * 1024
"""Bytes of the longest line that is read, its end not counted."""


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line beyond the limit; it was thrown away."""

    limit: int


Line = str | Oversize


class LineSplitter:
    """Collects bytes and gives the lines that they complete; blank ones are left out."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._discarding = False

    def feed(self, data: bytes) -> list[Line]:
        """The lines that end in `data`, and a report as soon as one is too long."""
        unseen = len(self._buffer)
        self._buffer += data
        lines: list[Line] = []
        start = 0
        while (end := self._buffer.find(b"\n", max(start, unseen))) >= 0:
            self._take(start, end, lines)
            start = end + 1
        del self._buffer[:start]
        self._bound(lines)
        return lines

    def close(self) -> list[Line]:
        """The last line, when the input ended without one more LF."""
        lines: list[Line] = []
        self._take(0, len(self._buffer), lines)
        self._buffer.clear()
        return lines

    def _take(self, start: int, end: int, lines: list[Line]) -> None:
        if self._discarding:
            self._discarding = False
            return
        if self._buffer.endswith(b"\r", start, end):
            end -= 1
        if end - start > self._limit:
            lines.append(Oversize(self._limit))
            return
        # Never bytes to `json.loads`: it would guess at UTF-16 and UTF-32.
        line = self._buffer[start:end].decode("utf-8", "replace").removeprefix("\ufeff")
        if line.strip(" \t\r"):
            lines.append(line)

    def _bound(self, lines: list[Line]) -> None:
        """Throw away what has already grown too long; a CR at the end may belong to its LF."""
        if len(self._buffer) - self._buffer.endswith(b"\r") > self._limit and not self._discarding:
            self._discarding = True
            lines.append(Oversize(self._limit))
        if self._discarding:
            self._buffer.clear()


_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def encode(message: object) -> bytes:
    """One line of UTF-8 with its LF.

    A lone surrogate has no UTF-8, so such a message is written in ASCII escapes. Raises
    ValueError, TypeError or RecursionError for what is no JSON, or too deep to write.
    """
    try:
        return (_COMPACT.encode(message) + "\n").encode()
    except UnicodeEncodeError:
        return (_ASCII.encode(message) + "\n").encode()
