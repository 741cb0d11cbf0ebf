"""What the client sends: its envelopes, its requests and their cancellation (`acp-wire` §5.1, §5.2)."""

import json

import pytest

from bridge.peer import Inbound
from tests.bridge.peer_ends import Json, Wire, error, result
from wire.lines import Oversize
from wire.rpc import WireError, method_not_found


@pytest.fixture
def wire() -> Wire:
    """A fresh connection."""
    return Wire()


# ── what is no message ────────────────────────────────────────────────────────


@pytest.mark.parametrize("line", ['{"jsonrpc":', "\0", '{"jsonrpc":"2.0","id":NaN,"method":"m"}', "{}{}"])
def test_a_line_that_is_no_json_is_answered_and_the_next_one_is_served(wire: Wire, line: str) -> None:
    wire.peer.receive(line)
    wire.call("m", id=1)
    assert wire.sent == [error(None, -32700, "Parse error")]
    assert [inbound.id for inbound in wire.agent.requests] == [1]


@pytest.mark.parametrize("line", ["[]", '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]'])
def test_a_batch_gets_one_error(wire: Wire, line: str) -> None:
    wire.peer.receive(line)
    assert wire.sent == [error(None, -32600, "Invalid request: JSON-RPC batches are not supported")]
    assert wire.agent.requests == []


@pytest.mark.parametrize(
    "line",
    [
        "null",
        '"hunter2"',
        '{"id":1,"method":"m","params":"hunter2"}',
        '{"jsonrpc":"2.0","id":1,"method":5,"params":"hunter2"}',
        '{"jsonrpc":"2.0","id":{"a":"hunter2"},"method":"m"}',
        '{"jsonrpc":"2.0","id":true,"method":"m"}',
        '{"jsonrpc":"2.0"}',
    ],
)
def test_an_invalid_request_is_answered_without_its_values(wire: Wire, line: str) -> None:
    wire.peer.receive(line)
    (answer,) = wire.sent
    assert answer["id"] is None
    assert answer["error"]["code"] == -32600
    assert "data" not in answer["error"]
    assert "hunter2" not in json.dumps(answer)


def test_a_line_over_the_limit_is_answered_and_the_next_one_is_served(wire: Wire) -> None:
    wire.peer.receive(Oversize(10))
    wire.call("m", id=1)
    assert wire.sent == [error(None, -32600, "Invalid request: message exceeds 10 bytes")]
    assert len(wire.agent.requests) == 1


# ── requests of the client ────────────────────────────────────────────────────


@pytest.mark.parametrize("id", [0, None, "a", "1", 1.5, 2**64 + 1])
def test_a_request_is_answered_with_its_own_id(wire: Wire, id: object) -> None:
    wire.agent.react = lambda inbound: inbound.respond({"ok": True})
    wire.call("m", id=id)
    assert wire.sent == [result(id, ok=True)]
    assert type(wire.sent[0]["id"]) is type(id)


@pytest.mark.parametrize("members", [{}, {"params": None}, {"params": {}}])
def test_absent_params_are_empty_params(wire: Wire, members: Json) -> None:
    wire.call("m", id=1, **members)
    assert wire.agent.requests[0].params == {}


@pytest.mark.parametrize("params", [[], [1], "hunter2", 5, False])
def test_params_that_are_no_object_are_invalid_where_they_are_read(wire: Wire, params: object) -> None:
    wire.agent.react = lambda inbound: inbound.respond(inbound.params)
    wire.call("m", id=1, params=params)
    problems = [{"path": "", "message": "must be an object"}]
    assert wire.sent == [error(1, -32602, "Invalid params", data={"errors": problems})]


def test_a_refusal_of_the_agent_comes_before_a_look_at_the_params(wire: Wire) -> None:
    def refuse(inbound: Inbound) -> None:
        raise method_not_found(inbound.method)

    wire.agent.react = refuse
    wire.call("session/nope", id=1, params=[1])
    wire.call("$/cancel_request", id=2, params={"requestId": 1})
    assert wire.sent == [
        error(1, -32601, "Method not found: session/nope", data={"method": "session/nope"}),
        error(2, -32601, "Method not found: $/cancel_request", data={"method": "$/cancel_request"}),
    ]


def test_requests_are_seen_in_the_order_of_their_arrival(wire: Wire) -> None:
    wire.call("a", id=1)
    wire.call("n", params={"x": 1})
    wire.call("b", id=2)
    assert [inbound.method for inbound in wire.agent.requests] == ["a", "b"]
    assert wire.agent.notifications == [("n", {"x": 1})]
    assert wire.peer.pending == tuple(wire.agent.requests)


