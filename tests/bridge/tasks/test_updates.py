"""The updates of async tasks: their shapes, and that nothing is told twice (A1)."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tasks.updates import TaskUpdates
from machines.tasks.task_outputs import MoveTask, ReportTask, ShowTask

SHOWN = ShowTask("t", "wait", "local_bash", "wait for it", call="c")


class Updates:
    """Tells tasks to a client that keeps what it gets, unless it fails."""

    def __init__(self, *outputs: Any) -> None:
        self.sent: list[Mapping[str, Any]] = []
        self.fails = False
        self._tasks = TaskUpdates(self._send)
        for output in outputs:
            self._tasks.tell(output)

    def __call__(self, output: Any) -> list[Mapping[str, Any]]:
        """What is sent for it."""
        before = len(self.sent)
        self._tasks.tell(output)
        return self.sent[before:]

    def _send(self, update: Mapping[str, object]) -> None:
        if self.fails:
            raise ConnectionResetError
        self.sent.append(update)


@pytest.mark.contract("AT-005", "AT-006", "AT-007")
def test_a_spawn() -> None:
    base = {
        "sessionUpdate": "async_task_spawned",
        "asyncTaskId": "t",
        "name": "wait",
        "taskType": "shell",
        "description": "wait for it",
        "showInTranscript": True,
        "canStop": True,
    }
    assert Updates(SHOWN).sent == [{**base, "toolCallId": "c"}]
    bare = ShowTask("t", "wait", "local_bash", "wait for it", in_transcript=False, output_file="/o")
    assert Updates(bare).sent == [{**base, "showInTranscript": False, "outputFilePath": "/o"}]


@pytest.mark.contract("AT-008", "AT-009", "AT-010", "AT-011")
@pytest.mark.parametrize(
    ("type", "told"),
    [
        ("local_bash", "shell"),
        ("local_workflow", "workflow"),
        ("local_monitor", "monitor"),
        ("monitor_mcp", "monitor"),
        ("mcp_task", "monitor"),
        ("", "task"),
        ("dream", "dream"),
    ],
)
def test_the_type_of_a_task(type: str, told: str) -> None:
    assert Updates(ShowTask("t", "wait", type)).sent[0]["taskType"] == told


@pytest.mark.contract("AT-013", "AT-014")
def test_progress_has_what_changed() -> None:
    tell = Updates(SHOWN)
    progress = {"sessionUpdate": "async_task_progress", "asyncTaskId": "t"}
    assert tell(ReportTask("t", "wait for it", call="c")) == []
    everything = ReportTask("t", "more", "half", "Read", {"total_tokens": 9}, "/o", "d")
    assert tell(everything) == [
        {
            **progress,
            "description": "more",
            "summary": "half",
            "lastToolName": "Read",
            "usage": {"total_tokens": 9},
            "outputFilePath": "/o",
            "toolCallId": "d",
        }
    ]
    assert tell(everything) == []
    assert tell(ReportTask("t", "more", "all", usage={"total_tokens": 10})) == [
        {**progress, "summary": "all", "usage": {"total_tokens": 10}}
    ]


@pytest.mark.contract("AT-015", "AT-016")
def test_a_state() -> None:
    base = {"sessionUpdate": "async_task_state_update", "asyncTaskId": "t"}
    tell = Updates(SHOWN)
    assert tell(MoveTask("t", "paused")) == [{**base, "state": "paused"}]
    assert tell(MoveTask("t", "failed", "Exit 1")) == [{**base, "state": "failed", "summary": "Exit 1"}]


@pytest.mark.contract("AT-043", "TC-224")
def test_a_field_that_could_not_be_sent_is_sent_again() -> None:
    tell = Updates(SHOWN)
    tell.fails = True
    with pytest.raises(ConnectionResetError):
        tell(ReportTask("t", summary="half"))
    tell.fails = False
    (update,) = tell(ReportTask("t", summary="half"))
    assert update["summary"] == "half"


def test_tasks_have_fields_of_their_own() -> None:
    tell = Updates(SHOWN, ShowTask("u", "other"))
    assert len(tell(ReportTask("t", summary="half")) + tell(ReportTask("u", summary="half"))) == 2


REPORTS = st.builds(
    ReportTask,
    st.sampled_from("tu"),
    *(st.sampled_from(["", "a", "b"]) for _ in range(3)),
    st.sampled_from([{}, {"n": 1}]),
    st.sampled_from(["", "/o"]),
    st.sampled_from([None, "c"]),
)


@pytest.mark.contract("AT-013")
@given(st.lists(REPORTS))
def test_a_client_that_merges_has_all_and_gets_nothing_twice(reports: list[ReportTask]) -> None:
    tell = Updates(SHOWN, ShowTask("u", "other"))
    held = {update["asyncTaskId"]: dict(update) for update in tell.sent}
    for report in reports:
        for update in tell(report):
            news = {
                key: value for key, value in update.items() if key not in {"sessionUpdate", "asyncTaskId"}
            }
            assert news, "INV-B6"
            assert all(held[report.task].get(key) != value for key, value in news.items())
            held[report.task] |= news
        if report.summary:
            assert held[report.task]["summary"] == report.summary
        if report.call:
            assert held[report.task]["toolCallId"] == report.call
