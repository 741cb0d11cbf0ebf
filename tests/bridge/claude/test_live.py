"""The real Claude Code through the tap: the order of its frames, asks, hooks, replies and ends."""

import os
import signal
import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import anyio
import pytest

from bridge.claude.errors import ControlError, StartFailed
from bridge.claude.frames import Frame
from bridge.claude.launch import Fork, Launch, New, Resume
from machines.events import StartFailure, StreamEnd
from tests.bridge.claude.bench import Bench, plain_launch
from tests.bridge.claude.conftest import NewBench
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

TOUCH = 'Go. SCRIPT [["I touch.", {"name": "Bash", "input": {"command": "touch made"}}], ["Done."]]'
SLEEP = (
    'Go. SCRIPT [[{"name": "Bash", "input": {"command": "python3 -c \\"import time; time.sleep(300)\\""}}],'
    ' ["Done."]]'
)
STREAM = 'Go. SCRIPT [[{"text": "one two three four five six seven eight nine ten", "pace": 0.3}]]'


NEEDED = {
    "ask_user_question_unanswered_v1",
    "interrupt_cancel_queued_v1",
    "interrupt_receipt_v1",
    "msg_lifecycle_v1",
}
"""Abilities of Claude Code without which the agent would lose prompts or cancels."""


@pytest.fixture
def launch(sandbox: Sandbox) -> Launch:
    """A launch that sees nothing of the developer's."""
    env = sandbox.environment()
    return plain_launch(sandbox.project, env={**env, "CLAUDE_CODE_MAX_RETRIES": "0"})


def is_ask(frame: Frame) -> bool:
    return frame.subtype == "can_use_tool"


def position(bench: Bench, met: Callable[[Frame], bool]) -> int:
    return next(frame.seq for frame in bench.frames if met(frame))


async def started(new_bench: NewBench, launch: Launch) -> Bench:
    bench = new_bench(launch)
    await bench.start()
    return bench


# ── start ─────────────────────────────────────────────────────────────────────


async def test_the_handshake_tells_what_we_build_on(launch: Launch, new_bench: NewBench) -> None:
    bench = new_bench(launch)
    reply = await bench.start()
    assert {"commands", "agents", "models", "account", "claude_code_version"} <= set(reply)
    assert reply["current_permission_mode"] == "default"
    assert reply["hooks_applied"] is True
    assert reply["pid"] == bench.claude.pid
    with pytest.raises(ControlError) as caught:
        await bench.claude.request("set_permission_mode", mode="odd")
    assert caught.value.code == "invalid_mode"
    assert await bench.claude.request("set_permission_mode", mode="plan") == {"mode": "plan"}


async def test_bypass_is_reachable_exactly_when_it_was_allowed(launch: Launch, new_bench: NewBench) -> None:
    for allowed in (True, False):
        bench = await started(
            new_bench, replace(launch, session=New(str(uuid.uuid4())), allow_bypass=allowed)
        )
        if allowed:
            assert await bench.claude.request("set_permission_mode", mode="bypassPermissions")
        else:
            with pytest.raises(ControlError):
                await bench.claude.request("set_permission_mode", mode="bypassPermissions")


async def test_root_outside_a_sandbox_starts_without_the_flag(launch: Launch, new_bench: NewBench) -> None:
    if os.geteuid() != 0:
        pytest.skip("asks what happens to root")
    outside = replace(launch, env={**launch.env, "IS_SANDBOX": "0"})
    await started(new_bench, replace(outside, allow_bypass=True))

    with pytest.raises(StartFailed) as caught:
        await started(new_bench, replace(outside, permission_mode="bypassPermissions"))
    assert caught.value.reason == "bypass_root"
    assert "IS_SANDBOX=1" in caught.value.text


@pytest.mark.parametrize(
    ("session", "kind", "says"),
    [
        (
            Resume("5b0d8ba1-6b0e-4c9a-8d1e-3a1f6f2c9b11"),
            StartFailure.UNKNOWN_SESSION,
            "No conversation found",
        ),
        (Resume("no-uuid"), StartFailure.UNKNOWN_SESSION, "is not a UUID"),
        (New("no-uuid"), StartFailure.FAILED, "Must be a valid UUID"),
    ],
)
async def test_a_session_id_that_cannot_be_used(
    session: New | Resume, kind: StartFailure, says: str, launch: Launch, new_bench: NewBench
) -> None:
    with pytest.raises(StartFailed) as caught:
        await started(new_bench, replace(launch, session=session))
    assert caught.value.kind is kind
    assert says in caught.value.text


