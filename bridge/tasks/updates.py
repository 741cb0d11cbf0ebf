"""The updates that tell an AIR client of its async tasks (A1)."""

from collections.abc import Callable, Mapping

from machines.tasks.task_outputs import MoveTask, ReportTask, ShowTask, TaskUpdate

Update = dict[str, object]
Send = Callable[[Mapping[str, object]], None]

TYPES: Mapping[str, str] = {
    "": "task",
    "local_bash": "shell",
    "local_workflow": "workflow",
    **dict.fromkeys(("local_monitor", "monitor", "monitor_mcp", "monitor_ws", "mcp", "mcp_task"), "monitor"),
}
"""Claude Code's types in the client's words; any other is told as it is (AT-008 … AT-011)."""

_REMEMBERED = 256


class TaskUpdates:
    """Tells the tasks of one session; a field that the client has is not told again (AT-013).

    `send` knows in which session a task's tool call was reported.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: dict[str, Update] = {}

    def tell(self, output: TaskUpdate) -> None:
        """Send one update, or none when it says nothing new."""
        match output:
            case ShowTask():
                self._send_fields(output.task, spawned(output))
            case ReportTask():
                held = self._held.get(output.task, {})
                news = {key: value for key, value in _fields(output).items() if held.get(key) != value}
                if news:
                    update = {"sessionUpdate": "async_task_progress", "asyncTaskId": output.task, **news}
                    self._send_fields(output.task, update)
            case MoveTask():
                self._send(moved(output))

    def _send_fields(self, task: str, update: Update) -> None:
        """The client has the fields only once they were sent (AT-043)."""
        self._send(update)
        self._held[task] = {**self._held.pop(task, {}), **update}
        while len(self._held) > _REMEMBERED:
            del self._held[next(iter(self._held))]


def spawned(task: ShowTask) -> Update:
    """The first update of a task."""
    known: Update = {"outputFilePath": task.output_file, "toolCallId": task.call}
    return {
        "sessionUpdate": "async_task_spawned",
        "asyncTaskId": task.task,
        "name": task.title,
        "taskType": TYPES.get(task.type, task.type),
        "description": task.description,
        "showInTranscript": task.in_transcript,
        "canStop": True,
        **{key: value for key, value in known.items() if value},
    }


def moved(task: MoveTask) -> Update:
    """Its state."""
    update: Update = {
        "sessionUpdate": "async_task_state_update",
        "asyncTaskId": task.task,
        "state": task.state,
    }
    return {**update, "summary": task.summary} if task.summary else update


def _fields(task: ReportTask) -> Update:
    told: Update = {
        "description": task.description,
        "summary": task.summary,
        "lastToolName": task.last_tool,
        "usage": task.usage,
        "outputFilePath": task.output_file,
        "toolCallId": task.call,
    }
    return {key: value for key, value in told.items() if value}
