"""What a client is told beside the conversation, in its own form and once."""

from typing import Any

import pytest

from bridge.messages import items as f
from tests.bridge.view.screens import AIR, NOTICES, PLAIN, Json, screen

SERVERS: Any = {"mine": {}}


def init(status: str, name: str = "mine") -> f.Initialized:
    return f.Initialized({"mcp_servers": [{"name": name, "status": status}]})


def line(text: str, **meta: object) -> Json:
    update: Json = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": text},
        "messageId": "id",
    }
    return {**update, "_meta": {"claudeCode": meta}} if meta else update


@pytest.mark.contract("SE-119")
def test_a_server_that_failed_is_a_notice_or_a_line() -> None:
    description = "Its tools are unavailable in this session. Run /mcp for the error."
    noticed, shown, _ = screen(NOTICES, mcp_servers=SERVERS)
    noticed.note_init(init("failed"))
    assert shown.take() == [
        {
            "sessionUpdate": "notice",
            "severity": "warning",
            "title": 'MCP server "mine" failed to start',
            "description": description,
        }
    ]
    told, shown, _ = screen(PLAIN, mcp_servers=SERVERS)
    told.note_init(init("failed"))
    told.note_init(init("failed"))
    assert shown.take() == [
        line(
            f'**MCP server "mine" failed to start:** {description}',
            kind="mcpServerStatus", server="mine", status="failed",
        )
    ]  # fmt: skip


@pytest.mark.contract("SE-119")
def test_a_server_that_needs_a_sign_in_is_told_of_where_no_link_can_be_opened() -> None:
    told, shown, _ = screen(NOTICES, mcp_servers=SERVERS)
    told.note_init(init("pending"))
    told.note_init(init("needs-auth"))
    (update,) = shown.take()
    assert (update["severity"], update["title"]) == ("info", 'MCP server "mine" needs authentication')
    with_links, shown, _ = screen(AIR, mcp_servers=SERVERS)
    with_links.note_init(init("needs-auth"))
    assert shown.take() == []


def test_other_peoples_servers_are_no_matter() -> None:
    told, shown, _ = screen(PLAIN, mcp_servers=SERVERS)
    told.note_init(init("failed", "theirs"))
    assert shown.take() == []


@pytest.mark.contract("SE-099", "SE-119")
@pytest.mark.parametrize(
    ("level", "text"),
    [("info", "Said."), ("notice", "**Notice:** Said."), ("warning", "**Warning:** Said.")],
)
def test_information_is_a_line_that_names_its_level(level: str, text: str) -> None:
    told, shown, _ = screen(PLAIN)
    told.note(f.Informed(level, "Said.", "id"))
    assert shown.take() == [line(text, kind="informational", level=level)]


@pytest.mark.contract("SE-119", "SE-120")
def test_information_is_a_notice_where_there_are_notices_and_plain_one_is_left_out() -> None:
    told, shown, _ = screen(NOTICES)
    for level in ("info", "notice", "suggestion", "warning"):
        told.note(f.Informed(level, "A **bold** `word`.", "id"))
    assert [(update["severity"], update["title"]) for update in shown.take()] == [
        ("info", "A bold word."),
        ("info", "A bold word."),
        ("warning", "A bold word."),
    ]
    told.note(f.Informed("warning", "x" * 257, "id"))
    (update,) = shown.take()
    assert (update["title"], update["description"]) == ("Claude reported a warning", "x" * 257)


def test_what_concerns_one_call_is_told_once() -> None:
    told, shown, _ = screen(PLAIN)
    for call in ("c1", "c1", "c2"):
        told.note(f.Informed("warning", "Said.", "id", call))
    assert len(shown.take()) == 2


@pytest.mark.contract("SE-121")
def test_a_model_fallback_is_a_notice_a_record_or_a_line() -> None:
    forms = []
    for client in (NOTICES, AIR, PLAIN):
        told, shown, _ = screen(client)
        told.note(f.ModelFellBack("Went on with Sonnet.", "id"))
        forms += shown.take()
    assert forms[0]["sessionUpdate"] == "notice"
    assert forms[1]["_meta"]["jetbrains"]["air"]["sessionFailure"]["severity"] == "warning"
    assert forms[2] == line("**Model fallback:** Went on with Sonnet.")


def test_recalled_memories_are_a_finished_call_unless_a_cancel_is_under_way() -> None:
    told, shown, state = screen(PLAIN)
    recalled = f.Recalled("u1", "select", ({"path": "/m/a.md"},))
    told.note(recalled)
    (update,) = shown.take()
    assert (update["toolCallId"], update["status"], update["title"]) == (
        "u1",
        "completed",
        "Recalled 1 memory",
    )
    assert update["locations"] == [{"path": "/m/a.md"}]
    state.admits_new = False
    told.note(recalled)
    assert shown.take() == []


def test_the_end_of_a_link_is_told_to_who_opened_it() -> None:
    for client, ends in ((AIR, ["e1"]), (PLAIN, [])):
        told, shown, _ = screen(client)
        told.note(f.LinkDone("e1"))
        assert shown.completed == ends
