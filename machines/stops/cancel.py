"""The window between a cancel and the end of the stopped work's tail (M6).

1. `stopping`: the cancel was sent and the client was not yet told that the work ended; text
   still streams, results of open calls still arrive, nothing new opens.
2. `draining`: the client was told; what Claude Code still says about the stopped work is
   dropped (INV-X1).
3. The window closes when a prompt becomes active or new work starts (INV-X3).
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay


@dataclass(frozen=True, slots=True)
class Stop:
    """A cancel reached work that runs."""


@dataclass(frozen=True, slots=True)
class EndReported:
    """The client was told that the work ended."""


@dataclass(frozen=True, slots=True)
class Renew:
    """Work began that the cancel did not mean."""


Input = Stop | EndReported | Renew


class Cancel(Lifecycle[Input, object]):
    """Lifecycle of the cancel window of one session."""

    clear = State(initial=True)
    stopping = State()
    draining = State()

    stop = clear.to(stopping) | stay(stopping) | stay(draining)
    report_end = stopping.to(draining) | stay(clear) | stay(draining)
    renew = clear.from_(stopping, draining) | stay(clear)

    triggers: ClassVar[dict[type, str]] = {Stop: "stop", EndReported: "report_end", Renew: "renew"}

    @property
    def in_effect(self) -> bool:
        """Whatever ends now ends as cancelled."""
        return self.phase == "stopping"

    @property
    def admits_text(self) -> bool:
        """Text of the root conversation still reaches the client."""
        return self.phase != "draining"

    @property
    def admits_new(self) -> bool:
        """New calls, requests and messages may appear."""
        return self.phase == "clear"
