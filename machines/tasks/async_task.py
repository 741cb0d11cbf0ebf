"""One async task: background work that is no subagent, as the client was told (A1).

1. The first update is the spawn, and it comes once (INV-B1). It waits for the tool call that
   started the task, at the latest until the task or its turn ends; what comes meanwhile follows
   it in order (INV-B6).
2. Work in the foreground shows nothing. What turns out later to have been in the background is
   shown with its end.
3. A task that Claude Code's list of background work drops is stopped. Its own end may correct
   that once; after an end there is no other state (INV-B2), at most a new output file.
4. A subagent is never a task (INV-B5): nothing is told of it, and what was told ends.
"""

from dataclasses import replace
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.tasks.task_changes import (
    Change,
    Disowned,
    Ended,
    Lost,
    Paused,
    Progressed,
    Resumed,
    Stopped,
    Told,
    TurnOver,
    Unlisted,
)
from machines.tasks.task_events import TaskFacts
from machines.tasks.task_outputs import MoveTask, ReportTask, ShowTask, TaskUpdate

UNNAMED = "Background task"


class AsyncTask(Lifecycle[Change, TaskUpdate]):
    """Lifecycle of one task."""

    unknown = State(initial=True)
    held = State()
    running = State()
    paused = State()
    unlisted = State()
    unseen = State()
    ended = State()
    ignored = State(final=True)

    tell = (
        unknown.to(running, cond="shows", on="show_told")
        | unknown.to(held, cond="in_background", on="learn")
        | stay(unknown, "learn")
        | held.to(paused, cond=["names", "rests"], on="show_told")
        | held.to(running, cond="names", on="show_told")
        | stay(held, "learn")
        | stay(running, "report_told")
        | stay(paused, "report_told")
        | unseen.to(ended, cond="in_background", on="show_unseen")
        | stay(unseen, "learn")
        | stay(unlisted, "report_told_file")
        | stay(ended, "report_told_file")
    )
    disown = ignored.from_(unknown, held, unseen, unlisted, ended) | ignored.from_(
        running, paused, on="report_stopped"
    )
    progress = (
        stay(unknown, "learn_call")
        | held.to(paused, cond=["names", "rests"], on="show_progress")
        | held.to(running, cond="names", on="show_progress")
        | stay(held, "report_progress")
        | stay(running, "report_progress")
        | stay(paused, "report_progress")
        | stay(unseen, "learn_call")
        | stay(unlisted, "report_file")
        | stay(ended, "report_file")
    )
    pause = (
        running.to(paused, on="report_paused")
        | stay(held, "report_paused")
        | stay(unknown)
        | stay(paused)
        | stay(unseen)
        | stay(unlisted)
        | stay(ended)
    )
    resume = (
        paused.to(running, on="report_running")
        | stay(held, "report_running")
        | stay(unknown)
        | stay(running)
        | stay(unseen)
        | stay(unlisted)
        | stay(ended)
    )
    end = (
        unknown.to(unseen, on="note_end")
        | stay(unseen, "note_end")
        | held.to(ended, on="show_end")
        | ended.from_(running, paused, on="report_end")
        | unlisted.to(ended, cond="corrects", on="report_end")
        | unlisted.to(ended, on="report_file")
        | stay(ended, "report_file")
    )
    unlist = (
        held.to(unlisted, on="show_unlisted")
        | unlisted.from_(running, paused, on="report_stopped")
        | stay(unknown)
        | stay(unseen)
        | stay(unlisted)
        | stay(ended)
    )
    leave_turn = (
        held.to(paused, cond="rests", on="show")
        | held.to(running, on="show")
        | stay(unknown)
        | stay(running)
        | stay(paused)
        | stay(unseen)
        | stay(unlisted)
        | stay(ended)
    )
    stop = (
        ended.from_(running, paused, on="report_stopped")
        | unlisted.to(ended)
        | stay(unknown)
        | stay(held)
        | stay(unseen)
        | stay(ended)
    )
    lose = (
        held.to(ended, on="show_lost")
        | ended.from_(running, paused, on="report_lost")
        | unlisted.to(ended)
        | stay(unknown)
        | stay(unseen)
        | stay(ended)
    )

    triggers: ClassVar[dict[type, str]] = {
        Told: "tell",
        Disowned: "disown",
        Progressed: "progress",
        Paused: "pause",
        Resumed: "resume",
        Ended: "end",
        Unlisted: "unlist",
        TurnOver: "leave_turn",
        Stopped: "stop",
        Lost: "lose",
    }

    def __init__(self, task: str, *listeners: object, start: str | None = None) -> None:
        self.task = task
        self.facts = TaskFacts()
        self.call: str | None = None
        self.last = Ended()
        """How it ended while nobody knew that it ran in the background."""
        self.waiting: list[TaskUpdate] = []
        """What follows the spawn of a task that is held."""
        self._in_transcript: bool | None = None
        super().__init__(*listeners, start=start)

    @property
    def title(self) -> str:
        """What it is called."""
        return self.facts.name or self.facts.description or UNNAMED

    @property
    def runs(self) -> bool:
        """The client knows it, and it has not ended."""
        return self.phase in {"running", "paused"}

    # ── guards ──

    def in_background(self, cause: Told) -> bool:
        """It is said to run in the background."""
        return cause.background

    def shows(self, cause: Told) -> bool:
        """… and its call is known."""
        return cause.background and self.names(cause)

    def names(self, cause: Told | Progressed) -> bool:
        """The call that started it is known now."""
        return (cause.call or self.call) is not None

    def rests(self) -> bool:
        """The last state that waits for the spawn is a pause."""
        moves = [each.state for each in self.waiting if isinstance(each, MoveTask)]
        return moves[-1:] == ["paused"]

    def corrects(self, cause: Ended) -> bool:
        """The client was told another end."""
        return cause.state != "stopped"

    # ── what is learned ──

    def learn(self, cause: Told) -> None:
        """Keep what is new of it; what only the level list knew first is never in the transcript."""
        if self._in_transcript is None or (not cause.by_level and cause.facts.skip_transcript):
            self._in_transcript = not cause.by_level and not cause.facts.skip_transcript
        old, new = self.facts, cause.facts
        self.facts = replace(
            old,
            type=old.type or new.type,
            name=old.name or new.name,
            description=new.description or old.description,
            output_file=new.output_file or old.output_file,
        )
        self.call = self.call or cause.call

    def learn_call(self, cause: Progressed) -> None:
        """Keep the call that started it."""
        self.call = self.call or cause.call

    def note_end(self, cause: Ended) -> None:
        """Keep how it ended, in case it turns out to have been in the background."""
        state = self.last.state if self.phase == "unseen" else cause.state
        self.last = Ended(state, cause.summary or self.last.summary)
        self._learn_end(cause)

    def _learn_end(self, cause: Ended) -> None:
        self.call = self.call or cause.call
        if cause.output_file:
            self.facts = replace(self.facts, output_file=cause.output_file)

    # ── what is shown ──

    def show(self) -> None:
        """The spawn, and what waited for it."""
        shown = self._in_transcript is not False
        facts = self.facts
        self.put(
            ShowTask(
                self.task, self.title, facts.type, facts.description, shown, facts.output_file, self.call
            )
        )
        for update in self.waiting:
            self.put(update)
        self.waiting.clear()

    def show_told(self, cause: Told) -> None:
        """The spawn, with all that is known by now."""
        self.learn(cause)
        self.show()

    def show_progress(self, cause: Progressed) -> None:
        """The spawn, then the progress that named the call."""
        self.learn_call(cause)
        self.show()
        if not (progress := self._progress(cause)).says_nothing:
            self.put(progress)

    def show_end(self, cause: Ended) -> None:
        """The spawn, what waited, then the end."""
        self._learn_end(cause)
        self.show()
        self.put(MoveTask(self.task, cause.state, cause.summary))

    def show_unseen(self, cause: Told) -> None:
        """It is over already."""
        self.show_told(cause)
        self.put(MoveTask(self.task, self.last.state, self.last.summary))

    def show_unlisted(self) -> None:
        """The list named it, and dropped it before its call was known."""
        self.show()
        self.report_stopped()

    def show_lost(self, cause: Lost) -> None:
        """Its process took it along."""
        self.show()
        self.report_lost(cause)

    # ── what is reported later ──

    def report_told(self, cause: Told) -> None:
        """The same start or entry again may know more."""
        call = cause.call if self.call is None else None
        self.learn(cause)
        facts = cause.facts
        self._report(ReportTask(self.task, facts.description, output_file=facts.output_file, call=call))

    def report_progress(self, cause: Progressed) -> None:
        """What changed; of a held task it waits."""
        progress = self._progress(cause)
        self.learn_call(cause)
        self._report(progress)

    def report_told_file(self, cause: Told) -> None:
        """Only where the output is may still become known."""
        self._report(ReportTask(self.task, output_file=cause.facts.output_file))

    def report_file(self, cause: Progressed | Ended) -> None:
        """The same of any other event."""
        self._report(ReportTask(self.task, output_file=cause.output_file))

    def report_paused(self) -> None:
        """It rests."""
        self._report(MoveTask(self.task, "paused"))

    def report_running(self) -> None:
        """It runs again."""
        self._report(MoveTask(self.task, "running"))

    def report_end(self, cause: Ended) -> None:
        """It is over; where its output is comes first."""
        call = cause.call if self.call is None else None
        self._learn_end(cause)
        self._report(ReportTask(self.task, output_file=cause.output_file, call=call))
        self.put(MoveTask(self.task, cause.state, cause.summary))

    def report_stopped(self) -> None:
        """It is not there any more."""
        self.put(MoveTask(self.task, "stopped"))

    def report_lost(self, cause: Lost) -> None:
        """Its process took it along."""
        self.put(MoveTask(self.task, cause.state))

    def _progress(self, cause: Progressed) -> ReportTask:
        call = cause.call if self.call is None else None
        told = (cause.description, cause.summary, cause.last_tool, cause.usage, cause.output_file)
        return ReportTask(self.task, *told, call)

    def _report(self, update: ReportTask | MoveTask) -> None:
        if isinstance(update, ReportTask) and update.says_nothing:
            return
        if self.phase == "held":
            self._defer(update)
        else:
            self.put(update)

    def _defer(self, update: ReportTask | MoveTask) -> None:
        if isinstance(update, ReportTask) or (update.state == "paused") != self.rests():
            self.waiting.append(update)
