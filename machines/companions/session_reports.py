"""What a session tells beside its conversation: compactions, the goal, incidents, file reports."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CompactionFacts:
    """What a boundary tells; None for what is not known."""

    trigger: Literal["manual", "automatic"] | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ReportCompaction:
    """The status of a compaction."""

    id: str
    status: Literal["in_progress", "completed", "failed", "cancelled"]
    summary: str | None = None
    error: str | None = None
    facts: CompactionFacts | None = None


@dataclass(frozen=True, slots=True)
class ShowSummary:
    """A piece of the summary of an open compaction."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class GoalSnapshot:
    """A goal as the client sees it; None for what is not known."""

    objective: str
    iterations: int | None = None
    last_reason: str | None = None
    created_at: int | None = None
    """Unix time in milliseconds."""


@dataclass(frozen=True, slots=True)
class PublishGoal:
    """Tell the goal; None says that there is none."""

    goal: GoalSnapshot | None


Action = Literal["retry", "login", "new_session"]
Category = Literal["connection", "limit", "request", "service", "unknown"]


@dataclass(frozen=True, slots=True)
class IncidentFacts:
    """What a failure record says beside its id and revision."""

    category: Category
    severity: Literal["warning", "error"]
    title: str
    actions: tuple[Action, ...] = ()
    details: str | None = None


@dataclass(frozen=True, slots=True)
class ReportIncident:
    """Send a failure record; the one of a turn's end travels in its answer."""

    id: str
    revision: int
    facts: IncidentFacts


UnavailableReason = Literal["cancelled", "timeout", "invalidOutput", "providerError"]


@dataclass(frozen=True, slots=True)
class PreviewFiles:
    """Ask Claude Code which files a turn changed."""

    turn: str


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The file-change report of one request; without paths, the reason."""

    request: str
    paths: tuple[str, ...] | None
    reason: UnavailableReason | None = None
