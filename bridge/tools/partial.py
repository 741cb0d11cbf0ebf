"""Complete members of a tool input whose JSON still streams (`tool-calls` §4.10).

Each fragment is scanned once and each member parsed once, so a stream costs what its length costs.
"""

import json
import re
from dataclasses import dataclass, field

from bridge.tools.facts import Json

_IN_STRING = re.compile(r'["\\]')
_BETWEEN = re.compile(r'["{}\[\],]')


@dataclass(slots=True)
class InputScan:
    """Reads one input; knows every member that a top-level comma has closed."""

    closed: bool = False
    """The object is complete, or it is no JSON that could become complete."""
    _members: dict[str, object] = field(default_factory=dict)
    _pending: list[str] = field(default_factory=list)
    """The text since the last top-level comma."""
    _in_string: bool = False
    _escaped: bool = False
    _braces: int = 0
    _brackets: int = 0

    def feed(self, fragment: str) -> Json | None:
        """The members so far when this fragment completed one and the object stays open."""
        grew, start, at = False, 0, 0
        while not self.closed and (at := self._next(fragment, at)):
            mark = fragment[at - 1]
            if self._in_string or mark == '"':
                self._quote(mark)
            elif mark in "{}":
                self._brace(mark)
                if mark == "{" and self._braces == 1:
                    start = at
            elif mark in "[]":
                self._brackets += 1 if mark == "[" else -1
            elif self._braces == 1 and self._brackets == 0:
                self._pending.append(fragment[start : at - 1])
                self._take_member()
                grew, start = True, at
        if self.closed:
            return None
        if self._braces:
            self._pending.append(fragment[start:])
        return dict(self._members) if grew else None

    def _next(self, fragment: str, at: int) -> int:
        """The place behind the next character that means something; 0 when there is none."""
        if self._escaped and at < len(fragment):
            self._escaped = False
            at += 1
        found = (_IN_STRING if self._in_string else _BETWEEN).search(fragment, at)
        return found.end() if found else 0

    def _quote(self, mark: str) -> None:
        if mark == "\\":
            self._escaped = True
        else:
            self._in_string = not self._in_string

    def _brace(self, mark: str) -> None:
        self._braces += 1 if mark == "{" else -1
        self.closed = self._braces <= 0

    def _take_member(self) -> None:
        member = "".join(self._pending)
        self._pending.clear()
        try:
            found = json.loads(f"{{{member}}}", parse_constant=_no_json)
        except (ValueError, RecursionError):
            found = {}
        self.closed = not found
        self._members.update(found)


def _no_json(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


@dataclass(slots=True)
class PartialInputs:
    """The inputs that stream now, by lane (a subagent's, or the main one) and block."""

    _scans: dict[tuple[str | None, int], tuple[str, InputScan]] = field(default_factory=dict)

    def begin(self, lane: str | None, index: int, call: str) -> None:
        """A block starts to stream the input of a call."""
        self._scans[lane, index] = (call, InputScan())

    def feed(self, lane: str | None, index: int, fragment: str) -> tuple[str, Json] | None:
        """The call and its members so far, when the fragment completed one."""
        if (lane, index) not in self._scans:
            return None
        call, scan = self._scans[lane, index]
        members = scan.feed(fragment)
        if scan.closed:
            self.end(lane, index)
        return None if members is None else (call, members)

    def end(self, lane: str | None, index: int) -> None:
        """The block is over."""
        self._scans.pop((lane, index), None)

    def clear(self, lane: str | None) -> None:
        """A message begins or ends: none of its blocks streams any more."""
        for key in [key for key in self._scans if key[0] == lane]:
            del self._scans[key]
