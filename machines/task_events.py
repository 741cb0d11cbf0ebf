"""What runs in the background of a session."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """`system/task_started`."""

    task: str
    call: str | None = None
    is_subagent: bool = False
    backgrounded: bool = False
    parent: str | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class TaskBackgrounded:
    """`system/task_updated` that says whether it runs in the background."""

    task: str
    backgrounded: bool
    run: str = ""


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """`system/task_notification`, or a patch with a final status."""

    task: str
    run: str = ""


@dataclass(frozen=True, slots=True)
class LevelListed:
    """`system/background_tasks_changed`: everything that runs in the background."""

    tasks: frozenset[str]
