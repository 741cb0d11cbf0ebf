"""The coordinator of one session: which part sees which event, in which order.

An event is handled to its end before the next, and its outputs are performed in their order,
so the order on the wire is the order of the actions. Machines never call each other; what one
tells another goes through here.
"""

from collections.abc import Callable
from typing import Any

from machines import events as e
from machines import outputs as o
from machines.changes import Changes
from machines.children.children import Children
from machines.children.forms.child_forms import FormName, form_of
from machines.companions import compaction as c
from machines.companions import goal as g
from machines.companions.companions import Companions
from machines.companions.incident import Book
from machines.feed import Feed, Record
from machines.permissions.asks import Asks
from machines.permissions.permission import Announce
from machines.permissions.requests import Requests
from machines.process import query as q
from machines.process import session as s
from machines.process.served import Served
from machines.stops.plan_restart import PlanRestart
from machines.stops.stops import Stops
from machines.tasks.async_tasks import AsyncTasks
from machines.tasks.following import Following
from machines.tools.calls import Calls
from machines.turns.intake import Intake
from machines.turns.work import Work

CLOSED = "The session was closed."


class Conversation:
    """Everything that is decided about one ACP session.

    With a `book` its client has failure records, with `async_tasks` it hears of background work,
    with a `form` each subagent has a session of its own.
    """

    def __init__(
        self,
        record: Record | None = None,
        *,
        book: Book | None = None,
        async_tasks: bool = False,
        form: FormName = "none",
    ) -> None:
        self._feed = Feed(self._route, record)
        self._calls = Calls(self._feed)
        self._asks = Asks(self._feed)
        self._companions = Companions(self._feed, book)
        self._children = Children(self._feed, self._calls, form_of(form, self._feed, self._calls))
        self._work = Work(self._feed, self._calls, self._asks, self._companions, self._children)
        self._requests = Requests(self._feed, self._work, self._calls, self._asks)
        self._intake = Intake(self._feed, self._work, self._asks, self._companions)
        self._stops = Stops(self._feed, self._work, self._calls, self._asks, self._companions)
        self._following = Following(self._feed, self._work, self._asks)
        self._async_tasks = AsyncTasks(self._feed, self._work, wanted=async_tasks)
        self._session = s.Session(*self._feed.listeners("Session"))
        self._served = Served(self._feed, self._work)
        self._changes = Changes(self._feed)
        self._plan = PlanRestart(self._feed, self._work, self._stops, self._intake)

    # ── what the bridge reads ──

    @property
    def phase(self) -> str:
        """The state of the session."""
        return self._session.phase

    @property
    def admits_text(self) -> bool:
        """Text and thinking of the root conversation may go to the client (M6)."""
        return self._served.speaks and self._work.cancel.admits_text

    @property
    def admits_new(self) -> bool:
        """No cancel is in effect or draining: whatever comes may be shown (M6)."""
        return self._served.speaks and self._work.cancel.admits_new

    def admits(self, lane: str | None) -> bool:
        """Whatever comes may be shown on that lane: of a subagent also if it goes on after a cancel."""
        return self._served.speaks and self._work.admits(lane)

    @property
    def cancelled(self) -> bool:
        """A cancel is in effect: what ends now ends as cancelled."""
        return self._work.cancel.in_effect

    @property
    def active_turn(self) -> str | None:
        """The prompt that the conversation's output belongs to."""
        active = self._work.turns.active
        return active.uuid if active is not None else None

    @property
    def is_busy(self) -> bool:
        """A prompt is unanswered."""
        return len(self._work.turns) > 0

    def shows(self, call: str) -> bool:
        """The client knows the call and it is open."""
        return call in self._calls

    # ── what happens ──

    def open(self, *, resume: bool = False, replay: bool = False) -> tuple[o.Output, ...]:
        """Create the session; `resume` takes up a stored conversation, `replay` also tells it."""
        self._feed(self._session, s.Open(resume, replay))
        return self._feed.take()

    def handle(self, event: e.Event | c.Input | g.Input) -> tuple[o.Output, ...]:
        """Advance by one event and return, in order, what has to be done about it."""
        from_process = _FROM_PROCESS.get(type(event))
        if from_process is not None:
            if self._served.speaks:
                from_process(self, event)
            else:
                self._feed.put(o.Ignored("Query", self._served.phase, event))
        else:
            _OTHERS[type(event)](self, event)
        self._recreate_when_quiet()
        return self._feed.take()

    # ── the client ──

    def _prompt(self, event: e.PromptReceived) -> None:
        self._intake.receive(event)
        self._serve()

    def _steer(self, event: e.SteerReceived) -> None:
        phase = self._session.phase
        if phase in {"ready", "restarting"} and self._intake.steer(event, at_once=phase == "ready"):
            return
        self._feed.put(
            o.AnswerSteer(event.steer, "startedNewTurn" if event.prompt_when_idle else "promptRequired")
        )
        if event.prompt_when_idle:
            self._prompt(e.PromptReceived(event.steer, event.goal))

    def _cancel(self, event: e.CancelRequested) -> None:
        restarting = self._session.phase == "restarting"
        if restarting:
            self._feed(self._session, s.AbandonRestart())
        self._plan.stop.end()
        self._stops.cancel_all(connected=self._session.phase == "ready", restarting=restarting)

    def _request_change(self, event: e.ChangeRequested) -> None:
        self._changes.add(event.change)
        self._serve()

    def _finish_change(self, event: e.ChangeFinished) -> None:
        self._changes.finish(event)
        if self._changes.any_waiting:
            self._serve()

    def _recreate_when_quiet(self) -> None:
        """Running work is never cut off; prompts that come meanwhile wait for the new process."""
        if self._served.may_recreate(self._session.phase):
            self._stops.replace(cancelled=False)
            self._feed(self._session, s.Recreate())

    def _to_session(self, event: e.CloseRequested | e.HistoryReplayed | e.HistoryFailed) -> None:
        self._feed(self._session, event)

    def _serve(self) -> None:
        """Serve what waits, once there is a process; a lost session starts one for it."""
        match self._session.phase:
            case "ready" if not self._served.to_recreate:
                self._release()
            case "lost" | "reviving" | "restarting":
                self._feed(self._session, s.WorkWaits())
            case "closing" | "closed":
                self._close_work()
            case _:
                pass  # creating: it is served when the process answers

    def _release(self) -> None:
        self._intake.send_waiting()
        self._changes.apply_next()

    # ── the life of the process ──

    def _query_stopped(self, event: e.QueryStopped) -> None:
        self._served.forget()
        self._feed(self._session, event)

    def _lose_query(self, lost: q.Lost) -> None:
        self._served.forget()
        self._async_tasks.lose()
        told = self._stops.finish(lost.failure)
        self._feed(self._session, s.QueryLost())
        if lost.failure is not None and not told:
            self._companions.fail_session(lost.failure)

    def _fail_waiting(self, failure: o.Failure) -> None:
        self._intake.fail_received(failure)
        self._changes.fail_waiting(failure)

    def _close_work(self) -> None:
        self._async_tasks.close()
        self._stops.close()
        self._changes.fail_waiting(o.Failure(o.FailureKind.TRANSPORT_LOST, CLOSED))

    def _finish(self) -> None:
        """Everything ends before the close is answered (M2.2)."""
        self._close_work()
        if self._served.phase == "none":
            self._feed(self._session, e.QueryStopped())
            return
        self._served.tell(q.Stop())
        self._feed.put(o.StartTimer(e.Timer.TEARDOWN))

    def _fire(self, event: e.TimerFired) -> None:
        match event.timer:
            case e.Timer.FORCE_CANCEL:
                self._stops.force()
            case e.Timer.FILE_PREVIEW:
                self._work.answers.give_up_files()
                self._work.promote()
            case e.Timer.TEARDOWN:
                self._feed(self._session, event)

    # ── frames of the process ──

    def _result(self, event: e.Result) -> None:
        if self._plan.takes(event):
            self._feed(self._session, s.Restart())
            return
        self._work.take_result(event)
        self._async_tasks.result_taken()

    def _command(self, event: e.CommandMoved) -> None:
        self._stops.move_orphan(event)
        self._work.move_command(event)

    def _request(self, event: e.Requesting) -> None:
        self._work.request(event)
        self._stops.stop_orphan(event.uuids)

    def _echo(self, event: e.Echoed) -> None:
        self._work.echo(event.uuid)
        self._stops.echo_orphan(event.uuid)

    def _state(self, event: e.CliStateChanged) -> None:
        if event.state == "idle":
            self._work.idle()
        elif event.state == "running":
            self._work.run()

    def _task(self, event: e.TaskEvent) -> None:
        self._following.follow(event)
        self._async_tasks.take(event)

    def _list_level(self, event: e.LevelListed) -> None:
        self._work.tasks.list_level(event.tasks)
        self._async_tasks.list_level(event)

    def _dispatch(self, event: e.ToolDispatched) -> None:
        """A call is shown before the subagent that it starts."""
        self._calls.dispatch(event, admitted=self.admits(event.use.parent))
        self._children.dispatched(event.use)

    def _return(self, event: e.ToolReturned) -> None:
        self._calls.finish(event, accepted=self._plan.stop.accepts(event))
        self._following.note_resume(event)

    def _reset(self, event: g.Reset) -> None:
        """The conversation is empty again (`/clear`)."""
        self._companions.goal(event)
        self._children.lose(cancelled=self._work.cancel.in_effect)

    # ── signals between machines ──

    def _route(self, signal: object) -> o.Output | None:
        """Carry out what a machine tells the others; everything else is an output."""
        carry_out = _SIGNALS.get(type(signal))
        if carry_out is None:
            return signal  # type: ignore[return-value]  # the rest of every signal union is an output
        carry_out(self, signal)
        return None

    def _fail_start(self, signal: q.StartFailed) -> None:
        self._served.forget()
        self._feed(self._session, s.QueryFailed(signal.cause))

    def _opened(self, signal: o.AnswerOpen) -> None:
        self._feed.put(signal)
        self._release()

    def _recreated(self, signal: o.TellRecreated) -> None:
        """A sign-in condition has no record (SF-033)."""
        if signal.failure is not None and signal.failure.kind is not o.FailureKind.AUTH_REQUIRED:
            self._companions.fail_session(signal.failure)
        self._feed.put(signal)

    def _begin(self, start: o.StartQuery | o.ReplaceQuery | o.RecreateQuery) -> None:
        self._async_tasks.lose()
        self._served.begin(start)

    def _answered(self, signal: o.AnswerPrompt) -> None:
        self._async_tasks.answered(signal.turn)
        self._feed.put(signal)

    def _closed(self, signal: o.AnswerClose) -> None:
        self._feed.put(o.StopTimer(e.Timer.TEARDOWN))
        self._feed.put(signal)


