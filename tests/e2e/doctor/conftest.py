"""The doctor as a user runs it: a process of its own, in a place of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.support.sandbox import Sandbox

HANG = 300.0


@dataclass(frozen=True, slots=True)
class Visit:
    """What the doctor said."""

    status: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> dict[str, Any]:
        """The rows of `--json` by their names."""
        return {row["name"]: row for row in json.loads(self.stdout)["rows"]}

    def failed(self) -> list[str]:
        """Names of the rows that failed."""
        return [name for name, row in self.rows.items() if row["status"] == "failed"]


@pytest.fixture
def visit(sandbox: Sandbox) -> Callable[..., Any]:
    """`await visit(env={…})`: the doctor's report as JSON; `as_json=False` for the table."""

    async def run(*, env: Mapping[str, str | None] | None = None, as_json: bool = True) -> Visit:
        command = [sys.executable, "-m", "claude_acp", "doctor", *(["--json"] if as_json else [])]

        def start() -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                command, cwd=sandbox.project, env=sandbox.environment(env), stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=HANG,
            )  # fmt: skip

        with anyio.fail_after(HANG):
            done = await to_thread.run_sync(start)
        assert "Traceback" not in done.stderr, done.stderr
        return Visit(done.returncode, done.stdout, done.stderr)

    return run
