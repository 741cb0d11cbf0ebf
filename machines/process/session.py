"""One ACP session across the Claude Code processes that serve it (M2).

1. At most one process lives for a session (INV-S1); each start after a loss has work of the
   client as its cause and serves everything that waits (INV-S6).
2. A dead process never makes the id unknown: the session is `lost` until work comes.
3. Once it closes, nothing of it is started any more.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.events import (
    CloseRequested,
    HistoryFailed,
    HistoryReplayed,
    QueryStartFailed,
    QueryStopped,
    StartFailure,
    TimerFired,
)
from machines.outputs import (
    AnswerClose,
    AnswerOpen,
    DropQuery,
    Failure,
    FailureKind,
    RecreateQuery,
    RefuseOpen,
    ReplaceQuery,
    StartQuery,
    StartReplay,
    TellRecreated,
    TellRestarted,
)

DIED_EARLY = "Claude Code ended while the session was being restored."
CLOSED_EARLY = "The session was closed before Claude Code had started."


@dataclass(frozen=True, slots=True)
class Open:
    """The first event: the session is to be created, with `replay` after its history was told."""

    resume: bool = False
    replay: bool = False


@dataclass(frozen=True, slots=True)
class QueryReady:
    """Its process answered."""


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """Its process did not come up."""

    cause: QueryStartFailed


@dataclass(frozen=True, slots=True)
class QueryLost:
    """Its process ended by itself."""


@dataclass(frozen=True, slots=True)
class WorkWaits:
    """A prompt or a change needs the process."""


@dataclass(frozen=True, slots=True)
class Restart:
    """An approved plan goes on in an empty conversation (M2.1)."""


@dataclass(frozen=True, slots=True)
class Recreate:
    """At a quiet point another process takes up the conversation (M2 `recreating`)."""


@dataclass(frozen=True, slots=True)
class AbandonRestart:
    """A cancel came while the empty conversation was being made."""


@dataclass(frozen=True, slots=True)
class Continue:
    """The empty conversation is there: the turn goes on in it."""


@dataclass(frozen=True, slots=True)
class FailContinuing:
    """There will be no empty conversation."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Release:
    """What waited for the process may be sent."""


