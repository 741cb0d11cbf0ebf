"""The settings files: read whatever they hold, merged as Claude Code merges them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.config.settings import (
    Settings,
    SettingsPaths,
    managed_env,
    parse_tier,
    programmatic_settings,
    read_settings,
    read_tier,
    settings_paths,
)


def paths_in(folder: Path) -> SettingsPaths:
    paths = settings_paths(str(folder / "project"), str(folder / "config"), "linux")
    (folder / "project" / ".claude").mkdir(parents=True)
    (folder / "config").mkdir()
    return SettingsPaths(paths.user, paths.project, paths.local, str(folder / "managed.json"))


def write(path: str, values: object) -> None:
    Path(path).write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.contract("CL-013")
@pytest.mark.parametrize(
    ("platform", "managed"),
    [
        ("linux", "/etc/claude-code/managed-settings.json"),
        ("darwin", "/Library/Application Support/ClaudeCode/managed-settings.json"),
        ("win32", "C:\\Program Files\\ClaudeCode\\managed-settings.json"),
    ],
)
def test_where_the_files_are(platform: str, managed: str) -> None:
    assert settings_paths("/w", "/home/me/.claude", platform) == SettingsPaths(
        "/home/me/.claude/settings.json",
        "/w/.claude/settings.json",
        "/w/.claude/settings.local.json",
        managed,
    )


def test_every_tier_is_read(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    for name, path in (("u", paths.user), ("p", paths.project), ("l", paths.local), ("m", paths.managed)):
        write(path, {"model": name})

    settings = read_settings(paths, {"model": "c"})
    assert settings.tiers == ({"model": "u"}, {"model": "p"}, {"model": "l"}, {"model": "c"}, {"model": "m"})
    assert settings.merged == {"model": "m"}
    assert settings.problems == ()


def test_a_value_of_a_wrong_type_is_told_without_it(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    write(paths.user, {"model": ["MARK"], "effortLevel": None, "permissions": {}, "other": 7})
    write(paths.managed, {"env": "MARK"})
    problems = read_settings(paths).problems
    assert [problem.partition(": ")[2].split()[0] for problem in problems] == ["effortLevel", "model", "env"]
    assert [paths.user in problem for problem in problems] == [True, True, False]
    assert "MARK" not in str(problems)


def test_missing_files_are_no_problem(tmp_path: Path) -> None:
    assert read_settings(settings_paths(str(tmp_path), str(tmp_path / "none"), "linux")) == Settings()


def test_at_home_the_project_is_the_user(tmp_path: Path) -> None:
    config = tmp_path / ".claude"
    config.mkdir()
    paths = settings_paths(str(tmp_path), str(config), "linux")
    write(paths.user, {"permissions": {"defaultMode": "acceptEdits"}})

    settings = read_settings(paths)
    assert settings.project == {}
    assert settings.default_mode == "acceptEdits"


@pytest.mark.contract("CL-007")
@pytest.mark.parametrize(
    "content",
    [
        b"{not json",
        b'{"model": "sonnet",}',
        b"[1]",
        b'"text"',
        b"null",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a": "' + b"x" * (4 << 20) + b'"}',
    ],
    ids=["broken", "comma", "list", "text", "null", "encoding", "deep", "huge"],
)
def test_a_broken_file_counts_as_empty_and_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)

    tier = read_tier(str(path))
    assert tier.values == {}
    assert tier.problem is not None
    assert str(path) in tier.problem


@pytest.mark.parametrize("content", [b"", b" \n", b"{}", b"\xef\xbb\xbf{}"])
def test_an_empty_file_is_no_problem(content: bytes) -> None:
    assert parse_tier("/x", content) == parse_tier("/x", b"{}")
    assert parse_tier("/x", content).problem is None


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse_tier("/x", '\ufeff{"model": "sonnet"}'.encode()).values == {"model": "sonnet"}


@pytest.mark.parametrize("kind", ["directory", "fifo", "unreadable", "loop", "under a file", "nul"])
def test_what_is_no_readable_file_never_blocks(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    match kind:
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "unreadable":
            path.write_text("{}")
            path.chmod(0)
        case "loop":
            path.symlink_to(path)
        case "under a file":
            (tmp_path / "file").write_text("")
            path = tmp_path / "file" / "settings.json"
        case _:
            path = tmp_path / "a\0b"
    tier = read_tier(str(path))

    assert tier.values == {}
    expected_silent = kind == "under a file" or (kind == "unreadable" and os.geteuid() == 0)
    assert (tier.problem is None) == expected_silent
    assert "None" not in str(tier.problem or "")


@given(st.binary(max_size=200))
def test_no_content_makes_reading_fail(content: bytes) -> None:
    tier = parse_tier("/x", content)
    assert isinstance(tier.values, dict)


def test_merging_joins_objects_and_lists() -> None:
    settings = Settings(
        user={"availableModels": ["sonnet"], "env": {"A": "1", "B": "1"}, "permissions": {"allow": ["x"]}},
        project={"availableModels": ["haiku", "sonnet"], "env": {"B": "2"}, "permissions": "none"},
        local={"availableModels": ["opus"], "modelSettings": {"x": {"effortLevel": "low"}}},
        programmatic={"modelSettings": {"x": {"effortLevel": "high"}, "y": {}}},
        managed={"env": 7},
    )

    assert settings.merged == {
        "availableModels": ["sonnet", "haiku", "opus"],
        "env": 7,
        "permissions": "none",
        "modelSettings": {"x": {"effortLevel": "high"}, "y": {}},
    }
    assert settings.user["availableModels"] == ["sonnet"]


def mode(value: object) -> dict[str, Any]:
    return {"permissions": {"defaultMode": value}}


@pytest.mark.contract("CF-016", "CF-018")
@pytest.mark.parametrize(
    ("tiers", "value"),
    [
        ({}, None),
        ({"user": mode("plan")}, "plan"),
        ({"user": mode("plan"), "project": mode("default")}, "default"),
        ({"user": mode("plan"), "project": mode("acceptEdits")}, "plan"),
        ({"project": mode("acceptEdits")}, None),
        ({"project": mode(" BYPASS ")}, None),
        ({"project": mode("auto")}, None),
        ({"project": mode("plan")}, "plan"),
        ({"local": mode("acceptEdits")}, "acceptEdits"),
        ({"project": mode("plan"), "programmatic": mode("auto")}, "auto"),
        ({"programmatic": mode("auto"), "managed": mode("default")}, "default"),
        ({"user": mode("plan"), "local": mode("yolo")}, "plan"),
        ({"user": mode(7)}, 7),
        ({"user": mode("yolo")}, "yolo"),
        ({"user": {"permissions": []}}, None),
        ({"user": {"permissions": None}, "local": {"permissions": "x"}}, None),
    ],
)
def test_the_mode_of_the_strongest_tier_that_may_set_it(tiers: dict[str, Any], value: object) -> None:
    assert Settings(**tiers).default_mode == value


@pytest.mark.contract("CF-014")
@pytest.mark.parametrize("tier", ["user", "project", "local", "programmatic", "managed"])
def test_any_tier_can_take_bypass_and_auto_away(tier: str) -> None:
    def only(values: dict[str, Any]) -> Settings:
        tiers: dict[str, Any] = {tier: values}
        return Settings(**tiers)

    bypass = only({"permissions": {"disableBypassPermissionsMode": "disable"}})
    auto = only({"permissions": {"disableAutoMode": "disable"}})
    top = only({"disableAutoMode": "disable"})

    assert (bypass.bypass_disabled, bypass.auto_disabled) == (True, False)
    assert (auto.bypass_disabled, auto.auto_disabled) == (False, True)
    assert top.auto_disabled


@pytest.mark.parametrize("value", [None, True, "enable", ["disable"], {"disable": 1}])
def test_only_the_word_disable_does(value: object) -> None:
    rules = {"disableBypassPermissionsMode": value, "disableAutoMode": value}
    settings = Settings(user={"permissions": rules, "disableAutoMode": value}, project={"permissions": [1]})
    assert not settings.bypass_disabled
    assert not settings.auto_disabled


@pytest.mark.contract("CL-005", "CL-006")
@pytest.mark.parametrize(
    ("managed", "env"),
    [
        ({}, {}),
        ({"env": {"A": "1", "B": ""}}, {"A": "1", "B": ""}),
        ({"env": {"N": 1, "T": True}}, {"N": "1", "T": "true"}),
        ({"env": {"": "x", "A=B": "x", "A\0": "x", "C": "x\0", "D": None, "E": ["x"]}}, {}),
        ({"env": ["A=1"]}, {}),
        ({"env": None}, {}),
    ],
)
def test_the_environment_of_the_policy(managed: dict[str, Any], env: dict[str, str]) -> None:
    assert managed_env(managed) == env
    os.environ.copy().update(env)  # nothing in it that the system would refuse


@pytest.mark.parametrize(
    ("given_settings", "config", "values"),
    [
        (None, None, {}),
        ({"model": "opus"}, None, {"model": "opus"}),
        ('{"model": "opus"}', None, {"model": "opus"}),
        ("/path/to/settings.json", None, {}),
        (7, "", {}),
        (
            None,
            '{"availableModels": ["a"], "modelOverrides": {}, "env": {}}',
            {"availableModels": ["a"], "modelOverrides": {}},
        ),
        ({"availableModels": ["b"]}, '{"availableModels": ["a"]}', {"availableModels": ["b"]}),
    ],
)
def test_the_settings_of_the_client(
    given_settings: object, config: str | None, values: dict[str, Any]
) -> None:
    assert programmatic_settings(given_settings, config) == values


@pytest.mark.parametrize("config", ["[]", "7", "{", "null", "[" * 100_000])
def test_a_broken_model_config_is_an_error(config: str) -> None:
    with pytest.raises(ValueError, match="CLAUDE_MODEL_CONFIG must be a JSON object"):
        programmatic_settings({}, config)
