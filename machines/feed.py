"""Feeds the machines of one session and collects what is to be done, in order."""

from collections.abc import Callable
from typing import Any

from machines._core import EventT, Lifecycle, Unexpected
from machines.outputs import Ignored, Output
from machines.trace import Step, Trace

Record = Callable[[Step], None]


class Feed:
    """Hands events to machines; their outputs go on the list, their signals to `route`."""

    def __init__(self, route: Callable[[object], Output | None], record: Record | None = None) -> None:
        self._route = route
        self._record = record
        self._outputs: list[Output] = []

    def __call__(self, machine: Lifecycle[EventT, Any], event: EventT) -> None:
        """Advance a machine; what it refuses is put on the list as `Ignored`."""
        try:
            signals = machine.handle(event)
        except Unexpected as refusal:
            self.put(Ignored(refusal.lifecycle, refusal.state, event))
            return
        for signal in signals:
            self.tell(signal)

    def tell(self, signal: object) -> None:
        """Route what a machine, or a part beside it, has to say."""
        output = self._route(signal)
        if output is not None:
            self.put(output)

    def put(self, output: Output) -> None:
        """Add what has to be done next."""
        self._outputs.append(output)

    def take(self) -> tuple[Output, ...]:
        """Everything since the last call, in order."""
        outputs, self._outputs = tuple(self._outputs), []
        return outputs

    def listeners(self, lifecycle: str) -> tuple[Trace, ...]:
        """The listeners of a new machine: the trace, if one is kept."""
        return (Trace(lifecycle, self._record),) if self._record is not None else ()
