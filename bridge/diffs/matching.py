"""Which lines of two texts stay: unique common lines anchor, Myers fills the gaps between them.

This is git's patience rule with git's default rule where it finds nothing to hold on to. The
standard library's matcher is quadratic on repeated lines and cannot be stopped half-way; here
`check` is called between bounded steps and stops the search by raising.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

Lines = Sequence[str]
Pair = tuple[int, int]
"""A line number of the old text and of the new text that hold the same line."""


class Alignment(SequenceMatcher[str]):
    """The matching lines of two texts, with the standard library's grouping into hunks."""

    def __init__(self, old: Lines, new: Lines, check: Callable[[], None]) -> None:
        super().__init__(None, (), (), autojunk=False)  # given texts, it would index them
        self.a, self.b = old, new
        self._runs = _runs(old, new, check)

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:  # type: ignore[override]  # Match is a tuple
        """Maximal runs `(old line, new line, length)` in order, and the closing run of length 0."""
        return self._runs


def _runs(old: Lines, new: Lines, check: Callable[[], None]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for a, b, size in sorted(_equal_parts(old, new, check)):
        if runs and (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]) == (a, b):
            start_a, start_b, before = runs.pop()
            a, b, size = start_a, start_b, before + size
        runs.append((a, b, size))
    return [*runs, (len(old), len(new), 0)]


def _equal_parts(old: Lines, new: Lines, check: Callable[[], None]) -> list[tuple[int, int, int]]:
    parts: list[tuple[int, int, int]] = []
    work = [(0, len(old), 0, len(new))]
    while work:
        check()
        a, a_end, b, b_end = work.pop()
        head = a
        while a < a_end and b < b_end and old[a] == new[b]:
            a, b = a + 1, b + 1
        tail = a_end
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
        parts += (
            (x, y, n) for x, y, n in ((head, b - a + head, a - head), (a_end, b_end, tail - a_end)) if n
        )
        if a == a_end or b == b_end:
            continue
        if anchors := _anchors(old, new, (a, a_end, b, b_end)):
            # The part before an anchor ends there; the anchor itself heads the next part.
            corners = [(a, b), *anchors, (a_end, b_end)]
            work += ((x, x_end, y, y_end) for (x, y), (x_end, y_end) in pairwise(corners))
        else:
            parts += ((x, y, 1) for x, y in _gap(old, new, (a, a_end, b, b_end), check))
    return parts


def _anchors(old: Lines, new: Lines, part: tuple[int, int, int, int]) -> list[Pair]:
    """The longest ordered chain of lines that occur once on either side, a run of them given by its first."""
    a, a_end, b, b_end = part
    in_old, in_new = Counter(old[a:a_end]), Counter(new[b:b_end])
    place = {new[j]: j for j in range(b, b_end) if in_new[new[j]] == 1 and in_old[new[j]] == 1}
    pairs = [(i, place[old[i]]) for i in range(a, a_end) if old[i] in place]
    chain = _longest_chain(pairs)
    return [pair for k, pair in enumerate(chain) if k == 0 or chain[k - 1] != (pair[0] - 1, pair[1] - 1)]


def _longest_chain(pairs: list[Pair]) -> list[Pair]:
    """The longest subsequence whose second numbers rise; the first numbers do already."""
    ends: list[int] = []  # the smallest second number that ends a chain of each length
    last: list[int] = []  # the pair that does
    before: list[int] = []
    for k, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [k]
    chain: list[Pair] = []
    k = last[-1] if last else -1
    while k >= 0:
        chain.append(pairs[k])
        k = before[k]
    return chain[::-1]


def _gap(old: Lines, new: Lines, part: tuple[int, int, int, int], check: Callable[[], None]) -> list[Pair]:
    """Matches between two anchors; a line that the other side lacks cannot match and is left out first."""
    a, a_end, b, b_end = part
    common = set(old[a:a_end]).intersection(new[b:b_end])
    olds = [i for i in range(a, a_end) if old[i] in common]
    news = [j for j in range(b, b_end) if new[j] in common]
    found = _shortest_edit([old[i] for i in olds], [new[j] for j in news], check)
    return [(olds[x], news[y]) for x, y in found]


def _shortest_edit(old: Lines, new: Lines, check: Callable[[], None]) -> list[Pair]:
    """Myers' greedy search; diagonal k is `x - y`, `far[k]` the furthest x reached on it."""
    rows, columns = len(old), len(new)
    far = [-1] * (rows + columns + 3)
    base = columns + 1
    far[base + 1] = 0
    trace: list[tuple[int, list[int]]] = []
    edits = 0
    while True:  # ends at the latest when everything goes and everything comes
        check()
        low = -edits + 2 * max(0, edits - columns)
        high = edits - 2 * max(0, edits - rows)
        trace.append((low - 1, far[base + low - 1 : base + high + 2]))
        for k in range(low, high + 1, 2):
            x = max(far[base + k + 1], far[base + k - 1] + 1)
            y = x - k
            while x < rows and y < columns and old[x] == new[y]:
                x, y = x + 1, y + 1
            far[base + k] = x
            if x >= rows and y >= columns:
                return _walk_back(trace, x, y)
        edits += 1


def _walk_back(trace: list[tuple[int, list[int]]], x: int, y: int) -> list[Pair]:
    pairs: list[Pair] = []
    for low, far in reversed(trace):
        k = x - y
        down, right = far[k + 1 - low], far[k - 1 - low] + 1
        start = max(down, right)
        while x > start:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = (down, down - k - 1) if down >= right else (right - 1, right - k)
    return pairs[::-1]
