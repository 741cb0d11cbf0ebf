"""Benchmarks with the real Claude Code on a scripted model: the numbers that a user feels."""

import asyncio
import json
import time
from pathlib import Path
from statistics import median

from tests.bench.contestant import Contestant, cpu, resident, session
from tests.bench.measure import Sample
from tests.support.acp_client import AcpClient

CANCELS = 5
DELTAS = 20_000
CALLS_OF_A_STEP = 10
STEPS = 30
LINES = 200


async def start(contestant: Contestant) -> Sample:
    """From nothing to a session, and what it weighs."""
    async with contestant.run() as client:
        await client.initialize("plain")
        initialized = client.messages[-1].at
        place = {"cwd": str(client.sandbox.project), "mcpServers": []}
        opened = await client.call("session/new", place).message()
        await asyncio.sleep(0.5)  # what the answer does not wait for
        return {
            "initialize": initialized * 1e3,
            "session": (opened.at - initialized) * 1e3,
            "both": opened.at * 1e3,
            "memory": resident(client),
            "claude": await _claude_alone(client) * 1e3,
        }


def _words_of(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]


async def _claude_alone(client: AcpClient) -> float:
    """Seconds from the start of the same Claude Code, without an agent, to its reply to initialize."""
    (command,) = [_words_of(pid) for pid, words in client.mark.living().items() if "stream-json" in words]
    started = time.monotonic()
    claude = await asyncio.create_subprocess_exec(
        *command,
        cwd=client.sandbox.project,
        env=client.sandbox.environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert claude.stdin is not None
    assert claude.stdout is not None
    claude.stdin.write(b'{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}\n')
    while b'"control_response"' not in (line := await claude.stdout.readline()):
        assert line
    taken = time.monotonic() - started
    claude.kill()
    await claude.wait()
    return taken


async def cancel(contestant: Contestant) -> Sample:
    """From `session/cancel` in the middle of a text to the answer of its prompt: the median of a few."""
    async with session(contestant) as (client, opened):
        taken = []
        for _ in range(CANCELS):
            since = len(client.messages)
            prompt = client.prompt(opened, 'SCRIPT [[{"many": [3000, 20], "pace": 0.01}]]')
            await client.wait_update("agent_message_chunk", since=since)
            await asyncio.sleep(0.2)
            sent = time.monotonic()
            client.cancel(opened)
            answer = await prompt.result()
            assert answer["stopReason"] == "cancelled"
            taken.append(time.monotonic() - sent)
        return {"cancel": median(taken) * 1e3}


async def deltas(contestant: Contestant) -> Sample:
    """A long text, in small pieces."""
    async with session(contestant) as (client, opened):
        used = await _turn(client, opened, f'SCRIPT [[{{"many": [{DELTAS}, 20]}}]]')
        assert len(client.text(opened)) >= DELTAS * 20
        return {"deltas": used * 1e3 * 10_000 / DELTAS}


async def calls(contestant: Contestant) -> Sample:
    """300 tool calls in a turn: eight reads, a command and an edit in each of 30 steps."""
    async with session(contestant) as (client, opened):
        for number in range(STEPS):
            text = "".join(f"line {line} of file {number}\n" for line in range(LINES))
            (client.sandbox.project / f"{number}.txt").write_text(text)
        path = str(client.sandbox.project)
        await client.request("session/set_mode", {"sessionId": opened, "modeId": "acceptEdits"})
        script = [_step(path, number) for number in range(STEPS)]
        used = await _turn(client, opened, f"SCRIPT {json.dumps([*script, ['Done.']])}")
        shown = client.updates(opened, "tool_call")
        assert len({call["toolCallId"] for call in shown}) == STEPS * CALLS_OF_A_STEP
        return {"calls": used * 1e3}


def _step(path: str, number: int) -> list[object]:
    file = f"{path}/{number}.txt"
    edit = {"file_path": file, "old_string": f"line 100 of file {number}\n", "new_string": "another line\n"}
    return [
        *(
            {"name": "Read", "input": {"file_path": f"{path}/{number}.txt", "limit": 20 + at}}
            for at in range(8)
        ),
        {"name": "Bash", "input": {"command": f"echo {number}"}},
        {"name": "Edit", "input": edit},
    ]


async def command(contestant: Contestant) -> Sample:
    """A command that prints 10 MB, of which Claude Code passes on a part."""
    async with session(contestant) as (client, opened):
        step = [{"name": "Bash", "input": {"command": "yes one line of the output | head -c 10000000"}}]
        used = await _turn(client, opened, f"SCRIPT {json.dumps([step, ['Done.']])}")
        return {"command": used * 1e3}


async def _turn(client: AcpClient, opened: str, prompt: str) -> float:
    """Seconds of CPU that the agent's process needs for a turn."""
    before = cpu(client)
    answer = await client.prompt(opened, prompt).result(600)
    assert answer["stopReason"] == "end_turn"
    await asyncio.sleep(0.2)
    return cpu(client) - before
