"""What the result of a call says of a task: that it started one, and where its output is (A1)."""

import re
from collections.abc import Iterator

from bridge.messages.raw import Raw, mapping, rows, text
from machines.events import TaskLaunched

_OUTPUT = re.compile(
    r"(?:written to: (?P<said>[^\n]+?)|(?P<bare>\S+?))(?P<rest>[\\/]tasks[\\/](?P<task>[\w-]+)\.output)"
)


def launched(block: Raw, raw: Raw) -> Iterator[TaskLaunched]:
    """The task that a `tool_result` of a user frame names, if it names one.

    The command's text is never read: only what Claude Code says of the result (AT-029).
    """
    call, structured = text(block, "tool_use_id"), mapping(raw, "tool_use_result")
    task = text(structured, "backgroundTaskId")
    told = _OUTPUT.search(_said(block))
    path = "" if told is None else (told["said"] or told["bare"]) + told["rest"]
    if task:
        found = path if told is not None and told["task"] == task else ""
        yield TaskLaunched(call, task, text(structured, "outputFile") or found, backgrounded=True)
    elif told is not None:
        yield TaskLaunched(call, told["task"], path)


def _said(block: Raw) -> str:
    whole = text(block, "content")
    return whole or "\n".join(text(part, "text") for part in rows(block, "content"))
