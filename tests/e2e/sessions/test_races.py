"""Requests for one session that do not wait for each other."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest

from tests.e2e.chat import script
from tests.e2e.sessions.records import assistant, store, user
from tests.e2e.sessions.traffic import load
from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import HANG, Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.fixture
async def client(agent_command: list[str], sandbox: Sandbox) -> AsyncIterator[AcpClient]:
    """An agent whose unanswered requests are the test's own business."""
    async with run_agent(agent_command, sandbox) as client:
        await client.initialize("plain")
        yield client


def processes(client: AcpClient, stored: Json) -> list[int]:
    return [pid for pid, command in client.mark.living().items() if stored["sessionId"] in command]


async def until(client: AcpClient, stored: Json, count: int) -> None:
    """Wait until so many processes serve the session."""
    with anyio.fail_after(HANG):
        while len(processes(client, stored)) != count:  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)


@pytest.fixture
async def stored(client: AcpClient) -> Json:
    """What a request for a stored session says of it."""
    session = await client.new_session()
    await client.prompt(session, "First. " + script(["One."])).result()
    await client.request("session/close", {"sessionId": session})
    request = {"sessionId": session, "cwd": str(client.sandbox.project), "mcpServers": []}
    await until(client, request, 0)
    return request


async def test_two_loads_one_after_the_other_are_both_told(client: AcpClient, stored: Json) -> None:
    for _ in range(2):
        mark = len(client.messages)
        opened = await load(client, stored["sessionId"])
        assert [option["id"] for option in opened["configOptions"]] == ["mode", "model", "effort", "fast"]
        assert client.text(stored["sessionId"], since=mark) == "One."
    assert len(processes(client, stored)) == 1


async def test_a_load_and_a_resume_at_once_share_one_process(client: AcpClient, stored: Json) -> None:
    calls = [client.call("session/load", stored), client.call("session/resume", stored)]
    for call in calls:
        opened = await call.result()
        assert [option["id"] for option in opened["configOptions"]] == ["mode", "model", "effort", "fast"]
    assert len(processes(client, stored)) == 1
    await client.request("session/close", {"sessionId": stored["sessionId"]})
    assert processes(client, stored) == []


async def test_a_close_right_behind_a_load_leaves_no_session(client: AcpClient, stored: Json) -> None:
    loaded = client.call("session/load", stored)
    assert await client.request("session/close", {"sessionId": stored["sessionId"]}) == {}
    await loaded.message()
    error = await client.prompt(stored["sessionId"], script(["No."])).error()
    assert error.code == -32002
    assert processes(client, stored) == []


async def test_a_close_while_a_session_is_being_opened_is_answered(client: AcpClient, stored: Json) -> None:
    loaded = client.call("session/load", stored)
    await until(client, stored, 1)
    closed = client.call("session/close", {"sessionId": stored["sessionId"]})
    await loaded.message()
    assert await closed.result() == {}
    await until(client, stored, 0)


async def test_a_delete_while_a_session_is_being_opened_removes_it(client: AcpClient, stored: Json) -> None:
    loaded = client.call("session/load", stored)
    await until(client, stored, 1)
    assert await client.request("session/delete", {"sessionId": stored["sessionId"]}) == {}
    assert (await loaded.error()).code == -32800
    await until(client, stored, 0)
    assert (await client.request("session/list", {}))["sessions"] == []
    assert (await client.call("session/load", stored).error()).code == -32002


async def ends_closed(client: AcpClient, stored: Json) -> None:
    """Nobody serves the session."""
    error = await client.prompt(stored["sessionId"], script(["No."])).error()
    assert error.code == -32002
    await until(client, stored, 0)


async def test_a_load_right_behind_a_close_opens_the_session_again(client: AcpClient, stored: Json) -> None:
    session = stored["sessionId"]
    await load(client, session)
    with client.one_write():
        for _ in range(100):  # so much to do before the close
            client.cancel(session)
        closed = client.call("session/close", {"sessionId": session})
        loaded = client.call("session/load", stored)
    opened = await loaded.message()
    assert "error" not in opened.body
    assert (await closed.message()).seq < opened.seq
    answer = await client.prompt(session, script(["Here."])).result()
    assert answer["stopReason"] == "end_turn"


@pytest.mark.parametrize("end", ["session/close", "session/delete"])
async def test_a_load_before_the_end_of_an_open_session_does_not_open_it_again(
    end: str, client: AcpClient, stored: Json
) -> None:
    await load(client, stored["sessionId"])
    with client.one_write():
        loaded = client.call("session/load", stored)
        ended = client.call(end, {"sessionId": stored["sessionId"]})
    await loaded.message()
    assert await ended.result() == {}
    await ends_closed(client, stored)


async def test_nothing_behind_a_close_is_served(client: AcpClient, stored: Json) -> None:
    session = stored["sessionId"]
    await load(client, session)
    message = {"sessionId": session, "prompt": [{"type": "text", "text": script(["No."])}]}
    with client.one_write():
        closed = client.call("session/close", {"sessionId": session})
        late = [
            client.call("session/prompt", message),
            client.call("_session/steering", message),
            client.call("session/set_mode", {"sessionId": session, "modeId": "plan"}),
        ]
    assert await closed.result() == {}
    assert [(await call.error()).code for call in late] == [-32002] * 3


async def test_a_load_between_two_closes_leaves_no_session(client: AcpClient, stored: Json) -> None:
    session = stored["sessionId"]
    await load(client, session)
    with client.one_write():
        first = client.call("session/close", {"sessionId": session})
        loaded = client.call("session/load", stored)
        second = client.call("session/close", {"sessionId": session})
    await loaded.message()
    for closed in (first, second):
        assert await closed.result() == {}
    await ends_closed(client, stored)


async def test_a_delete_right_before_a_load_is_done_first(client: AcpClient, stored: Json) -> None:
    await load(client, stored["sessionId"])
    with client.one_write():
        deleted = client.call("session/delete", {"sessionId": stored["sessionId"]})
        loaded = client.call("session/load", stored)
    assert await deleted.result() == {}
    assert (await loaded.error()).code == -32002
    await until(client, stored, 0)


async def test_a_close_while_a_history_is_told_again_answers_who_waits_for_it(
    client: AcpClient, sandbox: Sandbox
) -> None:
    session = "11111111-2222-4333-8444-555555555555"
    told = [json.dumps(user("0", None, "Begin."))]
    for turn in range(4000):
        told.append(
            json.dumps(assistant(f"a{turn}", f"u{turn}" if turn else "0", "Said.", "claude-opus-5-5"))
        )
        told.append(json.dumps(user(f"u{turn + 1}", f"a{turn}", "More.")))
    store(sandbox, session, told)
    await load(client, session)
    mark = len(client.messages)
    request = {"sessionId": session, "cwd": str(sandbox.project), "mcpServers": []}
    again = client.call("session/load", request)
    await client.wait_update("user_message_chunk", since=mark)
    closed = client.call("session/close", {"sessionId": session})
    assert await closed.result() == {}
    await again.message()
    end = len(client.messages)
    await ends_closed(client, request)
    assert client.updates(session, since=end) == []
