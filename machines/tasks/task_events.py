"""What runs beside the conversation: subagents, commands in the background, workflows, monitors."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What Claude Code tells of a task; empty for what it does not."""

    type: str = ""
    """`local_bash`, `local_agent` …"""
    description: str = ""
    subagent_type: str = ""
    name: str = ""
    """Of a workflow."""
    prompt: str = ""
    output_file: str = ""
    skip_transcript: bool = False
    ambient: bool = False


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """`system/task_started`; a resumed subagent starts again under its id, with the call that woke it."""

    task: str
    call: str | None = None
    is_subagent: bool = False
    backgrounded: bool = False
    parent: str | None = None
    run: str = ""
    facts: TaskFacts = field(default_factory=TaskFacts)
    says_where: bool = True
    """It says whether the task runs in the background."""


@dataclass(frozen=True, slots=True)
class TaskBackgrounded:
    """`system/task_updated` that says whether it runs in the background."""

    task: str
    backgrounded: bool
    run: str = ""


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """`system/task_updated` with a status that is not final: `running`, `paused` …"""

    task: str
    status: str
    run: str = ""


@dataclass(frozen=True, slots=True)
class TaskProgressed:
    """`system/task_progress`."""

    task: str
    run: str = ""
    call: str | None = None
    description: str = ""
    summary: str = ""
    last_tool: str = ""
    usage: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """`system/task_notification`, or a patch with a final status."""

    task: str
    run: str = ""
    status: str = "completed"
    """`completed`, `failed`, `killed`, `stopped` …"""
    call: str | None = None
    """The call that started this run; only a notification names it."""
    summary: str = ""
    output_file: str = ""
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class LevelListed:
    """`system/background_tasks_changed`: everything that runs in the background."""

    tasks: frozenset[str]
    facts: Mapping[str, TaskFacts] = field(default_factory=dict)
    """By task id."""


@dataclass(frozen=True, slots=True)
class TaskLaunched:
    """The result of a call names a task and where its output is; it may be the launch of that task."""

    call: str
    task: str
    output_file: str = ""
    backgrounded: bool = False


@dataclass(frozen=True, slots=True)
class TaskStopRequested:
    """`_session/async_task/stop`; `stop` is the request."""

    stop: str
    task: str


@dataclass(frozen=True, slots=True)
class TaskStopReplied:
    """Claude Code's reply to the stop of a task."""

    task: str
    error: str | None = None


TaskEvent = TaskStarted | TaskBackgrounded | TaskMoved | TaskProgressed | TaskEnded
