"""Every way a process can end, and that it is gone then."""

import os
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from bridge.claude.frames import Closed
from machines.events import StreamEnd
from tests.bridge.claude.bench import FOREVER, PLAIN_TURN, Bench, fake_launch, plain_launch, start_fake
from tests.bridge.claude.conftest import NewBench

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("step", "code", "says"),
    [
        ({"do": "die", "signal": 9}, -9, "killed by signal 9"),
        ({"do": "die", "signal": 15}, -15, "killed by signal 15"),
        ({"do": "exit", "code": 3}, 3, "exited with code 3"),
    ],
)
async def test_a_death_in_the_middle_of_a_turn(
    step: dict[str, Any], code: int, says: str, tmp_path: Path, new_bench: NewBench
) -> None:
    last = [{"type": "last"}, {"do": "stderr", "text": "the reason"}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [[*last, step]]})
    bench.prompt("die")
    closed = await bench.closed()
    assert (closed.seq, closed.end, closed.exit_code) == (3, StreamEnd.DIED, code)
    assert says in closed.text
    assert "the reason" in closed.text
    assert bench.kinds[-1] == "last"
    assert bench.claude.pid is None
    bench.claude.send({"type": "user"})
    await bench.claude.stop()
    assert bench.items[-1] is closed


async def test_the_last_words_are_heard_to_the_end(tmp_path: Path, new_bench: NewBench) -> None:
    words = ["x" * 150_000, "the reason"]
    turn = [*({"do": "stderr", "text": text} for text in words), {"do": "exit", "code": 3}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [turn]})
    bench.prompt("die")
    closed = await bench.closed()
    assert closed.text.splitlines()[-1] == "the reason"
    assert len(closed.text) < 2000


async def test_a_death_right_behind_the_handshake(tmp_path: Path, new_bench: NewBench) -> None:
    response = {"subtype": "success", "request_id": "$REQUEST", "response": {"models": []}}
    steps = [{"type": "control_response", "response": response}, {"do": "exit", "code": 3}]
    bench = new_bench(fake_launch(tmp_path, {"replies": {"initialize": {"steps": steps}}}))
    assert await bench.start() == {"models": []}
    assert (await bench.closed()).end is StreamEnd.DIED


async def test_an_end_that_nobody_asked_for(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path, {"turns": [[{"do": "exit", "code": 0}]]})
    bench.prompt("end")
    assert await bench.closed() == Closed(2, StreamEnd.ENDED, 0, "Claude Code exited with code 0.")


@pytest.mark.parametrize(
    ("text", "says"),
    [("{oops\n", "not JSON"), ('{"n":' + "9" * 5000 + "}\n", "ValueError"), ("[" * 9, "")],
    ids=["garbage", "huge number", "a cut line is no end"],
)
async def test_a_stream_that_breaks_ends_the_process(
    text: str, says: str, tmp_path: Path, new_bench: NewBench, caplog: pytest.LogCaptureFixture
) -> None:
    after = [{"do": "sleep", "seconds": 60}] if says else [{"do": "exit", "code": 0}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [[{"do": "raw", "text": text}, *after]]})
    bench.prompt("break")
    closed = await bench.closed()
    assert closed.end is (StreamEnd.BROKEN if says else StreamEnd.ENDED)
    assert says in closed.text
    assert "oops" not in closed.text
    assert "oops" not in caplog.text
    assert bench.claude.pid is None
    assert await bench.mark.wait_gone(10) == {}


