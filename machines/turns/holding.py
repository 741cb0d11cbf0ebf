"""Turns that wait for the subagents they started (the hold of M4, plain decisions)."""

from collections.abc import Sequence

from machines.tasks.live_tasks import LiveTasks
from machines.turns.turn import Turn


def waits(turns: Sequence[Turn], tasks: LiveTasks) -> bool:
    """A subagent that one of the turns started still runs in the background."""
    return any(tasks.holds(turn.spawned) for turn in turns)


def is_free(turn: Turn | None, tasks: LiveTasks) -> bool:
    """The turn is held, and nothing that it started runs any more."""
    return turn is not None and turn.phase == "held" and not tasks.holds(turn.spawned)


def leave_to_last(turns: Sequence[Turn]) -> Turn:
    """Of prompts that share a result, the last one waits for what any of them started."""
    *others, last = turns
    for turn in others:
        last.spawned |= turn.spawned
    return last
