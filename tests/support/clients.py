"""What the kinds of clients declare: the `clientCapabilities` of `initialize`, by name."""

from collections.abc import Mapping
from typing import Any

AIR_NAMES = [
    "diffPatch",
    "sessionFailure",
    "recommendedValue",
    "asyncTasks",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "planFile",
    "rawInputRendering",
]

CAPABILITIES: Mapping[str, Mapping[str, Any]] = {
    "bare": {},
    "plain": {"elicitation": {"form": {}}},
    "zed": {"elicitation": {"form": {}}, "_meta": {"terminal_output": True, "terminal-auth": True}},
    "rfd": {
        "subagents": {},
        "session": {"compaction": {}, "notices": {}},
        "elicitation": {"form": {}},
    },
    "air": {
        "elicitation": {"form": {}, "url": {}},
        "_meta": {
            "terminal_output_delta": True,
            "jetbrains": {"air": {"version": 1, "capabilities": AIR_NAMES}},
        },
    },
    "airmin": {
        "elicitation": {"form": {}},
        "_meta": {"jetbrains": {"air": {"version": 1, "capabilities": []}}},
    },
}
"""`bare` declares nothing; `rfd` the public drafts; `airmin` is AIR without a capability."""
