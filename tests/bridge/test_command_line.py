"""The command line as a shell and an editor use it: one process for each case."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from bridge import serve
from bridge.__main__ import main
from tests.support.sandbox import bundled_cli

ROOT = Path(__file__).parents[2]
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
HANG = 60.0
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Nothing of the developer's."""
    own = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "PYTHONPATH": str(ROOT)}
    return {"PATH": os.environ["PATH"], "IS_SANDBOX": "1", **own}


@pytest.fixture
def run(environ: Mapping[str, str], tmp_path: Path) -> Run:
    """Runs `claude-acp` to its end."""

    def run(
        *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), input=stdin, env={**environ, **(env or {})}, cwd=tmp_path,
            capture_output=True, text=True, timeout=HANG,
        )  # fmt: skip

    return run


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "claude_acp", *arguments]


def script(folder: Path, body: str) -> dict[str, str]:
    """A Claude Code that is this shell script."""
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return {"CLAUDE_CODE_EXECUTABLE": str(path)}


# ── the Claude Code command line ──────────────────────────────────────────────


@pytest.mark.live
@pytest.mark.contract("CL-001")
def test_cli_runs_claude_code_and_goes_before_our_own_version(run: Run) -> None:
    direct = subprocess.run([bundled_cli(), "--version"], capture_output=True, text=True, timeout=HANG)

    for arguments in (["--cli", "--version"], ["--version", "--cli"], ["--hide-claude-auth", "--cli", "-v"]):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (0, direct.stdout)


@pytest.mark.live
@pytest.mark.contract("CL-001")
def test_the_login_of_a_terminal_method_reaches_claude_code(run: Run) -> None:
    done = run("--hide-claude-auth", "--cli", "auth", "status", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["loggedIn"] is False


@pytest.mark.contract("CL-001")
@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["--cli"], []),
        (["--cli", "auth", "login", "--claudeai"], ["auth", "login", "--claudeai"]),
        (["-p", "--cli", "two words", ""], ["-p", "two words", ""]),
        (["--hide-claude-auth", "--cli", "--hide-claude-auth", "-v"], ["-v"]),
        (["--trace", "t.jsonl", "--cli", "--help"], ["--help"]),
        (["--cli", "doctor", "--cli"], ["doctor"]),
    ],
)
def test_all_but_our_own_flags_go_to_claude_code(
    run: Run, tmp_path: Path, arguments: list[str], passed: list[str]
) -> None:
    done = run(*arguments, env=script(tmp_path, 'for word; do echo "<$word>"; done'))

    assert done.stdout.splitlines() == [f"<{word}>" for word in passed]
    assert done.stderr == ""


@pytest.mark.contract("CL-001")
def test_it_has_our_stdio_and_its_status_is_ours(run: Run, tmp_path: Path) -> None:
    done = run("--cli", stdin="hello\n", env=script(tmp_path, "cat; echo oops >&2; exit 42"))

    assert (done.returncode, done.stdout, done.stderr) == (42, "hello\n", "oops\n")


@POSIX
@pytest.mark.contract("CL-001")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_reaches_claude_code(tmp_path: Path, environ: Mapping[str, str], name: str) -> None:
    stopped = f"trap 'echo stopped; exit 7' {name[3:]}; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen(
        command("--cli"), env={**environ, **script(tmp_path, stopped)}, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, name))
        assert process.stdout.read() == "stopped\n"
        assert process.wait(HANG) == 7


@POSIX
@pytest.mark.contract("CL-001")
def test_the_signal_that_ends_it_is_returned(run: Run, tmp_path: Path) -> None:
    assert run("--cli", env=script(tmp_path, "kill -KILL $$")).returncode == -signal.SIGKILL
    assert run("--cli", env=script(tmp_path, "kill -PIPE $$; exit 0")).returncode == -signal.SIGPIPE


@pytest.mark.contract("CL-001", "CL-012")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "was not found at"),
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: path.write_text("#!/bin/sh\n"), "is not executable"),
        (lambda path: (path.write_bytes(b"\x7fELF no program"), path.chmod(0o755)), "cannot be run"),
    ],
    ids=["missing", "directory", "not executable", "no program"],
)
def test_a_claude_code_that_cannot_be_run_is_one_sentence_and_a_status(
    run: Run, tmp_path: Path, make: Callable[[Path], Any], said: str
) -> None:
    make(tmp_path / "claude")
    done = run("--cli", "--version", env={"CLAUDE_CODE_EXECUTABLE": str(tmp_path / "claude")})

    assert done.returncode == 1
    assert said in done.stderr
    assert "CLAUDE_CODE_EXECUTABLE" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


