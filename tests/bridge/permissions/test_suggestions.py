"""The bundle of proposed updates: understood as a whole or not at all, and copied."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.permissions.suggestions import Directories, Mode, Rule, Rules, lasting_rule, snapshot
from tests.bridge.permissions.build import add_directories, add_rules, set_mode

VALID = [
    add_rules(("Bash", "touch a *"), to="localSettings"),
    {"type": "replaceRules", "rules": [], "behavior": "ask", "destination": "cliArg"},
    {
        "type": "removeRules",
        "rules": [{"toolName": "Read"}],
        "behavior": "deny",
        "destination": "userSettings",
    },
    set_mode("acceptEdits"),
    add_directories("/a", "/b", to="projectSettings"),
    {"type": "removeDirectories", "directories": ["/c"], "destination": "session"},
]


@pytest.mark.contract("PM-055", "PM-056", "PM-057")
def test_every_known_update_is_understood() -> None:
    bundle = snapshot(VALID)

    assert bundle is not None
    assert bundle.updates == (
        Rules("addRules", (Rule("Bash", "touch a *"),), "allow", "localSettings"),
        Rules("replaceRules", (), "ask", "cliArg"),
        Rules("removeRules", (Rule("Read"),), "deny", "userSettings"),
        Mode("acceptEdits", "session"),
        Directories("addDirectories", ("/a", "/b"), "projectSettings"),
        Directories("removeDirectories", ("/c",), "session"),
    )


@pytest.mark.contract("PM-004", "PM-041", "PM-054", "PM-060")
def test_the_copy_outlives_changes_of_the_source() -> None:
    source = [add_rules(("Bash", "ls"))]
    bundle = snapshot(source)
    source[0]["rules"][0]["ruleContent"] = "rm"
    source.append(set_mode("bypassPermissions"))

    assert bundle is not None
    assert bundle.payload() == [add_rules(("Bash", "ls"))]
    bundle.payload().clear()
    assert bundle.payload() == [add_rules(("Bash", "ls"))]


def test_the_copy_is_exact() -> None:
    bundle = snapshot(VALID)
    assert bundle is not None
    assert bundle.payload() == VALID


LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: Any = "x"
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.contract("PM-058", "PM-059")
@pytest.mark.parametrize(
    "bundle",
    [
        None,
        {},
        "addRules",
        [],
        [set_mode("plan")] * 101,
        [None],
        [LOOP],
        LOOP,
        [set_mode("plan") | {"more": DEEP}],
        [set_mode("plan") | {"more": object()}],
        [set_mode("plan") | {"more": float("nan")}],
        [{"type": "grantAll", "destination": "session"}],
        [set_mode("plan"), {"type": ["setMode"], "destination": "session"}],
        [set_mode("manual")],
        [set_mode("plan", to="everywhere")],
        [set_mode("plan", to="")],
        [{"type": "setMode", "mode": "plan"}],
        [{"type": "setMode", "mode": ["plan"], "destination": "session"}],
        [add_rules(("Bash", "ls"), behavior="maybe")],
        [add_rules(("Bash", "ls"), behavior="")],
        [add_rules()],
        [{"type": "removeRules", "rules": [], "behavior": "allow", "destination": "session"}],
        [add_rules(*[("Bash", "ls")] * 101)],
        [add_rules(("Bash", "ls")) | {"rules": "ls"}],
        [add_rules(("Bash", "ls")) | {"rules": ["ls"]}],
        [add_rules(("Bash", "ls")) | {"rules": [{"ruleContent": "ls"}]}],
        [add_rules(("Bash", "ls")) | {"rules": [{"toolName": "Bash", "ruleContent": None}]}],
        [add_rules(("Bash", "ls")) | {"rules": [{"toolName": "Bash", "ruleContent": 5}]}],
        [add_rules(("Bash", " \t"))],
        [add_rules(("", "ls"))],
        [add_rules(("B" * 513, "ls"))],
        [add_rules(("Bash", "l" * 10_001))],
        [add_rules(("Bash", "l\x07s"))],
        [add_rules(("Bash", "l\x00s"))],
        [add_rules(("Bash", "ls\x1f"))],
        [add_directories()],
        [add_directories(*["/a"] * 101)],
        [add_directories("/" + "a" * 4096)],
        [add_directories("/a", "  ")],
        [add_directories("/a\x7f")],
        [add_directories("/a") | {"directories": {"/a": 1}}],
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_bundle_with_any_flaw_is_rejected(bundle: object) -> None:
    assert snapshot(bundle) is None


@pytest.mark.parametrize(
    "bundle",
    [
        [set_mode("plan")] * 100,
        [add_rules(*[("Bash", "ls")] * 100)],
        [add_rules(("B" * 512, "l" * 10_000))],
        [add_directories("/" + "a" * 4095)],
        [add_directories(*["/a"] * 100)],
        [add_rules(("Bash", "a\n\tb"))],
    ],
    ids=["updates", "rules", "texts", "directory", "directories", "lines"],
)
def test_the_limits_themselves_are_valid(bundle: object) -> None:
    assert snapshot(bundle) is not None


@pytest.mark.contract("PM-082")
def test_a_generated_rule_goes_to_the_local_settings() -> None:
    bundle = lasting_rule("WebFetch", "domain:a.example")
    assert bundle is not None
    assert bundle.payload() == [add_rules(("WebFetch", "domain:a.example"), to="localSettings")]
    assert lasting_rule("") is None
    assert lasting_rule("x\x00") is None


@given(st.lists(st.sampled_from(VALID), min_size=1, max_size=8), st.integers(0, 7), st.text(max_size=3))
def test_one_bad_update_spoils_any_bundle(good: list[Any], at: int, junk: str) -> None:
    assert snapshot(good) is not None
    assert snapshot([*good[:at], {"type": junk, "destination": "session"}, *good[at:]]) is None
