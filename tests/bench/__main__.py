"""Measures the installed agent, alone or beside another one, and prints a table.

    python -m tests.bench
    python -m tests.bench --against "node …/claude-agent-acp"
    python -m tests.bench --only start --runs 9

The wheel of this tree is built and installed into an environment of its own first. The agents take
turns, and a ratio is the median over neighbouring runs, so that a machine that others use too
gives the same ratios as a quiet one. Needs Linux: CPU and memory are read from the system.
"""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Sequence
from functools import partial

from tests.bench.benches import BENCHES, PARTS, Bench, Part
from tests.bench.contestant import Contestant, Installed, installed_wheel
from tests.bench.measure import Row, Sample, table


def main() -> int:
    """Run what the command line asks for."""
    options = _options()
    wanted = [bench for bench in (*BENCHES, *PARTS) if options.only is None or bench.name in options.only]
    with installed_wheel() as installed:
        ours = Contestant("ours", tuple(shlex.split(options.agent))) if options.agent else installed.agent
        agents = [ours]
        if options.against:
            agents.append(Contestant("other", tuple(shlex.split(options.against))))
        rows: list[Row] = []
        for bench in wanted:
            rows += asyncio.run(_measure(bench, options.runs or bench.runs, agents, installed))
    print(table(rows))
    return 0


def _options() -> argparse.Namespace:
    names = ", ".join(bench.name for bench in (*BENCHES, *PARTS))
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the installed agent.")
    parser.add_argument("--against", metavar="COMMAND", help="another stdio agent, for the ratios")
    parser.add_argument("--agent", metavar="COMMAND", help="ours, if it is not the wheel of this tree")
    parser.add_argument("--only", metavar="NAME", action="append", help=f"one of {names}; may be repeated")
    parser.add_argument("--runs", metavar="N", type=int, help="runs of each benchmark")
    return parser.parse_args()


async def _measure(
    bench: Bench | Part, runs: int, agents: Sequence[Contestant], installed: Installed
) -> list[Row]:
    """The rows of a benchmark; a round in which an agent fails is told and left out."""
    takes = (
        [partial(bench.run, installed)]
        if isinstance(bench, Part)
        else [partial(bench.run, it) for it in agents]
    )
    rounds = []
    for number in range(1, runs + 1):
        try:
            rounds.append([await take() for take in takes])
        except Exception as error:
            _tell(f"{bench.name} {number}/{runs} failed: {error!r}")
        else:
            _tell(f"{bench.name} {number}/{runs} {rounds[-1]}")
    return [
        Row(measure, *(_values(measure.key, rounds, place) for place in range(len(takes))))
        for measure in bench.measures
    ]


def _values(key: str, rounds: Sequence[Sequence[Sample]], place: int) -> list[float]:
    return [samples[place][key] for samples in rounds]


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
