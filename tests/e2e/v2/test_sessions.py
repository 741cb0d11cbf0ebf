"""Sessions on ACP v2: how they come to be, are found again, configured and ended."""

from pathlib import Path

import pytest

from bridge.demo.api import ScriptedApi
from tests.e2e.chat import bash, script
from tests.e2e.children.words import agent, children, updates
from tests.e2e.v2.conftest import NewV2Chat
from tests.e2e.v2.talk import merged
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def body(client: AcpClient, session: str, **more: object) -> Json:
    return {"sessionId": session, "cwd": str(client.sandbox.project), **more}


def values(opened: Json) -> dict[str, object]:
    return {option["configId"]: option["currentValue"] for option in opened["configOptions"]}


@pytest.mark.contract("V2-005", "V2-013", "V2-014", "NG-049", "NG-050")
async def test_a_new_session_has_its_options_and_commands(v2_agent: AcpClient, tmp_path: Path) -> None:
    mark = len(v2_agent.messages)
    folder = str(tmp_path)
    params = {"cwd": str(v2_agent.sandbox.project), "additionalDirectories": [folder]}
    opened = await v2_agent.request("session/new", params)
    assert opened.keys() == {"sessionId", "configOptions", "availableCommands"}
    modes = next(option for option in opened["configOptions"] if option["category"] == "mode")
    assert (modes["configId"], modes["currentValue"]) == ("mode", "default")
    assert {command["type"] for command in opened["availableCommands"]} == {"command"}
    assert v2_agent.updates(opened["sessionId"], since=mark) == [], "commands are told in the answer"
    (pid,) = [line for line in v2_agent.mark.living().values() if opened["sessionId"] in line]
    assert folder in pid
    await v2_agent.request("session/close", {"sessionId": opened["sessionId"]})


@pytest.mark.parametrize(
    ("servers", "data"),
    [
        ([{"name": "x", "command": "/bin/x"}], None),
        ([{"type": "sse", "name": "x", "url": "http://x"}], {"type": "sse"}),
        (
            [
                {"type": "stdio", "name": "x", "command": "/bin/x"},
                {"type": "http", "name": "x", "url": "http://x"},
            ],
            {"name": "x"},
        ),
    ],
    ids=["untagged", "unknown transport", "a name twice"],
)
async def test_servers_that_are_refused(servers: list[Json], data: Json | None, v2_agent: AcpClient) -> None:
    params = {"cwd": str(v2_agent.sandbox.project), "mcpServers": servers}
    error = await v2_agent.call("session/new", params).error()
    assert error.code == -32602
    assert data is None or error.data == data


