"""Exact git patches of one file (`tool-calls` §7.2).

A patch is exact: `git apply` makes the new text from the old one, byte for byte. Whatever cannot
have such a patch gets none, and its caller shows the standard diff.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from bridge.diffs.files import fits, utf8_size
from bridge.diffs.matching import Alignment

Json = dict[str, Any]
Clock = Callable[[], float]

BUDGET: Final = 0.1
"""Seconds that comparing two texts may take (TC-178)."""

_CONTEXT = 3
_NO_NEWLINE = "\n\\ No newline at end of file"
_ESCAPES = {ord(char): rf"\{name}" for char, name in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)}


@dataclass(frozen=True, slots=True)
class Patch:
    """The text of a patch and the line of the new file at which each of its hunks starts."""

    text: str
    lines: tuple[int, ...]


def git_patch(path: str, old: str | None, new: str, clock: Clock = time.monotonic) -> str | None:
    """The text of the exact patch from `old` (None: no such file) to `new`; None if there is none."""
    patch = build_patch(path, old, new, clock)
    return None if patch is None else patch.text


def build_patch(path: str, old: str | None, new: str, clock: Clock = time.monotonic) -> Patch | None:
    """As `git_patch`, with the places of the hunks.

    None when the texts are equal, an empty file is created, a text has a CR, is above 1 MiB or is
    no valid text, or comparing takes longer than the budget.
    """
    if (old or "") == new or not fits(old or "") or not fits(new) or utf8_size(path) is None:
        return None
    try:
        hunks = _hunks(old, new, clock)
    except _OverBudgetError:
        return None
    body = "".join(f"{text}\n" for _, text in hunks)
    return Patch(_headers(path, created=old is None) + body, tuple(line for line, _ in hunks))


def patch_block(path: str, text: str) -> Json:
    """The `diff` content block whose payload is the patch; its text fields are placeholders."""
    payload = {"version": 1, "format": "git_patch", "text": text}
    return {
        "type": "diff",
        "path": path,
        "oldText": None,
        "newText": "",
        "_meta": {"jetbrains": {"air": {"version": 1, "diffPatch": payload}}},
    }


def _headers(path: str, *, created: bool) -> str:
    old, new = _name("a", path), _name("b", path)
    tab = "\t" if " " in new else ""
    kind, source = ("new file mode 100644\n", "/dev/null") if created else ("", old + tab)
    return f"diff --git {old} {new}\n{kind}--- {source}\n+++ {new}{tab}\n"


def _name(side: str, path: str) -> str:
    """The name as git prints it with its default `core.quotePath`.

    A path that starts with a slash is no Windows path: a backslash in it is part of a name.
    """
    slashed = path if path.startswith("/") else path.replace("\\", "/")
    name = f"{side}/{slashed.lstrip('/')}"
    if not re.search(r'["\\\x00-\x1f\x7f]|[^\x00-\x7f]', name):
        return name
    quoted = (
        _ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in name.encode()
    )
    return f'"{"".join(quoted)}"'


class _OverBudgetError(Exception):
    """Comparing took too long."""


@lru_cache(maxsize=4)  # the preview and the final patch compare the same texts
def _hunks(old: str | None, new: str, clock: Clock) -> tuple[tuple[int, str], ...]:
    """Each hunk with its first line in the new file; raises `_OverBudgetError`."""
    deadline = clock() + BUDGET

    def check() -> None:
        if clock() > deadline:
            raise _OverBudgetError

    alignment = Alignment(_lines(old or ""), _lines(new), check)
    return tuple(_hunk(alignment, group) for group in alignment.get_grouped_opcodes(_CONTEXT))


def _hunk(alignment: Alignment, group: list[tuple[str, int, int, int, int]]) -> tuple[int, str]:
    start, end, new_start, new_end = group[0][1], group[-1][2], group[0][3], group[-1][4]
    lines = [f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"]
    for tag, a, a_end, b, b_end in group:
        if tag == "equal":
            lines += (f" {line}" for line in alignment.a[a:a_end])
        else:
            lines += (f"-{line}" for line in alignment.a[a:a_end])
            lines += (f"+{line}" for line in alignment.b[b:b_end])
    return new_start + 1, "\n".join(lines)


def _range(start: int, end: int) -> str:
    """Lines `start` to `end`, counted from 0 and half open, in the words of a hunk header."""
    match end - start:
        case 0:
            return f"{start},0"
        case 1:
            return f"{start + 1}"
        case count:
            return f"{start + 1},{count}"


def _lines(text: str) -> list[str]:
    """The lines that `\\n` ends; a last line without one holds the marker, so it equals no other."""
    lines = text.split("\n")
    if last := lines.pop():
        lines.append(last + _NO_NEWLINE)
    return lines
