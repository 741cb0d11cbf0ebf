"""Which requests are about to open a session: their order by id, and how they end before there is one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from bridge.peer import Inbound
from wire import rpc


class Openings:
    """What happens to an id before a live session has it."""

    def __init__(self) -> None:
        self._claims: dict[str, anyio.Lock] = {}
        self._pending: dict[Inbound, str] = {}

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

    def expect(self, inbound: Inbound, id: str) -> None:
        """The request is about to open a session."""
        self._pending[inbound] = id

    def settle(self, inbound: Inbound) -> None:
        """There is a live session now that answers the request, or there will be none."""
        self._pending.pop(inbound, None)

    def cancel(self, inbound: Inbound) -> None:
        """Nobody waits for the request any more."""
        if inbound in self._pending and not inbound.answered:
            inbound.fail(rpc.REQUEST_CANCELLED, "Request cancelled")

    def withdraw(self, id: str) -> None:
        """The session that is about to be opened is closed, or deleted."""
        for inbound, pending in tuple(self._pending.items()):
            if pending == id:
                self.cancel(inbound)

    def withdraw_all(self) -> None:
        """The connection ends."""
        for inbound in tuple(self._pending):
            self.cancel(inbound)