async def test_a_flag_that_nobody_knows(launch: Launch, new_bench: NewBench) -> None:
    with pytest.raises(StartFailed) as caught:
        await started(new_bench, replace(launch, flags={"no-such-flag": None}))
    assert "unknown option" in caught.value.text
    assert "Update it." in caught.value.text


async def test_a_proxy_that_is_no_url(launch: Launch, new_bench: NewBench) -> None:
    with pytest.raises(StartFailed) as caught:
        await started(new_bench, replace(launch, env={**launch.env, "HTTPS_PROXY": "not a url"}))
    assert caught.value.reason == "proxy_invalid"
    assert "HTTPS_PROXY" in caught.value.text


# ── turns ─────────────────────────────────────────────────────────────────────


async def test_a_plain_turn_comes_in_the_order_of_claude_code(launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, launch)
    id = bench.prompt('Hi. SCRIPT [["Hello there."]]')
    await bench.idle()

    assert [frame.seq for frame in bench.frames] == list(range(1, len(bench.frames) + 1))
    lifecycle = [frame.raw["state"] for frame in bench.frames if frame.type == "command_lifecycle"]
    assert lifecycle == ["queued", "started", "completed"]
    edges: list[Callable[[Frame], bool]] = [
        lambda frame: frame.raw.get("state") == "running",
        lambda frame: frame.raw.get("state") == "started",
        lambda frame: frame.subtype == "init",
        lambda frame: frame.raw.get("status") == "requesting",
        lambda frame: frame.raw.get("isReplay") is True and frame.raw["uuid"] == id,
        lambda frame: _event(frame) == "message_start",
        lambda frame: _event(frame) == "content_block_delta",
        lambda frame: frame.type == "assistant",
        lambda frame: _event(frame) == "content_block_stop",
        lambda frame: _event(frame) == "message_stop",
        lambda frame: frame.type == "result",
        lambda frame: frame.raw.get("state") == "completed",
        lambda frame: frame.raw.get("state") == "idle",
    ]
    places = [position(bench, edge) for edge in edges]
    assert places == sorted(places)
    init, result = (bench.frames[places[at] - 1].raw for at in (2, 10))
    assert set(cast("list[str]", init["capabilities"])) >= NEEDED
    assert (result["result"], result["user_message_uuids"]) == ("Hello there.", [id])


async def test_an_ask_follows_its_tool_use_and_waits_for_the_reply(
    launch: Launch, sandbox: Sandbox, new_bench: NewBench
) -> None:
    bench = await started(new_bench, launch)
    bench.prompt(TOUCH)
    ask = await bench.until(is_ask)
    request: Any = ask.raw["request"]
    assert request["tool_name"] == "Bash"
    uses = position(bench, lambda frame: request["tool_use_id"] in str(frame.raw.get("message")))
    waits = position(bench, lambda frame: frame.raw.get("state") == "requires_action")
    assert uses < waits < ask.seq
    assert not (sandbox.project / "made").exists()

    bench.claude.reply(str(ask.raw["request_id"]), {"behavior": "allow", "updatedInput": request["input"]})
    hook = await bench.until(lambda frame: frame.subtype == "hook_callback")
    called: Any = hook.raw["request"]
    assert (called["callback_id"], called["tool_use_id"]) == ("PostToolUse", request["tool_use_id"])
    assert called["input"]["tool_response"]["interrupted"] is False
    bench.claude.reply(str(hook.raw["request_id"]), {})
    await bench.idle()

    assert (sandbox.project / "made").exists()
    returned = position(bench, lambda frame: frame.raw.get("tool_use_result") is not None)
    assert hook.seq < returned < position(bench, lambda frame: frame.type == "result")


async def test_a_refused_ask_does_not_run_the_tool(
    launch: Launch, sandbox: Sandbox, new_bench: NewBench
) -> None:
    bench = await started(new_bench, launch)
    bench.prompt(TOUCH)
    bench.claude.refuse(str((await bench.until(is_ask)).raw["request_id"]), "Tool use aborted")
    await bench.idle()
    assert not (sandbox.project / "made").exists()
    assert any("Tool use aborted" in str(frame.raw) for frame in bench.frames if frame.type == "user")


async def test_an_interrupt_withdraws_the_ask_before_its_reply(launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, launch)
    bench.prompt(TOUCH)
    ask = await bench.until(is_ask)
    assert await bench.claude.request("interrupt", cancel_queued=True) == {
        "still_queued": [],
        "cancelled": [],
    }
    await bench.idle()
    withdrawn = next(frame for frame in bench.frames if frame.type == "control_cancel_request")
    assert withdrawn.raw["request_id"] == ask.raw["request_id"]
    reply = position(bench, lambda frame: "still_queued" in str(frame.raw.get("response")))
    result = next(frame for frame in bench.frames if frame.type == "result")
    assert withdrawn.seq < reply < result.seq
    assert result.raw["terminal_reason"] == "aborted_tools"


