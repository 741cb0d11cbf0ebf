"""A subagent in the form of AIR's draft: one session, and one lifecycle, for each generation (M20).

1. It is announced in a session that is announced already and has not ended (INV-H1, INV-H9).
2. Its calls are final before its end is told (INV-H8, decision 22).
3. After its end nothing of it is told (INV-H3); work that goes on begins another generation.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.children.child_outputs import ChildEnd, EndChild, Place, RouteChild, SpawnChild


@dataclass(frozen=True, slots=True)
class Generation:
    """What is told of one delegation."""

    session: str
    name: str
    task: str
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Spawn:
    """It is known whose subagent it is."""

    parent: Place
    lanes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extend:
    """Another lane leads to it."""

    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Its work is over; `parent` is the nearest session that still shows something."""

    parent: Place
    state: ChildEnd


@dataclass(frozen=True, slots=True)
class Restore:
    """It is of a stored conversation: what it told is over (R.5)."""


Input = Spawn | Extend | Finish | Restore


class AirChild(Lifecycle[Input, SpawnChild | RouteChild | EndChild]):
    """Lifecycle of one generation of a subagent, in the AIR form."""

    registered = State(initial=True)
    live = State()
    completed = State(final=True)
    failed = State(final=True)
    cancelled = State(final=True)
    disconnected = State(final=True)

    spawn = registered.to(live, on="announce")
    extend = stay(registered) | stay(live, "route")
    finish = (
        live.to(completed, cond="is_completed", on="report_end")
        | live.to(failed, cond="is_failed", on="report_end")
        | live.to(cancelled, cond="is_cancelled", on="report_end")
        | live.to(disconnected, on="report_end")
    )

    restore = registered.to(disconnected) | stay(live)

    triggers: ClassVar[dict[type, str]] = {
        Spawn: "spawn",
        Extend: "extend",
        Finish: "finish",
        Restore: "restore",
    }

    def __init__(self, generation: Generation, *listeners: object, start: str | None = None) -> None:
        self.generation = generation
        super().__init__(*listeners, start=start)

    def is_completed(self, cause: Finish) -> bool:
        """It did what it was asked."""
        return cause.state == "completed"

    def is_failed(self, cause: Finish) -> bool:
        """It could not."""
        return cause.state == "failed"

    def is_cancelled(self, cause: Finish) -> bool:
        """It was stopped."""
        return cause.state == "cancelled"

    def announce(self, cause: Spawn) -> None:
        """Tell its parent that it begins, then let its updates through."""
        it = self.generation
        self.put(SpawnChild(cause.parent, it.session, it.name, it.task, it.prompt))
        self.put(RouteChild(it.session, cause.lanes))

    def route(self, cause: Extend) -> None:
        """Let through what comes on another lane."""
        self.put(RouteChild(self.generation.session, cause.lanes))

    def report_end(self, cause: Finish) -> None:
        """Tell how it ended."""
        self.put(EndChild(cause.parent, self.generation.session, cause.state))
