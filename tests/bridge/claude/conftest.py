"""Processes that end with their test, and must leave nothing behind."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from bridge.claude.launch import Launch
from tests.bridge.claude.bench import Bench

NewBench = Callable[..., Bench]
"""`new_bench(launch, gate=…)`: a process that is stopped when the test ends."""


@pytest.fixture
async def new_bench() -> AsyncIterator[NewBench]:
    benches: list[Bench] = []

    def new(launch: Launch, gate: Callable[[], Any] | None = None) -> Bench:
        benches.append(Bench(tasks, launch, gate))
        return benches[-1]

    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        yield new
        for bench in benches:
            await bench.claude.stop()
            assert await bench.mark.wait_gone(10) == {}
