"""Todo lists and tasks as the standard `plan` (`tool-calls` §9)."""

import json
import re
from dataclasses import dataclass, replace

from bridge.tools.facts import Json, Updates
from bridge.tools.reading import first_text, mapping, mappings, text
from bridge.tools.results import joined_text
from bridge.tools.tracker import same
from machines.events import ToolReturned, ToolUse

_PLAN_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})
_STATUSES = frozenset({"pending", "in_progress", "completed"})

_CREATED = re.compile(r"Task #(\S+) created successfully: (.+)")
_LISTED = re.compile(r"#(\S+) \[(\w+)\] (.+?)(?: \([^()]*\))?(?: \[blocked by #\S+(?:, #\S+)*\])?")
_UPDATE_FAILED = re.compile(r"Task #\S+ not found|Failed to delete task")


def is_plan_tool(tool: str) -> bool:
    """Whether calls of the tool are shown as a plan, and as a call only for a permission request."""
    return tool in _PLAN_TOOLS


@dataclass(frozen=True, slots=True)
class Task:
    """One task of the Task tools."""

    subject: str
    status: str = "pending"
    active_form: str = ""

    def entry(self) -> Json:
        """The task as an entry of a plan."""
        shown = self.active_form if self.status == "in_progress" and self.active_form else self.subject
        status = self.status if self.status in _STATUSES else "pending"
        return {"content": shown, "status": status, "priority": "medium"}


class Plans:
    """Every plan is a full snapshot; AIR gets none that repeats the last one of its session."""

    def __init__(self, *, skip_repeats: bool) -> None:
        self._skip_repeats = skip_repeats
        self._tasks: dict[str, Task] = {}
        self._published: dict[str | None, list[Json]] = {}

    def todos(self, use: ToolUse) -> Updates:
        """A TodoWrite is a plan as soon as its input holds the list."""
        if use.name != "TodoWrite" or not isinstance(use.input.get("todos"), list):
            return []
        listed = [
            Task(text(todo.get("content")), text(todo.get("status")), text(todo.get("activeForm")))
            for todo in mappings(use.input["todos"])
        ]
        return self._publish(listed, use.parent)

    def returned(self, use: ToolUse, result: ToolReturned) -> Updates:
        """What the result of a Task tool changes."""
        if result.is_error or not self._apply(use, result):
            return []
        return self._publish([*self._tasks.values()], use.parent)

    def created(self, task: str, subject: str) -> Updates:
        """The TaskCreated hook."""
        if task in self._tasks or not subject:
            return []
        self._tasks[task] = Task(subject)
        return self._publish([*self._tasks.values()], None)

    def completed(self, task: str) -> Updates:
        """The TaskCompleted hook."""
        known = self._tasks.get(task)
        if known is None or known.status == "completed":
            return []
        self._tasks[task] = replace(known, status="completed")
        return self._publish([*self._tasks.values()], None)

    def again(self) -> Updates:
        """The tasks once more while some are unfinished: a new prompt starts."""
        unfinished = any(task.status != "completed" for task in self._tasks.values())
        return self._publish([*self._tasks.values()], None) if unfinished else []

    def forget(self) -> None:
        """History is replayed: it builds the tasks anew, and its plans go out again."""
        self._tasks.clear()
        self._published.clear()

    def _publish(self, tasks: list[Task], lane: str | None) -> Updates:
        entries = [task.entry() for task in tasks]
        if self._skip_repeats and same(self._published.get(lane), entries):
            return []
        self._published[lane] = entries
        return [{"sessionUpdate": "plan", "entries": entries}]

    def _apply(self, use: ToolUse, result: ToolReturned) -> bool:
        match use.name:
            case "TaskCreate":
                return self._create(use, _output(result) or _created_text(result))
            case "TaskUpdate":
                return self._update(use, _output(result) or _failed_text(result))
            case "TaskList":
                return self._list(_output(result) or _listed_text(result))
            case _:
                return False

    def _create(self, use: ToolUse, output: Json) -> bool:
        task = mapping(output.get("task"))
        id_, subject = _id(task.get("id")), text(task.get("subject")) or first_text(use.input, "subject")
        if not id_ or not subject:
            return False
        self._tasks[id_] = Task(subject, active_form=first_text(use.input, "activeForm"))
        return True

    def _update(self, use: ToolUse, output: Json) -> bool:
        id_ = _id(use.input.get("taskId"))
        refused = output and (output.get("success") is not True or _id(output.get("taskId")) != id_)
        if not id_ or refused:
            return False
        if use.input.get("status") == "deleted":
            return self._tasks.pop(id_, None) is not None
        known = self._tasks.get(id_, Task(""))
        task = Task(
            first_text(use.input, "subject") or known.subject,
            first_text(use.input, "status") or known.status,
            first_text(use.input, "activeForm") or known.active_form,
        )
        if not task.subject:
            return False
        self._tasks[id_] = task
        return True

    def _list(self, output: Json) -> bool:
        if not isinstance(output.get("tasks"), list):
            return False
        listed = mappings(output["tasks"])
        before = self._tasks
        self._tasks = {}
        for task in listed:
            id_ = _id(task.get("id"))
            form = before[id_].active_form if id_ in before else ""
            self._tasks[id_] = Task(text(task.get("subject")), text(task.get("status")), form)
        return True


def _id(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _output(result: ToolReturned) -> Json:
    """The structured output, wherever it is; empty when the result is plain text."""
    if found := mapping(result.structured):
        return found
    try:
        return mapping(json.loads(joined_text(result.content) or ""))
    except (ValueError, RecursionError):
        return {}


def _created_text(result: ToolReturned) -> Json:
    found = _CREATED.fullmatch((joined_text(result.content) or "").strip())
    return {"task": {"id": found[1], "subject": found[2]}} if found else {}


def _listed_text(result: ToolReturned) -> Json:
    shown = (joined_text(result.content) or "").strip()
    if shown == "No tasks found":
        return {"tasks": []}
    found = [_LISTED.fullmatch(line) for line in shown.split("\n")]
    listed = [{"id": line[1], "status": line[2], "subject": line[3]} for line in found if line]
    return {"tasks": listed} if len(listed) == len(found) else {}


def _failed_text(result: ToolReturned) -> Json:
    failed = _UPDATE_FAILED.match((joined_text(result.content) or "").strip())
    return {"success": False} if failed else {}