def test_a_request_gets_one_answer(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    wire.call("m", id=1)
    (inbound,) = wire.agent.requests
    assert not inbound.answered
    inbound.respond({})
    inbound.respond({"again": True})
    inbound.fail(-32603, "late")
    assert inbound.answered
    assert wire.sent == [result(1)]
    assert wire.peer.pending == ()
    assert len(caplog.records) == 2


@pytest.mark.contract("CL-010")
def test_a_fault_is_an_internal_error_without_details_of_the_machine(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    def fault(inbound: Inbound) -> None:
        raise FileNotFoundError("/home/me/.secret")

    wire.agent.react = fault
    wire.call("m", id=1)
    wire.call("m", id=2)
    assert wire.sent == [
        error(id, -32603, "Internal error", data={"details": "FileNotFoundError"}) for id in (1, 2)
    ]
    assert all(record.exc_info for record in caplog.records)


@pytest.mark.contract("CL-010")
def test_a_fault_after_the_answer_is_only_logged(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    def answer_and_fail(inbound: Inbound) -> None:
        inbound.respond({})
        raise ValueError

    wire.agent.react = answer_and_fail
    wire.call("m", id=1)
    assert wire.sent == [result(1)]
    assert caplog.records


def test_an_error_has_data_only_when_there_is_some(wire: Wire) -> None:
    wire.call("m", id=1)
    wire.call("m", id=2)
    first, second = wire.agent.requests
    first.fail(-32000, "Authentication required")
    second.reject(WireError(-32002, data={"sessionId": "s"}))
    assert wire.sent == [
        error(1, -32000, "Authentication required"),
        error(2, -32002, "Resource not found", data={"sessionId": "s"}),
    ]


def test_a_result_that_is_no_json_becomes_an_internal_error(wire: Wire) -> None:
    wire.call("m", id=1)
    wire.agent.requests[0].respond({"cost": float("nan")})
    assert wire.sent == [error(1, -32603, "Internal error")]


# ── notifications of the client ───────────────────────────────────────────────


def test_a_notification_with_broken_params_is_ignored(wire: Wire) -> None:
    wire.call("session/cancel", params=["s"])
    assert (wire.agent.notifications, wire.sent) == ([], [])


@pytest.mark.contract("CL-010")
def test_a_fault_in_a_notification_ends_nothing(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    wire.call("boom")
    wire.call("n")
    assert [method for method, _ in wire.agent.notifications] == ["boom", "n"]
    assert wire.sent == []
    assert caplog.records


# ── cancellation by the client ────────────────────────────────────────────────


def test_a_cancellation_names_one_request_in_flight(wire: Wire) -> None:
    for id in (1, "1", 1.5):
        wire.call("session/prompt", id=id)
    wire.call("$/cancel_request", params={"requestId": "1"})
    assert wire.agent.cancelled_requests == [wire.agent.requests[1]]
    assert (wire.agent.notifications, wire.sent) == ([], [])


def test_a_cancellation_reaches_every_request_with_that_id(wire: Wire) -> None:
    wire.call("a", id=7)
    wire.call("b", id=7)
    first, second = wire.agent.requests
    wire.call("$/cancel_request", params={"requestId": 7})
    assert wire.agent.cancelled_requests == [first, second]
    second.respond({"second": True})
    wire.call("$/cancel_request", params={"requestId": 7})
    assert wire.agent.cancelled_requests == [first, second, first]
    first.respond({"first": True})
    assert wire.sent == [result(7, second=True), result(7, first=True)]


def test_a_request_may_be_answered_while_it_is_cancelled(wire: Wire) -> None:
    wire.call("a", id=7)
    wire.call("b", id=7)
    wire.agent.cancelled = lambda inbound: inbound.respond({})  # type: ignore[method-assign]  # as an agent may
    wire.call("$/cancel_request", params={"requestId": 7})
    assert wire.sent == [result(7), result(7)]


@pytest.mark.parametrize(
    "params", [{}, {"requestId": 2}, {"requestId": True}, {"requestId": [1]}, {"requestId": {}}, [1]]
)
def test_a_cancellation_of_nothing_is_ignored(wire: Wire, params: object) -> None:
    wire.call("a", id=1)
    wire.call("$/cancel_request", params=params)
    assert (wire.agent.cancelled_requests, wire.sent) == ([], [])


def test_a_cancellation_after_the_answer_is_ignored(wire: Wire) -> None:
    wire.agent.react = lambda inbound: inbound.respond({})
    wire.call("a", id=1)
    wire.call("$/cancel_request", params={"requestId": 1})
    assert wire.agent.cancelled_requests == []
