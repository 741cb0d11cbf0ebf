"""The test client notices what it is there to notice: it is tried on agents that break the rules."""

import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import ALLOW, ALLOW_ALWAYS, CANCELLED, REJECT, AgentGoneError, RpcError, never
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.anyio

PRELUDE = """
import json, subprocess, sys

def send(**body):
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)

def update(session, **update):
    send(method="session/update", params={"sessionId": session, "update": update})
"""
OBEDIENT = """
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            send(id=message["id"], result={"protocolVersion": 1})
        case "session/new":
            send(id=message["id"], result={"sessionId": "s1"})
        case "session/prompt":
            text = message["params"]["prompt"][0]["text"]
            exec(text)
"""

Run = Callable[..., AbstractAsyncContextManager[AcpClient]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a small agent: the obedient one executes its prompts."""

    @asynccontextmanager
    async def start(source: str = OBEDIENT) -> AsyncIterator[AcpClient]:
        command = [sys.executable, "-c", PRELUDE + source]
        async with run_agent(command, Sandbox(tmp_path, "http://127.0.0.1:9"), check=False) as client:
            yield client

    return start


async def one_prompt(run: Run, prompt: str) -> None:
    """A whole life: start, one prompt, end."""
    async with run() as client:
        await client.prompt(await client.new_session(), prompt).result()


def is_running(pid: int) -> bool:
    """Whether a process lives; one that only waits to be reaped has no environment any more."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes() != b""
    except OSError:
        return False


ANSWER = 'send(id=message["id"], result={"stopReason": "end_turn"})'
ASK = """
options = [{"optionId": kind + "-id", "kind": kind} for kind in OPTIONS]
send(id=0, method="session/request_permission", params={"sessionId": "s1", "options": options})
"""


async def test_it_records_a_conversation_in_order(run: Run) -> None:
    chunk = 'update("s1", sessionUpdate="agent_message_chunk", content={"type": "text", "text": TEXT})'
    async with run() as client:
        await client.initialize()
        session = await client.new_session()
        prompt = "\n".join([chunk.replace("TEXT", '"one "'), chunk.replace("TEXT", '"two"'), ANSWER])
        assert await client.prompt(session, prompt).result() == {"stopReason": "end_turn"}
        assert client.text(session) == "one two"
        assert [message.seq for message in client.messages] == list(range(len(client.messages)))
        assert client.received[-1]["result"] == {"stopReason": "end_turn"}
    assert client.process.returncode == 0
    assert client.exit_seconds is not None


@pytest.mark.parametrize(
    ("handler", "offered", "outcome"),
    [
        (ALLOW, ["allow_always", "allow_once"], {"outcome": "selected", "optionId": "allow_once-id"}),
        (ALLOW_ALWAYS, ["allow_once"], {"outcome": "selected", "optionId": "allow_once-id"}),
        (REJECT, ["allow_once", "reject_once"], {"outcome": "selected", "optionId": "reject_once-id"}),
        (REJECT, ["allow_once"], {"outcome": "cancelled"}),
        (CANCELLED, ["allow_once"], {"outcome": "cancelled"}),
    ],
)
async def test_it_answers_questions_by_kind(run: Run, handler: Any, offered: list[str], outcome: Any) -> None:
    async with run() as client:
        client.on_permission(handler)
        session = await client.new_session()
        prompt = ASK.replace("OPTIONS", repr(offered)) + "answer = json.loads(sys.stdin.readline())\n"
        prompt += 'send(id=message["id"], result=answer["result"])'
        assert await client.prompt(session, prompt).result() == {"outcome": outcome}


async def test_a_question_may_stay_open_and_be_withdrawn(run: Run) -> None:
    async with run() as client:
        client.on_permission(never)
        session = await client.new_session()
        call = client.prompt(session, ASK.replace("OPTIONS", "[]"))
        question = await client.wait_question()
        assert list(client.questions) == [question.body["id"]]
        assert not call.done
        withdraw = 'send(method="$/cancel_request", params={"requestId": 0})\n'
        await client.prompt(session, withdraw + ANSWER).result()
        assert client.questions == {}
        assert client.withdrawn == [0]


async def test_an_error_is_raised_where_a_result_is_wanted(run: Run) -> None:
    async with run() as client:
        session = await client.new_session()
        failing = 'send(id=message["id"], error={"code": -32603, "message": "no"})'
        with pytest.raises(RpcError, match="no") as raised:
            await client.prompt(session, failing).result()
        assert raised.value.code == -32603


@pytest.mark.parametrize(
    ("misdeed", "noticed"),
    [
        ('print("warning: hello", flush=True)', "not JSON"),
        ('sys.stdout.buffer.write(b"\\xff\\n"); sys.stdout.flush()', "not JSON in UTF-8"),
        ('print("[]", flush=True)', "not a JSON-RPC object"),
        ("send(id=99, result={})", "nobody waits for"),
        (f"{ANSWER}; {ANSWER}", "nobody waits for"),
        ('update("s2", sessionUpdate="agent_message_chunk", content={})', "unknown session s2"),
    ],
)
async def test_a_broken_rule_fails_the_test(run: Run, misdeed: str, noticed: str) -> None:
    with pytest.raises(AssertionError, match=noticed):
        await one_prompt(run, f"{misdeed}\n{ANSWER}")


async def test_an_announced_child_is_a_known_session(run: Run) -> None:
    announce = 'update("s1", sessionUpdate="subagent_spawned", subagentSessionId="child")\n'
    speak = 'update("child", sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hi"})\n'
    async with run() as client:
        session = await client.new_session()
        await client.prompt(session, announce + speak + ANSWER).result()
        assert client.text("child") == "hi"


async def test_a_process_that_is_left_behind_fails_the_test_and_is_ended(run: Run) -> None:
    leave = (
        'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)\n'
    )
    with pytest.raises(AssertionError, match="still there") as failure:
        await one_prompt(run, leave + ANSWER)
    pid = int(re.findall(r"{(\d+):", str(failure.value))[0])
    assert not is_running(pid)


async def test_a_wait_ends_with_the_agent(run: Run) -> None:
    async with run() as client:
        session = await client.new_session()
        call = client.prompt(session, 'sys.exit("out of tea")')
        with pytest.raises(AgentGoneError, match="out of tea"):
            await call.result()
        with pytest.raises(AgentGoneError):
            await client.wait_update("agent_message_chunk")
