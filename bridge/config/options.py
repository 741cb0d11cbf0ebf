"""The config options of a session: one ordered list, and the checks of a change.

Use `config_options` wherever a response or update carries `configOptions`, and `check_change` before any
effect of `session/set_config_option`; whoever applies the change tells Claude Code first and builds the list
again afterwards. Rules: config-and-auth §2, §3.1.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.capabilities import ClientCapabilities
from bridge.config.effort import Effort, level_name, recommended_level
from bridge.config.fast import Fast
from bridge.config.models.listing import Selector, chosen_model, selector
from bridge.config.models.rows import DEFAULT, Model
from bridge.permissions.modes import SessionMode, mode_option
from wire.rpc import INVALID_PARAMS, WireError

Option = dict[str, object]


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """Everything that the options of a session show."""

    modes: Sequence[SessionMode]
    mode: str
    """The reported mode id."""
    model: Model
    models: Sequence[Model] = ()
    effort: Effort = field(default_factory=Effort)
    fast: Fast = field(default_factory=Fast)

    def selector(self, client: ClientCapabilities) -> Selector:
        """The model option for this client."""
        return selector(self.models, self.model, recommend=client.has("recommendedValue"))


def config_options(config: SessionConfig, client: ClientCapabilities) -> list[Option]:
    """The whole list in its order: mode, model, effort, fast (CF-001, CF-034, CF-052)."""
    options = [mode_option(config.modes, config.mode, air=client.air)]
    if config.models:
        options.append(_model_option(config.selector(client)))
    if config.model.efforts and not config.effort.hidden:
        options.append(_effort_option(config, recommend=client.has("recommendedValue")))
    if config.model.fast:
        options.append(_fast_option(config.fast, boolean=client.boolean_options))
    return options


def check_change(
    config: SessionConfig, client: ClientCapabilities, config_id: str, value: str | bool
) -> str | bool:
    """The value to apply; `WireError` for an unknown option, a wrong type or a value that is not offered.

    A model may also be named by a text that means an offered row; its value is returned (CF-033).
    """
    option = next((each for each in config_options(config, client) if each["id"] == config_id), None)
    if option is None:
        raise _invalid(f"Unknown config option: {config_id}")
    takes = "boolean" if option["type"] == "boolean" else "string"
    if isinstance(value, bool) != (takes == "boolean"):
        message = f"Config option {config_id} takes a {takes} value, but received: {json.dumps(value)}"
        raise _invalid(message, {"configId": config_id, "value": value})
    if isinstance(value, bool) or value in _values(option):
        return value
    meant = chosen_model(value, config.selector(client)) if config_id == "model" else None
    if meant is None:
        raise _invalid(f"Invalid value for config option {config_id}: {value}")
    return meant.value


def _model_option(shown: Selector) -> Option:
    rows = [_row(model.value, model.name, model.description) for model in shown.rows]
    return _select("model", "Model", "AI model to use", "model", shown.current, rows) | _air(
        shown.recommended
    )


def _effort_option(config: SessionConfig, *, recommend: bool) -> Option:
    levels = config.model.efforts
    rows = [_row(level, level_name(level)) for level in levels]
    if not recommend:
        rows.insert(0, _row(DEFAULT, "Default"))
    about = "Available effort levels for this model"
    wanted = recommended_level(levels) if recommend else None
    shown = config.effort.shown
    current = shown if shown in levels else wanted or DEFAULT
    return _select("effort", "Effort", about, "thought_level", current, rows) | _air(wanted)


def _fast_option(fast: Fast, *, boolean: bool) -> Option:
    about = fast.description
    if boolean:
        option = _select("fast", "Fast mode", about, "model_config", fast.on, [])
        del option["options"]
        return option | {"type": "boolean"}
    rows = [_row("on", "On"), _row("off", "Off")]
    return _select("fast", "Fast mode", about, "model_config", "on" if fast.on else "off", rows)


def _select(
    config_id: str, name: str, description: str, category: str, current: str | bool, rows: list[Option]
) -> Option:
    return {
        "id": config_id,
        "name": name,
        "description": description,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": rows,
    }


def _row(value: str, name: str, description: str = "") -> Option:
    row: Option = {"value": value, "name": name}
    return row | {"description": description} if description else row


def _air(recommended: str | None) -> Option:
    if recommended is None:
        return {}
    return {"_meta": {"jetbrains": {"air": {"version": 1, "recommendedValue": recommended}}}}


def _values(option: Option) -> set[object]:
    rows = option.get("options")
    return {row["value"] for row in rows if isinstance(row, Mapping)} if isinstance(rows, list) else set()


def _invalid(detail: str, data: object = None) -> WireError:
    return WireError(INVALID_PARAMS, f"Invalid params: {detail}", data)
