"""Tool calls on ACP v2: upserts, `_meta` by key, terminals and changes of files."""

import base64
from typing import Any

import pytest

from bridge.diffs.patch import patch_block
from bridge.v2 import tools
from bridge.v2.tools import ToolCalls
from tests.bridge.v2.test_updates import SESSION
from tests.support.oracle_v2 import check
from tests.support.rpc import Json


def start(call: str = "t", **fields: Any) -> Json:
    """A `tool_call` of v1."""
    return {"sessionUpdate": "tool_call", "toolCallId": call, "title": "T", "status": "pending", **fields}


def more(call: str = "t", **fields: Any) -> Json:
    """A `tool_call_update` of v1."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields}


def told(calls: ToolCalls, update: Json, session: str = SESSION) -> list[Any]:
    """What is sent, each checked."""
    sent = calls.updates(session, update)
    for each in sent:
        check({"sessionId": session, "update": each}, "UpdateSessionNotification", str(each))
    return sent


def claude(**keys: Any) -> Json:
    return {"claudeCode": keys}


@pytest.mark.contract("V2-038")
def test_the_first_report_is_an_upsert_with_its_name_and_title() -> None:
    (sent,) = told(ToolCalls(), start(rawInput={}, _meta=claude(toolName="Bash")))
    assert sent == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "title": "T",
        "status": "pending",
        "rawInput": {},
        "name": "Bash",
    }


def test_null_meant_nothing_on_v1_and_would_clear_here() -> None:
    calls = ToolCalls()
    told(calls, start())
    assert told(calls, more(title=None, status="completed")) == [
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    ]


def test_an_update_without_news_is_not_sent() -> None:
    calls = ToolCalls()
    told(calls, start(_meta=claude(toolName="Bash", parentToolUseId="p")))
    assert told(calls, more(_meta=claude(toolName="Bash", parentToolUseId="p"))) == []


def test_a_call_that_starts_again_loses_what_it_had() -> None:
    calls = ToolCalls()
    told(calls, start(kind="edit", _meta=claude(parentToolUseId="p")))
    told(calls, more(rawOutput="x", _meta={"_claude/model": "m"}))
    (sent,) = told(calls, start(name="Bash"))
    assert sent["title"] == "T"
    assert {key for key, value in sent.items() if value is None} == {
        *("kind", "content", "locations", "rawInput", "rawOutput")
    }
    assert sent["_meta"] == {"claudeCode": None, "_claude/model": None}


def test_only_keys_of_meta_that_changed_are_sent_and_what_is_below_is_merged() -> None:
    calls = ToolCalls()
    first = told(calls, start(_meta={**claude(toolName="Bash", parentToolUseId="p"), "_claude/model": "m"}))
    assert first[0]["_meta"] == {"claudeCode": {"parentToolUseId": "p"}, "_claude/model": "m"}
    (sent,) = told(calls, more(_meta={**claude(nonExecutionKind="x"), "_claude/model": "m"}))
    assert sent["_meta"] == {"claudeCode": {"parentToolUseId": "p", "nonExecutionKind": "x"}}
    subject = calls.subject(SESSION, {"toolCallId": "t", "title": "T", "status": "pending"})
    assert subject == {
        "toolCallId": "t",
        "title": "T",
        "_meta": {
            "claudeCode": {"parentToolUseId": "p", "nonExecutionKind": "x"},
            "_claude/model": "m",
        },
    }


def test_what_a_tool_answered_is_told_and_not_kept() -> None:
    calls = ToolCalls()
    told(calls, start(_meta=claude(toolName="Read", parentToolUseId="p")))
    answer = {"stdout": "x" * 100}
    (sent,) = told(calls, more(_meta=claude(toolName="Read", parentToolUseId="p", toolResponse=answer)))
    assert sent["_meta"] == {"claudeCode": {"parentToolUseId": "p", "toolResponse": answer}}
    (sent,) = told(calls, more(status="completed", _meta=claude(toolName="Read", parentToolUseId="p")))
    assert "_meta" not in sent, "it stays with the client"
    assert calls.subject(SESSION, {"toolCallId": "t"})["_meta"] == {"claudeCode": {"parentToolUseId": "p"}}


def test_an_answer_alone_is_cleared_when_the_call_starts_again() -> None:
    calls = ToolCalls()
    told(calls, start())
    told(calls, more(_meta=claude(toolName="Read", toolResponse={"a": 1})))
    (sent,) = told(calls, start())
    assert sent["_meta"] == {"claudeCode": None}


def test_calls_of_other_sessions_are_others() -> None:
    calls = ToolCalls()
    told(calls, start(_meta=claude(parentToolUseId="p")))
    (sent,) = told(calls, start(), session="other")
    assert "kind" not in sent
    calls.forget(SESSION)
    assert "_meta" not in calls.subject(SESSION, {"toolCallId": "t"})


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "REMEMBERED", 2)
    calls = ToolCalls()
    for call in "abc":
        told(calls, start(call, _meta=claude(parentToolUseId="p")))
    known = ["_meta" in calls.subject(SESSION, {"toolCallId": call}) for call in "cba"]
    assert known == [True, True, False]


# ── terminals ─────────────────────────────────────────────────────────────────

SHOWN = [{"type": "terminal", "terminalId": "t"}]
INFO = {"terminal_info": {"terminal_id": "t"}}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.contract("V2-018", "TC-227")
def test_a_terminal_from_its_announcement_to_its_exit() -> None:
    calls = ToolCalls()
    sent = told(calls, start(rawInput={}, content=SHOWN, _meta={**claude(toolName="Bash"), **INFO}))
    assert [each["sessionUpdate"] for each in sent] == ["terminal_update", "tool_call_update"]
    assert sent[0] == {"sessionUpdate": "terminal_update", "terminalId": "t"}
    assert sent[1]["content"] == SHOWN

    ran = more(rawInput={"command": "ls"}, title="ls", _meta=claude(toolName="Bash"))
    assert told(calls, ran)[0] == {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}
    assert [each["sessionUpdate"] for each in told(calls, ran)] == ["tool_call_update"], "told once"

    output = more(_meta={"terminal_output": {"terminal_id": "t", "data": "é\n"}})
    assert told(calls, output) == [
        {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": encoded("é\n")}}
    ]
    exit = {"terminal_exit": {"terminal_id": "t", "exit_code": 2, "signal": None}}
    sent = told(calls, more(status="failed", _meta=exit))
    assert sent == [
        {"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 2}},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed"},
    ]


def test_output_that_is_appended_is_a_chunk() -> None:
    sent = told(ToolCalls(), more(_meta={"terminal_output_delta": {"terminal_id": "t", "data": "x"}}))
    assert sent == [{"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": encoded("x")}]


def test_a_command_that_is_known_at_once_comes_with_the_announcement() -> None:
    sent = told(ToolCalls(), start(rawInput={"command": "ls"}, content=SHOWN, _meta=INFO))
    assert sent[0] == {"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}


def test_a_call_without_a_terminal_has_none() -> None:
    sent = told(ToolCalls(), start(rawInput={"command": "ls"}))
    assert [each["sessionUpdate"] for each in sent] == ["tool_call_update"]


# ── changes of files ──────────────────────────────────────────────────────────

HEADER = "diff --git a/w/f b/w/f\n"


@pytest.mark.parametrize(
    ("item", "operation", "patch"),
    [
        (
            patch_block("/w/f", f"{HEADER}--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-a\n+b\n"),
            "modify",
            f"{HEADER}--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-a\n+b\n",
        ),
        (
            patch_block(
                "/w/f", f"{HEADER}new file mode 100644\n--- /dev/null\n+++ b/w/f\n@@ -0,0 +1 @@\n+b\n"
            ),
            "add",
            f"{HEADER}new file mode 100644\n--- /dev/null\n+++ b/w/f\n@@ -0,0 +1 @@\n+b\n",
        ),
        (
            {"type": "diff", "path": "/w/f", "oldText": "a\n", "newText": "b\n"},
            "modify",
            f"{HEADER}--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-a\n+b\n",
        ),
        (
            {"type": "diff", "path": "/w/f", "oldText": None, "newText": "b\n"},
            "add",
            f"{HEADER}new file mode 100644\n--- /dev/null\n+++ b/w/f\n@@ -0,0 +1 @@\n+b\n",
        ),
        ({"type": "diff", "path": "/w/f", "oldText": "a\r\n", "newText": "b\r\n"}, "modify", None),
    ],
    ids=["exact", "exact, created", "texts", "texts, created", "no patch"],
)
def test_a_change_names_its_file_and_shows_a_patch(item: Json, operation: str, patch: str | None) -> None:
    (sent,) = told(ToolCalls(), start(content=[item]))
    (diff,) = sent["content"]
    assert diff["changes"] == [{"operation": operation, "path": "/w/f"}]
    assert diff.get("patch") == (None if patch is None else {"format": "git_patch", "text": patch})
    assert "jetbrains" not in str(sent)
