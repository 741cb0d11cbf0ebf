"""One stdio pair: negotiated once, closed once (M1)."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.connection import (
    Break,
    CloseSessions,
    Connection,
    DrainRequests,
    Initialize,
    InputEnded,
    Negotiate,
    RepeatAnswer,
    SessionsClosed,
    Shut,
)
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

SAMPLES = (Initialize(), InputEnded(), Break(), SessionsClosed())

ROWS = (
    Row("M1 initialize", "opened", Initialize(), "negotiated", (Negotiate(),)),
    Row("M1 initialize again", "negotiated", Initialize(), "negotiated", (RepeatAnswer(),)),
    Row("M1 end of input", "negotiated", InputEnded(), "closing", (DrainRequests(),)),
    Row("M1 end of input before a handshake", "opened", InputEnded(), "closing", (DrainRequests(),)),
    Row("M1 signal or broken output", "negotiated", Break(), "closing", (CloseSessions(),)),
    Row("M1 signal before a handshake", "opened", Break(), "closing", (CloseSessions(),)),
    Row("M1 signal while closing", "closing", Break(), "closing", (CloseSessions(),)),
    Row("M1 end of input while closing", "closing", InputEnded(), "closing"),
    Row("M1 all sessions closed", "closing", SessionsClosed(), "closed", (Shut(),)),
)

REFUSED: Refused = {("opened", SessionsClosed), ("negotiated", SessionsClosed), ("closing", Initialize)}


def at(state: str) -> Connection:
    return Connection(start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Connection, ROWS) == set()


def test_totality() -> None:
    assert refusals(Connection, at, SAMPLES) == REFUSED


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED

    def create(self) -> Connection:
        return Connection()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match event:
            case Initialize():
                return "negotiated", (Negotiate() if state == "opened" else RepeatAnswer(),)
            case InputEnded():
                return "closing", () if state == "closing" else (DrainRequests(),)
            case Break():
                return "closing", (CloseSessions(),)
        return "closed", (Shut(),)

    @invariant()
    def the_handshake_is_negotiated_once_and_repeated_as_it_was(self) -> None:  # INV-N4
        answers = [each for each in self.outputs if isinstance(each, Negotiate | RepeatAnswer)]
        assert [type(each) for each in answers[:1]] == [Negotiate] * bool(answers)
        assert Negotiate() not in answers[1:]

    @invariant()
    def nothing_is_served_once_it_closes(self) -> None:  # INV-N3
        kinds = [type(each) for each in self.outputs]
        ends = [at for at, kind in enumerate(kinds) if kind in {DrainRequests, CloseSessions}]
        assert not ends or not {Negotiate, RepeatAnswer} & {*kinds[ends[0] :]}

    @invariant()
    def it_shuts_once_and_last(self) -> None:
        assert self.outputs.count(Shut()) == self.machine.is_terminated
        assert not self.machine.is_terminated or self.outputs[-1] == Shut()


TestAnyOrder = in_any_order(AnyOrder)
