"""What the doctor found, row by row: as a table that is readable without colours, or as JSON.

Everything leaves through `Report`, which hides the secrets that it is told of.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TextIO

Status = Literal["ok", "warning", "failed"]

_NAMES = 22
_LONGEST = 300
_SHORTEST_SECRET = 4
_HIDDEN = "[hidden]"
_SECRET_SHAPES = re.compile(r"(?<=://)[^/@\s]+@|\bsk-ant-[\w-]+|(?<=Bearer )\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One check; the remedy is one sentence, and there is one unless all is well."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None


def ok(name: str, detail: str) -> Row:
    """A check that found nothing wrong."""
    return Row(name, "ok", detail)


def warning(name: str, detail: str, remedy: str) -> Row:
    """Something that works, but perhaps not as expected."""
    return Row(name, "warning", detail, remedy)


def failed(name: str, detail: str, remedy: str) -> Row:
    """Something that does not work."""
    return Row(name, "failed", detail, remedy)


class Report:
    """Writes the rows: each at once as lines of a table, or all at the end as one JSON object."""

    def __init__(self, out: TextIO, secrets: Iterable[str], *, as_json: bool) -> None:
        self.rows: list[Row] = []
        self._out = out
        self._as_json = as_json
        known = sorted((text for text in secrets if len(text) >= _SHORTEST_SECRET), key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, known))) if known else None

    @property
    def is_well(self) -> bool:
        """Nothing failed."""
        return all(row.status != "failed" for row in self.rows)

    def add(self, row: Row) -> None:
        """One more row, without secrets."""
        row = replace(row, detail=self._clean(row.detail), remedy=row.remedy and self._clean(row.remedy))
        self.rows.append(row)
        if not self._as_json:
            self._write(f"{row.status:<9}{row.name:<{_NAMES}}{row.detail}\n")
            if row.remedy:
                self._write(f"{'':9}{'':{_NAMES}}-> {row.remedy}\n")

    def finish(self) -> int:
        """End the report; the exit status, 0 when nothing failed."""
        if self._as_json:
            rows = [
                {"name": row.name, "status": row.status, "detail": row.detail}
                | ({"remedy": row.remedy} if row.remedy else {})
                for row in self.rows
            ]
            self._write(json.dumps({"ok": self.is_well, "rows": rows}, indent=2) + "\n")
        else:
            counts = [(sum(row.status == each for row in self.rows), each) for each in _ORDER]
            self._write("\n" + ", ".join(f"{count} {each}" for count, each in counts if count) + "\n")
        return 0 if self.is_well else 1

    def _clean(self, text: str) -> str:
        """One line of printable text without secrets."""
        if self._secrets is not None:
            text = self._secrets.sub(_HIDDEN, text)
        text = _SECRET_SHAPES.sub(_HIDDEN, text)
        line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "utf-8"
        self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._out.flush()


_ORDER: tuple[Status, ...] = ("failed", "warning", "ok")
