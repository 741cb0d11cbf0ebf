"""Which requests are about to open a session: their order by id, and how they end before there is one."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

from bridge.peer import Inbound
from wire import rpc


class Openings:
    """What happens to an id before a live session has it."""

    def __init__(self) -> None:
        self._claims: dict[str, anyio.Lock] = {}
        self._preparing: dict[Inbound, str] = {}

    @asynccontextmanager
    async def claim(self, id: str) -> AsyncIterator[None]:
        """Wait for every request that claimed the id before."""
        lock = self._claims.setdefault(id, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._claims.pop(id, None)

    @contextmanager
    def prepare(self, inbound: Inbound, id: str) -> Iterator[None]:
        """The request has a process started for the id."""
        self._preparing[inbound] = id
        try:
            yield
        finally:
            del self._preparing[inbound]

    def cancel(self, inbound: Inbound) -> None:
        """Nobody waits for the request any more."""
        if inbound in self._preparing and not inbound.answered:
            inbound.fail(rpc.REQUEST_CANCELLED, "Request cancelled")

    def withdraw(self, id: str) -> None:
        """The session that is prepared is closed, or deleted."""
        for inbound, prepared in tuple(self._preparing.items()):
            if prepared == id:
                self.cancel(inbound)

    def withdraw_all(self) -> None:
        """The connection ends."""
        for inbound in tuple(self._preparing):
            self.cancel(inbound)
