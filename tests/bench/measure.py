"""What is measured, what each number should be, and the table that says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Sample = Mapping[str, float]
"""What one run of a benchmark measured, by the keys of its measures."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number and its goals; the smaller it is the better, unless it has a `floor`."""

    key: str
    title: str
    unit: str
    ratio: float | None = None
    """The most that it may be, as a part of the other agent's."""
    ceiling: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One measure over all runs, ours and the other agent's."""

    measure: Measure
    ours: Sequence[float]
    other: Sequence[float] = ()

    @property
    def ratio(self) -> float | None:
        """The median of the ratios of neighbouring runs: drift of the machine cancels out."""
        together = zip(self.ours, self.other, strict=False)
        pairs = [ours / other for ours, other in together if ours > 0 and other > 0]
        return median(pairs) if pairs else None

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or `failed` if no run succeeded; empty without a goal or without a ratio."""
        if not self.ours:
            return "failed"
        measure, ratio, ours = self.measure, self.ratio, median(self.ours)
        if measure.ceiling is not None:
            return "met" if ours <= measure.ceiling else "missed"
        if measure.floor is not None:
            return "met" if ours >= measure.floor else "missed"
        if measure.ratio is None or ratio is None:
            return ""
        return "met" if ratio <= measure.ratio else "missed"


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table whose columns are aligned."""
    compared = any(row.other for row in rows)
    heads = ["", "unit", "ours", *(["other", "ratio"] if compared else []), "goal", ""]
    lines = [heads, *(list(_cells(row, compared=compared)) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    text = [_line(line, widths) for line in lines]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([text[0], f"|{rule}|", *text[1:]])


def _cells(row: Row, *, compared: bool) -> Iterator[str]:
    yield row.measure.title
    yield row.measure.unit
    yield _spread(row.ours)
    if compared:
        yield _spread(row.other)
        yield "" if row.ratio is None else f"{row.ratio:.2f}×"
    yield _goal(row.measure)
    yield row.verdict


def _goal(measure: Measure) -> str:
    if measure.ceiling is not None:
        return f"≤ {measure.ceiling:g}"
    if measure.floor is not None:
        return f"≥ {measure.floor:,g}"
    return "" if measure.ratio is None else f"≤ {measure.ratio:g}×"


def _spread(values: Sequence[float]) -> str:
    """The median, and in brackets the least and the most."""
    if len(values) < 2:
        return "".join(map(_number, values))
    return f"{_number(median(values))} ({_number(min(values))}–{_number(max(values))})"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
