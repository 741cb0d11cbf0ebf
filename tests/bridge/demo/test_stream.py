"""The stream of a step: the shape that a client of the Messages API expects."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.demo.script import (
    Cut,
    Delay,
    Error,
    Hang,
    Item,
    Many,
    RawEvent,
    Stop,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from bridge.demo.stream import DEFAULT_USAGE, Envelope, Halt, message, play

ENVELOPE = Envelope("msg_1", "model-1")


def events(*step: Item) -> list[dict[str, Any]]:
    """The events of a step; each must be framed as a server-sent event of its type."""
    return list(_events(b"".join(part for part in play(step, ENVELOPE) if isinstance(part, bytes))))


def _events(data: bytes) -> Iterator[dict[str, Any]]:
    for frame in data.decode().removesuffix("\n\n").split("\n\n"):
        head, body = frame.split("\n")
        event = json.loads(body.removeprefix("data: "))
        assert head == f"event: {event['type']}"
        yield event


def assembled(stream: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client builds from a stream."""
    first, *rest = stream
    assert first["type"] == "message_start"
    built: dict[str, Any] = first["message"]
    partial = ""
    for event in rest:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(built["content"])
                built["content"].append(event["content_block"])
                partial = ""
            case "content_block_delta":
                block, delta = built["content"][event["index"]], event["delta"]
                if delta["type"] == "input_json_delta":
                    partial += delta["partial_json"]
                else:
                    key = delta["type"].removesuffix("_delta")
                    block[key] += delta[key]
            case "content_block_stop":
                if built["content"][event["index"]]["type"] == "tool_use":
                    built["content"][event["index"]]["input"] = json.loads(partial)
            case "message_delta":
                built |= event["delta"]
                built["usage"] |= event["usage"]
    assert rest[-1]["type"] == "message_stop"
    return built


words = st.text(max_size=40)
numbers = st.integers(0, 100_000)
items = st.one_of(
    st.builds(Text, words, st.integers(0, 5)),
    st.builds(Thinking, words),
    st.builds(ToolCall, words, st.dictionaries(words, st.integers() | words, max_size=4), st.integers(1, 9)),
    st.builds(Many, st.integers(0, 5), st.integers(1, 5)),
    st.builds(Stop, st.sampled_from(["max_tokens", "refusal"])),
    st.builds(Usage, st.dictionaries(st.sampled_from(sorted(DEFAULT_USAGE)), numbers)),
)


@given(st.lists(items, max_size=6))
def test_a_stream_adds_up_to_the_message(step: list[Item]) -> None:
    assert assembled(events(*step)) == message(tuple(step), ENVELOPE)


def test_text_is_streamed_word_by_word() -> None:
    stream = events(Text("two words"))
    assert [event["type"] for event in stream] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert stream[0]["message"]["usage"]["input_tokens"] == 10
    assert stream[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}


def test_a_tool_call_ends_the_message_with_tool_use() -> None:
    stream = events(Text("I look"), ToolCall("Bash", {"command": "ls"}, pieces=4))
    built = assembled(stream)
    assert built["stop_reason"] == "tool_use"
    assert built["content"][1] == {
        "type": "tool_use",
        "id": "toolu_msg_1_1",
        "name": "Bash",
        "input": {"command": "ls"},
    }
    fragments = [event for event in stream if event.get("delta", {}).get("type") == "input_json_delta"]
    assert len(fragments) == 4


def test_an_empty_thought_has_a_signature_alone() -> None:
    deltas = [event["delta"] for event in events(Thinking("")) if event["type"] == "content_block_delta"]
    assert [delta["type"] for delta in deltas] == ["signature_delta"]


def test_many_deltas_are_each_their_own_event() -> None:
    texts = [
        event["delta"]["text"] for event in events(Many(1000, 20)) if event["type"] == "content_block_delta"
    ]
    assert texts == ["x" * 19 + " "] * 1000


@pytest.mark.parametrize("pace", [0.25, 30])
def test_pace_is_a_pause_behind_each_delta(pace: float) -> None:
    assert [part for part in play((Text("a b c", pace=pace),), ENVELOPE) if isinstance(part, float)] == [
        pace
    ] * 3


def test_an_error_in_front_is_the_answer_itself() -> None:
    assert list(play((Delay(1.0), Error(529), Text("never")), ENVELOPE)) == [1.0, Error(529)]


def test_an_error_behind_content_is_an_event_and_the_end() -> None:
    stream = events(Text("a"), Error(529, "busy"), Text("never"))
    assert stream[-1] == {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


def test_a_hang_in_front_sends_nothing_and_a_cut_leaves_the_stream_open() -> None:
    assert list(play((Hang(),), ENVELOPE)) == [Halt.HANG]
    *parts, last = play((Text("a"), Cut(), Text("never")), ENVELOPE)
    assert last is Halt.CUT
    assert b"message_stop" not in b"".join(part for part in parts if isinstance(part, bytes))


def test_a_raw_event_passes_through() -> None:
    ping = {"type": "ping"}
    assert events(RawEvent(ping), Text("a"))[1] == ping
