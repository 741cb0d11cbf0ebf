"""What the user sends, until Claude Code has it: prompts, and messages that are added to one (M4.1, M4.5)."""

from machines.companions.companions import Companions
from machines.events import PromptReceived, SteerReceived
from machines.feed import Feed
from machines.outputs import AnswerSteer, Failure, SendSteer
from machines.permissions.asks import Asks
from machines.turns.foreground import TurnInserted
from machines.turns.turn import Send, Steer, TakeBack, Turn
from machines.turns.work import Work


class Intake:
    """Takes in what is said and has it written, to the process that serves or to the next one."""

    def __init__(self, feed: Feed, work: Work, asks: Asks, companions: Companions) -> None:
        self._feed = feed
        self._work = work
        self._turns = work.turns
        self._asks = asks
        self._companions = companions

    def receive(self, event: PromptReceived) -> None:
        """Take in a prompt."""
        turn = Turn(event.turn, *self._feed.listeners(f"Turn:{event.turn}"))
        turn.goal = event.goal
        self._turns.add(turn)
        if event.report is not None:
            self._companions.asks_report(event.turn, event.report)

    def send_waiting(self) -> None:
        """Write every prompt that waited for a process."""
        for turn in self._turns:
            if turn.phase == "received":
                self._feed(turn, Send())
                self._companions.submitted(turn.uuid, turn.goal)

    def fail_received(self, failure: Failure) -> None:
        """Answer every prompt that waited for a process in vain."""
        for turn in self._turns:
            if turn.phase == "received":  # pragma: no branch - the others ended with their process
                self._work.fail(turn, failure)

    def steer(self, event: SteerReceived, *, at_once: bool) -> bool:
        """Add to the first turn that is not ending or being stopped; False when there is none.

        `at_once`: there is a process to write to; else `send_again` writes it to the next one.
        """
        stopping = self._turns.active if self._work.cancel.in_effect else None
        ending = [stopping, *self._turns.settling()]
        turn = next((turn for turn in self._turns if turn not in ending), None)
        if turn is None:
            return False
        self._turns.steer(event.steer, turn)
        if turn.phase in {"working", "held", "steered", "steer_pending"}:
            self._feed(turn, Steer())
            if self._work.foreground.is_idle:
                self._feed(self._work.foreground, TurnInserted())
        # An interrupting delivery would cancel a question that is open, or a turn that did not begin.
        interrupts = not self._asks.any_open and not turn.is_written
        if at_once:
            self._feed.put(SendSteer(event.steer, "now" if interrupts else "later"))
        self._companions.submitted(event.steer, event.goal)
        self._feed.put(AnswerSteer(event.steer, "injected"))
        return True

    def take_back(self) -> None:
        """The process that had them is replaced: what it did not take up waits for the next one."""
        for turn in self._turns.waiting():
            if turn.is_written:  # pragma: no branch - nothing waits unwritten then
                self._feed(turn, TakeBack())
                self._turns.forget(turn.uuid)

    def send_again(self, turn: Turn) -> None:
        """Messages that were added to a turn go behind what it goes on with."""
        for steer in self._turns.steers_of(turn):
            self._feed.put(SendSteer(steer, "next"))
