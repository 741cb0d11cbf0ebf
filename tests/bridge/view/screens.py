"""A screen of one client, and what it shows."""

from typing import Any, cast

from bridge.capabilities import ClientCapabilities, read_capabilities
from bridge.live.setup import Setup
from bridge.messages.stream import MessageStream
from bridge.view.client import SessionClient
from bridge.view.screen import Screen
from machines.companions.incident import Book
from machines.conversation import Conversation
from tests.support.clients import CAPABILITIES
from tests.support.oracle import check_outgoing

Json = dict[str, Any]

NOTICES = read_capabilities({"session": {"notices": {}}})
PLAIN = read_capabilities(CAPABILITIES["plain"])
ZED = read_capabilities(CAPABILITIES["zed"])
AIR = read_capabilities(CAPABILITIES["air"])


class Shown:
    """The client's end: every update, checked against the schema, and other notifications."""

    def __init__(self) -> None:
        self.updates: list[Json] = []
        self.completed: list[str] = []

    def update(self, update: Json) -> None:
        params = {"sessionId": "s1", "update": update}
        check_outgoing({"jsonrpc": "2.0", "method": "session/update", "params": params}, {})
        self.updates.append(update)

    def complete(self, elicitation: str) -> None:
        self.completed.append(elicitation)

    def take(self) -> list[Json]:
        """What came since the last look."""
        taken, self.updates = self.updates, []
        return taken


class State:
    """What a screen reads of the conversation."""

    admits_new = True
    admits_text = True

    def __init__(self) -> None:
        self.open: set[str] = set()

    def shows(self, call: str) -> bool:
        return call in self.open


def screen(client: ClientCapabilities, **setup: Any) -> tuple[Screen, Shown, State]:
    """A screen, what it shows, and the conversation that it reads."""
    shown, state = Shown(), State()
    described = Setup("s1", "/p", client, (), **setup)
    made = Screen(
        described,
        "/home/u",
        cast("SessionClient", shown),
        MessageStream(),
        cast("Conversation", state),
        lambda: "id",
        Book("s1", "b") if client.session_failure else None,
    )
    return made, shown, state
