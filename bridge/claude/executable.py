"""Which Claude Code is run: the one that the user names, else the one that comes with the SDK."""

import os
from collections.abc import Mapping
from importlib.util import find_spec

from bridge.claude.errors import StartFailed, find_executable
from machines.process.process_events import StartFailure


def claude_executable(environ: Mapping[str, str]) -> str:
    """Its absolute path; raises `StartFailed` when there is none that can be run. Imports no SDK."""
    named = find_executable(None, environ)
    if named is not None:
        return named
    spec = find_spec("claude_agent_sdk")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for name in ("claude", "claude.exe"):
            path = os.path.join(folder, "_bundled", name)
            if os.path.isfile(path):
                return path
    raise StartFailed(StartFailure.FAILED, "No Claude Code was found. Install claude-acp anew.")
