"""Whose result is it? One pure decision for every `result` frame (M4.2)."""

from dataclasses import dataclass

from machines.events import Result
from machines.stops.ledger import Ledger
from machines.turns import steering
from machines.turns.turn import Turn
from machines.turns.turns import Turns

AUTONOMOUS_ORIGINS = frozenset({"task-notification", "peer", "coordinator", "observer", "observer-activity"})
"""Work that Claude Code started itself. Unknown origins count as the user's: a user's result that
is taken for autonomous would hang a prompt, the reverse is bounded."""


@dataclass(frozen=True, slots=True)
class Autonomous:
    """It ends work that Claude Code started itself; no turn changes by it (INV-T6)."""


@dataclass(frozen=True, slots=True)
class Own:
    """It is the result of these turns, in the order received."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Consumed:
    """It belongs to prompts that were answered before, or to nothing."""


Attribution = Autonomous | Own | Consumed


def attribute(result: Result, turns: Turns, ledger: Ledger) -> Attribution:
    """Decide by stamps first, then by what is known to run; consumes ledger entries."""
    named = [turn for turn in turns.named(result.uuids) if turn.phase != "held"]  # which has its result
    ledger.consume(result.uuids)  # also of prompts that were folded into other work and cancelled
    is_cycle = result.origin in AUTONOMOUS_ORIGINS
    if is_cycle:
        ledger.end_cycle()
    if is_cycle and not named:
        return Autonomous()
    if any(steering.is_repeated(turn, result) for turn in named):
        return Consumed()
    if named:
        return Own(tuple(named))
    if result.uuids:
        return Consumed()
    if turns.active is not None and turns.active.phase != "held":
        return Own((turns.active,))
    head = next((turn for turn in turns.waiting() if turn.is_written), None)
    if ledger.consume_unstamped(head.place if head is not None else None) or head is None:
        return Consumed()
    return Own((head,))
