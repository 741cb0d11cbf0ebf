"""The base of every lifecycle: typed events in, typed outputs out, nothing else.

1. A lifecycle is synchronous and does no I/O; it knows no clock and no randomness.
2. An action only puts outputs and stores facts about the event; it never sends an event.
3. Each pair of an open state and an event is a transition, or it is refused: `handle` raises
   `Unexpected`, which the bridge counts and logs in one place.
4. A lifecycle that ended answers `()` to everything that comes late.
"""

from typing import Any, ClassVar, Generic, TypeVar

from statemachine import State, StateChart
from statemachine.exceptions import TransitionNotAllowed
from statemachine.transition_list import TransitionList

EventT = TypeVar("EventT")
OutputT = TypeVar("OutputT")


class Unexpected(Exception):  # noqa: N818 - an ordering fact, not a failure
    """An event that the lifecycle has no answer to in its present state."""

    def __init__(self, lifecycle: str, state: str, event: object) -> None:
        super().__init__(f"{lifecycle} in {state}: {type(event).__name__}")
        self.lifecycle = lifecycle
        self.state = state
        self.event = event


def stay(state: State, on: str | None = None) -> TransitionList:
    """A transition that leaves `state` as it is, runs `on`, and enters and exits nothing."""
    transitions: TransitionList = state.to(state, internal=True, on=on)
    return transitions


class Lifecycle(StateChart[Any], Generic[EventT, OutputT]):
    """A strict, synchronous statechart that decides and never acts."""

    allow_event_without_transition = False
    catch_errors_as_events = False
    atomic_configuration_update = True
    enable_self_transition_entries = False

    triggers: ClassVar[dict[type, str]] = {}
    """Which declared event each event class fires."""

    def __init__(self, *listeners: object, start: str | None = None) -> None:
        self._outputs: list[OutputT] | None = []  # initial entry actions have nowhere to put
        super().__init__(listeners=[*listeners], start_value=start)
        self._outputs = None

    @property
    def phase(self) -> str:
        """The id of the state it is in."""
        return str(self.current_state_value)

    def put(self, output: OutputT) -> None:
        """Add an output; only actions may."""
        if self._outputs is None:
            raise RuntimeError("outputs come from actions alone")
        self._outputs.append(output)

    def handle(self, event: EventT) -> tuple[OutputT, ...]:
        """Advance by one event and return, in order, what the caller has to do about it.

        Raises `Unexpected` for an event that the present state refuses.
        """
        if self._outputs is not None:
            raise RuntimeError("a listener must not feed its own lifecycle")
        if self.is_terminated:
            return ()
        outputs: list[OutputT] = []
        self._outputs = outputs
        try:
            self.send(self.triggers[type(event)], cause=event)
        except TransitionNotAllowed as refusal:
            raise Unexpected(type(self).__name__, self.phase, event) from refusal
        finally:
            self._outputs = None
        return tuple(outputs)
