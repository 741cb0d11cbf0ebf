"""Benchmarks with a Claude Code that plays a script: what a long life costs in memory."""

from typing import Any

from tests.bench.contestant import Contestant, cpu, peak, resident
from tests.bench.measure import Sample
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json

WORD = "twenty characters.. "
FEW, MANY = 1_000, 100_000
"""Deltas of a turn."""
SIZE = 10_000_000
USAGE = {"input_tokens": 10, "output_tokens": 5}
SHORT, LONG = 10, 1_000
"""Turns of a session."""


async def growth(contestant: Contestant) -> Sample:
    """Four turns of 100,000 deltas: the most that they need, and what the last two add for good."""
    counts = [FEW, *(count for _ in range(4) for count in (MANY, FEW))]
    async with contestant.run({"turns": [flood(count) for count in counts]}) as client:
        await client.initialize("plain")
        opened = await client.new_session()
        await client.prompt(opened, "few").result()
        start = resident(client)
        after = [await _many(client, opened) for _ in range(4)]
        return {"peak": peak(client) - start, "growth": after[3] - after[1]}


async def _many(client: AcpClient, opened: str) -> float:
    """A large turn and a small one; the memory then."""
    since = len(client.messages)
    await client.prompt(opened, "many").result(600)
    assert len(client.text(opened, since=since)) == MANY * len(WORD)
    await client.prompt(opened, "few").result()
    return resident(client)


async def turns(contestant: Contestant) -> Sample:
    """A session of 1,000 turns: its memory as a multiple of what it was after ten."""
    async with contestant.run({}) as client:
        await client.initialize("plain")
        opened = await client.new_session()
        for number in range(LONG):
            if number == SHORT:
                before = resident(client)
            await client.prompt(opened, f"turn {number}").result()
        return {"turns": resident(client) / before}


async def output(contestant: Contestant) -> Sample:
    """The CPU of a turn whose tool result holds 10 MB: all of a command's output, in one frame."""
    async with contestant.run(
        {"turns": [flood(FEW), printing("one line of the output\n" * (SIZE // 23))]}
    ) as client:
        await client.initialize("plain")
        opened = await client.new_session()
        await client.prompt(opened, "few").result()
        before = cpu(client)
        await client.prompt(opened, "print").result()
        assert client.tool_call("call")["status"] == "completed"
        return {"output": (cpu(client) - before) * 1e3}


def flood(deltas: int) -> list[Json]:
    """The steps of a turn that streams one text block in many deltas."""
    block = {"type": "text", "text": ""}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORD}}
    return _turn(
        [
            _event({"type": "message_start", "message": {**_message("text"), "content": []}}),
            _event({"type": "content_block_start", "index": 0, "content_block": block}),
            {"do": "many", "count": deltas, "frame": _event(delta)},
            _assistant("text", {**block, "text": WORD * deltas}),
            _event({"type": "content_block_stop", "index": 0}),
            _event({"type": "message_stop"}),
        ]
    )


def printing(text: str) -> list[Json]:
    """The steps of a turn with one command that prints a text."""
    result = {"type": "tool_result", "tool_use_id": "call", "content": text}
    structured = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    return _turn(
        [
            _assistant(
                "call", {"type": "tool_use", "id": "call", "name": "Bash", "input": {"command": "print"}}
            ),
            {
                **_frame("user", message={"role": "user", "content": [result]}, parent_tool_use_id=None),
                "tool_use_result": structured,
            },
        ]
    )


def _turn(work: list[Json]) -> list[Json]:
    ended = {"user_message_uuid": "$UUID", "user_message_uuids": ["$UUID"], "usage": USAGE, "modelUsage": {}}
    well = {
        "subtype": "success",
        "is_error": False,
        "stop_reason": "end_turn",
        "terminal_reason": "completed",
    }
    return [
        _frame("system", subtype="session_state_changed", state="running"),
        _frame("command_lifecycle", command_uuid="$UUID", state="started"),
        _frame("system", subtype="status", status="requesting", user_message_uuids=["$UUID"]),
        *work,
        _frame("result", result="", num_turns=1, **well, **ended),
        _frame("command_lifecycle", command_uuid="$UUID", state="completed"),
        _frame("system", subtype="session_state_changed", state="idle"),
    ]


def _assistant(name: str, block: Json) -> Json:
    content = {**_message(name), "content": [block], "stop_reason": None}
    return _frame("assistant", message=content, parent_tool_use_id=None)


def _message(name: str) -> Json:
    model = "claude-opus-5-5"
    return {"id": f"msg_{name}_$UUID", "type": "message", "role": "assistant", "model": model, "usage": USAGE}


def _event(event: Json) -> Json:
    return _frame("stream_event", event=event, parent_tool_use_id=None)


def _frame(type: str, **fields: Any) -> Json:
    return {"type": type, **fields, "session_id": "$SESSION", "uuid": "$NEW"}
