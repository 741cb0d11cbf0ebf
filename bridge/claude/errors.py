"""What can go wrong with a Claude Code process, in words that say what to do."""

import os
import re
import shutil
from collections.abc import Mapping

from machines.process.process_events import StartFailure

EXECUTABLE = "CLAUDE_CODE_EXECUTABLE"
"""The variable that names another Claude Code than the one the SDK brings along."""

_REMEDY = (
    f"Set {EXECUTABLE} to a Claude Code executable, or unset it to use the one that comes with the agent."
)

_SIGN_IN = {"gateway_signin_required", "org_pin_mismatch", "org_config_refused"}

_UNKNOWN_SESSION = ("No conversation found", "is not a UUID and does not match any session")

_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@")
"""The part of a URL that Claude Code may quote, and that nobody may read."""

_ADVICE = {
    "is already in use": "Load that session instead of starting it anew, or end the process that runs it.",
    "cannot be used with root": "Start the agent as another user, or set IS_SANDBOX=1 inside a sandbox.",
    "unknown option": f"This Claude Code is too old for the agent. Update it. {_REMEDY}",
}
"""Part of a sentence of Claude Code's, and what to do about it where it does not say so."""


class StartFailed(Exception):  # noqa: N818 - a fact, as in the vocabulary of events
    """Claude Code did not come up; the text names the cause and the remedy."""

    def __init__(self, kind: StartFailure, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.reason = reason
        """`startup_failure_reason` of Claude Code, where it gave one."""


class ControlError(Exception):
    """Claude Code refused a control request, or did not answer in time (code `timeout`)."""

    def __init__(self, text: str, code: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class ClaudeGone(Exception):  # noqa: N818 - the name of the error model's third kind
    """The process ended before it answered, or had ended already."""


def find_executable(configured: str | None, environ: Mapping[str, str]) -> str | None:
    """The absolute path to run, None for the SDK's own; raises `StartFailed` for an unusable one."""
    named = configured or environ.get(EXECUTABLE)
    if not named:
        return None
    expanded = os.path.expanduser(named)
    if os.path.dirname(expanded):
        # The process starts in the session's folder, which a relative path must not be read in.
        path = os.path.abspath(expanded)
    else:
        path = shutil.which(expanded, path=environ.get("PATH")) or expanded
    if not os.path.exists(path):
        raise _failed(f"Claude Code was not found at {path}. {_REMEDY}")
    if os.path.isdir(path):
        raise _failed(f"{path} is a directory, not the Claude Code executable in it. {_REMEDY}")
    if not os.access(path, os.X_OK):
        raise _failed(f"{path} is not executable. Run `chmod +x` on it. {_REMEDY}")
    return path


def explain_start(said: str, reason: str | None, executable: str | None) -> StartFailed:
    """Say why a start failed: what is known about it, Claude Code's own reason, and what to do."""
    said = _CREDENTIALS.sub("…@", said)
    if any(part in said for part in _UNKNOWN_SESSION):
        return StartFailed(StartFailure.UNKNOWN_SESSION, said, reason)
    kind = StartFailure.AUTH_REQUIRED if reason in _SIGN_IN else StartFailure.FAILED
    advice = next((advice for part, advice in _ADVICE.items() if part in said), None)
    if advice is None and reason is None and executable is not None:
        advice = f"Check that {executable} runs in a terminal. {_REMEDY}"
    return StartFailed(kind, f"{said}\n{advice}" if advice else said, reason)


def describe_exit(code: int) -> str:
    """One sentence for an exit status; negative ones are signals."""
    if code < 0:
        return f"Claude Code was killed by signal {-code}."
    return f"Claude Code exited with code {code}."


def _failed(text: str) -> StartFailed:
    return StartFailed(StartFailure.FAILED, text)
