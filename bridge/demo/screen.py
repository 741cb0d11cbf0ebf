"""The tour on a terminal: the client in the left column, the agent in the right one, in plain text."""

import difflib
import os
import shutil
import textwrap
from collections.abc import Iterator
from typing import Literal, TextIO

Style = Literal["plain", "bold", "dim", "good", "bad", "client"]

_CODES: dict[Style, str] = {"plain": "", "bold": "1", "dim": "2", "good": "32", "bad": "31", "client": "36"}
_NARROWEST, _WIDEST = 60, 110
_CONTEXT = 2


class Screen:
    """Writes line by line, and word by word what is streamed; colours only on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._coloured = out.isatty() and "NO_COLOR" not in os.environ
        columns = shutil.get_terminal_size((88, 24)).columns
        self._width = min(max(columns, _NARROWEST), _WIDEST)
        self._left = self._width * 2 // 5
        self._right = self._width - self._left - 3
        self._streaming: Style | None = None
        self._column = 0
        """How much of the right column the open line has filled."""

    def heading(self, text: str) -> None:
        """A line over both columns, with space around it."""
        self._end_line()
        self._write(f"\n{self._styled(text, 'bold')}\n\n")

    def line(self, text: str, style: Style = "dim") -> None:
        """A line over both columns, as long as it is."""
        self._end_line()
        self._write(f"{self._styled(text, style)}\n")

    def client(self, text: str) -> None:
        """Something the client says."""
        self._end_line()
        for row in self._rows(text, self._left - 2):
            self._write(f"  {self._styled(row.ljust(self._left - 2), 'client')} │\n")

    def agent(self, text: str, style: Style = "plain") -> None:
        """Something the agent says, as whole lines."""
        self._end_line()
        for row in self._rows(text, self._right):
            self._write(f"{self._gutter()}{self._styled(row, style)}\n")

    def stream(self, text: str, style: Style = "plain") -> None:
        """The next piece of what the agent is saying; a change of style begins a new line."""
        if self._streaming != style:
            self._end_line()
            self._streaming = style
            self._open_line()
        for word in _words(text):
            if word == "\n" or self._column + len(word.rstrip()) > self._right:
                self._write("\n")
                self._open_line()
            if word != "\n":
                self._write(self._styled(word, style))
                self._column += len(word)

    def diff(self, path: str, old: str | None, new: str) -> None:
        """A change of a file, with a little context."""
        self.agent(path, "dim")
        before, after = (old or "").splitlines(), new.splitlines()
        for row in list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))[3:]:
            style: Style = "good" if row.startswith("+") else "bad" if row.startswith("-") else "dim"
            self.agent(row, style)

    def _rows(self, text: str, width: int) -> Iterator[str]:
        for line in text.split("\n"):
            yield from textwrap.wrap(line, width, replace_whitespace=False) or [""]

    def _gutter(self) -> str:
        return " " * (self._left + 1) + "│ "

    def _open_line(self) -> None:
        self._write(self._gutter())
        self._column = 0

    def _end_line(self) -> None:
        if self._streaming is not None:
            self._streaming = None
            self._write("\n")

    def _styled(self, text: str, style: Style) -> str:
        code = _CODES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self._coloured and code else text

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _words(text: str) -> Iterator[str]:
    """Words with the blanks behind them, and each line break on its own."""
    for at, line in enumerate(text.split("\n")):
        if at:
            yield "\n"
        word = ""
        for char in line:
            if word.endswith(" ") and char != " ":
                yield word
                word = ""
            word += char
        if word:
            yield word
