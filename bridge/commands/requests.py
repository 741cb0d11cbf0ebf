"""Control requests that a task waits for; their replies come at their place among the frames."""

from collections.abc import Mapping

import anyio

from bridge.claude.errors import ControlError
from bridge.commands.mcp import McpServer, read_servers
from bridge.live.process import Reply, SessionProcess

STATUS_LIMIT = 5.0
"""Seconds for a reply that only tells something."""
ACTION_LIMIT = 30.0
"""Seconds for a server to start or stop."""
TIMED_OUT = "The request timed out."


async def ask(process: SessionProcess, subtype: str, limit: float, **fields: object) -> Mapping[str, object]:
    """The reply to a control request; raises `ControlError` for a refusal or none in `limit` seconds,
    `ClaudeGone` when the process ends first.
    """
    arrived = anyio.Event()
    replies: list[Reply] = []

    def replied(reply: Reply) -> None:
        replies.append(reply)
        arrived.set()

    process.request(subtype, replied, **fields)
    with anyio.move_on_after(limit):
        await arrived.wait()
    if not replies:
        raise ControlError(TIMED_OUT, "timeout")
    if isinstance(replies[0], Exception):
        raise replies[0]
    return replies[0]


async def ask_servers(process: SessionProcess) -> list[McpServer]:
    """The MCP servers as they are now; raises as `ask` does."""
    return read_servers(await ask(process, "mcp_status", STATUS_LIMIT))
