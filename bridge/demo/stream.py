"""A scripted step as the Messages API writes it: a stream of events, or one message.

Pure: the same step and ids give the same bytes. Shapes: the public Messages API.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, assert_never

from bridge.demo.script import (
    Cut,
    Delay,
    Error,
    Hang,
    Item,
    Many,
    RawEvent,
    Step,
    Stop,
    Text,
    Thinking,
    ToolCall,
    Usage,
    deltas,
)

DEFAULT_USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
}
SIGNATURE = "c2NyaXB0ZWQ="

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Halt(Enum):
    """Why a stream stops before its end."""

    HANG = "hang"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a response says about itself."""

    id: str
    model: str


Part = bytes | float | Error | Halt
"""Bytes to send, seconds to wait, an error to answer with, or the reason to stop."""


def error_body(error: Error) -> dict[str, Any]:
    """The JSON of an error, as the body of a response or the data of an event."""
    kind = _ERROR_TYPES.get(error.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}}


def play(step: Step, envelope: Envelope) -> Iterator[Part]:
    """A step as a stream of server-sent events.

    An `Error` is yielded only before the first event; nothing follows it or a `Halt`.
    """
    begun = False
    index = 0
    for item in step:
        match item:
            case Delay(seconds):
                yield float(seconds)
                continue
            case Hang():
                yield Halt.HANG
                return
            case Cut():
                yield Halt.CUT
                return
            case Error():
                yield _event(error_body(item)) if begun else item
                return
            case Stop() | Usage():
                continue
            case Text() | Thinking() | ToolCall() | Many() | RawEvent():
                pass
            case _:
                assert_never(item)
        if not begun:
            begun = True
            yield _message_start(step, envelope)
        if isinstance(item, RawEvent):
            yield _event(item.event)
            continue
        yield from _block(item, index, envelope)
        index += 1
    if not begun:
        yield _message_start(step, envelope)
    yield _message_end(step)


def message(step: Step, envelope: Envelope) -> dict[str, Any]:
    """A step as the body of a response without streaming; pauses and failures are the caller's."""
    blocks = [item for item in step if isinstance(item, Text | Thinking | ToolCall | Many)]
    return {
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [_content(item, index, envelope) for index, item in enumerate(blocks)],
        "stop_reason": _stop_reason(step),
        "stop_sequence": None,
        "usage": _usage(step),
    }


def _block(block: Text | Thinking | ToolCall | Many, index: int, envelope: Envelope) -> Iterator[Part]:
    yield _event(
        {"type": "content_block_start", "index": index, "content_block": _empty(block, index, envelope)}
    )
    match block:
        case Text():
            for piece in deltas(block):
                yield _delta(index, {"type": "text_delta", "text": piece})
                yield float(block.pace)
        case Thinking():
            for piece in deltas(block):
                yield _delta(index, {"type": "thinking_delta", "thinking": piece})
                yield float(block.pace)
            yield _delta(index, {"type": "signature_delta", "signature": SIGNATURE})
        case ToolCall():
            for piece in _fragments(json.dumps(dict(block.input)), block.pieces):
                yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
                yield float(block.pace)
        case Many():
            delta = _delta(index, {"type": "text_delta", "text": block.delta})
            for _ in range(block.count):
                yield delta
                yield float(block.pace)
        case _:
            assert_never(block)
    yield _event({"type": "content_block_stop", "index": index})


def _content(block: Text | Thinking | ToolCall | Many, index: int, envelope: Envelope) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(thinking):
            return {"type": "thinking", "thinking": thinking, "signature": SIGNATURE}
        case ToolCall(name, arguments):
            return {
                "type": "tool_use",
                "id": _call_id(block, index, envelope),
                "name": name,
                "input": dict(arguments),
            }
        case Many(count):
            return {"type": "text", "text": block.delta * count}
        case _:
            assert_never(block)


def _empty(block: Text | Thinking | ToolCall | Many, index: int, envelope: Envelope) -> dict[str, Any]:
    """The block as it is announced."""
    match block:
        case Text() | Many():
            return {"type": "text", "text": ""}
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolCall(name):
            return {"type": "tool_use", "id": _call_id(block, index, envelope), "name": name, "input": {}}
        case _:
            assert_never(block)


def _call_id(call: ToolCall, index: int, envelope: Envelope) -> str:
    return call.id or f"toolu_{envelope.id}_{index}"


def _fragments(text: str, pieces: int) -> Iterator[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return (text[at : at + size] for at in range(0, len(text), size))


def _message_start(step: Step, envelope: Envelope) -> bytes:
    usage = {**DEFAULT_USAGE, "output_tokens": 1, **_numbers(step)}
    opened = {**message((), envelope), "stop_reason": None, "usage": usage}
    return _event({"type": "message_start", "message": opened})


def _message_end(step: Step) -> bytes:
    delta = {"stop_reason": _stop_reason(step), "stop_sequence": None}
    usage = _usage(step)
    return _event({"type": "message_delta", "delta": delta, "usage": usage}) + _event(
        {"type": "message_stop"}
    )


def _stop_reason(step: Step) -> str:
    for item in step:
        if isinstance(item, Stop):
            return item.reason
    return "tool_use" if any(isinstance(item, ToolCall) for item in step) else "end_turn"


def _usage(step: tuple[Item, ...]) -> dict[str, int]:
    return {**DEFAULT_USAGE, **_numbers(step)}


def _numbers(step: tuple[Item, ...]) -> dict[str, int]:
    """Numbers that the step sets; what it sets holds from its first event on."""
    numbers: dict[str, int] = {}
    for item in step:
        if isinstance(item, Usage):
            numbers.update(item.numbers)
    return numbers


def _delta(index: int, delta: Mapping[str, str]) -> bytes:
    return _event({"type": "content_block_delta", "index": index, "delta": delta})


def _event(data: Mapping[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
