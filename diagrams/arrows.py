"""What one transition says: when it happens, under which guards, and what it does."""

from collections.abc import Iterable, Iterator
from typing import Any

from statemachine.state import State
from statemachine.transition import Transition


def arrows(state: State) -> Iterator[Transition]:
    """The transitions that leave a state, in the order of their declaration."""
    return (transition for transition in state.transitions if not transition.initial)


def label(transition: Transition) -> str:
    """`event [guards] → actions`, each part only where there is one."""
    guard, does = guards(transition), actions(transition)
    parts = [events(transition), f"[{guard}]" if guard else "", f"→ {does}" if does else ""]
    return " ".join(part for part in parts if part)


def events(transition: Transition) -> str:
    """The ids of its events; a dotted id is the library's second name for the same event."""
    return " / ".join(event.id for event in transition.events if "." not in event.id)


def guards(transition: Transition) -> str:
    """Its conditions as one expression."""
    specs = _declared(transition.cond)
    return " and ".join(_guard(spec, alone=len(specs) == 1) for spec in specs)


def actions(transition: Transition) -> str:
    """The names of its actions, in the order in which they run."""
    specs = [*_declared(transition.before), *_declared(transition.on), *_declared(transition.after)]
    return ", ".join(spec.attr_name for spec in specs)


def entry_actions(state: State) -> str:
    """The names of the actions that run whenever the state is entered."""
    return ", ".join(spec.attr_name for spec in _declared(state.enter))


def exit_actions(state: State) -> str:
    """The names of the actions that run whenever the state is left."""
    return ", ".join(spec.attr_name for spec in _declared(state.exit))


def _declared(specs: Iterable[Any]) -> list[Any]:
    """Without the callbacks that the library would find by their name."""
    return [spec for spec in specs if not spec.is_convention]


def _guard(spec: Any, *, alone: bool) -> str:
    condition, negated = str(spec.attr_name), spec.expected_value is False
    if " or " in condition and (negated or not alone):
        condition = f"({condition})"
    return f"not {condition}" if negated else condition
