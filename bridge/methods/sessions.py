"""The live sessions of a connection, and the table of its methods."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from bridge.capabilities import ClientCapabilities
from bridge.claude.process import Claude
from bridge.live.host import Host
from bridge.live.openings import Openings
from bridge.live.setup import Setup, launch
from bridge.peer import Inbound
from bridge.sessions.listing import SessionList
from wire import rpc
from wire.acp.session import CancelNotification
from wire.params import read

if TYPE_CHECKING:
    from bridge.live.session import LiveSession

log = logging.getLogger(__name__)

Method = Callable[["Sessions", Inbound], None]
"""Serves one request; raises WireError for one that can't be served."""

Later = Callable[..., Awaitable[None]]
"""The part of a method that has to wait: `(sessions, inbound, *arguments)`."""


class Sessions:
    """Every live session of the connection, by its id."""

    def __init__(
        self, host: Host, client: ClientCapabilities, methods: Mapping[str, Method], projects: Path
    ) -> None:
        self.host = host
        self.client = client
        self.projects = projects
        """Claude Code's folder of stored sessions."""
        self.stored = SessionList(projects)
        self._methods = methods
        self._live: dict[str, LiveSession] = {}
        self._openings = Openings()
        self._emptied = anyio.Event()

    def request(self, inbound: Inbound) -> None:
        """Serve one request; raises WireError for one that can't be served."""
        method = self._methods.get(inbound.method)
        if method is None:
            raise rpc.method_not_found(inbound.method)
        method(self, inbound)

    def notification(self, method: str, params: Mapping[str, object]) -> None:
        """Serve one notification; unknown sessions and methods are ignored, with a log line."""
        if method != "session/cancel":
            log.info("ignored the notification %s", method)
            return
        session = self._live.get(read(CancelNotification, params).session_id)
        if session is None:
            log.info("ignored a cancel for an unknown session")
        else:
            session.cancel()

    def cancelled(self, inbound: Inbound) -> None:
        """`$/cancel_request`: a prompt alone, or a session that is being created."""
        self._openings.cancel(inbound)
        for session in tuple(self._live.values()):
            if session.is_opened_by(inbound):
                session.close()
            else:
                session.cancel_prompt(inbound)

    def later(self, serve: Later, inbound: Inbound, *arguments: Any) -> None:
        """Serve a request that has to read from disk first; what it raises is the answer."""
        self.host.tasks.start_soon(self._later, serve, inbound, arguments, name=inbound.method)

    def later_in_order(self, id: str, serve: Later, inbound: Inbound, *arguments: Any) -> None:
        """Serve a request that opens a stored session, when all before it that claim the id are served.

        It ends unserved when the session is closed or deleted, or when nobody waits for it any more.
        """
        self._openings.expect(inbound, id)
        self.later(_in_order, inbound, id, serve, arguments)

    async def _later(self, serve: Later, inbound: Inbound, arguments: tuple[Any, ...]) -> None:
        try:
            await serve(self, inbound, *arguments)
        except Exception as error:
            inbound.reject(error)

    def get(self, id: str) -> "LiveSession | None":
        """The live session of an id."""
        return self._live.get(id)

    def live(self) -> "tuple[LiveSession, ...]":
        """Every live session, in the order they were opened."""
        return tuple(self._live.values())

    def require(self, id: str) -> "LiveSession":
        """The live session of an id; raises WireError -32002 when there is none."""
        session = self._live.get(id)
        if session is None or session.is_closing:
            raise rpc.WireError(rpc.RESOURCE_NOT_FOUND, data={"sessionId": id})
        return session

    async def open(self, setup: Setup, inbound: Inbound) -> None:
        """Create a live session for the request that wants it.

        The first one waits for its code to be imported, and its process comes up meanwhile.
        """
        if inbound.answered:  # nobody wants it any more
            return
        host, resume = self.host, setup.transcript is not None
        claude = Claude(host.tasks, host.gate)
        self._openings.expect(inbound, setup.id)
        try:
            await claude.spawn(
                launch(setup, host.accounts.route, claude_id=setup.id, mode=setup.mode, resume=resume)
            )
            make = await to_thread.run_sync(_import_live)
        finally:
            self._openings.settle(inbound)
        if inbound.answered:
            await claude.stop()
            return
        session = self._live[setup.id] = make(setup, host, self._forget, claude)
        session.open(inbound)
        await session.opened.wait()

    def claim(self, id: str) -> AbstractAsyncContextManager[None]:
        """Requests that open or end a stored session come one after the other, as they were received."""
        return self._openings.claim(id)

    def settle(self, inbound: Inbound) -> None:
        """The request does not wait to open a session any more."""
        self._openings.settle(inbound)

    def withdraw(self, id: str) -> None:
        """End what is about to open a session."""
        self._openings.withdraw(id)

    async def close(self, session: "LiveSession") -> None:
        """Close a session and wait for its end."""
        session.close()
        await session.ended.wait()

    async def close_all(self) -> None:
        """Close every session, in parallel, and wait for the last."""
        self._openings.withdraw_all()
        for session in tuple(self._live.values()):
            session.close()
        while self._live:
            self._emptied = anyio.Event()
            await self._emptied.wait()

    def kill_all(self) -> None:
        """End the processes of sessions that did not close in time."""
        for session in self._live.values():
            session.kill()

    def _forget(self, session: "LiveSession") -> None:
        if self._live.get(session.setup.id) is session:
            del self._live[session.setup.id]
        if not self._live:
            self._emptied.set()


async def _in_order(
    sessions: Sessions, inbound: Inbound, id: str, serve: Later, arguments: tuple[Any, ...]
) -> None:
    try:
        async with sessions.claim(id):
            if not inbound.answered:
                await serve(sessions, inbound, *arguments)
    finally:
        sessions.settle(inbound)


def _import_live() -> "type[LiveSession]":
    """A session's machines, tools and views: half of all code, which no process needs to come up."""
    from bridge.live.session import LiveSession

    return LiveSession
