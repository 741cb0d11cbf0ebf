"""A start that fails says why and what to do, and leaves nothing behind."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import CLIConnectionError

from bridge.claude.errors import ClaudeGone, StartFailed, explain_start, find_executable
from bridge.claude.frames import Closed
from bridge.claude.launch import sdk_options
from bridge.claude.tap import TapTransport
from machines.events import StartFailure, StreamEnd
from tests.bridge.claude.bench import Bench, fake_launch, plain_launch
from tests.bridge.claude.conftest import NewBench
from tests.support import fake_cli

pytestmark = pytest.mark.anyio

EXECUTABLE = "CLAUDE_CODE_EXECUTABLE"


async def failure(bench: Bench, limit: float = 60.0) -> StartFailed:
    """Start it in vain; nothing of it may be left."""
    with pytest.raises(StartFailed) as caught:
        await bench.start(limit)
    assert bench.claude.pid is None
    assert await bench.mark.wait_gone(10) == {}
    assert not any(isinstance(item, Closed) for item in bench.items)
    return caught.value


# ── which executable ──────────────────────────────────────────────────────────


@pytest.mark.contract("CL-012")
def test_the_variable_names_the_executable_and_nothing_means_the_sdk_s_own(tmp_path: Path) -> None:
    program = tmp_path / "a b" / "claude"
    program.parent.mkdir()
    program.touch(mode=0o755)

    assert find_executable(None, {}) is None
    assert find_executable(None, {EXECUTABLE: ""}) is None
    assert find_executable(None, {EXECUTABLE: str(program)}) == str(program)
    assert find_executable(str(program), {EXECUTABLE: "/other"}) == str(program)
    assert find_executable(None, {EXECUTABLE: "claude", "PATH": str(program.parent)}) == str(program)


def test_a_relative_path_is_read_where_the_agent_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "claude").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_executable("./claude", {}) == str(tmp_path / "claude")
    assert find_executable("~/claude", {}) == str(tmp_path / "claude")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "was not found at"),
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: path.write_text("#!/bin/sh\n"), "is not executable"),
    ],
    ids=["missing", "directory", "not executable"],
)
async def test_an_unusable_executable_is_named_with_the_remedy(
    make: Any, says: str, tmp_path: Path, new_bench: NewBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my claude"
    make(path)
    monkeypatch.setenv(EXECUTABLE, str(path))
    with anyio.fail_after(10):
        error = await failure(new_bench(plain_launch(tmp_path)))
    assert error.kind is StartFailure.FAILED
    assert says in error.text
    assert str(path) in error.text
    assert f"Set {EXECUTABLE}" in error.text


async def test_a_file_that_is_no_program_says_so(tmp_path: Path, new_bench: NewBench) -> None:
    path = tmp_path / "claude"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)
    error = await failure(new_bench(plain_launch(tmp_path, cli_path=str(path))))
    assert "Exec format error" in error.text
    assert f"Check that {path} runs in a terminal." in error.text


async def test_a_missing_folder_is_named(tmp_path: Path, new_bench: NewBench) -> None:
    launch = replace(fake_launch(tmp_path), cwd=str(tmp_path / "gone"))
    error = await failure(new_bench(launch))
    assert f"Working directory does not exist: {tmp_path / 'gone'}" in error.text


# ── a process that ends, or does not answer ───────────────────────────────────


@pytest.mark.parametrize("code", [0, 3])
async def test_an_early_end_tells_the_code_and_the_last_words(
    code: int, tmp_path: Path, new_bench: NewBench
) -> None:
    steps = [{"do": "stderr", "text": f"word {n}"} for n in range(30)]
    launch = fake_launch(tmp_path, {"start": [*steps, {"do": "exit", "code": code}]})
    error = await failure(new_bench(launch))
    assert error.kind is StartFailure.FAILED
    assert f"exited with code {code}" in error.text
    assert "word 29" in error.text
    assert "word 9\n" not in error.text
    assert EXECUTABLE in error.text


async def test_an_early_end_by_a_signal(tmp_path: Path, new_bench: NewBench) -> None:
    error = await failure(new_bench(fake_launch(tmp_path, {"start": [{"do": "die", "signal": 9}]})))
    assert "killed by signal 9" in error.text


async def test_a_pipe_that_broke_before_the_handshake_leaves_the_word_to_the_reader(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    launch = plain_launch(tmp_path, cli_path=str(program))
    items: list[object] = []
    tap = TapTransport({**sdk_options(launch, {}, 0), "cli_path": program}, {}, items.append)
    await tap.connect()
    assert tap.process is not None
    await tap.process.wait()

    await tap.write('{"type": "control_request", "request": {"subtype": "initialize"}}\n')
    with pytest.raises(ClaudeGone):
        await tap.write_line("{}\n")
    with pytest.raises(CLIConnectionError):
        await anext(tap.read_messages())
    assert items == [Closed(1, StreamEnd.DIED, 4, "Claude Code exited with code 4.")]
    await tap.close()


async def test_garbage_instead_of_an_answer(tmp_path: Path, new_bench: NewBench) -> None:
    scenario = {"start": [{"do": "raw", "text": "warning: odd\n{oops\n"}, {"do": "sleep", "seconds": 60}]}
    error = await failure(new_bench(fake_launch(tmp_path, scenario)))
    assert "not JSON" in error.text
    assert "oops" not in error.text


async def test_a_refused_handshake(tmp_path: Path, new_bench: NewBench) -> None:
    error = await failure(
        new_bench(fake_launch(tmp_path, {"replies": {"initialize": {"error": "not today"}}}))
    )
    assert error.text.startswith("not today")


async def test_silence_has_a_limit(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path, {"replies": {"initialize": None}}))
    error = await failure(bench, limit=0.5)
    assert "did not answer within 0.5 s" in error.text


async def test_a_start_that_is_cancelled_leaves_no_process(tmp_path: Path, new_bench: NewBench) -> None:
    bench = new_bench(fake_launch(tmp_path, {"replies": {"initialize": None}}))
    with anyio.move_on_after(1) as scope:
        await bench.start()
    assert scope.cancelled_caught
    assert await bench.mark.wait_gone(10) == {}


@pytest.mark.parametrize("early", [True, False])
async def test_a_stop_reaches_a_start(early: bool, tmp_path: Path, new_bench: NewBench) -> None:
    silent = {"steps": [{"type": "hello"}]}
    bench = new_bench(fake_launch(tmp_path, {"replies": {"initialize": silent}}))
    errors: list[StartFailed] = []

    async def start() -> None:
        errors.append(await failure(bench))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start)
        await anyio.wait_all_tasks_blocked()
        if not early:
            await bench.until(lambda frame: frame.type == "hello")
        await bench.claude.stop()
        assert bench.mark.living() == {}
    assert "stopped while it started" in errors[0].text


# ── what Claude Code says itself ──────────────────────────────────────────────

RESULT = {"type": "result", "subtype": "error_during_execution", "is_error": True}


@pytest.mark.parametrize(
    ("fields", "kind", "advice"),
    [
        ({"errors": ["No conversation found with session ID: x"]}, StartFailure.UNKNOWN_SESSION, ""),
        (
            {"errors": ["Sign in."], "startup_failure_reason": "org_pin_mismatch"},
            StartFailure.AUTH_REQUIRED,
            "",
        ),
        (
            {"errors": ["It cannot be used with root."], "startup_failure_reason": "bypass_root"},
            StartFailure.FAILED,
            "IS_SANDBOX=1",
        ),
    ],
)
async def test_an_error_result_is_the_text(
    fields: Mapping[str, Any], kind: StartFailure, advice: str, tmp_path: Path, new_bench: NewBench
) -> None:
    steps = [{"do": "stderr", "text": "noise"}, {**RESULT, **fields}, {"do": "exit", "code": 1}]
    error = await failure(new_bench(fake_launch(tmp_path, {"start": steps})))
    assert error.kind is kind
    assert error.reason == fields.get("startup_failure_reason")
    assert error.text.splitlines()[0] == fields["errors"][0]
    assert "noise" not in error.text
    assert advice in error.text


def test_what_to_do_about_sentences_of_claude_code() -> None:
    in_use = "Claude Code exited with code 1.\nError: Session ID x is already in use."
    assert "Load that session" in explain_start(in_use, None, None).text
    assert "Update it." in explain_start("error: unknown option '--new'", None, "/c").text
    assert explain_start("A sentence that says it all.", "proxy_invalid", "/c").text == (
        "A sentence that says it all."
    )
    assert explain_start("It ended.", None, None).text == "It ended."


# ── a start that works ────────────────────────────────────────────────────────


async def test_the_reply_comes_back_and_the_launch_arrives(tmp_path: Path, new_bench: NewBench) -> None:
    project = tmp_path / "a b" / "ü 日本"
    project.mkdir(parents=True)
    scenario = {"initialize": {"claude_code_version": "9.9.9"}}
    launch = replace(fake_launch(tmp_path, scenario, model="opus"), cwd=str(project))
    bench = new_bench(replace(launch, env={**launch.env, "TEST_GREETING": "hi\nthere"}))
    reply = await bench.start()

    assert reply["claude_code_version"] == "9.9.9"
    assert bench.claude.pid == reply["pid"]
    assert bench.kinds == ["control_response/success"]
    [start, *_] = fake_cli.logged(tmp_path)
    assert start["cwd"] == str(project)
    assert start["argv"][start["argv"].index("--model") + 1] == "opus"
    assert start["env"]["TEST_GREETING"] == "hi\nthere"
    assert start["env"]["CLAUDE_CODE_STARTUP_FAILURE_RESULTS"] == "1"
    [asked] = fake_cli.received(tmp_path)
    assert asked["request"]["subtype"] == "initialize"
    assert asked["request"]["hooks"]["PostToolUse"] == [{"matcher": None, "hookCallbackIds": ["PostToolUse"]}]


async def test_two_processes_start_at_once(tmp_path: Path, new_bench: NewBench) -> None:
    benches = [new_bench(fake_launch(_folder(tmp_path, name))) for name in ("one", "two")]
    async with anyio.create_task_group() as tasks:
        for bench in benches:
            tasks.start_soon(bench.start)
    assert len({bench.claude.pid for bench in benches}) == 2


def test_an_error_keeps_its_parts() -> None:
    error = explain_start("a", "r", None)
    assert (str(error), error.text, error.reason) == ("a", "a", "r")
    assert json.dumps(error.text)


def _folder(root: Path, name: str) -> Path:
    (root / name).mkdir()
    return root / name
