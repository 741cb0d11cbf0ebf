"""The rows of `docs/contract`, and which of them the tests prove.

As a pytest plugin it ends a run with a line for each topic of which the run proved rows, counting
those of its passed tests; `--contract-missing` names the others too. `python -m tests.contract_rows`
says the same from the source of the tests, without running any.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ROOT / "docs" / "contract"
CHECKS = frozenset({"live", "schema", "unit", "property"})
_PROPERTY = "contract"


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement."""

    id: str
    requirement: str
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """One table of a document."""

    document: str
    name: str
    rows: tuple[Row, ...]


def topics(folder: Path = DOCUMENTS) -> list[Topic]:
    """Every table of the contract, by document."""
    return [topic for path in sorted(folder.glob("*.md")) for topic in _tables(path)]


def _tables(path: Path) -> Iterator[Topic]:
    for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, body = section.partition("\n")
        rows = tuple(_row(line) for line in body.splitlines() if re.match(r"\| [A-Z0-9]{2}-", line))
        if rows:
            yield Topic(path.stem, name, rows)


def _row(line: str) -> Row:
    identifier, requirement, checks = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
    return Row(identifier, requirement, tuple(checks.split(", ")))


# ── what the tests say ────────────────────────────────────────────────────────


def cited(folder: Path = ROOT / "tests") -> dict[str, set[str]]:
    """The ids that `contract` markers name, each with the files that name it."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        for identifier in _marked(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(identifier, set()).add(str(path.relative_to(folder)))
    return found


def _marked(tree: ast.AST) -> Iterator[str]:
    """String arguments of every `….mark.contract(…)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.contract"):
            for argument in node.args:
                yield from _strings(argument)


def _strings(argument: ast.expr) -> Iterator[str]:
    return (
        node.value
        for node in ast.walk(argument)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


# ── what is reported ──────────────────────────────────────────────────────────


def report(every: Iterable[Topic], proven: Set[str], *, missing: bool, idle: bool = True) -> Iterator[str]:
    """A line for each topic and the sum.

    With `missing` also the rows that nothing proves, without `idle` no topic of which nothing is proven.
    """
    total = count = 0
    for topic in every:
        open_rows = [row for row in topic.rows if row.id not in proven]
        done = len(topic.rows) - len(open_rows)
        total += len(topic.rows)
        count += done
        if not done and not idle:
            continue
        yield f"{done:4} proven {len(open_rows):4} not yet   {topic.document}: {topic.name}"
        if missing:
            yield from (f"       {row.id}  {row.requirement}  ({', '.join(row.checks)})" for row in open_rows)
    yield f"{count:4} of {total} rows proven"


# ── the plugin ────────────────────────────────────────────────────────────────

_proven: set[str] = set()
_failed: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--contract-missing`."""
    parser.addoption(
        "--contract-missing", action="store_true", help="name the contract rows that no passed test proves"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Put the ids into what a report carries, so that they come back from other processes too."""
    ids = [identifier for mark in item.iter_markers("contract") for identifier in mark.args]
    if ids:
        item.user_properties.append((_PROPERTY, ids))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A row is proven when a test of it passed and none of its tests failed."""
    ids = {
        identifier
        for name, value in report.user_properties
        if name == _PROPERTY and isinstance(value, list)
        for identifier in value
    }
    if report.failed:
        _failed.update(ids)
    elif report.passed and report.when == "call":
        _proven.update(ids)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The topics of which this run proved a row, or all of them when asked for the missing."""
    proven = _proven - _failed
    missing = bool(config.getoption("--contract-missing"))
    if proven or missing:
        terminalreporter.section("contract")
        for line in report(topics(), proven, missing=missing, idle=missing):
            terminalreporter.write_line(line)


def main(arguments: list[str] | None = None) -> int:
    """Print the static report."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract_rows", description=__doc__)
    parser.add_argument("--missing", action="store_true", help="name the rows without a test")
    options = parser.parse_args(arguments)
    for line in report(topics(), cited().keys(), missing=options.missing):
        sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
