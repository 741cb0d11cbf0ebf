"""The labels of the model list: short names get their version from what is known of the model.

Use `named` once on the offered rows. Rules: config-and-auth §5.4.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bridge.config.models.rows import DEFAULT, Model

_SHORT = re.compile(
    r"(?P<name>(?:Claude )?(?P<family>[A-Za-z]+))(?P<version> \d+(?:\.\d+)?)?"
    r"(?P<suffix> \((?P<context>\d+[MK] context)\))?"
)


def named(models: Sequence[Model]) -> tuple[Model, ...]:
    """The same rows with complete labels, and with the model's name as the description of `default`."""
    return tuple(
        replace(model, name=name, description=_description(model, models))
        for model, name in zip(models, _distinct(models), strict=True)
    )


def _distinct(models: Sequence[Model]) -> list[str]:
    """The new labels, but the reported ones where two would become equal (CF-048)."""
    names = [_complete(model) for model in models]
    while True:
        counts = Counter(names)
        settled = [
            model.name if counts[name] > 1 else name for model, name in zip(models, names, strict=True)
        ]
        if settled == names:
            return names
        names = settled


@dataclass(frozen=True, slots=True)
class _Label:
    name: str
    family: str
    version: str
    suffix: str
    context: str


def _complete(model: Model) -> str:
    """One label with its version, without a context note that the description has too (CF-044 … CF-047)."""
    found = _SHORT.fullmatch(model.name)
    if found is None or model.value == DEFAULT:
        return model.name
    label = _Label(**{key: text or "" for key, text in found.groupdict().items()})
    version = label.version or _version(label.family, model)
    if not version:
        return model.name
    told = bool(label.context) and re.search(rf"\b{label.context}\b", model.description, re.IGNORECASE)
    return f"{label.name}{version}{'' if told else label.suffix}"


def _version(family: str, model: Model) -> str:
    """The version that follows the family's name, with a blank before it."""
    pattern = re.compile(rf"\b{family}[- ](\d{{1,2}})(?:[-.](\d{{1,2}}))?(?![0-9])", re.IGNORECASE)
    for text in (model.resolved or "", model.description, model.value):
        found = pattern.search(re.sub(r"(\[|-)\d+m\]?\Z", "", text, flags=re.IGNORECASE))
        if found is not None:
            return f" {found[1]}" + (f".{found[2]}" if found[2] else "")
    return ""


def _description(model: Model, models: Sequence[Model]) -> str:
    if model.value != DEFAULT or model.resolved is None:
        return model.description
    named_rows = (row.name for row in models if row.value != DEFAULT and row.resolved == model.resolved)
    return next(named_rows, model.resolved)
