"""The base of every lifecycle, its one listener, and the feed that runs machines in order."""

from typing import Any, ClassVar

import pytest
from statemachine import State

from machines._core import Lifecycle, Unexpected, stay
from machines.feed import Feed
from machines.outputs import Ignored
from machines.trace import Step


class Lamp(Lifecycle[object, object]):
    """A lamp that breaks when it is hit."""

    off = State(initial=True)
    on = State()
    broken = State(final=True)

    press = off.to(on, on="shine") | on.to(off)
    dim = stay(on, "shine")
    hit = broken.from_(off, on, on="fall_apart")

    triggers: ClassVar[dict[type, str]] = {str: "press", int: "dim", float: "hit"}

    def shine(self, cause: object) -> None:
        self.put(cause)

    def fall_apart(self, cause: object) -> None:
        self.put(cause)
        if cause == 0.0:
            raise ZeroDivisionError


class Meddler:
    """A listener that does more than listen."""

    def __init__(self) -> None:
        self.lamp: Lamp | None = None

    def after_transition(self) -> None:
        if self.lamp is not None:
            self.lamp.handle("again")


def test_events_in_outputs_out() -> None:
    lamp = Lamp()

    assert [lamp.handle(event) for event in ("press", 3, "press", 0.5)] == [("press",), (3,), (), (0.5,)]


def test_a_refused_event_changes_nothing_and_says_where_it_came() -> None:
    lamp = Lamp()

    with pytest.raises(Unexpected, match="Lamp in off: int") as refusal:
        lamp.handle(3)

    assert (refusal.value.lifecycle, refusal.value.state, refusal.value.event) == ("Lamp", "off", 3)
    assert lamp.phase == "off"


def test_a_lifecycle_that_ended_answers_nothing_to_everything() -> None:
    lamp = Lamp(start="broken")

    assert [lamp.handle(event) for event in ("press", 3, 0.5)] == [(), (), ()]


def test_an_action_that_fails_leaves_the_state_and_no_outputs() -> None:
    lamp = Lamp()

    with pytest.raises(ZeroDivisionError):
        lamp.handle(0.0)

    assert lamp.phase == "off"
    assert lamp.handle("press") == ("press",)


def test_outputs_come_from_actions_alone() -> None:
    with pytest.raises(RuntimeError, match="from actions alone"):
        Lamp().put("light")


def test_a_listener_must_not_feed_its_own_lifecycle() -> None:
    meddler = Meddler()
    meddler.lamp = Lamp(meddler)

    with pytest.raises(RuntimeError, match="must not feed"):
        meddler.lamp.handle("press")


def test_the_feed_routes_signals_collects_outputs_and_tells_what_was_refused() -> None:
    steps: list[Step] = []

    def route(signal: object) -> Any:
        return None if signal == "press" else signal

    feed = Feed(route, steps.append)
    lamp = Lamp(*feed.listeners("Lamp:1"))

    for event in (2, "press", 3):
        feed(lamp, event)

    assert [*feed.take()] == [Ignored("Lamp", "off", 2), 3]
    assert feed.take() == ()
    assert steps == [Step("Lamp:1", "press", "off", "on"), Step("Lamp:1", "dim", "on", "on")]


def test_nobody_listens_unless_a_trace_is_kept() -> None:
    assert Feed(lambda signal: None).listeners("Lamp") == ()
