"""Titles as they are shown."""

from typing import Final

LONGEST_TITLE: Final = 256


def shown_title(text: str) -> str:
    """The text on one line, cut to 256 characters (SE-082)."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"
