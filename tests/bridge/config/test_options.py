"""The list of config options and the checks of a change."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.config.effort import Effort
from bridge.config.fast import Fast
from bridge.config.models.names import named
from bridge.config.models.rows import Model
from bridge.config.options import SessionConfig, check_change, config_options
from bridge.permissions.modes import catalog, mode_option
from tests.support.oracle import check_outgoing
from wire.rpc import INVALID_PARAMS, WireError

LEVELS = ("low", "medium", "max")
MODELS = named(
    [
        Model("default", "Default (recommended)", "x", "claude-opus-5-5", LEVELS, fast=True, auto=True),
        Model("opus", "Opus", "Opus 5.5 · Best", "claude-opus-5-5", LEVELS, fast=True, auto=True),
        Model("sonnet", "Sonnet", "Sonnet 5.5 · Efficient", "claude-sonnet-5-5", LEVELS, auto=True),
        Model("old", "Old"),
    ]
)
MODES = catalog(auto=True, bypass=False)
PLAIN = ClientCapabilities()
AIR = ClientCapabilities(air=True, air_capabilities=frozenset({"recommendedValue"}), boolean_options=True)
CONFIG = SessionConfig(MODES, "default", MODELS[0], MODELS)


def by_id(config: SessionConfig, client: ClientCapabilities) -> dict[str, dict[str, Any]]:
    options = config_options(config, client)
    return {str(option["id"]): option for option in options}


@pytest.mark.contract("CF-001", "CF-034", "CF-051", "CF-052", "CF-075")
def test_all_options_of_a_plain_client() -> None:
    assert config_options(CONFIG, PLAIN) == [
        mode_option(MODES, "default", air=False),
        {
            "id": "model",
            "name": "Model",
            "description": "AI model to use",
            "category": "model",
            "type": "select",
            "currentValue": "default",
            "options": [
                {"value": "default", "name": "Default (recommended)", "description": "Opus"},
                {"value": "opus", "name": "Opus 5.5", "description": "Opus 5.5 · Best"},
                {"value": "sonnet", "name": "Sonnet 5.5", "description": "Sonnet 5.5 · Efficient"},
                {"value": "old", "name": "Old"},
            ],
        },
        {
            "id": "effort",
            "name": "Effort",
            "description": "Available effort levels for this model",
            "category": "thought_level",
            "type": "select",
            "currentValue": "default",
            "options": [
                {"value": "default", "name": "Default"},
                {"value": "low", "name": "Low"},
                {"value": "medium", "name": "Medium"},
                {"value": "max", "name": "Max"},
            ],
        },
        {
            "id": "fast",
            "name": "Fast mode",
            "description": "Faster responses on supported models",
            "category": "model_config",
            "type": "select",
            "currentValue": "off",
            "options": [{"value": "on", "name": "On"}, {"value": "off", "name": "Off"}],
        },
    ]


@pytest.mark.contract("CF-052", "CF-053", "CF-057", "CF-059", "TC-045")
def test_recommendations_of_an_air_client() -> None:
    options = by_id(replace(CONFIG, effort=Effort(None, "medium", "medium"), fast=Fast(True)), AIR)
    recommended = {"jetbrains": {"air": {"version": 1, "recommendedValue": "opus"}}}

    assert options["model"]["_meta"] == recommended
    assert options["model"]["currentValue"] == "opus"
    assert [row["value"] for row in options["model"]["options"]] == ["opus", "sonnet", "old"]
    assert options["effort"]["_meta"]["jetbrains"]["air"] == {"version": 1, "recommendedValue": "medium"}
    assert options["effort"]["currentValue"] == "medium"
    assert [row["value"] for row in options["effort"]["options"]] == ["low", "medium", "max"]
    assert options["fast"] == {
        "id": "fast",
        "name": "Fast mode",
        "description": "Faster responses on supported models",
        "category": "model_config",
        "type": "boolean",
        "currentValue": True,
    }
    assert options["mode"] == mode_option(MODES, "default", air=True)


def test_air_without_the_capability_keeps_the_default_rows() -> None:
    options = by_id(CONFIG, ClientCapabilities(air=True))
    assert "_meta" not in options["model"]
    assert "_meta" not in options["effort"]
    assert options["model"]["currentValue"] == options["effort"]["currentValue"] == "default"


@pytest.mark.contract("CF-066", "CF-070", "CF-075")
@pytest.mark.parametrize(
    ("config", "ids"),
    [
        (replace(CONFIG, model=MODELS[2]), ["mode", "model", "effort"]),
        (replace(CONFIG, model=MODELS[3]), ["mode", "model"]),
        (replace(CONFIG, effort=Effort(hidden=True)), ["mode", "model", "fast"]),
        (replace(CONFIG, models=()), ["mode", "effort", "fast"]),
    ],
)
def test_options_that_do_not_apply_are_left_out(config: SessionConfig, ids: list[str]) -> None:
    assert list(by_id(config, PLAIN)) == ids


def test_a_shown_level_is_one_of_the_model() -> None:
    config = replace(CONFIG, effort=Effort(shown="gone"))
    assert by_id(config, PLAIN)["effort"]["currentValue"] == "default"
    assert by_id(config, AIR)["effort"]["currentValue"] == "medium"


@pytest.mark.contract("CF-033")
@pytest.mark.parametrize(
    ("client", "config_id", "value", "applied"),
    [
        (PLAIN, "mode", "plan", "plan"),
        (PLAIN, "model", "sonnet", "sonnet"),
        (PLAIN, "model", "claude-sonnet-5-5", "sonnet"),
        (PLAIN, "model", "Opus", "opus"),
        (PLAIN, "model", "default", "default"),
        (PLAIN, "effort", "default", "default"),
        (PLAIN, "fast", "on", "on"),
        (AIR, "fast", True, True),
    ],
)
def test_a_change_that_fits(
    client: ClientCapabilities, config_id: str, value: str | bool, applied: object
) -> None:
    assert check_change(CONFIG, client, config_id, value) == applied


@pytest.mark.contract("CF-033")
@pytest.mark.parametrize(
    ("client", "config_id", "value", "message", "data"),
    [
        (PLAIN, "nope", "x", "Unknown config option: nope", None),
        (PLAIN, "agent", "x", "Unknown config option: agent", None),
        (PLAIN, "mode", "bogus", "Invalid value for config option mode: bogus", None),
        (PLAIN, "mode", "dontAsk", "Invalid value for config option mode: dontAsk", None),
        (PLAIN, "model", "zzz", "Invalid value for config option model: zzz", None),
        (AIR, "model", "default", "Invalid value for config option model: default", None),
        (AIR, "effort", "default", "Invalid value for config option effort: default", None),
        (PLAIN, "fast", "maybe", "Invalid value for config option fast: maybe", None),
        (
            AIR,
            "fast",
            "on",
            'Config option fast takes a boolean value, but received: "on"',
            {"configId": "fast", "value": "on"},
        ),
        (
            PLAIN,
            "fast",
            True,
            "Config option fast takes a string value, but received: true",
            {"configId": "fast", "value": True},
        ),
    ],
)
def test_a_change_that_does_not_fit(
    client: ClientCapabilities, config_id: str, value: str | bool, message: str, data: object
) -> None:
    with pytest.raises(WireError) as refused:
        check_change(CONFIG, client, config_id, value)

    assert refused.value.code == INVALID_PARAMS
    assert refused.value.message == f"Invalid params: {message}"
    assert refused.value.data == data


@pytest.mark.contract("CF-034", "CF-054")
@given(
    st.sampled_from([PLAIN, AIR, ClientCapabilities(air=True)]),
    st.sampled_from(MODELS),
    st.sampled_from([None, *LEVELS]),
    st.builds(Fast, st.booleans(), st.sampled_from([None, "free"])),
)
def test_every_list_is_valid(client: ClientCapabilities, model: Model, level: str | None, fast: Fast) -> None:
    options = config_options(replace(CONFIG, model=model, effort=Effort(shown=level), fast=fast), client)
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"configOptions": options}}

    check_outgoing(answer, {1: "session/set_config_option"})
    for option in options:
        rows = option.get("options", [])
        assert isinstance(rows, list)
        offered = [row["value"] for row in rows]
        assert option["type"] == "boolean" or option["currentValue"] in offered
