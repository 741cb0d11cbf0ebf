"""The models of a session: the list, the matching of names, the labels, the recommendation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.config.models.listing import (
    Selector,
    StartingModel,
    after_refusal,
    chosen_model,
    offered_models,
    selector,
    starting_model,
)
from bridge.config.models.matching import match, match_resumed
from bridge.config.models.names import named
from bridge.config.models.rows import Model, read_models

LEVELS = ["low", "medium", "high", "xhigh", "max"]


def reported_row(value: str, resolved: str, name: str, description: str, **more: Any) -> dict[str, Any]:
    row = {"value": value, "resolvedModel": resolved, "displayName": name, "description": description}
    return row | {"supportsEffort": True, "supportedEffortLevels": LEVELS, "supportsAutoMode": True} | more


REPORTED = [
    reported_row(
        "default",
        "claude-opus-5-5",
        "Default (recommended)",
        "Use the default model (currently Opus 5.5) · $4/$20 per Mtok",
        supportsFastMode=True,
    ),
    reported_row(
        "opus",
        "claude-opus-5-5",
        "Opus",
        "Opus 5.5 · Best for everyday, complex tasks",
        supportsFastMode=True,
    ),
    reported_row("fable", "claude-fable-5-2", "Fable", "Fable 5.2 · Most capable"),
    reported_row("sonnet", "claude-sonnet-5-5", "Sonnet", "Sonnet 5.5 · Efficient for routine tasks"),
    reported_row("haiku", "claude-haiku-5-5", "Haiku", "Haiku 5.5 · Fastest for quick answers"),
]
MODELS = read_models(REPORTED)
DEFAULT, OPUS, FABLE, SONNET, HAIKU = MODELS


def values(models: Any) -> list[str]:
    return [model.value for model in models]


def test_reading_what_claude_code_reports() -> None:
    opus, sonnet = MODELS[1], MODELS[3]

    assert opus == Model(
        "opus",
        "Opus",
        "Opus 5.5 · Best for everyday, complex tasks",
        "claude-opus-5-5",
        tuple(LEVELS),
        fast=True,
        auto=True,
    )
    assert sonnet.fast is False


@pytest.mark.parametrize(
    ("reported", "models"),
    [
        (None, ()),
        ({}, ()),
        ([None, {}, {"value": 7}, {"value": " "}], ()),
        ([{"value": "x"}], (Model("x", "x", auto=False),)),
        (
            [
                {
                    "value": "x",
                    "displayName": 7,
                    "supportsEffort": True,
                    "supportedEffortLevels": ["low", 7, "low", ""],
                }
            ],
            (Model("x", "x", efforts=("low",), auto=False),),
        ),
        ([{"value": "x", "supportedEffortLevels": ["low"]}], (Model("x", "x", auto=False),)),
        (
            [{"value": "x", "displayName": "A"}, {"value": "x", "displayName": "B"}],
            (Model("x", "A", auto=False),),
        ),
    ],
)
def test_malformed_rows_do_no_harm(reported: object, models: tuple[Model, ...]) -> None:
    assert read_models(reported) == models


@pytest.mark.contract("CF-035")
@pytest.mark.parametrize(
    ("available", "overrides", "rows"),
    [
        (None, None, ["default", "opus", "fable", "sonnet", "haiku"]),
        ("sonnet", None, ["default", "opus", "fable", "sonnet", "haiku"]),
        ([], None, ["default"]),
        (["sonnet", "claude-haiku-5-5"], None, ["default", "sonnet", "claude-haiku-5-5"]),
        ([" sonnet ", "sonnet", 7, "", "default"], None, ["default", "sonnet"]),
        (["nope"], None, ["default", "nope"]),
        (["sonnet", "opus"], {"sonnet": "my-sonnet", "opus": 7}, ["default", "my-sonnet", "opus"]),
        (["sonnet"], ["sonnet"], ["default", "sonnet"]),
    ],
)
def test_the_rows_that_the_settings_leave(available: object, overrides: object, rows: list[str]) -> None:
    assert values(offered_models(MODELS, available, overrides)) == rows


@pytest.mark.contract("CF-035")
def test_an_entry_has_the_data_of_its_best_match() -> None:
    _, haiku, unknown = offered_models(MODELS, ["claude-haiku-5-5", "nope"])
    assert (haiku.name, haiku.resolved, haiku.efforts) == ("Haiku", "claude-haiku-5-5", tuple(LEVELS))
    assert unknown == Model("nope", "nope")
    assert offered_models([], ["x"])[0] == Model("default", "Default")


@pytest.mark.contract("CF-036")
def test_the_custom_model_is_the_last_row() -> None:
    custom = Model("my-model", "my-model", "Custom model (my-model)")

    assert offered_models(MODELS, ["sonnet"], custom=" my-model ")[-1] == custom
    assert offered_models(MODELS, custom="my-model")[-1] == custom
    reported = (*MODELS, Model("my-model", "Mine"))
    assert offered_models(reported, ["sonnet"], custom="my-model")[-1] == Model("my-model", "Mine")
    assert values(offered_models(MODELS, custom="  ")) == values(MODELS)


BEDROCK = (
    Model("default", "Default", resolved="us.anthropic.claude-opus-5-5"),
    Model("us.anthropic.claude-sonnet-5-5", "Sonnet", resolved="us.anthropic.claude-sonnet-5-5"),
    Model("us.anthropic.claude-sonnet-4-6", "Sonnet 4.6", resolved="us.anthropic.claude-sonnet-4-6"),
    Model(
        "us.anthropic.claude-sonnet-4-6[1m]",
        "Sonnet 4.6 (1M context)",
        resolved="us.anthropic.claude-sonnet-4-6[1m]",
    ),
    Model("us.anthropic.claude-opus-5-5", "Opus", resolved="us.anthropic.claude-opus-5-5"),
    Model("haiku", "Haiku", resolved="us.anthropic.claude-haiku-4-5-20251001-v1:0"),
)


@pytest.mark.parametrize(
    ("text", "models", "value"),
    [
        ("opus", MODELS, "opus"),
        ("Opus", MODELS, "opus"),
        (" OPUS ", MODELS, "opus"),
        ("Default (recommended)", MODELS, "default"),
        ("claude-haiku-5-5", MODELS, "haiku"),
        ("claude-opus-5-5", MODELS, "opus"),
        ("claude-opus-5-5", MODELS[:1], "default"),
        ("claude-sonnet", MODELS, "sonnet"),
        ("sonn", MODELS, "sonnet"),
        ("claude-haiku-4-5", MODELS, None),
        ("sonnet 4.6", MODELS, None),
        ("opusplan", MODELS, "opus"),
        ("best fable please", MODELS, "fable"),
        ("zzz", MODELS, None),
        ("claude", MODELS, None),
        ("best", MODELS, None),
        ("", MODELS, None),
        ("  ", MODELS, None),
        ("sonnet[1m]", MODELS, "sonnet"),
        ("us.anthropic.claude-sonnet-4-6-1m", BEDROCK, "us.anthropic.claude-sonnet-4-6[1m]"),
        ("claude-sonnet-4-6", BEDROCK, "us.anthropic.claude-sonnet-4-6"),
        ("claude-sonnet-4-6[1m]", BEDROCK, "us.anthropic.claude-sonnet-4-6[1m]"),
        ("sonnet 1m", BEDROCK, "us.anthropic.claude-sonnet-4-6[1m]"),
        ("claude-haiku-4-5", BEDROCK, "haiku"),
        (
            "son[1m]",
            (Model("sonnet", "Sonnet"), Model("sonnet-long", "Long", resolved="x[1m]")),
            "sonnet-long",
        ),
        ("us.anthropic.claude-nova-1", BEDROCK, None),
        ("1m", BEDROCK, None),
    ],
)
def test_which_row_a_text_means(text: str, models: tuple[Model, ...], value: str | None) -> None:
    found = match(text, models)
    assert (found.value if found else None) == value


@pytest.mark.parametrize(
    ("model", "models", "row"),
    [
        ("claude-opus-5-5", MODELS, "default"),
        ("claude-sonnet-5-5", MODELS, "sonnet"),
        ("claude-opus-5-5[1m]", MODELS, "default"),
        ("claude-opus-5-5-1m", MODELS, "default"),
        ("claude-haiku", MODELS, "haiku"),
        ("claude-opus-4-1", MODELS, "claude-opus-4-1"),
    ],
)
def test_the_row_of_a_resumed_model(model: str, models: tuple[Model, ...], row: str) -> None:
    assert match_resumed(model, models).value == row


@pytest.mark.contract("CF-037", "CF-038")
@pytest.mark.parametrize(
    ("sources", "start"),
    [
        ({}, StartingModel(DEFAULT)),
        ({"environment": "sonnet"}, StartingModel(SONNET)),
        ({"environment": "claude-sonnet-5-5"}, StartingModel(SONNET, "sonnet")),
        (
            {"environment": "sonnet", "setting": "haiku", "transcript": "claude-fable-5-2"},
            StartingModel(SONNET),
        ),
        ({"setting": "haiku"}, StartingModel(HAIKU)),
        ({"setting": "Haiku"}, StartingModel(HAIKU, "haiku")),
        (
            {"setting": "haiku", "transcript": "claude-fable-5-2", "resumed": True},
            StartingModel(HAIKU, "haiku"),
        ),
        ({"transcript": "claude-fable-5-2", "resumed": True}, StartingModel(FABLE, "fable")),
        ({"transcript": "claude-fable-5-2"}, StartingModel(DEFAULT)),
        ({"transcript": "claude-opus-5-5", "resumed": True}, StartingModel(DEFAULT, "default")),
        (
            {"transcript": "claude-opus-4-1", "resumed": True},
            StartingModel(Model("claude-opus-4-1", "claude-opus-4-1"), "claude-opus-4-1"),
        ),
        ({"resumed": True}, StartingModel(DEFAULT)),
        ({"environment": "  ", "setting": ""}, StartingModel(DEFAULT)),
    ],
)
def test_the_model_at_the_start(sources: dict[str, Any], start: StartingModel) -> None:
    assert starting_model(MODELS, MODELS, **sources) == start


@pytest.mark.contract("CF-037")
def test_a_name_that_means_no_row_is_passed_over_and_told() -> None:
    start = starting_model(MODELS, MODELS, environment="zzz", setting="sonnet")
    assert (start.model, start.set_model, len(start.warnings)) == (SONNET, None, 1)

    wrong = starting_model(MODELS, MODELS, setting=["sonnet"])
    assert (wrong.model, len(wrong.warnings)) == (DEFAULT, 1)
    assert starting_model((), ()).model == Model("default", "Default")


@pytest.mark.contract("CF-038")
def test_an_override_has_to_be_told_to_claude_code() -> None:
    offered = offered_models(MODELS, ["sonnet"], {"sonnet": "my-sonnet"})
    assert starting_model(offered, MODELS, setting="my-sonnet").set_model == "my-sonnet"


@pytest.mark.contract("CF-039", "CF-040", "CF-041")
def test_when_claude_code_refuses_the_model() -> None:
    hook = "Model switch blocked by a PreModelSwitch hook: no"

    assert after_refusal("Unknown model", MODELS) is None
    assert after_refusal(hook, MODELS) == DEFAULT
    assert after_refusal("Unknown model", MODELS, transcript="claude-sonnet-5-5", resumed=True) == SONNET
    assert after_refusal(hook, MODELS, resumed=True) == DEFAULT


# ── labels ────────────────────────────────────────────────────────────────────


@pytest.mark.contract("CF-044", "CF-045", "CF-046", "CF-047")
@pytest.mark.parametrize(
    ("name", "resolved", "description", "value", "label"),
    [
        ("Sonnet", "claude-sonnet-5", "Sonnet 5 · Efficient", "sonnet", "Sonnet 5"),
        ("Claude Haiku", "claude-haiku-4-5-20251001", "Fast", "haiku", "Claude Haiku 4.5"),
        ("Fable", "claude-fable-5-1", "", "fable", "Fable 5.1"),
        ("Opus (1M context)", "claude-opus-5[1m]", "Opus 5 with 1M context", "opus[1m]", "Opus 5"),
        ("Opus (1M context)", "claude-opus-5-1m", "Opus 5 with 1M context", "opus", "Opus 5"),
        ("Fable (1M context)", "claude-fable-5-1[1m]", "", "fable[1m]", "Fable 5.1 (1M context)"),
        ("Fable (1M context)", "claude-fable-5-1[1m]", "21M context", "fable[1m]", "Fable 5.1 (1M context)"),
        ("Opus 5 (1M context)", "claude-opus-5[1m]", "", "opus[1m]", "Opus 5 (1M context)"),
        ("Opus 5 (1M context)", "claude-opus-5[1m]", "With 1M Context", "opus[1m]", "Opus 5"),
        ("Opus", "us.anthropic.claude-opus-4-6-v1", "", "x", "Opus 4.6"),
        ("Opus", "claude-opus-4-20250514", "", "opus", "Opus 4"),
        ("Sonnet", "claude-3-5-sonnet-20241022", "Sonnet 3.5 · Legacy", "sonnet", "Sonnet 3.5"),
        ("Sonnet", None, "", "claude-sonnet-5-5", "Sonnet 5.5"),
        ("Sonnet", "claude-opus-5", "Opus 5", "opus", "Sonnet"),
        ("Sonnet 4", "claude-sonnet-5", "", "sonnet", "Sonnet 4"),
        ("My Sonnet", "claude-sonnet-5", "Sonnet 5", "mine", "My Sonnet"),
        ("my-custom-model", "my-custom-model", "Custom model", "my-custom-model", "my-custom-model"),
        ("Haiku (1M context)", None, "", "haiku", "Haiku (1M context)"),
        ("Default (recommended)", "claude-opus-5", "", "default", "Default (recommended)"),
        ("Default", "default-5", "", "default", "Default"),
    ],
)
def test_labels(name: str, resolved: str | None, description: str, value: str, label: str) -> None:
    assert named([Model(value, name, description, resolved)])[0].name == label


@pytest.mark.contract("CF-048")
def test_labels_that_would_become_equal_stay_as_they_were() -> None:
    opus = Model("a", "Opus (1M context)", "Opus 5 with 1M context", "claude-opus-5[1m]")
    plain = Model("b", "Opus", "", "claude-opus-5")
    versioned = Model("c", "Opus 5", "", "claude-opus-5")

    assert [model.name for model in named([opus, plain])] == ["Opus (1M context)", "Opus"]
    assert [model.name for model in named([plain, versioned])] == ["Opus", "Opus 5"]


ROWS = st.lists(
    st.builds(
        Model,
        st.sampled_from(["a", "b", "c", "d"]),
        st.sampled_from(["Opus", "Opus 5", "Opus (1M context)", "Opus 5 (1M context)", "Sonnet"]),
        st.sampled_from(["", "with 1M context", "Opus 5"]),
        st.sampled_from([None, "claude-opus-5", "claude-opus-5[1m]", "claude-sonnet-5"]),
    ),
    unique_by=lambda model: model.value,
)


@pytest.mark.contract("CF-048")
@given(ROWS)
def test_labels_are_as_distinct_as_they_were(models: list[Model]) -> None:
    rows = named(models)
    for one, was in zip(rows, models, strict=True):
        for other, other_was in zip(rows, models, strict=True):
            if one.name == other.name:
                assert was.name == other_was.name


@pytest.mark.contract("CF-050")
def test_the_default_row_tells_the_model_behind_it() -> None:
    assert named(MODELS)[0].description == "Opus"
    assert named((DEFAULT, SONNET))[0].description == "claude-opus-5-5"
    assert named([Model("default", "Default", "Mine")])[0].description == "Mine"


# ── the selector ──────────────────────────────────────────────────────────────


@pytest.mark.contract("CF-051", "CF-055", "CF-057", "CF-058")
@pytest.mark.parametrize(
    ("models", "current", "recommend", "shown"),
    [
        (MODELS, DEFAULT, False, Selector(MODELS, "default")),
        (MODELS, SONNET, False, Selector(MODELS, "sonnet")),
        (MODELS, DEFAULT, True, Selector(MODELS[1:], "opus", "opus")),
        (MODELS, SONNET, True, Selector(MODELS[1:], "sonnet", "opus")),
        ((DEFAULT, SONNET), DEFAULT, True, Selector((DEFAULT, SONNET), "default")),
        ((SONNET, HAIKU), HAIKU, True, Selector((SONNET, HAIKU), "haiku")),
        (MODELS, Model("x", "x"), False, Selector((*MODELS, Model("x", "x")), "x")),
        (MODELS, Model("x", "x"), True, Selector((*MODELS[1:], Model("x", "x")), "x", "opus")),
    ],
)
def test_what_the_model_option_shows(
    models: tuple[Model, ...], current: Model, recommend: bool, shown: Selector
) -> None:
    assert selector(models, current, recommend=recommend) == shown


@pytest.mark.contract("CF-056")
@pytest.mark.parametrize(
    ("behind", "row", "found"),
    [
        ("claude-opus-5[1m]", Model("opus", "Opus", resolved="claude-opus-5-1m"), True),
        ("claude-opus-5", Model("opus", "Opus", resolved="Claude-Opus-5"), True),
        ("claude-opus-5", Model("claude-opus-5", "Opus"), True),
        ("claude-opus-5", Model("opus", "Opus", resolved="claude-opus-5[1m]"), False),
        ("claude-opus-5", Model("opus", "Opus", resolved="claude-opus-5-5"), False),
        ("claude-opus-5", Model("opus", "Opus"), False),
        (None, Model("opus", "Opus"), False),
    ],
)
def test_a_recommendation_is_never_guessed(behind: str | None, row: Model, found: bool) -> None:
    default = Model("default", "Default", resolved=behind)
    shown = selector((default, row), default, recommend=True)
    assert (shown.recommended is not None) is found


@pytest.mark.contract("CF-054", "CF-055")
@given(ROWS, st.sampled_from(["a", "b", "default", "z"]), st.sampled_from([None, "claude-opus-5"]))
def test_a_recommendation_can_be_selected(models: list[Model], current: str, behind: str | None) -> None:
    default = Model("default", "Default", resolved=behind)
    offered = [default, *models]
    on = next((model for model in offered if model.value == current), Model(current, current))
    shown = selector(offered, on, recommend=True)

    assert shown.current in values(shown.rows)
    assert shown.recommended is None or shown.recommended in values(shown.rows)
    assert shown.recommended == selector(offered, default, recommend=True).recommended
    if current != "default":
        assert shown.current == current


@pytest.mark.parametrize(
    ("value", "chosen"),
    [("haiku", "haiku"), ("claude-haiku-5-5", "haiku"), ("Opus", "opus"), ("zzz", None), ("default", None)],
)
def test_what_a_client_may_select(value: str, chosen: str | None) -> None:
    found = chosen_model(value, selector(MODELS, DEFAULT, recommend=True))
    assert (found.value if found else None) == chosen
