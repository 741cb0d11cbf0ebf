"""What each tool says of itself: title, kind, places, from a whole input or from half of one."""

from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.tools import reporters
from bridge.tools.facts import UseFacts
from bridge.tools.reporters import reporter_of
from bridge.tools.reporters.reporter import Reporter, UseView
from tests.bridge.tools.clients import AIR, AIR_BARE, PLAIN

Input = dict[str, Any]


def facts(
    tool: str, given: Input, client: ClientCapabilities = PLAIN, *, cwd: str = "/w", live: bool = True
) -> UseFacts:
    return reporter_of(tool).use(UseView(tool, given, client, cwd, "/h", live))


def text(shown: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": shown}}


TITLES: list[tuple[str, Input, str, str]] = [
    ("Bash", {}, "Terminal", "execute"),
    ("Bash", {"command": "ls -la\n  | wc"}, "ls -la\n  | wc", "execute"),
    ("PowerShell", {"command": "Get-Date"}, "Get-Date", "execute"),
    ("Read", {}, "Read File", "read"),
    ("Read", {"file_path": "/w/a.txt"}, "Read a.txt", "read"),
    ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts", "read"),
    ("Read", {"file_path": "/wide/a.txt"}, "Read /wide/a.txt", "read"),
    ("Read", {"file_path": "/w"}, "Read .", "read"),
    ("Read", {"file_path": "/w/a", "offset": 2, "limit": 2}, "Read a (2 - 3)", "read"),
    ("Read", {"file_path": "/w/a", "limit": 10}, "Read a (1 - 10)", "read"),
    ("Read", {"file_path": "/w/a", "offset": 2}, "Read a (from line 2)", "read"),
    ("Read", {"file_path": "/w/a", "offset": 0}, "Read a", "read"),
    ("Read", {"file_path": "/w/a", "offset": 2, "limit": 0}, "Read a (from line 2)", "read"),
    ("Read", {"file_path": "/w/a", "offset": "x", "limit": True}, "Read a", "read"),
    ("Write", {}, "Preparing file…", "edit"),
    ("Write", {"content": "x"}, "Preparing file…", "edit"),
    ("Write", {"file_path": "/w/n/a.txt"}, "Write n/a.txt", "edit"),
    ("Write", {"path": "/w/a.txt"}, "Write a.txt", "edit"),
    ("Write", {"file_path": "/w/a.txt", "path": "/w/b.txt"}, "Write a.txt", "edit"),
    ("Edit", {}, "Edit", "edit"),
    ("Edit", {"file_path": "sub/../a.txt"}, "Edit a.txt", "edit"),
    ("NotebookEdit", {"notebook_path": "/w/n.ipynb"}, "NotebookEdit", "other"),
    ("Glob", {}, "Find", "search"),
    ("Glob", {"path": "/src", "pattern": "*.py"}, "Find `/src` `*.py`", "search"),
    ("Glob", {"pattern": "*.py"}, "Find `*.py`", "search"),
    ("Grep", {}, "grep", "search"),
    (
        "Grep",
        {
            "-i": True,
            "-n": True,
            "-A": 1,
            "-B": 2,
            "-C": 3,
            "output_mode": "count",
            "head_limit": 5,
            "glob": "*.ts",
            "type": "ts",
            "multiline": True,
            "pattern": "a b",
            "path": "src",
        },
        'grep -i -n -A 1 -B 2 -C 3 -c | head -5 --include="*.ts" --type=ts -P "a b" src',
        "search",
    ),
    ("Grep", {"pattern": "x", "output_mode": "files_with_matches"}, 'grep -l "x"', "search"),
    ("Grep", {"pattern": "x", "output_mode": "content", "-c": True}, 'grep "x"', "search"),
    ("Grep", {"pattern": "x", "-l": "true", "file_path": "src"}, 'grep -l "x" src', "search"),
    ("Grep", {"pattern": "x", "-i": False, "-n": "yes", "-A": None}, 'grep "x"', "search"),
    ("WebFetch", {}, "Fetch", "fetch"),
    ("WebFetch", {"url": "https://a.example/b", "offset": 9}, "Fetch https://a.example/b", "fetch"),
    ("WebSearch", {}, "Web search", "fetch"),
    ("WebSearch", {"query": "acp", "allowed_domains": ["a"]}, 'Search "acp"', "fetch"),
    ("Agent", {}, "Task", "think"),
    ("Agent", {"description": "Scan", "effort": "high"}, "Scan", "think"),
    ("Task", {"description": "Scan"}, "Scan", "think"),
    ("ExitPlanMode", {"plan": "# P"}, "Approve Plan", "switch_mode"),
    ("EnterPlanMode", {}, "EnterPlanMode", "switch_mode"),
    ("AskUserQuestion", {}, "Asking for your input", "other"),
    ("AskUserQuestion", {"questions": [{"question": "Why?"}]}, "Why?", "other"),
    (
        "AskUserQuestion",
        {"questions": [{"question": "Why?"}, {"question": "How?"}]},
        "Asking for your input",
        "other",
    ),
    ("Skill", {}, "Load skill", "other"),
    ("Skill", {"skill": "a:b"}, "Load skill: a:b", "other"),
    ("ReportFindings", {}, "Report findings: none found", "think"),
    ("ReportFindings", {"findings": [{"file": "a"}]}, "Report 1 finding", "think"),
    ("ReportFindings", {"findings": [{}, {}]}, "Report 2 findings", "think"),
    ("TodoWrite", {}, "Update TODOs", "think"),
    ("TodoWrite", {"todos": [{"content": "A"}, {"content": "B"}]}, "Update TODOs: A, B", "think"),
    ("TaskCreate", {}, "Create task", "think"),
    ("TaskCreate", {"subject": "A"}, "Create task: A", "think"),
    ("TaskUpdate", {"taskId": "1"}, "Update task", "think"),
    ("TaskUpdate", {"subject": "B"}, "Update task: B", "think"),
    ("TaskList", {}, "List tasks", "think"),
    ("TaskGet", {"subject": "B"}, "Get task", "think"),
    ("mcp__echo__greet", {"who": "x"}, "mcp__echo__greet", "other"),
    ("MultiEdit", {"file_path": "/w/a"}, "MultiEdit", "other"),
    ("Other", {}, "Other", "other"),
    ("", {}, "Unknown Tool", "other"),
]


@pytest.mark.contract(
    "TC-092", "TC-097", "TC-112", "TC-115", "TC-117", "TC-120", "TC-127", "TC-128", "TC-130"
)
@pytest.mark.contract("TC-131", "TC-135", "TC-138", "TC-140", "TC-141", "TC-145", "TC-146")
@pytest.mark.parametrize(("tool", "given", "title", "kind"), TITLES)
def test_a_title_says_what_is_done(tool: str, given: Input, title: str, kind: str) -> None:
    found = facts(tool, given)

    assert (found.title, found.kind) == (title, kind)


@pytest.mark.contract("TC-123", "TC-139")
@pytest.mark.parametrize(
    ("tool", "given", "title"),
    [
        ("NotebookEdit", {}, "Edit notebook"),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb"}, "Edit cell in n.ipynb"),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "cell_id": "c"}, "Edit cell c in n.ipynb"),
        ("NotebookEdit", {"notebook_path": "/x.ipynb", "edit_mode": "insert"}, "Insert cell in /x.ipynb"),
        ("NotebookEdit", {"notebook_path": "/x.ipynb", "edit_mode": "delete"}, "Delete cell in /x.ipynb"),
        ("AskUserQuestion", {"questions": [{"question": "Why?"}]}, "Asking for your input"),
    ],
)
def test_air_has_titles_of_its_own(tool: str, given: Input, title: str) -> None:
    assert facts(tool, given, AIR_BARE).title == title


@pytest.mark.contract("TC-116", "TC-117", "TC-120")
@pytest.mark.parametrize(
    ("tool", "given", "locations"),
    [
        ("Read", {}, []),
        ("Read", {"file_path": "a.txt"}, [{"path": "a.txt", "line": 1}]),
        ("Read", {"file_path": "/w/a.txt", "offset": 7}, [{"path": "/w/a.txt", "line": 7}]),
        ("Read", {"file_path": "/w/a.txt", "offset": -3}, [{"path": "/w/a.txt", "line": 1}]),
        ("Write", {}, []),
        ("Write", {"file_path": "/w/a.txt"}, [{"path": "/w/a.txt"}]),
        ("Edit", {}, []),
        ("Edit", {"file_path": "/w/a.txt"}, [{"path": "/w/a.txt"}]),
        ("Glob", {}, []),
        ("Glob", {"path": "/w"}, [{"path": "/w"}]),
        ("Grep", {"path": "/w"}, None),
        ("Bash", {"command": "ls /w"}, None),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb"}, None),
        ("mcp__a__b", {"path": "/w"}, None),
    ],
)
def test_places_keep_the_path_of_the_input(tool: str, given: Input, locations: object) -> None:
    assert facts(tool, given).locations == locations


def test_a_path_is_shown_as_given_where_no_directory_is_known() -> None:
    assert facts("Read", {"file_path": "/w/a.txt"}, cwd="").title == "Read /w/a.txt"
    assert facts("Read", {"file_path": "/a.txt"}, cwd="/").title == "Read a.txt"


@pytest.mark.contract("TC-082", "TC-117", "TC-120", "TC-183", "TC-190")
@pytest.mark.parametrize(
    ("tool", "given", "change", "withheld"),
    [
        ("Write", {"file_path": "/a", "content": "x"}, (None, "x"), True),
        ("Write", {"file_path": "/a", "content": ""}, (None, ""), True),
        ("Write", {"file_path": "/a", "file_text": "y"}, (None, "y"), True),
        ("Write", {"path": "/a", "file_content": "z"}, (None, "z"), True),
        ("Write", {"file_path": "/a", "file_text": "y", "content": "x"}, (None, "x"), True),
        ("Write", {"file_path": "/a"}, None, False),
        ("Write", {"file_path": "/a", "content": 3}, None, False),
        ("Write", {"content": "x"}, None, False),
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, ("x", "y"), True),
        ("Edit", {"file_path": "/a", "new_string": "y"}, (None, "y"), True),
        ("Edit", {"file_path": "/a", "old_string": "x"}, ("x", ""), True),
        ("Edit", {"file_path": "/a", "old_string": "", "new_string": ""}, None, False),
        ("Edit", {"old_string": "x", "new_string": "y"}, None, False),
    ],
)
def test_the_text_of_a_file_is_in_the_diff_or_in_the_input(
    tool: str, given: Input, change: tuple[str | None, str] | None, withheld: bool
) -> None:
    found = facts(tool, given)
    shown = (found.change["oldText"], found.change["newText"]) if found.change else None

    assert shown == change
    assert bool(set(found.withheld) & given.keys()) == withheld


