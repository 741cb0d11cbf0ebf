"""The unanswered prompts of a session, in the order in which they were received (plain data)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from machines.events import CommandState
from machines.outputs import Failure, FailureKind
from machines.turns.turn import Turn

ENDS = frozenset({"completed", "cancelled", "discarded", "refused"})
"""The states of `command_lifecycle` after which no output of the message follows."""

NO_RESULT = "The turn ended without a result: Claude Code went idle before it answered."
LOST = Failure(FailureKind.NO_RESULT, NO_RESULT)
"""What becomes of a prompt that Claude Code is done with and did not answer (M4.6)."""


@dataclass(slots=True)
class Turns:
    """Which prompts wait, and which of them the conversation's output belongs to."""

    by_uuid: dict[str, Turn] = field(default_factory=dict)
    received: int = 0
    """How many there were so far."""
    active: Turn | None = None
    """The one turn that output belongs to (INV-T3)."""
    started: set[str] = field(default_factory=set)
    """Claude Code took them up."""
    steered: dict[str, Turn] = field(default_factory=dict)
    """The turn that each steering message was added to."""
    finished: dict[str, CommandState] = field(default_factory=dict)
    """How Claude Code was done with them; their result may still come (M4.1)."""

    def __iter__(self) -> Iterator[Turn]:
        return iter(tuple(self.by_uuid.values()))

    def __len__(self) -> int:
        return len(self.by_uuid)

    def get(self, uuid: str) -> Turn | None:
        """The unanswered prompt of that id."""
        return self.by_uuid.get(uuid)

    def by_message(self, uuid: str) -> Turn | None:
        """The unanswered prompt that a message is, or was added to."""
        return self.by_uuid.get(uuid) or self.steered.get(uuid)

    def named(self, uuids: Iterable[str]) -> list[Turn]:
        """The prompts that have no outcome yet, by their ids or by what was added to them, as received."""
        wanted = [self.by_message(uuid) for uuid in uuids]
        return [turn for turn in self if turn in wanted and turn.phase != "settling"]

    def with_batch(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """With the prompts that are answered with them, in the order received."""
        uuids = {uuid for turn in turns for uuid in (turn.uuid, *turn.batch)}
        return tuple(turn for turn in self if turn.uuid in uuids)

    def waiting(self) -> list[Turn]:
        """Every prompt but the active one that has no outcome yet, in the order received."""
        return [turn for turn in self if turn is not self.active and turn.phase != "settling"]

    def settling(self) -> list[Turn]:
        """Those whose outcome is known, and not yet answered."""
        return [turn for turn in self if turn.phase == "settling"]

    def following(self) -> Turn | None:
        """The first that Claude Code has taken up beside the active one, or next."""
        return next((turn for turn in self if turn.is_taken_up), None)

    def done(self, but: Sequence[Turn] = ()) -> list[Turn]:
        """Those that Claude Code is done with; without a result by now there will be none."""
        open_turns = [turn for turn in self if turn.phase != "settling" and turn not in but]
        return [turn for turn in open_turns if self._is_finished(turn)]

    def is_done(self, turn: Turn) -> bool:
        """Claude Code is done with the active one as far as it took it up, and the result has not come."""
        taken_up = {turn.uuid, *(turn.steers & self.started)}
        return turn.phase in {"working", "steered"} and self.finished.keys() >= taken_up

    def _is_finished(self, turn: Turn) -> bool:
        return self.finished.keys() >= {turn.uuid, *turn.waiting_steers}

    def spawn(self, agent: str) -> None:
        """A subagent began, or runs again: the turn that runs waits for it."""
        if self.active is not None:
            self.active.spawned.add(agent)

    def add(self, turn: Turn) -> None:
        """Take in a prompt."""
        self.received += 1
        turn.place = self.received
        self.by_uuid[turn.uuid] = turn

    def steer(self, steer: str, turn: Turn) -> None:
        """A message was added to a turn."""
        self.steered[steer] = turn
        turn.steers.add(steer)
        turn.waiting_steers.add(steer)

    def steers_of(self, turn: Turn) -> list[str]:
        """What was added to a turn and no result names yet, as received."""
        return [
            steer
            for steer, steered in self.steered.items()
            if steered is turn and steer in turn.waiting_steers
        ]

    def is_added(self, uuid: str) -> bool:
        """The message was added to a turn whose outcome is not known yet."""
        turn = self.steered.get(uuid)
        return turn is not None and turn.phase != "settling"

    def answer_steers(self, uuids: Iterable[str]) -> None:
        """A result names added messages, or they will never run."""
        for uuid in uuids:
            if (turn := self.steered.get(uuid)) is not None:
                turn.waiting_steers.discard(uuid)

    def forget(self, uuid: str) -> None:
        """What Claude Code said of a message does not count any more."""
        self.started.discard(uuid)
        self.finished.pop(uuid, None)

    def drop(self, turn: Turn) -> None:
        """Forget an answered prompt."""
        self.by_uuid.pop(turn.uuid, None)
        for steer in turn.steers:
            self.steered.pop(steer, None)
            self.forget(steer)
        self.forget(turn.uuid)
        self.release(turn)

    def release(self, turn: Turn) -> None:
        """No more output belongs to the turn."""
        if self.active is turn:
            self.active = None
