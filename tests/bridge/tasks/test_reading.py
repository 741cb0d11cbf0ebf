"""What the result of a call says of a task (A1)."""

from typing import Any

import pytest

from bridge.messages.frames import FrameReader
from bridge.messages.stream import MessageStream
from machines import events as e

LAUNCH = (
    "Command running in background with ID: b1. Output is being written to: {path}. "
    "You will be notified when it completes. To check interim output, use Read on that file path."
)
PATH = "/tmp/claude-0/-p/S/tasks/b1.output"


def read(content: Any, structured: Any = None) -> list[Any]:
    block = {"type": "tool_result", "tool_use_id": "c", "content": content}
    frame = {"type": "user", "message": {"content": [block]}, "tool_use_result": structured}
    items = FrameReader(MessageStream(), lambda _: False).read(frame)
    return [item for item in items if isinstance(item, e.TaskLaunched)]


@pytest.mark.contract("AT-023")
@pytest.mark.parametrize("path", [PATH, "/home/a b/tasks/b1.output", r"C:\Users\a b\tasks\b1.output"])
def test_the_launch_of_a_command(path: str) -> None:
    launch = e.TaskLaunched("c", "b1", path, backgrounded=True)
    assert read(LAUNCH.format(path=path), {"backgroundTaskId": "b1"}) == [launch]
    parts = [{"type": "text", "text": LAUNCH.format(path=path)}]
    assert read(parts, {"backgroundTaskId": "b1"}) == [launch]


def test_the_structured_file_counts_first() -> None:
    structured = {"backgroundTaskId": "b1", "outputFile": "/other"}
    assert read(LAUNCH.format(path=PATH), structured)[0].output_file == "/other"


def test_a_file_of_another_task_is_not_its_own() -> None:
    (launch,) = read(LAUNCH.format(path=PATH), {"backgroundTaskId": "b2"})
    assert (launch.task, launch.output_file) == ("b2", "")


def test_a_result_without_structure_proves_nothing() -> None:
    assert read(LAUNCH.format(path=PATH)) == [e.TaskLaunched("c", "b1", PATH)]
    assert read(f"See {PATH} for it.") == [e.TaskLaunched("c", "b1", PATH)]


@pytest.mark.parametrize("content", ["done", None, [], [{"type": "image"}], 7])
def test_other_results_name_no_task(content: Any) -> None:
    assert read(content, {"stdout": "done"}) == []


@pytest.mark.contract("AT-029")
def test_the_text_of_a_command_is_not_read() -> None:
    use = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": f"tail {PATH} &"}}
    frame = {"type": "assistant", "message": {"id": "m", "content": [use]}}
    items = [*FrameReader(MessageStream(), lambda _: False).read(frame)]
    assert not [item for item in items if isinstance(item, e.TaskLaunched | e.TaskStarted)]
