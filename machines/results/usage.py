"""Token usage of turns, read from the results of Claude Code (M4.4).

1. A result's `usage` is that turn's own main loop; `modelUsage` is a running total over the
   whole conversation, so a turn's share is the difference of two consecutive readings.
2. What is not known is left out: a reading of zeros (an aborted request) counts as unknown.
3. Results of work that Claude Code started itself advance the reading and belong to no turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts of one kind of reading; cache reads and writes are not part of `input`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Everything that passed."""
        return self.input + self.output + self.cache_read + self.cache_write

    def plus(self, other: "Tokens") -> "Tokens":
        """The sum of two readings."""
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    def minus(self, earlier: "Tokens") -> "Tokens":
        """The difference to an earlier reading; a counter that was reset starts anew."""
        if self.total < earlier.total:
            return self
        return Tokens(
            max(0, self.input - earlier.input),
            max(0, self.output - earlier.output),
            max(0, self.cache_read - earlier.cache_read),
            max(0, self.cache_write - earlier.cache_write),
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """What one turn used: the main loop, and by model everything that was asked for it."""

    tokens: Tokens
    by_model: tuple[tuple[str, Tokens], ...] = ()


@dataclass(slots=True)
class Tally:
    """The readings of one process, and what its results add up to for the turn that runs."""

    totals: dict[str, Tokens] | None = None
    """Last cumulative reading by model; None until the first result after a resume."""
    own: Tokens = field(default_factory=Tokens)
    models: dict[str, Tokens] = field(default_factory=dict)

    def begin(self) -> None:
        """Forget what an earlier turn used."""
        self.own, self.models = Tokens(), {}

    def rebase(self) -> None:
        """A new conversation goes on for the same turn: its counters start at zero."""
        self.totals = {}

    def read(
        self, usage: Mapping[str, object] | None, model_usage: Mapping[str, object], *, own: bool
    ) -> Usage | None:
        """Take in one result, and what it alone used, if known; only an own one counts for the turn."""
        cumulative = {model: read_model_tokens(row) for model, row in model_usage.items()}
        before, self.totals = self.totals, {**(self.totals or {}), **cumulative}
        tokens = read_tokens(usage)
        shares: dict[str, Tokens] = {}
        for model, total in cumulative.items():
            share = total.minus(before.get(model, Tokens())) if before is not None else tokens
            if share.total:
                shares[model] = share
        if own:
            self.own = self.own.plus(tokens)
            for model, share in shares.items():
                self.models[model] = self.models.get(model, Tokens()).plus(share)
        return Usage(tokens, tuple(shares.items())) if tokens.total else None

    def usage(self) -> Usage | None:
        """What the turn used so far, or None when nothing is known."""
        if not self.own.total:
            return None
        return Usage(self.own, tuple(self.models.items()))


def read_tokens(usage: object) -> Tokens:
    """Read a Messages API usage object; missing and malformed counts are zero."""
    return _tokens(
        usage, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
    )


def read_model_tokens(row: object) -> Tokens:
    """Read one row of `modelUsage`."""
    return _tokens(row, "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def _tokens(counts: object, *keys: str) -> Tokens:
    values = counts if isinstance(counts, Mapping) else {}
    return Tokens(*(_count(values.get(key)) for key in keys))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
