"""Changes of a session's configuration that clients asked for: carried out one at a time (INV-S5)."""

from bridge.live.answers import Change, failure_error
from bridge.live.process import Post, SessionProcess
from machines import events as e
from machines import outputs as o


class Changes:
    """Every change that was not answered yet, by its id."""

    def __init__(self, process: SessionProcess, post: Post) -> None:
        self._process = process
        self._post = post
        self._waiting: dict[str, Change] = {}
        self._again: set[str] = set()  # changes that a process died on; no change is made a third time

    def add(self, id: str, change: Change) -> None:
        """A client wants it."""
        self._waiting[id] = change

    def apply(self, output: o.ApplyChange) -> None:
        """Carry it out; if the process dies on it, it is not over yet."""
        id = output.change
        change, process = self._waiting[id], self._process.serial

        def done(error: str | None) -> None:
            lost = error is not None and self._process.serial != process and id not in self._again
            if lost:
                self._again.add(id)
            else:
                self._waiting.pop(id).answer(error)
            self._post(e.ChangeFinished(id, lost))

        change.apply(done)

    def fail(self, output: o.FailChange) -> None:
        """Claude Code did not come back for it."""
        self._waiting.pop(output.change).inbound.fail(*failure_error(output.failure))
