"""A Claude Code that says odd things, or ends oddly, in the middle of a turn."""

import os
import signal
from typing import Any

import anyio
import pytest

from tests.e2e.chat import claudes
from tests.e2e.faults.conftest import Stage
from tests.support import fake_cli
from tests.support.rpc import HANG, Json

pytestmark = pytest.mark.anyio

LOST = "The Claude Agent process exited unexpectedly. Send the prompt again to continue."
RESTARTED = "Claude Code was restarted"
FOREVER: Json = {"do": "await", "what": "nothing"}


def event(**event: Any) -> Json:
    """A frame of the stream."""
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None}


def delta(text: str) -> Json:
    """A frame with text."""
    return event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})


SPEAKS: list[Json] = [
    {"type": "command_lifecycle", "command_uuid": "$UUID", "state": "started"},
    event(type="message_start", message={"id": "m1", "role": "assistant", "model": "m"}),
    event(type="content_block_start", index=0, content_block={"type": "text", "text": ""}),
    delta("part"),
]
"""A turn that has begun to speak."""

ODD: list[Json] = [
    {"do": "raw", "text": "Warning: something\n\n   \n"},
    {"do": "stderr", "text": "words"},
    {"type": "no_such_frame", "x": [1]},
]

MALFORMED: list[Json] = [
    *({"type": kind} for kind in ("assistant", "user", "system", "stream_event")),
    *({"type": kind, "message": "text"} for kind in ("assistant", "user")),
    {"type": "assistant", "message": {"content": [{"type": "tool_use"}, 7, None, {"type": 5}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": 5}, "x"]}},
    {"type": "stream_event", "event": {"type": "content_block_delta", "index": "0", "delta": 7}},
    {"type": "stream_event", "event": []},
    {"type": "system", "subtype": 7},
    {"type": "system", "subtype": "status", "permissionMode": {"a": 1}},
    {"type": "command_lifecycle", "command_uuid": 5, "state": []},
    {"type": "control_response", "response": "x"},
    {"type": "control_cancel_request"},
    {"type": "control_request", "request_id": "c2", "request": {"subtype": "no_such"}},
    {"type": "control_request", "request_id": "c3", "request": {"subtype": "hook_callback"}},
    {"type": 7},
]


async def test_what_is_no_frame_is_passed_over(stage: Stage) -> None:
    chat = await stage.open(start=ODD, turns=[[*ODD, {"do": "plain"}]])
    await chat.is_well()
    await chat.is_well()


@pytest.mark.parametrize("frame", MALFORMED, ids=lambda frame: str(frame)[1:60])
async def test_a_frame_of_a_wrong_shape_does_no_harm(frame: Json, stage: Stage) -> None:
    chat = await stage.open(turns=[[frame, {"do": "plain"}]])
    await chat.is_well()
    await chat.is_well()


async def test_a_line_of_two_megabytes_is_nothing_special(stage: Stage) -> None:
    chat = await stage.open(turns=[[{"do": "fill", "bytes": 2_000_000}, {"do": "plain"}]])
    await chat.is_well()


@pytest.mark.parametrize(
    "end",
    [
        {"do": "die"},
        {"do": "exit", "code": 7},
        {"do": "fill", "bytes": 70_000_000},
    ],
    ids=["killed", "exit 7", "a line that is too long"],
)
@pytest.mark.contract("CY-024")
async def test_an_end_in_a_turn_is_told_and_the_next_prompt_goes_on(end: Json, stage: Stage) -> None:
    chat = await stage.open(turns=[[*SPEAKS, end, FOREVER]])
    first, queued = chat.prompt("hi"), chat.prompt("ho")
    for call in (first, queued):
        error = await call.error()
        assert error.code == -32603
        assert error.message
    assert chat.text() == "part"
    stage.plan()
    mark = chat.mark
    assert (await chat.ask("again"))["stopReason"] == "end_turn"
    assert chat.text(since=mark) == f"{RESTARTED}again"
    mark = chat.mark
    await chat.is_well()
    assert RESTARTED not in chat.text(since=mark)


async def test_a_clean_end_in_a_turn_ends_the_turn(stage: Stage) -> None:
    chat = await stage.open(turns=[[*SPEAKS, {"do": "exit", "code": 0}]])
    assert (await chat.ask("hi"))["stopReason"] == "end_turn"
    assert chat.text() == "part"


async def test_a_child_that_holds_the_output_open_holds_nothing_up(stage: Stage) -> None:
    chat = await stage.open(turns=[[*SPEAKS, {"do": "child", "seconds": 20}, {"do": "die"}]])
    assert (await chat.prompt("hi").error(within=15)).message == LOST
    stage.plan()
    assert (await chat.ask("again"))["stopReason"] == "end_turn"
    for pid, command in chat.client.mark.living().items():
        if command.startswith("sleep"):
            os.kill(pid, signal.SIGKILL)


async def test_an_idle_without_a_result_answers_the_prompt(stage: Stage) -> None:
    idle = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
    done = {"type": "command_lifecycle", "command_uuid": "$UUID", "state": "completed"}
    chat = await stage.open(turns=[[*SPEAKS, done, idle]])
    error = await chat.prompt("hi").error()
    assert (error.code, error.data) == (-32603, {"errorKind": "no_result"})
    await chat.is_well()


async def test_a_refused_mode_is_an_error_and_the_old_one_stays(stage: Stage) -> None:
    chat = await stage.open(replies={"set_permission_mode": {"error": "not today"}})
    error = await chat.client.call("session/set_mode", {"sessionId": chat.session, "modeId": "plan"}).error()
    assert error.code == -32603
    assert "not today" in error.message
    assert chat.updates("current_mode_update") == []
    await chat.is_well()


@pytest.mark.contract("CY-020")
async def test_a_cancel_drops_the_queue_in_one_request(stage: Stage) -> None:
    chat = await stage.open(turns=[[*SPEAKS, FOREVER]])
    running, queued = chat.prompt("hi"), chat.prompt("ho")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    before = len(fake_cli.received(stage.folder))
    chat.cancel()
    assert (await queued.result()) == {"stopReason": "cancelled"}
    assert (await running.result())["stopReason"] == "cancelled"
    sent = [line["request"] for line in fake_cli.received(stage.folder)[before:] if "request" in line]
    assert sent == [{"subtype": "interrupt", "cancel_queued": True}]
    await chat.is_well()


@pytest.mark.contract("CY-022")
async def test_a_cancel_that_nobody_hears_is_answered_all_the_same(stage: Stage) -> None:
    """By the end of the process here; without one a timer answers, half a minute later."""
    chat = await stage.open(
        ignore=["interrupt"],
        replies={"interrupt": None},
        turns=[[*SPEAKS, {"do": "sleep", "seconds": 1}, {"do": "die"}]],
    )
    call = chat.prompt("hi")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    result = await call.result()
    assert result["stopReason"] == "cancelled"
    assert "usage" not in result


@pytest.mark.slow
async def test_a_cancel_is_answered_although_claude_goes_on_forever(stage: Stage) -> None:
    chat = await stage.open(ignore=["interrupt"], replies={"interrupt": None}, turns=[[*SPEAKS, FOREVER]])
    call = chat.prompt("hi")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"


@pytest.mark.slow
async def test_a_process_that_does_not_want_to_end_is_ended_with_its_session(stage: Stage) -> None:
    chat = await stage.open(ignore=["eof", "sigterm"], turns=[[*SPEAKS, FOREVER]])
    call = chat.prompt("hi")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    assert await chat.client.request("session/close", {"sessionId": chat.session}) == {}
    assert (await call.result())["stopReason"] == "cancelled"
    with anyio.fail_after(HANG):
        while any(chat.session in command for command in claudes(chat.client).values()):  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def test_commands_that_are_listed_before_the_session_is_known_come_behind_its_answer(
    stage: Stage,
) -> None:
    """Servers of a client may connect while its request is served; an update before is for nobody."""
    late = [{"name": "late", "description": "From a server", "argumentHint": ""}]
    listed = {"type": "system", "subtype": "commands_changed", "commands": late}
    chat = await stage.open(start=[listed])
    await chat.client.wait_update("available_commands_update", since=chat.start)
    (update,) = chat.updates("available_commands_update")
    assert "late" in [command["name"] for command in update["availableCommands"]]
