"""An agent on its own stdio: what only a process shows. Run as a module, this file is that agent."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from bridge.peer import Cause, Inbound, Peer
from bridge.stdio import MAX_QUEUED, Writer, claim_stdout, read_lines
from wire.lines import encode

HANG = 60.0
"""Seconds after which a test is stuck, on a loaded machine too."""


class Echo:
    """The agent of the process tests."""

    def __init__(self, peer: Peer, writer: Writer, tasks: TaskGroup) -> None:
        self.peer, self.writer, self.tasks = peer, writer, tasks
        self.broken = False

    def request(self, inbound: Inbound) -> None:
        match inbound.method:
            case "flood":
                self.tasks.start_soon(self._flood, inbound)
            case "print":
                print("from print")
                subprocess.run(["echo", "from a child"], check=True)
                inbound.respond({})
            case _:
                inbound.respond(inbound.params)

    async def _flood(self, inbound: Inbound) -> None:
        peak = 0
        for n in range(int(str(inbound.params["count"]))):
            self.peer.notify("n", {"n": n, "text": "x" * 1000})
            peak = max(peak, len(self.writer._queue))
            await self.writer.drained()
        inbound.respond({"peak": peak})

    def notification(self, method: str, params: Mapping[str, object]) -> None: ...

    def cancelled(self, inbound: Inbound) -> None: ...

    def closed(self, cause: Cause) -> None:
        if cause == "broken":
            self.broken = True
            self.tasks.cancel_scope.cancel()


async def echo() -> int:
    """Serve stdio until its end; exit status 1 when the client does not read any more."""
    async with anyio.create_task_group() as tasks:
        writer = Writer(claim_stdout(), lambda: peer.close("broken"))
        agents: list[Echo] = []

        def serve(peer: Peer) -> Echo:
            agents.append(Echo(peer, writer, tasks))
            return agents[0]

        peer = Peer(writer.send, serve)
        tasks.start_soon(writer.run)
        await read_lines(0, peer.receive)
        peer.close("eof")
        await writer.finish(HANG)
    return int(agents[0].broken)


AGENT = [sys.executable, "-m", "tests.bridge.test_stdio_process"]


def request(id: int, method: str, **params: Any) -> bytes:
    """A line of the client."""
    return encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def run(stdin: bytes | int) -> tuple[list[dict[str, Any]], str]:
    """What an agent with this input says, and its stderr."""
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run(AGENT, capture_output=True, timeout=HANG, check=True, **given)
    return [json.loads(line) for line in done.stdout.split(b"\n") if line], done.stderr.decode()


def test_a_line_of_30_mb_is_answered() -> None:
    text = "x" * 30_000_000
    (answer,), _ = run(request(1, "echo", text=text))
    assert answer["result"]["text"] == text


def test_a_line_over_the_limit_is_refused_and_the_session_goes_on() -> None:
    answers, _ = run(request(1, "echo", text="x" * 33 * 1024 * 1024) + request(2, "echo", ok=True))
    assert [(answer["id"], answer.get("result")) for answer in answers] == [(None, None), (2, {"ok": True})]
    assert answers[0]["error"]["message"] == "Invalid request: message exceeds 33554432 bytes"


def test_the_last_line_before_the_end_is_answered_without_an_lf() -> None:
    answers, _ = run(request(1, "echo") + request(2, "echo").removesuffix(b"\n"))
    assert [answer["id"] for answer in answers] == [1, 2]


def test_a_file_as_input_is_answered_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"".join(request(id, "echo") for id in range(500)))
    with open(tmp_path / "in", "rb") as file:
        answers, _ = run(file.fileno())
    assert [answer["id"] for answer in answers] == list(range(500))


def test_no_input_at_all_ends_in_silence() -> None:
    assert run(subprocess.DEVNULL) == ([], "")


@pytest.mark.contract("CL-004")
def test_nothing_but_the_protocol_reaches_stdout() -> None:
    answers, stderr = run(request(1, "print"))
    assert [answer["id"] for answer in answers] == [1]
    assert stderr.splitlines() == ["from print", "from a child"]


@contextmanager
def start() -> "Iterator[subprocess.Popen[bytes]]":
    """An agent on pipes, killed when it hangs."""
    pipe = subprocess.PIPE
    with subprocess.Popen(AGENT, stdin=pipe, stdout=pipe, stderr=pipe) as agent:
        watchdog = threading.Timer(HANG, agent.kill)
        watchdog.start()
        try:
            yield agent
        finally:
            watchdog.cancel()


def test_a_client_that_stops_reading_gets_everything_later() -> None:
    count = 20_000
    with start() as agent:
        assert agent.stdin
        assert agent.stdout
        assert agent.stderr
        agent.stdin.write(request(1, "flood", count=count))
        agent.stdin.flush()
        agent.stdout.readline()  # the flood has begun
        agent.stdin.write(request(2, "print"))
        agent.stdin.flush()
        # Its stdout is full, and it serves us all the same.
        assert agent.stderr.readline() == b"from print\n"
        agent.stdin.write(request(3, "echo"))
        messages: list[dict[str, Any]] = []
        while len(messages) < count - 1 + 3:
            messages.append(json.loads(agent.stdout.readline()))
            if messages[-1].get("id") == 1:
                agent.stdin.close()
    updates = [message["params"]["n"] for message in messages if "method" in message]
    answers = {message["id"]: message["result"] for message in messages if "id" in message}
    assert updates == list(range(1, count))
    assert answers.keys() == {1, 2, 3}
    assert answers[1]["peak"] <= MAX_QUEUED + 1 + len(answers)
    assert agent.returncode == 0


def test_a_client_that_is_gone_ends_the_agent_with_one_line() -> None:
    with start() as agent:
        assert agent.stdin
        assert agent.stdout
        assert agent.stderr
        agent.stdin.write(request(1, "echo"))
        agent.stdin.flush()
        agent.stdout.readline()
        agent.stdout.close()
        agent.stdin.write(request(2, "echo"))
        agent.stdin.flush()
        stderr = agent.stderr.read().decode()
        assert agent.wait(HANG) == 1
    assert len(stderr.splitlines()) == 1
    assert "does not read" in stderr


if __name__ == "__main__":
    sys.exit(anyio.run(echo))
