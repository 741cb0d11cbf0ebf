"""Sizes that a careless loop would not survive; the limits only catch a hang."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.tools.report import ToolReports
from machines.events import ToolHooked, ToolReturned, ToolUse
from tests.bridge.tools.clients import AIR, PLAIN

HANG = 20.0
MIB = 1 << 20

every_client = pytest.mark.parametrize("client", [PLAIN, AIR], ids=["plain", "air"])


def in_time(work: Callable[[], Any]) -> Any:
    start = time.monotonic()
    done = work()
    assert time.monotonic() - start < HANG
    return done


@every_client
@pytest.mark.parametrize(
    "line", ["x" * 99 + "\n", "\n", "`" * 7 + "\n", " "], ids=["lines", "empty", "fences", "one"]
)
def test_ten_megabytes_of_output_are_rendered(line: str, client: ClientCapabilities) -> None:
    output = line * (10 * MIB // len(line))
    mine = ToolReports(client, "/w", "/h")
    mine.dispatched(ToolUse("t1", "Bash", {"command": "x"}))
    structured = {"stdout": output, "stderr": ""}

    sent = in_time(lambda: mine.returned(ToolReturned("t1", output, structured=structured), "completed"))
    assert sent[-1]["status"] == "completed"


@every_client
def test_ten_megabytes_of_a_file_are_rendered(client: ClientCapabilities) -> None:
    text = "```some\n" * (10 * MIB // 8)
    mine = ToolReports(client, "/w", "/h")
    mine.dispatched(ToolUse("t1", "Read", {"file_path": "/w/a"}))
    structured = {"type": "text", "file": {"content": text, "startLine": 1}}

    (end,) = in_time(lambda: mine.returned(ToolReturned("t1", text, structured=structured), "completed"))
    assert len(end["content"][0]["content"]["text"]) > len(text)


@every_client
def test_an_input_that_streams_by_letters_is_read_once(client: ClientCapabilities) -> None:
    mine = ToolReports(client, "/w", "/h")
    mine.started(ToolUse("t1", "Write"))
    mine.input_started(None, 0, "t1")
    whole = json.dumps({"file_path": "/w/a", "content": 'a"\\,{}' * (MIB // 10), "mode": 1})

    sent = in_time(lambda: [update for letter in whole for update in mine.fragment(None, 0, letter)])
    assert next(update.get("title") for update in sent) == "Write a"


def test_an_input_of_many_members_is_parsed_once() -> None:
    mine = ToolReports(PLAIN, "/w", "/h")
    mine.started(ToolUse("t1", "mcp__a__b"))
    mine.input_started(None, 0, "t1")
    whole = json.dumps({f"key{number}": "x" * 2000 for number in range(3000)})

    sent = in_time(lambda: mine.fragment(None, 0, whole[:-1]))
    assert len(sent[0]["rawInput"]) == 2999


@every_client
def test_a_report_of_an_agent_is_cleaned_in_time(client: ClientCapabilities) -> None:
    report = "agentId: a (" * (MIB // 12) + "\n<usage>" * (MIB // 8)
    mine = ToolReports(client, "/w", "/h")
    mine.dispatched(ToolUse("t1", "Agent", {"description": "x"}))

    in_time(lambda: mine.returned(ToolReturned("t1", report), "completed"))


@every_client
def test_a_rejected_plan_of_fences_is_read_in_time(client: ClientCapabilities) -> None:
    reason = " ```\n" * (MIB // 5)
    mine = ToolReports(client, "/w", "/h")
    mine.dispatched(ToolUse("t1", "ExitPlanMode", {"plan": "x"}))

    in_time(lambda: mine.returned(ToolReturned("t1", reason, is_error=True), "failed"))


@every_client
def test_three_hundred_calls_leave_nothing_behind(client: ClientCapabilities) -> None:
    mine = ToolReports(client, "/w", "/h")

    def calls() -> None:
        for number in range(300):
            call = f"t{number}"
            use = ToolUse(
                call, "Edit", {"file_path": "/w/a", "old_string": "x" * 500, "new_string": "y" * 500}
            )
            mine.started(ToolUse(call, "Edit"))
            mine.input_started(None, number, call)
            whole = json.dumps(use.input)
            for start in range(0, len(whole), 20):
                mine.fragment(None, number, whole[start : start + 20])
            mine.block_ended(None, number)
            mine.dispatched(use)
            mine.hooked(ToolHooked(call, "Edit", use.input, {"originalFile": "x" * 5000}))
            mine.returned(ToolReturned(call, "ok"), "completed")
            mine.dispatched(ToolUse(f"{call}-todo", "TodoWrite", {"todos": []}))
            mine.returned(ToolReturned(f"{call}-todo", "ok"), "completed")

    in_time(calls)
    assert [*mine._calls, *mine._held._calls, *mine._inputs._scans] == []
