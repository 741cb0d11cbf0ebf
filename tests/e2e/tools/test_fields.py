"""What each kind of client finds in the fields of every tool's call."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.tools.story import (
    AIR_KINDS,
    CHILD_TEXT,
    DESCRIPTION,
    FETCH_PROMPT,
    FETCHED,
    OTHER_KINDS,
    PLAN,
    QUESTION,
    REPORT,
    Story,
)
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

others = pytest.mark.parametrize("story", OTHER_KINDS, indirect=True)
air_clients = pytest.mark.parametrize("story", AIR_KINDS, indirect=True)
console_clients = pytest.mark.parametrize("story", ["bare", "plain", "rfd"], indirect=True)

EDITS = {
    "create": ("new.txt", {"content"}),
    "overwrite": ("old.txt", {"content"}),
    "edit": ("edit.txt", {"old_string", "new_string"}),
}
"""Calls that change a file: its name, and the keys of the input that hold its text."""


def text(value: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": value}}


def copies(story: Story, call: str, words: str) -> int:
    """In how many reports of a call its `content` quotes these words of the input."""
    return sum(
        any(words in each for each in strings(report.get("content"))) for report in story.reports(call)
    )


def values(value: Any) -> Iterator[Any]:
    """The value and everything in it."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from values(each)


def strings(value: Any) -> list[str]:
    return [each for each in values(value) if isinstance(each, str)]


def keys(value: Any) -> set[str]:
    return {key for each in values(value) if isinstance(each, dict) for key in each}


async def test_the_story_came_to_its_end(story: Story) -> None:
    assert {result["stopReason"] for result in story.ends.values()} == {"end_turn"}
    calls = story.chat.calls()
    failed = {id.removeprefix("toolu_") for id, call in calls.items() if call["status"] == "failed"}
    by_design = {"fails", "denied", "broken", "fetch", "unknown"}
    assert failed == (by_design | {"ask"} if story.kind == "bare" else by_design)
    assert {call["status"] for call in calls.values()} == {"completed", "failed"}


# ── clients that are not AIR ──────────────────────────────────────────────────


@others
@pytest.mark.contract("TC-001", "NG-003", "NG-032")
async def test_nothing_of_air_reaches_another_client(story: Story) -> None:
    for body in story.bodies():
        assert "jetbrains" not in keys(body)
        assert "is_mcp_tool_call" not in keys(body)
        assert "terminal_output_delta" not in keys(body)


@console_clients
@pytest.mark.contract("TC-003")
async def test_a_command_of_another_client(story: Story) -> None:
    """Each report whole, in the shape that it always had."""
    meta = {"claudeCode": {"toolName": "Bash"}}
    command = "echo out; touch made"
    complete = {"command": command, "description": DESCRIPTION}
    opening, partial, whole, hook, end = story.reports("bash")
    assert opening == {
        "sessionUpdate": "tool_call",
        "toolCallId": "toolu_bash",
        "name": "Bash",
        "rawInput": {},
        "status": "pending",
        "title": "Terminal",
        "kind": "execute",
        "content": [],
        "_meta": meta,
    }
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "toolu_bash"}
    assert partial == {**update, "rawInput": {"command": command}, "title": command, "_meta": meta}
    assert whole == {**update, "rawInput": complete, "content": [text(DESCRIPTION)], "_meta": meta}
    response = hook["_meta"]["claudeCode"]["toolResponse"]
    assert (response["stdout"], response["stderr"]) == ("out", "")
    assert hook == {**update, "_meta": {"claudeCode": {"toolName": "Bash", "toolResponse": response}}}
    output = [text("```console\nout\n```")]
    assert end == {**update, "status": "completed", "rawOutput": "out", "content": output, "_meta": meta}


@others
@pytest.mark.contract("TC-003", "TC-118", "TC-121", "NG-004")
@pytest.mark.parametrize("call", EDITS)
async def test_a_change_of_another_client(story: Story, call: str) -> None:
    name, texts = EDITS[call]
    end, path = story.end(call), str(story.chat.project / name)
    assert texts <= end["rawInput"].keys()
    assert texts <= story.request(call)["toolCall"]["rawInput"].keys()
    assert "diffPatch" not in str(end)
    diffs = {
        "create": (None, "new text\n"),
        "overwrite": ("1\n2\n3", "1\nTWO\n3"),
        "edit": ("x\ny\nx", "z\ny\nz"),
    }
    old, new = diffs[call]
    assert end["content"] == [{"type": "diff", "path": path, "oldText": old, "newText": new}]
    assert end["locations"][0]["path"] == path
    response = story.claude(call)["toolResponse"]
    assert response.keys() >= {"filePath", "structuredPatch", "originalFile", "userModified"}