async def test_a_line_above_the_limit_breaks_the_stream(
    tmp_path: Path, new_bench: NewBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = new_bench(fake_launch(tmp_path, {"turns": [[{"do": "fill", "bytes": 70_000_000}, FOREVER]]}))
    await bench.start()
    bench.prompt("fill")
    closed = await bench.closed()
    assert closed.end is StreamEnd.BROKEN
    assert "too long" in closed.text


async def test_a_child_that_holds_the_pipes_does_not_hide_the_death(
    tmp_path: Path, new_bench: NewBench
) -> None:
    turn = [{"type": "last"}, {"do": "child", "seconds": 40}, {"do": "exit", "code": 3}]
    bench = await start_fake(new_bench, tmp_path, {"turns": [turn]})
    bench.prompt("die")
    closed = await bench.closed(limit=30)
    assert (closed.end, closed.exit_code) == (StreamEnd.DIED, 3)
    await bench.mark.kill()
    await anyio.sleep(0.2)  # the pipes close with the last who holds them


DEAF = """#!/usr/bin/env python3
import json, os, sys, time
asked = json.loads(sys.stdin.readline())["request_id"]
os.close(0)
response = {"subtype": "success", "request_id": asked, "response": {}}
print(json.dumps({"type": "control_response", "response": response}), flush=True)
time.sleep(60)
"""


async def test_a_process_that_reads_no_more_is_ended(tmp_path: Path, new_bench: NewBench) -> None:
    program = tmp_path / "claude"
    program.write_text(DEAF)
    program.chmod(0o755)
    bench = new_bench(plain_launch(tmp_path, cli_path=str(program)))
    await bench.start()
    bench.prompt("Hello?")
    assert (await bench.closed(limit=30)).end is StreamEnd.DIED


async def test_stop_ends_the_input_and_may_be_repeated(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path, {"exit_code": 0})
    pid = bench.claude.pid
    bench.prompt("last words")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bench.claude.stop)
        tasks.start_soon(bench.claude.stop)
    await bench.claude.stop()
    assert pid is not None
    assert bench.claude.pid is None
    closed = await bench.closed()
    assert (closed.end, closed.exit_code, closed.text) == (StreamEnd.ENDED, 0, "")
    # What was sent before the stop was read, and its turn played to the end.
    assert bench.kinds[1:] == PLAIN_TURN
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(("ignored", "code"), [(["eof"], -15), (["eof", "sigterm"], -9)])
async def test_stop_insists(ignored: list[str], code: int, tmp_path: Path, new_bench: NewBench) -> None:
    scenario = {"ignore": ignored, "turns": [[{"do": "child", "seconds": 40}, {"type": "deaf"}]]}
    bench = await start_fake(new_bench, tmp_path, scenario)
    bench.prompt("one")
    await bench.until(lambda frame: frame.type == "deaf")
    begin = time.monotonic()
    await bench.claude.stop()
    assert time.monotonic() - begin < 20
    closed = await bench.closed()
    assert (closed.end, closed.exit_code) == (StreamEnd.ENDED, code)
    # Only a kill takes the children along: after SIGTERM Claude Code ends its own.
    if code == -15:
        assert len(bench.mark.living()) == 1
    else:
        assert await bench.mark.wait_gone(10) == {}
    await bench.mark.kill()
    await anyio.sleep(0.2)  # the pipes close with the last who holds them


async def test_stop_survives_the_cancellation_of_its_caller(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(new_bench, tmp_path)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await bench.claude.stop()
    assert await bench.mark.wait_gone(10) == {}


async def test_stop_works_after_the_tasks_were_cancelled(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tasks, fake_launch(tmp_path))
        await bench.start()
        tasks.cancel_scope.cancel()
    await bench.claude.stop()
    assert await bench.mark.wait_gone(10) == {}
    assert isinstance(bench.items[-1], Closed)


async def test_kill_takes_the_children_along(tmp_path: Path, new_bench: NewBench) -> None:
    bench = await start_fake(
        new_bench, tmp_path, {"turns": [[{"do": "child", "seconds": 40}, {"type": "born"}]]}
    )
    bench.prompt("one")
    await bench.until(lambda frame: frame.type == "born")
    with anyio.fail_after(10):
        while len(bench.mark.living()) < 2:  # noqa: ASYNC110 - its environment shows a moment later
            await anyio.sleep(0.02)
    bench.claude.kill()
    assert await bench.mark.wait_gone(10) == {}
    assert (await bench.closed()).exit_code == -9
    bench.claude.kill()


async def test_a_process_that_never_started_can_be_stopped(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path))
    bench.claude.kill()
    await bench.claude.stop()
    assert bench.claude.pid is None
    assert bench.items == []
