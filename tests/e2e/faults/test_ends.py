"""However the connection ends, what was asked is answered, and nothing is left behind."""

import asyncio
import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import SLEEP, bash, script, slow
from tests.e2e.conftest import assert_answered
from tests.support import fake_cli
from tests.support.acp_client import AcpClient
from tests.support.processes import Mark
from tests.support.rpc import HANG, Call, never
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.anyio

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]

live = pytest.mark.live


async def begin(start_agent: StartAgent, prompt: str) -> tuple[AcpClient, Call]:
    """An agent with the real Claude Code in the middle of a prompt."""
    client = await start_agent()
    client.on_permission(never)
    await client.initialize()
    call = client.prompt(await client.new_session(), prompt)
    return client, call


def assert_quiet(client: AcpClient) -> None:
    """Nothing went wrong, as far as the log knows."""
    assert not [line for line in client.stderr.splitlines() if " WARNING " not in line]


async def exit_status(client: AcpClient) -> int:
    """The exit status of an agent that ends by itself, with all that it started."""
    status = await asyncio.wait_for(client.process.wait(), HANG)
    assert await client.mark.wait_gone(5) == {}
    return status


# ── the end of the input ──────────────────────────────────────────────────────


async def test_the_end_of_the_input_ends_an_agent_that_was_asked_nothing(start_agent: StartAgent) -> None:
    client = await start_agent()
    assert await client.close() == 0
    assert client.received == []
    assert_quiet(client)


@live
async def test_the_end_of_the_input_with_idle_sessions(start_agent: StartAgent) -> None:
    client = await start_agent()
    await client.initialize()
    for _ in range(2):
        await client.new_session()
    assert await client.close() == 0
    assert_quiet(client)


@live
async def test_the_end_of_the_input_while_the_model_speaks(start_agent: StartAgent) -> None:
    client, call = await begin(start_agent, script([slow()]))
    await client.wait_update("agent_message_chunk")
    assert await client.close() == 0
    assert (await call.result())["stopReason"] == "cancelled"
    assert_quiet(client)


@live
async def test_the_end_of_the_input_while_a_tool_runs(start_agent: StartAgent) -> None:
    client = await start_agent()
    await client.initialize()
    call = client.prompt(await client.new_session(), script([bash(f"echo go; {SLEEP}")]))
    await client.wait_question()
    await client.wait_update("tool_call_update")
    await asyncio.sleep(0.5)  # the command starts
    assert await client.close() == 0
    assert (await call.result())["stopReason"] == "cancelled"
    (call_id,) = [update["toolCallId"] for update in client.updates(kind="tool_call")]
    assert client.tool_call(call_id)["status"] == "failed"
    assert_quiet(client)


@live
async def test_the_end_of_the_input_with_a_question_open(start_agent: StartAgent) -> None:
    client, call = await begin(start_agent, script([bash("touch never")]))
    await client.wait_question()
    assert await client.close() == 0
    assert (await call.result())["stopReason"] == "cancelled"
    assert not (client.sandbox.project / "never").exists()
    assert_quiet(client)


async def test_requests_right_before_the_end_are_answered(
    agent_command: list[str], sandbox: Sandbox, tmp_path: Path
) -> None:
    """One-shot use on a pipe; the last line has no end."""
    requests = [
        ("initialize", {"protocolVersion": 1}),
        ("session/new", {"cwd": str(tmp_path), "mcpServers": []}),
        ("no/such", {}),
        ("session/close", {"sessionId": "nobody"}),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        for id, (method, params) in enumerate(requests)
    ]
    env = sandbox.environment() | fake_cli.install(tmp_path) | (mark := Mark()).environment
    process = await asyncio.create_subprocess_exec(
        *agent_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    stdout, stderr = await asyncio.wait_for(process.communicate("\n".join(lines).encode()), HANG)
    answers = {}
    for line in stdout.splitlines():
        body = json.loads(line)
        if "method" not in body:
            answers[body["id"]] = body
    assert answers.keys() == {0, 1, 2, 3}
    late = answers[1].get("error", {}).get("code") == -32800  # it had five seconds
    assert late or answers[1]["result"]["sessionId"]
    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["result"] == {}
    assert process.returncode == 0
    assert b"Traceback" not in stderr
    assert await mark.wait_gone(5) == {}


@pytest.mark.slow
async def test_a_request_that_never_ends_is_cancelled_at_the_end(
    start_agent: StartAgent, tmp_path: Path
) -> None:
    env = fake_cli.install(tmp_path, {"replies": {"initialize": None}})
    client = await start_agent(env=env)
    await client.initialize()
    call = client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    while not fake_cli.logged(tmp_path):  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.02)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert (await call.error()).code == -32800
    assert await exit_status(client) == 0


# ── signals, and a client that is gone ────────────────────────────────────────


@pytest.mark.parametrize("number", SIGNALS, ids=lambda each: each.name)
async def test_a_signal_ends_everything(
    number: signal.Signals, start_agent: StartAgent, tmp_path: Path
) -> None:
    wait = {"do": "await", "what": "nothing"}
    client = await start_agent(env=fake_cli.install(tmp_path, {"turns": [[wait]]}))
    await client.initialize()
    call = client.prompt(await client.new_session(), "hi")
    while not any(line["type"] == "user" for line in fake_cli.received(tmp_path)):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    client.process.send_signal(number)
    assert await exit_status(client) == 0
    assert (await call.result())["stopReason"] == "cancelled"
    assert_quiet(client)
    assert_answered(client)


@live
async def test_a_signal_in_a_turn_of_the_real_one(start_agent: StartAgent) -> None:
    client, call = await begin(start_agent, script(["Hm.", bash(f"echo go; {SLEEP}")]))
    await client.wait_question()
    client.process.send_signal(signal.SIGTERM)
    assert await exit_status(client) == 0
    assert (await call.result())["stopReason"] == "cancelled"
    assert_answered(client)


@live
async def test_a_client_that_reads_no_more_ends_everything(start_agent: StartAgent) -> None:
    client, _ = await begin(start_agent, script([slow()]))
    await client.wait_update("agent_message_chunk")
    transport = client.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # there is no other way to close it
    transport.close()
    assert await exit_status(client) == 1
    (line,) = [line for line in client.stderr.splitlines() if " WARNING " not in line]
    assert "does not read" in line


@live
async def test_a_client_that_is_killed_leaves_nothing_behind(start_agent: StartAgent) -> None:
    """Both ends of the agent's stdio are gone at once."""
    client, _ = await begin(start_agent, script([slow()]))
    await client.wait_update("agent_message_chunk")
    transport = client.process._transport  # type: ignore[attr-defined]  # as above
    for fd in (0, 1, 2):
        transport.get_pipe_transport(fd).close()
    await exit_status(client)  # which of the ends it sees first makes it 0 or not
    client.messages.clear()  # nobody was left to be answered
