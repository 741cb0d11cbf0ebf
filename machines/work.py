"""Whose output it is and when it ends: turns, the foreground, the cancel window (M4 … M7).

Plain code between machines: it decides which machine sees which event in which order.
"""

from collections.abc import Iterable

from machines.asks import Asks
from machines.attribution import Autonomous, Consumed, Own, attribute
from machines.calls import Calls
from machines.cancel import Cancel, EndReported, Renew, Stop
from machines.events import CommandMoved, Requesting, Result, Timer
from machines.feed import Feed
from machines.foreground import (
    CycleStarted,
    Foreground,
    RequestOpened,
    RequestsClosed,
    TurnInserted,
    WorkEnded,
)
from machines.ledger import Ledger
from machines.outcome import outcome_of
from machines.outputs import (
    CancelMessage,
    Failure,
    FailureKind,
    Interrupt,
    Outcome,
    ShowResult,
    StartTimer,
    StopTimer,
)
from machines.query import DIED
from machines.tool_call import STUCK, Occasion
from machines.turn import Activate, Conclude, Dispatch, Fail, Reported, Send, Turn, Withdraw
from machines.turns import Turns
from machines.usage import Tally, Usage

NO_RESULT = "The turn ended without a result: Claude Code went idle before it answered."

ENDS = frozenset({"completed", "cancelled", "discarded", "refused"})
"""The states of `command_lifecycle` after which no output of the message follows."""


