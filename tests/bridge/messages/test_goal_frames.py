"""What Claude Code's frames say of the goal, and what of it stays inside (M12)."""

from typing import Any

import pytest

from bridge.messages.frames import FrameReader
from bridge.messages.stream import MessageStream
from machines.companions.goal import Checked, Told
from machines.companions.session_reports import GoalSnapshot


def reader() -> FrameReader:
    return FrameReader(MessageStream(), lambda _: False)


def read(*frames: dict[str, Any]) -> list[Any]:
    frame_reader = reader()
    return [item for frame in frames for item in frame_reader.read(frame)]


def active(value: object) -> dict[str, Any]:
    return {"type": "active_goal", "value": value}


def mirror(**attachment: object) -> dict[str, Any]:
    entry = {
        "type": "attachment",
        "timestamp": "2026-01-02T03:04:05Z",
        "attachment": {"type": "goal_status", **attachment},
    }
    return {"type": "transcript_mirror", "entries": [entry]}


@pytest.mark.contract("GL-021", "GL-022", "GL-023", "GL-024", "GL-026")
def test_the_keys_of_claude_code_become_ours() -> None:
    value = {
        "condition": "ship it",
        "iterations": 2,
        "set_at": 1_700_000_000_000,
        "last_reason": "tests are red",
        "tokens_at_start": 12_345,
    }
    (told,) = read(active(value))
    assert told == Told(GoalSnapshot("ship it", 2, "tests are red", 1_700_000_000_000))
    (bare,) = read(active({"condition": "ship it"}))
    assert bare == Told(GoalSnapshot("ship it"))


@pytest.mark.contract("GL-025")
def test_null_is_no_goal() -> None:
    assert read(active(None)) == [Told(None)]


@pytest.mark.parametrize(
    ("attachment", "item"),
    [
        ({"sentinel": True, "met": False}, Told(GoalSnapshot("ship it", created_at=1_767_323_045_000))),
        ({"met": False, "reason": "red"}, Checked("ship it", "red")),
        ({"met": True}, Told(None)),
        ({"met": False, "failed": True}, Told(None)),
    ],
)
@pytest.mark.contract("GL-034")
def test_the_mirror_tells_where_claude_code_does_not(attachment: dict[str, Any], item: Any) -> None:
    frame = mirror(condition="ship it", **attachment)
    assert read(frame) == [item]
    assert read(active(None), frame) == [Told(None)], "Claude Code's own word outranks the mirror"


@pytest.mark.parametrize(
    "frame",
    [
        active("broken"),
        active({"condition": 7, "iterations": "x", "set_at": "never", "last_reason": {}}),
        {"type": "transcript_mirror", "entries": [None, {}, {"attachment": []}]},
        {"type": "transcript_mirror", "entries": {"a": 1}},
        {"type": "transcript_mirror"},
    ],
)
def test_a_broken_frame_says_nothing_that_is_not_there(frame: dict[str, Any]) -> None:
    for item in read(frame):
        assert isinstance(item, Told)
        assert item.goal is None or item.goal == GoalSnapshot("")
