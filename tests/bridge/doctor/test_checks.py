"""Each check of the doctor: what it finds, and that the remedy names what to change."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.config.settings import Settings, SettingsPaths
from bridge.doctor.claude import check_claude
from bridge.doctor.report import Row
from bridge.doctor.settings import check_settings, check_start_mode
from bridge.doctor.surroundings import check_addresses, check_config_folder, check_python, check_variables

SOMEBODY = pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")


def by_name(rows: Any) -> dict[str, Row]:
    found = {row.name: row for row in rows}
    for row in found.values():
        assert (row.remedy is None) == (row.status == "ok")
        assert row.remedy is None or row.remedy.endswith(".")
    return found


# ── surroundings ──────────────────────────────────────────────────────────────


def test_python() -> None:
    assert check_python((3, 11, 0)).status == "ok"
    assert check_python((3, 14, 2)).detail == "3.14.2"
    old = check_python((3, 10, 9))
    assert (old.status, old.remedy) == ("failed", "Install claude-acp with Python 3.11 or newer.")


@pytest.mark.parametrize("environ", [{}, {"HOME": "", "PATH": ""}])
def test_home_and_path_that_are_not_set(environ: Mapping[str, str]) -> None:
    rows = by_name(check_variables(environ))

    assert {name: row.status for name, row in rows.items()} == {"HOME": "warning", "PATH": "warning"}
    assert all(f"Set {name} in the environment" in str(row.remedy) for name, row in rows.items())


@pytest.mark.contract("CL-014")
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize(
    ("value", "status", "detail"),
    [
        ("http://me:MARK@proxy.example.com:8080/MARK", "ok", "http://proxy.example.com:8080"),
        ("proxy.example.com:MARK", "failed", "is no complete http(s) URL"),
        ("socks5://MARK:1080", "failed", "is no complete http(s) URL"),
        ("not a MARK", "failed", "is no complete http(s) URL"),
    ],
)
def test_a_proxy(name: str, value: str, status: str, detail: str) -> None:
    row = by_name(check_addresses({name: value}))["proxy"]

    assert row.status == status
    assert detail in row.detail
    assert "MARK" not in row.detail
    assert row.remedy is None or name in row.remedy


@pytest.mark.parametrize(
    ("environ", "status", "detail"),
    [
        ({}, "ok", "anthropic: https://api.anthropic.com"),
        ({"ANTHROPIC_BASE_URL": "https://gw.example.com/MARK"}, "ok", "anthropic: https://gw.example.com"),
        ({"ANTHROPIC_BASE_URL": "gw.example.com"}, "failed", "ANTHROPIC_BASE_URL is no complete"),
        ({"ANTHROPIC_BASE_URL": "https://u:MARK@gw.example.com"}, "warning", "credentials in the URL"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "ok", "bedrock: https://bedrock-runtime.amazonaws.com"),
        (
            {"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_BASE_URL": "x"},
            "failed",
            "ANTHROPIC_VERTEX_BASE_URL",
        ),
    ],
)
def test_the_base_url_of_the_provider_in_force(environ: dict[str, str], status: str, detail: str) -> None:
    row = by_name(check_addresses(environ))["base URL"]

    assert row.status == status
    assert detail in row.detail
    assert "MARK" not in row.detail


def test_the_configuration_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    fresh = check_config_folder({"CLAUDE_CONFIG_DIR": str(folder)})
    assert (fresh.status, fresh.detail) == ("ok", f"{folder}, which is still to be made")
    assert not folder.exists()

    folder.mkdir(parents=True)
    assert check_config_folder({"CLAUDE_CONFIG_DIR": str(folder)}).detail == str(folder)
    assert [*folder.iterdir()] == []
    assert check_config_folder({"HOME": str(tmp_path)}).detail.startswith(str(tmp_path / ".claude"))


def test_a_file_in_the_place_of_the_configuration_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "file/below"):
        row = check_config_folder({"CLAUDE_CONFIG_DIR": str(tmp_path / name)})
        assert row.status == "failed"
        assert str(tmp_path / "file") in str(row.remedy)


@SOMEBODY
def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert check_config_folder({"CLAUDE_CONFIG_DIR": str(tmp_path)}).status == "failed"


# ── settings ──────────────────────────────────────────────────────────────────


@pytest.fixture
def paths(tmp_path: Path) -> SettingsPaths:
    """Four files of which none is there."""
    return SettingsPaths(
        *(str(tmp_path / f"{name}.json") for name in ("user", "project", "local", "managed"))
    )


def test_a_row_for_each_file(paths: SettingsPaths) -> None:
    Path(paths.user).write_text('{"model": "opus", "env": {}}')
    rows = by_name(check_settings(paths))

    assert [*rows] == ["user settings", "project settings", "local settings", "managed settings"]
    assert {row.status for row in rows.values()} == {"ok"}
    assert rows["user settings"].detail == f"{paths.user} (2 keys)"
    assert rows["local settings"].detail == f"none at {paths.local}"


def test_a_value_of_a_wrong_type(paths: SettingsPaths) -> None:
    Path(paths.local).write_text('{"model": ["MARK"], "permissions": {}}')
    row = by_name(check_settings(paths))["local settings"]
    assert (row.status, "model" in row.detail, paths.local in str(row.remedy)) == ("warning", True, True)
    assert "MARK" not in row.detail + str(row.remedy)


@pytest.mark.contract("CL-014")
@pytest.mark.parametrize("tier", ["user", "project", "local", "managed"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text('{\n  "MARK": "MARK",\n}'), "no valid JSON (line 3, column 1)"),
        (lambda path: path.write_text('["MARK"]'), "no JSON object"),
        (lambda path: path.write_text("[" * 100_000), "no valid JSON"),
        (lambda path: path.write_text("9" * 100_000), "no valid JSON"),
        (lambda path: path.write_text(json.dumps({"x": "y" * (4 << 20)})), "larger than 4 MiB"),
        (lambda path: path.mkdir(), "no file"),
        (lambda path: path.symlink_to(path), "cannot be opened"),
    ],
    ids=["syntax", "array", "deep", "number", "huge", "folder", "loop"],
)
def test_a_file_that_counts_as_empty(
    paths: SettingsPaths, tier: str, make: Callable[[Path], Any], said: str
) -> None:
    path = Path(getattr(paths, tier))
    make(path)
    row = by_name(check_settings(paths))[f"{tier} settings"]

    assert row.status == "failed"
    assert said in row.detail
    assert str(path) in str(row.remedy)
    assert "MARK" not in row.detail + str(row.remedy)


@pytest.mark.parametrize(
    ("mode", "status", "said"),
    [
        (None, "ok", "default"),
        ("plan", "ok", "plan"),
        ("manual", "ok", "default"),
        ("dontAsk", "warning", "editors show Manual"),
        ("MARK", "warning", "no known value"),
        (7, "warning", "no known value"),
    ],
)
def test_the_permission_mode(mode: object, status: str, said: str) -> None:
    given = {} if mode is None else {"permissions": {"defaultMode": mode}}
    row = check_start_mode(Settings(user=given))

    assert row.status == status
    assert said in row.detail
    assert "MARK" not in row.detail


# ── Claude Code ───────────────────────────────────────────────────────────────


def claude(folder: Path, body: str) -> dict[str, str]:
    """A Claude Code that is this shell script."""
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return {"CLAUDE_CODE_EXECUTABLE": str(path), "PATH": os.environ["PATH"]}


def says(status: str) -> str:
    """A script that answers both questions."""
    return f"case $1 in --version) echo '2.1.9 (Claude Code)';; auth) echo '{status}'; exit 1;; esac"


@pytest.mark.contract("CL-012")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "was not found at"),
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: path.write_text("#!/bin/sh\n"), "is not executable"),
        (lambda path: (path.write_bytes(b"\x7fELF"), path.chmod(0o755)), "cannot be run"),
        (lambda path: (path.write_text("#!/bin/sh\nexit 3"), path.chmod(0o755)), "ended with status 3"),
        (
            lambda path: (path.write_text("#!/bin/sh\necho MARK"), path.chmod(0o755)),
            "does not say its version",
        ),
    ],
    ids=["missing", "directory", "not executable", "no program", "fails", "another program"],
)
def test_a_claude_code_that_does_not_run(tmp_path: Path, make: Callable[[Path], Any], said: str) -> None:
    path = tmp_path / "a. b"
    make(path)
    rows = by_name(check_claude({"CLAUDE_CODE_EXECUTABLE": str(path), "PATH": os.environ["PATH"]}))

    assert rows["Claude Code"].status == "failed"
    assert said in rows["Claude Code"].detail
    assert str(path) in rows["Claude Code"].detail
    assert str(rows["Claude Code"].remedy).startswith("Set CLAUDE_CODE_EXECUTABLE to ")
    assert rows["sign-in"].detail == "not tried"
    assert "MARK" not in rows["Claude Code"].detail


@pytest.mark.parametrize(
    ("answer", "status", "detail"),
    [
        ('{"loggedIn": false, "apiProvider": "firstParty"}', "warning", "Not logged in"),
        ('{"loggedIn": true, "apiKeySource": "ANTHROPIC_API_KEY"}', "ok", "Anthropic API key"),
        (
            '{"loggedIn": true, "subscriptionType": "max", "email": "MARK", "orgName": "MARK"}',
            "ok",
            "Claude Max",
        ),
        ('{"loggedIn": true, "apiProvider": "bedrock"}', "ok", "AWS Bedrock"),
        ('{"loggedIn": "MARK"}', "warning", "does not say who pays"),
        ("MARK", "warning", "does not say who pays"),
        ("", "warning", "without an answer"),
    ],
)
@pytest.mark.contract("CL-014")
def test_of_the_sign_in_only_the_kind_is_told(tmp_path: Path, answer: str, status: str, detail: str) -> None:
    rows = by_name(check_claude(claude(tmp_path, says(answer))))

    assert rows["Claude Code"].detail == f"2.1.9, {tmp_path}/claude (by CLAUDE_CODE_EXECUTABLE)"
    assert rows["sign-in"].status == status
    assert detail in rows["sign-in"].detail
    assert "MARK" not in rows["sign-in"].detail


@pytest.mark.parametrize("body", ["sleep 300", "sleep 300 & exit 0", "trap '' TERM; sleep 300"])
def test_a_claude_code_that_hangs_is_ended_with_its_children(tmp_path: Path, body: str) -> None:
    environ = claude(tmp_path, f"echo $$ >> {tmp_path}/pids; {body}")
    rows = by_name(check_claude(environ, within=0.3))

    assert "did not answer within" in rows["Claude Code"].detail
    (group,) = {int(line) for line in (tmp_path / "pids").read_text().split()}
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("something of it still lives")
