"""The effort of a session: what is shown, what Claude Code is told, what survives a change of model."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.config.effort import (
    Effort,
    Step,
    Sync,
    at_resume,
    at_start,
    at_switch,
    level_name,
    picked,
    recommended_level,
    setting_level,
)
from bridge.config.models.rows import Model

FULL = Model("opus", "Opus", resolved="claude-opus-5[1m]", efforts=("low", "medium", "high", "max"))
SMALL = Model("haiku", "Haiku", efforts=("low", "high"))
NONE = Model("old", "Old")


@pytest.mark.parametrize(
    ("level", "name"),
    [("xhigh", "Xhigh"), ("very_high", "Very High"), ("a-b", "A B"), ("LOW", "LOW"), ("", "")],
)
def test_names_of_levels(level: str, name: str) -> None:
    assert level_name(level) == name


@pytest.mark.contract("CF-059", "CF-060")
def test_the_recommended_level() -> None:
    assert recommended_level(FULL.efforts) == "medium"
    assert recommended_level(SMALL.efforts) == "low"
    assert recommended_level(()) is None


@pytest.mark.contract("CF-072", "CF-073")
@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({}, None),
        ({"effortLevel": "low"}, "low"),
        ({"effortLevel": 7}, None),
        ({"effortLevel": "low", "modelSettings": {"claude-opus-5[1m]": {"effortLevel": "max"}}}, "max"),
        ({"modelSettings": {"claude-opus-5-1m": {"effortLevel": "max"}}}, "max"),
        (
            {
                "modelSettings": {
                    "claude-opus-5-1m": {"effortLevel": "low"},
                    "claude-opus-5[1m]": {"effortLevel": "max"},
                }
            },
            "max",
        ),
        ({"modelSettings": {"raw": {"effortLevel": "a"}, "opus": {"effortLevel": "b"}}}, "b"),
        ({"modelSettings": {"raw": {"effortLevel": "a"}}}, "a"),
        ({"effortLevel": "low", "modelSettings": {"opus": {"effortLevel": 7}}}, "low"),
        ({"effortLevel": "low", "modelSettings": {"opus": "max"}}, "low"),
        ({"effortLevel": "low", "modelSettings": ["opus"]}, "low"),
    ],
)
def test_the_level_of_the_settings(settings: dict[str, Any], level: str | None) -> None:
    assert setting_level(settings, FULL, "raw") == level


def test_a_model_with_no_known_id_has_settings_by_its_value() -> None:
    assert setting_level({"modelSettings": {"haiku": {"effortLevel": "low"}}}, SMALL) == "low"


@pytest.mark.contract("CF-061", "CF-062", "CF-068")
@pytest.mark.parametrize(
    ("model", "option", "setting", "recommend", "step"),
    [
        (FULL, None, None, False, Step(Effort())),
        (FULL, None, "low", False, Step(Effort(shown="low"))),
        (FULL, "high", "low", False, Step(Effort("high", "high", "high"))),
        (FULL, "bogus", "bogus", False, Step(Effort())),
        (
            FULL,
            None,
            None,
            True,
            Step(Effort(None, "medium", "medium"), Sync("medium"), Effort(hidden=True)),
        ),
        (FULL, None, "low", True, Step(Effort(None, "low", "low"), Sync("low"), Effort(hidden=True))),
        (
            FULL,
            None,
            "default",
            True,
            Step(Effort(None, "medium", "medium"), Sync("medium"), Effort(hidden=True)),
        ),
        (
            FULL,
            "high",
            "low",
            True,
            Step(Effort("high", "high", "high"), Sync("high"), Effort("high", "high", "high")),
        ),
        (SMALL, None, None, True, Step(Effort(None, "low", "low"), Sync("low"), Effort(hidden=True))),
        (NONE, "high", "low", True, Step(Effort())),
    ],
)
def test_the_effort_at_the_start(
    model: Model, option: str | None, setting: str | None, recommend: bool, step: Step
) -> None:
    assert at_start(model, option=option, setting=setting, recommend=recommend) == step


@pytest.mark.contract("CF-063", "CF-064", "CF-065", "CF-066", "CF-067", "CF-068", "CF-069", "CF-070")
@pytest.mark.parametrize(
    ("effort", "model", "setting", "recommend", "step"),
    [
        # without recommendations only a pin that the model lacks has to be cleared
        (Effort("max", "max", "max"), FULL, "low", False, Step(Effort("max", "max", "max"))),
        (Effort(shown="low"), SMALL, "high", False, Step(Effort(shown="high"))),
        (Effort(shown="low"), SMALL, None, False, Step(Effort())),
        (
            Effort("max", "max", "max"),
            SMALL,
            "high",
            False,
            Step(Effort(None, "high", None), Sync(None), Effort("max", None, "max", hidden=True)),
        ),
        (
            Effort("max", "max", "max"),
            NONE,
            None,
            False,
            Step(Effort(), Sync(None), Effort("max", None, "max", hidden=True)),
        ),
        # with them the shown level is in force
        (
            Effort("high", "high", "high"),
            SMALL,
            "low",
            True,
            Step(Effort("high", "high", "high"), Sync("high"), Effort("high", "high", "high")),
        ),
        (
            Effort(None, "medium", "medium"),
            SMALL,
            "high",
            True,
            Step(Effort(None, "high", "high"), Sync("high"), Effort(None, None, "medium", hidden=True)),
        ),
        (
            Effort(None, "low", "low"),
            SMALL,
            "high",
            True,
            Step(Effort(None, "high", "high"), Sync("high"), Effort(None, "low", "low")),
        ),
        (
            Effort("max", "max", "max"),
            SMALL,
            None,
            True,
            Step(Effort(None, "low", "low"), Sync("low"), Effort("max", None, "max", hidden=True)),
        ),
        (
            Effort("max", "max", "max"),
            NONE,
            None,
            True,
            Step(Effort(), Sync(None), Effort("max", None, "max", hidden=True)),
        ),
    ],
)
def test_the_effort_after_a_change_of_model(
    effort: Effort, model: Model, setting: str | None, recommend: bool, step: Step
) -> None:
    assert at_switch(effort, model, setting=setting, recommend=recommend) == step


@pytest.mark.contract("CF-064", "CF-071")
@pytest.mark.parametrize(
    ("recommend", "stored", "applied", "shown", "sync"),
    [
        (False, "high", "medium", "high", Sync("high")),
        (False, "medium", "medium", None, None),
        (False, "unknown", "medium", None, None),
        (False, None, "medium", None, None),
        (False, "high", None, "high", Sync("high")),
        (True, "medium", "high", "medium", Sync("medium")),
        (True, "high", "high", "high", Sync("high")),
    ],
)
def test_the_effort_of_a_stored_conversation(
    recommend: bool, stored: str | None, applied: str | None, shown: str | None, sync: Sync | None
) -> None:
    """What Claude Code would not do by itself was somebody's choice."""
    start = at_start(FULL, option=None, setting=None, recommend=recommend)
    step = at_resume(start, FULL, stored, applied)
    assert (step.done.shown, step.sync) == (shown, sync)
    assert step.done.pin == (stored if step is not start else None)


