"""The effort of a session: which level is shown, which one Claude Code is told, and what a pin is.

Every function answers with a `Step`: the value to send with `apply_flag_settings` (or nothing), and the
state after it worked and after it failed. Use `at_start` at session creation, `at_resume` on top of it
for a stored conversation, `at_switch` after a `set_model` that went through, `picked` for the client's
own choice; `effort_option` (in `options`) shows the state. Rules: config-and-auth §5.5, §5.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bridge.config.models.matching import same_model
from bridge.config.models.rows import DEFAULT, Model


@dataclass(frozen=True, slots=True)
class Effort:
    """What is known about the effort of a session."""

    pin: str | None = None
    """A level that somebody chose; it follows the session from model to model."""
    shown: str | None = None
    """The level that the client sees; `None` is the row `default`."""
    applied: str | None = None
    """The level that Claude Code last took."""
    hidden: bool = False
    """The level in force is not known, so no option is shown until a change works."""


@dataclass(frozen=True, slots=True)
class Sync:
    """`effortLevel` for Claude Code; `None` clears it."""

    level: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A decision: what to send, and the state that follows."""

    done: Effort
    sync: Sync | None = None
    failed: Effort | None = None
    """The state when the sync fails; `None` when nothing is sent."""


def level_name(level: str) -> str:
    """The label of a level: `Xhigh`."""
    return " ".join(part[:1].upper() + part[1:] for part in level.replace("-", "_").split("_") if part)


def recommended_level(levels: Sequence[str]) -> str | None:
    """`medium`, else the first level of the model (CF-059, CF-060)."""
    return "medium" if "medium" in levels else next(iter(levels), None)


def setting_level(settings: Mapping[str, object], model: Model, raw: str | None = None) -> str | None:
    """The level that the merged settings give to a model (CF-072, CF-073).

    `modelSettings` by resolved id, row value and `raw`, the id as it was asked for; each exactly before
    it is compared in canonical form. Then `effortLevel`.
    """
    by_model = _object(settings.get("modelSettings"))
    for key in (model.resolved, model.value, raw):
        if key is None:
            continue
        near = next((name for name in by_model if isinstance(name, str) and same_model(name, key)), key)
        for name in (key, near):
            level = _text(_object(by_model.get(name)).get("effortLevel"))
            if level is not None:
                return level
    return _text(settings.get("effortLevel"))


def at_start(model: Model, *, option: str | None, setting: str | None, recommend: bool) -> Step:
    """The effort of a new process.

    `option` is `options.effort` of the client, with which the process is started; `recommend` says that
    the client declared `recommendedValue` (CF-061, CF-062).
    """
    pin = _valid(option, model)
    shown = _shown(pin or _valid(setting, model), model, recommend)
    done = Effort(pin, shown, applied=pin)
    if not recommend or shown is None:
        return Step(done)
    return Step(replace(done, applied=shown), Sync(shown), _unapplied(done, model))


def at_resume(start: Step, model: Model, stored: str | None, applied: str | None) -> Step:
    """The effort of a process that goes on with a stored conversation.

    `start` is what a new one would begin with, `stored` the level of the last answer, `applied` the
    one that Claude Code has by itself. A level that differs was somebody's choice, so it is a pin.
    """
    level = _valid(stored, model)
    if level is None or level == (start.sync.level if start.sync is not None else applied):
        return start
    return Step(Effort(level, level, level), Sync(level), start.failed or start.done)


def at_switch(effort: Effort, model: Model, *, setting: str | None, recommend: bool) -> Step:
    """The effort after a change of model (CF-063 … CF-070). `setting` is the new model's."""
    pin = _valid(effort.pin, model)
    shown = _shown(pin or _valid(setting, model), model, recommend)
    done = Effort(pin, shown, effort.applied)
    lost_pin = effort.pin is not None and pin is None
    if not recommend and not lost_pin:
        return Step(done)
    level = shown if recommend else None
    return Step(replace(done, applied=level), Sync(level), _unapplied(effort, model))


def picked(effort: Effort, level: str) -> Step:
    """The client's choice of an offered level; a failure changes nothing (CF-064, CF-071)."""
    chosen = None if level == DEFAULT else level
    return Step(Effort(chosen, chosen, chosen), Sync(chosen), effort)


def _shown(level: str | None, model: Model, recommend: bool) -> str | None:
    return recommended_level(model.efforts) if recommend and level is None else level


def _unapplied(effort: Effort, model: Model) -> Effort:
    """Only a level that is in force may be shown."""
    in_force = _valid(effort.applied, model)
    return replace(effort, shown=in_force, hidden=in_force is None)


def _valid(level: str | None, model: Model) -> str | None:
    return level if level in model.efforts else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
