"""A client that does not read for a while: memory stays bounded, and everything arrives."""

import json
import time
from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.e2e.faults.test_frames import SPEAKS
from tests.support import fake_cli
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DELTAS = 100_000
PAUSE = 10.0
GROWTH = 64 * 1024 * 1024
"""Bytes by which the agent may grow: the frames of the flood are four times that."""


def memory(client: AcpClient, name: str) -> int:
    """A value of the agent's process in bytes: `VmRSS`, or `VmHWM`, the most it ever was."""
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


async def test_a_flood_waits_for_a_client_that_does_not_read(start_agent: StartAgent, tmp_path: Path) -> None:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "$N," * 50}}
    flood: Json = {"do": "many", "count": DELTAS, "frame": {"type": "stream_event", "event": event}}
    env = fake_cli.install(tmp_path, {"turns": [[*SPEAKS, flood, {"do": "plain", "text": "end"}]]})
    client = await start_agent(env=env, check=False)  # judging so many equal messages takes a minute
    await client.initialize()
    session = await client.new_session()
    before = memory(client, "VmRSS")
    call = client.prompt(session, "hi")
    await client.wait_update("agent_message_chunk")
    time.sleep(PAUSE)  # noqa: ASYNC251 - nothing of this client runs meanwhile
    assert memory(client, "VmHWM") - before < GROWTH
    assert (await call.result(within=120))["stopReason"] == "end_turn"
    assert memory(client, "VmHWM") - before < GROWTH

    texts = [chunk["content"]["text"] for chunk in client.updates(session, "agent_message_chunk")]
    assert texts[0] == "part"
    assert [int(text.split(",")[0]) for text in texts[1:-1]] == list(range(DELTAS))
    assert texts[-1] == "end"


async def test_a_cancel_gets_through_while_the_client_does_not_read(
    start_agent: StartAgent, tmp_path: Path
) -> None:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 500}}
    flood: Json = {"do": "many", "count": DELTAS, "frame": {"type": "stream_event", "event": event}}
    env = fake_cli.install(tmp_path, {"turns": [[*SPEAKS, flood]]})
    client = await start_agent(env=env, check=False)
    await client.initialize()
    session = await client.new_session()
    call = client.prompt(session, "hi")
    await client.wait_update("agent_message_chunk")
    client.cancel(session)
    time.sleep(1)  # noqa: ASYNC251 - the cancel is on its way and nothing is read
    assert (await call.result(within=120))["stopReason"] == "cancelled"
    interrupts = [line for line in fake_cli.received(tmp_path) if "interrupt" in json.dumps(line)]
    assert interrupts
    assert len(client.updates(session, "agent_message_chunk")) < DELTAS
    assert (await client.prompt(session, "again").result())["stopReason"] == "end_turn"
