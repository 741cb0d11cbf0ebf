"""Todo lists and tasks as plans: what each step makes of the list, and when it is sent."""

from typing import Any

import pytest

from bridge.tools.plans import Plans
from machines.events import ToolReturned, ToolUse
from tests.bridge.tools.clients import check

Entries = list[tuple[str, str]]


def entries(updates: list[dict[str, Any]]) -> list[Entries]:
    for update in updates:
        check(update)
        assert {entry["priority"] for entry in update["entries"]} <= {"medium"}
    return [[(entry["content"], entry["status"]) for entry in update["entries"]] for update in updates]


def step(plans: Plans, tool: str, given: dict[str, Any], content: object, **more: Any) -> list[Entries]:
    use = ToolUse("t1", tool, given, more.pop("parent", None))
    return entries(plans.returned(use, ToolReturned("t1", content, **more)))


@pytest.fixture
def plans() -> Plans:
    """Two tasks, the second with a form of its own."""
    plans = Plans(skip_repeats=False)
    step(plans, "TaskCreate", {"subject": "A"}, "Task #1 created successfully: A")
    step(plans, "TaskCreate", {"subject": "B", "activeForm": "Doing B"}, "Task #2 created successfully: B")
    return plans


@pytest.mark.contract("TC-142")
@pytest.mark.parametrize(
    ("content", "structured", "subject"),
    [
        ("Task #7 created successfully: Told", None, "Told"),
        ([{"type": "text", "text": "Task #7 created successfully: Told"}], None, "Told"),
        ('{"task": {"id": "7", "subject": "Told"}}', None, "Told"),
        ([{"type": "text", "text": '{"task": {"id": 7}}'}], None, "Asked"),
        ("x", {"task": {"id": "7", "subject": "Told"}}, "Told"),
    ],
)
def test_a_created_task_is_known_by_the_id_of_its_output(
    content: object, structured: object, subject: str
) -> None:
    plans = Plans(skip_repeats=False)

    assert step(plans, "TaskCreate", {"subject": "Asked"}, content, structured=structured) == [
        [(subject, "pending")]
    ]
    done = {"taskId": "7", "status": "completed"}
    assert step(plans, "TaskUpdate", done, "Updated") == [[(subject, "completed")]]


@pytest.mark.parametrize("content", ["Created.", "[1]", "{", None, [{"type": "image"}]])
def test_a_task_without_an_id_is_not_shown(content: object) -> None:
    assert step(Plans(skip_repeats=False), "TaskCreate", {"subject": "A"}, content) == []


@pytest.mark.contract("TC-142")
@pytest.mark.parametrize(
    ("given", "content", "structured", "expected"),
    [
        (
            {"taskId": "2", "status": "in_progress"},
            "Updated",
            None,
            [("A", "pending"), ("Doing B", "in_progress")],
        ),
        ({"taskId": "1", "status": "in_progress"}, "Updated", None, [("A", "in_progress"), ("B", "pending")]),
        ({"taskId": "1", "subject": "C"}, "Updated", None, [("C", "pending"), ("B", "pending")]),
        ({"taskId": 1, "status": "completed"}, "x", None, [("A", "completed"), ("B", "pending")]),
        (
            {"taskId": "1", "status": "in_progress", "activeForm": "Doing A"},
            "x",
            {"success": True, "taskId": "1"},
            [("Doing A", "in_progress"), ("B", "pending")],
        ),
        ({"taskId": "1", "status": "deleted"}, "Deleted", None, [("B", "pending")]),
        (
            {"taskId": "9", "subject": "New"},
            "x",
            None,
            [("A", "pending"), ("B", "pending"), ("New", "pending")],
        ),
        ({"taskId": "1", "status": "blocked"}, "x", None, [("A", "pending"), ("B", "pending")]),
    ],
)
def test_an_update_changes_one_task(
    plans: Plans, given: dict[str, Any], content: object, structured: object, expected: Entries
) -> None:
    assert step(plans, "TaskUpdate", given, content, structured=structured) == [expected]


