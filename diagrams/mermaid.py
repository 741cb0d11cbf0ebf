"""The chart of a lifecycle as a Mermaid state diagram, in the order of its declaration."""

from collections.abc import Iterable, Iterator
from typing import Any

from statemachine.state import HistoryState, State

from diagrams.arrows import arrows, entry_actions, exit_actions, label
from machines._core import Lifecycle

LifecycleClass = type[Lifecycle[Any, Any]]

_RESERVED = frozenset({"class", "click", "default", "note", "state", "style"})
"""Ids that Mermaid reads as its own words."""


def chart(lifecycle: LifecycleClass) -> str:
    """The diagram's source, without the fence around it."""
    return "\n".join(["stateDiagram-v2", *_indented(_region(lifecycle.states))])


def _region(states: Iterable[State]) -> Iterator[str]:
    states = [*states]
    for state in states:
        yield from _state(state)
    yield from (f"[*] --> {_id(state)}" for state in states if state.initial)
    yield from (f"{_id(state)} --> [*]" for state in states if state.final)
    for state in states:
        yield from _arrows(state)


def _state(state: State) -> Iterator[str]:
    if state.states:
        yield f"state {_id(state)} {{"
        yield from _indented(_content(state))
        yield "}"
        return
    enter, leave = entry_actions(state), exit_actions(state)
    yield _id(state) if not enter and not leave else f"{_id(state)} : {state.id}"
    if enter:
        yield f"{_id(state)} : on entry → {enter}"
    if leave:
        yield f"{_id(state)} : on exit → {leave}"


def _content(state: State) -> Iterator[str]:
    """The inside of a compound state, or the regions of a parallel one."""
    for history in state.history:
        yield f'state "{_history_sign(history)}" as {_id(history)}'
    if not state.parallel:
        yield from _region(state.states)
        return
    for number, region in enumerate(state.states):
        if number:
            yield "--"
        yield from _region([region])


def _arrows(state: State) -> Iterator[str]:
    for transition in arrows(state):
        for target in transition.targets or [state]:
            text = label(transition)
            yield f"{_id(state)} --> {_id(target)}" + (f" : {text}" if text else "")


def _history_sign(history: HistoryState) -> str:
    return "H*" if history.type.is_deep else "H"


def _id(state: State) -> str:
    return f"{state.id}_" if state.id in _RESERVED else state.id


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
