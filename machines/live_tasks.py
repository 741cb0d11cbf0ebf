"""The tasks that run in one Claude Code process (B1, plain data)."""

from dataclasses import dataclass, field


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

    def start(self, id: str, task: LiveTask) -> None:
        """A task began, or began another run."""
        self.by_id[id] = task

    def is_late(self, id: str, run: str) -> bool:
        """A frame of an earlier run of a task that runs again."""
        task = self.by_id.get(id)
        return task is not None and bool(run) and run < task.run

    def end(self, id: str) -> LiveTask | None:
        """A task ended."""
        return self.by_id.pop(id, None)

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
