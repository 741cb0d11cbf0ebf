"""Transcripts like those of Claude Code 2.1, made from nothing: for tests and for benchmarks.

Ids, texts and times follow from a seed, so the same call makes the same bytes.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from bridge.sessions.folders import canonical
from bridge.sessions.listing import iso_time

Json = dict[str, Any]

MODEL = "claude-opus-5-5"
WORDS = ("the", "build", "needs", "a", "file", "that", "nobody", "has", "written", "yet", "and", "says", "so")


def identity(number: int, seed: int = 0) -> str:
    """A UUID of version 4 for a number."""
    return f"{number:08x}-0000-4000-8000-{seed:012x}"


@dataclass
class History:
    """A conversation under way; each method appends records and moves the leaf."""

    session_id: str
    cwd: str = "/home/u/proj"
    seed: int = 0
    records: list[Json] = field(default_factory=list)
    leaf: str | None = None
    made: int = 0
    makers: dict[str, str] = field(default_factory=dict)
    """Which record made each call."""

    def add(self, kind: str, *, parent: str | object | None = ..., **fields: Any) -> Json:
        """A record on the chain, a child of the leaf unless the parent is given."""
        self.made += 1
        record = {
            "parentUuid": self.leaf if parent is ... else parent,
            "isSidechain": False,
            "type": kind,
            "uuid": identity(self.made, self.seed),
            "timestamp": iso_time((1_790_000_000 + self.made) * 10**9),
            **fields,
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": "2.1.332",
        }
        self.records.append(record)
        self.leaf = record["uuid"]
        return record

    def note(self, kind: str, **fields: Any) -> Json:
        """A record beside the chain."""
        record = {"type": kind, **fields, "sessionId": self.session_id}
        self.records.append(record)
        return record

    def prompt(self, content: Any, mode: str | None = "default", **fields: Any) -> Json:
        """What the user sent."""
        known = {"permissionMode": mode} if mode else {}
        message = {"role": "user", "content": content}
        return self.add("user", message=message, **{"origin": {"kind": "human"}, **known, **fields})

    def answer(
        self, *blocks: Json | str, model: str = MODEL, message_id: str | None = None, **fields: Any
    ) -> str:
        """An answer, a record a block, all with the id that is returned."""
        message_id = message_id or f"msg_{self.seed}_{self.made}"
        for block in blocks:
            content = [{"type": "text", "text": block} if isinstance(block, str) else block]
            message = {"id": message_id, "role": "assistant", "model": model, "content": content}
            record = self.add("assistant", message=message, **fields)
            self.makers[content[0].get("id", "")] = record["uuid"]
        return message_id

    def results(self, *calls: str, text: str = "done") -> None:
        """The results of calls, each a child of the record that made its call; the last one is the leaf."""
        for call in calls:
            content = [{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": False}]
            message = {"role": "user", "content": content}
            self.add("user", parent=self.makers[call], message=message, toolUseResult={"stdout": text})

    def compact(self, summary: str, preserved: Sequence[str] = ()) -> None:
        """A compaction, with what it keeps word for word."""
        boundary = self.add("system", parent=None, subtype="compact_boundary", logicalParentUuid=self.leaf)
        text = (
            "This session is being continued from a previous conversation that ran out of context.\n\n"
            f"Summary:\n{summary}\n\nContinue the conversation from where it left off."
        )
        record = self.add("user", message={"role": "user", "content": text}, isCompactSummary=True)
        if preserved:
            boundary["compactMetadata"] = {
                "preservedMessages": {"anchorUuid": record["uuid"], "uuids": [*preserved]}
            }

    def lines(self) -> list[bytes]:
        """The lines of the file, without their ends."""
        return [json.dumps(record, separators=(",", ":")).encode() for record in self.records]

    def write(self, path: Path, changed: float | None = None) -> Path:
        """Store the transcript, with the time of its last change in seconds."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in self.lines()))
        if changed is not None:
            os.utime(path, (changed, changed))
        return path


def call(call_id: str, name: str = "Bash", /, **given: Any) -> Json:
    """The block of a tool call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def folder_of(projects: Path, cwd: str) -> Path:
    """The project folder of a directory with a short and plain path."""
    return projects / "".join(char if char.isalnum() and char.isascii() else "-" for char in canonical(cwd))


def store(projects: Path, history: History, changed: float | None = None) -> Path:
    """Store a transcript where Claude Code would."""
    return history.write(folder_of(projects, history.cwd) / f"{history.session_id}.jsonl", changed)


def write_many(
    projects: Path, sessions: int = 2_000, cwds: Iterable[str] = ("/home/u/a", "/home/u/b")
) -> None:
    """Many stored sessions of a few turns, spread over the directories; every tenth time occurs twice."""
    places = [*cwds]
    for number in range(sessions):
        random = Random(number)
        history = History(identity(number, 1), places[number % len(places)], seed=number)
        history.note("queue-operation", operation="enqueue", content=_prose(random, 20))
        for _ in range(random.randrange(1, 5)):
            history.prompt(_prose(random, 20))
            history.answer(_prose(random, 200))
        history.note("last-prompt", lastPrompt=_prose(random, 10))
        if number % 2:
            history.note("ai-title", aiTitle=f"Session {number}")
        store(projects, history, changed=1_790_000_000 + number - number % 10 // 9)


def write_long(path: Path, megabytes: float = 20, messages: int = 5_000, seed: int = 0) -> Path:
    """One stored session of so many prompts, answers and results, of about this size."""
    history = History(path.stem, seed=seed)
    random = Random(seed)
    size = max(1, int(megabytes * 1_000_000 / messages) - 600)
    while len(history.records) < messages:
        history.prompt(_prose(random, 30))
        history.answer(
            {"type": "thinking", "thinking": _prose(random, 20), "signature": "c2ln"}, _text(random, size)
        )
        calls = [f"toolu_{history.made}_{k}" for k in range(random.randrange(4))]
        history.answer("I look.", *(call(each, command="ls") for each in calls))
        history.results(*calls, text=_text(random, size * 2))
        history.answer(_text(random, size))
    return history.write(path)


def _prose(random: Random, words: int) -> str:
    return " ".join(random.choices(WORDS, k=words))


def _text(random: Random, size: int) -> str:
    line = _prose(random, 16) + "\n"
    return (line * (size // len(line) + 1))[:size]
