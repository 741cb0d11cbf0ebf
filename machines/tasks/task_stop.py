"""The stop of one async task that the client asked for (A1).

1. Of a task that is being stopped or was stopped, every further request answers false.
2. Claude Code's confirmation is told to the user once for a task, also if its end came first.
3. A refusal answers the request with an error, and the task may be stopped again; if it ended
   meanwhile, the request answers false.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.tasks.task_outputs import AnswerStop, StopTask, TellStopped


@dataclass(frozen=True, slots=True)
class Ask:
    """The client asks for it, in the request `stop`."""

    stop: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Claude Code stopped the task; `title` is what the user knows it by."""

    title: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Claude Code did not; without an error the task had ended."""

    error: str | None = None


Input = Ask | Confirmed | Refused
Signal = StopTask | TellStopped | AnswerStop


class TaskStop(Lifecycle[Input, Signal]):
    """Lifecycle of the stop of one task."""

    untouched = State(initial=True)
    stopping = State()
    told = State()

    ask = untouched.to(stopping, on="stop_task") | stay(stopping, "decline") | stay(told, "decline")
    confirm = stopping.to(told, on="tell_stopped") | stay(untouched) | stay(told)
    refuse = stopping.to(untouched, on="fail") | stay(untouched) | stay(told)

    triggers: ClassVar[dict[type, str]] = {Ask: "ask", Confirmed: "confirm", Refused: "refuse"}

    def __init__(self, task: str, *listeners: object, start: str | None = None) -> None:
        self.task = task
        self.stop = ""
        """The request that waits for its answer."""
        super().__init__(*listeners, start=start)

    def stop_task(self, cause: Ask) -> None:
        """Ask Claude Code."""
        self.stop = cause.stop
        self.put(StopTask(self.task))

    def decline(self, cause: Ask) -> None:
        """There is nothing left to stop."""
        self.put(AnswerStop(cause.stop))

    def tell_stopped(self, cause: Confirmed) -> None:
        """Tell the user, then answer."""
        self.put(TellStopped(cause.title))
        self.put(AnswerStop(self.stop, stopped=True))

    def fail(self, cause: Refused) -> None:
        """Answer that it was not done."""
        self.put(AnswerStop(self.stop, error=cause.error))
