"""One stdio pair: negotiated once, closed once (M1).

1. Nothing but `initialize` is served before it, and its capabilities never change (INV-N4).
2. After the connection began to close, nothing new starts (INV-N3); prompts end cancelled,
   other requests that were read before the end of input run to their answer.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay


@dataclass(frozen=True, slots=True)
class Initialize:
    """A valid `initialize` request."""


@dataclass(frozen=True, slots=True)
class InputEnded:
    """The client closed its end: what was read is served, then the sessions close."""


@dataclass(frozen=True, slots=True)
class Break:
    """A signal came, or the output broke: the sessions close now."""


@dataclass(frozen=True, slots=True)
class SessionsClosed:
    """No session is left, or the time for it ran out."""


@dataclass(frozen=True, slots=True)
class Negotiate:
    """Freeze the capabilities and answer."""


@dataclass(frozen=True, slots=True)
class RepeatAnswer:
    """Answer from the first handshake."""


@dataclass(frozen=True, slots=True)
class DrainRequests:
    """Let the requests that were read run to their answer, then close the sessions."""


@dataclass(frozen=True, slots=True)
class CloseSessions:
    """Close every session, in parallel."""


@dataclass(frozen=True, slots=True)
class Shut:
    """Flush the writer, kill what is left, exit."""


Input = Initialize | InputEnded | Break | SessionsClosed
Output = Negotiate | RepeatAnswer | DrainRequests | CloseSessions | Shut


class Connection(Lifecycle[Input, Output]):
    """Lifecycle of the connection to the client."""

    opened = State(initial=True)
    negotiated = State()
    closing = State()
    closed = State(final=True)

    initialize = opened.to(negotiated, on="negotiate") | stay(negotiated, "repeat_answer")
    end_input = closing.from_(opened, negotiated, on="drain_requests") | stay(closing)
    break_off = closing.from_(opened, negotiated, on="close_sessions") | stay(closing, "close_sessions")
    sessions_closed = closing.to(closed, on="shut")

    triggers: ClassVar[dict[type, str]] = {
        Initialize: "initialize",
        InputEnded: "end_input",
        Break: "break_off",
        SessionsClosed: "sessions_closed",
    }

    def negotiate(self) -> None:
        """Answer the handshake."""
        self.put(Negotiate())

    def repeat_answer(self) -> None:
        """Answer it again; nothing changes."""
        self.put(RepeatAnswer())

    def drain_requests(self) -> None:
        """Serve what was read."""
        self.put(DrainRequests())

    def close_sessions(self) -> None:
        """Close everything at once."""
        self.put(CloseSessions())

    def shut(self) -> None:
        """The end."""
        self.put(Shut())
