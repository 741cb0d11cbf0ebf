"""The modes of a session: the catalog, the start, the changes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.permissions.modes import (
    Start,
    bypass_allowed,
    catalog,
    effective_mode,
    mode_before_plan,
    mode_error,
    mode_option,
    mode_state,
    start_mode,
)

FULL = catalog(auto=True, bypass=True)
ROWS = [
    ("default", "Manual", "Always ask before making changes", "standard"),
    ("acceptEdits", "Accept edits", "Automatically accept all file edits", "standard"),
    ("plan", "Plan", "Create a plan before making changes", "plan"),
    ("auto", "Auto", "Claude handles permission decisions", "auto_review"),
    ("bypassPermissions", "Bypass permissions", "Accepts all permissions", "full_access"),
]


@pytest.mark.contract("PM-084", "PM-085", "CF-002", "CF-003")
def test_the_full_catalog() -> None:
    assert [(mode.id, mode.name, mode.description, mode.kind) for mode in FULL] == ROWS


@pytest.mark.contract("PM-084", "PM-088", "CF-009")
@pytest.mark.parametrize("auto", [True, False])
@pytest.mark.parametrize("bypass", [True, False])
def test_modes_that_are_not_available_are_not_offered(auto: bool, bypass: bool) -> None:
    ids = [mode.id for mode in catalog(auto=auto, bypass=bypass)]
    extra = ["auto"] * auto + ["bypassPermissions"] * bypass
    assert ids == ["default", "acceptEdits", "plan", *extra]


@pytest.mark.contract("CF-015")
@pytest.mark.parametrize(
    ("disabled", "uid", "sandbox", "requested", "allowed"),
    [
        (False, 1000, False, None, True),
        (False, None, False, None, True),
        (False, 0, False, None, False),
        (False, 0, True, None, True),
        (True, 1000, True, True, False),
        (False, 1000, False, False, False),
        (False, 1000, False, True, True),
        (False, 1000, False, "false", True),
    ],
)
def test_when_permissions_may_be_bypassed(
    disabled: bool, uid: int | None, sandbox: bool, requested: object, allowed: bool
) -> None:
    assert bypass_allowed(disabled=disabled, uid=uid, sandbox=sandbox, requested=requested) is allowed


@pytest.mark.contract("CF-004", "CF-005", "TC-055")
def test_air_gets_the_same_rows_with_their_kind_in_both_places() -> None:
    modes, option = mode_state(FULL, "plan", air=True), mode_option(FULL, "plan", air=True)

    assert modes["currentModeId"] == option["currentValue"] == "plan"
    assert modes["availableModes"] == [
        {
            "id": id_,
            "name": name,
            "description": text,
            "_meta": {"jetbrains": {"air": {"version": 1, "kind": kind}}},
        }
        for id_, name, text, kind in ROWS
    ]
    assert option["options"] == [
        {
            "value": id_,
            "name": name,
            "description": text,
            "_meta": {"jetbrains": {"air": {"version": 1, "kind": kind}}},
        }
        for id_, name, text, kind in ROWS
    ]


@pytest.mark.contract("CF-006")
def test_other_clients_get_plain_rows() -> None:
    modes = catalog(auto=False, bypass=False)

    assert mode_state(modes, "default", air=False) == {
        "currentModeId": "default",
        "availableModes": [{"id": id_, "name": name, "description": text} for id_, name, text, _ in ROWS[:3]],
    }
    assert mode_option(modes, "default", air=False) == {
        "id": "mode",
        "name": "Mode",
        "description": "Session permission mode",
        "category": "mode",
        "type": "select",
        "currentValue": "default",
        "options": [{"value": id_, "name": name, "description": text} for id_, name, text, _ in ROWS[:3]],
    }


@pytest.mark.contract("PM-086", "CF-016", "CF-017")
@pytest.mark.parametrize(
    ("setting", "mode"),
    [
        (None, "default"),
        ("default", "default"),
        ("manual", "default"),
        (" Manual ", "default"),
        ("ACCEPTEDITS", "acceptEdits"),
        ("plan", "plan"),
        ("Auto", "auto"),
        ("bypass", "bypassPermissions"),
        ("bypassPermissions", "bypassPermissions"),
    ],
)
def test_the_mode_of_the_settings(setting: object, mode: str) -> None:
    assert start_mode(FULL, setting=setting) == Start(mode)


@pytest.mark.contract("CF-018")
@pytest.mark.parametrize(
    "setting", ["", "  ", "yolo", 7, True, ["plan"], {"mode": "plan"}, "x" * 10_000, "a\nb"]
)
def test_a_setting_that_names_no_mode_is_told_and_ignored(setting: object) -> None:
    start = start_mode(FULL, setting=setting)

    assert start.mode == start.reported == "default"
    assert len(start.warnings) == 1
    assert len(start.warnings[0]) < 200
    assert "\n" not in start.warnings[0]


@pytest.mark.contract("PM-091", "CF-013")
@pytest.mark.parametrize(("setting", "mode"), [("bypass", "bypassPermissions"), ("auto", "auto")])
def test_a_setting_that_is_not_available_falls_back_to_default(setting: str, mode: str) -> None:
    assert start_mode(catalog(auto=False, bypass=False), setting=setting) == Start(
        "default",
        (f'permissions.defaultMode "{mode}" is not available in this session; falling back to "default".',),
    )


@pytest.mark.contract("PM-087", "PM-088")
def test_dont_ask_runs_and_shows_as_default() -> None:
    start = start_mode(FULL, setting="dontAsk")

    assert (start.mode, start.reported) == ("dontAsk", "default")
    assert len(start.warnings) == 1


@pytest.mark.parametrize(
    ("given_modes", "mode"),
    [
        ({"explicit": "plan", "transcript": "auto", "setting": "acceptEdits"}, "plan"),
        ({"explicit": "dontAsk", "setting": "plan"}, "dontAsk"),
        ({"transcript": "acceptEdits", "setting": "plan"}, "acceptEdits"),
        ({"setting": "plan"}, "plan"),
        ({}, "default"),
    ],
)
def test_what_a_session_had_comes_before_the_settings(given_modes: dict[str, Any], mode: str) -> None:
    assert start_mode(FULL, **given_modes) == Start(mode)


def test_a_mode_that_the_session_lost_gives_way_to_the_settings() -> None:
    modes = catalog(auto=True, bypass=False)
    assert start_mode(modes, explicit="bypassPermissions", setting="plan") == Start("plan")


@pytest.mark.parametrize("transcript", ["dontAsk", "bypassPermissions", "Plan", "yolo", ""])
def test_a_mode_of_the_transcript_that_is_not_available_is_told(transcript: str) -> None:
    start = start_mode(catalog(auto=True, bypass=False), transcript=transcript, setting="plan")
    line = (
        f'Ignoring permission mode "{transcript}" of the resumed transcript: not available in this session.'
    )
    assert start == Start("plan", (line,))


@pytest.mark.contract("CF-021", "CF-022")
@pytest.mark.parametrize(
    ("mode", "supports", "effective"),
    [
        ("auto", False, ("acceptEdits", True)),
        ("auto", True, ("auto", False)),
        ("auto", None, ("auto", False)),
        ("plan", False, ("plan", False)),
    ],
)
def test_auto_on_a_model_without_it(mode: str, supports: bool | None, effective: tuple[str, bool]) -> None:
    assert effective_mode(mode, supports) == effective


@pytest.mark.contract("CF-027", "CF-028")
@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("plan", None),
        ("default", None),
        ("manual", "Invalid Mode: manual"),
        ("Plan", "Invalid Mode: Plan"),
        ("", "Invalid Mode: "),
        ("dontAsk", "Mode dontAsk is not available in this session"),
        ("auto", "Mode auto is not available in this session"),
    ],
)
def test_which_mode_a_client_may_select(mode: str, error: str | None) -> None:
    assert mode_error(mode, catalog(auto=False, bypass=True)) == error


@pytest.mark.contract("CF-031")
@given(st.lists(st.sampled_from(["default", "acceptEdits", "plan", "auto"]), min_size=1))
def test_the_mode_before_plan_is_remembered_until_plan_is_left(path: list[str]) -> None:
    remembered, old, before = None, "default", "default"
    for new in path:
        remembered = mode_before_plan(remembered, old, new)
        if new != "plan":
            before = new
        assert remembered == (before if new == "plan" else None)
        old = new
