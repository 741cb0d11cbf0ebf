"""A process may come up before anyone listens to it; a start goes on with it."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from bridge.claude.errors import StartFailed
from tests.bridge.claude.bench import PLAIN_TURN, fake_launch
from tests.bridge.claude.conftest import NewBench
from tests.support import fake_cli

pytestmark = pytest.mark.anyio


def starts(folder: Path) -> list[int]:
    """Process ids of the fake's starts."""
    return [entry["pid"] for entry in fake_cli.logged(folder) if "pid" in entry]


async def test_a_start_goes_on_with_what_came_up_and_misses_nothing(
    tmp_path: Path, new_bench: NewBench
) -> None:
    bench = new_bench(fake_launch(tmp_path, {"start": [{"type": "early"}]}))
    await bench.claude.spawn(bench.launch)
    spawned = bench.claude.pid
    assert spawned is not None
    await bench.start()
    assert bench.kinds[0] == "early"
    bench.prompt("hello")
    await bench.idle()
    assert bench.kinds[2:] == PLAIN_TURN
    assert starts(tmp_path) == [spawned]


async def test_what_came_up_and_is_not_wanted_is_gone_after_a_stop(
    tmp_path: Path, new_bench: NewBench
) -> None:
    bench = new_bench(fake_launch(tmp_path))
    await bench.claude.spawn(bench.launch)
    await bench.claude.stop()
    assert await bench.mark.wait_gone(10) == {}


async def test_a_stop_ends_what_is_coming_up(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path, {"replies": {"initialize": None}}))
    await bench.claude.spawn(bench.launch)
    assert bench.claude.pid is not None
    await bench.claude.stop()
    with pytest.raises(StartFailed, match="stopped"):
        await bench.start()
    assert await bench.mark.wait_gone(10) == {}


async def test_what_is_said_before_anyone_listens_is_kept(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path))
    await bench.claude.spawn(bench.launch)
    await anyio.sleep(1)
    bench.claude.send({"type": "user", "uuid": "u", "message": {"role": "user", "content": "early"}})
    await anyio.sleep(1)
    await bench.start()
    await bench.idle()
    assert bench.kinds == ["control_response/success", *PLAIN_TURN]


async def test_a_spawn_that_fails_leaves_the_reason_to_the_start(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(replace(fake_launch(tmp_path), cli_path=str(tmp_path / "missing")))
    await bench.claude.spawn(bench.launch)
    with pytest.raises(StartFailed, match="missing"):
        await bench.start()


async def test_a_death_before_the_start_is_told_by_it(tmp_path: Path, new_bench: NewBench) -> None:
    steps = [{"do": "stderr", "text": "the reason"}, {"do": "exit", "code": 3}]
    bench = new_bench(fake_launch(tmp_path, {"start": steps}))
    await bench.claude.spawn(bench.launch)
    await bench.mark.wait_gone(10)
    with pytest.raises(StartFailed, match="the reason"):
        await bench.start()
