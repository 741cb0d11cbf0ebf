"""The reports of tool calls, for the tests: made for a client, and read in short."""

from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.diffs.patch import patch_block
from bridge.tools.report import ToolReports
from machines.events import ToolReturned, ToolUse
from tests.bridge.tools.clients import CLIENTS, Update, check
from tests.bridge.tools.test_titles import text

COMMAND = ToolUse("t1", "Bash", {"command": "ls", "description": "List"})
READ = ToolUse("t1", "Read", {"file_path": "/w/a.txt"})
EDIT = ToolUse("t1", "Edit", {"file_path": "/w/a.txt", "old_string": "x", "new_string": "y"})
WRITE = ToolUse("t1", "Write", {"file_path": "/w/a.txt", "content": "x"})
PATCH = patch_block("/w/a.txt", "@@ -1 +1 @@\n-x\n+y\n")
NOTICE = text("Overwrites the existing file `/w/a.txt`. The adapter cannot show its current content.")

every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


def reports(client: ClientCapabilities, **more: Any) -> ToolReports:
    return ToolReports(client, "/w", "/h", **more)


def done(content: object = "ok", *, call: str = "t1", **more: Any) -> ToolReturned:
    return ToolReturned(call, content, **more)


def changed(updates: list[Update]) -> dict[str, Any]:
    """The one update, without its id and kind."""
    (update,) = updates
    check(update)
    return {key: value for key, value in update.items() if key not in ("sessionUpdate", "toolCallId")}


def merged(updates: list[Update]) -> dict[str, Any]:
    return {key: value for update in updates for key, value in update.items() if key != "_meta"}
