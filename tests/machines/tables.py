"""The tools of the tests of one lifecycle: its table, its holes, and a walk through it in any order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from diagrams.mermaid import LifecycleClass
from machines._core import Lifecycle, Unexpected

Build = Callable[[str], Lifecycle[Any, Any]]
"""A lifecycle that is in the given state."""

Refused = set[tuple[str, type]]
"""Pairs of a state and the class of an event."""


@dataclass(frozen=True)
class Row:
    """One row of a lifecycle's table: what an event does in a state."""

    rule: str
    """Id of the rule in the specification."""
    state: str
    event: object
    then: str
    outputs: tuple[object, ...] = ()
    marks: tuple[pytest.MarkDecorator, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}: {self.state} × {type(self.event).__name__} → {self.then}"


def every(rows: Sequence[Row]) -> pytest.MarkDecorator:
    """Run a test with each row, under a name that has the rule's id."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=str(row), marks=row.marks) for row in rows])


def step(build: Build, row: Row) -> tuple[str, tuple[object, ...]]:
    """Where the event of a row leads from its state, and what has to be done."""
    machine = build(row.state)
    outputs = machine.handle(row.event)
    return machine.phase, outputs


def refusals(lifecycle: LifecycleClass, build: Build, samples: Iterable[object]) -> Refused:
    """Every pair of an open state and an event that is refused; nothing may change by it."""
    events = [*samples]
    assert {type(event) for event in events} == {*lifecycle.triggers}, "a sample of each event"
    return {
        (state.id, type(event))
        for state in lifecycle.states
        for event in events
        if not state.final and _refuses(build, state.id, event)
    }


def missing(lifecycle: LifecycleClass, rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    """Declared transitions, as source, event and target, that no row shows."""
    declared = {
        (state.id, event, (transition.target or state).id)
        for state in lifecycle.states
        for transition in state.transitions
        if not transition.initial
        for event in transition.event.split()
    }
    shown = {(row.state, lifecycle.triggers[type(row.event)], row.then) for row in rows}
    return declared - shown


def _refuses(build: Build, state: str, event: object) -> bool:
    machine = build(state)
    refusal = None
    try:
        machine.handle(event)
    except Unexpected as error:
        refusal = error
    if refusal is None:
        return False
    assert (refusal.state, refusal.event, machine.phase) == (state, event, state)
    return True


class Walk(RuleBasedStateMachine):
    """Events in any order: a rule of the subclass feeds them, its oracle knows each answer.

    `predict` tells state and outputs after an event; the refused pairs are those of `refused`,
    no more and no less, and a lifecycle that ended answers nothing. Every other step follows a
    row of the table to an open state, so that a walk does not end where it began; one that ended
    begins again.
    """

    rows: ClassVar[Sequence[Row]]
    refused: ClassVar[Refused]
    late: ClassVar[frozenset[str]] = frozenset()
    """Open states that only a fed event leads to, since nothing but the end follows them."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """Start from the beginning."""
        self.machine = self.create()
        self.outputs: list[object] = []

    @rule(pick=st.integers(0, 99))
    def follow(self, pick: int) -> None:
        """Take a row that leads on."""
        ends = {state.id for state in self.machine.final_states} | self.late
        rows = [row for row in self.rows if row.state == self.machine.phase and row.then not in ends]
        if rows:
            self.handle(rows[pick % len(rows)].event)

    @precondition(lambda self: self.machine.is_terminated)
    @rule()
    def begin_again(self) -> None:
        """Nothing follows the end of a lifecycle."""
        self.begin()

    def create(self) -> Lifecycle[Any, Any]:
        """The lifecycle at its start."""
        raise NotImplementedError

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        """What the event has to do in an open state that takes it."""
        raise NotImplementedError

    def handle(self, event: object) -> None:
        """Feed an event and compare with the oracle."""
        state, ended = self.machine.phase, self.machine.is_terminated
        try:
            outputs: tuple[object, ...] | None = self.machine.handle(event)
        except Unexpected:
            outputs = None
        if not ended and (state, type(event)) in self.refused:
            assert (self.machine.phase, outputs) == (state, None)
            return
        assert (self.machine.phase, outputs) == ((state, ()) if ended else self.predict(state, event))
        self.outputs += outputs or ()


def in_any_order(walk: type[RuleBasedStateMachine]) -> Any:
    """The test case of a walk."""
    case = walk.TestCase
    case.settings = settings(case.settings, max_examples=settings().max_examples, stateful_step_count=25)
    return case
