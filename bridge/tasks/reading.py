"""What the result of a call says of a task: that it started one, and where its output is (A1)."""

import re
from collections.abc import Iterator, Mapping

from bridge.messages.raw import said_in, text
from machines.events import TaskLaunched, ToolReturned

_OUTPUT = re.compile(
    r"(?:written to: (?P<said>[^\n]+?)|(?P<bare>\S+?))(?P<rest>[\\/]tasks[\\/](?P<task>[\w-]+)\.output)"
)


def launched(result: ToolReturned) -> Iterator[TaskLaunched]:
    """The task that a result names, if it names one.

    The text of the command is never read, only what Claude Code says of it (AT-029).
    """
    structured = result.structured if isinstance(result.structured, Mapping) else {}
    task = text(structured, "backgroundTaskId")
    told = _OUTPUT.search(said_in(result.content))
    path = "" if told is None else (told["said"] or told["bare"]) + told["rest"]
    if task:
        found = path if told is not None and told["task"] == task else ""
        yield TaskLaunched(result.call, task, text(structured, "outputFile") or found, backgrounded=True)
    elif told is not None:
        yield TaskLaunched(result.call, told["task"], path)
