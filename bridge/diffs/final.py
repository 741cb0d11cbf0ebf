"""The change that a tool made: the text it started from against the file on disk.

Rules: `tool-calls` §7.4. The hook's `structuredPatch` is no source: its tabs and line endings are
not those of the file.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from bridge.diffs.files import BYTE_ORDER_MARK, read_shown
from bridge.diffs.patch import Clock, Json, build_patch, patch_block
from bridge.diffs.preview import first_text, resolve


@dataclass(frozen=True, slots=True)
class Change:
    """Content and locations of the tool call after the hook."""

    content: tuple[Json, ...]
    locations: tuple[Json, ...]


def final_change(
    tool: str,
    response: Mapping[str, object],
    input: Mapping[str, object],
    cwd: str,
    clock: Clock = time.monotonic,
    *,
    was_shown: bool = True,
) -> Change | None:
    """The exact patch of the file that an Edit or a Write has written, from its hook.

    `input` is the hook's: its path is absolute, that of the response is as the model wrote it.
    `was_shown` is false after an approval that could not show the old text (`Preview.keeps_text`):
    `originalFile` is then no exact copy, since Claude Code takes CRLF for LF. None when there is no
    exact patch; the caller then shows the standard change (`tool-calls` §7.1).
    """
    path = first_text(input, "file_path", "path") or first_text(response, "filePath")
    created = tool == "Write" and response.get("type") == "create"
    old = None if created else first_text(response, "originalFile")
    if not path or (old is None and not created) or not was_shown or _tells_nothing(tool, response):
        return None
    new = read_shown(resolve(path, cwd))
    if not isinstance(new, str) or new.startswith(BYTE_ORDER_MARK):
        return None
    if created and new != response.get("content"):
        return None  # something else has written the file since
    patch = build_patch(path, old, new, clock)
    if patch is None:
        return None
    block = patch_block(path, patch.text)
    return Change((block,), ({"path": path},) if created else _places(path, patch.lines))


def _tells_nothing(tool: str, response: Mapping[str, object]) -> bool:
    """A Write that wrote what was there, or an Edit that made or filled an empty file: which, is not said."""
    original = response.get("originalFile")
    match tool:
        case "Write":
            return response.get("type") == "update" and response.get("content") == original
        case "Edit":
            return response.get("oldString") == "" and original == ""
        case _:
            return True


def _places(path: str, lines: tuple[int, ...]) -> tuple[Json, ...]:
    return tuple({"path": path, "line": line} for line in lines)
