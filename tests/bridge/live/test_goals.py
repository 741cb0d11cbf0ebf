"""What a prompt asks for beside its text, and what a goal request has to say."""

from typing import Any

import pytest

from bridge.live.goals import goal_text, read_goal, read_report_request
from machines.events import GoalCommand


def said(text: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": text}]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/goal ship it", GoalCommand("ship it")),
        ("  /goal  ship\nit  ", GoalCommand("ship\nit")),
        ("/goal clear", GoalCommand(None)),
        ("/goal", None),
        ("/goal ", None),
        ("/goals ship", None),
        ("my /goal ship", None),
    ],
)
def test_a_goal_command(text: str, command: GoalCommand | None) -> None:
    assert read_goal(said(text)) == command


def test_a_prompt_of_several_blocks_is_no_command() -> None:
    assert read_goal([*said("/goal a"), *said("b")]) is None
    assert read_goal([{"type": "resource_link", "uri": "file:///goal", "name": "/goal a"}]) is None
    assert read_goal([]) is None


@pytest.mark.contract("GL-005", "GL-006", "GL-007")
@pytest.mark.parametrize(
    ("action", "objective", "text"),
    [
        ("set", " ship it ", "/goal ship it"),
        ("clear", None, "/goal clear"),
        ("clear", "ignored", "/goal clear"),
        ("set", None, None),
        ("set", "", None),
        ("set", " \n", None),
        ("set", 7, None),
        ("pause", "ship it", None),
        ("resume", None, None),
        (None, None, None),
    ],
)
def test_a_goal_request(action: object, objective: object, text: str | None) -> None:
    assert goal_text(action, objective) == text


def asking(request: object) -> dict[str, object]:
    return {"jetbrains": {"air": {"version": 1, "agentFileChangeReportRequest": request}}}


@pytest.mark.contract("FC-003", "FC-004", "FC-005", "FC-006", "FC-007", "TC-047")
@pytest.mark.parametrize(
    ("request_", "id"),
    [
        ({"version": 1, "requestId": "a"}, "a"),
        ({"version": 1, "requestId": "A-z.0_9:" + "x" * 120}, "A-z.0_9:" + "x" * 120),
        ({"version": 1, "requestId": "x" * 129}, None),
        ({"version": 1, "requestId": ""}, None),
        ({"version": 1, "requestId": "a b"}, None),
        ({"version": 1, "requestId": "a\n"}, None),
        ({"version": 1, "requestId": 7}, None),
        ({"version": 2, "requestId": "a"}, None),
        ({"version": True, "requestId": "a"}, None),
        ({"version": 1, "requestId": "a", "more": 1}, None),
        ({"requestId": "a"}, None),
        ({"version": 1, "requestId": "used"}, None),
        ("a", None),
        (None, None),
    ],
)
def test_a_request_for_a_report(request_: object, id: str | None) -> None:
    used = {"used"}
    assert read_report_request(asking(request_), used) == id
    assert used == {"used"} | ({id} if id else set())


@pytest.mark.parametrize("meta", [None, [], {"jetbrains": 1}, {"jetbrains": {"air": []}}])
def test_no_request(meta: Any) -> None:
    assert read_report_request(meta, set()) is None