def test_a_choice_of_the_client() -> None:
    before = Effort(None, "medium", "medium")

    assert picked(before, "max") == Step(Effort("max", "max", "max"), Sync("max"), before)
    assert picked(Effort("max", "max", "max"), "default") == Step(
        Effort(), Sync(None), Effort("max", "max", "max")
    )


MOVES = st.lists(
    st.tuples(
        st.sampled_from([FULL, SMALL, NONE]),
        st.sampled_from([None, "low", "high", "bogus"]),
        st.sampled_from([None, "low", "medium", "high", "max"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


@pytest.mark.contract("CF-070")
@given(MOVES)
def test_with_recommendations_no_effort_is_shown_that_is_not_in_force(moves: list[Any]) -> None:
    in_force: str | None = None

    def take(step: Step, works: bool) -> Effort:
        nonlocal in_force
        if step.sync is None:
            return step.done
        if not works:
            assert step.failed is not None
            return step.failed
        in_force = step.sync.level
        return step.done

    effort = take(at_start(FULL, option=None, setting=None, recommend=True), works=True)
    for model, setting, pick, switch_works, pick_works in moves:
        effort = take(at_switch(effort, model, setting=setting, recommend=True), switch_works)
        if pick in model.efforts and not effort.hidden:
            effort = take(picked(effort, pick), pick_works)
        if model.efforts and not effort.hidden:
            assert effort.shown == in_force
            assert effort.shown in model.efforts
