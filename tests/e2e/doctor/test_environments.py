"""The agent in a bad environment: the handshake works, and what does not work says what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartAgent
from tests.support.acp_client import AcpClient
from tests.support.rpc import RpcError
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

EXECUTABLE = "CLAUDE_CODE_EXECUTABLE"


async def works(client: AcpClient) -> None:
    """A conversation from its start to its answer."""
    await client.initialize()
    session = await client.new_session()
    assert (await client.prompt(session, "hi").result())["stopReason"] == "end_turn"


async def refused(client: AcpClient) -> RpcError:
    """The handshake works, a session does not; the same agent would serve the next request."""
    await client.initialize()
    params = {"cwd": str(client.sandbox.project), "mcpServers": []}
    first = await client.call("session/new", params).error()
    again = await client.call("session/new", params).error()
    assert (first.code, first.message, first.data) == (again.code, again.message, again.data)
    return first


BROKEN = {
    "syntax": lambda path: path.write_text('{"env": '),
    "array": lambda path: path.write_text("[]"),
    "huge": lambda path: path.write_text(json.dumps({"x": "y" * (5 << 20)})),
    "deep": lambda path: path.write_text("[" * 100_000),
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
async def test_settings_that_cannot_be_read_count_as_empty_and_are_told(
    start_agent: StartAgent, sandbox: Sandbox, make: Callable[[Path], Any]
) -> None:
    make(sandbox.config / "settings.json")
    (sandbox.project / ".claude").mkdir()
    make(sandbox.project / ".claude" / "settings.local.json")
    client = await start_agent()
    await works(client)

    for path in (sandbox.config / "settings.json", sandbox.project / ".claude" / "settings.local.json"):
        assert f"Settings at {path} " in client.stderr


async def test_settings_of_wrong_types_do_not_keep_a_session_from_starting(
    start_agent: StartAgent, sandbox: Sandbox
) -> None:
    names = (
        "model",
        "permissions",
        "env",
        "effortLevel",
        "availableModels",
        "modelOverrides",
        "modelSettings",
    )
    client = await start_agent()
    await client.initialize()
    values: tuple[Any, ...] = (7, [1], {"a": {}})
    for value in values:
        (sandbox.config / "settings.json").write_text(json.dumps(dict.fromkeys(names, value)))
        await client.new_session()


@pytest.mark.parametrize("gone", [["HOME"], ["PATH"], ["HOME", "PATH"]], ids=" ".join)
async def test_without_home_or_path_it_works(start_agent: StartAgent, gone: list[str]) -> None:
    await works(await start_agent(env=dict.fromkeys(gone)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "Claude Code was not found at {}."),
        (lambda path: path.mkdir(), "{} is a directory, not the Claude Code executable in it."),
        (lambda path: path.write_text("#!/bin/sh\n"), "{} is not executable."),
    ],
    ids=["missing", "directory", "not executable"],
)
@pytest.mark.contract("CL-012")
async def test_a_claude_code_that_cannot_be_run_is_named_with_the_remedy(
    start_agent: StartAgent, tmp_path: Path, make: Callable[[Path], Any], said: str
) -> None:
    path = tmp_path / "claude"
    make(path)
    error = await refused(await start_agent(env={EXECUTABLE: str(path)}))

    assert error.code == -32603
    assert error.data["details"].startswith(said.format(path))
    assert f"Set {EXECUTABLE} to a Claude Code executable, or unset it" in error.data["details"]
    assert error.message == f"Internal error: {error.data['details']}"


async def test_a_claude_code_that_ends_at_once_is_named(start_agent: StartAgent) -> None:
    error = await refused(await start_agent(env={EXECUTABLE: "/bin/false"}))

    assert error.code == -32603
    assert error.data["details"].startswith("Claude Code exited with code 1.")
    assert "Check that /bin/false runs in a terminal." in error.data["details"]


async def test_a_proxy_that_is_no_url_is_told_with_its_reason(start_agent: StartAgent) -> None:
    error = await refused(await start_agent(env={"HTTPS_PROXY": "not a url"}))

    assert error.code == -32603
    assert error.data == {"startupFailureReason": "proxy_invalid"}
    assert "Fix or unset HTTPS_PROXY" in error.message


@pytest.mark.contract("CL-014")
async def test_the_password_of_a_proxy_is_not_told(start_agent: StartAgent) -> None:
    client = await start_agent(env={"HTTPS_PROXY": "http://me:MARK-WORD@no host"})
    error = await refused(client)

    assert "MARK-WORD" not in f"{error.message} {error.data} {client.stderr}"


async def test_a_model_configuration_that_is_no_json_object_is_told(start_agent: StartAgent) -> None:
    error = await refused(await start_agent(env={"CLAUDE_MODEL_CONFIG": "MARK ["}))

    assert "CLAUDE_MODEL_CONFIG must be a JSON object" in error.message
    assert "MARK" not in f"{error.message} {error.data}"


@pytest.mark.contract("CL-013")
async def test_transcripts_and_settings_are_below_the_configuration_folder(
    start_agent: StartAgent, sandbox: Sandbox, tmp_path: Path
) -> None:
    config = tmp_path / "elsewhere"
    config.mkdir()
    (config / "settings.json").write_text('{"permissions": {"defaultMode": "plan"}}')
    client = await start_agent(env={"CLAUDE_CONFIG_DIR": str(config)})
    await client.initialize()
    created = await client.request("session/new", {"cwd": str(sandbox.project), "mcpServers": []})
    assert created["modes"]["currentModeId"] == "plan"
    await client.prompt(created["sessionId"], "hi").result()

    assert [*(config / "projects").glob(f"*/{created['sessionId']}.jsonl")]
    assert not (sandbox.home / ".claude").exists()
