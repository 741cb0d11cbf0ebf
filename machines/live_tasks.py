"""The tasks that run in one Claude Code process (B1, plain data)."""

from dataclasses import dataclass, field

from machines.task_events import (
    TaskBackgrounded,
    TaskEnded,
    TaskEvent,
    TaskMoved,
    TaskProgressed,
    TaskStarted,
)


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
class LiveTasks:
    """Which tasks run, by their ids; a subagent's task id is its agent id."""

    by_id: dict[str, LiveTask] = field(default_factory=dict)

    def take(self, event: TaskEvent) -> bool:
        """Follow one task; whether a subagent began a run. Frames of an earlier run are late (B1)."""
        known = self.by_id.get(event.task)
        if known is not None and event.run and event.run < known.run:
            return False
        match event:
            case TaskStarted(task, call, is_subagent, backgrounded, parent, run):
                self.by_id[task] = LiveTask(call, is_subagent, backgrounded, parent, run)
                return is_subagent
            case TaskBackgrounded(backgrounded=backgrounded):
                if known is not None:
                    known.backgrounded = backgrounded
            case TaskEnded(task):
                self.by_id.pop(task, None)
            case TaskMoved() | TaskProgressed():
                pass
        return False

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

    def background_calls(self) -> frozenset[str]:
        """The calls of subagents that work in the background."""
        return frozenset(
            task.call
            for id, task in self.by_id.items()
            if task.is_subagent and task.call is not None and self.in_background(id)
        )

    def clear(self) -> None:
        """The process is gone."""
        self.by_id.clear()
