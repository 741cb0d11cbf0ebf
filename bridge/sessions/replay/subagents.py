"""The subagents of a stored session: who they were and what they did.

Rules: `sessions` §8.4. Each has a transcript of its own beside that of the session, and a file
about its launch; one without that file was never described.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bridge.sessions.chain import Node, Transcript
from bridge.sessions.records import Record, parse
from bridge.sessions.replay.items import Item, UserText
from bridge.sessions.replay.reader import replay

_LONGEST_META = 256 << 10
_INHERITED = "<fork-boilerplate>"
_DIRECTIVE = "</fork-boilerplate>\nYour directive: "


@dataclass(frozen=True, slots=True)
class StoredSubagent:
    """A subagent; what its launch did not say is None."""

    agent_id: str
    transcript: Path
    call: str | None = None
    """The Agent or Task call that started it."""
    role: str | None = None
    name: str | None = None
    description: str | None = None
    model: str | None = None
    was_stopped: bool = False
    """The user stopped it."""

    @property
    def is_fork(self) -> bool:
        """It began with the conversation of its parent."""
        return self.role == "fork"


def stored_subagents(transcript: Path) -> tuple[StoredSubagent, ...]:
    """The subagents of the session with this transcript, by id; those with a file about them in full.

    No symlink is followed: it may lead out of Claude Code's folder.
    """
    folder = transcript.with_suffix("") / "subagents"
    if folder.is_symlink() or folder.parent.is_symlink():
        return ()
    files = (path for path in folder.glob("agent-*.jsonl") if path.is_file() and not path.is_symlink())
    return tuple(_subagent(path) for path in sorted(files))


def replay_subagent(
    subagent: StoredSubagent, transcript: Transcript, only: Callable[[Node], bool] | None = None
) -> Iterator[Item]:
    """The items of its own conversation; a fork's begins with its directive.

    `only`: which records matter, of one that is no fork.
    """
    items = replay(transcript, of_agent=True, only=None if subagent.is_fork else only)
    if not subagent.is_fork or not any(_is_inherited(item) for item in replay(transcript, of_agent=True)):
        yield from items
        return
    own = False
    for item in items:
        if isinstance(item, UserText) and _is_inherited(item):
            own = True
            yield UserText(item.message_id, item.text.partition(_DIRECTIVE)[2] or item.text)
        elif own:
            yield item


def _is_inherited(item: Item) -> bool:
    return isinstance(item, UserText) and item.text.startswith(_INHERITED)


def _subagent(transcript: Path) -> StoredSubagent:
    launch = _launch(transcript.with_suffix(".meta.json"))
    return StoredSubagent(
        agent_id=transcript.stem.removeprefix("agent-"),
        transcript=transcript,
        call=_text(launch, "toolUseId"),
        role=_text(launch, "agentType"),
        name=_text(launch, "name"),
        description=_text(launch, "description"),
        model=_text(launch, "model"),
        was_stopped=launch.get("stoppedByUser") is True,
    )


def _launch(path: Path) -> Record:
    if path.is_symlink() or not path.is_file():  # a pipe would never end
        return {}
    try:
        with path.open("rb") as file:
            return parse(file.read(_LONGEST_META)) or {}
    except OSError:
        return {}


def _text(launch: Record, key: str) -> str | None:
    value = launch.get(key)
    return value.strip() or None if isinstance(value, str) else None
