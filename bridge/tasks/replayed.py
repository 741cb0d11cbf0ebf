"""The async tasks of a stored conversation: each that ended is told with its end (§R.6)."""

from collections.abc import Iterator

from bridge.messages.raw import text
from bridge.tasks.reading import launched
from bridge.tasks.updates import Update, moved, spawned
from machines.children.delegations import LAUNCHES, MESSAGE
from machines.events import ToolReturned, ToolUse
from machines.tasks.async_task import UNNAMED
from machines.tasks.task_changes import end_of
from machines.tasks.task_outputs import MoveTask, ShowTask

_SUBAGENTS = frozenset({*LAUNCHES, MESSAGE})
_TYPES = {**dict.fromkeys(("Bash", "PowerShell", "Monitor"), "local_bash"), "Workflow": "local_workflow"}
"""What a tool starts; the type itself is not stored."""


class ReplayedTasks:
    """Follows the calls that are told, and knows the task of each."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str]] = {}  # what each starts, and its name
        self._outputs: dict[str, str] = {}  # of each call that started a task

    def note_use(self, use: ToolUse) -> None:
        """A call was told."""
        if use.name not in _SUBAGENTS:
            title = text(use.input, "description") or text(use.input, "command")
            self._calls[use.call] = (_TYPES.get(use.name, ""), title)

    def note_result(self, result: ToolReturned) -> None:
        """Its result, which may be the launch of a task."""
        for launch in launched(result):
            self._outputs[launch.call] = launch.output_file

    def end(self, task: str, status: str, call: str | None, summary: str | None) -> Iterator[Update]:
        """A notification of its end: the spawn and the end of a task whose call was told, once."""
        known = self._calls.pop(call, None) if call is not None else None
        if known is None:
            return
        type, title = known
        shown = ShowTask(
            task,
            title or UNNAMED,
            type,
            title,
            in_transcript=False,  # as live, where the level list names a task first (AT-046)
            output_file=self._outputs.pop(str(call), ""),
            call=call,
        )
        yield spawned(shown)
        yield moved(MoveTask(task, end_of(status), summary or ""))
