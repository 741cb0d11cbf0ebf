"""Claude Code itself: which executable, its version, and who pays; it is asked, not guessed."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from bridge.claude.errors import EXECUTABLE, StartFailed
from bridge.claude.executable import claude_executable
from bridge.config.auth import probed_status
from bridge.doctor.report import Row, failed, ok, warning

STEP = 30.0
"""Seconds after which a step hangs."""

SIGN_IN = "Sign in with `claude-acp --cli auth login`, or set ANTHROPIC_API_KEY."
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


class ProbeError(Exception):
    """The program gave no answer; the text says why, without what it wrote."""


def check_claude(environ: Mapping[str, str], within: float = STEP) -> Iterator[Row]:
    """The executable, its version and the sign-in."""
    try:
        path = claude_executable(environ)
    except StartFailed as failure:
        detail, _, remedy = failure.text.rpartition(". ")
        yield failed("Claude Code", detail, remedy)
        yield warning("sign-in", "not tried", "Repair Claude Code first.")
        return
    chosen = f"by {EXECUTABLE}" if environ.get(EXECUTABLE) else "comes with the agent"
    version = _check_version(path, chosen, environ, within)
    yield version
    if version.status == "failed":
        yield warning("sign-in", "not tried", "Repair Claude Code first.")
    else:
        yield _check_sign_in(path, environ, within)


def _check_version(path: str, chosen: str, environ: Mapping[str, str], within: float) -> Row:
    remedy = f"Set {EXECUTABLE} to a Claude Code that runs in a terminal, or unset it."
    if not environ.get(EXECUTABLE):
        remedy = "Install claude-acp anew."
    try:
        said = probe([path, "--version"], environ, within)
    except ProbeError as error:
        return failed("Claude Code", f"{path} {error}", remedy)
    found = _VERSION.match(said)
    if found is None:
        return failed("Claude Code", f"{path} does not say its version", remedy)
    return ok("Claude Code", f"{found[0]}, {path} ({chosen})")


def _check_sign_in(path: str, environ: Mapping[str, str], within: float) -> Row:
    """The kind of account alone, never a name or a key (AU-019)."""
    remedy = "Run `claude-acp --cli auth status` in a terminal to see why."
    try:
        status = probed_status(json.loads(probe([path, "auth", "status", "--json"], environ, within)))
    except ProbeError as error:
        return warning("sign-in", f"Claude Code {error}", remedy)
    except ValueError:
        status = None
    if status is None:
        return warning("sign-in", "Claude Code does not say who pays", remedy)
    return ok("sign-in", status.label) if status.kind != "none" else warning("sign-in", status.label, SIGN_IN)


def probe(command: Sequence[str], environ: Mapping[str, str], within: float) -> str:
    """What a program writes to its standard output, whatever its exit status; `ProbeError` without any."""
    try:
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",
        )  # fmt: skip
    except OSError as error:
        raise ProbeError(f"cannot be run: {error.strerror}") from None
    with process:
        try:
            said = process.communicate(timeout=within)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            _kill(process)
            raise ProbeError(f"did not answer within {within:.0f} s") from None
    if not said.strip():
        raise ProbeError(f"ended with status {process.returncode} and without an answer")
    return said


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End it with all that it started, which may hold the pipe open."""
    if os.name != "posix":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
