"""A subagent that the conversation waits for, in a session of its own, in both forms."""

from typing import Any

import pytest

from tests.e2e.chat import bash, script
from tests.e2e.children.words import agent, calls, children, of, order, requests, updates
from tests.e2e.permissions.kinds import ChatAs
from tests.support.clients import CAPABILITIES
from tests.support.rpc import REJECT

pytestmark = [pytest.mark.anyio, pytest.mark.live]

UPDATE = {"rfd": "subagent_update", "air": "subagent_spawned"}

RFD_ORDER = [
    *("text", "call pending", "1 running", "1 message", "1 text", "1 call pending"),
    *("1 requires_action", "1 asks", "1 answered", "1 running", "1 update completed", "1 text"),
    *("1 idle end_turn", "update completed", "text", "end_turn"),
]
AIR_ORDER = [
    *("text", "1 spawned", "1 text", "1 call pending", "1 asks", "1 answered"),
    *("1 update completed", "1 text", "1 completed", "text", "end_turn"),
]


@pytest.mark.contract("SA-004", "SA-028", "SA-037", "SA-042", "SA-049", "SA-063", "SA-078", "SA-080")
@pytest.mark.contract("SA-086", "SA-104", "TC-217", "TC-218", "PM-113", "PM-114")
async def test_the_public_form_from_the_announcement_to_the_end(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    work = agent(["Child hi.", bash("npm test; touch child")], ["Child report."], name="scout")
    await chat.ask(script(["I look. ", work], ["All done."]))
    assert order(chat) == RFD_ORDER
    (child,) = children(chat)
    assert [request["sessionId"] for request in requests(chat)] == [child]
    assert (chat.project / "child").exists()
    kinds = {update["sessionUpdate"] for _, update in updates(chat)}
    assert not kinds & {"subagent_spawned", "subagent_state_update"}


@pytest.mark.contract("SA-029", "SA-030", "SA-032", "SA-034", "SA-035", "SA-036", "SA-062")
async def test_what_the_public_form_says_of_a_subagent(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    work = agent(["Child report."], name="scout", description="Scan the repo")
    await chat.ask(script([work], ["All done."]))
    (child,) = children(chat)
    (call,) = chat.calls()
    assert of(chat, chat.session, "subagent_update")[0] == {
        "sessionUpdate": "subagent_update",
        "sessionId": child,
        "title": "scout (general-purpose)",
        "description": "Scan the repo",
        "state": {"state": "running"},
    }
    (message,) = of(chat, child, "session_message")
    assert message == {
        "sessionUpdate": "session_message",
        "messageId": call,
        "senderSessionId": chat.session,
        "recipientSessionId": child,
        "content": [{"type": "text", "text": work["input"]["prompt"]}],
    }
    assert f"'agentId': '{child}'" in str(chat.updates("tool_call_update")), "Claude Code's own id"


@pytest.mark.contract("SA-038", "SA-101", "SA-011")
async def test_its_words_are_its_own_and_said_once(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    long = " ".join(f"word-{n}" for n in range(40))
    work = agent([long, {"thinking": "The child thinks."}], ["Child report."])
    await chat.ask(script(["I look. ", work], ["All done."]))
    (child,) = children(chat)
    assert chat.text() == "I look. All done."
    assert chat.client.text(child) in (long, long + "Child report.")
    assert chat.client.text(child, "agent_thought_chunk") == "The child thinks."
    (call,) = chat.calls().values()
    assert call["status"] == "completed"
    assert chat.client.text(child) in call["content"][0]["content"]["text"]


@pytest.mark.contract("SA-002", "SA-012", "SA-013", "SA-014", "SA-015", "TC-134", "PM-113")
async def test_the_form_of_air_from_the_announcement_to_the_end(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    work = agent(["Child hi.", bash("npm test; touch child")], ["Child report."], name="scout")
    await chat.ask(script(["I look. ", work], ["All done."]))
    assert order(chat) == AIR_ORDER
    (child,) = children(chat)
    (spawned,) = chat.updates("subagent_spawned")
    assert spawned == {
        "sessionUpdate": "subagent_spawned",
        "subagentSessionId": child,
        "name": "scout",
        "task": work["input"]["prompt"],
        "prompt": work["input"]["prompt"],
        "capabilities": {},
    }
    assert chat.calls() == {}, "the subagent is shown in place of its call"
    assert [request["sessionId"] for request in requests(chat)] == [child]
    assert chat.text() == "I look. All done."
    assert chat.client.text(child) == "Child hi.Child report."
    assert calls(chat, child) == [("Bash", "completed")]


@pytest.mark.contract("SA-001", "SA-008", "SA-009", "NG-012", "NG-041", "TC-029")
async def test_air_may_ask_by_the_standard_field_and_is_told_what_the_agent_does(start_agent: Any) -> None:
    for kind in ("airmin", "rfd", "plain"):
        client = await start_agent()
        told = await client.initialize({"subagents": {}, **CAPABILITIES[kind]})
        sessions = told["agentCapabilities"]["sessionCapabilities"]
        assert sessions.get("subagents") == ({} if kind == "airmin" else None)
        if kind == "airmin":
            names = told["_meta"]["jetbrains"]["air"]["capabilities"]
            assert names[:3] == ["sessionFailure", "agentFileChangeReport", "nativeSubagentSessions"]
            session = await client.new_session()
            await client.prompt(session, script([agent(["Child report."])], ["All done."])).result()
            assert [update["sessionUpdate"] for update in client.updates(session, "subagent_spawned")]


@pytest.mark.contract("SA-040", "SA-059")
async def test_a_subagent_of_a_subagent_belongs_to_it(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    inner = agent(["Inner hi.", bash("echo inner")], ["Inner report."], description="Inner")
    await chat.ask(script([agent(["Child hi.", inner], ["Child report."])], ["All done."]))
    outer, nested = children(chat)
    assert [where for where, u in updates(chat) if u.get("sessionId") == nested] == [outer, outer]
    (message,) = of(chat, nested, "session_message")
    assert message["senderSessionId"] == outer
    assert calls(chat, chat.session) == [("Agent", "completed")]
    assert calls(chat, outer) == [("Agent", "completed")]
    assert calls(chat, nested) == [("Bash", "completed")]
    assert order(chat)[1:] == [
        *("1 running", "1 message", "1 text", "1 call pending", "1 2 running", "2 message", "2 text"),
        *("2 call pending", "2 update completed", "2 text", "1 2 idle end_turn", "1 update completed"),
        *("1 text", "1 idle end_turn", "update completed", "text", "end_turn"),
    ]


async def test_in_the_form_of_air_too(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    inner = agent(["Inner hi.", bash("echo inner")], ["Inner report."], description="Inner")
    await chat.ask(script([agent(["Child hi.", inner], ["Child report."])], ["All done."]))
    assert order(chat) == [
        *("1 spawned", "1 text", "1 2 spawned", "2 text", "2 call pending", "2 update completed", "2 text"),
        *("1 2 completed", "1 text", "1 completed", "text", "end_turn"),
    ]


async def test_a_subagent_that_is_refused_goes_on(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    chat.client.on_permission(REJECT)
    await chat.ask(script([agent([bash("npm test; touch child")], ["I go on."])], ["All done."]))
    assert order(chat)[4:] == [
        *("1 requires_action", "1 asks", "1 answered", "1 running", "1 update failed", "1 text"),
        *("1 idle end_turn", "update completed", "text", "end_turn"),
    ]
    assert not (chat.project / "child").exists()


@pytest.mark.contract("SA-044", "SA-013")
@pytest.mark.parametrize("kind", ["rfd", "air"])
async def test_a_subagent_that_fails_says_why(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    work = agent(["Child hi.", bash("echo a")], [{"error": 400, "message": "Bad child."}])
    assert (await chat.ask(script([work], ["All done."])))["stopReason"] == "end_turn"
    (child,) = children(chat)
    assert "Bad child." in chat.client.text(child)
    if kind == "air":
        assert order(chat)[-3:] == ["1 failed", "text", "end_turn"]
        return
    assert order(chat)[-4:] == ["1 idle error", "update failed", "text", "end_turn"]
    error = of(chat, chat.session, "subagent_update")[-1]["state"]["error"]
    assert error["code"] == -32603
    assert "Bad child." in error["message"]


@pytest.mark.contract("SA-015")
async def test_a_launch_that_fails_before_there_is_a_subagent_is_shown_after_all(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script(["I look. ", agent(["No."], subagent_type="nobody")], ["All done."]))
    assert order(chat) == ["text", "call failed", "text", "end_turn"]
    (call,) = chat.calls().values()
    assert "nobody" in str(call["content"])
    assert "subagent" not in str(call["_meta"])
    assert children(chat) == []


@pytest.mark.contract("SA-100")
@pytest.mark.parametrize("kind", ["rfd", "air"])
async def test_no_client_prompts_cancels_or_changes_a_subagent(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    call = chat.prompt(script([agent([{"delay": 2}, "Child report."])], ["All done."]))
    await chat.client.wait_update(UPDATE[kind], since=chat.start)
    (child,) = children(chat)
    chat.client.cancel(child)
    for method, params in (
        ("session/prompt", {"prompt": [{"type": "text", "text": "Hello."}]}),
        ("session/set_mode", {"modeId": "plan"}),
        ("session/set_config_option", {"configId": "mode", "value": "plan"}),
    ):
        error = await chat.client.call(method, {"sessionId": child, **params}).error()
        assert error.code == -32002, method
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.client.text(child) == "Child report."
