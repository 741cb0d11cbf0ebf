"""The async tasks of a stored conversation: each that ended is told with its end (§R.6)."""

from collections.abc import Iterator

from bridge.messages.raw import text
from bridge.tasks.reading import launched
from bridge.tasks.updates import Update, moved, spawned
from machines.async_task import UNNAMED
from machines.events import ToolReturned, ToolUse
from machines.task_changes import end_of
from machines.task_outputs import MoveTask, ShowTask

_SUBAGENTS = frozenset({"Agent", "Task"})
_TYPES = {
    "Bash": "local_bash",
    "PowerShell": "local_bash",
    "Workflow": "local_workflow",
    "Monitor": "local_monitor",
}
"""What a tool starts; the type itself is not stored."""


class ReplayedTasks:
    """Follows the calls that are told, and knows the task of each."""

    def __init__(self) -> None:
        self._open: dict[str, ToolUse] = {}
        self._launched: dict[str, tuple[ToolUse, str]] = {}

    def note_use(self, use: ToolUse) -> None:
        """A call was told."""
        self._open[use.call] = use

    def note_result(self, result: ToolReturned) -> None:
        """Its result, which may be the launch of a task."""
        use = self._open.pop(result.call, None)
        launch = next(launched(result), None)
        if use is not None and launch is not None and use.name not in _SUBAGENTS:
            self._launched[launch.task] = (use, launch.output_file)

    def end(self, task: str, status: str, call: str | None, summary: str | None) -> Iterator[Update]:
        """A notification of its end: the spawn and the end of a task whose call was told, once."""
        use, output = self._launched.pop(task, (None, ""))
        if use is None or call not in {use.call, None}:
            return
        told = text(use.input, "description") or text(use.input, "command")
        yield spawned(
            ShowTask(
                task,
                told or UNNAMED,
                _TYPES.get(use.name, ""),
                told,
                in_transcript=False,  # as live, where the level list names a task first (AT-046)
                output_file=output,
                call=use.call,
            )
        )
        yield moved(MoveTask(task, end_of(status), summary or ""))
