"""Turns that wait for nothing but the list of the files they changed (M14)."""

from machines.companions.companions import Companions
from machines.events import FilesPreviewed
from machines.turns.work import Work


class FileAnswers:
    """Answers turns whose list is there, or given up."""

    def __init__(self, work: Work, companions: Companions) -> None:
        self._work = work
        self._companions = companions

    def take(self, event: FilesPreviewed) -> None:
        """Claude Code listed the files of a turn, or could not."""
        turn = self._work.turns.get(event.turn)
        if turn is None or turn.phase != "settling":
            return
        if event.paths is not None:
            self._companions.list_files(turn.uuid, event.paths)
        else:
            self._companions.no_files(turn.uuid, "providerError" if event.failed else "invalidOutput")
        self._work.answer_concluded()
        self._work.promote()

    def give_up(self) -> None:
        """It takes too long: nobody waits for a list any more."""
        self._work.end_reports()
        self._work.promote()
