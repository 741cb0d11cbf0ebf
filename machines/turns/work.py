"""Whose output it is and when it ends: turns, the foreground, results and idles (M4, M5, M7).

Plain code between machines decides which sees which event in which order; `stops` stops work.
"""

from collections.abc import Iterable, Sequence

from machines.children.children import Children
from machines.companions.companions import Companions
from machines.events import CommandMoved, FilesPreviewed, Requesting, Result, Timer
from machines.feed import Feed
from machines.outputs import Failure, FailureKind, Outcome, ShowResult, StopTimer
from machines.permissions.asks import Asks
from machines.results.attribution import Autonomous, Consumed, Own, attribute
from machines.results.outcome import outcome_of
from machines.results.usage import Tally, Usage
from machines.stops.cancel import Cancel, EndReported, Renew
from machines.stops.ledger import Ledger
from machines.tasks.live_tasks import LiveTasks
from machines.tools.calls import Calls
from machines.tools.tool_call import STUCK, Occasion
from machines.tools.tool_events import ToolUse
from machines.turns import holding, steering
from machines.turns.answers import Answers
from machines.turns.foreground import (
    CycleStarted,
    Foreground,
    RequestOpened,
    RequestsClosed,
    TurnInserted,
    WorkEnded,
)
from machines.turns.turn import Activate, Conclude, Dispatch, Fail, Hold, Join, Steer, Turn
from machines.turns.turns import ENDS, LOST, Turns


