"""One question to the user: asked once, answered once, on both sides (M10)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from machines.events import AskWithdrawn, FormAnswered, FormReceived, ToolUse
from machines.outputs import AskForm, DenyAsk, ReplyForm, WithdrawRequest
from machines.permissions.elicitation import Elicitation
from machines.permissions.permission import Announce, CancelAsk, LoseAsk, Refuse
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

USE = ToolUse("toolu_1", "AskUserQuestion", {"questions": []})
QUESTION = FormReceived("ask", USE)
FORM = FormReceived("ask")

ACCEPTED = FormAnswered("ask", "accept", {"answers": {"Which?": "this"}})
DECLINED = FormAnswered("ask", "decline", {})
CANCELLED = FormAnswered("ask", "cancel", "cancel")
UNREADABLE = FormAnswered("ask", None, "cancel")

SAMPLES = (
    QUESTION,
    Refuse("no"),
    ACCEPTED,
    DECLINED,
    CANCELLED,
    UNREADABLE,
    AskWithdrawn("ask"),
    CancelAsk(),
    LoseAsk(),
)
WITHDRAW = WithdrawRequest("ask")


def reply(answer: FormAnswered) -> tuple[ReplyForm]:
    return (ReplyForm("ask", answer.answer),)


ROWS = (
    Row("M10 question", "new", QUESTION, "open", (Announce(USE, "ask"), AskForm("ask"))),
    Row("M10 dropped", "new", Refuse("stopped"), "refused", (DenyAsk("ask", "stopped"),)),
    Row("M10 session gone", "new", LoseAsk(), "aborted"),
    Row("M10 accept", "open", ACCEPTED, "accepted", reply(ACCEPTED)),
    Row("M10 decline", "open", DECLINED, "declined", reply(DECLINED)),
    Row("M10 cancel", "open", CANCELLED, "dismissed", reply(CANCELLED)),
    Row("M10 unknown action", "open", UNREADABLE, "dismissed", reply(UNREADABLE)),
    Row("M10 withdrawn", "open", AskWithdrawn("ask"), "aborted", (WITHDRAW,)),
    Row("M10 close or stream end", "open", LoseAsk(), "aborted", (WITHDRAW,)),
    Row("M6 cancel", "open", CancelAsk(), "stopping", (WITHDRAW,)),
    Row("M6 cancel again", "stopping", CancelAsk(), "stopping"),
    Row("M10 answer after a cancel", "stopping", ACCEPTED, "stopping"),
    Row("M10 withdrawn after a cancel", "stopping", AskWithdrawn("ask"), "aborted"),
    Row("M10 stream end after a cancel", "stopping", LoseAsk(), "aborted"),
)

REFUSED: Refused = {
    ("new", FormAnswered),
    ("new", AskWithdrawn),
    ("new", CancelAsk),
    ("open", FormReceived),
    ("open", Refuse),
    ("stopping", FormReceived),
    ("stopping", Refuse),
}


def at(state: str) -> Elicitation:
    return Elicitation(QUESTION, start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Elicitation, ROWS) == set()


def test_totality() -> None:
    assert refusals(Elicitation, at, SAMPLES) == REFUSED


def test_m10_a_form_of_a_server_is_asked_without_a_call() -> None:
    assert Elicitation(FORM).handle(FORM) == (AskForm("ask"),)


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED

    def create(self) -> Elicitation:
        return Elicitation(QUESTION)

    def begin(self) -> None:
        super().begin()
        self.announced: tuple[object, ...] = (Announce(USE, "ask"),)

    @initialize(received=st.sampled_from((QUESTION, FORM)))
    def ask(self, received: FormReceived) -> None:
        self.machine = Elicitation(received)
        self.announced = (Announce(USE, "ask"),) if received.use else ()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match state, event:
            case "new", FormReceived():
                return "open", (*self.announced, AskForm("ask"))
            case "new", Refuse(text):
                return "refused", (DenyAsk("ask", text),)
            case "open", FormAnswered(action=action, answer=answer):
                then = {"accept": "accepted", "decline": "declined"}.get(action or "", "dismissed")
                return then, (ReplyForm("ask", answer),)
            case _, CancelAsk() | AskWithdrawn() | LoseAsk():
                then = "stopping" if isinstance(event, CancelAsk) else "aborted"
                return then, (WITHDRAW,) if state == "open" else ()
        return "stopping", ()

    @invariant()
    def claude_code_is_answered_at_most_once_and_last(self) -> None:  # INV-E1
        replies = [each for each in self.outputs if isinstance(each, ReplyForm | DenyAsk)]
        assert len(replies) <= 1
        assert not replies or (self.machine.is_terminated and self.outputs[-1] is replies[0])

    @invariant()
    def a_request_ends_with_an_answer_or_a_withdrawal(self) -> None:  # INV-E1
        ends = [each for each in self.outputs if isinstance(each, ReplyForm | WithdrawRequest)]
        assert len(ends) == (AskForm("ask") in self.outputs and self.machine.phase != "open")


TestAnyOrder = pytest.mark.contract("PM-107")(in_any_order(AnyOrder))
