"""One question to the user in a form or behind a link: asked once, answered once (M10).

1. Claude Code's ask is answered exactly once, or withdrawn by it (INV-E1).
2. A question of the model is shown as a tool call first; a form of an MCP server belongs to none.
3. After a cancel the request is withdrawn at once and no answer counts any more (INV-E2).
"""

from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.events import AskWithdrawn, FormAnswered, FormReceived
from machines.outputs import AskForm, DenyAsk, ReplyForm, WithdrawRequest
from machines.permissions.permission import Announce, CancelAsk, LoseAsk, Refuse

Input = FormReceived | FormAnswered | AskWithdrawn | Refuse | CancelAsk | LoseAsk
Signal = Announce | AskForm | WithdrawRequest | ReplyForm | DenyAsk


class Elicitation(Lifecycle[Input, Signal]):
    """Lifecycle of one question."""

    new = State(initial=True)
    open = State()
    stopping = State()
    accepted = State(final=True)
    declined = State(final=True)
    dismissed = State(final=True)
    refused = State(final=True)
    aborted = State(final=True)

    ask = new.to(open, on=["announce", "ask_client"])
    refuse = new.to(refused, on="deny")
    answer = (
        open.to(accepted, cond="accepts", on="reply")
        | open.to(declined, cond="declines", on="reply")
        | open.to(dismissed, on="reply")
        | stay(stopping)
    )
    withdrawn = open.to(aborted, on="withdraw_request") | stopping.to(aborted)
    cancel = open.to(stopping, on="withdraw_request") | stay(stopping)
    lose = open.to(aborted, on="withdraw_request") | aborted.from_(new, stopping)

    triggers: ClassVar[dict[type, str]] = {
        FormReceived: "ask",
        Refuse: "refuse",
        FormAnswered: "answer",
        AskWithdrawn: "withdrawn",
        CancelAsk: "cancel",
        LoseAsk: "lose",
    }

    def __init__(self, received: FormReceived, *listeners: object, start: str | None = None) -> None:
        self.received = received
        super().__init__(*listeners, start=start)

    def accepts(self, cause: FormAnswered) -> bool:
        """The user filled it in."""
        return cause.action == "accept"

    def declines(self, cause: FormAnswered) -> bool:
        """The user decided not to answer."""
        return cause.action == "decline"

    def announce(self) -> None:
        """Have the model's question shown as a call before its form (INV-C4)."""
        if self.received.use is not None:
            self.put(Announce(self.received.use, self.received.ask))

    def ask_client(self) -> None:
        """Send the form."""
        self.put(AskForm(self.received.ask))

    def deny(self, cause: Refuse) -> None:
        """Answer without asking."""
        self.put(DenyAsk(self.received.ask, cause.text))

    def reply(self, cause: FormAnswered) -> None:
        """Tell Claude Code what came back, whatever it was."""
        self.put(ReplyForm(self.received.ask, cause.answer))

    def withdraw_request(self) -> None:
        """Nobody waits for the client's answer any more."""
        self.put(WithdrawRequest(self.received.ask))
