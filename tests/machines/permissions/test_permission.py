"""One permission request: asked once, answered once, on both sides (M9)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.events import AskAnswered, AskPrepared, AskReceived, AskWithdrawn, Option, ToolUse
from machines.outputs import AbortAsk, AskClient, DenyAsk, PrepareAsk, ReplyAsk, WithdrawRequest
from machines.permissions.permission import Announce, CancelAsk, LoseAsk, Permission, Refuse
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

USE = ToolUse("toolu_1", "Bash", {"command": "ls"})
ASK = AskReceived("ask", USE, (Option("allow-once", grants=True), Option("reject", grants=False)))

ALLOWED = AskAnswered("ask", "allow-once")
REJECTED = AskAnswered("ask", "reject")
UNOFFERED = AskAnswered("ask", "allow-always")
FAILED = AskAnswered("ask", failure="the dialog crashed")
CANCELLED = AskAnswered("ask")
ANSWERS = (ALLOWED, REJECTED, UNOFFERED, FAILED, CANCELLED)

SAMPLES = (ASK, Refuse("no"), AskPrepared("ask"), *ANSWERS, AskWithdrawn("ask"), CancelAsk(), LoseAsk())
WITHDRAW = WithdrawRequest("ask")

ROWS = (
    Row("M9 new", "new", ASK, "announcing", (PrepareAsk("ask"),)),
    Row("M9 new, dropped", "new", Refuse("stopped"), "denied", (DenyAsk("ask", "stopped"),)),
    Row("M9 session gone", "new", LoseAsk(), "aborted"),
    Row("M9 announcing", "announcing", AskPrepared("ask"), "open", (Announce(USE, "ask"), AskClient("ask"))),
    Row("M9 cancel", "announcing", CancelAsk(), "stopping"),
    Row("M9 withdrawn", "announcing", AskWithdrawn("ask"), "aborted"),
    Row("M9 stream end", "announcing", LoseAsk(), "aborted"),
    Row("M9 offered, allows", "open", ALLOWED, "allowed", (ReplyAsk("ask", "allow-once"),)),
    Row("M9 offered, rejects", "open", REJECTED, "denied", (ReplyAsk("ask", "reject"),)),
    Row(
        "M9 not offered",
        "open",
        UNOFFERED,
        "aborted",
        (AbortAsk("ask", "Permission option was not offered: allow-always"),),
        (pytest.mark.contract("PM-007"),),
    ),
    Row("M9 error", "open", FAILED, "aborted", (AbortAsk("ask", "the dialog crashed"),)),
    Row("M9 answer cancelled", "open", CANCELLED, "aborted", (AbortAsk("ask", "Tool use aborted"),)),
    Row("M9 withdrawn", "open", AskWithdrawn("ask"), "aborted", (WITHDRAW,)),
    Row("M9 stream end", "open", LoseAsk(), "aborted", (WITHDRAW,)),
    Row("M9 cancel", "open", CancelAsk(), "stopping", (WITHDRAW,)),
    Row("M9 cancel again", "stopping", CancelAsk(), "stopping"),
    Row("M9 answer after a cancel", "stopping", ALLOWED, "stopping", (), (pytest.mark.contract("PM-101"),)),
    Row("M9 prepared after a cancel", "stopping", AskPrepared("ask"), "stopping"),
    Row("M9 withdrawn after a cancel", "stopping", AskWithdrawn("ask"), "aborted"),
    Row("M9 stream end after a cancel", "stopping", LoseAsk(), "aborted"),
)

REFUSED: Refused = {
    ("new", AskPrepared),
    ("new", AskAnswered),
    ("new", AskWithdrawn),
    ("new", CancelAsk),
    ("announcing", AskReceived),
    ("announcing", Refuse),
    ("announcing", AskAnswered),
    ("open", AskReceived),
    ("open", Refuse),
    ("open", AskPrepared),
    ("stopping", AskReceived),
    ("stopping", Refuse),
}


def at(state: str) -> Permission:
    return Permission(ASK, start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Permission, ROWS) == set()


def test_totality() -> None:
    assert refusals(Permission, at, SAMPLES) == REFUSED


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED

    def create(self) -> Permission:
        return Permission(ASK)

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match state, event:
            case "new", AskReceived():
                return "announcing", (PrepareAsk("ask"),)
            case "new", Refuse(text):
                return "denied", (DenyAsk("ask", text),)
            case "announcing", AskPrepared():
                return "open", (Announce(USE, "ask"), AskClient("ask"))
            case "open", AskAnswered(option="allow-once" | "reject" as option):
                return "allowed" if option == "allow-once" else "denied", (ReplyAsk("ask", option),)
            case "open", AskAnswered(failure=failure, option=option):
                text = failure or (
                    f"Permission option was not offered: {option}" if option else "Tool use aborted"
                )
                return "aborted", (AbortAsk("ask", text),)
            case "open", CancelAsk():
                return "stopping", (WITHDRAW,)
            case "open", AskWithdrawn() | LoseAsk():
                return "aborted", (WITHDRAW,)
            case _, AskWithdrawn() | LoseAsk():
                return "aborted", ()
            case _, CancelAsk() | AskAnswered() | AskPrepared():
                return "stopping", ()
        raise AssertionError(f"no prediction for {state} × {event}")

    @invariant()
    def claude_code_is_answered_at_most_once_and_last(self) -> None:  # INV-P1
        replies = [each for each in self.outputs if isinstance(each, ReplyAsk | DenyAsk | AbortAsk)]
        assert len(replies) <= 1
        assert not replies or (self.machine.is_terminated and self.outputs[-1] is replies[0])

    @invariant()
    def a_request_ends_with_an_accepted_answer_or_a_withdrawal(self) -> None:  # INV-P2
        ends = [each for each in self.outputs if isinstance(each, ReplyAsk | AbortAsk | WithdrawRequest)]
        assert len(ends) == (AskClient("ask") in self.outputs and self.machine.phase != "open")

    @invariant()
    def only_an_offered_option_grants(self) -> None:  # INV-P3
        assert (self.machine.phase == "allowed") == (ReplyAsk("ask", "allow-once") in self.outputs)

    @invariant()
    def the_call_is_announced_before_the_request(self) -> None:  # INV-C4
        kinds = [type(each) for each in self.outputs]
        assert kinds.count(AskClient) == kinds.count(Announce) <= 1
        assert AskClient not in kinds or kinds.index(Announce) < kinds.index(AskClient)


TestAnyOrder = pytest.mark.contract("PM-003", "PM-107", "PM-110")(in_any_order(AnyOrder))
