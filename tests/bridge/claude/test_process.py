"""A running process: one order of everything it says, answers to it, and back pressure."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from bridge.claude.errors import ClaudeGone, ControlError
from bridge.claude.frames import Closed
from machines.events import StreamEnd
from tests.bridge.claude.bench import FOREVER, PLAIN_TURN, fake_launch, start_fake
from tests.bridge.claude.conftest import NewBench
from tests.support import fake_cli

pytestmark = pytest.mark.anyio


# ── order ─────────────────────────────────────────────────────────────────────


async def test_every_frame_arrives_once_in_order(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path)
    bench.prompt("one")
    await bench.idle()
    assert bench.kinds == ["control_response/success", *PLAIN_TURN]
    assert [frame.seq for frame in bench.frames] == list(range(1, len(bench.frames) + 1))


async def test_frames_of_unknown_kinds_arrive_as_they_are(tmp_path: Path, new_bench: NewBench) -> None:
    odd = [
        {"type": "brand_new", "deep": [{"a": None}]},
        {"no": "type"},
        {"type": 5},
        {"type": "control_response"},
    ]
    odd += [{"type": "control_response", "response": 7}, {"type": "control_request", "request": []}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [[*odd, {"do": "plain"}]]})
    bench.prompt("one")
    await bench.idle()
    assert [frame.raw for frame in bench.frames[1:7]] == odd
    assert [frame.type for frame in bench.frames[1:4]] == ["brand_new", "", ""]


async def test_lines_that_are_no_objects_and_odd_separators_do_no_harm(
    tmp_path: Path, new_bench: NewBench
) -> None:
    noise = {"do": "raw", "text": "[SandboxDebug] hello\n\n  \n\r\n"}
    text = "a\u2028b\u2029c\u0085d\x0ce"
    bench = await start_fake(new_bench, tmp_path, {"turns": [[noise, {"type": "t", "text": text}]]})
    bench.prompt("one")
    assert (await bench.until(lambda frame: frame.type == "t")).raw["text"] == text


async def test_a_line_of_two_megabytes_arrives(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path, {"turns": [[{"do": "fill", "bytes": 2_000_000}]]})
    bench.prompt("one")
    frame = await bench.until(lambda frame: frame.type == "filler")
    assert len(str(frame.raw["text"])) == 2_000_000


async def test_a_prompt_of_two_megabytes_arrives(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path)
    text = "ü" * 2_000_000
    bench.prompt(text)
    assert (await bench.until(lambda frame: frame.type == "result")).raw["result"] == text


async def test_lines_go_out_in_the_order_of_the_calls(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path, {"turns": [[FOREVER]]})
    bench.prompt("first \ud800 last")
    bench.claude.reply("ask-1", {"behavior": "allow", "updatedInput": {}})
    bench.claude.refuse("ask-2", "Tool use aborted")
    bench.claude.send({"type": "control_response", "response": {"request_id": "ask-3"}})
    await bench.until(lambda frame: frame.raw.get("response") == {"request_id": "ask-3"})

    _, prompt, allowed, refused, _ = fake_cli.received(tmp_path)
    assert prompt["message"]["content"][0]["text"] == "first \ud800 last"
    assert allowed["response"] == {
        "subtype": "success",
        "request_id": "ask-1",
        "response": {"behavior": "allow", "updatedInput": {}},
    }
    assert refused["response"] == {"subtype": "error", "request_id": "ask-2", "error": "Tool use aborted"}


async def test_an_ask_waits_for_its_reply_and_nobody_else_answers(
    tmp_path: Path, new_bench: NewBench
) -> None:
    asks = [
        {"type": "control_request", "request_id": id, "request": {"subtype": subtype}}
        for id, subtype in (("a", "can_use_tool"), ("h", "hook_callback"), ("e", "elicitation"), ("n", "new"))
    ]
    turn = [*asks, {"do": "await", "what": "reply", "id": "a"}, {"type": "after"}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [turn]})
    bench.prompt("one")
    ask = await bench.until(lambda frame: frame.subtype == "new")
    assert "after" not in bench.kinds
    bench.claude.reply("a", {"behavior": "deny", "message": "no"})
    await bench.until(lambda frame: frame.type == "after")
    assert ask.raw["request_id"] == "n"
    assert [line["type"] for line in fake_cli.received(tmp_path)][2:] == ["control_response"]


# ── control requests ──────────────────────────────────────────────────────────


async def test_a_request_answers_its_reply_and_the_frame_is_seen_too(
    tmp_path: Path, new_bench: NewBench
) -> None:
    bench = await start_fake(new_bench, tmp_path)
    assert await bench.claude.request("set_permission_mode", mode="plan") == {"mode": "plan"}
    assert await bench.claude.request("anything") == {}
    assert bench.kinds == ["control_response/success", "system/status", *["control_response/success"] * 2]
    ids = [line["request_id"] for line in fake_cli.received(tmp_path)]
    assert len(set(ids)) == 3


async def test_replies_find_their_requests_in_any_order(tmp_path: Path, new_bench: NewBench) -> None:
    slow = {"steps": [{"do": "stderr", "text": "held"}]}
    bench = await start_fake(new_bench, tmp_path, {"replies": {"slow": slow}})
    answers: dict[str, Any] = {}

    async def ask(subtype: str) -> None:
        answers[subtype] = await bench.claude.request(subtype)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "slow")
        await anyio.wait_all_tasks_blocked()
        await ask("set_model")
        assert answers == {"set_model": {"model": fake_cli.MODEL}}
        slow_id = next(line["request_id"] for line in fake_cli.received(tmp_path) if "slow" in str(line))
        response = {"subtype": "success", "request_id": slow_id, "response": {"late": True}}
        # The fake replays what it is answered, which is how a reply comes late here.
        bench.claude.send({"type": "control_response", "response": response})
    assert answers["slow"] == {"late": True}


async def test_a_refused_request_tells_text_and_code(tmp_path: Path, new_bench: NewBench) -> None:
    replies = {
        "set_permission_mode": {"error": "No such mode.", "code": "invalid_mode"},
        "other": {"error": "x"},
    }
    bench = await start_fake(new_bench, tmp_path, {"replies": replies})
    with pytest.raises(ControlError) as caught:
        await bench.claude.request("set_permission_mode", mode="odd")
    assert (caught.value.text, caught.value.code) == ("No such mode.", "invalid_mode")
    with pytest.raises(ControlError) as caught:
        await bench.claude.request("other")
    assert (caught.value.text, caught.value.code) == ("x", None)


async def test_a_request_without_an_answer_times_out(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path, {"replies": {"get_usage": None}})
    with pytest.raises(ControlError) as caught:
        await bench.claude.request("get_usage", timeout=0.2)
    assert caught.value.code == "timeout"
    assert await bench.claude.request("set_model", model="opus") == {"model": "opus"}


async def test_an_end_releases_every_request(tmp_path: Path, new_bench: NewBench) -> None:
    scenario = {"replies": {"get_usage": None}, "turns": [[{"do": "die"}]]}
    bench = await start_fake(new_bench, tmp_path, scenario)
    gone: list[str] = []

    async def ask() -> None:
        with pytest.raises(ClaudeGone):
            await bench.claude.request("get_usage")
        gone.append("get_usage")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            bench.prompt("die")
        with pytest.raises(ClaudeGone):
            await bench.claude.request("interrupt")
    assert gone == ["get_usage"] * 2


# ── back pressure ─────────────────────────────────────────────────────────────


class Valve:
    """A gate that a client which does not read would close."""

    def __init__(self) -> None:
        self.open = anyio.Event()

    async def __call__(self) -> None:
        await self.open.wait()


async def test_a_closed_gate_holds_the_stream_and_loses_nothing(tmp_path: Path, new_bench: NewBench) -> None:
    valve = Valve()
    many = {"do": "many", "count": 500, "frame": {"type": "tick", "n": "$N"}}
    bench = new_bench(fake_launch(tmp_path, {"turns": [[many]]}), valve)
    await bench.start()
    bench.prompt("tick")
    await bench.until(lambda frame: frame.type == "tick")

    # A request may take as long as the gate is closed: it is not Claude Code that is late.
    replies: list[object] = []

    async def ask() -> None:
        replies.append(await bench.claude.request("set_model", timeout=0.1, model="opus"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.sleep(0.5)
        assert bench.kinds == ["control_response/success", "tick"]
        valve.open.set()
    assert replies == [{"model": "opus"}]
    await bench.until(lambda frame: frame.raw.get("n") == "499")
    assert [frame.raw["n"] for frame in bench.frames if frame.type == "tick"] == [str(n) for n in range(500)]


async def test_a_closed_gate_does_not_hold_the_end(tmp_path: Path, new_bench: NewBench) -> None:
    many = {"do": "many", "count": 5000, "frame": {"type": "tick", "text": "x" * 200}}
    bench = new_bench(fake_launch(tmp_path, {"turns": [[many]]}), Valve())
    await bench.start()
    bench.prompt("tick")
    await bench.until(lambda frame: frame.type == "tick")
    await bench.claude.stop()
    assert await bench.closed() == Closed(5002, StreamEnd.ENDED, 0)


async def test_a_gate_may_be_a_plain_function(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path), lambda: None)
    await bench.start()
    bench.prompt("one")
    await bench.idle()
