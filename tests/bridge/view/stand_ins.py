"""Stand-ins for the two neighbours of a view: the client below, and Claude Code's process."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from bridge.live.process import SessionProcess
from bridge.view.client import SessionClient


class Client:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.updates: list[Mapping[str, Any]] = []
        self.inner: list[tuple[str, Mapping[str, Any]]] = []
        """What was sent of other sessions than its own, which is among the rest, too."""

    def update(self, update: Mapping[str, Any]) -> None:
        self.updates.append(update)

    def update_in(self, session: str, update: Mapping[str, Any]) -> None:
        self.inner.append((session, update))
        self.updates.append(update)

    @property
    def kinds(self) -> list[str]:
        return [update["sessionUpdate"] for update in self.updates]

    def as_client(self) -> SessionClient:
        return cast("SessionClient", self)


class Process:
    """Keeps the control requests that are made of it, until a test replies."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._replies: list[Callable[[Any], None]] = []

    def request(self, subtype: str, on_reply: Callable[[Any], None] | None = None, **fields: Any) -> None:
        self.requests.append((subtype, fields))
        self._replies.append(on_reply or (lambda _: None))

    def reply(self, value: Any) -> None:
        """Answer the oldest request that waits."""
        self._replies.pop(0)(value)

    def reply_all(self, value: Any) -> None:
        """Answer whatever waits, and what is asked because of it."""
        while self._replies:
            self.reply(value)

    def as_process(self) -> SessionProcess:
        return cast("SessionProcess", self)
