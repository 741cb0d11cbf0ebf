"""The client, as one session sees it."""

from collections.abc import Callable, Mapping

from bridge.peer import Answer, Port


class SessionClient:
    """Sends the updates and requests of one session, in the order of the calls."""

    def __init__(self, peer: Port, session: str) -> None:
        self._peer = peer
        self._session = session

    def update(self, update: Mapping[str, object]) -> None:
        """Send one `session/update`."""
        self._peer.notify("session/update", {"sessionId": self._session, "update": update})

    def update_in(self, session: str, update: Mapping[str, object]) -> None:
        """Send one `session/update` of a subagent's session, or of this one by its id."""
        self._peer.notify("session/update", {"sessionId": session, "update": update})

    def request(self, method: str, params: Mapping[str, object], on_answer: Callable[[Answer], None]) -> int:
        """Send a request of this session, or of the one that `params` name; returns its id."""
        return self._peer.request(method, {"sessionId": self._session, **params}, on_answer)

    def forward(self, message: Mapping[str, object]) -> None:
        """Hand on a message of Claude Code as it came."""
        self._peer.notify("_claude/sdkMessage", {"sessionId": self._session, "message": message})

    def complete(self, elicitation: str) -> None:
        """What a link was opened for is done."""
        self._peer.notify("elicitation/complete", {"elicitationId": elicitation})

    def withdraw(self, request_id: int) -> None:
        """Stop waiting for an answer."""
        self._peer.withdraw(request_id)
