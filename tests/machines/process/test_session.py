"""One ACP session across the Claude Code processes that serve it (M2)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.events import (
    CloseRequested,
    HistoryFailed,
    HistoryReplayed,
    QueryStartFailed,
    QueryStopped,
    StartFailure,
    Timer,
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
from machines.process.session import (
    CLOSED_EARLY,
    DIED_EARLY,
    AbandonRestart,
    Continue,
    FailContinuing,
    FailWaiting,
    Finish,
    Open,
    QueryFailed,
    QueryLost,
    QueryReady,
    Recreate,
    Release,
    Restart,
    Session,
    WorkWaits,
)
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

BROKEN = QueryFailed(QueryStartFailed(StartFailure.FAILED, "exit code 1"))
UNKNOWN = QueryFailed(QueryStartFailed(StartFailure.UNKNOWN_SESSION, "No conversation found"))
SIGNED_OUT = QueryFailed(QueryStartFailed(StartFailure.AUTH_REQUIRED, "Please run /login"))
UNREADABLE = HistoryFailed("The history can't be read")
GIVE_UP = TimerFired(Timer.TEARDOWN)

SAMPLES = (
    Open(),
    Open(resume=True),
    Open(resume=True, replay=True),
    HistoryReplayed(),
    UNREADABLE,
    QueryReady(),
    BROKEN,
    UNKNOWN,
    SIGNED_OUT,
    QueryLost(),
    WorkWaits(),
    Restart(),
    Recreate(),
    AbandonRestart(),
    CloseRequested(),
    QueryStopped(),
    GIVE_UP,
)

NOT_STARTED = Failure(FailureKind.RESTART_FAILED, "Claude Code could not be started: exit code 1.")
NOT_RESTARTED = Failure(
    FailureKind.RESTART_FAILED, "Claude Code could not be restarted: exit code 1. Start a new session."
)
NOT_CONTINUED = NOT_RESTARTED
AUTH = Failure(FailureKind.AUTH_REQUIRED, "Please run /login")
AUTH_CONTINUED = AUTH

NOT_UP = (RefuseOpen(StartFailure.FAILED, "exit code 1"), FailWaiting(NOT_STARTED))
NO_HISTORY = (RefuseOpen(StartFailure.FAILED, UNREADABLE.text), Finish())
TOO_EARLY = (RefuseOpen(StartFailure.WITHDRAWN, CLOSED_EARLY), Finish())

ROWS = (
    Row("M2 session/new", "creating", Open(), "creating", (StartQuery(resume=False),)),
    Row("M2 session/resume", "creating", Open(resume=True), "creating", (StartQuery(resume=True),)),
    Row(
        "M2 session/load",
        "creating",
        Open(resume=True, replay=True),
        "restoring",
        (StartQuery(resume=True), StartReplay()),
    ),
    Row("M2 restoring, replayed", "restoring", HistoryReplayed(), "creating"),
    Row("M2 restoring, initialized", "restoring", QueryReady(), "replaying"),
    Row("M2 restoring, start failed", "restoring", BROKEN, "closed", NOT_UP),
    Row("M2 restoring, no history", "restoring", UNREADABLE, "closing", NO_HISTORY),
    Row("M2 restoring, close", "restoring", CloseRequested(), "closing", TOO_EARLY),
    Row("M2 replaying, replayed", "replaying", HistoryReplayed(), "ready", (AnswerOpen(),)),
    Row("M2 replaying, no history", "replaying", UNREADABLE, "closing", NO_HISTORY),
    Row(
        "M2 replaying, stream end",
        "replaying",
        QueryLost(),
        "closing",
        (RefuseOpen(StartFailure.FAILED, DIED_EARLY), Finish()),
    ),
    Row("M2 replaying, close", "replaying", CloseRequested(), "closing", TOO_EARLY),
    Row("M2 creating, initialized", "creating", QueryReady(), "ready", (AnswerOpen(),)),
    Row(
        "M2 creating, start failed",
        "creating",
        BROKEN,
        "closed",
        NOT_UP,
    ),
    Row(
        "M2 creating, sign-in",
        "creating",
        SIGNED_OUT,
        "closed",
        (RefuseOpen(StartFailure.AUTH_REQUIRED, "Please run /login"), FailWaiting(AUTH)),
    ),
    Row("M2 creating, close", "creating", CloseRequested(), "closing", TOO_EARLY),
    Row("M2 ready, work", "ready", WorkWaits(), "ready"),
    Row("M2 ready, stream end", "ready", QueryLost(), "lost"),
    Row("M2 lost, prompt", "lost", WorkWaits(), "reviving", (StartQuery(resume=True),)),
    Row("M2 reviving, prompt", "reviving", WorkWaits(), "reviving"),
    Row("M2 reviving, initialized", "reviving", QueryReady(), "ready", (TellRestarted(), Release())),
    Row(
        "M2 reviving, start failed",
        "reviving",
        BROKEN,
        "lost",
        (FailWaiting(NOT_RESTARTED),),
        (pytest.mark.contract("CY-025"),),
    ),
    Row("M2.3 never stored", "reviving", UNKNOWN, "reviving", (StartQuery(resume=False),)),
    Row("M2 reviving, sign-in", "reviving", SIGNED_OUT, "lost", (FailWaiting(AUTH),)),
    Row("M2.1 an approved plan", "ready", Restart(), "restarting", (ReplaceQuery(),)),
    Row("M2.1 initialized", "restarting", QueryReady(), "ready", (Continue(), Release())),
    Row("M2.1 a prompt meanwhile", "restarting", WorkWaits(), "restarting"),
    Row("M2.1 cancel", "restarting", AbandonRestart(), "lost", (DropQuery(),)),
    Row(
        "M2.1 start failed",
        "restarting",
        BROKEN,
        "lost",
        (FailContinuing(NOT_CONTINUED), FailWaiting(NOT_RESTARTED)),
    ),
    Row(
        "M2.1 sign-in",
        "restarting",
        SIGNED_OUT,
        "lost",
        (FailContinuing(AUTH_CONTINUED), FailWaiting(AUTH)),
    ),
    Row("M2 another process is wanted", "ready", Recreate(), "recreating", (RecreateQuery(),)),
    Row("M2 recreating, initialized", "recreating", QueryReady(), "ready", (TellRecreated(), Release())),
    Row(
        "M2 recreating, start failed",
        "recreating",
        BROKEN,
        "lost",
        (TellRecreated(NOT_RESTARTED), FailWaiting(NOT_RESTARTED)),
    ),
    Row("M2 recreating, prompt", "recreating", WorkWaits(), "recreating"),
    Row("M2.2 close in recreating", "recreating", CloseRequested(), "closing", (Finish(),)),
    Row("M2.2 close in restarting", "restarting", CloseRequested(), "closing", (Finish(),)),
    Row("M2.2 close", "ready", CloseRequested(), "closing", (Finish(),)),
    Row("M2.2 close in lost", "lost", CloseRequested(), "closing", (Finish(),)),
    Row("M2.2 close in reviving", "reviving", CloseRequested(), "closing", (Finish(),)),
    Row("M2.2 close again", "closing", CloseRequested(), "closing"),
    Row("M2.2 process gone", "closing", QueryStopped(), "closed", (AnswerClose(),)),
    Row("M2.2 after 5 s", "closing", GIVE_UP, "closed", (AnswerClose(),)),
)

BACK = {"reviving": TellRestarted(), "restarting": Continue(), "recreating": TellRecreated()}
AGAIN = {Restart: ("restarting", (ReplaceQuery(),)), Recreate: ("recreating", (RecreateQuery(),))}

OPENING = {"creating", "restoring", "replaying"}
STATES = {*OPENING, "ready", "lost", "reviving", "restarting", "recreating", "closing"}
TAKEN = {
    Open: {"creating"},
    HistoryReplayed: {"restoring", "replaying"},
    HistoryFailed: {"restoring", "replaying"},
    QueryReady: {"creating", "restoring", "reviving", "restarting", "recreating"},
    QueryFailed: {"creating", "restoring", "reviving", "restarting", "recreating"},
    QueryLost: {"ready", "replaying"},
    WorkWaits: {"ready", "lost", "reviving", "restarting", "recreating"},
    Restart: {"ready"},
    Recreate: {"ready"},
    AbandonRestart: {"restarting"},
    QueryStopped: {"closing"},
    TimerFired: {"closing"},
}
"""Where an event has an answer; a close has one everywhere."""

REFUSED: Refused = {(state, kind) for kind, states in TAKEN.items() for state in STATES - states}


def at(state: str) -> Session:
    return Session(start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Session, ROWS) == set()


def test_totality() -> None:
    assert refusals(Session, at, SAMPLES) == REFUSED


class AnyOrder(Walk):
    rows = ROWS
    refused = REFUSED
    late = frozenset({"closing"})

    def create(self) -> Session:
        return Session()

    @rule(event=st.sampled_from(SAMPLES))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        if state in OPENING:
            return self.predict_opening(state, event)
        match event:
            case QueryReady():
                return "ready", (BACK[state], Release())
            case QueryFailed(cause):
                return self.fail(state, cause)
            case QueryLost():
                return "lost", ()
            case WorkWaits():
                return ("reviving", (StartQuery(resume=True),)) if state == "lost" else (state, ())
            case Restart() | Recreate():
                return AGAIN[type(event)]
            case AbandonRestart():
                return "lost", (DropQuery(),)
            case CloseRequested():
                return "closing", () if state == "closing" else (Finish(),)
        return "closed", (AnswerClose(),)

    def predict_opening(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match event:
            case Open(resume, replay=True):
                return "restoring", (StartQuery(resume), StartReplay())
            case Open(resume):
                return "creating", (StartQuery(resume),)
            case HistoryReplayed() if state == "restoring":
                return "creating", ()
            case QueryReady() if state == "restoring":
                return "replaying", ()
            case HistoryReplayed() | QueryReady():
                return "ready", (AnswerOpen(),)
            case QueryFailed(cause):
                return self.fail(state, cause)
            case QueryLost():
                return "closing", (RefuseOpen(StartFailure.FAILED, DIED_EARLY), Finish())
            case HistoryFailed(text):
                return "closing", (RefuseOpen(StartFailure.FAILED, text), Finish())
        return "closing", TOO_EARLY

    def fail(self, state: str, cause: QueryStartFailed) -> tuple[str, tuple[object, ...]]:
        text = "started: {}." if state in OPENING else "restarted: {}. Start a new session."
        failure = (
            AUTH
            if cause.kind is StartFailure.AUTH_REQUIRED
            else Failure(FailureKind.RESTART_FAILED, f"Claude Code could not be {text.format(cause.text)}")
        )
        if state in OPENING:
            return "closed", (RefuseOpen(cause.kind, cause.text), FailWaiting(failure))
        starts = [each for each in self.outputs if isinstance(each, StartQuery)]
        resumes = not starts or starts[-1].resume
        if state == "reviving" and cause.kind is StartFailure.UNKNOWN_SESSION and resumes:
            return "reviving", (StartQuery(resume=False),)
        told = {"restarting": (FailContinuing(failure),), "recreating": (TellRecreated(failure),)}
        return "lost", (*told.get(state, ()), FailWaiting(failure))

    @invariant()
    def a_start_is_told_once_and_only_work_causes_another(self) -> None:  # INV-S6
        kinds = [type(each) for each in self.outputs]
        well = self.outputs.count(TellRecreated())
        assert kinds.count(TellRestarted) + kinds.count(Continue) + well == kinds.count(Release)
        assert kinds.count(TellRestarted) <= kinds.count(StartQuery)
        assert kinds.count(Continue) <= kinds.count(ReplaceQuery)
        assert kinds.count(TellRecreated) <= kinds.count(RecreateQuery)

    @invariant()
    def the_open_request_is_answered_once(self) -> None:  # INV-N1
        kinds = [type(each) for each in self.outputs]
        answers = kinds.count(AnswerOpen) + kinds.count(RefuseOpen)
        assert answers == (self.machine.phase not in OPENING)

    @invariant()
    def the_answer_of_the_close_is_the_last_word(self) -> None:  # INV-S3
        assert self.outputs.count(AnswerClose()) <= 1
        assert AnswerClose() not in self.outputs[:-1]
        assert self.outputs.count(Finish()) <= 1


TestAnyOrder = in_any_order(AnyOrder)
