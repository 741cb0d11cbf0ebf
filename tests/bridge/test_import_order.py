"""What is imported when: a session's process comes up while the code of sessions is imported."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

WITHOUT_SESSIONS = """
import sys
import bridge.claude.tap, bridge.serve
from bridge.claude.lean import load_sdk
from bridge.methods.table import METHODS
print(*sys.modules)
"""


EVERYTHING_OF_V1 = """
import sys
from bridge.claude.lean import load_sdk
load_sdk()
import bridge.agent, bridge.serve, bridge.methods.table, bridge.live.session
print(*sys.modules)
"""


def test_a_client_of_v1_never_loads_v2() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING_OF_V1],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = done.stdout.split()

    assert "bridge.live.work" in loaded
    assert [each for each in loaded if each.startswith(("bridge.v2", "wire.acp.v2"))] == []


def test_the_methods_do_without_the_code_of_sessions() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SESSIONS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = done.stdout.split()

    assert "bridge.methods.opening" in loaded
    slow = ("bridge.live.session", "bridge.tools.report", "bridge.view.screen", "machines.events")
    assert [each for each in slow if each in loaded] == []
