"""The one listener: it remembers the transitions of a lifecycle and never acts."""

from collections.abc import Callable
from dataclasses import dataclass

from statemachine import State


@dataclass(frozen=True, slots=True)
class Step:
    """One transition of one lifecycle."""

    lifecycle: str
    """Its class and, where there are several, its key: `Turn`, `ToolCall:toolu_1`."""
    event: str
    source: str
    target: str


class Trace:
    """Tells `record` every transition of the lifecycle it listens to."""

    def __init__(self, lifecycle: str, record: Callable[[Step], None]) -> None:
        self._lifecycle = lifecycle
        self._record = record

    def after_transition(self, event: str, source: State, target: State | None) -> None:
        """Called by the library once everything about a transition has happened."""
        self._record(Step(self._lifecycle, str(event), source.id, (target or source).id))
