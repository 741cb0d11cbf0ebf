"""Probes, sign-outs and the guard, with a program in the place of Claude Code."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from bridge.accounts import commands
from bridge.accounts.accounts import Accounts, Context
from bridge.accounts.commands import LogoutError
from bridge.claude.errors import StartFailed
from bridge.config.providers import Route

pytestmark = pytest.mark.anyio

KEY = {"loggedIn": True, "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"}
MAX = {"loggedIn": True, "subscriptionType": "max", "email": "a@example.org", "apiProvider": "firstParty"}
SIGNED_OUT = {"loggedIn": False, "apiProvider": "firstParty"}
KEY_STATUS = {"kind": "api_key", "label": "Anthropic API key", "detail": "ANTHROPIC_API_KEY"}
NOBODY = {"kind": "none", "label": "Not logged in"}
ROUTE = Route("anthropic", "http://127.0.0.1:9")


class Bench:
    """Accounts over a program that says what a test wants and notes how it was called."""

    def __init__(self, folder: Path, tasks: anyio.abc.TaskGroup, *, hide: bool = False) -> None:
        self._folder = folder
        self.pushed: list[Mapping[str, Any]] = []
        self.says(KEY)
        environ = {"CLAUDE_CODE_EXECUTABLE": str(folder / "claude"), "PATH": "/usr/bin:/bin"}
        self.accounts = Accounts(tasks, self.pushed.append, environ, hide_claude=hide)

    def says(self, answer: object, status: int = 0, wait: float = 0) -> None:
        """What the program prints from now on, and how it ends."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        (self._folder / "answer").write_text(text)
        program = self._folder / "claude"
        program.write_text(
            f'#!/bin/sh\necho "$@" >> {self._folder}/calls\n'
            + (f"sleep {wait}\n" if wait else "")
            + f"cat {self._folder}/answer\nexit {status}\n"
        )
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        path = self._folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.mark.contract("AU-018", "AU-017")
async def test_probes_under_way_are_shared(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        for _ in range(3):
            bench.accounts.probe()
            await anyio.lowlevel.checkpoint()
        assert bench.pushed == []
    assert bench.calls == ["auth status --json"]
    assert bench.pushed == [KEY_STATUS]


async def test_other_settings_are_asked_anew(tmp_path: Path) -> None:
    context = Context(str(tmp_path), {"apiKeyHelper": "key"})
    async with anyio.create_task_group() as tasks:
        Bench(tmp_path, tasks).accounts.probe(context)
    assert Bench(tmp_path, tasks).calls == ['--settings {"apiKeyHelper": "key"} auth status --json']


@pytest.mark.contract("AU-019")
async def test_a_sign_out_is_told_though_the_program_fails(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.says(SIGNED_OUT, status=1)
        bench.accounts.probe()
    assert bench.pushed == [NOBODY]


@pytest.mark.contract("AU-019")
@pytest.mark.parametrize("answer", ["", "no JSON", "[]", '{"loggedIn": "yes"}'])
async def test_an_unreadable_answer_changes_nothing(tmp_path: Path, answer: str) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.accounts.admit("S", KEY)
        bench.says(answer)
        bench.accounts.probe()
    assert bench.pushed == [KEY_STATUS]


@pytest.mark.contract("AU-019")
async def test_a_late_answer_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(commands, "PROBE_LIMIT", 0.01)
    for _ in range(2):
        async with anyio.create_task_group() as tasks:
            bench = Bench(tmp_path, tasks)
            bench.says(KEY, wait=30)
            with caplog.at_level(logging.WARNING):
                for _ in range(2):
                    await bench.accounts._probe(0)
        assert bench.pushed == []
        said = [record for record in caplog.records if record.name.startswith("bridge.")]
        assert len(said) == 1, "asyncio may add a line of its own about the process that was killed"
        caplog.clear()


@pytest.mark.contract("AU-028")
async def test_after_a_logout_an_unreadable_answer_means_nobody(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.accounts.override(ROUTE)
        bench.says("?")
        assert await bench.accounts.logout() is True
        assert await bench.accounts.logout() is False
    assert bench.pushed == [NOBODY]
    assert bench.accounts.route is None


async def test_a_failed_logout_says_why(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.says("", status=3)
        with pytest.raises(LogoutError, match="exit code 3"):
            await bench.accounts.logout()


@pytest.mark.contract("AU-024")
async def test_a_route_hides_the_account_of_a_session(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.accounts.override(ROUTE)
        bench.accounts.admit("S", KEY)
        assert bench.pushed == []
        bench.accounts.override(None)
        bench.accounts.admit("S", KEY)
    assert bench.pushed == [KEY_STATUS]


# ── --hide-claude-auth ────────────────────────────────────────────────────────


@pytest.mark.contract("AU-025", "AU-029")
async def test_a_refused_account_is_told_all_the_same(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks, hide=True)
        with pytest.raises(StartFailed) as refused:
            bench.accounts.admit("S", {"subscriptionType": "max", "tokenSource": "none"})
    assert refused.value.text == "This integration does not support using claude.ai subscriptions."
    assert refused.value.reason == "claude_subscription_not_supported"
    assert [status["kind"] for status in bench.pushed] == ["account"]


@pytest.mark.contract("AU-033")
async def test_a_route_needs_no_guard(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks, hide=True)
        bench.accounts.override(ROUTE)
        bench.accounts.admit("S", {"subscriptionType": "max"})
        assert not bench.accounts.is_stale("S")
        bench.accounts.override(None)
        assert bench.accounts.is_stale("S")


@pytest.mark.contract("AU-034", "AU-037")
async def test_another_kind_of_credential_marks_the_session(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks, hide=True)
        bench.accounts.admit("S", KEY)
        assert not bench.accounts.is_stale("S")
        bench.says(MAX)
        await bench.accounts._probe(0)
        assert bench.accounts.is_stale("S")
        bench.accounts.forget("S")
        assert not bench.accounts.is_stale("S")


@pytest.mark.contract("AU-038")
async def test_a_turn_without_a_credential_marks_the_session(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks, hide=True)
        bench.accounts.admit("S", KEY)
        bench.accounts.signed_out("S")
        assert bench.accounts.is_stale("S")


@pytest.mark.contract("AU-035")
async def test_an_account_that_is_not_told_passes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks, hide=True)
        bench.accounts.admit("S", None)
        assert not bench.accounts.is_stale("S")
    assert ["session S" in record.getMessage() for record in caplog.records] == [True]


async def test_without_the_flag_nothing_is_guarded(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        bench = Bench(tmp_path, tasks)
        bench.accounts.admit("S", {"subscriptionType": "max"})
        assert not bench.accounts.is_stale("S")
