"""How subagents are told, checked against the protocol's schema, and whose the words on a lane are."""

from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities, read_capabilities
from bridge.live.setup import Setup
from bridge.messages.items import Content
from bridge.messages.stream import MessageStream, chunk
from bridge.view.client import SessionClient
from bridge.view.screen import Screen
from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import (
    ROOT,
    EndChild,
    ForgetChild,
    MessageChild,
    Place,
    RouteChild,
    ShowFailedLaunch,
    SpawnChild,
    UpdateChild,
)
from tests.support.clients import CAPABILITIES
from tests.support.oracle import check_outgoing

Json = dict[str, Any]

RFD = read_capabilities(CAPABILITIES["rfd"])
AIR = read_capabilities(CAPABILITIES["air"])
LANE = "c1"


class Peer:
    """The wire: every update, checked."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Json]] = []

    def notify(self, method: str, params: Json) -> None:
        check_outgoing({"jsonrpc": "2.0", "method": method, "params": params}, {})
        self.told.append((params["sessionId"], params["update"]))


class State:
    """What a screen reads of the conversation."""

    admits_new = admits_text = True
    goes_on = False

    def shows(self, call: str) -> bool:
        return True

    def admits(self, lane: str | None) -> bool:
        return self.admits_new or self.goes_on


def screen(client: ClientCapabilities) -> tuple[Screen, list[tuple[str, Json]], State, MessageStream]:
    peer, state, stream = Peer(), State(), MessageStream()
    sender: Any = SessionClient(peer, "root")  # type: ignore[arg-type]  # a stand-in for the wire
    conversation: Any = state
    made = Screen(
        Setup("root", "/p", client, ()), "/home/u", sender, stream, conversation, lambda: "id", None
    )
    return made, peer.told, state, stream


def delta(text: str, lane: str | None = LANE) -> tuple[Json, Json]:
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return {"type": "stream_event", "event": event, "parent_tool_use_id": lane}, event


@pytest.mark.contract("SA-025", "SA-019")
def test_the_form_of_air() -> None:
    it, told, *_ = screen(AIR)
    it.children.show(SpawnChild(ROOT, "a", "scout", "Go.", "Go."))
    it.children.show(SpawnChild(Place("a"), "b", "Help", "Delegated task"))
    it.children.show(EndChild(Place("a"), "b", "disconnected"))
    assert told == [
        (
            "root",
            {
                "sessionUpdate": "subagent_spawned",
                "subagentSessionId": "a",
                "name": "scout",
                "task": "Go.",
                "prompt": "Go.",
                "capabilities": {},
            },
        ),
        (
            "a",
            {
                "sessionUpdate": "subagent_spawned",
                "subagentSessionId": "b",
                "name": "Help",
                "task": "Delegated task",
                "capabilities": {},
            },
        ),
        ("a", {"sessionUpdate": "subagent_state_update", "subagentSessionId": "b", "state": "disconnected"}),
    ]


@pytest.mark.contract("SA-029", "SA-044", "SA-068", "SA-104")
def test_the_public_form() -> None:
    it, told, *_ = screen(RFD)
    for output in (
        UpdateChild(ROOT, "a", "scout", None, "running"),
        MessageChild("a", "c1", ROOT, "Go."),
        MessageChild("a", "c2", None, "More."),
        MessageChild("b", "c3", Place("a"), "You too."),
        UpdateChild(Place("a"), "b", None, "Help"),
        UpdateChild(ROOT, "a", None, None, "idle", "error", "It broke."),
        UpdateChild(ROOT, "a", None, None, "idle"),
        UpdateChild(ROOT, "a", None, None, "unknown"),
    ):
        it.children.show(output)
    updates = [{key: value for key, value in update.items() if key != "sessionUpdate"} for _, update in told]
    assert [where for where, _ in told] == ["root", "a", "a", "b", "a", "root", "root", "root"]
    assert updates[0] == {"sessionId": "a", "title": "scout", "state": {"state": "running"}}
    assert [update.get("senderSessionId") for update in updates[1:4]] == ["root", None, "a"]
    assert updates[4] == {"sessionId": "b", "description": "Help"}
    error = {"code": -32603, "message": "It broke."}
    assert updates[5]["state"] == {"state": "idle", "stopReason": "error", "error": error}
    assert updates[6]["state"] == {"state": "idle"}
    assert updates[7]["state"] == {"state": "unknown"}


@pytest.mark.contract("SA-014", "SA-101")
def test_words_that_stream_on_a_lane_are_the_subagent_s() -> None:
    it, told, _, stream = screen(RFD)
    stream.start(LANE, "m1")
    stream.start(None, "m2")
    assert it.stream_block(*delta("early "))
    it.children.show(RouteChild("a", (LANE,)))
    assert it.stream_block(*delta("late"))
    assert it.stream_block(*delta("root", None))
    rest = stream.rest(LANE, "m1", "text", "early late!")
    assert rest is not None
    it.content(Content(chunk(rest[0], rest[1], "m1", LANE), lane=LANE))
    assert [(where, update["content"]["text"]) for where, update in told] == [
        ("a", "early "),
        ("a", "late"),
        ("root", "root"),
        ("a", "!"),
    ]
    assert told[0][1]["_meta"] == {"claudeCode": {"parentToolUseId": LANE}}


def test_a_cancel_silences_a_subagent_unless_it_goes_on() -> None:
    it, told, state, stream = screen(RFD)
    it.children.show(RouteChild("a", (LANE,)))
    stream.start(LANE, "m1")
    state.admits_new = state.admits_text = False
    state.goes_on = True
    assert it.stream_block(*delta("still here"))
    state.goes_on = False
    assert it.stream_block(*delta("gone"))
    it.content(Content(chunk("agent_message_chunk", "gone", "m3", LANE), lane=LANE))
    assert [update["content"]["text"] for _, update in told] == ["still here"]


@pytest.mark.contract("SA-039", "SA-040", "TC-217")
def test_the_beats_of_a_launch_are_its_own() -> None:
    """The frame names the launch as its own parent."""
    it, told, *_ = screen(RFD)
    it.show_call(o.ShowCall(e.ToolUse(LANE, "Agent", {"description": "Help"})), None)
    it.children.show(RouteChild("a", (LANE,)))
    it.show_call(o.ShowCall(e.ToolUse("c2", "Agent", {"description": "Inner"}, LANE)), None)
    it.children.show(RouteChild("b", ("c2",)))
    it.report_progress(o.ReportProgress(e.ToolProgressed(LANE, "Agent", LANE, 30.0), LANE))
    it.report_progress(o.ReportProgress(e.ToolProgressed("c2", "Agent", "c2", 30.0), "c2"))
    assert [(where, update["toolCallId"]) for where, update in told] == [
        ("root", LANE),
        ("a", "c2"),
        ("root", LANE),
        ("a", "c2"),
    ]


def test_the_plan_of_a_subagent_is_in_its_session() -> None:
    it, told, *_ = screen(RFD)
    it.children.show(RouteChild("a", (LANE,)))
    todos = {"todos": [{"content": "One", "status": "pending", "activeForm": "Doing one"}]}
    it.refine_call(o.ShowPlan(e.ToolUse("t1", "TodoWrite", todos, LANE)))
    assert [(where, update["sessionUpdate"]) for where, update in told] == [("a", "plan")]


def test_a_task_that_is_no_subagent_lets_go_of_what_waits() -> None:
    it, told, _, stream = screen(RFD)
    stream.start(LANE, "m1")
    it.stream_block(*delta("early"))
    it.note_task(e.TaskStarted("t", LANE))
    it.children.show(RouteChild("a", (LANE,)))
    it.children.show(ForgetChild((LANE,)))
    assert told == []


@pytest.mark.contract("SA-015")
def test_a_launch_that_failed_is_one_call_where_it_was_made() -> None:
    it, told, *_ = screen(AIR)
    it.children.show(RouteChild("a", (LANE,)))
    use = e.ToolUse("c2", "Agent", {"description": "Inner", "prompt": "Go."}, LANE)
    it.children.show(ShowFailedLaunch(use, e.ToolReturned("c2", "No such agent.", is_error=True)))
    ((where, update),) = told
    assert (where, update["sessionUpdate"], update["status"]) == ("a", "tool_call", "failed")
    assert "subagent" not in str(update["_meta"])


@pytest.mark.contract("SA-003", "SA-005", "SA-010", "SA-011")
@pytest.mark.parametrize(
    ("declared", "form", "shown"),
    [
        ({**CAPABILITIES["air"], "subagents": {}}, "air", True),
        ({**CAPABILITIES["airmin"], "subagents": {}}, "air", True),
        (CAPABILITIES["rfd"], "rfd", True),
        (CAPABILITIES["plain"], "none", False),
        ({"_meta": {"subagent-transcript": True}}, "none", True),
    ],
)
def test_which_form_and_whether_words_are_read(declared: Json, form: str, shown: bool) -> None:
    client = read_capabilities(declared)
    assert client.subagent_form == form
    assert Setup("root", "/p", client, ()).shows_children is shown
