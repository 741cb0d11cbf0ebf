"""The judge itself: it lets pass what the protocol allows, and catches each kind of slip."""

import copy
from typing import Any

import pytest

from tests.support.oracle import check_outgoing

SENT = {1: "initialize", 2: "session/prompt", "a": "session/list", 3: "_session/steering", 4: "nope"}


def update(kind: str, **fields: Any) -> dict[str, Any]:
    """A session update."""
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def call(method: str, id: object = None, **params: Any) -> dict[str, Any]:
    """A notification, or a request if it has an id."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if id is None else message | {"id": id}


def result(id: object, **fields: Any) -> dict[str, Any]:
    """A successful answer."""
    return {"jsonrpc": "2.0", "id": id, "result": fields}


def error(id: object, **fields: Any) -> dict[str, Any]:
    """An error answer."""
    return {"jsonrpc": "2.0", "id": id, "error": fields}


TEXT = {"type": "text", "text": "hi"}
CALL = {"toolCallId": "t"}
ALLOW = {"optionId": "o", "name": "Allow", "kind": "allow_once"}
SUBAGENTS: dict[str, Any] = {"sessionCapabilities": {"subagents": {}, "list": {}}}

LEGAL = [
    update("agent_message_chunk", content=TEXT, messageId="m"),
    update("tool_call", toolCallId="t", title="T", rawInput={"_meta": {"anything": 1}}),
    update("tool_call_update", toolCallId="t", _meta={"jetbrains": {"air": {"asyncTasks": {}}}}),
    update("session_info_update", title=None, _meta={"jetbrains": {"air": {"version": 1, "goal": None}}}),
    update("usage_update", used=1, size=2, cost={"amount": 0, "currency": "USD"}),
    update("compaction_update", compactionId="c", status="_paused", _meta=None),
    update("subagent_update", sessionId="c", state={"state": "idle", "stopReason": "end_turn"}),
    update("subagent_spawned", subagentSessionId="c", name="n", task="t", capabilities={}),
    update("async_task_progress", asyncTaskId="a", summary="s"),
    call("_auth/status_update", authStatus={"kind": "none", "label": "Not logged in"}),
    call("_claude/sdkMessage", sessionId="s", message={"_meta": {"anything": 1}}),
    call("$/cancel_request", requestId=0),
    call("elicitation/complete", elicitationId="e"),
    call("session/request_permission", 0, sessionId="s", toolCall=CALL, options=[ALLOW]),
    call("elicitation/create", 1, message="m", mode="url", elicitationId="e", url="https://x", sessionId="s"),
    result(1, protocolVersion=1, agentCapabilities=SUBAGENTS, authMethods=[{"id": "a", "name": "A"}]),
    result(2, stopReason="end_turn", _meta={"quota": {}}),
    result("a", sessions=[]),
    result(3, outcome="injected"),
    error(2, code=-32603, message="Internal error"),
    error(None, code=-32700, message="Parse error"),
]


@pytest.mark.parametrize("message", LEGAL, ids=str)
def test_what_the_protocol_allows_passes(message: dict[str, Any]) -> None:
    before = copy.deepcopy(message)
    check_outgoing(message, SENT)
    assert message == before


CHUNK = {"content": TEXT}
SLIPS = {
    "no version": {"method": "session/update", "params": {}},
    "no call and no answer": {"jsonrpc": "2.0"},
    "extra member": call("elicitation/complete", elicitationId="e") | {"extra": 1},
    "params are no object": {"jsonrpc": "2.0", "method": "session/update", "params": []},
    "no update": call("session/update", sessionId="s"),
    "no kind": call("session/update", sessionId="s", update={}),
    "unknown kind": update("agent_message", **CHUNK),
    "typo in a key": update("agent_message_chunk", **CHUNK, messageID="m"),
    "typo in a nested key": update("agent_message_chunk", content=TEXT | {"anotations": {}}),
    "missing field": update("agent_message_chunk"),
    "wrong enum": update("tool_call", toolCallId="t", title="T", status="cancelled"),
    "broken optional list": update("tool_call", toolCallId="t", title="T", locations=[{}]),
    "empty notice": update("notice", severity="info", title=""),
    "extra param": {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", **CHUNK}, "at": 1},
    },
    "air kind with a typo": update("async_task_progress", asyncTaskID="a"),
    "air kind with an extra key": update("subagent_state_update", subagentSessionId="c", state="x", x=1),
    "unknown meta": update("agent_message_chunk", **CHUNK, _meta={"claudecode": {}}),
    "removed meta": update("agent_message_chunk", **CHUNK, _meta={"claudeCode": {"title": "t"}}),
    "unknown in jetbrains": update("agent_message_chunk", **CHUNK, _meta={"jetbrains": {"ide": {}}}),
    "unknown in air": update(
        "agent_message_chunk", **CHUNK, _meta={"jetbrains": {"air": {"version": 1, "diffStats": {}}}}
    ),
    "air without version": update(
        "agent_message_chunk", **CHUNK, _meta={"jetbrains": {"air": {"kind": "x"}}}
    ),
    "nested meta": update("agent_message_chunk", content=TEXT | {"_meta": {"oops": 1}}),
    "meta in a list": update("session_message", messageId="m", content=[TEXT | {"_meta": {"oops": 1}}]),
    "unknown notification": call("session/updates"),
    "request as notification": call("session/request_permission"),
    "notification as request": call("elicitation/complete", 0, elicitationId="e"),
    "string id": call(
        "session/request_permission", "0", sessionId="s", toolCall={"toolCallId": "t"}, options=[]
    ),
    "broken request": call("session/request_permission", 0, sessionId="s", options=[ALLOW]),
    "foreign cancellation": call("$/cancel_request", requestId="a"),
    "answer to nobody": result(9),
    "answer to a method that is not served": result(4),
    "wrong result": result(2, stopReason="done"),
    "typo in a result": result(2, stopReason="end_turn", Usage={}),
    "null result": {"jsonrpc": "2.0", "id": 2, "result": None},
    "extension result with a typo": result(3, outcom="injected"),
    "result and error": result(2, stopReason="end_turn") | {"error": {"code": -32603, "message": "m"}},
    "error for nobody": error(9, code=-32603, message="m"),
    "error with an unknown code": error(2, code=-1, message="m"),
    "error without words": error(2, code=-32603, message=""),
    "error with null data": error(2, code=-32603, message="m", data=None),
    "error with an extra key": error(2, code=-32603, message="m", details="d"),
}


@pytest.mark.parametrize("message", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_caught(message: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        check_outgoing(message, SENT)
