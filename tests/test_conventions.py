"""What every lifecycle keeps to, so that its declaration can be trusted and drawn."""

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, get_args

import pytest
from statemachine.state import State

from bridge.live.perform import _PERFORM
from diagrams.mermaid import LifecycleClass
from diagrams.pages import discover
from machines import conversation, events, outputs
from machines._core import Lifecycle
from machines.trace import Trace

FLAGS = {
    "allow_event_without_transition": False,
    "catch_errors_as_events": False,
    "atomic_configuration_update": True,
    "enable_self_transition_entries": False,
}
BY_NAME = ("on_", "before_", "after_", "prepare_")
"""Beginnings of the names that the library would call without being told."""

TAKEN = frozenset(dir(Lifecycle)) | {"name", "id", "model", "states", "events"}
"""What an event of the same name would silently replace."""

every = pytest.mark.parametrize("lifecycle", discover(), ids=lambda each: each.__name__)


class Reversed(Lifecycle[object, object]):
    """Everything a lifecycle must not do."""

    allow_event_without_transition = True
    triggers: ClassVar[dict[type, str]] = {str: "go", int: "gone"}

    start = State(initial=True)
    end = State(final=True)

    go = start.to(end)
    handle = start.to(end)

    def on_enter_end(self) -> None: ...
    def before_go(self) -> None: ...


def faults(lifecycle: LifecycleClass) -> Iterator[str]:
    """Every breach of the conventions, in words."""
    ids = Counter(state.id for state in _every(lifecycle.states))
    yield from (f"state {name} is declared {count} times" for name, count in ids.items() if count > 1)
    events = {event.id for event in lifecycle._events if "." not in event.id}
    fired = set(lifecycle.triggers.values())
    yield from (f"no class triggers {name}" for name in sorted(events - fired))
    yield from (f"{name} is triggered and not declared" for name in sorted(fired - events))
    yield from (f"event {name} replaces an attribute" for name in sorted(events & TAKEN))
    yield from (
        f"{name} would be called by its name"
        for name in vars(lifecycle)
        if name.startswith(BY_NAME) and name not in events
    )
    yield from (
        f"{flag} is changed" for flag, value in FLAGS.items() if getattr(lifecycle, flag) is not value
    )


def _every(states: Iterable[State]) -> Iterator[State]:
    for state in states:
        yield state
        yield from _every(state.states)


@every
def test_a_lifecycle_keeps_the_conventions(lifecycle: LifecycleClass) -> None:
    assert [*faults(lifecycle)] == []


def test_a_lifecycle_that_breaks_them_is_found() -> None:
    assert sorted(faults(Reversed)) == [
        "allow_event_without_transition is changed",
        "before_go would be called by its name",
        "event handle replaces an attribute",
        "gone is triggered and not declared",
        "no class triggers handle",
        "on_enter_end would be called by its name",
    ]


@every
def test_every_callback_that_a_lifecycle_names_exists(lifecycle: LifecycleClass) -> None:
    instance = _build(lifecycle)

    assert instance.phase in {state.id for state in lifecycle.states}


def test_the_trace_listens_to_what_has_happened_and_to_nothing_else() -> None:
    assert [name for name in vars(Trace) if not name.startswith("_")] == ["after_transition"]


def test_every_event_has_a_handler_and_every_output_is_performed() -> None:
    handled = {*conversation._FROM_PROCESS, *conversation._OTHERS}

    assert {*get_args(events.Event)} - handled == set()
    assert {*get_args(outputs.Output)} ^ {*_PERFORM} == {outputs.Ignored}, "which the session counts"


def _build(lifecycle: LifecycleClass) -> Lifecycle[Any, Any]:
    """An instance; the facts that a lifecycle is born with do not matter here."""
    facts = [
        None
        for parameter in inspect.signature(lifecycle).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    ]
    return lifecycle(*facts)