_Handler = Callable[[Conversation, Any], object]

_COMPACTION = (
    c.Compacting, c.Summarized, c.SummaryStreamed, c.Compacted, c.CompactionFailed, c.BoundaryPassed
)  # fmt: skip

_CALL_REPORTS = (
    o.ShowCall, o.RefineCall, o.ReportProgress, o.ReportHook, o.ReturnCall, o.DenyCall, o.CloseCall
)  # fmt: skip

_PROCESS = (e.QueryInitialized, e.QueryStartFailed, e.StreamClosed, e.WorkerShuttingDown)

_TASKS = (e.TaskStarted, e.TaskBackgrounded, e.TaskMoved, e.TaskProgressed, e.TaskEnded)

_FROM_PROCESS: dict[type, _Handler] = {
    e.CommandMoved: Conversation._command,
    e.Requesting: Conversation._request,
    e.Echoed: Conversation._echo,
    e.CliStateChanged: Conversation._state,
    e.Result: Conversation._result,
    e.ApiRetried: lambda it, event: it._companions.retried(event, it.active_turn),
    e.FilesPreviewed: lambda it, event: it._work.take_files(event),
    **dict.fromkeys(_TASKS, Conversation._task),
    e.LevelListed: Conversation._list_level,
    e.TaskLaunched: lambda it, event: it._async_tasks.launch(event),
    **dict.fromkeys(_COMPACTION, lambda it, event: it._companions.compact(event)),
    **dict.fromkeys((g.Told, g.Checked), lambda it, event: it._companions.goal(event)),
    g.Reset: Conversation._reset,
    e.MessageStarted: lambda it, event: it._work.note_message(event.parent),
    e.ToolStarted: lambda it, event: it._calls.start(event, admitted=it.admits(event.use.parent)),
    e.ToolDispatched: Conversation._dispatch,
    e.ToolProgressed: lambda it, event: it._calls.progress(event),
    e.ToolHooked: lambda it, event: it._calls.hook(event),
    e.ToolReturned: Conversation._return,
    e.ToolDenied: lambda it, event: it._calls.deny(event),
    e.AskReceived: lambda it, event: it._requests.receive(event),
    e.AskWithdrawn: lambda it, event: it._requests.withdraw(event),
    e.FormReceived: lambda it, event: it._requests.receive_form(event),
}
"""Events that count only while the process that they come from serves the session (INV-Q2)."""

