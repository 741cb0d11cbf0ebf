"""What a session tells of its async tasks, and how one of them is stopped (A1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TaskState = Literal["running", "paused", "completed", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class ShowTask:
    """First update of a task; `type` is Claude Code's own word for what it is."""

    task: str
    title: str
    """Its name on the wire; a trace keeps names, and this may be the user's command."""
    type: str = ""
    description: str = ""
    in_transcript: bool = True
    output_file: str = ""
    call: str | None = None


@dataclass(frozen=True, slots=True)
class ReportTask:
    """What is known of a task by now; empty for what the event did not tell."""

    task: str
    description: str = ""
    summary: str = ""
    last_tool: str = ""
    usage: Mapping[str, object] = field(default_factory=dict)
    output_file: str = ""
    call: str | None = None

    @property
    def says_nothing(self) -> bool:
        """There is no field in it."""
        return self == ReportTask(self.task)


@dataclass(frozen=True, slots=True)
class MoveTask:
    """The state of a task."""

    task: str
    state: TaskState
    summary: str = ""


@dataclass(frozen=True, slots=True)
class StopTask:
    """Ask Claude Code to stop a task; its reply is `TaskStopReplied`."""

    task: str


@dataclass(frozen=True, slots=True)
class TellStopped:
    """Tell the user that a task was stopped on request."""

    title: str


@dataclass(frozen=True, slots=True)
class AnswerStop:
    """Answer a stop request; with an error it fails."""

    stop: str
    stopped: bool = False
    error: str | None = None


TaskUpdate = ShowTask | ReportTask | MoveTask
TaskOutput = ShowTask | ReportTask | MoveTask | StopTask | TellStopped | AnswerStop