@pytest.mark.contract("TC-183", "TC-182", "TC-190")
def test_a_client_with_patches_waits_for_the_diff_of_a_live_write() -> None:
    given = {"file_path": "/a", "content": "x"}

    assert facts("Write", given, AIR).change is None
    assert facts("Write", given, AIR, live=False).change is not None
    assert facts("Edit", {"file_path": "/a", "old_string": "x"}, AIR).change is not None


@pytest.mark.contract("TC-095", "TC-124", "TC-145")
@pytest.mark.parametrize(
    ("tool", "given", "shown"),
    [
        ("Bash", {"command": "ls", "description": "List"}, [text("List")]),
        ("Bash", {"command": "ls", "command_description": "List"}, [text("List")]),
        ("Write", {"content": "x"}, [text("x")]),
        ("WebFetch", {"url": "u", "prompt": "p"}, [text("p")]),
        ("Agent", {"description": "d", "prompt": "p"}, [text("p")]),
        ("ExitPlanMode", {"plan": "# P"}, [text("# P")]),
        (
            "AskUserQuestion",
            {"questions": [{"question": "a"}, {}, {"question": "b"}]},
            [text("a"), text("b")],
        ),
        (
            "ReportFindings",
            {"findings": [{"file": "a.py", "line": 3, "summary": "s"}, {"file": "b.py", "summary": "t"}]},
            [text("**a.py:3** — s"), text("**b.py** — t")],
        ),
        ("Other", {"ä": [1]}, [text('```json\n{\n  "ä": [\n    1\n  ]\n}```')]),
        ("Grep", {"pattern": "x"}, []),
        ("mcp__a__b", {"prompt": "x"}, []),
    ],
)
def test_input_that_the_user_reads_has_one_copy(tool: str, given: Input, shown: object) -> None:
    assert [*facts(tool, given).display] == shown


