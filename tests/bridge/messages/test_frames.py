"""Frames that lead to something to be seen, beside the turns."""

from typing import Any

import pytest

from bridge.messages import items as f
from bridge.messages.frames import FrameReader
from bridge.messages.stream import MessageStream
from machines.events import Result

Json = dict[str, Any]


def read(*frames: Json) -> list[f.Item]:
    reader = FrameReader(MessageStream(), lambda _: False)
    return [item for raw in frames for item in reader.read(raw)]


def spoken(text: str, **more: object) -> Json:
    message = {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "uuid": "u1", "message": message, **more}


@pytest.mark.contract("SE-111")
def test_the_output_of_a_local_command_says_whose_it_is() -> None:
    run = {"command": "mcp", "args": ""}
    (content,) = read(spoken("2 servers", local_command_source="…", local_command_run=run))
    assert isinstance(content, f.Content)
    assert content.command == "mcp"
    assert content.update["messageId"] == "u1"


@pytest.mark.contract("SE-084")
def test_words_of_claude_code_itself_are_no_matter_for_a_title() -> None:
    assert not [item for item in read(spoken("API Error: 500")) if isinstance(item, f.Spoken)]
    told = spoken("I am the model.")
    told["message"]["model"] = "claude-opus-5-5"
    assert f.Spoken("I am the model.") in read(told)


def test_recalled_memories_are_read() -> None:
    memories = [{"path": "/m/a.md", "scope": "personal"}, 5]
    raw = {"type": "system", "subtype": "memory_recall", "uuid": "u1", "mode": "select", "memories": memories}
    assert read(raw) == [f.Recalled("u1", "select", (memories[0],))]  # type: ignore[arg-type]  # the first is an object


def test_the_end_of_a_link_of_an_mcp_server_is_read() -> None:
    raw = {
        "type": "system",
        "subtype": "elicitation_complete",
        "elicitation_id": "e1",
        "mcp_server_name": "s",
    }
    assert read(raw) == [f.LinkDone("e1")]


def test_what_started_a_result_comes_before_it_in_full() -> None:
    origin = {"kind": "task-notification", "producer": "session-task", "runId": "r1"}
    said, result = read({"type": "result", "subtype": "success", "origin": origin})
    assert said == f.Originated(origin)
    assert isinstance(result, Result)


@pytest.mark.contract("SE-098", "SE-074")
@pytest.mark.parametrize("shown", [False, True])
def test_the_text_of_subagents_is_for_who_wants_it_and_never_for_a_title(shown: bool) -> None:
    reader = FrameReader(MessageStream(), lambda _: False, shows_children=shown)
    message = {"id": "m", "model": "claude-opus-5", "content": [{"type": "text", "text": "Inside."}]}
    raw = {"type": "assistant", "uuid": "u1", "message": message, "parent_tool_use_id": "toolu_agent"}
    items = list(reader.read(raw))
    assert [item for item in items if isinstance(item, f.Spoken)] == []
    assert len([item for item in items if isinstance(item, f.Content)]) == shown
