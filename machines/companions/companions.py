"""What goes along with the turns of a session: compaction, the goal, incidents, file reports.

Each has its lifecycle; none of them holds a prompt but a file report, for two seconds.
"""

from machines.companions import compaction as c
from machines.companions import goal as g
from machines.companions.failure_table import facts_of, retry_facts
from machines.companions.incident import Activate, Book, Incident, Recover, Recovery, Warn
from machines.companions.report import Collect, FileReport, FilesListed, Unavailable
from machines.companions.session_reports import ReportIncident, UnavailableReason
from machines.events import ApiRetried, GoalCommand, LimitReplayed, Timer
from machines.feed import Feed
from machines.outputs import Failure, FailureKind, Outcome, StartTimer

_LOSSES = frozenset({FailureKind.TRANSPORT_LOST, FailureKind.WORKER_SHUTDOWN})


class Companions:
    """The side lifecycles of one session; with `book` the client gets failure records."""

    def __init__(self, feed: Feed, book: Book | None) -> None:
        self._feed = feed
        self._book = book
        self.compaction = c.Compaction(*feed.listeners("Compaction"))
        self._goal = g.Goal(*feed.listeners("Goal"))
        self._reports: dict[str, FileReport] = {}
        self._retrying: str | None = None  # id of the retry run of a cycle

    # ── points in the life of a turn ──

    def activated(self) -> None:
        """A turn became active, or new work began."""
        self._feed(self.compaction, c.Unmute())

    def turn_ended(self) -> None:
        """A turn's own result came."""
        self._feed(self.compaction, c.TurnEnded())

    def interrupted(self) -> None:
        """A cancel, a failing turn or the end of the process stopped the work (INV-K3)."""
        self._feed(self.compaction, c.Interrupted())

    def compact(self, event: c.Input) -> None:
        """Claude Code said something about a compaction."""
        self._feed(self.compaction, event)

    # ── the goal ──

    def submitted(self, uuid: str, command: GoalCommand | None) -> None:
        """A message was written; a goal command shows its effect at once."""
        if command is not None:
            self._feed(self._goal, g.Submitted(uuid, command.objective))

    def command_started(self, uuid: str) -> None:
        """Claude Code took a message up."""
        self._feed(self._goal, g.CommandStarted(uuid))

    def command_ended(self, uuid: str, *, ok: bool) -> None:
        """A message has its result."""
        self._feed(self._goal, g.CommandEnded(uuid, ok))

    def command_dropped(self, uuid: str | None) -> None:
        """A message will not run; None means none will."""
        self._feed(self._goal, g.CommandDropped(uuid))

    def goal(self, event: g.Told | g.Checked | g.Reset) -> None:
        """Claude Code said something about the goal."""
        self._feed(self._goal, event)

    # ── incidents ──

    def fail(self, turn: str, failure: Failure) -> ReportIncident | None:
        """The record that a turn's answer carries; sign-in conditions have none (SF-033)."""
        if self._book is None or failure.kind is FailureKind.AUTH_REQUIRED:
            return None
        incident = self._incident(self._book.turn_id(turn), _recovery(failure))
        return next((out for out in incident.handle(Activate(facts_of(failure)))), None)

    def record(self, turn: str, outcome: Outcome) -> Outcome:
        """The outcome of a turn, with the record of its failure."""
        if outcome.failure is None:
            return outcome
        return Outcome(outcome.stop_reason, outcome.failure, self.fail(turn, outcome.failure))

    def fail_session(self, failure: Failure) -> bool:
        """Tell a failure that belongs to no turn; whether the client has records."""
        if self._book is None:
            return False
        incident = self._incident(self._book.session_id(), _recovery(failure))
        self._feed(incident, Activate(facts_of(failure)))
        return True

    def restore_limit(self, event: LimitReplayed) -> None:
        """A usage limit that was replayed stays until a model answers (SF-051, SF-059)."""
        if self._book is not None and event.id not in self._book.open:
            incident = Incident(event.id, *self._feed.listeners("Incident"), start="active")
            incident.revision = 1
            self._book.open[event.id] = (incident, "real_model_success")

    def retried(self, event: ApiRetried, turn: str | None) -> None:
        """Claude Code tries a request again, for the turn that runs or for work of its own (SF-037)."""
        if self._book is None or event.is_sign_in:
            return
        if turn is not None:
            id = self._book.turn_id(turn)
        else:
            self._retrying = id = self._retrying or self._book.session_id()
        facts = retry_facts(event.error_kind, event.status, event.attempt, event.attempts)
        self._feed(self._incident(id, "next_attempt"), Warn(facts))

    def succeeded(self, *, from_model: bool) -> None:
        """A prompt was answered, by the model or by Claude Code itself."""
        self.recover("next_attempt")
        if from_model:
            self.recover("real_model_success")

    def recover(self, *recoveries: Recovery) -> None:
        """What these incidents were about is over; the client is not told (SF-015)."""
        if self._book is None:
            return
        self._retrying = None
        for id, (incident, recovery) in tuple(self._book.open.items()):
            if recovery in recoveries:
                self._feed(incident, Recover())
                del self._book.open[id]

    def _incident(self, id: str, recovery: Recovery) -> Incident:
        assert self._book is not None
        known = self._book.open.get(id)
        incident = known[0] if known is not None else Incident(id, *self._feed.listeners("Incident"))
        self._book.open[id] = (incident, recovery)
        return incident

    # ── file reports ──

    def asks_report(self, turn: str, request: str) -> None:
        """The prompt wants a report of the files it changed."""
        self._reports[turn] = FileReport(turn, request, *self._feed.listeners(f"FileReport:{turn}"))

    def collects(self, turn: str) -> bool:
        """Start the report of a turn that ended well; whether there is one to wait for."""
        report = self._reports.get(turn)
        if report is None:
            return False
        self._feed(report, Collect())
        return True

    def is_collecting(self, turn: str) -> bool:
        """The report of a turn is still to come."""
        return turn in self._reports

    def list_files(self, turn: str, paths: tuple[str, ...]) -> None:
        """The report is there."""
        self._end_report(turn, FilesListed(paths))

    def no_files(self, turn: str, reason: UnavailableReason) -> None:
        """There will be no list."""
        self._end_report(turn, Unavailable(reason))

    def _end_report(self, turn: str, end: FilesListed | Unavailable) -> None:
        """Prompts that shared a result are waited for together: the timer goes on for the others."""
        report = self._reports.pop(turn, None)
        if report is None:
            return
        self._feed(report, end)
        if any(other.phase == "collecting" for other in self._reports.values()):
            self._feed.put(StartTimer(Timer.FILE_PREVIEW))


def _recovery(failure: Failure) -> Recovery:
    if failure.kind in _LOSSES:
        return "runtime_rebind"
    return "real_model_success" if facts_of(failure).category == "limit" else "next_attempt"