@others
@pytest.mark.contract("TC-105")
async def test_another_client_gets_the_raw_result_too(story: Story) -> None:
    raw = {call: story.end(call)["rawOutput"] for call in ("read", "notebook", "skill", "greet", "exit")}
    assert raw["read"] == "2\ttwo\n3\tthree"
    assert raw["notebook"] == "Updated cell c1 with print(2)"
    assert raw["skill"] == "Launching skill: demo"
    assert raw["greet"] == [{"type": "text", "text": "Hello Bob!"}]
    assert raw["exit"].startswith("User has approved your plan.")
    if story.kind == "zed":
        assert "rawOutput" not in story.end("bash"), "the terminal has it"
    else:
        assert story.end("bash")["rawOutput"] == "out"


@others
@pytest.mark.contract("NG-004", "NG-005", "SA-102")
async def test_another_client_keeps_the_upstream_keys(story: Story) -> None:
    for update in story.chat.updates("tool_call_update"):
        meta = update["_meta"]
        if set(update) - {"sessionUpdate", "toolCallId", "_meta"} or "toolResponse" in str(meta):
            assert meta["claudeCode"]["toolName"]
        if update["toolCallId"] == "toolu_child":
            assert meta["claudeCode"]["parentToolUseId"] == "toolu_agent"
        else:
            assert "parentToolUseId" not in meta.get("claudeCode", {})
    reported = story.claude("agent")["toolResponse"]
    assert reported.keys() >= {"status", "agentId", "agentType", "totalToolUseCount", "usage"}
    assert story.claude("read")["toolResponse"]["file"]["content"] == "two\nthree"

    assert story.handshake["agentCapabilities"]["_meta"]["claudeCode"] == {"promptQueueing": True}
    assert story.handshake["agentCapabilities"]["_meta"]["authStatus"] == {}
    assert story.handshake["_meta"] == {"steering": {"supported": True}}
    assert story.ends["everything"]["_meta"]["quota"]["token_count"]["totalTokens"] > 0


# ── AIR ───────────────────────────────────────────────────────────────────────


@air_clients
@pytest.mark.contract("TC-118", "TC-121")
@pytest.mark.parametrize("call", EDITS)
async def test_the_text_of_a_change_is_not_in_the_input_of_air(story: Story, call: str) -> None:
    name, texts = EDITS[call]
    for report in [*story.reports(call), story.request(call)["toolCall"]]:
        assert not texts & report.get("rawInput", {}).keys()
    assert story.end(call)["rawInput"]["file_path"] == str(story.chat.project / name)
    shown = [story.request(call)["toolCall"], *story.reports(call)]
    assert any(item["type"] == "diff" for report in shown for item in report.get("content", []))


@pytest.mark.contract("TC-121")
async def test_the_snippet_of_an_edit_is_its_diff(airmin: Story) -> None:
    path = str(airmin.chat.project / "edit.txt")
    snippet = {"type": "diff", "path": path, "oldText": "x", "newText": "z"}
    changed = {"type": "diff", "path": path, "oldText": "x\ny\nx", "newText": "z\ny\nz"}
    shown = [report["content"] for report in airmin.reports("edit") if "content" in report]
    assert shown == [[], [snippet], [changed]]


PATCH = """diff --git a/{path} b/{path}
--- a/{path}
+++ b/{path}
@@ -1,3 +1,3 @@
-x
+z
 y
-x
+z
"""


