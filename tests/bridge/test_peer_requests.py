"""What the agent asks the client, the end of the connection, and any order of it all (`acp-wire` §5)."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bridge.peer import Answer, Cause
from tests.bridge.peer_ends import Json, Wire
from tests.wire.json_values import json_values


@pytest.fixture
def wire() -> Wire:
    """A fresh connection."""
    return Wire()


# ── requests of the agent ─────────────────────────────────────────────────────


def test_answers_find_their_requests(wire: Wire) -> None:
    answers: dict[str, Answer] = {}
    first = wire.peer.request("a", {"x": 1}, lambda answer: answers.update(a=answer))
    second = wire.peer.request("b", {}, lambda answer: answers.update(b=answer))
    wire.answer(id=second, error={"code": -32800, "message": "no"})
    wire.answer(id=first, result={"y": 2})
    assert (first, second) == (0, 1)
    assert answers == {"a": Answer({"y": 2}), "b": Answer(error=(-32800, "no"))}
    assert wire.sent == [
        {"jsonrpc": "2.0", "id": 0, "method": "a", "params": {"x": 1}},
        {"jsonrpc": "2.0", "id": 1, "method": "b", "params": {}},
    ]


@pytest.mark.parametrize("unreadable", [None, [], "yes", 5])
def test_a_result_that_is_no_object_is_an_unreadable_answer(wire: Wire, unreadable: object) -> None:
    answers: list[Answer] = []
    wire.peer.request("a", {}, answers.append)
    wire.answer(id=0, result=unreadable)
    assert answers == [Answer()]


def test_a_peer_that_writes_integers_as_fractions_is_understood(wire: Wire) -> None:
    answers: list[Answer] = []
    wire.peer.request("a", {}, answers.append)
    wire.peer.receive('{"jsonrpc":"2.0","id":0.0,"result":{}}')
    assert answers == [Answer({})]


@pytest.mark.parametrize(
    "members",
    [
        {"id": 5, "result": {}},
        {"id": "0", "result": {}},
        {"id": False, "result": {}},
        {"id": None, "error": {"code": -32601, "message": "dislike"}},
        {"id": 0},
        {"id": 0, "result": {}, "error": {"code": 1, "message": "m"}},
        {"result": {}},
    ],
)
def test_an_answer_to_nothing_is_logged_and_ignored(
    wire: Wire, caplog: pytest.LogCaptureFixture, members: Json
) -> None:
    answers: list[Answer] = []
    wire.peer.request("a", {}, answers.append)
    wire.answer(**members)
    assert (answers, len(wire.sent)) == ([], 1)
    assert len(caplog.records) == 1
    wire.answer(id=0, result={})
    assert answers == [Answer({})]


def test_a_second_answer_is_ignored(wire: Wire) -> None:
    answers: list[Answer] = []
    wire.peer.request("a", {}, answers.append)
    wire.answer(id=0, result={"first": True})
    wire.answer(id=0, result={"second": True})
    assert answers == [Answer({"first": True})]


def test_a_withdrawn_request_is_cancelled_once_and_its_late_answer_is_swallowed(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[Answer] = []
    wire.peer.request("a", {}, answers.append)
    wire.peer.withdraw(0)
    wire.peer.withdraw(0)
    wire.answer(id=0, result={"outcome": "allow"})
    wire.peer.withdraw(0)
    assert answers == []
    assert wire.sent[1:] == [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}}]
    assert caplog.records == []


def test_an_answered_or_unknown_request_is_not_withdrawn(wire: Wire) -> None:
    wire.peer.request("a", {}, lambda answer: None)
    wire.answer(id=0, result={})
    wire.peer.withdraw(0)
    wire.peer.withdraw(99)
    assert len(wire.sent) == 1


def test_a_fault_in_the_reaction_to_an_answer_ends_nothing(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    def fault(answer: Answer) -> None:
        raise ValueError

    wire.peer.request("a", {}, fault)
    wire.answer(id=0, result={})
    assert caplog.records
    wire.call("m", id=1)
    assert wire.agent.requests


def test_a_request_that_is_no_json_fails_like_one_that_was_refused(wire: Wire) -> None:
    answers: list[Answer] = []
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    wire.peer.request("a", {"deep": deep}, answers.append)
    assert answers == [Answer(error=(-32603, "Internal error"))]
    assert wire.sent == []


def test_a_notification_that_is_no_json_is_dropped_with_a_log_line(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    wire.peer.notify("n", {"hunter2": object()})
    wire.peer.notify("n", {"ok": True})
    assert wire.sent == [{"jsonrpc": "2.0", "method": "n", "params": {"ok": True}}]
    assert "hunter2" not in caplog.text


def test_everything_is_sent_in_the_order_of_the_calls(wire: Wire) -> None:
    wire.call("m", id="x")
    wire.peer.notify("one", {})
    wire.peer.request("two", {}, lambda answer: None)
    wire.agent.requests[0].respond({"three": 3})
    wire.peer.withdraw(0)
    assert [message.get("method", "answer") for message in wire.sent] == [
        "one",
        "two",
        "answer",
        "$/cancel_request",
    ]


# ── the end ───────────────────────────────────────────────────────────────────


def test_after_the_end_of_the_input_answers_still_go_out_and_none_come_in(wire: Wire) -> None:
    answers: list[Answer] = []
    wire.call("session/list", id=1)
    wire.peer.request("a", {}, answers.append)
    wire.peer.close("eof")
    wire.peer.close("eof")
    assert wire.agent.causes == ["eof"]
    assert wire.peer.pending == tuple(wire.agent.requests)
    assert wire.peer.request("b", {}, answers.append) == 1
    wire.peer.withdraw(0)
    wire.agent.requests[0].respond({})
    wire.answer(id=0, result={})
    assert answers == []
    assert [message.get("id") for message in wire.sent] == [0, 1]
    assert wire.peer.pending == ()


def test_the_agent_hears_of_each_cause_once_and_of_nothing_after_broken(wire: Wire) -> None:
    causes: list[Cause] = ["eof", "broken", "broken", "eof"]
    for cause in causes:
        wire.peer.close(cause)
    assert wire.agent.causes == ["eof", "broken"]
    other = Wire()
    other.peer.close("broken")
    other.peer.close("eof")
    assert other.agent.causes == ["broken"]


# ── any sequence ──────────────────────────────────────────────────────────────


MEMBERS = {
    "jsonrpc": st.just("2.0"),
    "id": json_values,
    "method": st.sampled_from(["m", "$/cancel_request"]) | json_values,
    "params": json_values,
    "result": json_values,
    "error": json_values,
}


@given(st.lists(st.fixed_dictionaries({}, optional=MEMBERS)))
def test_any_messages_leave_the_connection_alive(messages: list[Json]) -> None:
    wire = Wire()
    wire.agent.react = lambda inbound: inbound.respond(inbound.params)
    logging.disable()
    try:
        for message in messages:
            wire.peer.receive(json.dumps(message))
    finally:
        logging.disable(logging.NOTSET)
    assert len(wire.sent) <= len(messages)
    assert wire.peer.pending == ()
    assert all(inbound.answered for inbound in wire.agent.requests)


class Traffic(RuleBasedStateMachine):
    """Requests both ways, answered, cancelled and withdrawn in any order."""

    def __init__(self) -> None:
        super().__init__()
        logging.disable()
        self.wire = Wire()
        self.answers: list[tuple[int, Answer]] = []
        self.asked: dict[int, str] = {}

    def teardown(self) -> None:
        logging.disable(logging.NOTSET)

    @rule(id=st.sampled_from([0, "0", 0.5, None]))
    def client_asks(self, id: object) -> None:
        self.wire.call("m", id=id)

    @rule(index=st.integers(0, 10))
    def agent_answers(self, index: int) -> None:
        if index < len(self.wire.agent.requests):
            self.wire.agent.requests[index].respond({"index": index})

    @rule(id=st.sampled_from([0, "0", 0.5, None]))
    def client_cancels(self, id: object) -> None:
        before = len(self.wire.agent.cancelled_requests)
        self.wire.call("$/cancel_request", params={"requestId": id})
        reached = self.wire.agent.cancelled_requests[before:]
        open_ones = [each for each in self.wire.agent.requests if not each.answered]
        assert reached == [each for each in open_ones if type(each.id) is type(id)]

    @rule()
    def agent_asks(self) -> None:
        id = len(self.asked)
        assert self.wire.peer.request("r", {}, lambda answer: self.answers.append((id, answer))) == id
        self.asked[id] = "open"

    @rule(id=st.integers(0, 10))
    def client_answers(self, id: int) -> None:
        before = len(self.answers)
        self.wire.answer(id=id, result={"id": id})
        expected = [(id, Answer({"id": id}))] if self.asked.get(id) == "open" else []
        assert self.answers[before:] == expected
        if id in self.asked:
            self.asked[id] = "ended"

    @rule(id=st.integers(0, 10))
    def agent_withdraws(self, id: int) -> None:
        before = len(self.wire.lines)
        self.wire.peer.withdraw(id)
        assert len(self.wire.lines) - before == (self.asked.get(id) == "open")
        if self.asked.get(id) == "open":
            self.asked[id] = "withdrawn"

    @invariant()
    def what_is_not_answered_is_pending(self) -> None:
        pending = set(self.wire.peer.pending)
        assert pending == {each for each in self.wire.agent.requests if not each.answered}

    @invariant()
    def each_answer_went_out_once(self) -> None:
        answered = sum(inbound.answered for inbound in self.wire.agent.requests)
        assert sum("result" in message for message in self.wire.sent) == answered


TestTraffic = Traffic.TestCase
