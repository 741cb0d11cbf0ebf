"""The mailbox of a session: everything that happens to it, in one order, one thing at a time."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import checkpoint

T = TypeVar("T")

BURST = 0.008
"""Seconds of back-to-back items after which others get a turn (`lifecycles` §0.2.4)."""


class Mailbox(Generic[T]):
    """A queue with one consumer, which never waits inside an item."""

    def __init__(self, consume: Callable[[T], None], now: Callable[[], float]) -> None:
        self._consume = consume
        self._now = now
        self._items: deque[T] = deque()
        self._arrived = anyio.Event()
        self._closed = False

    def post(self, item: T) -> None:
        """Add an item; it is dropped once the mailbox is closed."""
        if not self._closed:
            self._items.append(item)
            self._arrived.set()

    def drop(self, unwanted: Callable[[T], bool]) -> None:
        """Take out items that do not count any more."""
        self._items = deque(item for item in self._items if not unwanted(item))

    def close(self) -> None:
        """End `run` after the present item; what is left is dropped."""
        self._closed = True
        self._items.clear()
        self._arrived.set()

    async def run(self) -> None:
        """Consume items until the mailbox is closed."""
        while not self._closed:
            if not self._items:
                self._arrived = anyio.Event()
                await self._arrived.wait()
            until = self._now() + BURST
            while self._items and self._now() < until:
                self._consume(self._items.popleft())
            await checkpoint()
