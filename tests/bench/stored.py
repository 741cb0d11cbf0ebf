"""Benchmarks of what is stored: a list of thousands of sessions, a history of tens of megabytes."""

import json
import re
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.contestant import Contestant, cpu, resident
from tests.bench.measure import Sample
from tests.support.acp_client import AcpClient

SESSIONS = 2_000
MESSAGES = 5_000
MESSAGE = 4_000
"""Characters of one; together 20 MB."""
LINE = 12_000_000


async def listing(contestant: Contestant) -> Sample:
    """All pages of 2,000 sessions, for the first time and again after one of them changed."""
    async with contestant.run() as client:
        folder = _folder(client)
        for number in range(SESSIONS):
            store(folder, client.sandbox.project, 2, 200, number)
        await client.initialize("plain")
        await client.request(
            "session/list", {"cwd": "/nowhere"}
        )  # the agent's own start is measured elsewhere
        cold = await _pages(client)
        changed = next(iter(folder.glob("*.jsonl")))
        with changed.open("a") as transcript:
            transcript.write("{}\n")
        return {"list": cold, "again": await _pages(client)}


async def load(contestant: Contestant) -> Sample:
    """A history of 20 MB: its first update, its answer, and the memory that it took."""
    async with contestant.run() as client:
        id = store(_folder(client), client.sandbox.project, MESSAGES, MESSAGE, 0)
        await client.initialize("plain")
        warm = await client.new_session()
        assert (await client.prompt(warm, 'SCRIPT [["ready"]]').result())["stopReason"] == "end_turn"
        before, since = resident(client), len(client.messages)
        asked, used = time.monotonic(), cpu(client)
        place = {"sessionId": id, "cwd": str(client.sandbox.project), "mcpServers": []}
        call = client.call("session/load", place)
        chunk = await client.wait_for(_is_told, since=since, within=300)
        first = time.monotonic() - asked
        await call.result(600)
        took = time.monotonic() - asked
        used = cpu(client) - used
        assert chunk
        assert len(client.updates(id, "agent_message_chunk")) >= MESSAGES // 2
        return {
            "load": took * 1e3,
            "cpu": used * 1e3,
            "first": first * 1e3,
            "memory": resident(client) - before,
        }


async def line(contestant: Contestant) -> Sample:
    """A history whose one message is a line of 12 MB, and a prompt of another session meanwhile."""
    async with contestant.run() as client:
        id = store(_folder(client), client.sandbox.project, 2, LINE, 0)
        await client.initialize("plain")
        other = await client.new_session()
        assert (await client.prompt(other, 'SCRIPT [["ready"]]').result())["stopReason"] == "end_turn"
        asked = time.monotonic()
        place = {"sessionId": id, "cwd": str(client.sandbox.project), "mcpServers": []}
        call = client.call("session/load", place)
        answer = await client.prompt(other, 'SCRIPT [["meanwhile"]]').result(300)
        meanwhile = time.monotonic() - asked
        assert answer["stopReason"] == "end_turn"
        await call.result(300)
        return {"line": (time.monotonic() - asked) * 1e3, "meanwhile": meanwhile * 1e3}


def store(folder: Path, cwd: Path, messages: int, size: int, number: int) -> str:
    """Write a transcript of so many messages of this size; returns its id."""
    folder.mkdir(parents=True, exist_ok=True)
    id = str(uuid.UUID(int=(4 << 76) | (8 << 60) | number))
    with (folder / f"{id}.jsonl").open("w") as transcript:
        for record in _records(id, str(cwd), messages, size, number):
            transcript.write(json.dumps(record, separators=(",", ":")) + "\n")
    return id


def _records(id: str, cwd: str, messages: int, size: int, number: int) -> Iterator[dict[str, object]]:
    parent = None
    for at in range(messages):
        role = "assistant" if at % 2 else "user"
        own = str(uuid.uuid5(uuid.UUID(id), str(at)))
        text = f"{role} {at} of {number}. " + "lorem ipsum dolor sit amet " * (size // 27)
        content: object = text if role == "user" else [{"type": "text", "text": text}]
        message: dict[str, object] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{at}", "type": "message", "model": "claude-opus-5-5", "usage": {}}
        yield {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": cwd,
            "sessionId": id,
            "version": "2.1.0",
            "type": role,
            "message": message,
            "uuid": own,
            "timestamp": datetime.fromtimestamp(1_767_000_000 + number * 60 + at, UTC).isoformat(),
        }
        parent = own


async def _pages(client: AcpClient) -> float:
    """Milliseconds that all pages take."""
    asked, found, cursor = time.monotonic(), 0, None
    while True:
        params = {"cwd": str(client.sandbox.project)} | ({"cursor": cursor} if cursor else {})
        page = await client.call("session/list", params).result(300)
        found += len(page["sessions"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert found == SESSIONS, found
    return (time.monotonic() - asked) * 1e3


def _folder(client: AcpClient) -> Path:
    return client.sandbox.config / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(client.sandbox.project))


def _is_told(body: dict[str, object]) -> bool:
    return "user_message_chunk" in str(body)[:300]
