"""The agent as the client sees it: which methods there are, and which session each is for (M1).

Everything here is synchronous: a request is handed to its session before the next message is
read, so a prompt and the cancel behind it can never swap. What `session/new` needs is imported
in a thread after the handshake was answered.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from bridge.capabilities import ClientCapabilities, read_capabilities
from bridge.initialize import (
    Versions,
    choose_version,
    declared_capabilities,
    initialize_response,
    read_version,
)
from bridge.peer import Cause, Inbound, Peer
from machines import connection as m
from wire import rpc

if TYPE_CHECKING:
    from bridge.methods.sessions import Sessions

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that the first question for the account waits for a session that is being opened."""

DRAIN = 5.0
"""Seconds that requests may still run after the end of input, and that sessions get to close."""


SignIn = Callable[[ClientCapabilities], Sequence[Mapping[str, object]]]
"""The ways to sign in that a client can use."""


class Surroundings(Protocol):
    """What the agent needs from the process around it."""

    tasks: TaskGroup

    def open_sessions(self, peer: Peer, client: ClientCapabilities) -> "Sessions":
        """Import what sessions need, and make the table of sessions."""

    def shut(self, *, clean: bool) -> None:
        """The agent is done: flush and end the process."""


class Agent:
    """Routes the messages of one connection."""

    def __init__(
        self,
        peer: Peer,
        surroundings: Surroundings,
        sign_in: SignIn,
        versions: Versions = frozenset({1}),
    ) -> None:
        self._versions = versions
        self._asked = False  # a request other than `initialize` came
        self._peer = peer
        self._sign_in = sign_in
        self._surroundings = surroundings
        self._connection = m.Connection()
        self._client = ClientCapabilities()
        self._clean = True
        self._sessions: Sessions | None = None
        self._deferred: list[Callable[[Sessions], None]] = []
        """What came before the sessions were loaded, in its order."""

    @property
    def _closing(self) -> bool:
        return self._connection.phase in {"closing", "closed"}

    # ── what the peer hands on ──

    def request(self, inbound: Inbound) -> None:
        """Serve a request, before anything that arrived after it."""
        if self._closing:
            inbound.fail(rpc.REQUEST_CANCELLED, "Request cancelled")
        elif inbound.method == "initialize":
            self._initialize(inbound)
        elif self._connection.phase == "opened":
            inbound.fail(rpc.INVALID_REQUEST, "Invalid request", "first ACP request must be initialize")
        elif self._sessions is not None:
            self._asked = True
            self._sessions.request(inbound)
        else:
            self._asked = True
            self._deferred.append(lambda sessions: self._serve(sessions, inbound))

    def notification(self, method: str, params: Mapping[str, object]) -> None:
        """Serve a notification; one that nobody knows is ignored."""
        if not self._closing:
            self._to_sessions(lambda sessions: sessions.notification(method, params))

    def cancelled(self, inbound: Inbound) -> None:
        """The client does not wait for this request any more."""
        self._to_sessions(lambda sessions: sessions.cancelled(inbound))

    def closed(self, cause: Cause) -> None:
        """The client ended its input, or does not read any more."""
        if cause == "broken":
            self.stop(clean=False)
        else:
            self._feed(m.InputEnded())

    def stop(self, *, clean: bool = True) -> None:
        """A signal came, or the output broke: everything closes now."""
        self._clean = self._clean and clean
        self._feed(m.Break())

    # ── the handshake ──

    def _initialize(self, inbound: Inbound) -> None:
        params = inbound.params
        version = choose_version(read_version(params), self._versions)
        if self._connection.phase == "opened":
            self._client = self._read_client(version, params)
            self._peer.only_proper_ids = self._client.v2
        elif self._client.v2 and self._asked:
            problem = "ACP v2 initialize must not be repeated after other requests"
            raise rpc.WireError(rpc.INVALID_REQUEST, data=problem)
        else:
            log.info("a repeated initialize changes nothing")
        self._feed(m.Initialize(), inbound)

    def _read_client(self, version: int, params: Mapping[str, object]) -> ClientCapabilities:
        if version == 1:
            return read_capabilities(declared_capabilities(params))
        from bridge.v2.handshake import read_client

        return read_client(params)

    def _response(self) -> Mapping[str, object]:
        methods = self._sign_in(self._client)
        if not self._client.v2:
            return initialize_response(self._client, methods)
        from bridge.v2 import handshake

        return handshake.initialize_response(methods)

    def _feed(self, event: m.Input, inbound: Inbound | None = None) -> None:
        for output in self._connection.handle(event):
            match output:
                case m.Negotiate() if inbound is not None:
                    inbound.respond(self._response())
                    self._surroundings.tasks.start_soon(self._load)
                case m.RepeatAnswer() if inbound is not None:
                    inbound.respond(self._response())
                case m.DrainRequests():
                    self._surroundings.tasks.start_soon(self._drain)
                case m.CloseSessions():
                    self._surroundings.tasks.start_soon(self._close)
                case m.Shut():
                    self._surroundings.shut(clean=self._clean)
                case _:
                    log.error("%s without a request", type(output).__name__)

    async def _load(self) -> None:
        """Import the rest while the client reads the answer, then serve what came meanwhile."""
        sessions = await to_thread.run_sync(self._surroundings.open_sessions, self._peer, self._client)
        self._sessions = sessions
        for serve in self._deferred:
            try:
                serve(sessions)
            except Exception:
                log.exception("a message of the client could not be handled")
        self._deferred.clear()
        await self._answered(PATIENCE)  # the start of a session has the machine for itself
        if not self._closing:
            sessions.host.accounts.probe()

    def _to_sessions(self, serve: "Callable[[Sessions], None]") -> None:
        if self._sessions is not None:
            serve(self._sessions)
        else:
            self._deferred.append(serve)

    def _serve(self, sessions: "Sessions", inbound: Inbound) -> None:
        try:
            sessions.request(inbound)
        except Exception as error:
            inbound.reject(error)

    # ── the end ──

    async def _drain(self) -> None:
        """Requests that were read are served; prompts end with their sessions (W§5.1)."""
        await self._answered(DRAIN)
        await self._close()

    async def _answered(self, limit: float) -> None:
        """Wait until no request but prompts is open, for `limit` seconds at most."""
        with anyio.move_on_after(limit):
            # A poll is simpler than an event at every answer.
            while any(  # noqa: ASYNC110
                inbound.method != "session/prompt" for inbound in self._peer.pending
            ):
                await anyio.sleep(0.01)

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._sessions is not None:
                with anyio.move_on_after(DRAIN):
                    await self._sessions.close_all()
                self._sessions.kill_all()
            for inbound in self._peer.pending:
                inbound.fail(rpc.REQUEST_CANCELLED, "Request cancelled")
        self._feed(m.SessionsClosed())
