"""`python -m tests`: every check of the project, and at the end what each of them said.

All of them run; the exit status is that of the first that failed.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COVERAGE = 99
"""Per cent of the branches of `machines` and `wire` that the tests must reach; all of them are reached,
but a few by orders that a random test may leave out one day."""

PYTHON = sys.executable
CHECKS = {
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "diagrams": [PYTHON, "-m", "diagrams", "--check"],
}
WORKERS = str(min((os.cpu_count() or 2) + 1, 6))
"""Each may run an agent and a Claude Code beside itself, and often waits for them: one more than cores."""

TESTS = [
    *(PYTHON, "-m", "pytest"),
    *("-n", WORKERS, "--dist", "loadgroup", "--durations", "5", "--durations-min", "10"),
    *("--cov", "--cov-report", "term:skip-covered", "--cov-fail-under", str(COVERAGE)),
]
CLOSING = re.compile(r"=+ (.*\b(passed|failed|error|errors|deselected|no tests ran)\b.* in [\d.]+s.*) =+")


def main() -> int:
    """Run everything and return the status of the first failure, or 0."""
    statuses: dict[str, int] = {}
    for check, command in CHECKS.items():
        started = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        statuses[check] = done.returncode
        _say(f"{check:9} {_word(done.returncode)} {time.monotonic() - started:5.1f} s")
        if done.returncode:
            _say(done.stdout)
    statuses["tests"], closing = _run_tests()
    _say("")
    for check, status in statuses.items():
        _say(f"{check:9} {_word(status)}")
    _say(closing)
    return next((status for status in statuses.values() if status), 0)


def _run_tests() -> tuple[int, str]:
    """Let pytest speak, and keep the line with which it closes."""
    closing = "pytest did not come to its end"
    with subprocess.Popen(
        TESTS, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pytest:
        assert pytest.stdout is not None
        for line in pytest.stdout:
            _say(line.removesuffix("\n"))
            if CLOSING.fullmatch(line.strip()):
                closing = line.strip()
    return pytest.returncode, closing


def _word(status: int) -> str:
    return "FAILED" if status else "ok    "


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
