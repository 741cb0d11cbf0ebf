"""OAuth of MCP servers by a link: who gets one, and how each ends."""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any, cast

import anyio
import pytest
from anyio.abc import TaskGroup

from bridge.commands import sign_in
from bridge.commands.sign_in import McpSignIn
from bridge.live.process import SessionProcess
from bridge.peer import Answer
from bridge.view.client import SessionClient
from tests.bridge.commands.ends import REFUSED, Client, Process, servers

pytestmark = pytest.mark.anyio

LINK = {"authUrl": "https://auth.example/a", "requiresUserAction": True}


class Session:
    """A session with these servers, whose states follow each other at every look."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.process = Process()
        self.process.answers = {"mcp_authenticate": [LINK]}
        self.client = Client()
        ids = count(1)
        self.sign_in = McpSignIn(
            cast("SessionClient", self.client),
            cast("SessionProcess", self.process),
            tasks,
            lambda: str(next(ids)),
        )

    def states(self, *states: dict[str, Any]) -> None:
        self.process.answers["mcp_status"] = list(states)

    async def until(self, condition: Any) -> None:
        with anyio.fail_after(10):
            while not condition():  # noqa: ASYNC110 - the poll has no event
                await anyio.sleep(0.001)

    async def over(self) -> None:
        await self.until(lambda: self.sign_in._running is None)


@pytest.fixture
async def session(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    monkeypatch.setattr(sign_in, "POLL", 0.001)
    async with anyio.create_task_group() as tasks:
        yield Session(tasks)
        tasks.cancel_scope.cancel()


ACCEPT = Answer({"action": "accept"}, None)
DECLINE = Answer({"action": "decline"}, None)


@pytest.mark.contract("SE-116", "SE-117")
async def test_the_link_is_complete_once_the_server_is_connected(session: Session) -> None:
    session.states(
        servers(a="pending"), servers(a="needs-auth"), servers(a="needs-auth"), servers(a="connected")
    )
    session.sign_in.start(["a"])
    await session.over()
    assert session.client.links == [
        {
            "mode": "url",
            "message": "Authenticate with MCP server a",
            "url": "https://auth.example/a",
            "elicitationId": "mcp-oauth-1",
        }
    ]
    assert session.client.ends == ["complete mcp-oauth-1"]


@pytest.mark.contract("SE-115", "SE-116")
async def test_only_servers_that_were_named_and_need_it_get_a_link(session: Session) -> None:
    session.states(
        servers(a="connected", b="needs-auth", c="needs-auth"), servers(b="connected", c="needs-auth")
    )
    session.sign_in.start(["a", "b"])
    await session.over()
    assert [asked.get("serverName") for asked in session.process.asked if len(asked) > 1] == ["b"]


async def test_there_is_one_link_at_a_time_and_one_run(session: Session) -> None:
    session.states(servers(a="needs-auth", b="needs-auth"))
    session.sign_in.start(["a", "b"])
    session.sign_in.start(["a", "b"])
    await session.until(lambda: session.client.links)
    session.states(servers(a="connected", b="needs-auth"), servers(a="connected", b="connected"))
    await session.over()
    assert [link["elicitationId"] for link in session.client.links] == ["mcp-oauth-1", "mcp-oauth-2"]
    assert session.client.ends == ["complete mcp-oauth-1", "complete mcp-oauth-2"]


@pytest.mark.parametrize("answer", [DECLINE, Answer({"action": "cancel"}, None), Answer(None, (-1, "no"))])
async def test_a_refusal_ends_the_wait_and_the_next_server_is_asked_for(
    session: Session, answer: Answer
) -> None:
    session.states(servers(a="needs-auth", b="needs-auth"))
    session.sign_in.start(["a", "b"])
    await session.until(lambda: session.client.links)
    session.client.answers[0](answer)
    await session.until(lambda: len(session.client.links) == 2)
    session.client.answers[1](answer)
    await session.over()
    assert session.client.ends == []


@pytest.mark.parametrize("end", [servers(a="failed"), servers(a="disabled"), servers(b="connected"), REFUSED])
async def test_a_link_that_leads_nowhere_is_taken_back(session: Session, end: Any) -> None:
    session.states(servers(a="needs-auth"), servers(a="needs-auth"), end)
    session.sign_in.start(["a"])
    await session.over()
    assert session.client.ends == ["withdrawn 0"]


async def test_the_end_of_the_session_takes_the_link_back_but_not_an_answer(session: Session) -> None:
    session.states(servers(a="needs-auth"))
    session.sign_in.start(["a"])
    await session.until(lambda: session.client.links)
    session.sign_in.stop()
    await session.over()
    assert session.client.ends == ["withdrawn 0"]

    session.sign_in.start(["a"])
    await session.until(lambda: len(session.client.links) == 2)
    session.client.answers[1](ACCEPT)
    session.sign_in.stop()
    await session.over()
    assert session.client.ends == ["withdrawn 0"]


@pytest.mark.parametrize("reply", [{"requiresUserAction": False}, {"requiresUserAction": True}, REFUSED])
async def test_a_server_without_a_link_is_left_alone(session: Session, reply: Any) -> None:
    session.states(servers(a="needs-auth"))
    session.process.answers["mcp_authenticate"] = [reply]
    session.sign_in.start(["a"])
    await session.over()
    assert session.client.links == []


async def test_nothing_is_asked_for_a_session_without_servers(session: Session) -> None:
    session.sign_in.start([])
    assert session.process.asked == []
