"""Finds and ends everything that a test started, whoever its parent is now.

A started process carries a mark in its environment, and so does whatever it starts.
"""

import asyncio
import os
import signal
import time
import uuid
from pathlib import Path

_MARK = "CLAUDE_ACP_TEST_RUN"


class Mark:
    """The mark of one started process."""

    def __init__(self) -> None:
        self._value = uuid.uuid4().hex

    @property
    def environment(self) -> dict[str, str]:
        """What the process must find in its environment."""
        return {_MARK: self._value}

    def living(self) -> dict[int, str]:
        """Command lines of the marked processes by id; empty where there is no /proc."""
        found = {}
        needle = f"{_MARK}={self._value}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(entry.name)] = command.strip()
            except OSError:
                continue  # gone meanwhile, or somebody else's
        return found

    async def wait_gone(self, seconds: float) -> dict[int, str]:
        """Wait until none lives, at most for a time; those that still live."""
        deadline = time.monotonic() + seconds
        while (left := self.living()) and time.monotonic() < deadline:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.05)
        return left

    async def kill(self) -> None:
        """End what is left, and what that still starts meanwhile."""
        while left := self.living():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            await self.wait_gone(0.5)
