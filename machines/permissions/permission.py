"""One permission request: Claude Code asks, the client is asked once, Claude Code is answered once (M9).

1. Every ask is answered exactly once towards Claude Code, or withdrawn by it (INV-P1).
2. Every request to the client ends with an accepted answer or with one `$/cancel_request` (INV-P2).
3. Only an offered option grants anything (INV-P3).
4. After a cancel the request is withdrawn at once and no answer counts any more; Claude Code's
   own withdrawal follows the interrupt.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.events import AskAnswered, AskPrepared, AskReceived, AskWithdrawn, Option, ToolUse
from machines.outputs import AbortAsk, AskClient, DenyAsk, PrepareAsk, ReplyAsk, WithdrawRequest

ABORTED = "Tool use aborted"


@dataclass(frozen=True, slots=True)
class Refuse:
    """It may not be asked at all."""

    text: str


@dataclass(frozen=True, slots=True)
class CancelAsk:
    """A cancel stopped the work that asks."""


@dataclass(frozen=True, slots=True)
class LoseAsk:
    """The session closes or its process is gone: there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class Announce:
    """The tool call has to be on the client's screen before the request."""

    use: ToolUse
    ask: str


Input = AskReceived | AskPrepared | AskAnswered | AskWithdrawn | Refuse | CancelAsk | LoseAsk
Signal = PrepareAsk | Announce | AskClient | WithdrawRequest | ReplyAsk | DenyAsk | AbortAsk


class Permission(Lifecycle[Input, Signal]):
    """Lifecycle of one permission request."""

    new = State(initial=True)
    announcing = State()
    open = State()
    stopping = State()
    allowed = State(final=True)
    denied = State(final=True)
    aborted = State(final=True)

    ask = new.to(announcing, on="find_contents")
    refuse = new.to(denied, on="deny")
    prepared = announcing.to(open, on=["announce", "ask_client"]) | stay(stopping)
    answer = (
        open.to(allowed, cond="grants", on="reply")
        | open.to(denied, cond="declines", on="reply")
        | open.to(aborted, on="abort")
        | stay(stopping)
    )
    withdrawn = open.to(aborted, on="withdraw_request") | aborted.from_(announcing, stopping)
    cancel = open.to(stopping, on="withdraw_request") | announcing.to(stopping) | stay(stopping)
    lose = open.to(aborted, on="withdraw_request") | aborted.from_(new, announcing, stopping)

    triggers: ClassVar[dict[type, str]] = {
        AskReceived: "ask",
        Refuse: "refuse",
        AskPrepared: "prepared",
        AskAnswered: "answer",
        AskWithdrawn: "withdrawn",
        CancelAsk: "cancel",
        LoseAsk: "lose",
    }

    def __init__(self, received: AskReceived, *listeners: object, start: str | None = None) -> None:
        self.received = received
        super().__init__(*listeners, start=start)

    def grants(self, cause: AskAnswered) -> bool:
        """The answer is an offered option that lets the tool run."""
        option = self._offered(cause)
        return option is not None and option.grants

    def declines(self, cause: AskAnswered) -> bool:
        """The answer is an offered option that does not."""
        option = self._offered(cause)
        return option is not None and not option.grants

    def find_contents(self) -> None:
        """Find out what the request has to show."""
        self.put(PrepareAsk(self.received.ask))

    def deny(self, cause: Refuse) -> None:
        """Answer without asking."""
        self.put(DenyAsk(self.received.ask, cause.text))

    def announce(self) -> None:
        """Have the call shown before the request that names it (INV-C4)."""
        self.put(Announce(self.received.use, self.received.ask))

    def ask_client(self) -> None:
        """Send the request."""
        self.put(AskClient(self.received.ask))

    def reply(self, cause: AskAnswered) -> None:
        """Answer with what the option means."""
        if cause.option is not None:  # pragma: no branch - another answer aborts
            self.put(ReplyAsk(self.received.ask, cause.option))

    def abort(self, cause: AskAnswered) -> None:
        """Answer with an error: the client refused to answer, or answered something else."""
        self.put(AbortAsk(self.received.ask, _abort_text(cause)))

    def withdraw_request(self) -> None:
        """Nobody waits for the client's answer any more."""
        self.put(WithdrawRequest(self.received.ask))

    def _offered(self, cause: AskAnswered) -> Option | None:
        return next((option for option in self.received.options if option.id == cause.option), None)


def _abort_text(answer: AskAnswered) -> str:
    if answer.failure is not None:
        return answer.failure
    if answer.option is not None:
        return f"Permission option was not offered: {answer.option}"
    return ABORTED
