"""What is known of a session from its outside: prompts, calls, requests, and what became of them."""

from dataclasses import dataclass, field
from typing import Literal

from machines import events as e
from machines import outputs as o
from tests.fuzz.runs import Run


@dataclass(slots=True, eq=False)
class Asked:
    """A prompt, from the client's side."""

    uuid: str
    number: int
    """Its place in the order received."""
    cancelled: Literal["", "all", "alone", "close"] = ""
    answer: o.AnswerPrompt | None = None
    sent: bool = False
    report: str | None = None
    """The report that it asked for."""
    steers: list[str] = field(default_factory=list)
    """Messages that were added to it."""
    agents: set[str] = field(default_factory=set)
    """Subagents that were started in the background in its work, or while it waited for others."""
    concluded: bool = False
    """Its result came, and it waits for reports."""


@dataclass(slots=True, eq=False)
class Call:
    """A tool call that the client was shown."""

    id: str
    run: Run | None
    final: type | None = None
    """The output that gave it its final status."""
    hooked: bool = False
    """A hook was reported after that."""


@dataclass(slots=True, eq=False)
class Request:
    """An ask of Claude Code, and the request to the client behind it."""

    ask: str
    run: Run | None
    call: str | None
    options: tuple[e.Option, ...] = ()
    requested: type | None = None
    """The output that asked the client."""
    settled: type | None = None
    """The output that ended the request."""
    replied: type | None = None
    """The output that answered Claude Code."""
    gone: bool = False
    """Claude Code withdrew it, or is no more."""
    answered: list[e.AskAnswered | e.FormAnswered] = field(default_factory=list)
    """What the client sent while it was open."""

    @property
    def is_open(self) -> bool:
        """The client is asked and nothing has ended it."""
        return self.requested is not None and self.settled is None
