"""The comparison as a person reads it: per scenario, what differs field by field."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, assert_never

from tests.compare.normalise import Entry

ABSENT = "absent"
_FIELDS = 20
"""Fields that are shown of a message that one side alone has."""
_VALUE = 70
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs, a message that only one side has (no field), or one at another place."""

    title: str
    side: Literal["both", "reference", "ours", "moved"] = "both"
    path: str = ""
    reference: str = ""
    ours: str = ""
    entry: Entry | None = None
    """The whole message of one side."""


def differences(reference: Sequence[Entry], ours: Sequence[Entry]) -> list[str]:
    """Lines that tell how two runs differ; none if they do not. A failed run is not compared."""
    return lines(find(reference, ours))


def lines(found: Sequence[Difference]) -> list[str]:
    """Differences as a person reads them, those of one message under its title."""
    told: list[str] = []
    for title, group in groupby(found, lambda one: (one.title, one.side)):
        for at, difference in enumerate(group):
            match difference.side:
                case "both":
                    told += ([f"  ≠ {title[0]}"] if at == 0 else []) + [*_field(difference)]
                case "moved":
                    told.append(f"  ↕ at another place: {difference.title}")
                case "reference" | "ours":
                    told += _alone(difference)
                case _:
                    assert_never(difference.side)
    return told


def find(reference: Sequence[Entry], ours: Sequence[Entry]) -> list[Difference]:
    """How two runs differ; of a run that failed only the failure is told."""
    failures = [_only("reference", entry) for entry in reference if entry.failed]
    failures += [_only("ours", entry) for entry in ours if entry.failed]
    if failures:
        return failures
    matcher = SequenceMatcher(
        None, [entry.title for entry in reference], [entry.title for entry in ours], False
    )
    found: list[Difference] = []
    gone: list[Entry] = []
    new: list[Entry] = []
    for tag, start, end, our_start, our_end in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(reference[start:end], ours[our_start:our_end], strict=True)
            found += [one for left, right in pairs for one in _fields(left, right)]
        else:
            gone += reference[start:end]
            new += ours[our_start:our_end]
    for entry in gone:
        moved = next((other for other in new if other.title == entry.title), None)
        if moved is None:
            found.append(_only("reference", entry))
        else:
            new.remove(moved)
            found += [Difference(entry.title, "moved"), *_fields(entry, moved)]
    return found + [_only("ours", entry) for entry in new]


def _only(side: Literal["reference", "ours"], entry: Entry) -> Difference:
    return Difference(entry.title, side, entry=entry)


def _fields(reference: Entry, ours: Entry) -> Iterator[Difference]:
    for path in {**reference.fields, **ours.fields}:
        left, right = reference.fields.get(path, ABSENT), ours.fields.get(path, ABSENT)
        if left != right:
            yield Difference(reference.title, "both", path, left, right)


def _field(difference: Difference) -> Iterator[str]:
    left, right = _apart(difference.reference, difference.ours)
    yield f"      {difference.path.removeprefix('params.update.').removeprefix('params.')}"
    yield f"        reference  {left}"
    yield f"        ours       {right}"


def _apart(left: str, right: str) -> tuple[str, str]:
    """Both values, cut so that the first difference is seen."""
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    start = max(0, same - _VALUE // 2) if max(len(left), len(right)) > _VALUE else 0
    return _cut(left, start), _cut(right, start)


def _cut(value: str, start: int) -> str:
    shown = value[start : start + _VALUE]
    return ("…" if start else "") + shown + ("…" if start + _VALUE < len(value) else "")


def _alone(difference: Difference) -> Iterator[str]:
    side, entry = difference.side, difference.entry
    yield f"  {'−' if side == 'reference' else '+'} only {side}: {difference.title}"
    fields = entry.fields.items() if entry else ()
    shown = [f"{path.removeprefix('params.update.')}={_cut(value, 0)}" for path, value in fields]
    hidden = ("method", "params.sessionId", "sessionUpdate", "toolCallId", "response")
    shown = [field for field in shown if not field.startswith(hidden)]
    yield from (f"      {field}" for field in shown[:_FIELDS])
    if len(shown) > _FIELDS:
        yield f"      … and {len(shown) - _FIELDS} fields more"
