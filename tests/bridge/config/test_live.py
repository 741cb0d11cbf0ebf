"""The real Claude Code reads its settings and reports its models as the agent expects."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from bridge.claude.executable import claude_executable
from bridge.config.auth import probed_status, session_status
from bridge.config.models.listing import offered_models, selector
from bridge.config.models.names import named
from bridge.config.models.rows import read_models
from bridge.config.settings import read_settings, settings_paths
from bridge.permissions.modes import catalog, start_mode
from tests.support.sandbox import Sandbox

CHECKED_SDK = "0.2.189"
"""The SDK whose Claude Code was asked for its models when the labels were last looked at."""


@pytest.fixture
def place(tmp_path: Path) -> Sandbox:
    """Folders of its own, and an API address where nothing answers."""
    return Sandbox(tmp_path / "place", "http://127.0.0.1:9").create()


def ask(place: Sandbox, *requests: str, env: Mapping[str, str | None] | None = None) -> list[dict[str, Any]]:
    """What Claude Code answers to control requests; no prompt is sent."""
    lines = [
        {"type": "control_request", "request_id": str(index), "request": {"subtype": subtype}}
        for index, subtype in enumerate(requests)
    ]
    done = subprocess.run(
        [
            claude_executable(os.environ),
            *("--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
            *("--permission-prompt-tool", "stdio", "--setting-sources", "user,project,local"),
        ],
        input="".join(json.dumps(line) + "\n" for line in lines),
        cwd=place.project,
        env=place.environment(env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    answers = {each["response"]["request_id"]: each["response"] for each in frames if "response" in each}
    return [answers[str(index)]["response"] for index in range(len(requests))]


def write(path: str, values: object) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.contract("CF-074")
def test_the_labels_were_checked_with_this_sdk() -> None:
    assert version("claude-agent-sdk") == CHECKED_SDK, "look at the live labels, then raise CHECKED_SDK"


@pytest.mark.live
@pytest.mark.contract("CF-050", "CF-057", "CF-074")
def test_the_live_labels_name_their_version(place: Sandbox) -> None:
    (answer,) = ask(place, "initialize")
    models = named(read_models(answer["models"]))
    default, *rows = models

    assert default.value == "default"
    assert [row.name for row in rows if re.fullmatch(r"Opus \d+(\.\d+)?( \(\d+M context\))?", row.name)]
    for row in rows:
        assert row.name.split(" ")[1].replace(".", "-") in (row.resolved or "")
    shown = selector(models, default, recommend=True)
    assert (shown.recommended, shown.current) == ("opus", "opus")
    assert default.description == "Opus"


@pytest.mark.live
def test_the_live_settings_are_merged_alike(place: Sandbox) -> None:
    paths = settings_paths(str(place.project), str(place.config), "linux")
    write(
        paths.user,
        {
            "env": {"A": "1", "B": "1"},
            "permissions": {"allow": ["Read"], "defaultMode": "plan"},
            "availableModels": ["sonnet"],
            "modelSettings": {"x": {"effortLevel": "low"}},
        },
    )
    write(
        paths.project,
        {
            "env": {"B": "2"},
            "permissions": {"allow": ["Grep", "Read"]},
            "availableModels": ["haiku", "sonnet"],
            "modelSettings": {"x": {"effortLevel": "high"}, "y": {"effortLevel": "low"}},
        },
    )
    write(paths.local, {"availableModels": ["opus"]})

    started, settings = ask(place, "initialize", "get_settings")
    ours = read_settings(paths)
    assert ours.problems == ()
    assert ours.merged == settings["effective"]
    rows = offered_models(read_models(started["models"]), ours.merged["availableModels"])
    assert [row.value for row in rows] == ["default", "sonnet", "haiku", "opus"]


@pytest.mark.live
@pytest.mark.contract("PM-087", "CF-017")
@pytest.mark.parametrize(
    ("user", "project"),
    [("plan", None), ("plan", "yolo"), ("dontAsk", None), (None, None), ("acceptEdits", "plan"), (7, None)],
)
def test_the_live_start_mode_is_the_same(place: Sandbox, user: object, project: object) -> None:
    paths = settings_paths(str(place.project), str(place.config), "linux")
    for path, mode in ((paths.user, user), (paths.project, project)):
        if mode is not None:
            write(path, {"permissions": {"defaultMode": mode}})

    (answer,) = ask(place, "initialize")
    start = start_mode(catalog(auto=True, bypass=True), setting=read_settings(paths).default_mode)
    assert start.mode == answer["current_permission_mode"]


@pytest.mark.live
@pytest.mark.contract("AU-020", "AU-021")
@pytest.mark.parametrize(
    ("env", "payload"),
    [
        ({}, {"kind": "api_key", "label": "Anthropic API key", "detail": "ANTHROPIC_API_KEY"}),
        ({"ANTHROPIC_API_KEY": None}, {"kind": "none", "label": "Not logged in"}),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, {"kind": "external", "label": "AWS Bedrock"}),
    ],
)
def test_the_live_account_reads_alike(
    place: Sandbox, env: dict[str, str | None], payload: dict[str, str]
) -> None:
    probe = subprocess.run(
        [claude_executable(os.environ), "auth", "status", "--json"],
        cwd=place.project,
        env=place.environment(env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    status = probed_status(json.loads(probe.stdout))
    assert status is not None
    assert status.payload() == payload

    (answer,) = ask(place, "initialize", env=env)
    of_session = session_status(answer["account"], overridden=False)
    assert of_session == (None if payload["kind"] == "none" else status)
