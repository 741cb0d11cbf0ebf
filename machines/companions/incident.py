"""One incident that a client with failure records is told of (M13), and the book of all of them.

1. The revisions of an id only grow (INV-I1); a turn has at most one id (INV-I2).
2. A warning may become a failure under the same id; what recovered is never sent again (INV-I4).
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from statemachine import State

from machines._core import Lifecycle, stay
from machines.companions.session_reports import IncidentFacts, ReportIncident


@dataclass(frozen=True, slots=True)
class Warn:
    """It may still go well."""

    facts: IncidentFacts


@dataclass(frozen=True, slots=True)
class Activate:
    """It did not."""

    facts: IncidentFacts


@dataclass(frozen=True, slots=True)
class Recover:
    """What it was about is over; the client is not told."""


Input = Warn | Activate | Recover
Recovery = Literal["next_attempt", "real_model_success", "runtime_rebind", "never"]


class Incident(Lifecycle[Input, ReportIncident]):
    """Lifecycle of one incident."""

    new = State(initial=True)
    warning = State()
    active = State()
    recovered = State(final=True)

    warn = warning.from_(new, warning, on="report") | stay(active)
    activate = active.from_(new, warning, active, on="report")
    recover = recovered.from_(new, warning, active)

    triggers: ClassVar[dict[type, str]] = {Warn: "warn", Activate: "activate", Recover: "recover"}

    def __init__(self, id: str, *listeners: object, start: str | None = None) -> None:
        self.id = id
        self.revision = 0
        super().__init__(*listeners, start=start)

    def report(self, cause: Warn | Activate) -> None:
        """Tell the client, with the next revision."""
        self.revision += 1
        self.put(ReportIncident(self.id, self.revision, cause.facts))


@dataclass(slots=True)
class Book:
    """The incidents of one session: who has which id, and what ends them."""

    session: str
    epoch: str
    open: dict[str, tuple[Incident, Recovery]] = field(default_factory=dict)
    number: int = 0
    notices: int = 0
    last_notice: tuple[str, str] | None = None
    """Title and id of the last notice: the same title again is a revision of it."""
    revisions: dict[str, int] = field(default_factory=dict)

    def turn_id(self, turn: str) -> str:
        """The one id of a turn's failure."""
        return f"{turn}:error"

    def session_id(self) -> str:
        """A fresh id for an incident that belongs to no turn."""
        self.number += 1
        return f"{self.session}:session-error:{self.epoch}:{self.number}"

    def revise(self, id: str) -> int:
        """The next revision of a notice."""
        self.revisions[id] = self.revisions.get(id, 0) + 1
        return self.revisions[id]

    def notice_id(self, title: str) -> str:
        """The id of a notice."""
        if self.last_notice is None or self.last_notice[0] != title:
            self.notices += 1
            self.last_notice = (title, f"{self.session}:notice:{self.epoch}:{self.notices}")
        return self.last_notice[1]
