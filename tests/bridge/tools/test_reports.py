"""The reports of a session beside the plain course of a call: order, beats, denials, ends, history."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.diffs.patch import patch_block
from bridge.tools.report import ToolReports
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolReturned, ToolUse
from tests.bridge.tools.clients import AIR, AIR_BARE, CLIENTS, PLAIN, ZED, Update, check, declared
from tests.bridge.tools.test_titles import text

COMMAND = ToolUse("t1", "Bash", {"command": "ls", "description": "List"})
READ = ToolUse("t1", "Read", {"file_path": "/w/a.txt"})
EDIT = ToolUse("t1", "Edit", {"file_path": "/w/a.txt", "old_string": "x", "new_string": "y"})
WRITE = ToolUse("t1", "Write", {"file_path": "/w/a.txt", "content": "x"})
PATCH = patch_block("/w/a.txt", "@@ -1 +1 @@\n-x\n+y\n")
NOTICE = text("Overwrites the existing file `/w/a.txt`. The adapter cannot show its current content.")

every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


def reports(client: ClientCapabilities, **more: Any) -> ToolReports:
    return ToolReports(client, "/w", "/h", **more)


def done(content: object = "ok", *, call: str = "t1", **more: Any) -> ToolReturned:
    return ToolReturned(call, content, **more)


def changed(updates: list[Update]) -> dict[str, Any]:
    """The one update, without its id and kind."""
    (update,) = updates
    check(update)
    return {key: value for key, value in update.items() if key not in ("sessionUpdate", "toolCallId")}


def merged(updates: list[Update]) -> dict[str, Any]:
    return {key: value for update in updates for key, value in update.items() if key != "_meta"}


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


# ── beats, hooks, denials ─────────────────────────────────────────────────────


@pytest.mark.contract("TC-098", "TC-099", "TC-100", "TC-216")
def test_a_beat_goes_to_the_call_or_to_its_parent() -> None:
    beat = ToolProgressed("t1-heartbeat-0", "Grep", "t1", 30.0)
    for client, name in ((PLAIN, {"toolName": "Grep"}), (AIR, {})):
        mine = reports(client)
        mine.dispatched(COMMAND)
        told = changed(mine.progressed(beat, "t1"))
        assert told == {
            "status": "in_progress",
            "_meta": {"claudeCode": {**name, "toolResponse": {"elapsedTimeSeconds": 30.0}}},
        }


@pytest.mark.contract("TC-005", "TC-216", "TC-225")
def test_a_beat_carries_the_parent_of_its_call_and_the_status_once() -> None:
    mine = reports(PLAIN)
    mine.dispatched(ToolUse("t1", "Bash", {"command": "ls"}, "t0"))
    first = changed(mine.progressed(ToolProgressed("t1", "Bash", "t0", 30, "scout", {"attempt": 1}), "t1"))
    second = changed(mine.progressed(ToolProgressed("t1", "Bash", "t0", 60), "t1"))

    told = {"elapsedTimeSeconds": 30, "subagentType": "scout", "subagentRetry": {"attempt": 1}}
    assert first["status"] == "in_progress"
    assert first["_meta"]["claudeCode"] == {"toolName": "Bash", "parentToolUseId": "t0", "toolResponse": told}
    assert "status" not in second


@pytest.mark.contract("TC-006", "TC-076", "TC-106")
@pytest.mark.parametrize(
    ("response", "markers"),
    [
        ({"status": "completed", "isAsync": True, "prompt": "p"}, {"status": "completed", "isAsync": True}),
        ({"status": 3, "isAsync": "yes"}, None),
        (["x"], None),
        (None, None),
    ],
)
def test_air_gets_the_markers_of_a_hook_and_others_all_of_it(response: object, markers: object) -> None:
    air, plain = reports(AIR), reports(PLAIN)
    for mine in (air, plain):
        mine.dispatched(READ)
    hook = ToolHooked("t1", "Read", READ.input, response)

    told = air.hooked(hook)
    assert told == [] if markers is None else changed(told)["_meta"]["claudeCode"]["toolResponse"] == markers
    assert changed(plain.hooked(hook))["_meta"]["claudeCode"]["toolResponse"] == response


@every_client
@pytest.mark.contract("TC-011")
@pytest.mark.parametrize("use", [COMMAND, READ, EDIT, WRITE], ids=lambda use: use.name)
def test_the_order_of_hook_and_result_makes_no_difference(use: ToolUse, client: ClientCapabilities) -> None:
    response = {"type": "update", "stdout": "o", "stderr": "", "content": "x", "originalFile": "old"}
    hook = ToolHooked("t1", use.name, use.input, response)
    result = done("o", structured=response)
    states = []
    for steps in ("hr", "rh"):
        mine = reports(client)
        sent = mine.dispatched(use)
        for step in steps:
            sent += mine.hooked(hook) if step == "h" else mine.returned(result, "completed")
        states.append(merged(sent))

    assert {**states[0], "sessionUpdate": ""} == {**states[1], "sessionUpdate": ""}


@every_client
def test_a_call_is_over_after_its_result_and_its_hook(client: ClientCapabilities) -> None:
    mine = reports(client)
    mine.dispatched(READ)
    mine.returned(done(), "completed")
    late = mine.hooked(ToolHooked("t1", "Read", READ.input, {"status": "ok"}))

    assert all("status" not in update for update in late), "a late hook does not touch the status"
    assert mine.hooked(ToolHooked("t1", "Read", READ.input, {"status": "again"})) == []
    assert mine.returned(done("twice"), "failed") == []
    assert mine.closed("t1", "over", "failed") == []


@every_client
@pytest.mark.contract("TC-215")
def test_only_the_hook_may_follow_a_result(client: ClientCapabilities) -> None:
    mine = reports(client)
    mine.dispatched(READ)
    mine.returned(done(), "completed")

    assert mine.progressed(ToolProgressed("t1", "Read"), "t1") == []
    assert mine.denied(ToolDenied("t1", "Read", "rule", "no")) == []
    assert mine.returned(done("again"), "failed") == []
    told = mine.hooked(ToolHooked("t1", "Read", READ.input, {"status": "x"}))
    assert changed(told)["_meta"]["claudeCode"]["toolResponse"] == {"status": "x"}

    mine.dispatched(READ)
    mine.returned(done(), "completed")
    assert mine.closed("t1", "over", "failed") == []


def test_few_calls_are_kept_for_a_hook_that_may_never_come() -> None:
    mine = reports(PLAIN)
    for number in range(100):
        mine.dispatched(ToolUse(f"t{number}", "Read", {}))
        mine.returned(done(call=f"t{number}"), "completed")
    mine.dispatched(ToolUse("t99", "Read", {}))  # the id is in use again

    assert mine.hooked(ToolHooked("t0", "Read", {}, {})) == []
    assert len(mine.hooked(ToolHooked("t98", "Read", {}, {}))) == 1
    for number in range(100, 200):
        mine.dispatched(ToolUse(f"t{number}", "Read", {}))
        mine.returned(done(call=f"t{number}"), "completed")
    assert len(mine.returned(done(call="t99"), "completed")) == 1


@pytest.mark.contract("TC-107")
@pytest.mark.parametrize(
    ("client", "reason", "message", "shown", "told"),
    [
        (PLAIN, "why", "more", "why", {"decisionReason": "why", "message": "more"}),
        (PLAIN, None, "more", "more", {"message": "more"}),
        (AIR, "why", "more", "why", {"message": "more"}),
        (AIR, "why", "why", "why", {}),
        (AIR, None, "more", "more", {}),
        (AIR, "why", None, "why", {}),
    ],
)
def test_a_denial_says_why(
    client: ClientCapabilities, reason: str | None, message: str | None, shown: str, told: dict[str, Any]
) -> None:
    mine = reports(client)
    mine.dispatched(READ)
    denial = changed(mine.denied(ToolDenied("t1", "Read", "rule", reason, message)))

    assert denial["status"] == "failed"
    assert denial["content"] == [text(f"Permission denied: {shown}")]
    assert denial["_meta"]["claudeCode"]["toolResponse"] == {"decisionReasonType": "rule", **told}


# ── ends ──────────────────────────────────────────────────────────────────────


@pytest.mark.contract("TC-215", "TC-069")
@pytest.mark.parametrize(
    ("client", "code"), [(PLAIN, "none"), (AIR_BARE, "none"), (ZED, None), (AIR, 1)], ids=CLIENTS
)
def test_a_call_that_gets_no_result_is_closed_once(client: ClientCapabilities, code: object) -> None:
    mine = reports(client)
    mine.dispatched(COMMAND)
    end = changed(mine.closed("t1", "Cancelled.", "failed"))

    assert (end["status"], end["content"]) == ("failed", [text("Cancelled.")])
    exit_told = end.get("_meta", {}).get("terminal_exit", {"exit_code": "none"})
    assert exit_told["exit_code"] == code
    assert mine.closed("t1", "Cancelled.", "failed") == []
    assert mine.returned(done("late", is_error=True), "failed") == []
    assert mine.hooked(ToolHooked("t1", "Bash", {}, {"status": "late"})) == []


@pytest.mark.contract("TC-004", "TC-005", "TC-013")
def test_a_closed_call_of_a_subagent_keeps_its_meta() -> None:
    mine = reports(PLAIN)
    mine.dispatched(ToolUse("t1", "Read", {}, "t0"))

    end = changed(mine.closed("t1", "Over.", "failed"))
    assert end["_meta"] == {"claudeCode": {"toolName": "Read", "parentToolUseId": "t0"}}


@pytest.mark.contract("TC-084", "TC-085")
def test_air_gets_a_result_in_one_field() -> None:
    for use, field in ((WRITE, "rawOutput"), (READ, "content")):
        mine = reports(AIR)
        mine.dispatched(use)
        end = changed(mine.returned(done("text"), "completed"))
        assert {"content", "rawOutput"} & end.keys() == {field}


@every_client
@pytest.mark.contract("TC-077")
def test_an_image_of_a_command_is_no_terminal_output(client: ClientCapabilities) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "QQ==", "media_type": "image/png"}}
    mine = reports(client)
    mine.dispatched(COMMAND)
    end = changed(
        mine.returned(done([image], structured={"stdout": "", "stderr": "", "isImage": True}), "completed")
    )

    shown = {"type": "content", "content": {"type": "image", "data": "QQ==", "mimeType": "image/png"}}
    assert end["content"] == [shown]
    assert ("terminal_exit" in end.get("_meta", {})) == (client.terminal != "none")


@pytest.mark.contract("TC-046")
@pytest.mark.parametrize(
    ("given", "structured", "known", "told"),
    [
        ({}, {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}, False, True),
        ({}, {"stdout": "", "stderr": ""}, True, True),
        ({"run_in_background": True}, None, False, True),
        ({"run_in_background": True}, {"stdout": "x", "stderr": ""}, False, False),
        ({}, None, False, False),
    ],
)
def test_a_command_in_the_background_says_so(
    given: dict[str, Any], structured: object, known: bool, told: bool
) -> None:
    mine = reports(declared("asyncTasks", "rawInputRendering"))
    mine.dispatched(ToolUse("t1", "Bash", {"command": "ls", **given}))
    end = changed(mine.returned(done(structured=structured), "completed", backgrounded=known))

    air = {"version": 1, "asyncTasks": {"backgrounded": True}}
    assert end.get("_meta") == ({"jetbrains": {"air": air}} if told else None)


@pytest.mark.contract("TC-046")
def test_only_a_shell_that_runs_is_in_the_background() -> None:
    for use, error in ((ToolUse("t1", "Agent", {"run_in_background": True}), False), (COMMAND, True)):
        mine = reports(declared("asyncTasks"))
        mine.dispatched(use)
        end = changed(mine.returned(done("x", is_error=error), "completed", backgrounded=error))
        assert "asyncTasks" not in end.get("_meta", {}).get("jetbrains", {}).get("air", {})


@pytest.mark.contract("TC-069")
def test_a_terminal_in_the_background_ends_with_its_task() -> None:
    mine = reports(ZED)
    mine.dispatched(ToolUse("t1", "Bash", {"command": "ls", "run_in_background": True}, "t0"))
    output, end = mine.returned(done("started"), "completed")
    parent = {"parentToolUseId": "t0"}
    told = {"terminal_id": "t1", "data": "started"}
    assert output["_meta"] == {"claudeCode": parent, "terminal_output": told}
    assert end["_meta"] == {"claudeCode": {"toolName": "Bash", **parent}}

    late = changed(mine.background_ended("t1"))
    assert late["_meta"]["terminal_exit"] == {"terminal_id": "t1", "exit_code": None, "signal": None}
    assert late["_meta"]["claudeCode"] == parent
    assert mine.background_ended("t1") == []


@every_client
def test_a_launch_that_failed_is_one_ordinary_call(client: ClientCapabilities) -> None:
    use = ToolUse("t1", "Agent", {"description": "Scan", "prompt": "p"})
    told = changed(reports(client).failed_launch(use, done("No such agent", is_error=True)))

    assert (told["title"], told["status"], told["rawInput"]) == ("Scan", "failed", use.input)
    assert told["content"] == [text("```\nNo such agent\n```")]
    assert told["_meta"] == {"claudeCode": {"toolName": "Agent"}}


@every_client
@pytest.mark.parametrize(
    ("mode", "memories", "title", "field"),
    [
        ("select", [{"path": "/m/a.md"}], "Recalled 1 memory", "locations"),
        ("select", [{"path": "/m/a.md"}, {"path": "/m/b.md"}], "Recalled 2 memories", "locations"),
        ("synthesize", [{"path": "<s>", "content": "text"}], "Recalled synthesized memory", "content"),
    ],
)
def test_recalled_memories_are_a_finished_read(
    client: ClientCapabilities, mode: str, memories: list[dict[str, Any]], title: str, field: str
) -> None:
    told = changed(reports(client).memory_recalled("m1", mode, memories))

    assert (told["title"], told["kind"], told["status"]) == (title, "read", "completed")
    assert told[field] == (
        [text("text")] if field == "content" else [{"path": each["path"]} for each in memories]
    )


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
