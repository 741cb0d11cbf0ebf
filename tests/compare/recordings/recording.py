"""A recording of the traffic of a client and an agent: one JSON object a line.

`{"t": 0.5, "dir": "c2a" | "a2c", "msg": {…}}`; `>`, `<`, the keys `d` and `o`, and times in milliseconds
are understood as well. What is neither of the two sides' is a note.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.support.rpc import Json

Side = Literal["client", "agent", "note"]

_SIDES: dict[str, Side] = {"c2a": "client", ">": "client", "a2c": "agent", "<": "agent"}
_MOST_SECONDS = 1000.0
"""No recording is that long: its times are milliseconds."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message, or a note; `at` is in seconds."""

    at: float
    side: Side
    body: Any


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded, in order."""

    name: str
    lines: Sequence[Line]

    def sent(self) -> Iterator[Json]:
        """Messages of the client."""
        return (line.body for line in self.lines if line.side == "client" and isinstance(line.body, dict))

    def told(self) -> Iterator[Json]:
        """Messages of the agent."""
        return (line.body for line in self.lines if line.side == "agent")

    def answered(self) -> Iterator[tuple[Json, Json]]:
        """Requests of the client with their responses."""
        asked: dict[Any, Json] = {}
        for line in self.lines:
            if not isinstance(line.body, dict) or "id" not in line.body:
                continue
            if line.side == "client" and "method" in line.body:
                asked[line.body["id"]] = line.body
            elif line.side == "agent" and "method" not in line.body and line.body["id"] in asked:
                yield asked.pop(line.body["id"]), line.body

    def made(self) -> set[str]:
        """Ids of the sessions that begin here."""
        begun = ("session/new", "session/fork")
        return {
            answer["result"]["sessionId"]
            for asked, answer in self.answered()
            if asked["method"] in begun
            and "result" in answer
            and answer["result"]["sessionId"] not in json.dumps(asked)
        }

    def needed(self) -> set[str]:
        """Ids of the sessions that it loads although they began elsewhere."""
        loads = ("session/load", "session/resume", "session/fork")
        loaded = (
            asked["params"].get("sessionId") if asked["method"] in loads else _resumed(asked)
            for asked, answer in self.answered()
            if asked["method"] in (*loads, "session/new") and "result" in answer
        )
        return {id for id in loaded if id is not None} - self.made()


def _resumed(asked: Json) -> str | None:
    """The session with which a new one is to go on."""
    meta = asked["params"].get("_meta") or {}
    resumed: str | None = (meta.get("claudeCode") or {}).get("options", {}).get("resume")
    return resumed


def read(path: Path) -> Recording:
    """The recording in a file; its name is the file's."""
    raw = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    lines = [
        Line(
            float(entry.get("t", 0)),
            *_told(entry.get("dir", entry.get("d")), entry.get("msg", entry.get("o"))),
        )
        for entry in raw
    ]
    if any(line.at > _MOST_SECONDS for line in lines):
        lines = [Line(line.at / 1000, line.side, line.body) for line in lines]
    return Recording(path.name.removesuffix(".jsonl"), lines)


def read_all(folder: Path) -> list[Recording]:
    """The recordings in a folder, by name; files of another kind are left out."""
    read_ones = (read(path) for path in sorted(folder.glob("*.jsonl")))
    return [one for one in read_ones if any(body.get("method") == "initialize" for body in one.sent())]


def before(recording: Recording, others: Iterable[Recording]) -> list[Recording]:
    """The recordings that must be driven first, because they make the sessions that this one loads."""
    chain: list[Recording] = []
    for other in others:
        if other.name != recording.name and other.made() & recording.needed():
            chain += [one for one in (*before(other, others), other) if one not in chain]
    return chain


def unmade(recording: Recording, others: Iterable[Recording]) -> set[str]:
    """Ids of the sessions that it loads and no recording makes."""
    return recording.needed().difference(*(other.made() for other in others))


def siblings(recording: Recording, others: Iterable[Recording]) -> list[Recording]:
    """The same scene with other kinds of clients: `scene.kind` is a recording's name."""
    scene, dot, _ = recording.name.partition(".")
    return [other for other in others if dot and other.name.startswith(scene + dot)]


def _told(side: str, body: Any) -> tuple[Side, Any]:
    """The side and the message; the end of the agent's output is a note."""
    known = _SIDES.get(side, "note")
    is_message = isinstance(body, dict) and "jsonrpc" in body
    return ("note" if known == "agent" and not is_message else known), body