_OTHERS: dict[type, _Handler] = {
    e.PromptReceived: Conversation._prompt,
    e.SteerReceived: Conversation._steer,
    e.CancelRequested: Conversation._cancel,
    e.PromptCancelRequested: lambda it, event: it._stops.cancel_one(event.turn),
    e.ChangeRequested: Conversation._request_change,
    e.ChangeFinished: Conversation._finish_change,
    e.RecreateRequested: lambda it, _: it._served.recreate(),
    e.CloseRequested: Conversation._to_session,
    e.TaskStopRequested: lambda it, event: it._async_tasks.stop(event),
    e.TaskStopReplied: lambda it, event: it._async_tasks.stop_replied(event),
    **dict.fromkeys((e.AskAnswered, e.FormAnswered), lambda it, event: it._requests.answer(event)),
    e.AskPrepared: lambda it, event: it._asks.prepared(event),
    e.PlanStopped: lambda it, event: it._plan.stop.begin(event),
    **dict.fromkeys((e.HistoryReplayed, e.HistoryFailed), Conversation._to_session),
    e.AgentsRestored: lambda it, event: it._children.restore(event, it._work.tasks),
    e.HistoryAnswered: lambda it, _: it._children.repeat(),
    e.LimitReplayed: lambda it, event: it._companions.restore_limit(event),
    **dict.fromkeys(_PROCESS, lambda it, event: it._served.tell(event)),
    e.QueryStopped: Conversation._query_stopped,
    e.TimerFired: Conversation._fire,
}

_SIGNALS: dict[type, _Handler] = {
    q.Ready: lambda it, _: it._feed(it._session, s.QueryReady()),
    q.StartFailed: Conversation._fail_start,
    q.Lost: Conversation._lose_query,
    s.Release: lambda it, _: it._release(),
    s.FailWaiting: lambda it, signal: it._fail_waiting(signal.failure),
    s.Continue: lambda it, _: it._plan.go_on(),
    s.FailContinuing: lambda it, signal: it._stops.finish(signal.failure),
    s.Finish: lambda it, _: it._finish(),
    **dict.fromkeys((o.StartQuery, o.ReplaceQuery, o.RecreateQuery), Conversation._begin),
    o.AnswerPrompt: Conversation._answered,
    o.TellRecreated: Conversation._recreated,
    o.DropQuery: lambda it, signal: it._served.drop(signal),
    o.AnswerOpen: Conversation._opened,
    o.AnswerClose: Conversation._closed,
    Announce: lambda it, signal: it._requests.announce(signal),
    **dict.fromkeys((o.AskClient, o.AskForm), lambda it, signal: it._requests.ask(signal)),
    **dict.fromkeys(_CALL_REPORTS, lambda it, signal: it._children.show(signal)),
}
"""What one machine tells another."""
