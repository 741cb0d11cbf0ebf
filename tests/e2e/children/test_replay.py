"""Subagents of a stored conversation: what a client that loads it is told, and who may be asked again."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.children.test_background import send
from tests.e2e.children.words import agent, calls, children, of, order, stuck
from tests.support.clients import CAPABILITIES
from tests.support.rpc import HANG, Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

Begin = Callable[..., Awaitable[Chat]]
"""`await begin("rfd")`: an agent of its own with a session; with `session`, one that takes it up."""


@pytest.fixture
def begin(start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi) -> Begin:
    """Conversations of one user, who restarts the editor now and then."""

    async def start(kind: str | Json, session: str | None = None, method: str = "session/load") -> Chat:
        client = await start_agent()
        await client.initialize(CAPABILITIES[kind] if isinstance(kind, str) else kind)
        mark = len(client.messages)
        if session is None:
            session = await client.new_session()
        else:
            where = {"sessionId": session, "cwd": str(sandbox.project), "mcpServers": []}
            await client.request(method, where)
            await client.wait_update("available_commands_update", since=mark)
        return Chat(client, session, sandbox.project, api, mark)

    return start


INNER = agent(["Inner hi.", bash("echo inner")], ["Inner report."], name="inner", description="Look closer")
OUTER = agent(["Outer hi.", bash("echo outer")], [INNER], ["Outer report."], name="scout")


async def converse(chat: Chat) -> None:
    """A subagent with one of its own, asked again; one in the background; one that is stopped."""
    await chat.ask(script(["I look. ", OUTER], ["All done."]))
    scout = children(chat)[0] if children(chat) else "scout"
    await chat.ask(
        script(["Again. ", send(scout, [{"delay": 1}, "Second run."])], ["Sent."], ["It told me."])
    )
    work = agent([{"delay": 1}, "Background report."], background=True, description="Count")
    await chat.ask(script(["And. ", work], ["Started."], ["It is done."]))
    await chat.ask(script(["No. ", use("Agent", description="d", prompt="p", subagent_type="nosuch")]))
    call = chat.prompt(script([stuck(description="Stuck")]))
    await chat.until_made("began")
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.client.request("session/close", {"sessionId": chat.session})


def told(chat: Chat, session: str) -> list[str]:
    """What the session of a subagent was told, without what only a live client is."""
    texts = []
    for update in of(chat, session):
        match update["sessionUpdate"]:
            case "agent_message_chunk":
                texts.append(update["content"]["text"])
            case "session_message":
                texts.append(
                    f"{update['messageId']} {update['senderSessionId']}: {update['content'][0]['text']}"
                )
            case "tool_call":
                texts.append(f"call {update['toolCallId']}")
    return texts


def ends(chat: Chat) -> dict[str, str | None]:
    """How each subagent was last said to have ended, before the load was answered."""
    found: dict[str, str | None] = {}
    for message in chat.client.messages[chat.start :]:
        body = message.body
        if "id" in body and "method" not in body:
            return found
        update = (body.get("params") or {}).get("update") or {}
        if update.get("sessionUpdate") == "subagent_update" and "state" in update:
            assert update["state"]["state"] != "requires_action"
            idle = update["state"]["state"] == "idle"
            found[update["sessionId"]] = update["state"].get("stopReason") if idle else "running"
        elif update.get("sessionUpdate") == "subagent_state_update":
            found[update["subagentSessionId"]] = update["state"]
    raise AssertionError("the load was not answered")


@pytest.mark.contract("SA-090", "SA-091", "SA-092", "SA-093", "SE-075", "SE-076")
async def test_the_public_draft_sees_each_in_its_session_of_before(begin: Begin) -> None:
    live = await begin("rfd")
    await converse(live)
    again = await begin("rfd", live.session)

    assert children(again) == children(live)
    for child in children(live):
        assert told(again, child) == told(live, child)
        assert [name for name, _ in calls(again, child)] == [name for name, _ in calls(live, child)]
    first = {each["sessionId"]: each for each in again.updates("subagent_update") if "title" in each}
    before = {each["sessionId"]: each for each in live.updates("subagent_update") if "title" in each}
    assert first == {id: each for id, each in before.items() if id in first}
    scout, inner, counter, halted = children(again)
    assert ends(again) == {
        scout: "end_turn",
        inner: "end_turn",
        counter: "end_turn",
        halted: "cancelled",
    }
    names = ["Agent", "SendMessage", "Agent", "Agent", "Agent"]
    assert [name for name, _ in calls(again, again.session)] == names, "every launch stays a call"
    assert again.updates("notice") == [], "a launch that failed had no history"
    await again.is_well()


@pytest.mark.contract("SA-092")
async def test_what_each_does_is_said_once_more_behind_the_answer(begin: Begin) -> None:
    live = await begin("rfd")
    await live.ask(script([OUTER], ["All done."]))
    again = await begin("rfd", live.session)
    scout, inner = children(again)
    states = [(u["sessionId"], u["state"]) for u in of(again, scout, "subagent_update") if "state" in u]
    assert states[-2:] == [(inner, {"state": "idle", "stopReason": "end_turn"})] * 2
    assert order(again)[-2:] == ["1 idle end_turn", "1 2 idle end_turn"]


@pytest.mark.contract("SA-026", "SA-015")
async def test_air_sees_each_in_a_session_of_the_replay(begin: Begin) -> None:
    live = await begin("air")
    await converse(live)
    again = await begin("air", live.session)

    launches = [call for call, shown in live.calls().items() if shown.get("name") != "SendMessage"]
    outer, inner, counter, halted = children(again)
    assert all(child.startswith(f"{again.session}:replay-subagent:") for child in children(again))
    spawned = again.updates("subagent_spawned")
    assert [each["name"] for each in spawned] == ["scout", "Count", "Stuck"]
    assert {"prompt"} & {key for each in spawned for key in each} == set()
    assert [each["name"] for each in of(again, outer, "subagent_spawned")] == ["inner"]
    said = again.client.text(outer)
    assert said == "Outer hi.Outer report.Second run."
    asked = [u["content"]["text"] for u in of(again, outer, "user_message_chunk")]
    assert [text.split()[0] for text in asked] == ["SCRIPT", "More."]
    assert ends(again) == {
        outer: "completed",
        inner: "completed",
        counter: "completed",
        halted: "cancelled",
    }
    shown = [name for name, _ in calls(again, again.session)]
    assert shown == ["SendMessage", "Agent"], "of the launches only the one that failed is a call"
    assert not of(again, again.session, "async_task_spawned")
    assert launches, "the failed launch is a call live, too"
    await again.is_well()


@pytest.mark.contract("SA-103", "SE-074")
@pytest.mark.parametrize("flat", [True, False])
async def test_a_flat_client_sees_what_it_saw_live(flat: bool, begin: Begin) -> None:
    kind = {**CAPABILITIES["plain"], "_meta": {"subagent-transcript": flat}}
    live = await begin(kind)
    await live.ask(script(["I look. ", OUTER], ["All done."]))
    again = await begin(kind, live.session)

    def parents(chat: Chat) -> dict[str, str | None]:
        updates = chat.updates("tool_call")
        return {u["toolCallId"]: u["_meta"]["claudeCode"].get("parentToolUseId") for u in updates}

    assert parents(again) == parents(live)
    assert list(parents(again).values()).count(None) == 1
    assert again.text() == live.text()
    assert ("Inner hi." in again.text()) == flat


@pytest.mark.contract("SA-093", "SA-094", "SE-078")
async def test_a_launch_whose_file_is_gone_stays_a_call(begin: Begin, sandbox: Sandbox) -> None:
    live = await begin("rfd")
    await live.ask(script([OUTER], ["All done."]))
    await live.client.request("session/close", {"sessionId": live.session})
    scout = children(live)[0]
    (about,) = sandbox.config.rglob(f"agent-{scout}.meta.json")
    about.unlink()
    again = await begin("rfd", live.session)
    assert children(again) == [], "nor is one told of whose parent is not"
    assert [name for name, _ in calls(again, again.session)] == ["Agent"]
    (notice,) = again.updates("notice")
    assert (notice["severity"], notice["title"]) == ("info", "Some subagent history is not available")
    assert notice["description"] == "The history of 1 subagent of this session could not be restored."

    quiet = {key: value for key, value in CAPABILITIES["rfd"].items() if key != "session"}
    other = await begin(quiet, live.session)
    assert other.updates("notice") == []


@pytest.mark.contract("SA-096", "SE-079")
async def test_after_a_load_it_goes_on_in_its_session(begin: Begin) -> None:
    live = await begin("rfd")
    await live.ask(script([OUTER], ["All done."]))
    await live.client.request("session/close", {"sessionId": live.session})
    again = await begin("rfd", live.session)
    scout, _ = children(again)
    mark = again.mark
    work = send(scout, [{"delay": 1}, "Third run.", bash("echo third")], ["Third report."])
    result = await again.ask(script(["Again. ", work], ["Sent."], ["It told me."]))
    assert result["stopReason"] == "end_turn"
    assert order(again, mark) == [
        *("text", "call pending", "1 running", "1 message", "update completed", "text", "1 text"),
        *("1 call pending", "1 update completed", "1 text", "1 idle end_turn", "text", "end_turn"),
    ]
    assert of(again, scout, "session_message")[-1]["senderSessionId"] == again.session
    await again.is_well()


@pytest.mark.contract("SA-097", "SA-098", "SE-079")
async def test_after_a_resume_too_and_whoever_it_is_of_comes_first(begin: Begin) -> None:
    live = await begin("rfd")
    await live.ask(script([OUTER], ["All done."]))
    await live.client.request("session/close", {"sessionId": live.session})
    scout, inner = children(live)
    again = await begin("rfd", live.session, "session/resume")
    assert children(again) == []
    work = send(inner, [{"delay": 1}, "Another run."], ["Another report."])
    await again.ask(script(["Again. ", work], ["Sent."], ["It told me."]))
    updates = [u for u in again.updates() + of(again, scout) if u["sessionUpdate"] == "subagent_update"]
    assert [(u["sessionId"], u.get("state")) for u in updates] == [
        (scout, None),
        (inner, {"state": "running"}),
        (inner, {"state": "idle", "stopReason": "end_turn"}),
    ]
    assert [u.get("title") for u in updates] == ["scout (general-purpose)", "inner (general-purpose)", None]
    assert again.client.text(inner) == "Another run."
    await again.is_well()


async def test_air_sees_another_generation_of_one_of_before(begin: Begin) -> None:
    live = await begin("air")
    await live.ask(script([OUTER], ["All done."]))
    await live.client.request("session/close", {"sessionId": live.session})
    again = await begin("air", live.session)
    mark = again.mark
    scout = children(live)[0]
    work = send(scout, [{"delay": 1}, "Third run."], ["Third report."])
    await again.ask(script(["Again. ", work], ["Sent."], ["It told me."]))
    assert order(again, mark) == [
        *("text", "call pending", "3 spawned", "update completed", "text", "3 text", "3 completed"),
        *("text", "end_turn"),
    ]
    new = children(again)[-1]
    assert new.startswith(f"{scout}:generation:17")
    assert again.client.text(new) == "Third run."
    await again.is_well()


async def test_a_history_told_again_leaves_who_works_alone(begin: Begin) -> None:
    """An editor that lost its view loads a session whose subagent works in the background."""
    chat = await begin("rfd")
    go = chat.project / "go"
    wait = bash(f"until [ -e {go} ]; do sleep 0.05; done; echo over")
    work = agent(["I wait.", wait], ["Now I know."], background=True)
    call = chat.prompt(script([work], ["Started."], ["It told me."]))
    with anyio.fail_after(HANG):
        while not any(calls(chat, child) for child in children(chat)):  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)
    mark = chat.mark
    where = {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": []}
    await chat.client.request("session/load", where)
    (child,) = children(chat)
    with anyio.fail_after(HANG):
        while order(chat, mark)[-1:] != ["1 running"]:  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)
    go.touch()
    assert (await call.result())["stopReason"] == "end_turn"
    later = replace(chat, start=mark)
    assert later.client.text(child).endswith("Now I know.")
    assert order(chat, mark)[-3:] == ["1 idle end_turn", "text", "end_turn"]
    await chat.is_well()