class Work:
    """The turns of one session and the work of its Claude Code process."""

    def __init__(self, feed: Feed, calls: Calls, asks: Asks) -> None:
        self._feed = feed
        self._calls = calls
        self._asks = asks
        self.turns = Turns()
        self.foreground = Foreground(*feed.listeners("Foreground"))
        self.cancel = Cancel(*feed.listeners("Cancel"))
        self._ledger = Ledger()
        self._tally = Tally()
        self._owed = 0  # idles that belong to results already seen (M4.6)
        self._unowed = 0  # idles that nothing explains, while a turn is active
        self._marked = False  # this process sends lifecycle frames: a capability, latched

    def begin_process(self, *, resumed: bool) -> None:
        """A new process serves the session: nothing of the old one counts."""
        self._tally = Tally(totals=None if resumed else {})
        self._ledger.clear()
        self._owed = self._unowed = 0
        self._marked = False
        self._feed(self.cancel, Renew())
        self._calls.forget_dropped()

    # ── prompts ──

    def receive(self, uuid: str) -> Turn:
        """Take in a prompt."""
        turn = Turn(uuid, *self._feed.listeners(f"Turn:{uuid}"))
        self.turns.add(turn)
        return turn

    def send_waiting(self) -> None:
        """Write every prompt that waited for a process."""
        for turn in self.turns:
            if turn.phase == "received":
                self._feed(turn, Send())

    def fail_received(self, failure: Failure) -> None:
        """Answer every prompt that waited for a process in vain."""
        for turn in self.turns:
            if turn.phase == "received":
                self._fail(turn, failure)

    # ── frames that tell where a message is ──

    def move_command(self, event: CommandMoved) -> None:
        """Follow `command_lifecycle` of a message."""
        self._marked = True
        turn = self.turns.get(event.uuid)
        if turn is None:
            self._move_orphan(event)
        elif event.state == "started":
            self.turns.started.add(event.uuid)
            self._take_up(turn)
        elif event.state in ENDS:
            self.turns.finished.add(event.uuid)

    def request(self, event: Requesting) -> None:
        """An API request starts; prompts that it names together are one batch (M4.3)."""
        named = self.turns.named(event.uuids)
        for turn in named:
            self._take_up(turn)
        if named or self.turns.active is not None:
            return
        if self._ledger.is_empty and not any(uuid in self._ledger for uuid in event.uuids):
            self._feed(self.cancel, Renew())

    def echo(self, uuid: str) -> None:
        """Claude Code replayed a message; with another turn active it was folded into it, or follows it."""
        turn = self.turns.get(uuid)
        active = self.turns.active
        if turn is None or turn is active:
            return
        if active is not None and not self._folds_into(active):
            self._owed += self.cancel.in_effect
            self._settle([active], Outcome("cancelled" if self.cancel.in_effect else "end_turn"))
        self._take_up(turn)

    def note_message(self, *, root: bool) -> None:
        """A message starts; without a turn it is work that Claude Code started itself (M5)."""
        queued = any(turn.phase == "queued" for turn in self.turns)
        if root and self.foreground.is_idle and self.cancel.admits_new and (self._marked or not queued):
            self._feed(self.foreground, CycleStarted())

    # ── results and idles ──

    def take_result(self, result: Result) -> None:
        """Give a result to whom it belongs (M4.2)."""
        attribution = attribute(result, self.turns, self._ledger)
        self._owed += 1
        match attribution:
            case Autonomous():
                self._tally.read(result.usage, result.model_usage, own=False)
                outcome = outcome_of(result, cancelled=self.cancel.in_effect)
                self._feed.put(ShowResult(result, outcome))
                if result.num_turns > 0:
                    self._end_cycle(outcome)
            case Consumed():
                self._tally.read(result.usage, result.model_usage, own=False)
                if result.aborted or self.cancel.phase == "draining":
                    self._end_cycle(Outcome("cancelled"))
            case Own(turns):
                self._take_own_result(result, turns)

    def idle(self) -> None:
        """Claude Code has nothing to do: what is still open then never ends by itself (M4.6)."""
        if self._owed == 0:
            self._end_cycle(Outcome("cancelled" if self.cancel.in_effect else "end_turn"))
        active = self.turns.active
        if active is not None and self.cancel.in_effect:
            self._settle([active], Outcome("cancelled"))
        elif self._owed:
            self._owed -= 1
        elif active is not None:
            self._idle_without_result(active)
        else:
            for turn in self.turns:
                if turn.uuid in self.turns.finished:
                    self._fail(turn, Failure(FailureKind.NO_RESULT, NO_RESULT))

    def run(self) -> None:
        """Claude Code works: an idle to come belongs to this work."""
        self._owed = 0

    # ── cancel ──

    def cancel_all(self, *, connected: bool) -> None:
        """`session/cancel`: everything received so far ends as cancelled (M6)."""
        active = self.turns.active
        if not connected or (active is None and not len(self.turns) and self.foreground.is_idle):
            self._withdraw(self.turns.waiting())
            return
        self._feed(self.cancel, Stop())
        self._asks.cancel_all()
        self.sync_requests(withdrawn=True)
        self._withdraw(self.turns.waiting())
        if active is not None:
            self._feed.put(StartTimer(Timer.FORCE_CANCEL))
        elif self.foreground.is_idle:
            self._feed(self.cancel, EndReported())
        self._feed.put(Interrupt(cancel_queued=True))

    def cancel_one(self, uuid: str) -> None:
        """`$/cancel_request` of one prompt; no other prompt's answer changes by it (INV-X5)."""
        turn = self.turns.get(uuid)
        if turn is None:
            return
        if turn is self.turns.active:
            self._cancel_active(turn)
            return
        written = turn.phase != "received"
        self._withdraw([turn])
        if written:
            self._feed.put(CancelMessage(uuid))

    def force_cancel(self) -> None:
        """Claude Code did not react to the interrupt in time."""
        active = self.turns.active
        if active is not None and self.cancel.in_effect:
            self._ledger.orphan(active.uuid, started=True)
            self._settle([active], Outcome("cancelled"))

    # ── the end of the process or of the session ──

    def finish(self, failure: Failure | None) -> bool:
        """The process is gone: answer everything, in the order of the finish rules (M3).

        `failure` is None after a clean end. Returns whether a prompt was answered with it.
        """
        cancelled = self.cancel.in_effect
        self._asks.lose_all()
        self.sync_requests(withdrawn=True)
        self._calls.close_all(Occasion.CANCELLED if cancelled else Occasion.LOST)
        active = self.turns.active
        outcome = Outcome("cancelled") if cancelled else Outcome(failure=failure)
        self._end_work(outcome)
        if active is not None:
            self._conclude([active], outcome)
        lost = failure or Failure(FailureKind.TRANSPORT_LOST, DIED)
        waiting = [turn for turn in self.turns if turn.phase != "received"]
        for turn in waiting:
            self._fail(turn, lost)
        self._feed.put(StopTimer(Timer.FORCE_CANCEL))
        return bool(waiting) or (active is not None and not cancelled)

    def close(self) -> None:
        """The session closes: everything ends as cancelled, queued prompts first (M2.2)."""
        active = self.turns.active
        self._asks.lose_all()
        self.sync_requests(withdrawn=True)
        self._calls.close_all(Occasion.CANCELLED)
        self._withdraw(self.turns.waiting())
        self._end_work(Outcome("cancelled"))
        if active is not None:
            self._conclude([active], Outcome("cancelled"))
        self._feed.put(StopTimer(Timer.FORCE_CANCEL))

    def sync_requests(self, *, withdrawn: bool = False) -> None:
        """Tell the foreground whether it waits for the user (INV-F4)."""
        if self._asks.any_open:
            self._feed(self.foreground, RequestOpened())
        else:
            self._feed(self.foreground, RequestsClosed(withdrawn))

    # ── steps ──

    def _take_up(self, turn: Turn) -> None:
        if turn.phase not in {"queued", "dispatched"}:
            return
        if self.turns.active is None:
            self._activate(turn)
        else:
            self._feed(turn, Dispatch())

    def _activate(self, turn: Turn) -> None:
        self._feed(turn, Activate())
        self.turns.active = turn
        self._feed(self.cancel, Renew())
        self._ledger.clear()
        self._calls.forget_dropped()
        self._tally.begin()
        self._unowed = 0
        self._feed(self.foreground, TurnInserted())
        if self._asks.any_open:
            self._feed(self.foreground, RequestOpened())

    def _folds_into(self, active: Turn) -> bool:
        """A process that stamps its results names both prompts in the one that they share."""
        return self._marked and active.phase == "working" and not self.cancel.in_effect

    def _take_own_result(self, result: Result, turns: tuple[Turn, ...]) -> None:
        active = self.turns.active
        if active is not None and active not in turns:
            self._settle(
                [active], Outcome("cancelled" if self.cancel.in_effect else "end_turn"), promote=False
            )
            active = self.turns.active
        if active is None:
            self._activate(turns[0])
        self._tally.read(result.usage, result.model_usage, own=True)
        outcome = outcome_of(result, cancelled=self.cancel.in_effect)
        self._feed.put(ShowResult(result, outcome, turns[0].uuid))
        self._settle(turns, outcome)

    def _settle(self, turns: Iterable[Turn], outcome: Outcome, *, promote: bool = True) -> None:
        """Answer turns whose outcome is known: calls first, then the work's end, then the answers."""
        if outcome.stop_reason == "cancelled":
            self._calls.close_all(Occasion.CANCELLED)
        elif self._calls.close_all(Occasion.TURN_ENDED) and outcome == Outcome():
            outcome = Outcome(failure=Failure(FailureKind.INCOMPLETE_CALL, STUCK))
        self._end_work(outcome)
        self._conclude(turns, outcome)
        self._unowed = 0
        if promote:
            self._promote()

    def _conclude(self, turns: Iterable[Turn], outcome: Outcome) -> None:
        """Answer in the order received; what was used is told once, on the last (M4.3)."""
        members = [turn for turn in turns if not turn.is_terminated]
        for turn in members:
            self._feed(turn, Conclude(outcome, self._usage() if turn is members[-1] else None))
            self._feed(turn, Reported())
            self.turns.drop(turn)

    def _end_work(self, outcome: Outcome) -> None:
        if not self.foreground.is_idle:
            self._feed(self.foreground, WorkEnded(outcome))
        if self.cancel.in_effect:
            self._feed(self.cancel, EndReported())
            self._feed.put(StopTimer(Timer.FORCE_CANCEL))

    def _promote(self) -> None:
        """Output now belongs to the next prompt that Claude Code has taken up."""
        for turn in self.turns:
            if turn.phase == "dispatched":
                self._activate(turn)
                return

    def _end_cycle(self, outcome: Outcome) -> None:
        if not self.foreground.is_cycle:
            return
        if self.cancel.in_effect:
            self._calls.close_all(Occasion.CANCELLED)
        else:
            self._calls.close_abandoned()
        self._end_work(outcome)

    def _idle_without_result(self, active: Turn) -> None:
        """The result may still be on its way, unless this idle is the second, or the message is done."""
        if self._marked and active.uuid not in self.turns.finished and not self._unowed:
            self._unowed += 1
            return
        self._settle([active], Outcome(failure=Failure(FailureKind.NO_RESULT, NO_RESULT)))

    def _withdraw(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            if turn.phase != "received":
                self._ledger.orphan(turn.uuid, started=turn.uuid in self.turns.started)
            self._feed(turn, Withdraw())
            self.turns.drop(turn)

    def _cancel_active(self, turn: Turn) -> None:
        batch = [other for other in self.turns.waiting() if other.phase == "dispatched"]
        if batch:
            self._conclude([turn], Outcome("cancelled"))
            self.turns.active = batch[0]
            self._feed(batch[0], Activate())
            return
        self._feed(self.cancel, Stop())
        self._asks.cancel_all()
        self.sync_requests(withdrawn=True)
        self._feed.put(StartTimer(Timer.FORCE_CANCEL))
        self._feed.put(Interrupt(cancel_queued=False))

    def _move_orphan(self, event: CommandMoved) -> None:
        """A message whose prompt was answered starts after all: stop it and drop its output."""
        known = event.uuid in self._ledger
        self._ledger.move(event.uuid, event.state)
        if known and event.state == "started" and self.turns.active is None:
            self._feed(self.cancel, Stop())
            self._feed(self.cancel, EndReported())
            self._feed.put(Interrupt(cancel_queued=False))

    def _fail(self, turn: Turn, failure: Failure) -> None:
        self._feed(turn, Fail(failure))
        self.turns.drop(turn)

    def _usage(self) -> Usage | None:
        return self._tally.usage()
