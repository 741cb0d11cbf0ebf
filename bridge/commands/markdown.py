"""Markdown from values that may hold anything."""

import re

_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")


def escaped(text: str) -> str:
    """The text as plain words on one line (SE-110)."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """The text as a code span, in a fence that nothing in it closes."""
    shown = one_line(text)
    runs = re.findall(r"`+", shown)
    fence = "`" * next(n for n in range(1, len(runs) + 2) if "`" * n not in runs)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())