@dataclass(frozen=True, slots=True)
class FailWaiting:
    """What waited for the process can't be served."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Finish:
    """Everything of the session is to be brought to its end (M2.2)."""


Input = (
    Open
    | HistoryReplayed
    | HistoryFailed
    | QueryReady
    | QueryFailed
    | QueryLost
    | WorkWaits
    | Restart
    | Recreate
    | AbandonRestart
    | CloseRequested
    | QueryStopped
    | TimerFired
)
Signal = (
    StartQuery
    | StartReplay
    | ReplaceQuery
    | RecreateQuery
    | TellRecreated
    | DropQuery
    | AnswerOpen
    | RefuseOpen
    | AnswerClose
    | TellRestarted
    | Continue
    | FailContinuing
    | Release
    | FailWaiting
    | Finish
)


class Session(Lifecycle[Input, Signal]):
    """Lifecycle of one ACP session id."""

    creating = State(initial=True)
    restoring = State()
    replaying = State()
    ready = State()
    lost = State()
    reviving = State()
    restarting = State()
    recreating = State()
    closing = State()
    closed = State(final=True)

    open = creating.to(restoring, cond="replays", on=["start_query", "start_replay"]) | stay(
        creating, "start_query"
    )
    replayed = restoring.to(creating) | replaying.to(ready, on="answer_open")
    replay_failed = closing.from_(restoring, replaying, on=["refuse_replay", "finish"])
    query_ready = (
        creating.to(ready, on="answer_open")
        | restoring.to(replaying)
        | reviving.to(ready, on=["tell_restarted", "release"])
        | restarting.to(ready, on=["go_on", "release"])
        | recreating.to(ready, on=["tell_recreated", "release"])
    )
    query_failed = (
        closed.from_(creating, restoring, on=["refuse_open", "fail_waiting"])
        | reviving.to(reviving, internal=True, cond="is_unstored", on="start_afresh")
        | reviving.to(lost, on="fail_waiting")
        | restarting.to(lost, on=["fail_going_on", "fail_waiting"])
        | recreating.to(lost, on=["tell_not_recreated", "fail_waiting"])
    )
    query_lost = ready.to(lost) | replaying.to(closing, on=["refuse_lost", "finish"])
    recreate = ready.to(recreating, on="recreate_query")
    restart = ready.to(restarting, on="replace_query")
    abandon = restarting.to(lost, on="drop_query")
    work_waits = (
        lost.to(reviving, on="restart_query")
        | stay(ready)
        | stay(reviving)
        | stay(restarting)
        | stay(recreating)
    )
    close = (
        closing.from_(creating, restoring, replaying, on=["refuse_closed", "finish"])
        | closing.from_(ready, lost, reviving, restarting, recreating, on="finish")
        | stay(closing)
    )
    query_stopped = closing.to(closed, on="answer_close")
    give_up = closing.to(closed, on="answer_close")

    triggers: ClassVar[dict[type, str]] = {
        Open: "open",
        HistoryReplayed: "replayed",
        HistoryFailed: "replay_failed",
        QueryReady: "query_ready",
        QueryFailed: "query_failed",
        QueryLost: "query_lost",
        WorkWaits: "work_waits",
        Restart: "restart",
        Recreate: "recreate",
        AbandonRestart: "abandon",
        CloseRequested: "close",
        QueryStopped: "query_stopped",
        TimerFired: "give_up",
    }

    def __init__(self, *listeners: object, start: str | None = None) -> None:
        self._resumes = True  # the process that starts is to take up what was said
        super().__init__(*listeners, start=start)

    def replays(self, cause: Open) -> bool:
        """The client wants to be told what was said before."""
        return cause.replay

    def start_replay(self) -> None:
        """Tell the history while the process starts."""
        self.put(StartReplay())

    def refuse_replay(self, cause: HistoryFailed) -> None:
        """The request that opened the session fails, since the history can't be told."""
        self.put(RefuseOpen(StartFailure.FAILED, cause.text))

    def refuse_lost(self) -> None:
        """The request that opened the session fails, since its process died meanwhile."""
        self.put(RefuseOpen(StartFailure.FAILED, DIED_EARLY))

    def start_query(self, cause: Open) -> None:
        """Start the first process."""
        self.put(StartQuery(cause.resume))

    def restart_query(self) -> None:
        """Start another process that takes up the conversation."""
        self._resumes = True
        self.put(StartQuery(resume=True))

    def is_unstored(self, cause: QueryFailed) -> bool:
        """The process before ended so early that there is no conversation to take up."""
        return self._resumes and cause.cause.kind is StartFailure.UNKNOWN_SESSION

    def start_afresh(self) -> None:
        """Start with an empty conversation under the same id (M2.3)."""
        self._resumes = False
        self.put(StartQuery(resume=False))

    def replace_query(self) -> None:
        """Start over with an empty conversation."""
        self.put(ReplaceQuery())

    def recreate_query(self) -> None:
        """Take up the conversation with another process."""
        self.put(RecreateQuery())

    def tell_recreated(self) -> None:
        """It went well."""
        self.put(TellRecreated())

    def tell_not_recreated(self, cause: QueryFailed) -> None:
        """It did not: the session is lost until work comes."""
        self.put(TellRecreated(_restart_failure(cause.cause)))

    def drop_query(self) -> None:
        """The process that was to replace the old one is not wanted any more."""
        self.put(DropQuery())

    def go_on(self) -> None:
        """The turn goes on with the plan."""
        self.put(Continue())

    def fail_going_on(self, cause: QueryFailed) -> None:
        """The turn fails with the reason; this is no loss of a process."""
        self.put(FailContinuing(_restart_failure(cause.cause)))

    def answer_open(self) -> None:
        """The request that opened the session succeeds."""
        self.put(AnswerOpen())

    def refuse_open(self, cause: QueryFailed) -> None:
        """The request that opened the session fails."""
        failed = cause.cause
        self.put(RefuseOpen(failed.kind, failed.text, failed.reason))

    def refuse_closed(self) -> None:
        """The request that opened the session fails, since another one closes it."""
        self.put(RefuseOpen(StartFailure.WITHDRAWN, CLOSED_EARLY))

    def tell_restarted(self) -> None:
        """The client hears of the new process before anything it does."""
        self.put(TellRestarted())

    def release(self) -> None:
        """Serve what waited."""
        self.put(Release())

    def fail_waiting(self, cause: QueryFailed) -> None:
        """Answer what waited with the reason and what to do (M2.3)."""
        first = self.phase in {"creating", "restoring"}
        self.put(FailWaiting(_restart_failure(cause.cause, "started" if first else "restarted")))

    def finish(self) -> None:
        """Bring everything to its end before the close is answered."""
        self.put(Finish())

    def answer_close(self) -> None:
        """The last thing the client hears of the session (INV-S3)."""
        self.put(AnswerClose())


def _restart_failure(cause: QueryStartFailed, verb: str = "restarted") -> Failure:
    """Why there is no process, and what to do."""
    if cause.kind is StartFailure.AUTH_REQUIRED:
        return Failure(FailureKind.AUTH_REQUIRED, cause.text, cause.reason)
    remedy = "" if verb == "started" else " Start a new session."
    said = cause.text.removesuffix(".")
    return Failure(FailureKind.RESTART_FAILED, f"Claude Code could not be {verb}: {said}.{remedy}")