def test_the_copy_of_a_cell_is_fenced_and_a_deleted_one_has_none() -> None:
    cell = {"notebook_path": "/n", "new_source": "print(1)"}

    assert [*facts("NotebookEdit", cell, AIR_BARE).display] == [text("```\nprint(1)\n```")]
    assert [*facts("NotebookEdit", {**cell, "edit_mode": "delete"}, AIR_BARE).display] == []


ANY_VALUE: list[object] = [None, True, 0, -1.5, "", "x", [], ["x"], [{}], {}, {"a": 1}]


@pytest.mark.parametrize("tool", sorted({tool for tool, *_ in TITLES}))
@pytest.mark.parametrize("value", ANY_VALUE)
def test_no_input_breaks_a_reporter(tool: str, value: object) -> None:
    keys = {key for name, given, *_ in TITLES if name == tool for key in given}

    for client in (PLAIN, AIR, AIR_BARE):
        assert facts(tool, dict.fromkeys([*keys, "questions", "findings", "todos"], value), client).title


def test_every_file_of_reporters_has_tools_of_its_own() -> None:
    folder = Path(reporters.__file__).parent
    shared = {"__init__", "reporter", "changes"}
    modules = [each.__module__.rsplit(".", 1)[-1] for each in Reporter.__subclasses__()]
    tools = [tool for each in Reporter.__subclasses__() for tool in each.tools]

    assert {path.stem for path in folder.glob("*.py")} - shared == {*modules} - {"test_titles"}
    assert len(tools) == len({*tools}), "two reporters for one tool"
    assert all(reporter_of(tool) is not reporter_of("Unheard of") for tool in tools)
