"""A row of the model list, as Claude Code reports it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

DEFAULT = "default"
"""The value of the row that leaves the choice to Claude Code."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a client may select, and what is known of it."""

    value: str
    name: str
    description: str = ""
    resolved: str | None = None
    """The id of the model behind it."""
    efforts: tuple[str, ...] = ()
    fast: bool = False
    auto: bool | None = None
    """Whether it has the auto mode; `None` when nobody knows the model."""

    @classmethod
    def unknown(cls, value: str, description: str = "") -> Self:
        """A row for an id of which nothing is known."""
        return cls(value, value, description)


def read_models(reported: object) -> tuple[Model, ...]:
    """Read `models` of the initialize reply; rows without a value, or with a repeated one, are left out."""
    listed = reported if isinstance(reported, list) else []
    return unique(_read(row) for row in listed if isinstance(row, Mapping) and _text(row.get("value")))


def unique(models: Iterable[Model]) -> tuple[Model, ...]:
    """The rows without those whose value came before."""
    first: dict[str, Model] = {}
    for model in models:
        first.setdefault(model.value, model)
    return tuple(first.values())


def _read(row: Mapping[str, object]) -> Model:
    value = _text(row.get("value")) or ""
    levels = row.get("supportedEffortLevels")
    efforts = levels if row.get("supportsEffort") is True and isinstance(levels, list) else []
    return Model(
        value=value,
        name=_text(row.get("displayName")) or value,
        description=_text(row.get("description")) or "",
        resolved=_text(row.get("resolvedModel")),
        efforts=tuple(dict.fromkeys(level for level in efforts if _text(level))),
        fast=row.get("supportsFastMode") is True,
        auto=row.get("supportsAutoMode") is True,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