# ── what is answered at once ──────────────────────────────────────────────────


@pytest.mark.contract("CL-002")
@pytest.mark.parametrize("arguments", [["--version"], ["-v"], ["--odd", "--version"]])
def test_version(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (0, f"{version('claude-acp')}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--hide-claude-auth", "--help"]])
def test_help_names_every_way_to_start(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stderr) == (0, "")
    for flag in ("--trace", "--hide-claude-auth", "demo", "doctor", "--cli", "--version"):
        assert flag in done.stdout


# ── the agent ─────────────────────────────────────────────────────────────────


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str | None, bool]]:
    """The trace and the guard with which the agent is started."""

    def started(*arguments: str) -> tuple[str | None, bool]:
        calls: list[tuple[str | None, bool]] = []

        def fake(environ: Mapping[str, str], trace: str | None, *, hide_claude: bool) -> int:
            assert environ is os.environ
            calls.append((trace, hide_claude))
            return 5

        monkeypatch.setattr(serve, "serve", fake)
        monkeypatch.setattr(sys, "argv", ["claude-acp", *arguments])
        assert main() == 5
        (call,) = calls
        return call

    return started


@pytest.mark.contract("CL-003")
@pytest.mark.parametrize(
    ("arguments", "trace", "hide"),
    [
        ([], None, False),
        (["--hide-claude-auth"], None, True),
        (["--acp", "--hide-claude-auth", "serve"], None, True),
        (["--trace", "t.jsonl"], "t.jsonl", False),
        (["--trace=t.jsonl"], "t.jsonl", False),
        (["--hide-claude-auth", "--trace", "t.jsonl"], "t.jsonl", True),
        (["--trace", "t.jsonl", "--acp", "--hide-claude-auth"], "t.jsonl", True),
        (["--trace"], None, False),
        (["--trace", "--hide-claude-auth"], None, True),
        (["--trace", ""], None, False),
    ],
)
def test_flags_of_the_agent(
    served: Callable[..., object], arguments: list[str], trace: str | None, hide: bool
) -> None:
    assert served(*arguments) == (trace, hide)


@pytest.mark.parametrize("arguments", [["--acp"], ["serve"], ["--experimental-acp=1", "-x", "--stdio"]])
def test_what_it_does_not_know_is_ignored_with_a_line(run: Run, arguments: list[str]) -> None:
    done = run(*arguments, stdin=INITIALIZE)

    assert json.loads(done.stdout)["result"]["agentInfo"]["name"] == "claude-acp"
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "ignored" in line
    assert "--help" in line


@pytest.mark.contract("CL-014")
def test_values_of_unknown_arguments_are_not_told(run: Run) -> None:
    done = run("--api-key", "SECRET-1", "--token=SECRET-2", "-kSECRET-3", "SECRET-4", stdin=INITIALIZE)

    assert "SECRET" not in done.stderr + done.stdout
    assert "--api-key, --token, -k" in done.stderr


def test_a_trace_without_a_file_is_told_and_the_agent_starts(run: Run) -> None:
    done = run("--trace", stdin=INITIALIZE)

    assert '"result"' in done.stdout
    assert "--trace needs a file" in done.stderr


# ── logs ──────────────────────────────────────────────────────────────────────

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z pid=(\d+) (\S.*)")


