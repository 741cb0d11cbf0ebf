"""How the stop of a task is asked for and answered (A1)."""

from typing import Any, cast

import pytest

from bridge.claude.errors import ControlError
from bridge.live.async_tasks import AsyncTasks
from bridge.peer import Inbound
from machines.events import TaskStopReplied
from machines.tasks.task_outputs import AnswerStop, ShowTask, StopTask, TellStopped
from tests.bridge.view.stand_ins import Process
from wire import rpc


class Bench:
    """The tasks of a session, and what they do to their neighbours."""

    def __init__(self) -> None:
        self.process = Process()
        self.posted: list[Any] = []
        self.sent: list[Any] = []
        self.told: list[str] = []
        self.answers: list[dict[str, Any]] = []
        process = cast("Any", self.process)
        self.tasks = AsyncTasks(process, self.posted.append, self.sent.append, self.told.append)
        request = rpc.Request(1, "_session/async_task/stop", {})
        self.tasks.stops["s"] = Inbound(request, lambda _, answer: self.answers.append(answer))


@pytest.mark.contract("AT-035")
@pytest.mark.parametrize(
    ("reply", "error"), [({}, None), (ControlError("No such task.", None), "No such task.")]
)
def test_claude_code_is_asked_to_stop_the_task(reply: Any, error: str | None) -> None:
    bench = Bench()
    bench.tasks.perform(StopTask("t"))
    assert bench.process.requests == [("stop_task", {"task_id": "t"})]
    bench.process.reply(reply)
    assert bench.posted == [TaskStopReplied("t", error)]


@pytest.mark.contract("AT-037", "AT-040")
@pytest.mark.parametrize("stopped", [True, False])
def test_a_stop_is_answered(stopped: bool) -> None:
    bench = Bench()
    bench.tasks.perform(AnswerStop("s", stopped))
    assert bench.answers[0]["result"] == {"stopped": stopped}
    assert bench.tasks.stops == {}


def test_a_stop_that_failed_says_why() -> None:
    bench = Bench()
    bench.tasks.perform(AnswerStop("s", error="No such task."))
    assert bench.answers[0]["error"] == {"code": -32603, "message": "Internal error: No such task."}


def test_updates_and_the_word_to_the_user_go_their_ways() -> None:
    bench = Bench()
    bench.tasks.perform(ShowTask("t", "wait"))
    bench.tasks.perform(TellStopped("wait"))
    assert [each["sessionUpdate"] for each in bench.sent] == ["async_task_spawned"]
    assert bench.told == ["wait"]
