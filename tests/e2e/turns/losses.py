"""How a session loses its process."""

import os
import signal
from pathlib import Path

import anyio

from tests.e2e.chat import Chat
from tests.support.rpc import HANG


async def kill_claude(chat: Chat) -> None:
    """Kill the CLI of a session."""
    pids = [pid for pid, command in chat.client.mark.living().items() if chat.session in command]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    with anyio.fail_after(HANG):
        while any(Path(f"/proc/{pid}").exists() for pid in pids):  # noqa: ASYNC110, ASYNC240 - no event
            await anyio.sleep(0.02)
