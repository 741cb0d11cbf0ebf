"""The changes of mode and configuration of one session: one at a time, in order (INV-S5, plain data)."""

from collections import deque

from machines.events import ChangeFinished
from machines.feed import Feed
from machines.outputs import ApplyChange, FailChange, Failure


class Changes:
    """What the client wants changed and was not answered yet."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._waiting: deque[str] = deque()
        self._applying = False

    @property
    def any_waiting(self) -> bool:
        """A change was not begun."""
        return bool(self._waiting)

    def add(self, change: str) -> None:
        """Take in a change."""
        self._waiting.append(change)

    def finish(self, event: ChangeFinished) -> None:
        """The change that was begun was answered, or is made again by the next process (decision 28)."""
        self._applying = False
        if event.lost:
            self._waiting.appendleft(event.change)

    def apply_next(self) -> None:
        """Begin the oldest one, unless another is being applied."""
        if self._waiting and not self._applying:
            self._applying = True
            self._feed.put(ApplyChange(self._waiting.popleft()))

    def fail_waiting(self, failure: Failure) -> None:
        """Answer everything that was not begun."""
        while self._waiting:
            self._feed.put(FailChange(self._waiting.popleft(), failure))
