"""One compaction of the root conversation, in whatever form the client sees it (M11).

1. An id is shown `in_progress` at most once and gets exactly one terminal status (INV-K1); ids
   are never used again (INV-K2).
2. It is terminal before the answer of the turn that it ran in (INV-K3).
3. After an interruption everything that still comes about it is dropped, until new work starts.
4. A summary that a hook tells before anything is open is kept for the next compaction.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.companions.session_reports import CompactionFacts, ReportCompaction, ShowSummary


@dataclass(frozen=True, slots=True)
class Compacting:
    """`status compacting`: the frame's id becomes the id of the compaction."""

    id: str


@dataclass(frozen=True, slots=True)
class Summarized:
    """The PostCompact hook told the summary, already cleaned."""

    summary: str


@dataclass(frozen=True, slots=True)
class SummaryStreamed:
    """A piece of the summary came with the API's own compaction block."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """`compact_result success`, or the boundary when no result came before it."""

    id: str


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """`compact_result failed`."""

    id: str
    error: str


@dataclass(frozen=True, slots=True)
class BoundaryPassed:
    """`compact_boundary` with what is known about it."""

    id: str
    facts: CompactionFacts


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The result of the turn that it ran in."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A cancel, a failing turn, or the end of the process."""


@dataclass(frozen=True, slots=True)
class Unmute:
    """New work starts."""


Input = (
    Compacting
    | Summarized
    | SummaryStreamed
    | Compacted
    | CompactionFailed
    | BoundaryPassed
    | TurnEnded
    | Interrupted
    | Unmute
)


class Compaction(Lifecycle[Input, ReportCompaction | ShowSummary]):
    """Lifecycle of the compactions of one session."""

    none = State(initial=True)
    open = State()
    completed = State()
    failed = State()
    muted = State()

    start = open.from_(none, completed, failed, on="report_start") | stay(open) | stay(muted)
    summarize = (
        stay(none, "keep_summary")
        | stay(open, "keep_summary")
        | stay(completed, "keep_summary")
        | stay(failed, "keep_summary")
        | stay(muted)
    )
    stream = stay(open, "show_piece") | stay(none) | stay(completed) | stay(failed) | stay(muted)
    complete = (
        completed.from_(open, none, on="report_completed") | stay(completed) | stay(failed) | stay(muted)
    )
    fail = failed.from_(open, none, on="report_failed") | stay(completed) | stay(failed) | stay(muted)
    pass_boundary = (
        completed.from_(open, none, on="report_boundary")
        | stay(completed, "report_facts")
        | stay(failed)
        | stay(muted)
    )
    end_turn = open.to(none, on="report_cancelled") | none.from_(completed, failed) | stay(none) | stay(muted)
    interrupt = (
        open.to(muted, on="report_cancelled")
        | muted.from_(none, completed, failed, on="drop_summary")
        | stay(muted)
    )
    unmute = muted.to(none) | stay(none) | stay(open) | stay(completed) | stay(failed)

    triggers: ClassVar[dict[type, str]] = {
        Compacting: "start",
        Summarized: "summarize",
        SummaryStreamed: "stream",
        Compacted: "complete",
        CompactionFailed: "fail",
        BoundaryPassed: "pass_boundary",
        TurnEnded: "end_turn",
        Interrupted: "interrupt",
        Unmute: "unmute",
    }

    def __init__(self, *listeners: object, start: str | None = None) -> None:
        self.id = ""
        self.summary: str | None = None
        self.streamed = ""
        super().__init__(*listeners, start=start)

    def report_start(self, cause: Compacting) -> None:
        """It began."""
        self.id, self.streamed = cause.id, ""
        self.put(ReportCompaction(self.id, "in_progress"))

    def keep_summary(self, cause: Summarized) -> None:
        """Keep the summary for the end."""
        self.summary = cause.summary

    def show_piece(self, cause: SummaryStreamed) -> None:
        """Show a piece of the summary."""
        self.streamed += cause.text
        self.put(ShowSummary(self.id, cause.text))

    def report_completed(self, cause: Compacted) -> None:
        """It succeeded."""
        self._complete(cause.id, None)

    def report_boundary(self, cause: BoundaryPassed) -> None:
        """It succeeded, and nobody said so before its boundary."""
        self._complete(cause.id, cause.facts)

    def report_facts(self, cause: BoundaryPassed) -> None:
        """What the boundary adds to a success that was reported."""
        self.put(ReportCompaction(self.id, "completed", facts=cause.facts))

    def report_failed(self, cause: CompactionFailed) -> None:
        """It failed."""
        self.id = self._id(cause.id)
        self.summary = None
        self.put(ReportCompaction(self.id, "failed", error=cause.error))

    def report_cancelled(self) -> None:
        """It ends without a result."""
        self.summary = None
        self.put(ReportCompaction(self.id, "cancelled"))

    def drop_summary(self) -> None:
        """What was kept for the next one belongs to stopped work."""
        self.summary = None

    def _complete(self, id: str, facts: CompactionFacts | None) -> None:
        self.id = self._id(id)
        summary = None if self.summary is None or self.summary == self.streamed else self.summary
        self.summary = None
        self.put(ReportCompaction(self.id, "completed", summary=summary, facts=facts))

    def _id(self, id: str) -> str:
        """A compaction whose beginning was missed bears the id of the frame that told its end."""
        return self.id if self.phase == "open" else id
