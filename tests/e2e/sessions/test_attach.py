"""A stored session is taken up again: loaded, resumed, by another agent or by the same one."""

import json

import pytest

from bridge.demo.api import TITLE, ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import claudes, script, slow
from tests.e2e.sessions.records import assistant, store, user
from tests.e2e.sessions.traffic import load, texts, told
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
async def stored(shared_agent: AcpClient) -> str:
    """A session with one turn, left in another mode, model and closed."""
    session = await shared_agent.new_session()
    await shared_agent.request("session/set_mode", {"sessionId": session, "modeId": "acceptEdits"})
    choice = {"sessionId": session, "configId": "model", "value": "sonnet"}
    await shared_agent.request("session/set_config_option", choice)
    choice = {"sessionId": session, "configId": "effort", "value": "low"}
    await shared_agent.request("session/set_config_option", choice)
    await shared_agent.prompt(session, "First. " + script(["One."])).result()
    await shared_agent.wait_update("session_info_update")  # its title is stored
    await shared_agent.request("session/close", {"sessionId": session})
    return session


def body(client: AcpClient, session: str, **more: object) -> Json:
    return {"sessionId": session, "cwd": str(client.sandbox.project), "mcpServers": [], **more}


def values(opened: Json) -> dict[str, object]:
    return {option["id"]: option["currentValue"] for option in opened["configOptions"]}


def processes(client: AcpClient, session: str) -> list[int]:
    return [pid for pid, command in client.mark.living().items() if session in command]


@pytest.mark.contract("SE-021", "SE-003", "SE-004", "SE-034")
@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_the_model_goes_on_where_it_was(
    method: str, stored: str, shared_agent: AcpClient, shared_api: ScriptedApi
) -> None:
    """With the mode, model (C35) and effort it had; only a load tells the history, before it answers."""
    client, mark = shared_agent, len(shared_agent.messages)
    call = client.call(method, body(client, stored))
    opened = await call.result()
    answered = (await call.message()).seq
    assert opened.keys() >= {"modes", "configOptions"}
    assert opened["modes"]["currentModeId"] == "acceptEdits"
    chosen = values(opened)
    assert (chosen["mode"], chosen["model"], chosen["effort"]) == ("acceptEdits", "sonnet", "low")
    chunks = [update for update in client.updates(stored, since=mark) if "content" in update]
    assert bool(chunks) is (method == "session/load")
    commands = await client.wait_update("available_commands_update", since=mark)
    assert commands.seq > answered
    assert commands.body["params"]["update"]["availableCommands"]

    await client.prompt(stored, "Second. " + script(["Two."])).result()
    asked = shared_api.requests[-1].body
    assert (asked["model"], asked["output_config"]["effort"]) == ("claude-sonnet-5-5", "low")
    assert "First." in str(asked["messages"])
    assert "One." in str(asked["messages"])
    told = await client.wait_update("session_info_update", since=answered)
    assert told.body["params"]["update"]["title"] == TITLE
    made = [asked for asked in shared_api.side_requests if asked.kind == "title"]
    assert not [asked for asked in made if "Second." in str(asked.body)], "its title is stored already"
    await client.request("session/close", {"sessionId": stored})


@pytest.mark.contract("SE-005", "SE-006", "SE-007")
async def test_a_new_session_may_take_up_a_stored_one(
    stored: str, shared_agent: AcpClient, shared_api: ScriptedApi
) -> None:
    client, mark = shared_agent, len(shared_agent.messages)
    meta = {"claudeCode": {"options": {"resume": stored}}}
    opened = await client.request(
        "session/new", {"cwd": str(client.sandbox.project), "mcpServers": [], "_meta": meta}
    )
    assert opened["sessionId"] == stored
    assert values(opened)["model"] == "sonnet"
    assert opened["modes"]["currentModeId"] == "acceptEdits"
    await client.prompt(stored, script(["Again."])).result()
    assert client.text(stored, since=mark) == "Again."
    assert "First." in str(shared_api.requests[-1].body["messages"])
    await client.request("session/close", {"sessionId": stored})


@pytest.mark.contract("SE-022", "SE-024", "SE-026")
async def test_a_changed_request_starts_claude_anew_an_equal_one_does_not(
    shared_agent: AcpClient, shared_api: ScriptedApi
) -> None:
    client = shared_agent
    session = await client.new_session()
    await client.prompt(session, "First. " + script(["One."])).result()
    await client.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    before = processes(client, session)
    meta = {"claudeCode": {"options": {"permissionMode": "default", "title": "ignored"}}}
    opened = await client.request("session/resume", body(client, session, _meta=meta))
    assert opened["modes"]["currentModeId"] == "plan"
    assert processes(client, session) == before

    other = {"claudeCode": {"options": {"maxTurns": 50}}}
    opened = await client.request("session/resume", body(client, session, _meta=other))
    assert opened["modes"]["currentModeId"] == "plan", "the live mode stays"
    after = processes(client, session)
    assert len(after) == 1
    assert after != before
    mark = len(client.messages)
    assert (await client.prompt(session, script(["Two."])).result())["stopReason"] == "end_turn"
    assert client.text(session, since=mark) == "Two."
    assert "One." in str(shared_api.requests[-1].body["messages"])

    folder = client.sandbox.project / "elsewhere"
    folder.mkdir()
    await client.request("session/resume", body(client, session, _meta=other, cwd=str(folder)))
    assert processes(client, session) != after, "another folder is another process"
    await client.prompt(session, script(["Three."])).result()
    assert "One." in str(shared_api.requests[-1].body["messages"])
    await client.request("session/close", {"sessionId": session})


