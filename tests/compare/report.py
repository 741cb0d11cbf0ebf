"""The comparison as a person reads it: per scenario, what differs field by field."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from tests.compare.normalise import Entry

_VALUE = 70
"""Characters of a value that are shown."""


def differences(reference: Sequence[Entry], ours: Sequence[Entry]) -> list[str]:
    """Lines that tell how two runs differ; none if they do not. A failed run is not compared."""
    failures = [
        (side, entry)
        for side, run in (("reference", reference), ("ours", ours))
        for entry in run
        if entry.failed
    ]
    if failures:
        return [line for side, entry in failures for line in _alone(side, entry)]
    matcher = SequenceMatcher(
        None, [entry.title for entry in reference], [entry.title for entry in ours], False
    )
    lines: list[str] = []
    gone: list[Entry] = []
    new: list[Entry] = []
    for tag, start, end, our_start, our_end in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(reference[start:end], ours[our_start:our_end], strict=True)
            lines += [line for left, right in pairs for line in _fields(left, right)]
        else:
            gone += reference[start:end]
            new += ours[our_start:our_end]
    for entry in gone:
        moved = next((other for other in new if other.title == entry.title), None)
        if moved is None:
            lines += _alone("reference", entry)
        else:
            new.remove(moved)
            lines += [f"  ↕ at another place: {entry.title}", *_fields(entry, moved)]
    return lines + [line for entry in new for line in _alone("ours", entry)]


def _fields(reference: Entry, ours: Entry) -> Iterator[str]:
    paths = [
        path
        for path in {**reference.fields, **ours.fields}
        if reference.fields.get(path) != ours.fields.get(path)
    ]
    if not paths:
        return
    yield f"  ≠ {reference.title}"
    for path in paths:
        left, right = reference.fields.get(path, "absent"), ours.fields.get(path, "absent")
        left, right = _apart(left, right)
        yield f"      {path.removeprefix('params.update.').removeprefix('params.')}"
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


def _alone(side: str, entry: Entry) -> Iterator[str]:
    yield f"  {'−' if side == 'reference' else '+'} only {side}: {entry.title}"
    shown = [
        f"{path.removeprefix('params.update.')}={_cut(value, 0)}" for path, value in entry.fields.items()
    ]
    hidden = ("method", "params.sessionId", "sessionUpdate", "toolCallId", "response")
    for field in shown:
        if not field.startswith(hidden):
            yield f"      {field}"
