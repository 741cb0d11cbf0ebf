"""How work is stopped: by a cancel, by the end of its process, by the close of its session (M6, M3, M2.2)."""

from collections.abc import Iterable, Sequence

from machines.companions.companions import Companions
from machines.events import CommandMoved, Timer
from machines.feed import Feed
from machines.outputs import CancelMessage, Failure, FailureKind, Interrupt, Outcome, StartTimer, StopTimer
from machines.permissions.asks import Asks
from machines.process.query import DIED
from machines.stops.cancel import EndReported, Stop
from machines.stops.ledger import BEHIND_ALL, CYCLE, Entry, Orphan
from machines.tools.calls import Calls
from machines.tools.tool_call import Occasion
from machines.turns import steering
from machines.turns.turn import Activate, Join, Turn, Withdraw
from machines.turns.work import Work


class Stops:
    """Ends the work of one session."""

    def __init__(self, feed: Feed, work: Work, calls: Calls, asks: Asks, companions: Companions) -> None:
        self._feed = feed
        self._work = work
        self._calls = calls
        self._asks = asks
        self._companions = companions

    # ── cancel ──

    def cancel_all(self, *, connected: bool, restarting: bool = False) -> None:
        """`session/cancel`: everything received so far ends as cancelled (M6)."""
        work = self._work
        active = work.turns.active
        if active is not None and restarting:
            self._withdraw(work.turns.waiting())
            work.settle([active], Outcome("cancelled"))
            return
        quiet = active is None and not len(work.turns) and work.foreground.is_idle and not work.tasks.by_id
        if not connected or quiet:
            self._withdraw(work.turns.waiting())
            return
        self._feed(work.cancel, Stop())
        self._stop_asking()
        work.children.cancel()
        self._companions.interrupted()
        self._end_all_but(active)
        if active is not None:
            self._disown_steers(active)
            self._release(active)
        if work.turns.active is not None:
            self._feed.put(StartTimer(Timer.FORCE_CANCEL))
        elif work.foreground.is_idle:
            self._feed(work.cancel, EndReported())
        work.ledger.stop()
        self._feed.put(Interrupt(cancel_queued=True))

    def cancel_one(self, uuid: str) -> None:
        """`$/cancel_request` of one prompt; no other prompt's answer changes by it (INV-X5)."""
        turn = self._work.turns.get(uuid)
        if turn is None:
            return
        if turn.phase == "settling":
            self._answer_cancelled(turn, alone=True)
            self._work.answers.give()
            self._work.promote()
            return
        if turn is self._work.turns.active:
            self._cancel_active(turn)
            return
        written, taken_up = turn.phase != "received", turn.is_taken_up
        self._withdraw([turn], alone=True)
        if written:
            self._feed.put(CancelMessage(uuid))
        if taken_up:  # and it runs, unless it waits for another one or shares its turn
            self._hide_orphan()
            self.stop_orphan([uuid])

    def force(self) -> None:
        """Claude Code did not react to the interrupt in time."""
        work, active = self._work, self._work.turns.active
        if active is not None and work.cancel.in_effect:
            running = CYCLE if _has_result(active) else active.uuid
            if work.turns.finished.get(running) in {None, "cancelled"}:  # else no result will come
                work.ledger.add(running, Orphan(active.place, "started"))
            work.settle([active], Outcome("cancelled"))

    def move_orphan(self, event: CommandMoved) -> None:
        """A message whose prompt was answered starts after all: nothing of it is shown."""
        work = self._work
        if work.turns.get(event.uuid) is not None:
            return
        known = event.uuid in work.ledger
        work.ledger.move(event.uuid, event.state)
        if event.state != "started":
            return
        if known:
            self._hide_orphan()
        elif (
            work.turns.active is None
            and not work.turns.is_added(event.uuid)
            and not work.ledger.may_run(marked=True)
        ):
            work.renew()  # what was added to a turn and left by it runs now, for itself

    def echo_orphan(self, uuid: str) -> None:
        """The same where no lifecycle frames tell: the echo is the start, and nothing runs beside it."""
        work = self._work
        if work.marked:
            return
        if uuid in work.ledger:
            work.ledger.move(uuid, "started")
            self._hide_orphan()
            self.stop_orphan([uuid])
        elif work.turns.active is None and not work.turns.is_added(uuid):
            work.ledger.add(uuid, Orphan(0, "started"))  # its turn ended without it: so will its result

    def stop_orphan(self, uuids: Sequence[str]) -> None:
        """A prompt that was cancelled alone runs alone: an interrupt meets nobody else (M6.1)."""
        work = self._work
        if work.turns.active is not None:
            return
        if uuids and work.ledger.may_run(uuids, marked=work.marked):
            self._hide_orphan()
        if work.ledger.stop(uuids):
            self._feed.put(Interrupt(cancel_queued=False))

    # ── the end of the process or of the session ──

    def finish(self, failure: Failure | None) -> bool:
        """The process is gone: answer everything, in the order of the finish rules (M3).

        `failure` is None after a clean end. Returns whether a prompt was answered with it.
        """
        work = self._work
        cancelled = work.cancel.in_effect
        self._companions.interrupted()
        self._companions.command_dropped(None)
        self._asks.lose_all()
        work.sync_requests(withdrawn=True)
        self._calls.close_all(Occasion.CANCELLED if cancelled else Occasion.LOST)
        work.children.lose(cancelled=cancelled)
        active = work.turns.active
        lost = failure or Failure(FailureKind.TRANSPORT_LOST, DIED)
        outcome = self._last_outcome(active, failure if active is not None else lost)
        work.end_work(outcome)
        if active is not None:
            if outcome == Outcome():  # there is nobody left to say which files changed
                self._companions.no_files(active.uuid, "providerError")
            work.conclude([active], outcome)
        for turn in work.turns.settling():
            work.answers.give_without_files(turn, "providerError")
        waiting = [turn for turn in work.turns if turn.phase != "received"]
        for turn in waiting:
            work.fail(turn, lost)
        self._feed.put(StopTimer(Timer.FORCE_CANCEL))
        return bool(waiting) or (active is not None and outcome.failure is not None)

    def close(self) -> None:
        """The session closes: everything ends as cancelled, queued prompts first (M2.2)."""
        work = self._work
        self._companions.interrupted()
        self._asks.lose_all()
        work.sync_requests(withdrawn=True)
        self._calls.close_all(Occasion.CANCELLED)
        work.children.lose(cancelled=True)
        self._end_all_but(work.turns.active)
        work.end_work(Outcome("cancelled"))
        if work.turns.active is not None:
            work.conclude([work.turns.active], Outcome("cancelled"))
        self._feed.put(StopTimer(Timer.FORCE_CANCEL))

    def replace(self, *, cancelled: bool) -> None:
        """Another process takes over: of this one nobody waits for anything (INV-S4)."""
        self._asks.lose_all()
        self._work.children.sync_requests((), withdrawn=True)
        if cancelled:
            self._calls.close_all(Occasion.CANCELLED)
        self._work.children.lose(cancelled=cancelled)

    # ── steps ──

    def _hide_orphan(self) -> None:
        work = self._work
        active = work.turns.active
        if active is not None and self._only_waits(active):
            work.hand_off(active)  # it is overtaken
        if work.turns.active is None and work.foreground.is_idle:
            self._feed(work.cancel, Stop())
            self._feed(work.cancel, EndReported())

    def _stop_asking(self) -> None:
        work = self._work  # whoever goes on in the background may turn out not to be stopped (INV-X4)
        self._asks.cancel_all(work.tasks.background_agents() if work.children.keeps_requests else ())
        self._work.sync_requests(withdrawn=True)

    def _release(self, active: Turn) -> None:
        """A turn that only waits is answered at once, with what it used (M6 step 7)."""
        if self._only_waits(active):
            self._work.owed += active.phase == "held"
            self._work.settle([active], Outcome("cancelled"))

    def _only_waits(self, active: Turn) -> bool:
        """Nothing of it runs in the foreground: neither its own work nor a follow-up of its subagents."""
        return _has_result(active) and not self._work.foreground.is_cycle

    def _end_all_but(self, active: Turn | None) -> None:
        """Answer what waits as received: for Claude Code, or for nothing but the files it changed."""
        for turn in self._work.turns:
            if turn.phase == "settling":
                self._answer_cancelled(turn)
            elif turn is not active:
                self._withdraw([turn])

    def _answer_cancelled(self, turn: Turn, *, alone: bool = False) -> None:
        self._disown_steers(turn, alone=alone)
        turn.outcome = Outcome("cancelled")
        self._work.answers.give_without_files(turn, "cancelled")

    def _cancel_active(self, turn: Turn) -> None:
        work = self._work
        shared = [other for other in work.turns.waiting() if other.uuid in turn.batch]
        for other in shared:  # they have their result
            self._feed(other, Join())
        work.conclude(shared, turn.outcome, counts=False)
        self._disown_steers(turn, alone=True)
        batch = [other for other in work.turns.waiting() if other.is_taken_up]
        if self._only_waits(turn) and (batch or steering.is_broken_off(turn)):
            work.settle([turn], Outcome("cancelled"))
            return
        if batch:
            work.conclude([turn], Outcome("cancelled"))
            work.turns.active = batch[0]
            batch[0].spawned |= turn.spawned  # in work that they share
            self._remember(turn.uuid, turn.place, alone=True)
            self._feed(batch[0], Activate())
            return
        self._feed(work.cancel, Stop())
        self._stop_asking()
        self._companions.interrupted()
        self._release(turn)
        if work.turns.active is turn:
            self._feed.put(StartTimer(Timer.FORCE_CANCEL))
        self._feed.put(Interrupt(cancel_queued=False))

    def _withdraw(self, turns: Iterable[Turn], *, alone: bool = False) -> None:
        """Answer prompts that never ran; unless one is cancelled `alone`, an interrupt stops them."""
        work = self._work
        for turn in turns:
            if turn.phase != "received":
                self._remember(turn.uuid, turn.place, alone=alone)
                self._disown_steers(turn, alone=alone)
            self._companions.no_files(turn.uuid, "cancelled")
            self._feed(turn, Withdraw())
            work.turns.drop(turn)

    def _disown_steers(self, turn: Turn, *, alone: bool = False) -> None:
        """What was added to a cancelled turn, and waits, ends with it (M6 step 2, M6.1)."""
        ledger = self._work.ledger
        for steer in [steer for steer in self._work.turns.steers_of(turn) if steer not in ledger]:
            if self._remember(steer, BEHIND_ALL, alone=alone) == "pending" and alone:
                self._feed.put(CancelMessage(steer))

    def _remember(self, uuid: str, place: int, *, alone: bool) -> Entry | None:
        """Note what Claude Code may still do with a message that it was sent; None if nothing (M7)."""
        turns = self._work.turns
        if any(uuid in turn.batch for turn in turns):
            return None  # its result came, and broke off with theirs
        started, finished = uuid in turns.started, turns.finished.get(uuid)
        entry: Entry
        if finished is None:
            entry = "started" if started else "pending"
        elif started and finished == "cancelled":
            entry = "zombie"
        else:
            return None
        self._work.ledger.add(uuid, Orphan(place, entry, stopped=not alone))
        return entry

    def _last_outcome(self, active: Turn | None, failure: Failure | None) -> Outcome:
        if self._work.cancel.in_effect:
            return Outcome("cancelled")
        if active is not None and active.phase == "held":
            return active.outcome
        return Outcome(failure=failure)


def _has_result(turn: Turn) -> bool:
    """A result of it came, and Claude Code does not work on anything else of it."""
    return turn.phase == "held" or steering.is_broken_off(turn)
