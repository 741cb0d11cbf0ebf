"""The work that the user waits for: of a turn, or a cycle that Claude Code started itself (M5).

1. The reports alternate: `running` … `requires_action` … `running` … one `idle` (INV-F1).
2. `requires_action` holds exactly while a request is open that this work waits on (INV-F4).
3. A turn that becomes active while a cycle runs takes the cycle over without a report. A cycle takes over
   from a turn that only waits for a message of the user.
4. When a cancel withdrew the last request, the end follows and nothing is reported between.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.outputs import Outcome, ReportWork
from machines.results.usage import Usage


@dataclass(frozen=True, slots=True)
class TurnInserted:
    """A turn became active for the first time."""


@dataclass(frozen=True, slots=True)
class CycleStarted:
    """Claude Code began to work on its own."""


@dataclass(frozen=True, slots=True)
class RequestOpened:
    """A request that this work waits on is open."""


@dataclass(frozen=True, slots=True)
class RequestsClosed:
    """The last of those requests ended."""

    withdrawn: bool = False
    """A cancel withdrew it."""


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The turn was answered or held, or the cycle is over."""

    outcome: Outcome
    usage: Usage | None = None


Input = TurnInserted | CycleStarted | RequestOpened | RequestsClosed | WorkEnded


class Foreground(Lifecycle[Input, ReportWork]):
    """Lifecycle of the foreground work of one session."""

    idle = State(initial=True)
    cycling = State()
    running = State()
    requires_action = State()
    cycle_requires_action = State()

    insert = (
        idle.to(running, on="report_running")
        | cycling.to(running)
        | cycle_requires_action.to(requires_action)
    )
    start_cycle = (
        idle.to(cycling, on="report_running")
        | running.to(cycling)
        | requires_action.to(cycle_requires_action)
    )
    open_request = (
        running.to(requires_action, on="report_blocked")
        | cycling.to(cycle_requires_action, on="report_blocked")
        | stay(requires_action)
        | stay(cycle_requires_action)
        | stay(idle)
    )
    close_requests = (
        requires_action.to(running, on="report_unblocked")
        | cycle_requires_action.to(cycling, on="report_unblocked")
        | stay(idle)
        | stay(running)
        | stay(cycling)
    )
    end = idle.from_(running, cycling, requires_action, cycle_requires_action, on="report_idle")

    triggers: ClassVar[dict[type, str]] = {
        TurnInserted: "insert",
        CycleStarted: "start_cycle",
        RequestOpened: "open_request",
        RequestsClosed: "close_requests",
        WorkEnded: "end",
    }

    @property
    def is_idle(self) -> bool:
        """Nothing runs that the user waits for."""
        return self.phase == "idle"

    @property
    def is_cycle(self) -> bool:
        """What runs is Claude Code's own work."""
        return self.phase in {"cycling", "cycle_requires_action"}

    def report_running(self) -> None:
        """Work began."""
        self.put(ReportWork("running"))

    def report_blocked(self) -> None:
        """Work waits for the user."""
        self.put(ReportWork("requires_action"))

    def report_unblocked(self, cause: RequestsClosed) -> None:
        """Work goes on, unless a cancel is about to end it."""
        if not cause.withdrawn:
            self.put(ReportWork("running"))

    def report_idle(self, cause: WorkEnded) -> None:
        """Work ended."""
        self.put(ReportWork("idle", cause.outcome, cause.usage))
