"""Changes of mode and configuration: the requests that want them, until each is answered (INV-S5)."""

from collections.abc import Callable

from bridge.live.answers import Change, failure_error
from bridge.live.process import SessionProcess
from machines.events import ChangeFinished
from machines.outputs import ApplyChange, FailChange


class Changes:
    """Carries out the changes of one session, as its lifecycle orders them."""

    def __init__(self, process: SessionProcess, post: Callable[[ChangeFinished], None]) -> None:
        self._process = process
        self._post = post
        self._waiting: dict[str, Change] = {}
        self._again: set[str] = set()  # a process died on them; no change is made a third time

    def add(self, id: str, change: Change) -> None:
        """A client wants it."""
        self._waiting[id] = change

    def apply(self, output: ApplyChange) -> None:
        """Carry it out; a process that dies meanwhile leaves it to the next one (decision 28)."""
        id, process = output.change, self._process.serial

        def done(error: str | None) -> None:
            lost = error is not None and self._process.serial != process and id not in self._again
            if lost:
                self._again.add(id)
            else:
                self._waiting.pop(id).answer(error)
            self._post(ChangeFinished(id, lost))

        self._waiting[id].apply(done)

    def fail(self, output: FailChange) -> None:
        """Answer that there is no process to carry it out."""
        self._waiting.pop(output.change).inbound.fail(*failure_error(output.failure))
