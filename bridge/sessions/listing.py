"""The pages of `session/list`: which sessions there are, read from the ends of their files.

Rules: `sessions` §6. The order needs the files' times alone; only the files of a page are opened,
and only those that have changed since the last time.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final

from bridge.sessions.folders import StoredFile, canonical, stored_files
from bridge.sessions.records import Record, parse
from bridge.sessions.replay.cleaning import between
from bridge.sessions.titles import shown_title

PAGE: Final = 1000
"""Sessions on a page (SE-053)."""

_END: Final = 64 << 10
"""Bytes read at either end of a file."""

_LONGEST_PROMPT = 200
_NO_PROMPT = re.compile(
    r"<(?:local-command-stdout|session-start-hook|tick|goal)>"
    r"|\[Request interrupted by user[^\]]*\]"
    r"|\s*<(ide_opened_file|ide_selection)>.*</\1>\s*\Z",
    re.DOTALL,
)


class UnknownCursorError(ValueError):
    """The cursor is none that a page has given (SE-056); the argument is the cursor."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the ends of a transcript tell; `given_title` is the user's, `made_title` Claude's."""

    cwd: str | None
    given_title: str | None
    made_title: str | None
    first_prompt: str | None
    last_prompt: str | None

    @property
    def title(self) -> str | None:
        """The best name there is; None for a file that holds no conversation."""
        return self.given_title or self.made_title or self.last_prompt or self.first_prompt


@dataclass(frozen=True, slots=True)
class Row:
    """A listed session; `updated_at` is ISO 8601 with milliseconds and `Z`."""

    session_id: str
    cwd: str
    title: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Page:
    """Rows, the newest first, and where to go on; no cursor on the last page (SE-054)."""

    rows: tuple[Row, ...]
    next_cursor: str | None


class SessionList:
    """The list of one projects folder; it remembers what it has read by path, time and size."""

    def __init__(self, projects: Path) -> None:
        self._projects = projects
        self._known: dict[str, tuple[int, int, Summary | None]] = {}

    def page(self, cwd: str | None = None, cursor: str | None = None) -> Page:
        """The page behind a cursor, of all sessions or of exactly one directory (SE-053 … SE-056).

        Raises `UnknownCursorError`.
        """
        start = _offset(cursor)
        files = self._files(cwd)
        directory = None if cwd is None else canonical(cwd)
        rows: list[Row] = []
        for place, row in self._rows(files[start:], directory):
            if len(rows) == PAGE:
                return Page(tuple(rows), f"offset:{start + place}")
            rows.append(row)
        return Page(tuple(rows), None)

    def _files(self, cwd: str | None) -> list[StoredFile]:
        """One file a session, the newest first, always in the same order."""
        newest: dict[str, StoredFile] = {}
        for file in stored_files(self._projects, cwd):
            if file.session_id not in newest or file.changed > newest[file.session_id].changed:
                newest[file.session_id] = file
        if cwd is None:
            present = {file.path for file in newest.values()}
            self._known = {path: known for path, known in self._known.items() if path in present}
        return sorted(newest.values(), key=lambda file: (-file.changed, file.session_id))

    def _rows(self, files: list[StoredFile], directory: str | None) -> Iterator[tuple[int, Row]]:
        places: dict[str, str] = {}
        for place, file in enumerate(files):
            summary = self._summary(file)
            if summary is None or summary.cwd is None or summary.title is None:
                continue
            if summary.cwd not in places:
                places[summary.cwd] = canonical(summary.cwd)
            if directory is None or places[summary.cwd] == directory:
                yield (
                    place,
                    Row(file.session_id, summary.cwd, shown_title(summary.title), iso_time(file.changed)),
                )

    def _summary(self, file: StoredFile) -> Summary | None:
        known = self._known.get(file.path)
        if known is None or known[:2] != (file.changed, file.size):
            known = (file.changed, file.size, read_summary(file.path))
            self._known[file.path] = known
        return known[2]


def read_summary(path: str | Path) -> Summary | None:
    """What the first and the last 64 KiB tell; None for a subagent's file or one that cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(_END)
            size = file.seek(0, 2)
            file.seek(max(0, size - _END))
            tail = file.read(_END) if size > _END else head
    except OSError:
        return None
    prompt = _first_prompt(head)
    placed = chain(_records(head, b'"cwd"'), _backward(tail, b'"cwd"'))
    first = next((record for record in placed if _text(record, "cwd")), {})
    if first.get("isSidechain"):
        return None
    return Summary(
        cwd=_text(first, "cwd"),
        given_title=_last(tail, "customTitle") or _last(head, "customTitle"),
        made_title=_last(tail, "aiTitle") or _last(head, "aiTitle"),
        first_prompt=prompt,
        last_prompt=_last(tail, "lastPrompt") or _last(tail, "summary"),
    )


def stored_title(transcript: Path) -> tuple[str, str] | None:
    """The title of a stored session and when it was stored; None while it has none."""
    summary = read_summary(transcript)
    with suppress(OSError):
        if summary is not None and summary.title is not None:
            return summary.title, iso_time(transcript.stat().st_mtime_ns)
    return None


def iso_time(nanoseconds: int) -> str:
    """A time since the epoch, to the nearest millisecond: `2026-11-30T10:20:11.457Z`."""
    seconds, rest = divmod(nanoseconds + 500_000, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{rest // 10**6:03}Z"


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not re.fullmatch(r"offset:[0-9]{1,4000}", cursor):  # Python reads no longer number
        raise UnknownCursorError(cursor)
    return int(cursor.removeprefix("offset:"))


def _first_prompt(head: bytes) -> str | None:
    """The first thing that the user wrote; a command only if there is nothing else."""
    command: str | None = None
    for record in _records(head, b'"user"'):
        if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary"):
            continue
        for text in _texts(record):
            if name := between(text, "<command-name>", "</command-name>"):
                command = command or name
            elif not _NO_PROMPT.match(text):
                return text if len(text) <= _LONGEST_PROMPT else f"{text[:_LONGEST_PROMPT].rstrip()}…"
    return command


def _texts(record: Record) -> Iterator[str]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
        if isinstance(text, str) and text.strip():
            yield text.replace("\n", " ").strip()


def _last(chunk: bytes, key: str) -> str | None:
    """The last text under a key of a record itself."""
    mark = f'"{key}"'.encode()
    return next((text for record in _backward(chunk, mark) if (text := _text(record, key))), None)


def _records(chunk: bytes, mark: bytes) -> Iterator[Record]:
    """The records with a mark, in their order; lines cut by the chunk's ends are none."""
    if mark in chunk:
        yield from (record for line in chunk.split(b"\n") if mark in line and (record := parse(line)))


def _backward(chunk: bytes, mark: bytes) -> Iterator[Record]:
    """The records with a mark, from the last on."""
    end = len(chunk)
    while (at := chunk.rfind(mark, 0, end)) >= 0:
        start = chunk.rfind(b"\n", 0, at) + 1
        stop = chunk.find(b"\n", at)
        if record := parse(chunk[start : stop if stop >= 0 else len(chunk)]):
            yield record
        end = start


def _text(record: Record, key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value.strip() else None
