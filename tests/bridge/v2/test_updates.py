"""Updates of v1 as updates of ACP v2, by table; each is valid under the schema of v2."""

from typing import Any

import pytest

from bridge.v2.updates import Updates
from tests.support.oracle_v2 import check
from tests.support.rpc import Json

TEXT = {"type": "text", "text": "hi"}
SESSION = "s"


def told(updates: Updates, update: Json, session: str = SESSION) -> list[Any]:
    """What is sent, each checked."""
    sent = updates.translate(session, update)
    for where, each in sent:
        check({"sessionId": where, "update": each}, "UpdateSessionNotification", str(each["sessionUpdate"]))
    return [(where, dict(each)) for where, each in sent]


def one(update: Json) -> list[Json]:
    """What is sent for one update of a session that saw nothing before."""
    return [each for _, each in told(Updates(), update)]


SAME = [
    {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "2026-11-30T10:20:11.457Z"},
    {"sessionUpdate": "usage_update", "used": 1, "size": 2, "_meta": {"_claude/model": "m"}},
    {"sessionUpdate": "notice", "severity": "warning", "title": "T", "description": "D"},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": [TEXT]},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": TEXT},
    {"sessionUpdate": "session_message", "messageId": "m", "recipientSessionId": "c", "content": [TEXT]},
    {"sessionUpdate": "session_message_chunk", "messageId": "m", "content": TEXT},
    {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT},
    {"sessionUpdate": "user_message", "messageId": "m", "content": [TEXT]},
    {"sessionUpdate": "state_update", "state": "running"},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
]


@pytest.mark.contract("V2-016", "V2-017", "V2-026", "V2-039")
@pytest.mark.parametrize("update", SAME, ids=lambda update: update["sessionUpdate"])
def test_what_both_versions_say_alike(update: Json) -> None:
    assert one(update) == [update]


@pytest.mark.contract("V2-015")
def test_a_plan_is_the_one_plan_of_its_session() -> None:
    entries = [{"content": "Do it", "priority": "medium", "status": "pending"}]
    assert one({"sessionUpdate": "plan", "entries": entries}) == [
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "plan", "entries": entries}}
    ]


@pytest.mark.contract("V2-014", "NG-050")
def test_the_mode_is_a_config_option_and_nothing_else() -> None:
    assert one({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}) == []
    select = {"id": "mode", "name": "Mode", "type": "select", "currentValue": "a", "category": "mode"}
    values = [{"value": "a", "name": "A"}]
    groups = [{"group": "g", "name": "G", "options": values}]
    switch = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}
    update = {
        "sessionUpdate": "config_option_update",
        "configOptions": [{**select, "options": values}, {**select, "options": groups}, switch],
    }
    (sent,) = one(update)
    first, second, third = sent["configOptions"]
    assert first["configId"] == "mode"
    assert "id" not in first
    assert second["options"] == [{"groupId": "g", "name": "G", "options": values}]
    assert third["configId"] == "fast"


def test_commands_have_a_type_and_an_input_only_if_they_take_one() -> None:
    rows = [
        {"name": "compact", "description": "", "input": {"hint": "[what]"}},
        {"name": "usage", "description": "Usage", "input": None},
    ]
    (sent,) = one({"sessionUpdate": "available_commands_update", "availableCommands": rows})
    assert sent["availableCommands"] == [
        {
            "type": "command",
            "name": "compact",
            "description": "",
            "input": {"type": "text", "hint": "[what]"},
        },
        {"type": "command", "name": "usage", "description": "Usage"},
    ]


def test_a_chunk_without_an_id_gets_one_and_fails_nothing() -> None:
    updates = Updates()
    chunk = {"sessionUpdate": "agent_message_chunk", "content": TEXT}
    ids = {told(updates, dict(chunk))[0][1]["messageId"] for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.contract("V2-007", "SE-036")
def test_a_replayed_message_is_emptied_before_its_first_chunk() -> None:
    updates = Updates()
    updates.replay_begins(SESSION)
    kinds = []
    for kind, id in [
        ("user_message_chunk", "a"),
        ("agent_thought_chunk", "m"),
        ("agent_message_chunk", "m"),
        ("agent_message_chunk", "m"),
    ]:
        sent = told(updates, {"sessionUpdate": kind, "messageId": id, "content": TEXT})
        kinds += [each["sessionUpdate"] for _, each in sent]
        assert sent[0][1].get("content") in ([], TEXT)
    assert kinds == [
        *("user_message", "user_message_chunk", "agent_thought", "agent_thought_chunk"),
        *("agent_message", "agent_message_chunk", "agent_message_chunk"),
    ]
    updates.replay_ends(SESSION)
    assert len(told(updates, {"sessionUpdate": "user_message_chunk", "messageId": "z", "content": TEXT})) == 1


STATES = [
    {"state": "running"},
    {"state": "requires_action"},
    {"state": "idle"},
    {"state": "idle", "stopReason": "end_turn"},
    {"state": "idle", "stopReason": "cancelled"},
    {"state": "idle", "stopReason": "error", "error": {"code": -32603, "message": "Bad."}},
    {"state": "unknown"},
]


@pytest.mark.contract("V2-027", "V2-028", "V2-029", "V2-030")
@pytest.mark.parametrize("state", STATES, ids=str)
def test_a_state_of_a_subagent_is_told_on_its_own_stream_too(state: Json) -> None:
    update = {"sessionUpdate": "subagent_update", "sessionId": "child", "state": state}
    assert told(Updates(), update) == [
        (SESSION, update),
        ("child", {"sessionUpdate": "state_update", **state}),
    ]


@pytest.mark.contract("V2-031")
def test_what_is_no_state_is_not() -> None:
    update = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "scout"}
    assert told(Updates(), update) == [(SESSION, update)]


@pytest.mark.contract("V2-032", "V2-033")
@pytest.mark.parametrize(
    "state",
    [{"state": "asleep"}, {}, {"state": None}, {"state": "idle", "stopReason": "bored"}],
    ids=str,
)
def test_a_state_that_nobody_defined_is_a_fault_of_ours(state: Json) -> None:
    update = {"sessionUpdate": "subagent_update", "sessionId": "child", "state": state}
    with pytest.raises(ValueError, match="subagent"):
        Updates().translate(SESSION, update)


def test_a_kind_that_nobody_translates_is_too() -> None:
    with pytest.raises(ValueError, match="subagent_spawned"):
        Updates().translate(SESSION, {"sessionUpdate": "subagent_spawned"})
