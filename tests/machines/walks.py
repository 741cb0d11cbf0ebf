"""A walk through a lifecycle that takes every event everywhere: what holds is said by invariants."""

from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from machines._core import Lifecycle


class FreeWalk(RuleBasedStateMachine):
    """Feeds events in any order and keeps all outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = self.create()
        self.outputs: list[Any] = []

    def create(self) -> Lifecycle[Any, Any]:
        """The lifecycle at its start."""
        raise NotImplementedError

    def feed(self, event: object) -> tuple[Any, ...]:
        """Let something happen; what has to be done about it."""
        outputs = self.machine.handle(event)
        self.outputs += outputs
        return outputs