class Work:
    """The turns of one session and the work of its Claude Code process."""

    def __init__(
        self, feed: Feed, calls: Calls, asks: Asks, companions: Companions, children: Children
    ) -> None:
        self._feed = feed
        self._calls = calls
        self._asks = asks
        self._companions = companions
        self.children = children
        self.turns = Turns()
        self.answers = Answers(feed, self.turns, companions)
        self.foreground = Foreground(*feed.listeners("Foreground"))
        self.cancel = Cancel(*feed.listeners("Cancel"))
        self.tasks = LiveTasks()
        self.ledger = Ledger()
        self.owed = self._unowed = 0  # idles that belong to results already seen, or to nothing (M4.6)
        self._tally = Tally()
        self.marked = False  # this process sends lifecycle frames: a capability, latched

    def begin_process(self, *, resumed: bool) -> None:
        """A new process serves the session: nothing of the old one counts."""
        self._tally = Tally(totals=None if resumed else {})
        self.ledger.clear()
        self.tasks.clear()
        self.owed, self._unowed, self.marked = 0, 0, False
        self.renew()
        self._calls.forget_dropped()
        self._companions.recover("runtime_rebind")

    def begin_continuation(self, result: Result) -> None:
        """The active turn goes on in a new process: what it used so far stays its own (INV-S4)."""
        self._tally.read(result.usage, result.model_usage, own=True)
        self._tally.rebase()
        self.tasks.clear()
        self.owed = self._unowed = 0

    @property
    def is_quiet(self) -> bool:
        """Nothing runs and no prompt that was written is unanswered."""
        written = any(turn.phase != "received" for turn in self.turns)
        return not written and self.foreground.is_idle

    def admits(self, parent: str | None) -> bool:
        """Whether new content may appear: none of stopped work, unless a subagent goes on (M6)."""
        if self.children.is_over(parent):
            return False
        return self.cancel.admits_new or (parent is not None and parent in self.tasks.background_calls())

    def renew(self) -> None:
        """Work begins that no cancel meant."""
        self._feed(self.cancel, Renew())
        self._companions.activated()

    # ── frames that tell where a message is ──

    def move_command(self, event: CommandMoved) -> None:
        """Follow `command_lifecycle` of a message."""
        self.marked = True
        turn = self.turns.by_message(event.uuid)
        if event.state == "started":
            self.run()
            self.turns.started.add(event.uuid)
            self._companions.command_started(event.uuid)
            steering.pick_up(self._feed, self.turns, [event.uuid], marked=True)
            if turn is not None:
                self._take_up(turn)
        elif event.state in ENDS:
            if event.uuid not in self.turns.started:
                self._companions.command_dropped(event.uuid)
                self.turns.answer_steers([event.uuid])
            if turn is not None:
                self.turns.finished[event.uuid] = event.state

    def request(self, event: Requesting) -> None:
        """An API request starts; prompts that it names together are one batch (M4.3)."""
        steering.pick_up(self._feed, self.turns, event.uuids, marked=True)
        named, active = self.turns.named(event.uuids), self.turns.active
        may_be_old = self.ledger.may_run(event.uuids, marked=self.marked)
        if active is not None and active not in named:
            overtaken = bool(named) and (active.phase == "held" or steering.is_broken_off(active))
            follows = named or active in self.turns.done() or (event.uuids and may_be_old)
            if overtaken or (follows and self._is_lost(active)):
                self.hand_off(active)
                self.conclude(self.turns.done(but=named), Outcome(failure=LOST), counts=False)
        for turn in named:
            self._take_up(turn, asked=True)
        if not named and self.turns.active is None and not may_be_old:
            self.renew()

    def echo(self, uuid: str) -> None:
        """Claude Code replayed a message; with another turn active it was folded into it, or follows it."""
        steering.pick_up(self._feed, self.turns, [uuid], marked=self.marked)
        turn, active = self.turns.by_message(uuid), self.turns.active
        if turn is None or not turn.is_written:
            return
        may_share = active is not None and steering.may_share(active, marked=self.marked)
        if active is not None and not (may_share or self._folds_into(active)):
            self.hand_off(active)
        self.answers.give_up_files()
        first = self.turns.following()
        if self.turns.active is None and first is not None and first.place < turn.place:
            self.activate(first)
        self._take_up(turn, asked=True)

    def note_message(self, lane: str | None) -> None:
        """A message starts; without a turn it is work that Claude Code started itself (M5)."""
        self.children.speak(lane)
        if lane is not None:
            return
        if self.turns.active is None and self.turns.following() is not None:
            self.answers.give_up_files()  # a command that asks no model: its output is all that tells
            self.promote()
        may_be_own = self.marked or not any(turn.phase == "queued" for turn in self.turns)
        active = self.turns.active  # which may wait for its message, that Claude Code did not take up
        waits = active is not None and steering.is_broken_off(active) and not self.foreground.is_cycle
        if may_be_own and (waits or self.foreground.is_idle) and self.cancel.admits_new:
            self._feed(self.foreground, CycleStarted())

    # ── results and idles ──

    def take_result(self, result: Result) -> None:
        """Give a result to whom it belongs (M4.2)."""
        self.owed += 1
        match attribute(result, self.turns, self.ledger):
            case Autonomous():
                used = self._tally.read(result.usage, result.model_usage, own=False)
                outcome = outcome_of(result, cancelled=self.cancel.in_effect)
                self._feed.put(ShowResult(result, outcome))
                if result.num_turns > 0:
                    if holding.is_free(self.turns.active, self.tasks):
                        self._calls.close_all(Occasion.TURN_ENDED, self.goes_on)
                    self.end_cycle(outcome, used)
                    self._release_held()
            case Consumed():
                used = self._tally.read(result.usage, result.model_usage, own=False)
                stopped = result.aborted or not self.cancel.admits_new
                self.end_cycle(outcome_of(result, cancelled=stopped), used)
            case Own(turns):
                self._take_own_result(result, turns)

    def idle(self) -> None:
        """Claude Code has nothing to do: what is still open then never ends by itself (M4.6)."""
        if self.owed == 0 and self.foreground.is_cycle:
            self.end_cycle(Outcome("cancelled" if self.cancel.in_effect else "end_turn"))
        active = self.turns.active
        if active is not None and self.cancel.in_effect:
            self.settle([active], Outcome("cancelled"))
        elif active is not None and active.phase == "held":
            self.owed = max(0, self.owed - 1)
            self._release_held()
        elif active is not None and active.is_steered:
            if steering.is_answered(active):
                self._end(self.turns.with_batch([active]), active.outcome)
            elif active in self.turns.done():
                self._settle_lost(active)
        elif self.owed and (active is None or active.uuid not in self.turns.finished):
            self.owed -= 1
        elif active is not None:
            self._idle_without_result(active)
        if self.turns.active is None:
            self.conclude(self.turns.done(), Outcome(failure=LOST), counts=False)

    def take_files(self, event: FilesPreviewed) -> None:
        """The list of the files that a turn changed may be all that it waited for (M14)."""
        self.answers.take_files(event)
        self.promote()

    def run(self) -> None:
        """Claude Code works: an idle to come belongs to this work."""
        self.owed = 0

    # ── how work ends; `stops` ends it by these too ──

    def settle(self, turns: Iterable[Turn], outcome: Outcome, *, promote: bool = True) -> None:
        """Answer turns whose outcome is known: calls first, then the work's end, then the answers."""
        turns = self.turns.with_batch(turns)
        if outcome.stop_reason == "cancelled":
            self._calls.close_all(Occasion.CANCELLED, self.goes_on)
            self._companions.interrupted()
        else:
            stuck = self._calls.close_all(Occasion.TURN_ENDED, self.goes_on)
            if stuck and outcome == Outcome():
                outcome = Outcome(failure=Failure(FailureKind.INCOMPLETE_CALL, STUCK))
            if outcome.failure is not None:
                self._companions.interrupted()
            else:
                self._companions.turn_ended()
            self._insert(turns)
        self.end_work(outcome, self._tally.usage())
        self.conclude(turns, outcome)
        self._unowed = 0
        if promote:
            self.promote()

    def hand_off(self, active: Turn) -> None:
        """Another prompt's output begins: what is known of this turn is its answer."""
        if self._is_lost(active):
            self._settle_lost(active, promote=False)
            return
        known = active.outcome if active.phase == "held" or active.is_steered else Outcome()
        self.owed += active.phase != "held"
        self.settle([active], Outcome("cancelled") if self.cancel.in_effect else known, promote=False)

    def conclude(self, turns: Iterable[Turn], outcome: Outcome, *, counts: bool = True) -> None:
        """Answer in the order received; what was used is told once, on the last (M4.3)."""
        members = [turn for turn in turns if not turn.is_terminated]
        for turn in members:
            usage = self._tally.usage() if counts and turn is members[-1] else None
            self._feed(turn, Conclude(self._companions.record(turn.uuid, outcome), usage))
            self.turns.release(turn)
            if outcome.stop_reason == "cancelled":
                self.answers.give_without_files(turn, "cancelled")
            elif outcome != Outcome() or not self._companions.collects(turn.uuid):
                self._companions.no_files(turn.uuid, "providerError")
        self.answers.give()

    def end_work(self, outcome: Outcome, used: Usage | None = None) -> None:
        """Tell that the foreground work ended."""
        if not self.foreground.is_idle:
            self._feed(self.foreground, WorkEnded(outcome, used))
        if self.cancel.in_effect:
            self._feed(self.cancel, EndReported())
            self._feed.put(StopTimer(Timer.FORCE_CANCEL))

    def end_cycle(self, outcome: Outcome, used: Usage | None = None) -> None:
        """A result that is no turn's, or an idle: work that Claude Code started itself, if any, is over."""
        self._calls.close_abandoned(self.goes_on)
        if not self.foreground.is_cycle:
            return
        cancelled, active = self.cancel.in_effect, self.turns.active
        if cancelled:
            self._calls.close_all(Occasion.CANCELLED, self.goes_on)
        self.end_work(outcome, used)
        if active is not None and cancelled:
            self.settle([active], Outcome("cancelled"))  # it only waited, and the work behind it is stopped
        elif active is not None and active.is_steered:
            self._feed(self.foreground, TurnInserted())  # what was added to it comes next

    def fail(self, turn: Turn, failure: Failure) -> None:
        """Answer a turn that nobody is left to serve."""
        self._companions.no_files(turn.uuid, "providerError")
        self._feed(turn, Fail(failure, self._companions.fail(turn.uuid, failure)))
        self.turns.drop(turn)

    def goes_on(self, use: ToolUse) -> bool:
        """The call is of a subagent in the background, which no cancel of ours stops (INV-X4)."""
        return use.parent is not None and use.parent in self.tasks.background_calls()

    def sync_requests(self, *, withdrawn: bool = False) -> None:
        """Tell the foreground, and the subagents, whether they wait for the user (INV-F4)."""
        self.children.sync_requests(self._asks.asking(), withdrawn=withdrawn)
        if self._asks.blocks(self.tasks.in_background):
            self._feed(self.foreground, RequestOpened())
        else:
            self._feed(self.foreground, RequestsClosed(withdrawn))

    def activate(self, turn: Turn) -> None:
        """What Claude Code says now belongs to this turn."""
        self.answers.give_up_files()
        self._feed(turn, Activate())
        if turn.waiting_steers:
            self._feed(turn, Steer())
        self.turns.active = turn
        self.renew()
        if not self.marked:  # else each message tells its end, and may run together with the turn
            self.ledger.clear(before=turn.place)
        self._calls.forget_dropped()
        self._tally.begin()
        self._unowed = 0
        self._feed(self.foreground, TurnInserted())
        if self._asks.blocks(self.tasks.in_background):
            self._feed(self.foreground, RequestOpened())

    # ── steps ──

    def _take_up(self, turn: Turn, *, asked: bool = False) -> None:
        active = self.turns.active
        if not turn.is_written:
            return
        if active is not None:
            self._feed(turn, Join() if asked and self._folds_into(active) else Dispatch())
        elif self.turns.settling():
            self._feed(turn, Dispatch())  # it follows their answers
        else:
            self.activate(turn)

    def _folds_into(self, active: Turn) -> bool:
        return steering.folds_into(active, marked=self.marked) and not self.cancel.in_effect

    def _is_lost(self, active: Turn) -> bool:
        """Claude Code is done with it and does something else: no result will come."""
        return self.turns.is_done(active) and not self.cancel.in_effect

    def _take_own_result(self, result: Result, turns: tuple[Turn, ...]) -> None:
        active = self.turns.active
        if active is not None and active not in turns:
            self.hand_off(active)
        if self.turns.active is None:
            self.activate(turns[0])
        turn, outcome = turns[0], outcome_of(result, cancelled=self.cancel.in_effect)
        self._tally.read(result.usage, result.model_usage, own=True)
        self._feed.put(ShowResult(result, outcome, turn.uuid))
        for uuid in result.uuids:
            self._companions.command_ended(uuid, ok=outcome.failure is None)
        turn.batch |= {other.uuid for other in self.turns.done() if other.phase == "joined"}  # theirs is lost
        goes_on = turn.is_steered and not self.cancel.in_effect
        if goes_on and not steering.ends_turn(self._feed, self.turns, turn, result, outcome):
            turn.batch |= {other.uuid for other in turns[1:]}
            self._calls.close_abandoned(self.goes_on)
            self.owed -= 1  # an interrupted half brings no idle of its own
            return
        if outcome.failure is None:
            self._companions.succeeded(from_model=result.from_model)
        self._end(self.turns.with_batch(turns), outcome)

    def _end(self, turns: Sequence[Turn], outcome: Outcome) -> None:
        """The outcome is known; the answer waits for the subagents that still run."""
        if outcome == Outcome() and holding.waits(turns, self.tasks):
            self._hold(turns)
        else:
            self.settle(turns, outcome)

    def _hold(self, turns: Sequence[Turn]) -> None:
        """The last one waits; whoever shares its result has nothing to wait for."""
        last, usage = holding.leave_to_last(turns), self._tally.usage()
        self._calls.close_all(Occasion.TURN_ENDED, self.goes_on)
        self._insert(turns)
        self.conclude(turns[:-1], Outcome(), counts=False)
        if last is not self.turns.active:
            self.turns.active = last
            self._feed(last, Activate())
        self._feed(last, Hold(Outcome(), usage))
        self.end_work(Outcome(), usage)

    def _insert(self, turns: Iterable[Turn]) -> None:
        """A result names them: they are in the conversation, whatever else told so."""
        for turn in [turn for turn in turns if turn.is_written]:
            self._feed(turn, Join())

    def _idle_without_result(self, active: Turn) -> None:
        """The result may still be on its way, unless this idle is the second, or the message is done."""
        if self.marked and active.uuid not in self.turns.finished and not self._unowed:
            self._unowed += 1
            return
        self._settle_lost(active)

    def _settle_lost(self, active: Turn, *, promote: bool = True) -> None:
        """Claude Code brought no result, nor for whatever else it is done with."""
        lost = [turn for turn in self.turns if turn is active or turn in self.turns.done()]
        self.settle(lost, Outcome(failure=LOST), promote=promote)

    def _release_held(self) -> None:
        """Answer a held turn once its subagents are done and what they promised has streamed."""
        turn = self.turns.active
        if turn is not None and holding.is_free(turn, self.tasks):
            self.settle([turn], turn.outcome)

    def promote(self) -> None:
        """Output now belongs to the next prompt that Claude Code has taken up."""
        waits = self.turns.active is not None or self.turns.settling()
        if not waits and (following := self.turns.following()) is not None:
            self.activate(following)
