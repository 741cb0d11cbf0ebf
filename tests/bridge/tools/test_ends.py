"""How the report of a tool call ends, and what may come behind it."""

from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolUse
from tests.bridge.tools.clients import AIR, AIR_BARE, CLIENTS, PLAIN, ZED, declared
from tests.bridge.tools.reporting import (
    COMMAND,
    EDIT,
    READ,
    WRITE,
    changed,
    done,
    every_client,
    merged,
    reports,
)
from tests.bridge.tools.test_titles import text

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
