"""The SDK without the two import trees that only its in-process MCP servers need.

`mcp` and `jsonschema` are most of the time and memory of `import claude_agent_sdk`. While the SDK
is imported, stand-ins hold their places in `sys.modules`; afterwards they are gone again, so that
whoever imports the real packages later gets them. What the SDK took from a stand-in stays in its
own modules and does nothing: a process that serves in-process MCP servers needs the full import.
"""

import importlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import ModuleType

FULL_IMPORT = "CLAUDE_ACP_FULL_SDK"
"""Set to `1`: import the SDK with everything it names."""

STAND_INS: Mapping[str, tuple[str, ...]] = {
    "jsonschema": (),
    "mcp": (),
    "mcp.server": ("Server",),
    "mcp.shared": (),
    "mcp.shared.memory": ("create_client_server_memory_streams",),
    "mcp.shared.message": ("SessionMessage",),
    "mcp.types": ("CallToolResult", "ListToolsResult", "RequestId", "Tool", "ToolAnnotations"),
}
"""Every module that the SDK imports from the two trees, and the names it takes from each."""

_SDK = "claude_agent_sdk"
_log = logging.getLogger(__name__)
_lock = Lock()


def load_sdk() -> ModuleType:
    """Import `claude_agent_sdk` once, lean if that works; safe to call from any thread.

    A newer SDK that wants more than the stand-ins have is imported in full, with one log line.
    Raises what the full import raises.
    """
    with _lock:
        if _SDK not in sys.modules and os.environ.get(FULL_IMPORT) != "1":
            try:
                _import_lean()
            except Exception as error:  # whatever a misfit looks like, the full import is the answer
                _log.warning("importing the Claude SDK in full, its lean import failed: %s", error)
        sdk = importlib.import_module(_SDK)
        # It reports the end of a process with a piece of the line that broke it; `Closed` says why.
        logging.getLogger(f"{_SDK}._internal.query").setLevel(logging.CRITICAL)
        return sdk


def _import_lean() -> None:
    with _stand_ins():
        try:
            importlib.import_module(_SDK)
        except Exception:
            _forget(_SDK)
            raise


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Hold the places of the trees that nobody has imported yet."""
    absent = [tree for tree in ("jsonschema", "mcp") if tree not in sys.modules]
    for name, members in STAND_INS.items():
        if name.partition(".")[0] in absent:
            sys.modules[name] = _stand_in(name, members)
    try:
        yield
    finally:
        for tree in absent:
            _forget(tree)


def _stand_in(name: str, members: tuple[str, ...]) -> ModuleType:
    module = ModuleType(name, "Holds the place of a package that the agent never uses.")
    for member in members:
        setattr(module, member, type(member, (_Unused,), {}))
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    return module


class _Unused:
    """A class that the SDK annotates with, or derives from with class arguments."""

    def __init_subclass__(cls, **_arguments: object) -> None:
        super().__init_subclass__()


def _forget(tree: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == tree]:
        del sys.modules[name]
