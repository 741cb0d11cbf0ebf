"""Which session an update goes to, and what waits for a subagent that is not announced yet."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.children.routes import IN_ALL, LANES, PER_LANE, Routes
from bridge.view.client import SessionClient

Json = dict[str, Any]


class Client:
    """What each session was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def update(self, update: Json) -> None:
        self.update_in("root", update)

    def update_in(self, session: str, update: Json) -> None:
        self.told.append((session, update.get("text") or f"{update['sessionUpdate']} {update['toolCallId']}"))


def routes(*, native: bool = True) -> tuple[Routes, list[tuple[str, str]]]:
    client = Client()
    return Routes(cast("SessionClient", client), native=native), client.told


def text(said: str) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "text": said}


def call(id: str, kind: str = "tool_call") -> Json:
    return {"sessionUpdate": kind, "toolCallId": id}


def test_without_sessions_of_their_own_all_goes_to_the_root() -> None:
    it, told = routes(native=False)
    it.update(text("hi"), "c1")
    it.update(call("b1"), "c1")
    assert told == [("root", "hi"), ("root", "tool_call b1")]


def task(id: str, kind: str = "async_task_spawned", call: str | None = None) -> Json:
    update = {"sessionUpdate": kind, "asyncTaskId": id, "text": f"{kind} {id}"}
    return update if call is None else {**update, "toolCallId": call}


def test_a_task_stays_where_its_call_appeared_also_when_that_is_over() -> None:
    it, told = routes()
    it.open("a", ["c1"])
    it.update(call("b1"), "c1")
    it.update(call("b2"))
    it.update_task(task("t1", call="b1"))
    it.update_task(task("t2", call="b2"))
    it.close("a")
    it.update(text("late"), "c1")
    it.update_task(task("t1", "async_task_state_update"))
    it.update_task(task("t3"))
    assert [session for session, _ in told] == ["a", "root", "a", "root", "a", "root"]
    assert it.dropped == 1


@pytest.mark.contract("SA-074")
def test_what_comes_early_waits_and_goes_first() -> None:
    it, told = routes()
    it.update(text("one"), "c1")
    it.update(call("b1"), "c1")
    it.update(text("root"))
    assert told == [("root", "root")]
    it.open("a", ["c1"])
    it.update(text("two"), "c1")
    it.update(call("b1", "tool_call_update"))
    assert told[1:] == [("a", "one"), ("a", "tool_call b1"), ("a", "two"), ("a", "tool_call_update b1")]


@pytest.mark.contract("SA-060", "TC-219")
def test_a_call_stays_where_it_appeared() -> None:
    it, told = routes()
    it.surface("b1", "c1")
    it.update(call("b1"), "c1")
    it.open("a", ["c1"])
    it.update(call("b1", "tool_call_update"), "c1")
    it.update(call("b2"), "c1")
    assert told == [("root", "tool_call b1"), ("root", "tool_call_update b1"), ("a", "tool_call b2")]


@pytest.mark.contract("SA-060")
def test_a_call_that_waits_comes_out_for_its_request_and_nothing_else_does() -> None:
    it, told = routes()
    it.update(text("early"), "c1")
    it.update(call("b1"), "c1")
    it.update(call("b1", "tool_call_update"), "c1")
    it.surface("b1")
    assert told == [("root", "tool_call b1"), ("root", "tool_call_update b1")]
    it.open("a", ["c1"])
    assert told[2:] == [("a", "early")]
    it.surface("b1")
    it.surface("unknown")
    it.update(call("b1", "tool_call_update"), "c1")
    assert told[3:] == [("root", "tool_call_update b1")]


def test_one_that_is_announced_needs_no_place_on_the_root() -> None:
    it, told = routes()
    it.open("a", ["c1"])
    it.surface("b1", "c1")
    it.update(call("b1"), "c1")
    assert told == [("a", "tool_call b1")]


@pytest.mark.contract("TC-221", "SA-022")
def test_nothing_follows_the_end_of_a_session_and_the_next_one_has_its_own_calls() -> None:
    it, told = routes()
    it.open("a", ["c1"])
    it.update(call("b1"), "c1")
    it.close("a")
    it.update(text("late"), "c1")
    it.update(call("b1", "tool_call_update"))
    assert told == [("a", "tool_call b1")]
    it.open("a:generation:2", ["c1", "c2"])
    it.update(call("b1", "tool_call_update"), "c1")
    it.update(call("b2"), "c1")
    it.update(text("again"), "c2")
    assert told[1:] == [("a:generation:2", "tool_call b2"), ("a:generation:2", "again")]
    assert it.dropped == 3


def test_what_waits_for_nobody_is_dropped() -> None:
    it, told = routes()
    it.update(text("early"), "c1")
    it.forget(["c1", None])
    it.open("a", ["c1"])
    assert told == []


def test_there_are_limits() -> None:
    it, told = routes()
    for n in range(PER_LANE + 5):
        it.update(text(str(n)), "c0")
    assert it.dropped == 5
    for lane in range(1, LANES + 3):
        it.update(text("x"), f"c{lane}")
    assert it.dropped == 5 + 3
    for lane in range(1, LANES):
        for _ in range(8):
            it.update(text("x"), f"c{lane}")
    for lane in range(LANES):
        it.open(f"a{lane}", [f"c{lane}"])
    assert len(told) == IN_ALL
    assert [said for where, said in told if where == "a0"] == [str(n) for n in range(PER_LANE)]


@given(
    st.lists(
        st.tuples(st.sampled_from(["text", "call", "open", "surface"]), st.sampled_from("123")), max_size=60
    )
)
def test_in_any_order_a_call_is_shown_in_one_session_and_in_the_order_it_came(steps: list[Any]) -> None:
    it, told = routes()
    opened: set[str] = set()
    for n, (what, lane) in enumerate(steps):
        match what:
            case "text":
                it.update(text(f"{lane} {n:03}"), f"c{lane}")
            case "call":
                it.update(call(f"b{lane}"), f"c{lane}")
            case "open":
                it.open(f"a{lane}", [f"c{lane}"])
                opened.add(f"a{lane}")
            case _:
                it.surface(f"b{lane}", f"c{lane}")
        assert {where for where, _ in told} <= {"root", *opened}, "INV-H1"
    for lane in "123":
        homes = {where for where, said in told if said == f"tool_call b{lane}"}
        assert len(homes) <= 1, "INV-C3"
        lines = [said for _, said in told if said.startswith(f"{lane} ")]
        assert lines == sorted(lines)
