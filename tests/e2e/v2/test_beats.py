"""Beats of a call that starts a subagent, from a Claude Code that sends them when a test wants it."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartAgent
from tests.e2e.v2.conftest import V2
from tests.support import fake_cli
from tests.support.rpc import Json

pytestmark = pytest.mark.anyio

LAUNCH: Json = {
    "type": "tool_use",
    "id": "launch",
    "name": "Agent",
    "input": {"description": "Help", "prompt": "Look.", "subagent_type": "general-purpose"},
}


def beat(call: str, name: str, parent: str | None, seconds: int) -> Json:
    """Claude Code says that a call still runs."""
    told: dict[str, Any] = {"tool_use_id": call, "tool_name": name, "parent_tool_use_id": parent}
    return {"type": "tool_progress", **told, "elapsed_time_seconds": seconds}


TURN: list[Json] = [
    {"type": "command_lifecycle", "command_uuid": "$UUID", "state": "started"},
    {
        "type": "assistant",
        "message": {"id": "m1", "role": "assistant", "model": "m", "content": [LAUNCH]},
        "parent_tool_use_id": None,
    },
    {
        "type": "system",
        "subtype": "task_started",
        "task_id": "child",
        "tool_use_id": "launch",
        "task_type": "local_agent",
        "description": "Help",
        "prompt": "Look.",
    },
    beat("launch", "Agent", None, 30),
    beat("hidden", "Bash", "launch", 60),
    {"do": "plain", "text": "Done."},
]


@pytest.mark.contract("V2-040")
async def test_beats_of_a_launch_stay_with_it(start_agent: StartAgent, tmp_path: Path) -> None:
    client = await start_agent(env={**V2, **fake_cli.install(tmp_path, {"turns": [TURN]})})
    await client.initialize_v2()
    session = await client.new_session()
    await client.prompt(session, "Go.").result()
    await client.wait_update(
        "state_update", lambda update: update["state"] == "idle" and "stopReason" in update
    )
    beats = [
        (message.body["params"]["sessionId"], message.body["params"]["update"])
        for message in client.messages
        if "elapsedTimeSeconds" in str(message.body)
    ]
    assert [where for where, _ in beats] == [session, session]
    assert {update["toolCallId"] for _, update in beats} == {"launch"}
    seconds = [update["_meta"]["claudeCode"]["toolResponse"]["elapsedTimeSeconds"] for _, update in beats]
    assert seconds == [30, 60]
    assert "in_progress" in [update.get("status") for _, update in beats]