@pytest.mark.contract("CL-008", "CL-009")
def test_a_folder_of_logs_is_made_and_gets_what_stderr_does_not(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "logs"
    done = run(stdin=INITIALIZE, env={"CLAUDE_AGENT_LOGS": str(folder)})
    run(stdin=INITIALIZE, env={"CLAUDE_AGENT_LOGS": str(folder)})

    lines = (folder / "agent.log").read_text().splitlines()
    matches = [LINE.fullmatch(line) for line in lines]
    assert all(matches)
    started = [match for match in matches if match and match[2].endswith("Claude ACP started")]
    assert started[0] is matches[0]
    assert len({match[1] for match in started}) == 2
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.contract("CL-009")
def test_errors_go_to_stderr_and_to_the_file(run: Run, tmp_path: Path) -> None:
    env = {"CLAUDE_AGENT_LOGS": str(tmp_path / "logs"), "CLAUDE_ACP_TRACE": str(tmp_path / "none" / "t")}
    done = run(stdin=INITIALIZE, env=env)

    assert "no trace" in done.stderr
    assert "no trace" in (tmp_path / "logs" / "agent.log").read_text()


@pytest.mark.contract("CL-009")
@pytest.mark.parametrize("level", ["info", "INFO", "debug"])
def test_without_a_folder_all_goes_to_stderr_from_the_level_on(run: Run, level: str) -> None:
    assert run(stdin=INITIALIZE).stderr == ""
    assert "Claude ACP started" in run(stdin=INITIALIZE, env={"CLAUDE_ACP_LOG": level}).stderr


def test_the_level_holds_for_the_file_too(run: Run, tmp_path: Path) -> None:
    run(stdin=INITIALIZE, env={"CLAUDE_AGENT_LOGS": str(tmp_path / "logs"), "CLAUDE_ACP_LOG": "error"})

    assert (tmp_path / "logs" / "agent.log").read_text() == ""


@pytest.mark.parametrize(("value", "lines"), [("v1", 0), ("", 0), ("auto", 0), ("v3-secret", 1)])
def test_an_unknown_protocol_is_told_without_its_text(run: Run, value: str, lines: int) -> None:
    """Decision 24."""
    done = run(stdin=f"{INITIALIZE}\n", env={"CLAUDE_AGENT_ACP_PROTOCOL": value})
    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1
    told = [line for line in done.stderr.splitlines() if "CLAUDE_AGENT_ACP_PROTOCOL" in line]
    assert len(told) == lines
    assert "secret" not in done.stderr


def test_a_level_that_nobody_knows_is_told_without_its_text(run: Run) -> None:
    done = run(stdin=INITIALIZE, env={"CLAUDE_ACP_LOG": "SECRET"})

    assert '"result"' in done.stdout
    assert "debug, info, warning, error" in done.stderr
    assert "SECRET" not in done.stderr


@pytest.mark.contract("CL-008")
@pytest.mark.parametrize("place", ["file", "file/below", "/dev/full", "agent.log is a folder"])
def test_a_folder_that_cannot_be_written_ends_nothing(run: Run, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "agent.log is a folder" / "agent.log").mkdir(parents=True)
    done = run(stdin=INITIALIZE, env={"CLAUDE_AGENT_LOGS": str(tmp_path / place)})

    assert '"result"' in done.stdout
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "CLAUDE_AGENT_LOGS" in line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_disk_that_is_full_later_ends_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "agent.log").symlink_to("/dev/full")
    done = run(stdin=INITIALIZE, env={"CLAUDE_AGENT_LOGS": str(tmp_path / "logs")})

    assert '"result"' in done.stdout
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert done.stderr.count("agent.log") == 1


def test_a_text_of_several_lines_stays_readable_line_by_line(tmp_path: Path) -> None:
    code = (
        "import logging, os; from bridge.logs import set_up_logs; set_up_logs(os.environ)\n"
        "try: 1 / 0\nexcept ZeroDivisionError: logging.exception('first\\n\\nsecond')"
    )
    env = {"PATH": os.environ["PATH"], "CLAUDE_AGENT_LOGS": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, timeout=HANG, check=True)

    lines = (tmp_path / "agent.log").read_text().splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert any("ZeroDivisionError" in line for line in lines)


# ── its start ─────────────────────────────────────────────────────────────────


def test_the_command_line_imports_next_to_nothing() -> None:
    code = "import sys; before = {*sys.modules}; import bridge.__main__; print(*({*sys.modules} - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG, check=True
    )

    assert {*done.stdout.split()} == {"bridge", "bridge.__main__"}


@POSIX
@pytest.mark.contract("CL-011")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_the_agent_with_status_0(environ: Mapping[str, str], name: str) -> None:
    process = subprocess.Popen(
        command(),
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{INITIALIZE}\n")
        process.stdin.flush()
        assert '"result"' in process.stdout.readline()
        process.send_signal(getattr(signal, name))
        assert process.wait(HANG) == 0