@pytest.mark.parametrize(
    ("given", "content", "more"),
    [
        ({"taskId": "9", "status": "completed"}, "Updated", {}),
        ({"taskId": "9", "status": "deleted"}, "Deleted", {}),
        ({"taskId": "1", "status": "completed"}, "Task #1 not found", {}),
        ({"taskId": "1", "status": "deleted"}, "Failed to delete task", {}),
        ({"taskId": "1", "status": "completed"}, "x", {"structured": {"success": False, "taskId": "1"}}),
        ({"taskId": "1", "status": "completed"}, "x", {"structured": {"success": True, "taskId": "2"}}),
        ({"taskId": "1", "status": "completed"}, "Error", {"is_error": True}),
        ({"status": "completed"}, "x", {}),
    ],
)
def test_an_update_that_did_not_happen_is_not_shown(
    plans: Plans, given: dict[str, Any], content: object, more: dict[str, Any]
) -> None:
    assert step(plans, "TaskUpdate", given, content, **more) == []
    assert entries(plans.again()) == [[("A", "pending"), ("B", "pending")]]


@pytest.mark.contract("TC-142")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "#2 [in_progress] B (main)\n#3 [pending] C (d) [blocked by #2, #1]",
            [[("Doing B", "in_progress"), ("C", "pending")]],
        ),
        ('{"tasks": [{"id": "3", "subject": "C", "status": "completed"}]}', [[("C", "completed")]]),
        ("No tasks found", [[]]),
        ("#2 [in_progress] B\nand so on", []),
        ("", []),
    ],
)
def test_a_list_replaces_what_was_known(plans: Plans, content: object, expected: list[Entries]) -> None:
    assert step(plans, "TaskList", {}, content) == expected


def test_looking_at_a_task_shows_nothing(plans: Plans) -> None:
    assert step(plans, "TaskGet", {"taskId": "1"}, "#1 [completed] A") == []


def test_hooks_add_and_complete_tasks_once() -> None:
    plans = Plans(skip_repeats=False)

    assert entries(plans.created("1", "A")) == [[("A", "pending")]]
    assert plans.created("1", "Other") == []
    assert plans.created("2", "") == []
    assert entries(plans.completed("1")) == [[("A", "completed")]]
    assert plans.completed("1") == []
    assert plans.completed("9") == []


@pytest.mark.parametrize(
    ("todo", "entry"),
    [
        ({"content": "A", "status": "pending"}, ("A", "pending")),
        ({"content": "A", "status": "in_progress", "activeForm": "Doing A"}, ("Doing A", "in_progress")),
        ({"content": "A", "status": "in_progress", "activeForm": ""}, ("A", "in_progress")),
        ({"content": "A", "status": "completed", "activeForm": "Doing A"}, ("A", "completed")),
        ({"content": "A", "status": "strange"}, ("A", "pending")),
        ({"content": 3}, ("", "pending")),
    ],
)
def test_a_todo_is_an_entry(todo: dict[str, Any], entry: tuple[str, str]) -> None:
    use = ToolUse("t1", "TodoWrite", {"todos": [todo, "no todo"]})

    assert entries(Plans(skip_repeats=False).todos(use)) == [[entry]]


def test_a_todo_write_without_its_list_shows_nothing() -> None:
    plans = Plans(skip_repeats=False)

    assert plans.todos(ToolUse("t1", "TodoWrite", {"todos": "[]"})) == []
    assert entries(plans.todos(ToolUse("t1", "TodoWrite", {"todos": []}))) == [[]]
    assert step(plans, "TodoWrite", {"todos": []}, "Done") == []


@pytest.mark.contract("TC-109", "TC-144")
def test_only_air_is_spared_a_repeated_plan() -> None:
    use = ToolUse("t1", "TodoWrite", {"todos": [{"content": "A", "status": "pending"}]})
    air, others = Plans(skip_repeats=True), Plans(skip_repeats=False)

    assert [len(air.todos(use)) for _ in range(3)] == [1, 0, 0]
    assert [len(others.todos(use)) for _ in range(3)] == [1, 1, 1]
    child = ToolUse("t2", "TodoWrite", use.input, "parent")
    assert len(air.todos(child)) == 1, "the session of a child has not seen it"
    air.forget()
    assert len(air.todos(use)) == 1, "a replay shows it again"


@pytest.mark.contract("TC-144")
def test_unfinished_tasks_are_shown_again_with_a_prompt(plans: Plans) -> None:
    assert entries(plans.again()) == [[("A", "pending"), ("B", "pending")]]
    plans.completed("1")
    plans.completed("2")
    assert plans.again() == []
    plans.forget()
    assert plans.again() == []
