"""Every async task of one session: which events are whose, and what all of them hear (A1)."""

from dataclasses import dataclass

from machines.feed import Feed
from machines.tasks.async_task import AsyncTask
from machines.tasks.task_changes import (
    Change,
    Disowned,
    End,
    Ended,
    Lost,
    Paused,
    Progressed,
    Resumed,
    Stopped,
    Told,
    TurnOver,
    Unlisted,
    end_of,
)
from machines.tasks.task_events import (
    LevelListed,
    TaskBackgrounded,
    TaskEnded,
    TaskEvent,
    TaskFacts,
    TaskLaunched,
    TaskMoved,
    TaskProgressed,
    TaskStarted,
    TaskStopReplied,
    TaskStopRequested,
)
from machines.tasks.task_outputs import AnswerStop
from machines.tasks.task_stop import Ask, Confirmed, Refused, TaskStop
from machines.turns.work import Work

GONE = "Claude Code ended before it stopped the task."

REMEMBERED = 256
"""How many tasks that are over still hear what comes late."""

_IN_FOREGROUND = frozenset({"local_bash", "local_agent"})
"""Types of tasks that run in the foreground where nothing else is said."""
_SUBAGENT = "local_agent"


@dataclass(slots=True)
class _Known:
    task: AsyncTask
    stop: TaskStop
    run: str = ""
    """The latest; frames of an earlier one are late (B1)."""
    seen: bool = False
    """Something said what it is; before, it may as well be a subagent."""


class AsyncTasks:
    """The async tasks of one session; for a client that wants none, nothing happens (INV-B3)."""

    def __init__(self, feed: Feed, work: Work, *, wanted: bool) -> None:
        self._feed = feed
        self._work = work
        self._wanted = wanted
        self._known: dict[str, _Known] = {}
        self._listed: frozenset[str] = frozenset()

    # ── what Claude Code tells ──

    def take(self, event: TaskEvent) -> None:
        """A frame of one task."""
        if not self._wanted or not event.task:
            return
        known = self._of(event.task)
        if event.run and event.run < known.run:
            return
        known.run = event.run or known.run
        known.seen = known.seen or isinstance(event, TaskStarted)
        told = _read(event)
        if told is not None and (known.seen or not isinstance(event, TaskBackgrounded)):
            self._feed(known.task, told)

    def list_level(self, event: LevelListed) -> None:
        """The list of background work decides what is still alive."""
        if not self._wanted:
            return
        dropped, self._listed = self._listed - event.tasks, event.tasks
        for id, facts in event.facts.items():
            if id:
                subagent = facts.type == _SUBAGENT or bool(facts.subagent_type)
                known = self._of(id)
                known.seen = True
                self._feed(known.task, Disowned() if subagent else Told(facts, by_level=True))
        for id, known in self._known.items():
            if id in dropped:
                self._feed(known.task, Unlisted())

    def launch(self, event: TaskLaunched) -> None:
        """The result of a call names a task: one that it started, or where the output of its own is."""
        known = self._known.get(event.task)
        if not self._wanted or not event.task:
            return
        if event.backgrounded:
            known = self._of(event.task)
            known.seen = True
            self._feed(known.task, Told(TaskFacts(output_file=event.output_file), event.call))
        elif known is not None and known.task.call == event.call:
            self._feed(known.task, Progressed(output_file=event.output_file))

    # ── points in the life of the session ──

    def result_taken(self) -> None:
        """A result came; with its own, no task of a turn waits for its call any longer (INV-B4)."""
        active = self._work.turns.active
        if active is None or active.phase == "held":
            self._tell_all(TurnOver())

    def answered(self, turn: str) -> None:
        """A turn is about to be answered, with or without a result."""
        active = self._work.turns.active
        if active is None or active.uuid == turn:
            self._tell_all(TurnOver())

    def lose(self) -> None:
        """The process is gone, and with it every task (LIVE-B1).

        A task outlives `/clear`: Claude Code lists it again in the new conversation.
        """
        self._end_all("stopped" if self._work.cancel.in_effect else "failed")

    def close(self) -> None:
        """The session closes."""
        self._end_all("stopped")

    # ── the client's stop ──

    def stop(self, event: TaskStopRequested) -> None:
        """Stop a task that runs; of any other there is nothing to stop."""
        known = self._known.get(event.task)
        if known is None or not known.task.runs:
            self._feed.put(AnswerStop(event.stop))
        else:
            self._feed(known.stop, Ask(event.stop))

    def stop_replied(self, event: TaskStopReplied) -> None:
        """Claude Code did it, or refused."""
        known = self._known.get(event.task)
        if known is None or known.stop.phase != "stopping":
            return
        if event.error is not None:
            self._feed(known.stop, Refused(event.error if known.task.runs else None))
            return
        self._feed(known.task, Stopped())
        self._feed(known.stop, Confirmed(known.task.title))

    # ── steps ──

    def _of(self, id: str) -> _Known:
        known = self._known.get(id)
        if known is None:
            task = AsyncTask(id, *self._feed.listeners(f"AsyncTask:{id}"))
            known = _Known(task, TaskStop(id, *self._feed.listeners(f"TaskStop:{id}")))
            self._known[id] = known
            self._forget_oldest()
        return known

    def _forget_oldest(self) -> None:
        over = [id for id, known in self._known.items() if _is_over(known)]
        for id in over[: max(0, len(over) - REMEMBERED)]:
            del self._known[id]

    def _end_all(self, state: End) -> None:
        self._listed = frozenset()
        self._tell_all(Lost(state))
        for known in self._known.values():
            self._feed(known.stop, Refused(GONE))

    def _tell_all(self, event: Change) -> None:
        for known in tuple(self._known.values()):
            self._feed(known.task, event)


def _is_over(known: _Known) -> bool:
    return known.task.phase in {"unseen", "ended", "ignored"} and known.stop.phase != "stopping"


def _read(event: TaskEvent) -> Change | None:
    """What the frame means for its task; None for a state that no client knows."""
    match event:
        case TaskStarted(is_subagent=True):
            return Disowned()
        case TaskStarted(call=call, backgrounded=backgrounded, facts=facts, says_where=said):
            return Told(facts, call, backgrounded if said else facts.type not in _IN_FOREGROUND)
        case TaskBackgrounded(backgrounded=backgrounded):
            return Told(background=backgrounded)
        case TaskMoved(status="paused"):
            return Paused()
        case TaskMoved(status="running"):
            return Resumed()
        case TaskMoved():
            return None
        case TaskProgressed():
            return Progressed(event.call, event.description, event.summary, event.last_tool, event.usage)
        case TaskEnded():
            return Ended(
                end_of(event.status),
                event.summary or event.error,
                event.call,
                event.output_file,
            )
