"""The kinds of clients that tool calls differ for, and reports made for them."""

from typing import Any

from bridge.capabilities import ClientCapabilities, read_capabilities
from tests.support.oracle import check_outgoing

Update = dict[str, Any]


def declared(*capabilities: str, **meta: object) -> ClientCapabilities:
    """An AIR client with these capabilities, and further `_meta` of its own."""
    air = {"version": 1, "capabilities": [*capabilities]}
    return read_capabilities({"_meta": {**meta, "jetbrains": {"air": air}}})


CLIENTS = {
    "plain": read_capabilities({}),
    "zed": read_capabilities({"_meta": {"terminal_output": True}}),
    "air": declared(
        "diffPatch",
        "rawInputRendering",
        "planFile",
        "asyncTasks",
        terminal_output_delta=True,
        terminal_output=True,
    ),
    "air_bare": declared(),
}
PLAIN, ZED, AIR, AIR_BARE = CLIENTS.values()


def check(update: Update) -> None:
    """Raise AssertionError unless an agent may send this update."""
    params = {"sessionId": "s1", "update": update}
    check_outgoing({"jsonrpc": "2.0", "method": "session/update", "params": params}, {})
