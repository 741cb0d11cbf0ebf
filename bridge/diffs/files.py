"""What of a file can be shown: read without blocking, bounded, never an exception."""

import os
import stat
from enum import Enum
from typing import Final

MAX_BYTES: Final = 1 << 20
"""The largest text a patch is made for; exactly this size is allowed (TC-170, TC-172)."""

BYTE_ORDER_MARK: Final = "\ufeff"

_BINARY_PROBE = 8000
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


class NoText(Enum):
    """Why there is no text."""

    MISSING = "no such file"
    UNSHOWABLE = "too large, binary, with a CR, not a file, unreadable, or changing"


def read_shown(path: str) -> str | NoText:
    """The whole text of a regular file that a patch can start from (`tool-calls` §7.3).

    A symlink is no regular file: Claude Code does not write through one. A byte order mark is kept.
    Nothing but a regular file is ever opened, since opening a FIFO or a device has effects.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return NoText.UNSHOWABLE
        data = _read_steady(path)
    except (FileNotFoundError, NotADirectoryError):
        return NoText.MISSING
    except (OSError, ValueError):  # ValueError: a NUL or a lone surrogate in the path
        return NoText.UNSHOWABLE
    if data is None or b"\0" in data[:_BINARY_PROBE] or b"\r" in data:
        return NoText.UNSHOWABLE
    try:
        return data.decode()
    except UnicodeDecodeError:
        return NoText.UNSHOWABLE


def is_patchable(text: str) -> bool:
    """Whether a patch can carry a new text: valid, at most 1 MiB, neither NUL nor CR (TC-172)."""
    return fits(text) and "\0" not in text


def fits(text: str) -> bool:
    """Whether a patch can hold the lines of a text: valid, at most 1 MiB, no CR (TC-162, TC-170)."""
    size = utf8_size(text)
    return size is not None and size <= MAX_BYTES and "\r" not in text


def utf8_size(text: str) -> int | None:
    """The number of bytes, None for a text with a lone surrogate, which has no bytes."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return None


def _read_steady(path: str) -> bytes | None:
    """The bytes of a regular file of at most 1 MiB, None also when it changed meanwhile."""
    handle = os.open(path, _FLAGS)
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode) or before.st_size > MAX_BYTES:
            return None
        data = bytearray()
        while len(data) <= MAX_BYTES and (part := os.read(handle, MAX_BYTES + 1 - len(data))):
            data += part
        after = os.fstat(handle)
    finally:
        os.close(handle)
    steady = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return bytes(data) if steady and len(data) <= MAX_BYTES else None
