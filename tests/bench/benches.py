"""All benchmarks: what each measures, on which agents, and the goals (ratios: reference adapter 0.101.0)."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import fake, live, stored
from tests.bench.contestant import Contestant, Installed
from tests.bench.measure import Measure, Sample

INSIDE = Path(__file__).with_name("inside.py")


@dataclass(frozen=True, slots=True)
class Bench:
    """One benchmark of whole agents; a run takes one sample of each."""

    name: str
    runs: int
    run: Callable[[Contestant], Awaitable[Sample]]
    measures: Sequence[Measure]


@dataclass(frozen=True, slots=True)
class Part:
    """One benchmark of our installed code alone."""

    name: str
    runs: int
    measures: Sequence[Measure]

    async def run(self, installed: Installed) -> Sample:
        """Take one sample."""
        sample: Sample = json.loads(await installed.output_of(str(INSIDE), self.name))
        return sample


BENCHES = (
    Bench(
        "start",
        15,
        live.start,
        (
            Measure("initialize", "start to `initialize` response", "ms", ratio=0.4),
            Measure("session", "`session/new` response", "ms", ratio=0.65),
            Measure("claude", "the part of it that Claude Code takes alone", "ms"),
            Measure("both", "start to `session/new` response", "ms"),
            Measure("memory", "memory with one session", "MiB", ratio=0.5),
        ),
    ),
    Bench("cancel", 7, live.cancel, (Measure("cancel", "cancel to response", "ms", ratio=1.0),)),
    Bench("deltas", 5, live.deltas, (Measure("deltas", "CPU of 10,000 text deltas", "ms", ratio=0.45),)),
    Bench("calls", 5, live.calls, (Measure("calls", "CPU of a turn with 300 tool calls", "ms", ratio=1.0),)),
    Bench(
        "command",
        5,
        live.command,
        (Measure("command", "CPU of a turn with a command that prints 10 MB", "ms", ratio=1.0),),
    ),
    Bench(
        "output",
        5,
        fake.output,
        (Measure("output", "CPU of a turn with a tool result of 10 MB", "ms", ratio=1.0),),
    ),
    Bench(
        "list",
        3,
        stored.listing,
        (
            Measure("list", "list of 2,000 sessions", "ms", ratio=0.5),
            Measure("again", "the same list, after one of them changed", "ms"),
        ),
    ),
    Bench(
        "load",
        3,
        stored.load,
        (
            Measure("load", "load of 20 MB in 5,000 messages", "ms", ratio=0.5),
            Measure("cpu", "its CPU in the agent", "ms", ratio=0.5),
            Measure("first", "its first update", "ms", ceiling=300),
            Measure("memory", "memory that it took", "MiB"),
        ),
    ),
    Bench(
        "line",
        3,
        stored.line,
        (
            Measure("line", "load of a history with lines of 12 MB", "ms", ceiling=10_000),
            Measure("meanwhile", "the answer of another session meanwhile", "ms", ceiling=2_000),
        ),
    ),
    Bench(
        "growth",
        1,
        fake.growth,
        (
            Measure("peak", "memory that turns of 100,000 deltas need", "MiB"),
            Measure("growth", "what a third and a fourth such turn add", "MiB", ceiling=4),
        ),
    ),
    Bench(
        "turns",
        1,
        fake.turns,
        (Measure("turns", "memory after 1,000 turns, as a multiple of 10", "", ceiling=1.2),),
    ),
)

PARTS = (
    Part(
        "coordinator", 5, (Measure("coordinator", "edge events through the coordinator", "/s", floor=2_000),)
    ),
    Part("writer", 5, (Measure("writer", "updates through the writer", "/s"),)),
    Part("diff", 5, (Measure("diff", "exact patch of a file of 12,000 lines", "ms", ceiling=50),)),
)