@pytest.mark.contract("SE-023", "SE-025")
async def test_the_order_in_a_request_makes_no_difference(shared_agent: AcpClient) -> None:
    client = shared_agent
    echo, other = _server("echo"), _server("other")

    def asks(servers: list[Json], skills: list[str], limits: Json) -> Json:
        options = {**limits, "skills": skills}
        return {"mcpServers": servers, "_meta": {"claudeCode": {"options": options}}}

    session = await client.new_session(**asks([echo, other], ["a", "b"], {"maxTurns": 9, "maxBudgetUsd": 5}))
    before = processes(client, session)
    turned = [dict(reversed(server.items())) for server in (other, echo)]
    same = asks(turned, ["b", "a"], {"maxBudgetUsd": 5, "maxTurns": 9})
    await client.request("session/resume", body(client, session, **same))
    assert processes(client, session) == before
    changed = asks([echo, other], ["a"], {"maxTurns": 9, "maxBudgetUsd": 5})
    await client.request("session/resume", body(client, session, **changed))
    assert processes(client, session) != before
    await client.request("session/close", {"sessionId": session})


def _server(name: str) -> Json:
    return {"name": name, "command": "true", "args": [], "env": []}


async def test_a_session_that_was_never_prompted_may_change_too(shared_agent: AcpClient) -> None:
    session = await shared_agent.new_session()
    meta = {"claudeCode": {"options": {"maxTurns": 50}}}
    await shared_agent.request("session/resume", body(shared_agent, session, _meta=meta))
    mark = len(shared_agent.messages)
    await shared_agent.prompt(session, script(["Works."])).result()
    assert shared_agent.text(session, since=mark) == "Works."
    await shared_agent.request("session/close", {"sessionId": session})


async def test_a_load_while_a_turn_runs_tells_what_was_said_and_the_turn_goes_on(
    shared_agent: AcpClient,
) -> None:
    client = shared_agent
    session = await client.new_session()
    await client.prompt(session, "First. " + script(["One."])).result()
    mark = len(client.messages)
    call = client.prompt(session, "Second. " + script([slow(15)]))
    await client.wait_update("agent_message_chunk", since=mark)
    mark = len(client.messages)
    await load(client, session)
    replayed = texts(told(client, session, since=mark), "user_message")
    assert replayed[0].startswith("First.")
    assert (await call.result())["stopReason"] == "end_turn"
    assert client.text(session).endswith(slow(15)["text"].rpartition(" ")[2])
    await client.request("session/close", {"sessionId": session})


async def test_an_effort_that_nobody_chose_stays_claudes_own(shared_agent: AcpClient) -> None:
    session = await shared_agent.new_session()
    await shared_agent.prompt(session, script(["One."])).result()
    await shared_agent.request("session/close", {"sessionId": session})
    assert values(await load(shared_agent, session))["effort"] == "default"
    await shared_agent.request("session/close", {"sessionId": session})


async def test_a_load_with_other_options_ends_the_turn_that_runs(shared_agent: AcpClient) -> None:
    session = await shared_agent.new_session()
    mark = len(shared_agent.messages)
    call = shared_agent.prompt(session, script([slow(300)]))
    await shared_agent.wait_update("agent_message_chunk", since=mark)
    await load(shared_agent, session, _meta={"claudeCode": {"options": {"maxTurns": 50}}})
    assert (await call.result())["stopReason"] == "cancelled"
    mark = len(shared_agent.messages)
    await shared_agent.prompt(session, script(["Works."])).result()
    assert shared_agent.text(session, since=mark) == "Works."
    await shared_agent.request("session/close", {"sessionId": session})


@pytest.mark.contract("SE-027", "SE-028")
@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork"])
async def test_an_id_that_names_no_session(method: str, shared_agent: AcpClient) -> None:
    """Nothing outside the stored sessions is found by one, and nothing starts."""
    project = shared_agent.sandbox.project
    outside = shared_agent.sandbox.root / "outside.jsonl"
    outside.write_text(json.dumps({"type": "user", "uuid": UNKNOWN, "message": {"content": "secret"}}) + "\n")
    slug = shared_agent.sandbox.config / "projects" / "x"
    slug.mkdir(parents=True, exist_ok=True)
    link = slug / "11111111-1111-4111-8111-111111111111.jsonl"
    if not link.is_symlink():
        link.symlink_to(outside)
    bad = [UNKNOWN, "nonsense", "", "../../outside", f"x/{UNKNOWN}", "a\x00b", link.stem, "*", str(outside)]
    before = claudes(shared_agent).keys()
    for id in bad:
        mark = len(shared_agent.messages)
        params = {"sessionId": id, "cwd": str(project), "mcpServers": []}
        error = await shared_agent.call(method, params).error()
        assert (error.code, error.message) == (-32002, "Resource not found"), id
        assert error.data == {"sessionId": id}
        assert shared_agent.updates(since=mark) == []
    assert claudes(shared_agent).keys() == before
    assert outside.exists()


