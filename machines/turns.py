"""The unanswered prompts of a session, in the order in which they were received (plain data)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from machines.turn import Turn


@dataclass(slots=True)
class Turns:
    """Which prompts wait, and which of them the conversation's output belongs to."""

    by_uuid: dict[str, Turn] = field(default_factory=dict)
    active: Turn | None = None
    """The one turn that output belongs to (INV-T3)."""
    started: set[str] = field(default_factory=set)
    """Claude Code took them up."""
    finished: set[str] = field(default_factory=set)
    """Claude Code is done with them; their result may still come (M4.1)."""

    def __iter__(self) -> Iterator[Turn]:
        return iter(tuple(self.by_uuid.values()))

    def __len__(self) -> int:
        return len(self.by_uuid)

    def get(self, uuid: str) -> Turn | None:
        """The unanswered prompt of that id."""
        return self.by_uuid.get(uuid)

    def named(self, uuids: Iterable[str]) -> list[Turn]:
        """Those of the ids that are unanswered prompts, in the order received."""
        wanted = set(uuids)
        return [turn for turn in self if turn.uuid in wanted]

    def waiting(self) -> list[Turn]:
        """Every prompt but the active one, in the order received."""
        return [turn for turn in self if turn is not self.active]

    def add(self, turn: Turn) -> None:
        """Take in a prompt."""
        self.by_uuid[turn.uuid] = turn

    def drop(self, turn: Turn) -> None:
        """Forget an answered prompt."""
        self.by_uuid.pop(turn.uuid, None)
        self.started.discard(turn.uuid)
        self.finished.discard(turn.uuid)
        if self.active is turn:
            self.active = None
