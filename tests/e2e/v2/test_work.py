"""States of work on ACP v2: queued and cancelled prompts, failures, cycles, subagents."""

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import SLEEP, bash, script, slow
from tests.e2e.children.words import agent, children, requests, stuck, updates
from tests.e2e.turns.losses import kill_claude
from tests.e2e.turns.test_background import background
from tests.e2e.turns.test_failures import failing
from tests.e2e.v2.conftest import NewV2Chat
from tests.e2e.v2.talk import V2Chat, merged
from tests.support.rpc import Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def states(chat: V2Chat, session: str | None = None, since: int | None = None) -> list[str]:
    """The states of one stream: `idle end_turn` …"""
    told = [u for where, u in updates(chat.chat, since) if where == (session or chat.session)]
    return [word(each) for each in told if each["sessionUpdate"] == "state_update"]


def word(state: Json) -> str:
    return " ".join(state[key] for key in ("state", "stopReason") if key in state)


# ── prompts ──


async def test_a_queued_prompt_is_answered_when_it_begins(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    first = chat.chat.prompt(script([slow(10)]))
    await first.result()
    second = chat.chat.prompt(script(["Second."]))
    await second.result()
    await chat.state("idle", since=(await second.message()).seq)
    assert [word for word in chat.order() if word != "prompt"] == [
        *("user_message", "inserted", "running", "text", "idle end_turn"),
        *("user_message", "inserted", "running", "text", "idle end_turn"),
    ]
    ids = [each["messageId"] for each in chat.updates("user_message")]
    assert ids == [(await first.result())["messageId"], (await second.result())["messageId"]]


async def test_prompts_that_run_together_are_all_in_the_conversation(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    first = chat.chat.prompt(script([slow(10)]))
    await first.result()
    with chat.chat.client.one_write():
        more = [chat.chat.prompt(script(["B."])), chat.chat.prompt(script(["C."]))]
    for call in more:
        await call.result()
    last = max([(await call.message()).seq for call in more])
    await chat.state("idle", since=last)
    ids = [each["messageId"] for each in chat.updates("user_message")]
    assert sorted(ids[1:]) == sorted([(await call.result())["messageId"] for call in more])
    told = states(chat)
    assert told[-1] == "idle end_turn"
    assert told == ["running", "idle end_turn"] * (len(told) // 2), "INV-F1"


async def test_a_cancel_refuses_what_did_not_begin(v2_chat: NewV2Chat) -> None:
    """W§5.2: the queued prompt first, then the end of the one that ran."""
    chat = await v2_chat()
    first = chat.chat.prompt(script([slow()]))
    await first.result()
    await chat.chat.client.wait_update("agent_message_chunk", since=chat.chat.start)
    second = chat.chat.prompt(script(["Never."]))
    chat.chat.cancel()
    error = await second.error()
    assert error.code == -32800
    assert (await chat.ended())["stopReason"] == "cancelled"
    assert chat.order()[-1] == "idle cancelled"
    assert "error -32800" in chat.order()[:-1]
    assert len(chat.updates("user_message")) == 1
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"


async def test_a_request_that_is_cancelled_alone(v2_chat: NewV2Chat) -> None:
    """An answered prompt has no request any more; a queued one does."""
    chat = await v2_chat()
    first = chat.chat.prompt(script([slow(15)]))
    await first.result()
    second = chat.chat.prompt(script(["Never."]))
    for call in (first, second):
        chat.chat.client.notify("$/cancel_request", {"requestId": call.id})
    assert (await second.error()).code == -32800
    assert (await chat.ended())["stopReason"] == "end_turn"


async def test_a_failed_turn_ends_with_its_error(v2_chat: NewV2Chat) -> None:
    """M4.4: the prompt was answered, so its failure is a state."""
    chat = await v2_chat()
    end = await chat.ask(script([failing(400)]))
    assert end["stopReason"] == "error"
    assert end["error"]["code"] == -32603
    assert end["error"]["message"].startswith("Internal error: API Error: 400")
    assert end["error"]["data"]["errorKind"]
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"


async def test_a_lost_process_ends_the_work_with_an_error(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    chat.chat.client.on_permission(never)
    await chat.chat.prompt(script([bash("touch no.txt")], ["No."])).result()
    await chat.chat.client.wait_question(since=chat.chat.start)
    mark = chat.mark
    await kill_claude(chat.chat)
    end = await chat.ended(since=mark)
    assert (end["stopReason"], end["error"]["code"]) == ("error", -32603)
    assert chat.call()["status"] == "failed"
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"
    assert any(each["title"] == "Claude Code was restarted" for each in chat.updates("notice"))


async def test_a_close_ends_the_work_before_its_answer(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.chat.prompt(script([bash(f"touch began; {SLEEP}")], ["No."])).result()
    await chat.chat.until_made("began")
    queued = chat.chat.prompt(script(["Never."]))
    closed = chat.chat.client.call("session/close", {"sessionId": chat.session})
    await closed.result()
    assert (await queued.error()).code == -32800
    assert states(chat)[-1] == "idle cancelled"
    assert chat.call()["status"] == "cancelled"
    mark = (await closed.message()).seq
    assert chat.updates(since=mark) == []


# ── cycles ──


@pytest.mark.contract("CY-001")
async def test_work_that_claude_starts_itself(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.ask(script([background(chat.chat)], ["Started."], ["It is over."]))
    assert states(chat) == ["running", "idle end_turn"]
    mark = chat.mark
    (chat.chat.project / "go").touch()
    end = await chat.ended(since=mark)
    assert end["usage"]["outputTokens"] > 0
    assert chat.chat.text(since=mark) == "It is over."
    assert states(chat, since=mark) == ["running", "idle end_turn"]
    assert chat.updates("user_message", since=mark) == []
    terminal = merged(chat.updates("terminal_update"))
    assert "exitStatus" in terminal
    assert (await chat.ask(script(["Well."])))["stopReason"] == "end_turn"


@pytest.mark.contract("CY-009", "CY-010")
async def test_a_cancel_of_a_cycle_with_a_subagent(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.ask(script([background(chat.chat)], ["Started."], ["Over.", stuck()], ["No."]))
    mark = chat.mark
    (chat.chat.project / "go").touch()
    await chat.chat.until_made("began")
    chat.chat.cancel()
    await chat.ended(since=mark)
    (child,) = children(chat.chat)
    told = [(where, each) for where, each in updates(chat.chat, mark)]
    ends = [
        n
        for n, (where, each) in enumerate(told)
        if where == child and each.get("status") in {"cancelled", "failed", "completed"}
    ]
    assert len(ends) == 1, "exactly once"
    assert told[ends[0]][1]["status"] == "cancelled"
    idle = [n for n, (where, each) in enumerate(told) if where == child and each.get("state") == "idle"]
    root = [
        n for n, (where, each) in enumerate(told) if where == chat.session and each.get("state") == "idle"
    ]
    assert idle[0] < ends[0] < root[0]
    assert states(chat, since=mark)[-1] == "idle cancelled"


# ── subagents ──


@pytest.mark.contract("V2-025", "V2-027", "V2-028", "V2-029", "V2-034", "V2-035", "NG-051")
async def test_a_subagent_in_the_foreground(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    work = agent(["Child hi.", bash("npm test; touch child")], ["Child report."], name="scout")
    await chat.ask(script(["I look. ", work], ["All done."]))
    (child,) = children(chat.chat)
    assert states(chat) == ["running", "requires_action", "running", "idle end_turn"]
    assert states(chat, child) == ["running", "requires_action", "running", "idle end_turn"]
    assert [request["sessionId"] for request in requests(chat.chat)] == [child]
    told = updates(chat.chat)
    for n, (where, each) in enumerate(told):
        if each["sessionUpdate"] == "subagent_update" and "state" in each:
            assert where == chat.session
            assert told[n + 1] == (child, {"sessionUpdate": "state_update", **each["state"]}), "V2-028"
    waits = [where for where, each in told if each.get("state") == "requires_action"]
    assert waits == [child, chat.session], "the child, then the root"
    assert chat.call()["name"] == "Agent"
    assert chat.call()["status"] == "completed"
    assert chat.chat.client.text(child) == "Child hi.Child report."


@pytest.mark.contract("V2-037")
async def test_a_cancel_ends_the_subagent_on_both_streams_and_then_the_root(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.chat.prompt(script([stuck()], ["No."])).result()
    await chat.chat.until_made("began")
    chat.chat.cancel()
    await chat.ended()
    (child,) = children(chat.chat)
    ends = [
        (where, each["sessionUpdate"])
        for where, each in updates(chat.chat)
        if word(each if each["sessionUpdate"] == "state_update" else each.get("state", {}))
        == "idle cancelled"
    ]
    assert ends == [
        (chat.session, "subagent_update"),
        (child, "state_update"),
        (chat.session, "state_update"),
    ]


async def test_a_cancel_while_the_user_is_asked_says_nothing_between(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    chat.chat.client.on_permission(never)
    await chat.chat.prompt(script([bash("touch no.txt")], ["No."])).result()
    question = await chat.chat.client.wait_question(since=chat.chat.start)
    chat.chat.cancel()
    await chat.ended()
    assert question.body["id"] in chat.chat.client.withdrawn
    assert states(chat) == ["running", "requires_action", "idle cancelled"]
    assert chat.call()["status"] == "cancelled"


@pytest.mark.contract("V2-036")
async def test_the_root_may_rest_while_a_subagent_works(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    wait = f"until [ -e {chat.chat.project / 'go'} ]; do sleep 0.05; done"
    work = agent([bash(wait)], ["Child report."], background=True)
    end = await chat.ask(script([work], ["Launched."], ["I heard it."]))
    assert end["stopReason"] == "end_turn"
    (child,) = children(chat.chat)
    assert states(chat, child)[-1] in {"running", "requires_action"}
    mark = chat.mark
    (chat.chat.project / "go").touch()
    await chat.ended(since=mark)
    assert states(chat, child)[-1] == "idle end_turn"
    assert states(chat, since=mark) == ["running", "idle end_turn"]
    assert chat.chat.text(since=mark) == "I heard it."


async def test_v1_hears_nothing_of_all_this(start_agent: StartAgent) -> None:
    client = await start_agent(env={"CLAUDE_AGENT_ACP_PROTOCOL": "auto"})
    await client.initialize()
    session = await client.new_session()
    result = await client.prompt(session, script(["Well."])).result()
    assert result["stopReason"] == "end_turn"
    kinds = {update["sessionUpdate"] for update in client.updates(session)}
    assert not kinds & {"state_update", "user_message"}


@pytest.mark.contract("V2-030")
async def test_a_subagent_that_fails_says_why_on_both_streams(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    work = agent(["Child hi.", bash("echo a")], [{"error": 400, "message": "Bad child."}])
    assert (await chat.ask(script([work], ["All done."])))["stopReason"] == "end_turn"
    (child,) = children(chat.chat)
    told = [u for where, u in updates(chat.chat) if where == child and u["sessionUpdate"] == "state_update"]
    assert (told[-1]["stopReason"], told[-1]["error"]["code"]) == ("error", -32603)
    assert "Bad child." in told[-1]["error"]["message"]
    parents = [u for u in chat.updates("subagent_update") if "state" in u]
    assert parents[-1]["state"] == {key: told[-1][key] for key in ("state", "stopReason", "error")}


async def test_a_session_that_works_is_taken_up_as_it_is(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.chat.prompt(script([slow(20)])).result()
    mark = chat.mark
    await chat.chat.client.request(
        "session/resume", {"sessionId": chat.session, "cwd": str(chat.chat.project)}
    )
    (state,) = [each for each in chat.updates("state_update", since=mark) if "stopReason" not in each][:1]
    assert state["state"] == "running"
    await chat.ended(since=mark)