@pytest.mark.contract("SE-001")
async def test_a_folder_that_is_none_is_refused_before_a_live_session_is_touched(
    shared_agent: AcpClient,
) -> None:
    session = await shared_agent.new_session()
    before = processes(shared_agent, session)
    for method in ("session/load", "session/resume", "session/fork"):
        for wrong in ({"cwd": "relative"}, {"cwd": "/nope/x"}, {"additionalDirectories": ["also/relative"]}):
            error = await shared_agent.call(method, body(shared_agent, session, **wrong)).error()
            assert error.code == -32602
            assert error.data == wrong
    assert processes(shared_agent, session) == before
    await shared_agent.request("session/close", {"sessionId": session})


@pytest.mark.contract("SE-037", "SE-035")
async def test_a_session_is_found_from_another_folder(stored: str, shared_agent: AcpClient) -> None:
    """Also from a folder below or beside its own (C39)."""
    beside = shared_agent.sandbox.root / "beside"
    beside.mkdir(exist_ok=True)
    for method in ("session/load", "session/resume"):
        mark = len(shared_agent.messages)
        await shared_agent.request(method, body(shared_agent, stored, cwd=str(beside)))
        await shared_agent.prompt(stored, script([f"After {method}."])).result()
        assert shared_agent.text(stored, since=mark).endswith(f"After {method}.")
        await shared_agent.request("session/close", {"sessionId": stored})


@pytest.mark.contract("SE-063", "SE-067", "SE-070", "SE-073")
@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_what_claude_code_wrote_for_itself_is_not_shown(
    kind: str, start_agent: StartAgent, sandbox: Sandbox
) -> None:
    session = "22222222-2222-4222-8222-222222222222"
    limit = "You've hit your session limit · resets 5pm"
    quoted = "Why <system-reminder without its end"
    records = [
        user("u1", None, "<system-reminder>injected</system-reminder>Hello"),
        assistant("a1", "u1", "Hi.", "claude-opus-5-5"),
        user("u2", "a1", "Sign in"),
        assistant("a2", "u2", "Please run /login · API Error", "<synthetic>"),
        user("u3", "a2", quoted),
        assistant("a3", "u3", limit, "<synthetic>"),
    ]
    store(sandbox, session, [json.dumps(record) for record in records])
    client = await start_agent()
    await client.initialize(kind)
    await load(client, session)
    entries = told(client, session)
    assert texts(entries, "user_message") == ["Hello", "Sign in", quoted]
    assert texts(entries, "agent_message") == (["Hi.", limit] if kind == "plain" else ["Hi."])
    failures = [
        update["_meta"]["jetbrains"]["air"]["sessionFailure"]
        for update in client.updates(session, "session_info_update")
        if "sessionFailure" in str(update)
    ]
    expected = {"category": "limit", "severity": "error", "title": limit, "actions": []}
    told_of = [{key: failure[key] for key in expected} for failure in failures]
    assert told_of == ([expected] if kind == "air" else [])


async def test_a_broken_transcript_shows_what_can_be_read(start_agent: StartAgent, sandbox: Sandbox) -> None:
    session = "33333333-3333-4333-8333-333333333333"
    lines = [
        "not json at all",
        json.dumps(user("u1", None, "Hello")),
        '{"type":"weather","uuid":"w1","parentUuid":"u1"}',
        "[1, 2, 3]",
        json.dumps({"type": "user", "uuid": 7, "message": "odd"}),
        "",
        json.dumps(assistant("a1", "u1", "Hi.", "claude-opus-5-5")),
        json.dumps(user("u2", "a1", "half \ud800 a pair")),
        json.dumps(assistant("a2", "u2", "Still \udc00 here.", "claude-opus-5-5")),
        json.dumps(assistant("a3", "a2", "Cut off", "claude-opus-5-5"))[:-20],
    ]
    store(sandbox, session, lines)
    client = await start_agent()
    await client.initialize()
    await load(client, session)
    entries = told(client, session)
    shown = [(entry["is"], entry["text"]) for entry in entries]
    assert shown[:2] == [("user_message", "Hello"), ("agent_message", "Hi.")]
    assert [kind for kind, _ in shown] == ["user_message", "agent_message"] * 2
    assert "half " in shown[2][1]
    assert " here." in shown[3][1]
    mark = len(client.messages)
    await client.prompt(session, script(["Works."])).result()
    assert client.text(session, since=mark) == "Works."
