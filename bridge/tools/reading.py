"""Guarded reads of what the model or Claude Code wrote: any key may be missing or of any type."""

from collections.abc import Mapping

from bridge.tools.facts import Json


def text(value: object) -> str:
    """The string, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def first_text(values: Json, *keys: str) -> str:
    """The first of these keys that holds a non-empty string: a canonical key, then its aliases."""
    return next((found for key in keys if (found := text(values.get(key)))), "")


def number(value: object) -> int | None:
    """The whole number; JSON may write 2.0 for 2, and `true` is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value // 1 else None


def mapping(value: object) -> Json:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Json]:
    """The objects of a list; other items are passed over."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