@pytest.mark.contract("TC-122")
async def test_an_edit_is_an_exact_patch_before_and_after(air: Story) -> None:
    path = air.chat.project / "edit.txt"
    shown = air.request("edit")["toolCall"]["content"]
    patch = {"version": 1, "format": "git_patch", "text": PATCH.format(path=str(path).lstrip("/"))}
    block = {"type": "diff", "path": str(path), "oldText": None, "newText": ""}
    assert shown == [{**block, "_meta": {"jetbrains": {"air": {"version": 1, "diffPatch": patch}}}}]
    later = [report["content"] for report in air.reports("edit") if "content" in report]
    first = [{"type": "diff", "path": str(path), "oldText": "x", "newText": "z"}]
    assert later[:2] == [[], first]
    assert later[2:] in ([], [shown]), "the patch in the request stands, or is the same afterwards"


@pytest.mark.contract("TC-051", "TC-133", "SA-007")
async def test_a_subagent_of_air_without_sessions_for_them(airmin: Story) -> None:
    assert airmin.opening("agent")["_meta"]["jetbrains"]["air"] == {"version": 1, "subagent": True}
    assert airmin.end("agent")["title"] == "Help"
    assert airmin.end("agent")["content"] == [text(REPORT)]
    assert airmin.end("agent")["rawInput"]["prompt"].startswith("SCRIPT ")
    assert copies(airmin, "agent", "SCRIPT ") == 1


@pytest.mark.contract("TC-134", "SA-015")
async def test_a_subagent_of_air_is_shown_in_place_of_its_call(air: Story) -> None:
    assert air.reports("agent") == []
    (spawned,) = air.chat.updates("subagent_spawned")
    assert spawned["name"] == "Help"
    assert air.chat.client.text(spawned["subagentSessionId"]) == CHILD_TEXT + REPORT


@air_clients
@pytest.mark.contract("TC-061", "NG-032")
async def test_air_is_told_which_calls_are_mcp(story: Story) -> None:
    calls = {update["toolCallId"]: update["_meta"] for update in story.chat.updates("tool_call")}
    marked = {id for id, meta in calls.items() if "is_mcp_tool_call" in meta}
    assert marked == {"toolu_greet", "toolu_mixed", "toolu_broken"}
    assert all(calls[id]["is_mcp_tool_call"] is True for id in marked)
    assert story.end("greet")["content"] == [text("Hello Bob!")]


COPIES = {"ask": QUESTION, "bash": DESCRIPTION, "exit": PLAN, "fetch": FETCH_PROMPT}


@pytest.mark.contract("TC-094", "TC-113", "TC-129")
async def test_a_client_that_renders_the_input_gets_no_copy_of_it(air: Story, airmin: Story) -> None:
    asked = {"ask": 1, "bash": 1, "exit": 1, "fetch": 1}
    answered = copies(airmin, "ask", QUESTION)  # the result quotes the question
    told = {call: copies(airmin, call, words) for call, words in COPIES.items()}
    assert told == {**asked, "ask": answered}
    drawn = {call: copies(air, call, words) for call, words in COPIES.items()}
    assert drawn == {**dict.fromkeys(COPIES, 0), "ask": answered - 1}
    assert air.end("fetch")["rawInput"] == {"url": FETCHED, "prompt": FETCH_PROMPT}
    for asked_of in ("bash", "fetch", "exit"):
        assert "content" not in air.request(asked_of)["toolCall"]


# ── plans ─────────────────────────────────────────────────────────────────────


@pytest.mark.contract("TC-200", "TC-201")
async def test_a_plan_of_air_is_the_path_of_its_file(air: Story) -> None:
    opening = air.opening("exit")
    assert (opening["title"], opening["kind"]) == ("Approve Plan", "switch_mode")
    assert opening["content"] == []
    assert "rawInput" not in opening
    inputs = [report["rawInput"] for report in air.reports("exit") if "rawInput" in report]
    assert inputs == [{"planFilePath": air.end("plan-file")["locations"][0]["path"]}]
    assert not any(report.get("content") for report in air.reports("exit"))


@pytest.mark.contract("TC-199")
async def test_the_text_of_a_plan_comes_once_and_whole(story: Story) -> None:
    quoted = [report["content"] for report in story.reports("exit") if report.get("content")]
    assert quoted == ([] if story.kind == "air" else [[text(PLAN)]])
    plans = [report["rawInput"].get("plan") for report in story.reports("exit") if "rawInput" in report]
    assert [plan for plan in plans if plan is not None] == ([] if story.kind == "air" else [PLAN])
    assert "contentDelta" not in {key for body in story.bodies() for key in keys(body)}
