"""The reports of a session beside the plain course of a call: order, beats, denials, ends, history."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.diffs.patch import patch_block
from bridge.tools.report import ToolReports
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolUse
from tests.bridge.tools.clients import AIR, AIR_BARE, CLIENTS, PLAIN, ZED, declared
from tests.bridge.tools.reporting import (
    COMMAND,
    EDIT,
    NOTICE,
    PATCH,
    READ,
    WRITE,
    changed,
    done,
    every_client,
    reports,
)
from tests.bridge.tools.test_titles import text

# ── the first report ──────────────────────────────────────────────────────────


@every_client
@pytest.mark.contract("TC-080", "TC-103", "TC-079")
def test_an_unseen_call_is_reported_once_with_its_whole_input(client: ClientCapabilities) -> None:
    mine = reports(client)
    (first,) = mine.dispatched(READ)

    assert (first["sessionUpdate"], first["rawInput"]) == ("tool_call", READ.input)
    assert mine.dispatched(READ) == [], "the same message again tells nothing"


@every_client
def test_a_call_without_a_report_is_never_named(client: ClientCapabilities) -> None:
    mine = reports(client)

    assert mine.progressed(ToolProgressed("t1", "Bash"), "t1") == []
    assert mine.hooked(ToolHooked("t1", "Bash", {}, {})) == []
    assert mine.denied(ToolDenied("t1", "Bash", "rule", "no")) == []
    assert mine.returned(done(), "completed") == []
    assert mine.closed("t1", "over", "failed") == []
    assert mine.settled("t1", "completed") == []
    assert mine.background_ended("t1") == []
    mine.input_started(None, 0, "t1")
    assert mine.fragment(None, 0, '{"command": "ls", ') == []


@every_client
def test_an_announced_call_is_not_started_again(client: ClientCapabilities) -> None:
    mine = reports(client)
    assert len(mine.announced(READ, None)) == 1

    assert mine.started(ToolUse("t1", "Read")) == []
    mine.input_started(None, 0, "t1")
    assert mine.fragment(None, 0, '{"file_path": "/", ') == []
    assert mine.dispatched(READ) == []


@every_client
@pytest.mark.contract("PM-009")
def test_a_failed_announcement_leaves_the_call_to_the_stream(client: ClientCapabilities) -> None:
    mine = reports(client)
    mine.announced(READ, None)
    mine.forget("t1")

    assert mine.started(ToolUse("t1", "Read"))[0]["sessionUpdate"] == "tool_call"


@every_client
def test_an_id_that_is_used_again_is_a_call_of_its_own(client: ClientCapabilities) -> None:
    mine = reports(client)
    mine.dispatched(READ)
    mine.returned(done(), "completed")  # its hook is still to come
    (again,) = mine.dispatched(READ)

    assert (again["sessionUpdate"], again["title"]) == ("tool_call", "Read a.txt")


@pytest.mark.contract("TC-080", "TC-081")
def test_a_delta_that_completes_nothing_is_no_update() -> None:
    mine = reports(PLAIN)
    mine.started(ToolUse("t1", "Read"))
    mine.input_started(None, 3, "t1")

    assert mine.fragment(None, 3, '{"file_path": "/w/a') == []
    assert changed(mine.fragment(None, 3, '.txt", "off'))["rawInput"] == {"file_path": "/w/a.txt"}
    assert mine.fragment(None, 4, '{"x": 1, ') == [], "a block of no tool"
    mine.message_edge(None)
    assert mine.fragment(None, 3, 'set": 3, ') == []


def test_a_todo_list_that_comes_twice_is_one_plan() -> None:
    mine = reports(PLAIN)
    use = ToolUse("t1", "TodoWrite", {"todos": []})

    assert [len(mine.dispatched(use)), len(mine.dispatched(use))] == [1, 0]


def test_a_call_without_a_name_has_a_title() -> None:
    told = changed(reports(PLAIN).dispatched(ToolUse("t1", "")))

    assert told["title"] == "Unknown Tool"
    assert "name" not in told


@every_client
@pytest.mark.contract("TC-142")
def test_a_plan_tool_does_not_stream_as_a_call(client: ClientCapabilities) -> None:
    mine = reports(client)

    assert mine.started(ToolUse("t1", "TodoWrite")) == []
    mine.input_started(None, 0, "t1")
    assert mine.fragment(None, 0, '{"todos": [], "x": 1, ') == []


# ── permission ────────────────────────────────────────────────────────────────


@every_client
@pytest.mark.contract("TC-143")
def test_a_plan_tool_is_a_call_for_its_permission_alone(client: ClientCapabilities) -> None:
    mine = reports(client)
    use = ToolUse("t1", "TaskCreate", {"subject": "A"})
    assert mine.dispatched(use) == []
    (first,) = mine.announced(use, None)
    assert (first["title"], first["kind"]) == ("Create task: A", "think")

    end, plan = mine.returned(done("Task #1 created successfully: A"), "completed")
    assert (end["status"], end["rawOutput"]) == ("completed", "Task #1 created successfully: A")
    assert plan["sessionUpdate"] == "plan"


@pytest.mark.contract("TC-043", "TC-119", "TC-185", "TC-191")
def test_a_preview_is_the_content_of_an_announced_call_and_stays() -> None:
    mine = reports(AIR, final_diff=lambda *_: Change((PATCH,), ({"path": "/w/a.txt"},)))
    assert mine.announced(EDIT, [PATCH])[0]["content"] == [PATCH]

    assert mine.dispatched(EDIT) == [], "the snippet does not replace it"
    assert mine.hooked(ToolHooked("t1", "Edit", EDIT.input, {})) == [], "the client has this patch"


@pytest.mark.contract("TC-191", "TC-168")
def test_a_preview_of_a_shown_call_travels_in_the_request_alone() -> None:
    final = patch_block("/w/a.txt", "@@ -3 +3 @@\n-x\n+y\n")
    mine = reports(AIR, final_diff=lambda *_: Change((final,), ({"path": "/w/a.txt", "line": 3},)))
    mine.dispatched(EDIT)

    assert mine.announced(EDIT, [PATCH]) == []
    told = changed(mine.hooked(ToolHooked("t1", "Edit", EDIT.input, {})))
    assert told == {"content": [final], "locations": [{"path": "/w/a.txt", "line": 3}]}


@pytest.mark.contract("TC-191")
def test_a_request_pins_what_it_shows() -> None:
    mine = reports(AIR, final_diff=lambda *_: Change((PATCH,), ({"path": "/w/a.txt"},)))
    mine.dispatched(EDIT)
    mine.request_tool_call(EDIT, [PATCH])

    assert mine.dispatched(replace(EDIT, input={**EDIT.input, "new_string": "z"})) == []
    assert mine.hooked(ToolHooked("t1", "Edit", EDIT.input, {})) == [], "the client has this patch"


@pytest.mark.contract("TC-192")
def test_a_denial_replaces_a_preview() -> None:
    mine = reports(AIR)
    mine.announced(EDIT, [PATCH])

    assert changed(mine.denied(ToolDenied("t1", "Edit", "mode", "Plan mode")))["content"] == [
        text("Permission denied: Plan mode")
    ]


@pytest.mark.contract("TC-187", "TC-188", "TC-189", "TC-082")
def test_behind_the_notice_of_an_overwrite_the_input_keeps_the_text() -> None:
    exact = Change((PATCH,), ({"path": "/w/a.txt"},))
    mine = reports(AIR, final_diff=lambda *_: exact)
    assert mine.dispatched(WRITE)[0]["rawInput"] == {"file_path": "/w/a.txt"}

    assert mine.announced(WRITE, [NOTICE]) == []
    assert mine.request_tool_call(WRITE, [NOTICE])["rawInput"] == WRITE.input
    assert changed(mine.dispatched(WRITE)) == {"rawInput": WRITE.input}
    response = {"type": "update", "filePath": "/w/a.txt", "content": "x", "originalFile": "old"}
    told = changed(mine.hooked(ToolHooked("t1", "Write", WRITE.input, response)))
    assert told["content"] == [{"type": "diff", "path": "/w/a.txt", "oldText": "old", "newText": "x"}]


@pytest.mark.contract("TC-188")
def test_the_notice_announces_a_call_with_its_text() -> None:
    (first,) = reports(AIR).announced(WRITE, [NOTICE])

    assert (first["content"], first["rawInput"]) == ([NOTICE], WRITE.input)


@pytest.mark.contract("TC-180", "TC-179", "TC-186")
def test_without_a_preview_the_call_keeps_its_own_diff() -> None:
    (first,) = reports(AIR).announced(EDIT, None)
    assert first["content"] == [{"type": "diff", "path": "/w/a.txt", "oldText": "x", "newText": "y"}]
    assert "content" not in reports(AIR).request_tool_call(EDIT)


@pytest.mark.contract("PM-026", "PM-027", "PM-031", "PM-033", "PM-036")
def test_a_request_names_title_place_server_and_parent() -> None:
    server = {"name": "echo", "source": "user"}
    use = ToolUse("t1", "mcp__echo__greet", {"who": "x"})
    mine = reports(PLAIN)
    mine.dispatched(ToolUse("t1", use.name, use.input, "t0"))

    asked = mine.request_tool_call(use, None, "/etc/x", server, "Greeter")
    assert (asked["title"], asked["locations"]) == ("Greeter", [{"path": "/etc/x"}])
    assert asked["_meta"] == {
        "claudeCode": {"toolName": use.name, "parentToolUseId": "t0", "mcpServer": server}
    }
    for_air = reports(AIR).request_tool_call(use, None, None, server, None)
    assert for_air == {
        "toolCallId": "t1",
        "title": use.name,
        "rawInput": {"who": "x"},
        "_meta": {"claudeCode": {"mcpServer": server}},
    }


@pytest.mark.contract("PM-031")
def test_a_blocked_path_that_is_known_is_no_further_place() -> None:
    assert "locations" not in reports(AIR).request_tool_call(READ, None, "/w/a.txt")
    places = reports(PLAIN).request_tool_call(READ, None, "/w/b.txt")["locations"]
    assert places == [{"path": "/w/a.txt", "line": 1}, {"path": "/w/b.txt"}]


@every_client
def test_an_ask_that_ends_its_call_settles_it(client: ClientCapabilities) -> None:
    mine = reports(client)
    mine.announced(ToolUse("t1", "SandboxNetworkAccess", {"host": "a.example"}), None)

    assert changed(mine.settled("t1", "completed"))["status"] == "completed"
    assert mine.returned(done(), "completed") == []


# ── the final change of a file ────────────────────────────────────────────────

HUNK = {"oldStart": 4, "newStart": 5, "lines": [" a", "-b", "+c", "\\ No newline at end of file"]}
ADDED = {"newStart": 9, "lines": ["+d"]}


@pytest.mark.contract("TC-117", "TC-120", "TC-150", "TC-165", "TC-058")
@pytest.mark.parametrize(
    ("response", "diffs", "lines"),
    [
        ({"structuredPatch": [HUNK]}, [("a\nb", "a\nc")], [5]),
        ({"structuredPatch": [HUNK, ADDED]}, [("a\nb", "a\nc"), (None, "d")], [5, 9]),
        ({"type": "update", "originalFile": "a", "content": "b"}, [("a", "b")], [None]),
        ({"type": "create", "content": "b", "originalFile": None}, [], []),
        ({}, [], []),
        ("text", [], []),
    ],
)
def test_a_hook_tells_the_final_change(response: Any, diffs: list[Any], lines: list[int | None]) -> None:
    given = response if isinstance(response, str) else {"filePath": "/w/a.txt", **response}
    mine = reports(PLAIN)
    mine.dispatched(EDIT)
    told = changed(mine.hooked(ToolHooked("t1", "Edit", EDIT.input, given)))

    shown = [(item["oldText"], item["newText"]) for item in told.get("content", [])]
    assert shown == diffs
    assert [place.get("line") for place in told.get("locations", []) if lines != [None]] == [
        line for line in lines if line
    ]


def test_a_text_too_large_to_diff_is_a_sentence() -> None:
    mine = reports(PLAIN)
    mine.dispatched(WRITE)
    response = {"type": "update", "filePath": "/w/a.txt", "originalFile": None, "content": "x"}
    told = changed(mine.hooked(ToolHooked("t1", "Write", WRITE.input, response)))

    assert told["content"] == [text("Updated `/w/a.txt` (previous content too large to diff)")]


@pytest.mark.contract("TC-165")
def test_a_new_file_without_a_patch_is_shown_to_a_client_with_patches() -> None:
    mine = reports(AIR, final_diff=lambda *_: None)
    mine.dispatched(WRITE)
    response = {"type": "create", "filePath": "/w/a.txt", "originalFile": None, "content": "x\r\n"}
    told = changed(mine.hooked(ToolHooked("t1", "Write", WRITE.input, response)))

    assert told == {"content": [{"type": "diff", "path": "/w/a.txt", "oldText": None, "newText": "x\r\n"}]}


@pytest.mark.contract("TC-150", "TC-184")
def test_files_are_compared_for_patches_alone() -> None:
    asked: list[str] = []

    def final_diff(tool: str, *_: object) -> None:
        asked.append(tool)

    for client in CLIENTS.values():
        mine = reports(client, final_diff=final_diff)
        for use in (EDIT, COMMAND):
            mine.dispatched(use)
            mine.hooked(ToolHooked("t1", use.name, use.input, {}))
            mine.returned(done(), "completed")

    assert asked == ["Edit"], "once, by the client with patches, for the tool that edits"


# ── history ───────────────────────────────────────────────────────────────────


@every_client
@pytest.mark.contract("TC-190", "TC-226", "TC-116")
def test_history_is_told_by_what_is_stored(client: ClientCapabilities) -> None:
    mine = reports(client, final_diff=lambda *_: pytest.fail("no file is read"))
    mine.replay_started()
    use = ToolUse("t1", "Read", {"file_path": "/w/a.txt"}, "t0")
    first = changed(mine.replay_use(use))
    assert (first["rawInput"], first["status"], first["title"]) == (use.input, "pending", "Read a.txt")
    assert first["_meta"]["claudeCode"]["parentToolUseId"] == "t0"

    stored = {"type": "text", "file": {"content": "a", "startLine": 1}}
    end = changed(mine.replay_result(done("1\ta\n2\t", structured=stored)))
    assert (end["status"], end["content"]) == ("completed", [text("```\n1\ta\n2\t\n```")])
    assert mine.replay_result(done("again")) == []
    assert mine.hooked(ToolHooked("t1", "Read", {}, {"status": "x"})) == []


@pytest.mark.contract("TC-190")
def test_a_stored_write_shows_its_text_also_to_a_client_with_patches() -> None:
    (first,) = reports(AIR).replay_use(WRITE)

    assert first["content"] == [{"type": "diff", "path": "/w/a.txt", "oldText": None, "newText": "x"}]
    assert first["rawInput"] == {"file_path": "/w/a.txt"}


@pytest.mark.contract("TC-114", "TC-069")
def test_a_stored_command_ends_its_terminal() -> None:
    mine = reports(ZED)
    mine.replay_use(ToolUse("t1", "Bash", {"command": "ls", "run_in_background": True}))
    output, end = mine.replay_result(done("started", non_execution_kind="x"))

    assert output["_meta"] == {"terminal_output": {"terminal_id": "t1", "data": "started"}}
    assert end["content"] == [{"type": "terminal", "terminalId": "t1"}]
    told = {"terminal_id": "t1", "exit_code": None, "signal": None}
    assert end["_meta"] == {"claudeCode": {"toolName": "Bash"}, "terminal_exit": told}


@every_client
@pytest.mark.contract("TC-142", "TC-144")
def test_plans_of_history_go_out_again(client: ClientCapabilities) -> None:
    mine = reports(client)
    todo = ToolUse("t1", "TodoWrite", {"todos": [{"content": "A", "status": "pending"}]})
    create = ToolUse("t2", "TaskCreate", {"subject": "B"})
    for _ in range(2):
        mine.replay_started()
        assert [update["sessionUpdate"] for update in mine.replay_use(todo)] == ["plan"]
        assert mine.replay_result(done("Todos have been modified")) == []
        assert mine.replay_use(create) == []
        told = mine.replay_result(done("Task #1 created successfully: B", call="t2"))
        assert [update["sessionUpdate"] for update in told] == ["plan"]

    assert len(mine.plan_again()) == (0 if client.air else 1), "AIR has it"


def test_history_that_begins_with_a_result_is_silent() -> None:
    assert reports(PLAIN).replay_result(done("x")) == []


# ── the file of a plan ────────────────────────────────────────────────────────

PLAN_FILE = declared("planFile", "rawInputRendering")


@pytest.mark.contract("TC-205", "TC-207", "TC-210", "TC-211")
@pytest.mark.parametrize("path", ["relative.md", "/gone.md", "{folder}", " ", "", 3, None])
def test_a_plan_without_a_file_goes_out_as_text(path: object, tmp_path: Path) -> None:
    (tmp_path / "relative.md").write_text("# Plan", encoding="utf-8")
    path = str(tmp_path) if path == "{folder}" else path
    use = ToolUse("t1", "ExitPlanMode", {"plan": "# Plan", "planFilePath": path})
    (first,) = ToolReports(declared("planFile"), str(tmp_path), "/h").dispatched(use)

    named = isinstance(path, str) and path.strip()
    assert first["rawInput"] == {"plan": "# Plan", **({"planFilePath": path} if named else {})}
    assert first["content"] == [text("# Plan")]


@pytest.mark.contract("TC-205", "TC-198", "TC-208", "TC-212")
def test_only_a_client_of_plan_files_gets_the_path_for_the_text(tmp_path: Path) -> None:
    path = str(tmp_path / "plan.md")
    Path(path).write_text("# Plan", encoding="utf-8")
    use = ToolUse("t1", "ExitPlanMode", {"plan": "# Plan", "planFilePath": path})

    (first,) = reports(declared("planFile")).dispatched(use)
    assert (first["rawInput"], first["content"]) == ({"planFilePath": path}, [])
    for client in (PLAIN, AIR_BARE):
        (first,) = reports(client).dispatched(use)
        assert (first["rawInput"], first["content"]) == (use.input, [text("# Plan")])


@pytest.mark.contract("TC-203", "TC-206", "TC-204")
def test_the_result_names_the_file_that_the_input_did_not(tmp_path: Path) -> None:
    path = str(tmp_path / "plan.md")
    Path(path).write_text("# Plan", encoding="utf-8")
    use = ToolUse("t1", "ExitPlanMode", {"plan": "# Plan"})
    approved = done("Approved", structured={"plan": "# Plan", "filePath": path})

    mine = reports(PLAN_FILE)
    mine.dispatched(use)
    told = changed(mine.returned(approved, "completed"))
    assert told == {"status": "completed", "title": "Exited Plan Mode", "rawInput": {"planFilePath": path}}

    mine = reports(PLAN_FILE)
    mine.dispatched(use)
    gone = done("Approved", structured={"filePath": "/gone.md"})
    assert "rawInput" not in changed(mine.returned(gone, "completed"))

    mine = reports(AIR_BARE)
    mine.dispatched(use)
    assert "rawInput" not in changed(mine.returned(approved, "completed"))


def test_the_ask_may_lack_the_plan_that_the_message_had() -> None:
    mine = reports(PLAIN)
    use = ToolUse("t1", "ExitPlanMode", {"plan": "# Plan"})
    mine.dispatched(use)

    assert mine.announced(ToolUse("t1", "ExitPlanMode", {}), None) == []
    assert mine.dispatched(use) == []
