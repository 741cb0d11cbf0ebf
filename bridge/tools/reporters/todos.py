"""TodoWrite and the Task tools: plans, and calls only where a permission asks about one (§9)."""

from typing import ClassVar

from bridge.tools.facts import UseFacts
from bridge.tools.reading import first_text, mappings, text
from bridge.tools.reporters.reporter import Reporter, UseView


class TodoWrite(Reporter):
    """The list as one line."""

    tools = ("TodoWrite",)

    def use(self, use: UseView) -> UseFacts:
        todos = ", ".join(text(todo.get("content")) for todo in mappings(use.input.get("todos")))
        return UseFacts(title=f"Update TODOs: {todos}" if todos else "Update TODOs", kind="think")


class Tasks(Reporter):
    """The step, and the subject where the input has it."""

    tools = ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet")
    _steps: ClassVar[dict[str, str]] = {
        "TaskCreate": "Create task",
        "TaskUpdate": "Update task",
        "TaskList": "List tasks",
        "TaskGet": "Get task",
    }

    def use(self, use: UseView) -> UseFacts:
        step, subject = self._steps[use.name], first_text(use.input, "subject")
        named = subject and use.name in ("TaskCreate", "TaskUpdate")
        return UseFacts(title=f"{step}: {subject}" if named else step, kind="think")
