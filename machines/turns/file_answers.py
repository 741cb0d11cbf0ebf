"""Turns that wait for nothing but the list of the files they changed (M14)."""

from machines.companions.companions import Companions
from machines.companions.session_reports import UnavailableReason
from machines.events import FilesPreviewed
from machines.turns.work import Work


class FileAnswers:
    """Answers the turn whose list is there, or given up."""

    def __init__(self, work: Work, companions: Companions) -> None:
        self._work = work
        self._companions = companions

    def take(self, event: FilesPreviewed) -> None:
        """Claude Code listed the files of a turn, or could not."""
        active = self._work.turns.active
        if active is not None and active.uuid == event.turn:
            self.end(event.paths, "providerError" if event.failed else "invalidOutput")

    def end(self, paths: tuple[str, ...] | None, reason: UnavailableReason) -> None:
        """The turn waits no longer; `reason` says why there is no list."""
        active = self._work.turns.active
        if active is None or active.phase != "settling":
            return
        if paths is not None:
            self._companions.list_files(active.uuid, paths)
        else:
            self._companions.no_files(active.uuid, reason)
        self._work.answer(active)
        self._work.promote()
