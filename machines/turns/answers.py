"""Answers of turns whose outcome is known: in the order received, each behind its report (M14, INV-T2)."""

from machines.companions.companions import Companions
from machines.companions.session_reports import UnavailableReason
from machines.events import FilesPreviewed
from machines.feed import Feed
from machines.turns.turn import Reported, Turn
from machines.turns.turns import Turns


class Answers:
    """Answers turns once their list of files is there, or given up."""

    def __init__(self, feed: Feed, turns: Turns, companions: Companions) -> None:
        self._feed = feed
        self._turns = turns
        self._companions = companions

    def give(self) -> None:
        """Answer, in the order received, up to the first whose report must come before."""
        for turn in self._turns.settling():
            if self._companions.is_collecting(turn.uuid):
                return
            self._answer(turn)

    def take_files(self, event: FilesPreviewed) -> None:
        """Claude Code listed the files of a turn, or could not."""
        turn = self._turns.get(event.turn)
        if turn is None or turn.phase != "settling":
            return
        if event.paths is not None:
            self._companions.list_files(turn.uuid, event.paths)
        else:
            self._companions.no_files(turn.uuid, "providerError" if event.failed else "invalidOutput")
        self.give()

    def give_without_files(self, turn: Turn, reason: UnavailableReason) -> None:
        """Nobody waits any longer for the list of the files that a turn changed."""
        self._companions.no_files(turn.uuid, reason)
        self._answer(turn)

    def give_up_files(self) -> None:
        """Nobody waits any longer for any list."""
        for turn in self._turns.settling():
            self.give_without_files(turn, "timeout")

    def _answer(self, turn: Turn) -> None:
        self._feed(turn, Reported())
        self._turns.drop(turn)
