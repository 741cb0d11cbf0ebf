"""The change that an approval shows: the tool's input, applied in memory to the file as it is.

Rules: `tool-calls` §7.3. A preview may differ from the file written in the trailing white space of
lines; the final patch corrects it.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from bridge.diffs.files import BYTE_ORDER_MARK, MAX_BYTES, NoText, is_patchable, read_shown, utf8_size
from bridge.diffs.patch import Clock, Json, git_patch, patch_block

_BLANKS = "\t\n\v\f \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Claude Code takes for white space; its own list has the byte order mark too."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Content blocks of an approval, pinned until the hook, the result or a denial."""

    content: tuple[Json, ...]
    keeps_text: bool = False
    """The content is the overwrite notice: `rawInput` must go on to hold the file text (TC-188)."""


def preview(
    tool: str, input: Mapping[str, object], cwd: str, clock: Clock = time.monotonic
) -> Preview | None:
    """What the approval of an Edit or a Write shows to a `diffPatch` client.

    Reads the file at most once and never blocks on one. None: the tool call keeps its own diff.
    """
    path = first_text(input, "file_path", "path")
    if not path:
        return None
    match tool:
        case "Edit":
            return _edit(path, input, read_shown(resolve(path, cwd)), clock)
        case "Write":
            return _write(path, input, read_shown(resolve(path, cwd)), clock)
        case _:
            return None


def resolve(path: str, cwd: str) -> str:
    """Where the tool finds the file."""
    return os.path.join(cwd, path)


def first_text(values: Mapping[str, object], *keys: str) -> str | None:
    """The first of the keys that holds a text."""
    return next((value for key in keys if isinstance(value := values.get(key), str)), None)


def _write(path: str, input: Mapping[str, object], current: str | NoText, clock: Clock) -> Preview | None:
    content = first_text(input, "content", "file_text", "file_content")
    if content is None:
        return None
    if isinstance(current, str) and current.startswith(BYTE_ORDER_MARK):
        content = BYTE_ORDER_MARK + content.removeprefix(BYTE_ORDER_MARK)  # Claude Code keeps it
    if content == current:
        return None
    if current is NoText.UNSHOWABLE:
        notice = f"Overwrites the existing file `{path}`. The adapter cannot show its current content."
        return Preview(({"type": "content", "content": {"type": "text", "text": notice}},), keeps_text=True)
    old = None if current is NoText.MISSING else current
    patch = git_patch(path, old, content, clock) if is_patchable(content) else None
    if patch is not None:
        return Preview((patch_block(path, patch),))
    return Preview(({"type": "diff", "path": path, "oldText": old, "newText": content},))


def _edit(path: str, input: Mapping[str, object], current: str | NoText, clock: Clock) -> Preview | None:
    search, replacement = first_text(input, "old_string"), first_text(input, "new_string")
    if search is None or replacement is None or search == replacement or not is_patchable(replacement):
        return None
    match current:
        case NoText.UNSHOWABLE:
            return None
        case NoText.MISSING:
            old, new = None, replacement if not search else None
        case str():
            old, new = current, _edited(current, search, replacement, every=input.get("replace_all") is True)
        case _:
            assert_never(current)
    patch = None if new is None else git_patch(path, old, new, clock)
    return None if patch is None else Preview((patch_block(path, patch),))


def _edited(text: str, search: str, replacement: str, *, every: bool) -> str | None:
    """The text after the Edit; None when the Edit fails or makes the text too large."""
    if not search:
        return replacement if _is_blank(text) else None
    matches = text.count(search)
    if matches == 0 or (matches > 1 and not every):
        return None
    if not replacement and not search.endswith("\n") and f"{search}\n" in text:
        search += "\n"  # the line goes, not only what was on it
    # Bounded before it is built: many matches that grow could ask for terabytes.
    growth = (utf8_size(replacement) or 0) - (utf8_size(search) or 0)
    if (utf8_size(text) or 0) + matches * max(0, growth) > MAX_BYTES:
        return None
    return text.replace(search, replacement, -1 if every else 1)


def _is_blank(text: str) -> bool:
    return not text.startswith(BYTE_ORDER_MARK) and not text.strip(_BLANKS)