@pytest.mark.contract("V2-014", "NG-050")
async def test_an_option_is_changed_and_told_before_the_answer(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    client, mark = chat.chat.client, chat.mark
    for option, kind, value in (("mode", "id", "acceptEdits"), ("model", "id", "sonnet")):
        choice = {"configId": option, "type": kind, "value": value}
        call = client.call("session/set_config_option", {"sessionId": chat.session, **choice})
        assert values(await call.result())[option] == value
        told = await client.wait_update("config_option_update", since=mark)
        assert told.seq < (await call.message()).seq
        mark = (await call.message()).seq
        assert values(told.body["params"]["update"])[option] == value
    assert len(chat.updates("config_option_update")) == 2
    assert chat.updates("current_mode_update") == []
    await chat.ask(script([bash("true")], ["Well."]))


@pytest.mark.parametrize(
    "choice", [{"value": "plan"}, {"type": "boolean", "value": "plan"}, {"type": "id", "value": True}]
)
async def test_a_value_names_its_type(choice: Json, v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    params = {"sessionId": chat.session, "configId": "mode", **choice}
    assert (await chat.chat.client.call("session/set_config_option", params).error()).code == -32602


@pytest.mark.contract("V2-006", "V2-007", "V2-008", "V2-011", "V2-012", "SE-036", "NG-049")
async def test_a_session_is_closed_found_taken_up_copied_and_deleted(
    v2_chat: NewV2Chat, shared_api: ScriptedApi
) -> None:
    chat = await v2_chat()
    client, session = chat.chat.client, chat.session
    await chat.ask("First. " + script(["I look.", bash("echo seen")], ["One."]))
    await client.wait_update("session_info_update", since=chat.chat.start)
    assert await client.request("session/close", {"sessionId": session}) == {}
    listed = await client.request("session/list", {"cwd": str(chat.chat.project)})
    assert [row["sessionId"] for row in listed["sessions"]] == [session]

    mark = chat.mark
    place = {"sessionId": session, "cwd": str(chat.chat.project)}
    await client.request("session/resume", place)
    assert [each["sessionUpdate"] for each in chat.updates(since=mark)] == [
        "session_info_update",
        "state_update",
    ]
    assert chat.updates("state_update", since=mark) == [{"sessionUpdate": "state_update", "state": "idle"}]
    await client.request("session/close", {"sessionId": session})

    mark = chat.mark
    call = client.call("session/resume", {**place, "replayFrom": {"type": "start"}})
    opened = await call.result()
    assert opened.keys() == {"configOptions", "availableCommands"}
    told = chat.updates(since=mark)
    kinds = [each["sessionUpdate"] for each in told]
    assert kinds[:2] == ["user_message", "user_message_chunk"]
    assert kinds[-2:] == ["session_info_update", "state_update"]
    messages = [each for each in told if each["sessionUpdate"] in {"user_message", "agent_message"}]
    assert [each["content"] for each in messages] == [[]] * len(messages)
    assert len(messages) == 3
    assert "First." in chat.chat.text("user_message_chunk", since=mark)
    calls = [each for each in told if each["sessionUpdate"] == "tool_call_update"]
    assert merged(calls)["status"] == "completed"
    assert merged(calls)["name"] == "Bash"

    copied = await client.request("session/fork", place)
    assert copied["sessionId"] != session
    mark = chat.mark
    text = [{"type": "text", "text": "Second. " + script(["Two."])}]
    await client.call("session/prompt", {"sessionId": copied["sessionId"], "prompt": text}).result()
    await client.wait_update("state_update", lambda update: update["state"] == "idle", since=mark)
    assert "One." in str(shared_api.requests[-1].body["messages"])
    for id in (session, copied["sessionId"]):
        assert await client.request("session/delete", {"sessionId": id}) == {}
    listed = await client.request("session/list", {"cwd": str(chat.chat.project)})
    assert listed["sessions"] == []


async def test_only_a_whole_history_is_replayed(v2_agent: AcpClient) -> None:
    params = body(v2_agent, "00000000-0000-4000-8000-000000000000", replayFrom={"type": "middle"})
    error = await v2_agent.call("session/resume", params).error()
    assert (error.code, error.data) == (-32602, {"type": "middle"})
    error = await v2_agent.call("session/resume", {**params, "replayFrom": {"type": "start"}}).error()
    assert error.code == -32002


async def test_a_live_session_is_told_again_and_nothing_is_doubled(v2_chat: NewV2Chat) -> None:
    """W§8.2.5: what a call loses on the way is cleared."""
    chat = await v2_chat()
    client = chat.chat.client
    await chat.ask("First. " + script([bash("echo seen")], ["One."]))
    mark = chat.mark
    place = {"sessionId": chat.session, "cwd": str(chat.chat.project), "replayFrom": {"type": "start"}}
    await client.request("session/resume", place)
    again = [each for each in chat.updates("tool_call_update", since=mark) if each.get("status") == "pending"]
    assert again[0]["rawOutput"] is None
    assert chat.call()["status"] == "completed"
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"


@pytest.mark.contract("SA-090", "SA-092", "V2-028")
async def test_a_replayed_subagent_has_its_states_on_its_own_stream_too(v2_chat: NewV2Chat) -> None:
    """The session that was closed is told by the next process; then, by the live one, once more."""
    chat = await v2_chat()
    client = chat.chat.client
    await chat.ask(script(["I look. ", agent(["Child hi."], name="scout")], ["All done."]))
    (child,) = children(chat.chat)
    await client.request("session/close", {"sessionId": chat.session})
    place = {"sessionId": chat.session, "cwd": str(chat.chat.project), "replayFrom": {"type": "start"}}
    for _ in ("closed", "live"):
        mark = chat.mark
        answered = (await client.call("session/resume", place).message()).seq
        await client.wait_update("state_update", since=answered)
        told = updates(chat.chat, mark)
        for n, (where, each) in enumerate(told):
            if each["sessionUpdate"] == "subagent_update" and "state" in each:
                assert where == chat.session
                assert told[n + 1] == (child, {"sessionUpdate": "state_update", **each["state"]})
        states = [each["state"] for where, each in told if where == child and "state" in each]
        assert states == ["running", "idle", "idle"], "told, ended, and true now"
        assert "Child hi." in str([each for where, each in told if where == child])
