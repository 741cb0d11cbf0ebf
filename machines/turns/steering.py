"""Messages that the user adds to a running turn: when its end is the turn's end (M4.5, plain decisions)."""

from machines.events import Result
from machines.outputs import Outcome
from machines.turns.turn import Turn
from machines.turns.turns import Turns


def pick_up(turns: Turns, uuid: str) -> None:
    """Claude Code has an added message: its own result is still to come."""
    turn = turns.steered.get(uuid)
    if turn is not None:
        turn.answered_since = False


def ends_turn(turns: Turns, turn: Turn, result: Result, outcome: Outcome) -> bool:
    """Whether a result of a steered turn is its end: it names the last message that was added.

    Any other is the half that a message interrupted; its outcome is kept in case nothing follows.
    """
    for uuid in result.uuids:
        turns.answer_steer(uuid)
    if not turn.waiting_steers and any(uuid in turn.steers for uuid in result.uuids):
        return True
    interrupted = outcome.failure is not None or result.aborted
    turn.outcome = Outcome() if interrupted else outcome
    turn.answered_since = True
    return False


def is_answered(turn: Turn) -> bool:
    """Nothing that was added still waits, and a result came after the last of it was picked up."""
    return turn.answered_since and not turn.waiting_steers
