"""The process that came up for a session serves it, unless the session wants another one."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from bridge.claude.launch import New, Resume
from bridge.claude.process import Claude
from bridge.live.process import Mail, SessionProcess
from machines.events import QueryInitialized
from tests.bridge.claude.bench import HANG, fake_launch
from tests.support import fake_cli
from tests.support.processes import Mark

pytestmark = pytest.mark.anyio

ID = "01234567-89ab-4cde-8f01-23456789abcd"


@pytest.mark.parametrize(("mode", "processes"), [("default", 1), ("plan", 2)])
async def test_what_came_up_serves_the_launch_that_it_came_up_for(
    mode: str, processes: int, tmp_path: Path
) -> None:
    mark = Mark()
    launch = fake_launch(tmp_path)
    launch = replace(launch, env={**launch.env, **mark.environment})
    posted: list[Mail] = []
    async with anyio.create_task_group() as tasks:
        spawned = Claude(tasks)
        await spawned.spawn(launch)
        process = SessionProcess(
            tasks, posted.append, lambda: None, None, lambda _: None, lambda _: False, spawned
        )
        process.start(replace(launch, permission_mode=mode))
        with anyio.fail_after(HANG):
            while QueryInitialized() not in posted:  # noqa: ASYNC110 - what is posted wakes nobody
                await anyio.sleep(0.05)
        assert len(mark.living()) == 1
        process.stop()
    starts = [entry["argv"] for entry in fake_cli.logged(tmp_path) if "argv" in entry]
    assert len(starts) == processes
    assert mode in starts[-1]
    assert await mark.wait_gone(10) == {}


@pytest.mark.parametrize(("stored", "flag"), [(True, "--resume"), (False, "--session-id")])
async def test_what_is_on_disk_decides_whether_a_conversation_is_resumed(
    stored: bool, flag: str, tmp_path: Path
) -> None:
    """Claude Code refuses the other way, and its death may come before or after the first record."""
    fresh = replace(fake_launch(tmp_path), session=New(ID))
    posted: list[Mail] = []
    async with anyio.create_task_group() as tasks:
        process = SessionProcess(tasks, posted.append, lambda: None, None, lambda _: None, lambda _: stored)
        process.start(fresh, replace(fresh, session=Resume(ID)))
        with anyio.fail_after(HANG):
            while QueryInitialized() not in posted:  # noqa: ASYNC110 - what is posted wakes nobody
                await anyio.sleep(0.05)
        process.stop()
    (argv,) = [entry["argv"] for entry in fake_cli.logged(tmp_path) if "argv" in entry]
    words = [word for option in argv for word in option.split("=")]
    assert words[words.index(flag) + 1] == ID
    assert {"--resume", "--session-id"} - set(words)
