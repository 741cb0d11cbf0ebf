"""Benchmarks of single parts, each in a process of its own, which finds the installed code.

    python tests/bench/inside.py coordinator

prints one JSON object.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import anyio

from bridge.diffs.patch import build_patch
from bridge.peer import Peer
from bridge.stdio import Writer
from machines import events as e
from machines.conversation import Conversation

CALLS = 10
"""Tool calls of a turn."""
TURNS = 30
UPDATES = 50_000
LINES = 12_000


def coordinator() -> dict[str, float]:
    """Edge events a second: whole turns with tool calls, of which one asks for permission."""
    conversation = Conversation()
    conversation.open(resume=False)
    conversation.handle(e.QueryInitialized())
    events = [event for number in range(TURNS) for event in _turn(f"{number}")]
    answered = 0
    began = time.process_time()
    for event in events:
        for output in conversation.handle(event):
            answered += type(output).__name__ == "AnswerPrompt"
    seconds = time.process_time() - began
    assert answered == TURNS
    return {"coordinator": len(events) / seconds}


def _turn(turn: str) -> Iterator[e.Event]:
    yield e.PromptReceived(turn)
    yield e.CliStateChanged("running")
    yield e.CommandMoved(turn, "started")
    yield e.Requesting((turn,))
    yield e.Echoed(turn)
    yield e.MessageStarted()
    for number in range(CALLS):
        use = e.ToolUse(f"{turn}-{number}", "Bash", {"command": "true"})
        yield e.ToolStarted(e.ToolUse(use.call, use.name))
        yield e.ToolDispatched(use)
        if number == 0:
            yield e.AskReceived(
                f"ask {turn}", use, (e.Option("allow", grants=True), e.Option("reject", grants=False))
            )
            yield e.AskPrepared(f"ask {turn}")
            yield e.AskAnswered(f"ask {turn}", "allow")
        yield e.ToolHooked(use.call, use.name)
        yield e.ToolReturned(use.call, "done")
    yield e.Result(uuids=(turn,), stop_reason="end_turn", terminal_reason="completed")
    yield e.CommandMoved(turn, "completed")
    yield e.CliStateChanged("idle")


def writer() -> dict[str, float]:
    """Updates a second from the call of a session to a client that reads as fast as it can."""
    client = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert client.stdin is not None
    seconds = anyio.run(_write, client.stdin.fileno())
    client.stdin.close()
    client.wait()
    return {"writer": UPDATES / seconds}


async def _write(client: int) -> float:
    output = Writer(client, lambda: None)
    peer = Peer(output.send, lambda _: None)  # type: ignore[arg-type,return-value]  # nothing arrives
    content = {"type": "text", "text": "twenty characters.. "}
    began = time.process_time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(output.run)
        for number in range(UPDATES):
            update = {
                "sessionUpdate": "agent_message_chunk",
                "content": content,
                "messageId": f"msg_{number}",
            }
            peer.notify(
                "session/update", {"sessionId": "0f8fad5b-d9cb-469f-a165-70867728950e", "update": update}
            )
            if number % 100 == 0:
                await output.drained()
                await anyio.lowlevel.checkpoint()
        assert await output.finish(60)
    return time.process_time() - began


def diff() -> dict[str, float]:
    """Milliseconds for the exact patch of a file of 12,000 lines: 40 changes, and a rewritten part."""
    old = [f"    line {number} of a long file, with some words in it\n" for number in range(LINES)]
    new = list(old)
    for number in range(0, LINES, LINES // 40):
        new[number] = f"    changed {number}\n"
    new[5_000:5_400] = [f"    rewritten {number % 50}\n" for number in range(500)]
    began = time.process_time()
    patch = build_patch("/project/long.py", "".join(old), "".join(new))
    seconds = time.process_time() - began
    assert patch is not None
    return {"diff": seconds * 1e3}


PARTS: dict[str, Callable[[], dict[str, float]]] = {
    "coordinator": coordinator,
    "writer": writer,
    "diff": diff,
}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]]()))
