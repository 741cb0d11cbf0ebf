"""The tasks that run in one Claude Code process (B1, plain data)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from machines.tasks.task_events import (
    TaskBackgrounded,
    TaskEnded,
    TaskEvent,
    TaskMoved,
    TaskProgressed,
    TaskStarted,
)

REMEMBERED = 256
"""How many subagents that are idle may still be asked again."""


@dataclass(slots=True)
class LiveTask:
    """One task: a subagent, a command in the background, a monitor."""

    call: str | None
    """The tool call that started it, or resumed it."""
    is_subagent: bool = False
    backgrounded: bool = False
    parent: str | None = None
    """Task id of the subagent that it belongs to."""
    run: str = ""
    off_level: bool = False
    """The level list does not name it any more: no turn waits for it."""


@dataclass(slots=True)
class Runs:
    """What a subagent was asked to do, by the calls that asked it; it outlives its runs."""

    run: str = ""
    """Id of the latest run."""
    call: str | None = None
    """Of the latest delegation."""
    earlier: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    def begin(self, call: str | None, run: str) -> None:
        """Another run; an id that was used before counts as new."""
        self.run = run
        if call is None:
            return
        if self.call is not None:
            self.earlier.add(self.call)
        self.call = call
        self.earlier.discard(call)
        self.ended.discard(call)

    def end(self) -> None:
        """The latest run is over."""
        if self.call is not None:
            self.ended.add(self.call)


@dataclass(slots=True)
class LiveTasks:
    """Which tasks run, by their ids; a subagent's task id is its agent id."""

    by_id: dict[str, LiveTask] = field(default_factory=dict)
    runs: dict[str, Runs] = field(default_factory=dict)
    """Of the last subagents, also of those that are idle."""

    def is_late(self, event: TaskEvent) -> bool:
        """It belongs to a run that another one followed (B1, INV-H7)."""
        runs = self.runs.get(event.task)
        if runs is None:
            known = self.by_id.get(event.task)
            return known is not None and bool(event.run) and event.run < known.run
        if event.run and event.run < runs.run:
            return True
        if isinstance(event, TaskMoved):
            return event.task not in self.by_id and bool(event.run) and event.run == runs.run
        return isinstance(event, TaskEnded) and event.call in runs.earlier

    def take(self, event: TaskEvent) -> bool:
        """Follow one task; whether a subagent began a run."""
        if self.is_late(event):
            return False
        known = self.by_id.get(event.task)
        match event:
            case TaskStarted(task, call, is_subagent, backgrounded, parent, run):
                self.by_id[task] = LiveTask(call, is_subagent, backgrounded, parent, run)
                if is_subagent:
                    self._begin(task, call, run)
                return is_subagent
            case TaskBackgrounded(backgrounded=backgrounded):
                if known is not None:
                    known.backgrounded = backgrounded
            case TaskEnded(task):
                self.by_id.pop(task, None)
                if task in self.runs:
                    self.runs[task].end()
            case TaskMoved(task, "running", run) if known is None and task in self.runs:
                self.by_id[task] = LiveTask(self.runs[task].call, True, True, run=run or self.runs[task].run)
                self.runs[task].run = run or self.runs[task].run
                return True
            case TaskMoved() | TaskProgressed():
                pass
        return False

    def resume(self, task: str, call: str) -> bool:
        """A message has a subagent run again; whether that is news, and not of a run that is over."""
        runs = self.runs.get(task)
        if runs is None or task in self.by_id or call in runs.ended:
            return False
        self.by_id[task] = LiveTask(call, is_subagent=True, backgrounded=True, run=runs.run)
        self._begin(task, call, runs.run)
        return True

    def restore(self, calls: Mapping[str, str]) -> None:
        """Subagents of before, by id with their launch: each may be asked again."""
        for task, call in calls.items():
            if task not in self.runs:
                self._begin(task, call, "")
                self.runs[task].end()

    def list_level(self, ids: frozenset[str]) -> None:
        """Claude Code named what runs in the background; it never starts anything here."""
        for id, task in tuple(self.by_id.items()):
            if id in ids:
                task.off_level = False
            elif task.is_subagent:
                task.off_level = True
            elif task.backgrounded:
                del self.by_id[id]

    def holds(self, spawned: set[str]) -> bool:
        """A subagent that a turn started still runs in the background (the hold of M4)."""
        return any(
            task.is_subagent and not task.off_level for id, task in self.by_id.items() if id in spawned
        )

    def in_background(self, agent: str | None) -> bool:
        """The agent, or one that it runs for, works in the background; so does one nobody knows."""
        seen: set[str] = set()
        while agent is not None and agent not in seen:
            seen.add(agent)
            task = self.by_id.get(agent)
            if task is None or task.backgrounded:
                return True
            agent = task.parent
        return False

    def background_agents(self) -> frozenset[str]:
        """The subagents that work in the background."""
        agents = (id for id, task in self.by_id.items() if task.is_subagent)
        return frozenset(id for id in agents if self.in_background(id))

    def background_calls(self) -> frozenset[str]:
        """The calls of subagents that work in the background: of one that runs again, each it had."""
        runs = [self.runs[id] for id in self.background_agents() if id in self.runs]
        return frozenset(call for each in runs for call in (each.call, *each.earlier) if call is not None)

    def clear(self) -> None:
        """The process is gone; its subagents may run again in the next one."""
        self.by_id.clear()

    def _begin(self, task: str, call: str | None, run: str) -> None:
        runs = self.runs.pop(task, None) or Runs()
        runs.begin(call, run)
        self.runs[task] = runs
        while len(self.runs) > REMEMBERED and (oldest := next(iter(self.runs))) not in self.by_id:
            del self.runs[oldest]
