"""A Claude Code process under test: what it delivered so far, and waiting for more."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from bridge.claude.frames import Closed, Frame
from bridge.claude.launch import Launch, New
from bridge.claude.process import Claude
from tests.support import fake_cli
from tests.support.processes import Mark

PLAIN_TURN = [
    "system/session_state_changed",
    "command_lifecycle",
    "command_lifecycle",
    "system/init",
    "system/status",
    "user",
    *["stream_event"] * 3,
    "assistant",
    *["stream_event"] * 3,
    "result/success",
    "command_lifecycle",
    "system/session_state_changed",
]
"""Kinds of the frames of a turn that only talks, as the fake CLI plays it."""

FOREVER = {"do": "await", "what": "nothing"}
"""A step of the fake CLI: silence."""

HANG = 60.0
"""Seconds after which a test is stuck; a loaded machine starts the CLI in six."""


class Bench:
    """One process and its stream, as a session would hold them."""

    def __init__(self, tasks: TaskGroup, launch: Launch, gate: Callable[[], Any] | None = None) -> None:
        self.claude = Claude(tasks, gate)
        self.mark = Mark()
        self.launch = replace(launch, env={**launch.env, **self.mark.environment})
        self.items: list[Frame | Closed] = []
        self._news = anyio.Event()

    def take(self, item: Frame | Closed) -> None:
        """What the process delivers to."""
        self.items.append(item)
        self._news.set()

    async def start(self, limit: float = HANG) -> Mapping[str, Any]:
        """Start it and answer its initialize reply."""
        return await self.claude.start(self.launch, self.take, limit)

    def prompt(self, text: str) -> str:
        """Send a user message; its uuid."""
        id = str(uuid.uuid4())
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        line = {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "", "uuid": id}
        self.claude.send(line)
        return id

    async def until(self, met: Callable[[Frame], bool], limit: float = HANG) -> Frame:
        """The first frame that meets a condition, also one that came already."""
        seen = 0
        with anyio.fail_after(limit):
            while True:
                for item in self.items[seen:]:
                    if isinstance(item, Frame) and met(item):
                        return item
                    if isinstance(item, Closed):
                        raise AssertionError(f"closed before the frame came: {item}")
                seen = len(self.items)
                await self._more()

    async def closed(self, limit: float = HANG) -> Closed:
        """The last item."""
        with anyio.fail_after(limit):
            while not self.items or not isinstance(self.items[-1], Closed):
                await self._more()
        last = self.items[-1]
        assert isinstance(last, Closed)
        return last

    async def idle(self) -> None:
        """Wait for the end of the turn."""
        await self.until(lambda frame: frame.raw.get("state") == "idle")

    @property
    def frames(self) -> list[Frame]:
        return [item for item in self.items if isinstance(item, Frame)]

    @property
    def kinds(self) -> list[str]:
        """`type` or `type/subtype` of every frame."""
        return ["/".join(filter(None, (frame.type, frame.subtype))) for frame in self.frames]

    async def _more(self) -> None:
        self._news = anyio.Event()
        await self._news.wait()


def fake_launch(folder: Path, scenario: Mapping[str, Any] | None = None, **changes: Any) -> Launch:
    """A launch of the fake CLI with a scenario in `folder`."""
    env = fake_cli.install(folder, scenario)
    return plain_launch(folder, cli_path=env.pop("CLAUDE_CODE_EXECUTABLE"), env=env, **changes)


def plain_launch(cwd: Path, **changes: Any) -> Launch:
    """The least that a launch says; each has a session of its own."""
    return Launch(
        **{"cwd": str(cwd), "session": New(str(uuid.uuid4())), "permission_mode": "default", **changes}
    )


async def start_fake(
    new_bench: Callable[[Launch], Bench], folder: Path, scenario: Mapping[str, Any] | None = None
) -> Bench:
    """A running fake CLI with a scenario in `folder`."""
    bench = new_bench(fake_launch(folder, scenario))
    await bench.start()
    return bench
