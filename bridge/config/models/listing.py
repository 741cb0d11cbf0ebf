"""Which models a session offers and which one it is on.

Use at session creation: `read_models` (in `rows`) of the initialize reply, `offered_models` with the merged
settings, `named` (in `names`) for the labels, `starting_model` and the `set_model` that it asks for, and
`after_refusal` when that fails. For every list of config options: `selector`. Rules: config-and-auth §5.1,
§5.2, §5.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bridge.config.models.matching import match, match_resumed, same_model
from bridge.config.models.rows import DEFAULT, Model, unique

_HOOK_REFUSED = "blocked by a PreModelSwitch hook"


def offered_models(
    reported: Sequence[Model], available: object = None, overrides: object = None, custom: str | None = None
) -> tuple[Model, ...]:
    """The rows of a session, from the settings `availableModels` and `modelOverrides` (CF-035, CF-036).

    Without a list in `available` it is what Claude Code reports. `custom` is
    `ANTHROPIC_CUSTOM_MODEL_OPTION`.
    """
    rows = list(reported)
    if isinstance(available, list):
        default = next((row for row in reported if row.value == DEFAULT), _first(()))
        entries = [entry.strip() for entry in available if isinstance(entry, str) and entry.strip()]
        values = overrides if isinstance(overrides, Mapping) else {}
        rows = [default, *(_entry_row(entry, reported, values) for entry in entries)]
    named = (custom or "").strip()
    if named and all(row.value != named for row in rows):
        known = next((row for row in reported if row.value == named), None)
        rows.append(known or Model.unknown(named, f"Custom model ({named})"))
    return unique(rows)


@dataclass(frozen=True, slots=True)
class StartingModel:
    """The model of a session at its start."""

    model: Model
    set_model: str | None = None
    """What Claude Code has to be told; it is there already otherwise."""
    warnings: tuple[str, ...] = ()


def starting_model(
    models: Sequence[Model],
    reported: Sequence[Model],
    *,
    environment: str | None = None,
    setting: object = None,
    transcript: str | None = None,
    resumed: bool = False,
) -> StartingModel:
    """`ANTHROPIC_MODEL`, the setting `model`, on a resume the transcript's, the first row (CF-037, CF-038).

    A name that means no row is passed over and told.
    """
    warnings: list[str] = []
    if setting is not None and not isinstance(setting, str):
        warnings.append("The setting `model` is no string; it is ignored.")
    sources = (("ANTHROPIC_MODEL", environment), ("The setting `model`", setting))
    for source, requested in sources:
        if not isinstance(requested, str) or not requested.strip():
            continue
        model = match(requested, models)
        if model is not None:
            listed = any(row.value == requested for row in reported)
            there = not resumed and requested == model.value and listed
            return StartingModel(model, None if there else model.value, tuple(warnings))
        warnings.append(f"{source} names no model of this session; it is ignored.")
    if resumed and transcript:
        model = match_resumed(transcript, models)
        return StartingModel(model, model.value, tuple(warnings))
    return StartingModel(_first(models), None, tuple(warnings))


def after_refusal(
    error: str, models: Sequence[Model], *, transcript: str | None = None, resumed: bool = False
) -> Model | None:
    """The model to report when the first `set_model` failed; `None` fails the request (CF-039 … CF-041)."""
    if resumed:
        return match_resumed(transcript, models) if transcript else _first(models)
    return _first(models) if _HOOK_REFUSED in error else None


@dataclass(frozen=True, slots=True)
class Selector:
    """The model option: its rows, its value, and the recommendation of a client that asked for one."""

    rows: tuple[Model, ...]
    current: str
    recommended: str | None = None


def selector(models: Sequence[Model], current: Model, *, recommend: bool) -> Selector:
    """What the model option shows (CF-051, CF-053 … CF-058).

    A current model that is not offered is the last row, until another one is chosen.
    """
    rows = tuple(models) if any(row.value == current.value for row in models) else (*models, current)
    wanted = _recommended(models) if recommend else None
    if wanted is None:
        return Selector(rows, current.value)
    shown = wanted.value if current.value == DEFAULT else current.value
    return Selector(tuple(row for row in rows if row.value != DEFAULT), shown, wanted.value)


def chosen_model(value: str, shown: Selector) -> Model | None:
    """The shown row that a client's value selects, exactly or by name; `None` when it means none."""
    exact = next((row for row in shown.rows if row.value == value), None)
    return exact or match(value, shown.rows)


def _first(models: Sequence[Model]) -> Model:
    return models[0] if models else Model(DEFAULT, "Default")


def _entry_row(entry: str, reported: Sequence[Model], overrides: Mapping[str, object]) -> Model:
    override = overrides.get(entry)
    value = override if isinstance(override, str) and override.strip() else entry
    known = match(entry, reported)
    return replace(known, value=value) if known is not None else Model(value, entry)


def _recommended(models: Sequence[Model]) -> Model | None:
    """The named row of the model behind `default`; nothing is guessed."""
    behind = next((row.resolved for row in models if row.value == DEFAULT), None)
    named = (row for row in models if row.value != DEFAULT)
    return next((row for row in named if same_model(row.resolved or row.value, behind)), None)
