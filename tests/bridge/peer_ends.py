"""Both ends of a connection in memory: an agent that keeps what it gets, a client that writes lines."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from bridge.peer import Cause, Inbound, Peer

Json = dict[str, Any]


class Agent:
    """A handler that keeps what it gets, and does what a test wants with each request."""

    def __init__(self) -> None:
        self.requests: list[Inbound] = []
        self.notifications: list[tuple[str, Mapping[str, object]]] = []
        self.cancelled_requests: list[Inbound] = []
        self.causes: list[Cause] = []
        self.react: Callable[[Inbound], None] = lambda inbound: None

    def request(self, inbound: Inbound) -> None:
        self.requests.append(inbound)
        self.react(inbound)

    def notification(self, method: str, params: Mapping[str, object]) -> None:
        self.notifications.append((method, params))
        if method == "boom":
            raise KeyError("token-123")

    def cancelled(self, inbound: Inbound) -> None:
        self.cancelled_requests.append(inbound)

    def closed(self, cause: Cause) -> None:
        self.causes.append(cause)


class Wire:
    """Both ends: a peer, its agent, and what reached the client."""

    def __init__(self) -> None:
        self.agent = Agent()
        self.lines: list[bytes] = []
        self.peer = Peer(self.lines.append, lambda peer: self.agent)

    @property
    def sent(self) -> list[Json]:
        """The messages that the client got."""
        assert all(line.endswith(b"\n") for line in self.lines)
        return [json.loads(line) for line in self.lines]

    def call(self, method: str, **members: Any) -> None:
        """The client sends a call; with an id it is a request."""
        self.peer.receive(json.dumps({"jsonrpc": "2.0", "method": method, **members}))

    def answer(self, **members: Any) -> None:
        """The client sends an answer."""
        self.peer.receive(json.dumps({"jsonrpc": "2.0", **members}))


def error(id: object, code: int, message: str, **more: Any) -> Json:
    """An error answer as the client sees it."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **more}}


def result(id: object, **fields: Any) -> Json:
    """A successful answer as the client sees it."""
    return {"jsonrpc": "2.0", "id": id, "result": fields}
