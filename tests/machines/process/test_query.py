"""One Claude Code process, from its start to the end of its frames (M3)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.events import (
    QueryInitialized,
    QueryStartFailed,
    StartFailure,
    StreamClosed,
    StreamEnd,
    WorkerShuttingDown,
)
from machines.outputs import Failure, FailureKind, StopQuery
from machines.process.query import DIED, Lost, Query, Ready, StartFailed, Stop
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

REFUSAL = QueryStartFailed(StartFailure.UNKNOWN_SESSION, "No conversation found")
ENDED = StreamClosed(StreamEnd.ENDED)
KILLED = StreamClosed(StreamEnd.DIED, "exit code -9")
BROKEN = StreamClosed(StreamEnd.BROKEN, "The line is no JSON")

SAMPLES = (QueryInitialized(), REFUSAL, WorkerShuttingDown(), ENDED, KILLED, BROKEN, Stop())


def lost(kind: FailureKind, text: str = DIED) -> tuple[Lost]:
    return (Lost(Failure(kind, text)),)


ROWS = (
    Row("M3 initialize response", "starting", QueryInitialized(), "streaming", (Ready(),)),
    Row("M3 error reply", "starting", REFUSAL, "ended", (StartFailed(REFUSAL),)),
    Row(
        "M3 eof while starting",
        "starting",
        KILLED,
        "ended",
        (StartFailed(QueryStartFailed(StartFailure.FAILED, "exit code -9")),),
    ),
    Row("M3 close while starting", "starting", Stop(), "stopped", (StopQuery(),)),
    Row("M3 worker_shutting_down", "streaming", WorkerShuttingDown(), "draining"),
    Row("M3 eof", "streaming", ENDED, "ended", (Lost(None),)),
    Row("M3 died", "streaming", KILLED, "ended", lost(FailureKind.TRANSPORT_LOST)),
    Row("M3 error", "streaming", BROKEN, "ended", lost(FailureKind.TRANSPORT_LOST, "The line is no JSON")),
    Row(
        "M3 error without text",
        "streaming",
        StreamClosed(StreamEnd.BROKEN),
        "ended",
        lost(FailureKind.TRANSPORT_LOST),
    ),
    Row("M3 eof while draining", "draining", ENDED, "ended", lost(FailureKind.WORKER_SHUTDOWN)),
    Row("M3 died while draining", "draining", KILLED, "ended", lost(FailureKind.WORKER_SHUTDOWN)),
    Row("M3 close", "streaming", Stop(), "stopped", (StopQuery(),)),
    Row("M3 close while draining", "draining", Stop(), "stopped", (StopQuery(),)),
)

REFUSED: Refused = {
    ("starting", WorkerShuttingDown),
    ("streaming", QueryInitialized),
    ("streaming", QueryStartFailed),
    ("draining", QueryInitialized),
    ("draining", QueryStartFailed),
    ("draining", WorkerShuttingDown),
}


def at(state: str) -> Query:
    return Query(start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Query, ROWS) == set()


def test_totality() -> None:
    assert refusals(Query, at, SAMPLES) == REFUSED


@pytest.mark.parametrize("state", ["ended", "stopped"])
@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_m3_after_its_end_everything_is_dropped(state: str, event: Any) -> None:
    assert at(state).handle(event) == ()


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED

    def create(self) -> Query:
        return Query()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match state, event:
            case _, Stop():
                return "stopped", (StopQuery(),)
            case "starting", QueryInitialized():
                return "streaming", (Ready(),)
            case "starting", QueryStartFailed():
                return "ended", (StartFailed(event),)
            case "starting", StreamClosed(_, text):
                return "ended", (StartFailed(QueryStartFailed(StartFailure.FAILED, text)),)
            case _, WorkerShuttingDown():
                return "draining", ()
            case "draining", _:
                return "ended", lost(FailureKind.WORKER_SHUTDOWN)
            case _, StreamClosed(StreamEnd.ENDED):
                return "ended", (Lost(None),)
            case _, StreamClosed(StreamEnd.DIED):
                return "ended", lost(FailureKind.TRANSPORT_LOST)
        return "ended", lost(FailureKind.TRANSPORT_LOST, event.text)

    @invariant()
    def it_ends_exactly_once(self) -> None:  # INV-Q1
        ends = [each for each in self.outputs if isinstance(each, StartFailed | Lost | StopQuery)]
        assert len(ends) == self.machine.is_terminated


TestAnyOrder = in_any_order(AnyOrder)
