"""The async tasks of a live session: their updates, and the requests that stop them (A1)."""

from collections.abc import Callable

from bridge.live.process import Post, Reply, SessionProcess
from bridge.peer import Inbound
from bridge.tasks.updates import Send, TaskUpdates
from machines.events import TaskStopReplied
from machines.tasks.task_outputs import (
    AnswerStop,
    MoveTask,
    ReportTask,
    ShowTask,
    StopTask,
    TaskOutput,
    TellStopped,
)
from wire import rpc


class AsyncTasks:
    """Carries out what the lifecycles of the tasks decide."""

    def __init__(
        self, process: SessionProcess, post: Post, send: Send, tell_stopped: Callable[[str], None]
    ) -> None:
        self._process = process
        self._post = post
        self._updates = TaskUpdates(send)
        self._tell_stopped = tell_stopped
        self.stops: dict[str, Inbound] = {}
        """Requests that wait for their answer, by their ids."""

    def perform(self, output: TaskOutput) -> None:
        """Do what the output says."""
        match output:
            case ShowTask() | ReportTask() | MoveTask():
                self._updates.tell(output)
            case StopTask(task):
                self._stop(task)
            case TellStopped(title):
                self._tell_stopped(title)
            case AnswerStop(stop, stopped, error):
                self._answer(self.stops.pop(stop), stopped=stopped, error=error)

    def _stop(self, task: str) -> None:
        def replied(reply: Reply) -> None:
            self._post(TaskStopReplied(task, str(reply) if isinstance(reply, Exception) else None))

        self._process.request("stop_task", replied, task_id=task)

    def _answer(self, inbound: Inbound, *, stopped: bool, error: str | None) -> None:
        if error is not None:
            inbound.fail(rpc.INTERNAL_ERROR, f"Internal error: {error}")
        else:
            inbound.respond({"stopped": stopped})
