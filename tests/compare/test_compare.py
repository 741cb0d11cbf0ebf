"""The comparison: what no two runs share is gone, what differs is shown."""

from typing import Any

from tests.compare.normalise import Entry, entries
from tests.compare.report import differences
from tests.support.rpc import Json


def update(session: str, **update: Any) -> Json:
    """A `session/update`."""
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


def run(session: str, call: str, root: str, *, title: str = "Read a.txt") -> list[Entry]:
    """What one agent sends, with ids and paths of its own."""
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": f"msg-of-{call}"}
    messages = [
        update(session, **chunk, content={"type": "text", "text": "one "}),
        update(session, **chunk, content={"type": "text", "text": "two"}),
        update(
            session,
            sessionUpdate="tool_call",
            toolCallId=call,
            title=title,
            rawInput={"path": f"{root}/a.txt"},
        ),
        update(session, sessionUpdate="session_info_update", title="whenever"),
        {"jsonrpc": "2.0", "id": 7, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 10}}},
    ]
    return entries(messages, {root: "<root>"}, {7: "session/prompt"})


def test_runs_that_say_the_same_are_the_same() -> None:
    assert differences(run("s-1", "toolu_a", "/tmp/a"), run("s-2", "toolu_b", "/tmp/b")) == []


def test_ids_are_numbered_chunks_joined_and_numbers_kept() -> None:
    text, call, answer = run("s-1", "toolu_a", "/tmp/a")
    assert text.fields["params.update.content.text"] == '"one two"'
    assert call.title == "tool_call <call 1>"
    assert call.fields["params.update.rawInput.path"] == '"<root>/a.txt"'
    assert answer.title == "result of session/prompt"
    assert answer.fields["result.usage.inputTokens"] == "10"


def test_a_field_that_differs_is_shown_with_both_values() -> None:
    lines = differences(run("s-1", "toolu_a", "/tmp/a"), run("s-1", "toolu_a", "/tmp/a", title="Open a.txt"))
    assert [line.split() for line in lines] == [
        ["≠", "tool_call", "<call", "1>"],
        ["title"],
        ["reference", '"Read', 'a.txt"'],
        ["ours", '"Open', 'a.txt"'],
    ]


def test_messages_of_one_side_and_moved_ones_are_told_apart() -> None:
    first, second, third = run("s-1", "toolu_a", "/tmp/a")
    assert differences([first, second], [second, first]) == [f"  ↕ at another place: {second.title}"]
    assert differences([first, second, third], [first, third])[0] == f"  − only reference: {second.title}"
    assert differences([first, third], [first, second, third])[0] == f"  + only ours: {second.title}"


def test_a_run_that_broke_is_told_and_not_compared() -> None:
    whole = run("s-1", "toolu_a", "/tmp/a")
    broken = [whole[0], Entry("FAILED the agent is gone", {}, failed=True)]
    assert differences(whole, broken) == ["  + only ours: FAILED the agent is gone"]