async def test_an_interrupt_in_the_middle_of_the_stream(launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, launch)
    bench.prompt(STREAM)
    await bench.until(lambda frame: _event(frame) == "content_block_delta")
    reply = await bench.claude.request("interrupt")
    assert reply["still_queued"] == []
    result = await bench.until(lambda frame: frame.type == "result")
    assert result.raw["terminal_reason"] == "aborted_streaming"


async def test_two_megabytes_in_and_out(launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, launch)
    text = "0123456789" * 200_000
    id = bench.prompt(text)
    echo = await bench.until(lambda frame: frame.raw.get("isReplay") is True)
    assert echo.raw["uuid"] == id
    assert text in str(echo.raw["message"])
    await bench.idle()


async def test_the_mirror_carries_what_is_stored(launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, replace(launch, session_mirror=True))
    bench.prompt("/goal Say hello.")
    await bench.until(lambda frame: frame.type == "transcript_mirror" and "goal_status" in str(frame.raw))


async def test_a_session_goes_on_in_another_process_and_in_a_fork(
    launch: Launch, new_bench: NewBench
) -> None:
    first = await started(new_bench, launch)
    first.prompt('My word is marmalade. SCRIPT [["Noted."]]')
    await first.idle()
    await first.claude.stop()
    assert isinstance(launch.session, New)

    with pytest.raises(StartFailed) as caught:
        await started(new_bench, launch)
    assert "Load that session" in caught.value.text

    ids = []
    for session in (Resume(launch.session.id), Fork(launch.session.id, str(uuid.uuid4()))):
        bench = await started(new_bench, replace(launch, session=session))
        bench.prompt('Again. SCRIPT [["Yes."]]')
        ids.append((await bench.until(lambda frame: frame.type == "result")).raw["session_id"])
        await bench.idle()
        await bench.claude.stop()
    assert ids[0] == launch.session.id
    assert ids[1] == session.id


# ── the end ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("prompt", [STREAM, SLEEP], ids=["streaming", "in a tool"])
async def test_a_killed_process_is_reported_as_dead(prompt: str, launch: Launch, new_bench: NewBench) -> None:
    bench = await started(new_bench, replace(launch, permission_mode="bypassPermissions", allow_bypass=True))
    bench.prompt(prompt)
    await bench.until(lambda frame: _event(frame) == "content_block_delta")
    if prompt is SLEEP:
        await _until_slept(bench)
    assert bench.claude.pid is not None
    os.kill(bench.claude.pid, signal.SIGKILL)
    closed = await bench.closed()
    assert (closed.end, closed.exit_code) == (StreamEnd.DIED, -9)
    assert not any(frame.type == "result" for frame in bench.frames)
    await bench.mark.kill()  # the tool that was running is nobody's child now


@pytest.mark.parametrize(
    "prompt", [None, STREAM, SLEEP, TOUCH], ids=["idle", "streaming", "in a tool", "asking"]
)
async def test_nothing_is_left_after_a_stop(prompt: str | None, launch: Launch, new_bench: NewBench) -> None:
    mode = "bypassPermissions" if prompt is SLEEP else "default"
    bench = await started(new_bench, replace(launch, permission_mode=mode, allow_bypass=True))
    if prompt is not None:
        bench.prompt(prompt)
        await bench.until(lambda frame: is_ask(frame) if prompt is TOUCH else frame.type == "stream_event")
    if prompt is SLEEP:
        await _until_slept(bench)
    with anyio.fail_after(30):
        await bench.claude.stop()
    assert bench.claude.pid is None
    assert (await bench.closed()).end is StreamEnd.ENDED
    assert await bench.mark.wait_gone(10) == {}


async def test_a_kill_takes_the_running_tool_along(launch: Launch, new_bench: NewBench) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux lists the children of a process")
    bench = await started(new_bench, replace(launch, permission_mode="bypassPermissions", allow_bypass=True))
    bench.prompt(SLEEP)
    await _until_slept(bench)
    bench.claude.kill()
    assert await bench.mark.wait_gone(10) == {}


async def _until_slept(bench: Bench) -> None:
    """Wait until the tool runs."""
    with anyio.fail_after(60):
        while not any("time.sleep(300)" in command for command in bench.mark.living().values()):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.1)


def _event(frame: Frame) -> str:
    event: Any = frame.raw.get("event", {})
    return str(event.get("type"))
