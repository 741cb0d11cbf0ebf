"""The benchmarks themselves: their numbers, and that each still measures what it says."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench import fake
from tests.bench.benches import PARTS, Part
from tests.bench.contestant import ROOT, Contestant, Installed
from tests.bench.measure import Measure, Row, table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads CPU and memory from the system")

HALF = Measure("m", "time", "ms", ratio=0.5)


@pytest.mark.parametrize(
    ("measure", "ours", "other", "verdict"),
    [
        (HALF, [10, 40, 15], [20, 100, 31], "met"),
        (HALF, [10, 60, 16], [20, 100, 31], "missed"),
        (HALF, [10], [], ""),
        (HALF, [], [], "failed"),
        (Measure("m", "time", "ms", ceiling=50), [60, 40, 50], [], "met"),
        (Measure("m", "time", "ms", ceiling=50), [60, 40, 51], [], "missed"),
        (Measure("m", "rate", "/s", floor=50), [60, 40, 50], [], "met"),
        (Measure("m", "rate", "/s", floor=50), [60, 40, 49], [], "missed"),
    ],
)
def test_a_goal_is_met_or_missed_by_the_median(
    measure: Measure, ours: Sequence[float], other: Sequence[float], verdict: str
) -> None:
    assert Row(measure, ours, other).verdict == verdict


def test_the_ratio_is_that_of_neighbouring_runs() -> None:
    assert Row(HALF, [10, 100, 1000], [20, 50, 2000]).ratio == 0.5
    assert Row(HALF, [-1], [2]).ratio is None


def test_the_table_shows_median_spread_ratio_and_verdict() -> None:
    lines = table([Row(HALF, [1, 2, 1200], [4, 4, 4])]).splitlines()

    assert lines[2] == "| time | ms   | 2.00 (1.00–1,200) | 4.00 (4.00–4.00) | 0.50× | ≤ 0.5× | met |"
    assert "other" not in table([Row(HALF, [1])])


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
@pytest.mark.anyio
async def test_a_part_is_measured(part: Part) -> None:
    sample = await part.run(Installed(Path(sys.executable), ROOT))

    assert sample.keys() == {measure.key for measure in part.measures}
    assert min(sample.values()) > 0


@pytest.mark.anyio
async def test_an_agent_is_measured_on_a_played_turn() -> None:
    sample = await fake.output(Contestant("ours", (sys.executable, "-m", "claude_acp")))

    assert sample["output"] > 1
