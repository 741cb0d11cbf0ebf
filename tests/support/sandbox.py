"""A place where an agent runs with nothing of the developer's: own home, own configuration."""

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.demo.api import environment

_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "VIRTUAL_ENV")
"""Of the developer's environment; everything else could change what the agent does."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Folders below `root` and the environment that leads there."""

    root: Path
    api_url: str

    @property
    def home(self) -> Path:
        """An empty home: no shell profile can slow the Bash tool down."""
        return self.root / "home"

    @property
    def config(self) -> Path:
        """`CLAUDE_CONFIG_DIR`: settings and transcripts."""
        return self.root / "config"

    @property
    def project(self) -> Path:
        """The working directory of sessions."""
        return self.root / "project"

    def create(self) -> "Sandbox":
        """Make the folders; what is in them stays, so a later agent finds an earlier one's sessions."""
        for folder in (self.home, self.config, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        return self

    def environment(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The whole environment of an agent; a `None` in `more` takes a variable away."""
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        env |= environment(self.api_url)
        env |= {
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PYTHONWARNINGS": "default",
        }
        for name, value in (more or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env


def bundled_cli() -> Path:
    """The real Claude Code CLI: the one in the SDK's wheel, found without importing the SDK."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "_bundled" / "claude"
