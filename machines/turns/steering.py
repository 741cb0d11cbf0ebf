"""What is said beside a running turn: messages that are added to it, and prompts that begin (M4.3, M4.5).

When Claude Code has an added message, when its end is the turn's end, and who shares its work.
"""

from collections.abc import Iterable

from machines.events import Result
from machines.feed import Feed
from machines.outputs import Outcome
from machines.turns.turn import BreakOff, PickUp, Turn, Unsteer
from machines.turns.turns import Turns


def pick_up(feed: Feed, turns: Turns, uuids: Iterable[str], *, marked: bool) -> None:
    """Claude Code has added messages: their result is still to come.

    It names them only in a process that is `marked`: in another one the echo is all that tells.
    """
    for uuid in uuids:
        turn = turns.steered.get(uuid)
        if turn is not None:
            if turn.phase == "steer_pending":
                feed(turn, PickUp())
            if not marked:
                turns.answer_steers([uuid])


def ends_turn(feed: Feed, turns: Turns, turn: Turn, result: Result, outcome: Outcome) -> bool:
    """Whether a result of a steered turn is its end: it names the last message that was added.

    Any other is the half that a message interrupted; its outcome is kept in case nothing follows.
    """
    if not result.uuids and turn.phase == "steer_pending":  # a command that was not even echoed
        turns.answer_steers(turns.steers_of(turn)[:1])
    turns.answer_steers(result.uuids)
    if not turn.waiting_steers and any(uuid in turn.steers for uuid in result.uuids):
        feed(turn, Unsteer())
        return True
    interrupted = outcome.failure is not None or result.aborted
    feed(turn, BreakOff(Outcome() if interrupted else outcome))
    return False


def is_repeated(turn: Turn, result: Result) -> bool:
    """It is a half that was broken off once more: it names nothing that still waits."""
    return is_broken_off(turn) and turn.waiting_steers.isdisjoint(result.uuids)


def is_answered(turn: Turn) -> bool:
    """Nothing that was added still waits, and a result came after the last of it was picked up."""
    return turn.phase == "steer_pending" and not turn.waiting_steers


def folds_into(active: Turn, *, marked: bool) -> bool:
    """Claude Code takes it into the work that runs; a `marked` process names both in one result."""
    return marked and active.phase in {"working", "steered"}


def may_share(active: Turn, *, marked: bool) -> bool:
    """It may run together with what was added to the turn; the request for both tells, or for one."""
    return marked and is_broken_off(active)


def is_broken_off(turn: Turn) -> bool:
    """A result of the turn came, and what was added to it was not taken up yet."""
    return turn.phase == "steer_pending" and bool(turn.waiting_steers)
