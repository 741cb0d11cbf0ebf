"""The list of sessions and their end: order, filter, titles, pages, delete, close."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import Chat, script
from tests.e2e.sessions.traffic import load
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def listed(client: AcpClient, folder: Path) -> list[Json]:
    rows: list[Json] = (await client.request("session/list", {"cwd": str(folder)}))["sessions"]
    return rows


@pytest.mark.contract("SE-053", "SE-086", "SE-081", "SE-095")
async def test_sessions_are_listed_newest_first_with_titles(chat: Chat) -> None:
    client, folder = chat.client, chat.project
    other = await client.new_session(cwd=str(folder))
    assert [row["sessionId"] for row in await listed(client, folder)] == [], "nothing is stored yet"
    await chat.ask("The first words.\n\nAnd more. " + script(["One."]))
    told = await client.wait_update("session_info_update", since=chat.start)
    update = told.body["params"]["update"]
    assert update["title"] == "Scripted session"
    assert update["updatedAt"].endswith("Z")
    mark = chat.mark
    await client.prompt(other, "Hi " + script(["Two."])).result()
    await client.wait_update("session_info_update", since=mark)  # nothing more is written of it
    rows = await listed(client, folder)
    assert [row["sessionId"] for row in rows] == [other, chat.session]
    assert rows[1].items() >= {"cwd": str(folder), "title": "Scripted session"}.items()
    assert rows[0]["updatedAt"] >= rows[1]["updatedAt"]
    await chat.ask(script(["Again."]))
    assert [row["sessionId"] for row in await listed(client, folder)] == [chat.session, other]
    assert [u["title"] for u in chat.updates("session_info_update")] == ["Scripted session"], "told once"

    everything = (await client.request("session/list", {}))["sessions"]
    assert {other, chat.session} <= {row["sessionId"] for row in everything}
    assert await listed(client, folder.parent) == []
    assert await listed(client, folder / "nowhere") == []
    assert [row["sessionId"] for row in await listed(client, Path(f"{folder}/"))] == [chat.session, other]
    error = await client.call("session/list", {"cwd": "rel"}).error()
    assert (error.code, error.data) == (-32602, {"cwd": "rel"})
    await client.request("session/close", {"sessionId": other})


@pytest.mark.contract("SE-053", "SE-054", "SE-055", "SE-056", "TC-021")
async def test_a_long_list_comes_in_pages(start_agent: StartAgent, sandbox: Sandbox) -> None:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(sandbox.project))
    folder = sandbox.config / "projects" / slug
    folder.mkdir(parents=True)
    for n in range(1003):
        path = folder / f"{n:08}-0000-4000-8000-000000000000.jsonl"
        message = {"role": "user", "content": f"Prompt {n}"}
        told = {"type": "user", "uuid": path.stem, "cwd": str(sandbox.project), "message": message}
        path.write_text(json.dumps(told) + "\n")
        os.utime(path, (n // 5, n // 5))
    client = await start_agent()
    await client.initialize()
    first = await client.request("session/list", {})
    second = await client.request("session/list", {"cursor": first["nextCursor"]})
    assert (len(first["sessions"]), len(second["sessions"])) == (1000, 3)
    assert "nextCursor" not in second
    rows = [*first["sessions"], *second["sessions"]]
    assert len({row["sessionId"] for row in rows}) == 1003
    assert [row["updatedAt"] for row in rows] == sorted((row["updatedAt"] for row in rows), reverse=True)
    assert rows[0]["title"] == "Prompt 1002" or rows[0]["updatedAt"] == rows[1]["updatedAt"]
    assert (await client.request("session/list", {"cursor": "offset:5000"}))["sessions"] == []
    for cursor in ("zzz", "offset:-1", " offset:1", "OFFSET:1", "offset:1\n", "offset:"):
        error = await client.call("session/list", {"cursor": cursor}).error()
        text = f"Invalid params: Unknown session/list cursor: {cursor}"
        assert (error.code, error.message, error.data) == (-32602, text, None)


@pytest.mark.contract("SE-057", "SE-058", "SE-060")
async def test_a_closed_session_can_be_loaded_a_deleted_one_is_gone(chat: Chat) -> None:
    client, params = chat.client, {"sessionId": chat.session}
    await chat.ask(script(["Here."]))
    for _ in range(2):
        assert await client.request("session/close", params) == {}
    error = await chat.prompt(script(["No."])).error()
    assert (error.code, error.message, error.data) == (-32002, "Resource not found", params)
    await load(client, chat.session, cwd=str(chat.project))

    (stored,) = client.sandbox.config.glob(f"projects/*/{chat.session}.jsonl")
    beside = stored.with_suffix("")
    (beside / "subagents").mkdir(parents=True, exist_ok=True)
    assert await client.request("session/delete", params) == {}
    assert not stored.exists()
    assert not beside.exists()
    assert await listed(client, chat.project) == []
    for method in ("session/load", "session/resume", "session/fork"):
        error = await client.call(method, {**params, "cwd": str(chat.project), "mcpServers": []}).error()
        assert (error.code, error.data) == (-32002, params)
    assert await client.request("session/delete", params) == {}
    assert await client.request("session/close", params) == {}


@pytest.mark.contract("SE-057", "SE-058")
async def test_a_delete_touches_nothing_but_what_is_stored_of_a_session(
    shared_agent: AcpClient, chat: Chat
) -> None:
    sandbox = shared_agent.sandbox
    await chat.ask(script(["Stays."]))
    outside = sandbox.root / "outside.jsonl"
    outside.write_text("{}")
    settings = sandbox.config / "projects" / "settings.jsonl"
    settings.write_text("{}")
    before = {path for path in sandbox.root.rglob("*") if path.suffix == ".jsonl"}
    (folder,) = {path.parent.name for path in before if path.stem == chat.session}
    bad = ["", ".", "..", "*", "settings", "../outside", "../../outside", str(outside.with_suffix(""))]
    for id in [*bad, f"{folder}/{chat.session}", f"../{folder}/{chat.session}", f"{chat.session}/"]:
        for method in ("session/delete", "session/close"):
            assert await shared_agent.request(method, {"sessionId": id}) == {}, id
    assert {path for path in sandbox.root.rglob("*") if path.suffix == ".jsonl"} == before
    await chat.is_well()
