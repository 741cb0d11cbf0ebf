"""Goals of AIR: set, replaced, cleared, failed; and nothing of them for anyone else."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bridge.demo.api import ApiRequest, ScriptedApi
from tests.e2e.chat import Chat, bash, script, slow
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.e2e.turns.losses import kill_claude
from tests.support.rpc import Call, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

METHOD = "_session/goal"


def goal(chat: Chat, action: str, objective: str | None = None) -> Call:
    """Send `_session/goal`."""
    params: Json = {"sessionId": chat.session, "action": action}
    return chat.client.call(METHOD, params if objective is None else {**params, "objective": objective})


def published(chat: Chat, since: int | None = None) -> list[Json | None]:
    """The goals that the client was told of."""
    infos = [info for info in chat.updates("session_info_update", since=since) if "_meta" in info]
    return [air(info)["goal"] for info in infos if "goal" in air(info)]


def minimal(objective: str) -> Json:
    """What is told of a goal that Claude Code has not confirmed."""
    return {"objective": objective, "status": "active", "controlMethod": METHOD}


@pytest.mark.contract("GL-002", "GL-004")
async def test_only_air_is_offered_goals(chat_as: ChatAs) -> None:
    kinds = {kind: (await chat_as(kind)).client for kind in ("air", "plain")}
    answers = {}
    for kind, client in kinds.items():
        (answer,) = [body for body in client.received if "agentInfo" in (body.get("result") or {})]
        answers[kind] = answer["result"]
    offered = {"version": 1, "controlMethod": METHOD, "actions": ["set", "clear"]}
    assert offered in _values(answers["air"])
    assert METHOD not in str(answers["plain"])
    assert "goal" not in answers["air"].get("_meta", {})


def _values(value: Any) -> Iterator[Any]:
    yield value
    for each in value.values() if isinstance(value, dict) else ():
        yield from _values(each)


@pytest.mark.contract("GL-009", "GL-011", "GL-012", "GL-027", "GL-028", "TC-042")
async def test_a_goal_is_set_and_cleared(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    assert await goal(chat, "set", " Say  hello ").result() == {}
    assert published(chat)[0] == minimal("Say  hello")
    mark = chat.mark
    assert await goal(chat, "clear").result() == {}
    assert None in published(chat, since=mark)
    assert published(chat)[-1] is None
    await chat.is_well()


@pytest.mark.contract("GL-027", "GL-028")
async def test_a_goal_is_set_by_a_prompt(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    assert (await chat.ask("/goal Say hello"))["stopReason"] == "end_turn"
    assert published(chat)[0] == minimal("Say hello")
    assert (await chat.ask("/goal clear"))["stopReason"] == "end_turn"
    assert published(chat)[-1] is None


@pytest.mark.contract("GL-008", "GL-027")
async def test_a_goal_is_set_in_a_running_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    assert await goal(chat, "set", "Say hello").result() == {}
    assert not call.done
    assert (await call.result())["stopReason"] == "end_turn"
    assert published(chat)[0] == minimal("Say hello")
    await chat.is_well()


@pytest.mark.contract("GL-032")
async def test_asking_for_the_goal_changes_nothing(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    assert (await chat.ask("/goal"))["stopReason"] == "end_turn"
    assert published(chat) == []
    assert chat.text()


@pytest.mark.contract("GL-001", "GL-004")
async def test_others_hear_nothing_of_goals(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert (await chat.ask("/goal Say hello"))["stopReason"] == "end_turn"
    assert all("_meta" not in info for info in chat.updates("session_info_update"))
    error = await goal(chat, "set", "Say hello").error()
    assert error.code == -32601
    await chat.is_well()


async def test_a_goal_that_is_not_valid_is_refused(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    for call in (goal(chat, "set"), goal(chat, "set", " "), goal(chat, "x")):
        assert (await call.error()).code == -32602
    assert published(chat) == []


@pytest.fixture
def unmet(shared_api: ScriptedApi) -> Iterator[None]:
    """Whoever judges the goal says once that it is not met."""
    verdicts = [False]

    def respond(asked: ApiRequest) -> Sequence[Any] | None:
        schema = asked.body.get("output_config", {}).get("format", {}).get("schema", {})
        if "ok" not in schema.get("properties", {}) or not verdicts:
            return None
        verdicts.pop()
        return ['{"ok": false, "reason": "Not yet."}']

    shared_api.respond = respond
    yield
    shared_api.respond = None


@pytest.mark.contract("GL-034")
async def test_the_way_to_a_goal_is_told(chat_as: ChatAs, unmet: None) -> None:
    chat = await chat_as("air")
    assert await goal(chat, "set", "Say hello").result() == {}
    told = published(chat)
    assert told[0] == minimal("Say hello")
    assert any(each and each.get("iterations") and each.get("lastReason") == "Not yet." for each in told)
    assert told[-1] is None
    await chat.is_well()


@pytest.mark.contract("GL-017", "GL-018")
async def test_a_cycle_after_the_answer_meets_the_goal(chat_as: ChatAs) -> None:
    """Claude Code judges a goal only once nothing works for it in the background any more."""
    chat = await chat_as("air")
    command = f"until [ -e {chat.project / 'go'} ]; do sleep 0.05; done; echo over"
    work = script([bash(command, run_in_background=True)], ["Started."], ["It is over."])
    assert await goal(chat, "set", work).result() == {}
    assert published(chat)[-1] is not None
    mark = chat.mark
    (chat.project / "go").touch()
    while published(chat, since=mark) != [None]:
        await chat.client.wait_update("session_info_update", since=chat.mark)
    assert chat.text(since=mark) == "It is over."
    await chat.is_well()


async def with_goal(chat: Chat) -> None:
    """Set a goal and stop the work on it, which leaves it active."""
    call = goal(chat, "set", script([slow()]))
    await chat.client.wait_update("agent_message_chunk", lambda u: "word-" in str(u), since=chat.start)
    chat.cancel()
    await call.message()
    assert published(chat)[-1] is not None


@pytest.mark.contract("GL-010", "GL-019")
async def test_a_cancel_does_not_clear_the_goal_and_prompts_go_on(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await with_goal(chat)
    mark = chat.mark
    assert (await chat.ask(script(["Ordinary."])))["stopReason"] == "end_turn"
    assert chat.text(since=mark).startswith("Ordinary.")
    await goal(chat, "clear").result()
    assert published(chat)[-1] is None


@pytest.mark.contract("GL-036")
async def test_a_goal_outlives_the_process(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await with_goal(chat)
    mark = chat.mark
    await kill_claude(chat)
    assert (await chat.ask("/goal"))["stopReason"] == "end_turn"
    assert published(chat, since=mark) == []
    assert "word-" in chat.text(since=mark)
