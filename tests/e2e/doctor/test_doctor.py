"""`claude-acp doctor` with the real Claude Code: on a machine that is well, and on ones that are not."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.doctor import conversation
from bridge.doctor.conversation import STEPS, converse
from bridge.doctor.report import Row
from tests.e2e.doctor.conftest import Visit
from tests.support import fake_cli
from tests.support.processes import Mark
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

Doctor = Callable[..., Awaitable[Visit]]
EXECUTABLE = "CLAUDE_CODE_EXECUTABLE"
CHECKS = [
    *("Python", "HOME", "PATH", "configuration folder"),
    *("user settings", "project settings", "local settings", "managed settings", "permission mode"),
    *("proxy", "base URL", "Claude Code", "sign-in", *STEPS),
]


async def test_on_a_machine_that_is_well_each_row_is_ok(visit: Doctor) -> None:
    seen = await visit()

    assert [*seen.rows] == CHECKS
    assert {name: row for name, row in seen.rows.items() if row["status"] != "ok"} == {}
    assert json.loads(seen.stdout)["ok"] is True
    assert (seen.status, seen.stderr) == (0, "")
    assert seen.rows["permission request"]["detail"] == "asked and allowed, and the command ran"
    assert seen.rows["cancel"]["detail"] == "the turn ended as cancelled"


async def test_a_new_user_is_told_to_sign_in_and_nothing_else(visit: Doctor, sandbox: Sandbox) -> None:
    fresh = dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "IS_SANDBOX"))
    seen = await visit(env=fresh, as_json=False)

    troubled = [line for line in seen.stdout.splitlines() if not line.startswith("ok ")]
    assert troubled[0].split() == ["warning", "sign-in", "Not", "logged", "in"]
    assert "claude-acp --cli auth login" in troubled[1]
    assert troubled[2:] == ["", f"1 warning, {len(CHECKS) - 1} ok"]
    assert seen.status == 0
    assert [*sandbox.project.iterdir()] == []


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "not found"),
        (lambda path: path.mkdir(), "directory"),
        (lambda path: path.write_text("#!/bin/sh\n"), "not executable"),
    ],
    ids=["missing", "directory", "not executable"],
)
async def test_a_claude_code_that_cannot_be_run(
    visit: Doctor, tmp_path: Path, make: Callable[[Path], Any], said: str
) -> None:
    make(tmp_path / "claude")
    seen = await visit(env={EXECUTABLE: str(tmp_path / "claude")})

    assert seen.status == 1
    assert seen.failed() == ["Claude Code", "session/new"]
    for name in seen.failed():
        assert said in seen.rows[name]["detail"]
    assert EXECUTABLE in seen.rows["Claude Code"]["remedy"]
    assert seen.rows["initialize"]["status"] == "ok"
    assert seen.rows["cancel"]["detail"] == "not tried"


async def test_a_proxy_that_is_no_url(visit: Doctor) -> None:
    seen = await visit(env={"HTTPS_PROXY": "http://me:MARK-WORD@no host"})

    assert seen.failed() == ["proxy", "session/new"]
    assert "HTTPS_PROXY" in seen.rows["proxy"]["remedy"]
    assert "MARK" not in seen.stdout + seen.stderr


async def test_home_and_path_that_are_not_set(visit: Doctor) -> None:
    seen = await visit(env={"HOME": None, "PATH": None})

    assert seen.status == 0
    for name in ("HOME", "PATH"):
        assert seen.rows[name]["status"] == "warning"
        assert f"Set {name}" in seen.rows[name]["remedy"]


async def test_settings_that_count_as_empty(visit: Doctor, sandbox: Sandbox) -> None:
    folder = sandbox.project / ".claude"
    folder.mkdir()
    files = {
        "user settings": (sandbox.config / "settings.json", '{"env": '),
        "project settings": (folder / "settings.json", "[]"),
        "local settings": (folder / "settings.local.json", '{"x": "' + "y" * (5 << 20) + '"}'),
    }
    for path, content in files.values():
        path.write_text(content)
    seen = await visit()

    assert seen.failed() == [*files]
    for name, (path, _) in files.items():
        assert str(path) in seen.rows[name]["remedy"]


async def test_a_mode_in_which_nothing_is_asked(visit: Doctor, sandbox: Sandbox) -> None:
    (sandbox.config / "settings.json").write_text('{"permissions": {"defaultMode": "dontAsk"}}')

    assert (await visit()).rows["permission mode"]["status"] == "warning"


# ── secrets ───────────────────────────────────────────────────────────────────

VARIABLES = {
    **{
        name: f"MARK-{name}"
        for name in (
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
            *(
                "GITHUB_TOKEN",
                "OPENAI_API_KEY",
                "DB_PASSWORD",
                "NPM_AUTH",
                "CLAUDE_ACP_LOG",
                EXECUTABLE + "S",
            ),
        )
    },
    "ANTHROPIC_CUSTOM_HEADERS": "X-One: MARK-header\nAuthorization: Bearer MARK-bearer",
    "ANTHROPIC_BASE_URL": "http://MARK-user:MARK-word@127.0.0.1:9/MARK-path-of-it?t=MARK-query",
    "HTTP_PROXY": "http://MARK-proxy-user:MARK-proxy-word@127.0.0.1:9",
}


@pytest.mark.contract("CL-014")
@pytest.mark.parametrize(
    ("more", "as_json"),
    [
        ({}, False),
        ({"HTTPS_PROXY": "MARK no url"}, False),
        ({"HTTPS_PROXY": "MARK no url"}, True),
        ({"ANTHROPIC_BASE_URL": "MARK://no.url"}, True),
        ({EXECUTABLE: "TALKATIVE"}, False),
        ({EXECUTABLE: "DYING"}, True),
    ],
    ids=["fine", "proxy", "proxy as JSON", "base url", "talkative", "dying"],
)
async def test_no_secret_leaves_the_doctor(
    visit: Doctor, sandbox: Sandbox, tmp_path: Path, more: dict[str, str], as_json: bool
) -> None:
    everything = 'env | grep -v "^CLAUDE_CODE_EXECUTABLE=" | tee /dev/stderr'
    for name, end in (("TALKATIVE", "exit 0"), ("DYING", "exit 3")):
        (tmp_path / name).write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 2.1.9\n{everything}\n{end}\n')
        (tmp_path / name).chmod(0o755)
    if EXECUTABLE in more:
        more = {EXECUTABLE: str(tmp_path / more[EXECUTABLE])}
    settings = {
        "apiKeyHelper": "echo MARK-helper",
        "env": {"MY_SECRET": "MARK-setting", "ANTHROPIC_AUTH_TOKEN": "MARK-token-setting"},
        "permissions": {"defaultMode": "MARK-mode"},
    }
    (sandbox.config / "settings.json").write_text(json.dumps(settings))
    (sandbox.project / ".claude").mkdir()
    (sandbox.project / ".claude" / "settings.json").write_text('{"apiKeyHelper": "MARK-broken"')
    seen = await visit(env={**VARIABLES, **more}, as_json=as_json)

    assert "session/new" in seen.stdout
    assert "MARK" not in seen.stdout + seen.stderr


# ── the conversation ──────────────────────────────────────────────────────────


async def conversed(environ: dict[str, str], managed: dict[str, str] | None = None) -> dict[str, Row]:
    """The rows of a conversation, which leaves no process behind."""
    rows: list[Row] = []
    mark = Mark()
    await converse({**environ, **mark.environment}, managed or {}, rows.append)
    assert await mark.wait_gone(10) == {}
    assert [row.name for row in rows] == [*STEPS]
    assert all((row.remedy is None) == (row.status == "ok") for row in rows)
    return {row.name: row for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("body", ["exec sleep 300", "trap '' TERM INT; while :; do sleep 1; done"])
async def test_a_claude_code_that_hangs_is_a_failed_row_after_the_guard(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(conversation, "STEP", 10.0)
    (tmp_path / "claude").write_text(f"#!/bin/sh\n{body}\n")
    (tmp_path / "claude").chmod(0o755)
    rows = await conversed(sandbox.environment({EXECUTABLE: str(tmp_path / "claude")}))

    assert rows["session/new"].status == "failed"
    assert rows["session/new"].detail == "no answer within 10 s"
    assert rows["prompt"].detail == "not tried"


async def test_a_trace_of_the_conversation_can_be_reported(sandbox: Sandbox, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    await conversed(sandbox.environment({"CLAUDE_ACP_TRACE": str(trace)}))

    assert '"lifecycle": "Session"' in trace.read_text()


async def test_an_agent_that_ends_at_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; print('much\\n' * 999, file=sys.stderr); sys.exit('out of tea')"
    monkeypatch.setattr(conversation, "_command", lambda: [sys.executable, "-c", code])
    rows = await conversed(sandbox.environment())

    assert rows["initialize"].status == "failed"
    assert rows["initialize"].detail.endswith(": out of tea")


async def test_an_agent_that_cannot_be_started(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_command", lambda: ["/nonexistent"])

    assert (await conversed(sandbox.environment()))["initialize"].status == "failed"


async def test_a_policy_that_sends_requests_elsewhere_is_not_asked_anything(sandbox: Sandbox) -> None:
    rows = await conversed(sandbox.environment(), {"ANTHROPIC_BASE_URL": "https://gw.example.com"})

    assert rows["session/new"].status == "ok"
    assert [rows[name].status for name in STEPS[2:]] == ["warning"] * 3
    assert "real model" in rows["prompt"].detail


async def test_a_turn_that_goes_another_way_is_told(sandbox: Sandbox) -> None:
    rows = await conversed(sandbox.environment({EXECUTABLE: str(fake_cli.PATH)}))

    assert {name: row.status for name, row in rows.items()} == {
        "initialize": "ok",
        "session/new": "ok",
        "prompt": "failed",
        "permission request": "warning",
        "cancel": "failed",
    }
    assert rows["cancel"].detail == "the turn ended as end_turn"


def test_an_output_that_is_closed_ends_it_quietly(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, "http://127.0.0.1:9").create()
    command = f"{sys.executable} -m claude_acp doctor | head -n 1"
    done = subprocess.run(
        command, shell=True, env=sandbox.environment(), cwd=sandbox.project, capture_output=True, timeout=300
    )  # fmt: skip

    assert done.stdout.startswith(b"ok       Python")
    assert done.stderr == b""


def test_an_unknown_argument_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "claude_acp", "doctor", "--odd"],
        capture_output=True,
        env=os.environ,
        timeout=60,
    )

    assert done.returncode == 2
