"""Claude Code's own account commands, run beside the sessions: `auth status` and `auth logout`."""

import json
import logging
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress

import anyio

from bridge.claude.errors import StartFailed
from bridge.claude.executable import claude_executable

log = logging.getLogger(__name__)

PROBE_LIMIT = 5.0
LOGOUT_LIMIT = 30.0
"""Seconds that the commands get."""

_NICE = 10


class LogoutError(Exception):
    """Claude Code could not sign out; the text is for the user."""

    def __init__(self, text: str, stderr: str | None = None) -> None:
        super().__init__(text)
        self.stderr = stderr


async def auth_status(
    environ: Mapping[str, str], cwd: str | None, settings: Mapping[str, object]
) -> Mapping[str, object] | None:
    """What Claude Code says of its credentials; None when it says nothing usable in time (AU-019)."""
    flags = ["--settings", json.dumps(settings)] if settings else []
    try:
        command = [claude_executable(environ), *flags, "auth", "status", "--json"]
        with anyio.fail_after(PROBE_LIMIT):
            output, _, _ = await _run(command, environ, cwd)
        answer = json.loads(output)
    except TimeoutError:
        raise
    except (OSError, StartFailed, ValueError) as error:
        log.info("the account can't be read: %s", type(error).__name__)
        return None
    return answer if isinstance(answer, Mapping) else None


async def sign_out(environ: Mapping[str, str]) -> None:
    """Sign out of Claude Code; raises LogoutError."""
    try:
        command = [claude_executable(environ), "auth", "logout"]
        with anyio.fail_after(LOGOUT_LIMIT):
            _, errors, status = await _run(command, environ, None)
    except TimeoutError:
        raise LogoutError(f"no answer within {LOGOUT_LIMIT:g} s") from None
    except (OSError, StartFailed) as error:
        raise LogoutError(error.text if isinstance(error, StartFailed) else str(error.strerror)) from error
    if status != 0:
        raise LogoutError(f"exit code {status}", errors.decode(errors="replace").strip()[:1000] or None)


async def _run(command: list[str], environ: Mapping[str, str], cwd: str | None) -> tuple[bytes, bytes, int]:
    """Output, errors and status; the command steps back behind the sessions of the user."""
    with anyio.CancelScope(shield=True):  # a start that is cut would leave its pipes open
        started = await anyio.open_process(
            command, stdin=subprocess.DEVNULL, env=environ, cwd=cwd, start_new_session=True
        )
    async with started as process:
        with suppress(AttributeError, OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        said: dict[str, bytes] = {}

        async def drain(name: str) -> None:
            stream = getattr(process, name)
            said[name] = b"".join([chunk async for chunk in stream])

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(drain, "stdout")
                tasks.start_soon(drain, "stderr")
        except BaseException:
            _end_group(process.pid)
            raise
        return said["stdout"], said["stderr"], await process.wait()


def _end_group(pid: int) -> None:
    """End a command that takes too long, with all that it started."""
    with suppress(AttributeError, ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
