"""A Claude Code that does not start: the client is told why and what to do, and can go on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import claudes
from tests.e2e.faults.conftest import Stage
from tests.support import fake_cli
from tests.support.rpc import HANG, Json, RpcError
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.anyio

EXECUTABLE = "CLAUDE_CODE_EXECUTABLE"

UNKNOWN = """#!/bin/sh
case "$*" in
*--resume*)
    echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]}'
    exit 1 ;;
esac
exec FAKE "$@"
"""  # noqa: E501 - one line of the protocol
"""A Claude Code that has stored nothing yet."""


TAKEN_UP: list[Json] = [
    {"type": "command_lifecycle", "command_uuid": "$UUID", "state": "started"},
    {"type": "system", "subtype": "status", "status": "requesting", "user_message_uuids": ["$UUID"]},
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "$TEXT"}]},
        "uuid": "$UUID",
        "isReplay": True,
        "parent_tool_use_id": None,
    },
]
"""A prompt that the model was asked."""


@pytest.mark.parametrize(
    "make",
    [lambda path: None, lambda path: path.mkdir(), lambda path: path.write_text("#!/bin/sh\n")],
    ids=["missing", "directory", "not executable"],
)
async def test_a_path_that_is_no_program_is_named_with_the_remedy(
    make: Callable[[Path], Any], start_agent: StartAgent, tmp_path: Path
) -> None:
    path = tmp_path / "no claude"
    make(path)
    client = await start_agent(env={EXECUTABLE: str(path)})
    await client.initialize()
    params = {"cwd": str(client.sandbox.project), "mcpServers": []}
    error = await client.call("session/new", params).error()
    assert error.code == -32603
    assert str(path) in error.message
    assert EXECUTABLE in error.message

    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(fake_cli.PATH)
    session = await client.new_session()
    assert (await client.prompt(session, "hi").result())["stopReason"] == "end_turn"


async def test_an_end_at_the_start_is_told_with_its_last_words(stage: Stage) -> None:
    with pytest.raises(RpcError) as caught:
        await stage.open(start=[{"do": "stderr", "text": "out of tea"}, {"do": "exit", "code": 3}])
    assert caught.value.code == -32603
    assert "code 3" in caught.value.message
    assert "out of tea" in caught.value.message
    await (await stage.open()).is_well()


async def test_a_start_that_nobody_waits_for_any_more_is_given_up(stage: Stage) -> None:
    living = claudes(stage.client)
    stage.plan(replies={"initialize": None})
    before = len(starts(stage))
    call = stage.client.call("session/new", {"cwd": str(stage.folder), "mcpServers": []})
    with anyio.fail_after(HANG):
        while len(starts(stage)) == before:  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)
    stage.client.notify("$/cancel_request", {"requestId": call.id})
    assert (await call.error()).code == -32800
    with anyio.fail_after(HANG):
        while claudes(stage.client) != living:  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.05)
    await (await stage.open()).is_well()


async def test_it_runs_with_almost_no_environment(start_agent: StartAgent, sandbox: Sandbox) -> None:
    bare: dict[str, str | None] = dict.fromkeys(set(sandbox.environment()) - {"PATH", "PYTHONPATH"})
    client = await start_agent(env={**bare, EXECUTABLE: str(fake_cli.PATH)})
    await client.initialize()
    session = await client.new_session()
    assert (await client.prompt(session, "hi").result())["stopReason"] == "end_turn"


# ── it does not start again ───────────────────────────────────────────────────


@pytest.mark.contract("CY-025")
async def test_a_restart_that_fails_says_what_to_do_and_the_next_prompt_tries_again(stage: Stage) -> None:
    chat = await stage.open(turns=[[{"do": "die"}]])
    await chat.prompt("hi").error()
    stage.plan(start=[{"do": "stderr", "text": "out of tea"}, {"do": "exit", "code": 3}])
    for _ in range(2):
        error = await chat.prompt("again").error()
        assert error.code == -32603
        assert error.message.startswith("Claude Code could not be restarted: ")
        assert "out of tea" in error.message
        assert error.message.endswith("Start a new session.")
    stage.plan()
    assert (await chat.ask("once more"))["stopReason"] == "end_turn"
    assert chat.text() == "Claude Code was restartedonce more"


@pytest.mark.contract("CY-024")
async def test_a_process_that_dies_again_is_started_once_for_each_prompt(stage: Stage) -> None:
    chat = await stage.open(turns=[[{"do": "die"}]])
    before = len(starts(stage))
    for n in range(3):
        error = await chat.prompt(f"try {n}").error()
        assert error.message.startswith("The Claude Agent process exited unexpectedly.")
    assert len(starts(stage)) == before + 2
    stage.plan()
    assert (await chat.ask("well"))["stopReason"] == "end_turn"


async def test_a_conversation_that_was_never_stored_is_started_anew(
    start_agent: StartAgent, tmp_path: Path
) -> None:
    claude = tmp_path / "claude"
    claude.write_text(UNKNOWN.replace("FAKE", str(fake_cli.PATH)))
    claude.chmod(0o755)
    env = fake_cli.install(tmp_path, {"turns": [[*TAKEN_UP, {"do": "die"}]]})
    client = await start_agent(env={**env, EXECUTABLE: str(claude)})
    await client.initialize()
    session = await client.new_session()
    await client.prompt(session, "hi").error()
    fake_cli.install(tmp_path)
    assert (await client.prompt(session, "again").result())["stopReason"] == "end_turn"
    assert client.text(session) == "Claude Code was restartedagain"


def starts(stage: Stage) -> list[Json]:
    """Every start of the fake Claude Code for a session so far."""
    return [entry for entry in fake_cli.logged(stage.folder) if "stream-json" in entry.get("argv", ())]
