"""The subagents of a stored conversation in both forms: names, ends, messages, odd files (R.3 … R.5)."""

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import read_capabilities
from bridge.live.setup import Setup
from bridge.sessions.replay.delegated import DEEPEST
from bridge.tools.report import ToolReports
from bridge.view.history import History as Telling
from machines.events import AgentsRestored
from tests.bridge.sessions.histories import History, call, identity
from tests.bridge.view.stand_ins import Client
from tests.support.clients import CAPABILITIES

pytestmark = pytest.mark.anyio

ID = identity(1)


class Stored:
    """A conversation with subagents, on disk."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{ID}.jsonl"
        self.main = History(ID)
        self.main.prompt("Please.")

    def launch(self, id: str, history: History | None = None, **given: Any) -> None:
        """A call that starts one, in the conversation or in that of another subagent."""
        told = {"description": "Help", "prompt": "Go.", "subagent_type": "explorer", **given}
        (history or self.main).answer(call(id, "Agent", **told), **_own(history))

    def send(self, id: str, to: str, message: str, text: str = "{}") -> None:
        """A message to one, and its result."""
        self.main.answer(call(id, "SendMessage", to=to, message=message))
        self.main.results(id, text=text)

    def notify(self, task: str, status: str, id: str = "") -> None:
        """A notification that background work ended."""
        fields = f"<task-id>{task}</task-id><tool-use-id>{id}</tool-use-id><status>{status}</status>"
        text = f"<task-notification>{fields}<summary>It {status}.</summary></task-notification>"
        self.main.prompt(text, origin={"kind": "task-notification"})

    def agent(self, id: str, launch: str | None, **more: Any) -> History:
        """A subagent; `write` it when it has said what it has to say."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if launch is not None:
            about = {"toolUseId": launch, "agentType": "explorer", **more}
            (self.folder / f"agent-{id}.meta.json").write_text(json.dumps(about))
        history = History(ID, seed=int(id, 36))
        history.prompt("Go.", **_own(history))
        history.answer(f"{id} here.", **_own(history))
        history.write(self.folder / f"agent-{id}.jsonl")
        return history

    @property
    def folder(self) -> Path:
        return self.path.with_suffix("") / "subagents"

    async def tell(self, kind: str) -> tuple[Client, list[Any]]:
        """What a client is told, and what the session hears."""
        self.main.write(self.path)
        client, known = Client(), read_capabilities(CAPABILITIES[kind])
        heard: list[Any] = []

        def post(mail: Any) -> None:
            if callable(mail):
                mail()
            else:
                heard.append(mail)

        telling = Telling(Setup(ID, "/p", known, ()), client.as_client(), ToolReports(known, "/p", "/h"), 5)
        await telling.tell(self.path, post, None)
        return client, heard


def _own(history: History | None) -> dict[str, Any]:
    return {} if history is None else {"isSidechain": True, "agentId": "x"}


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path)


def of(client: Client, kind: str) -> list[Any]:
    return [update for update in client.updates if update["sessionUpdate"] == kind]


async def ends(stored: Stored) -> list[tuple[str, Any]]:
    """How the last run of each ended, in the public draft and for AIR."""
    rfd, _ = await stored.tell("rfd")
    air, _ = await stored.tell("air")
    states = [update["state"] for update in of(rfd, "subagent_update") if update["state"]["state"] == "idle"]
    return [*zip((each["state"] for each in of(air, "subagent_state_update")), states, strict=True)]


@pytest.mark.parametrize(
    ("status", "state", "rest"),
    [
        ("completed", "completed", {"stopReason": "end_turn"}),
        ("killed", "cancelled", {"stopReason": "cancelled"}),
        ("stopped", "cancelled", {"stopReason": "cancelled"}),
        ("disconnected", "disconnected", {}),
        ("failed", "failed", {"stopReason": "error", "error": {"code": -32603, "message": "It failed."}}),
    ],
)
async def test_a_notification_says_how_it_ended(stored: Stored, status: str, state: str, rest: Any) -> None:
    stored.launch("c1")
    stored.main.results("c1", text="Async agent launched successfully.")
    stored.agent("a1", "c1", stoppedByUser=True)
    stored.notify("a1", "completed", "c1")
    stored.notify("a1", status, "m1")
    assert await ends(stored) == [(state, {"state": "idle", **rest})]


async def test_without_one_the_user_may_have_stopped_it(stored: Stored) -> None:
    stored.launch("c1")
    stored.main.results("c1")
    stored.agent("a1", "c1", stoppedByUser=True)
    assert await ends(stored) == [("cancelled", {"state": "idle", "stopReason": "cancelled"})]


@pytest.mark.parametrize(
    ("text", "is_error", "state", "stop"),
    [
        ("A report.", False, "completed", "end_turn"),
        ("Async agent launched successfully.", False, "disconnected", None),
        ("The user doesn't want to proceed with this tool use.", True, "cancelled", "cancelled"),
        ("It broke.", True, "failed", "error"),
    ],
)
async def test_else_the_result_of_its_launch_does(
    stored: Stored, text: str, is_error: bool, state: str, stop: str | None
) -> None:
    stored.launch("c1")
    stored.main.results("c1", text=text)
    stored.main.records[-1]["message"]["content"][0]["is_error"] = is_error
    stored.agent("a1", "c1")
    ((air, rfd),) = await ends(stored)
    assert (air, rfd.get("stopReason")) == (state, stop)
    assert ("error" in rfd) == (stop == "error")


async def test_a_launch_without_a_result_was_cut_off(stored: Stored) -> None:
    stored.launch("c1")
    stored.agent("a1", "c1")
    assert await ends(stored) == [("disconnected", {"state": "idle"})]


@pytest.mark.parametrize(
    ("given", "name", "task"),
    [
        ({"name": "scout"}, "scout", "Go."),
        ({}, "Help", "Go."),
        ({"description": ""}, "explorer", "Go."),
        ({"description": "", "subagent_type": ""}, "Restored agent", "Go."),
        ({"prompt": ""}, "Help", "Help"),
        ({"prompt": "", "description": ""}, "explorer", "Delegated task restored from session history"),
    ],
)
async def test_air_names_each(stored: Stored, given: Any, name: str, task: str) -> None:
    stored.launch("c1", **given)
    client, _ = await stored.tell("air")
    (spawned,) = of(client, "subagent_spawned")
    assert (spawned["name"], spawned["task"]) == (name, task)
    assert spawned["subagentSessionId"] == f"{ID}:replay-subagent:c1", "also one without a transcript"


async def test_the_words_of_its_launch_name_it_or_those_of_its_file(stored: Stored) -> None:
    stored.launch("c1", subagent_type="", description="")
    stored.agent("a1", "c1", name="scout", description="Look around")
    client, heard = await stored.tell("rfd")
    told = of(client, "subagent_update")[0]
    assert (told["title"], told["description"]) == ("scout (explorer)", "Look around")
    ((restored,),) = [each.agents for each in heard if isinstance(each, AgentsRestored)]
    assert (restored.id, restored.launch.name, restored.launch.description) == ("a1", "scout", "Look around")


@pytest.mark.parametrize("to", ["a1", "scout"])
@pytest.mark.contract("SA-091")
async def test_a_message_has_the_words_and_the_id_of_its_call(stored: Stored, to: str) -> None:
    stored.launch("c1", name="scout")
    own = stored.agent("a1", "c1")
    for text in ("one", "two"):
        framed = f"The coordinator sent a message while you were working:\n{text}\n\nAddress this."
        own.prompt(framed, isMeta=True, origin={"kind": "coordinator"}, **_own(own))
        own.answer(f"Answer {text}.", **_own(own))
    own.write(stored.folder / "agent-a1.jsonl")
    stored.send("m1", to, "one")
    stored.send("m2", "somebody", "two")
    rfd, _ = await stored.tell("rfd")
    assert [(m["messageId"], m.get("senderSessionId")) for m in of(rfd, "session_message")] == [
        ("c1", ID),
        ("m1", ID),
        (own.records[-2]["uuid"], None),
    ]
    assert [m["content"][0]["text"] for m in of(rfd, "session_message")] == ["Go.", "one", "two"]
    air, _ = await stored.tell("air")
    texts = [update["content"]["text"] for _, update in air.inner if update["sessionUpdate"][0] == "u"]
    assert texts == ["Go.", "one", "two"]
    assert "coordinator" not in str((await stored.tell("plain"))[0].updates)


async def test_a_refused_message_reached_nobody(stored: Stored) -> None:
    stored.launch("c1")
    own = stored.agent("a1", "c1")
    own.prompt("one", isMeta=True, origin={"kind": "coordinator"}, **_own(own))
    own.write(stored.folder / "agent-a1.jsonl")
    stored.send("m1", "a1", "one")
    stored.main.records[-1]["message"]["content"][0]["is_error"] = True
    client, _ = await stored.tell("rfd")
    assert [each["messageId"] for each in of(client, "session_message")] == ["c1", own.records[-1]["uuid"]]


@pytest.mark.contract("SA-095", "SA-099", "SE-078", "SE-080")
async def test_what_has_no_launch_does_not_show(stored: Stored) -> None:
    stored.agent("a1", "nowhere")
    stored.agent("a2", None)
    for kind in ("rfd", "air", "plain"):
        client, heard = await stored.tell(kind)
        assert client.kinds == ["user_message_chunk"]
        assert heard == []


@pytest.mark.contract("SA-094", "SA-095", "SE-078")
async def test_a_history_that_is_missing_is_told_once_to_who_knows_notices(stored: Stored) -> None:
    stored.launch("c1")
    stored.main.results("c1", text="A report.")
    stored.launch("c2")
    stored.main.results("c2", text="Nobody is called that.")
    stored.main.records[-1]["message"]["content"][0]["is_error"] = True
    stored.launch("c3")
    client, _ = await stored.tell("rfd")
    (notice,) = of(client, "notice")
    assert notice["description"] == "The history of 2 subagents of this session could not be restored."
    assert len(of(client, "tool_call")) == 3
    for kind in ("air", "plain"):
        assert of((await stored.tell(kind))[0], "notice") == []


@pytest.mark.contract("SA-105")
async def test_no_text_of_one_is_on_the_root(stored: Stored) -> None:
    stored.launch("c1")
    stored.agent("a1", "c1")
    for kind in ("rfd", "air", "plain"):
        client, _ = await stored.tell(kind)
        root = [update for update in client.updates if update not in [each for _, each in client.inner]]
        assert "a1 here." not in str(root)
        assert ("a1 here." in str(client.inner)) == (kind != "plain")


async def test_whoever_claims_to_have_started_itself_is_told_once(stored: Stored) -> None:
    stored.launch("c1")
    own = stored.agent("a1", "c1")
    stored.launch("c2", own)
    stored.launch("c1", own)
    own.write(stored.folder / "agent-a1.jsonl")
    other = stored.agent("a2", "c2")
    stored.launch("c1", other)
    other.write(stored.folder / "agent-a2.jsonl")
    client, heard = await stored.tell("rfd")
    running = [u for u in of(client, "subagent_update") if u["state"]["state"] == "running"]
    assert [each["sessionId"] for each in running] == ["a1", "a2"]
    (restored,) = heard
    assert [(each.id, each.parent) for each in restored.agents] == [("a1", None), ("a2", "a1")]


async def test_a_chain_without_end_is_told_as_far_as_it_is_sane(stored: Stored) -> None:
    stored.launch("c0")
    for n in range(1500):
        own = stored.agent(f"a{n}", f"c{n}")
        stored.launch(f"c{n + 1}", own)
        own.write(stored.folder / f"agent-a{n}.jsonl")
    client, (restored,) = await stored.tell("rfd")
    running = [u for u in of(client, "subagent_update") if u["state"]["state"] == "running"]
    assert len(running) == len(restored.agents) == DEEPEST


async def test_one_that_goes_away_meanwhile_costs_only_itself(stored: Stored) -> None:
    stored.launch("c1")
    stored.agent("a1", "c1")
    stored.main.answer("Behind it.")
    gone = stored.folder / "agent-a1.jsonl"
    gone.unlink()
    gone.mkdir()
    client, heard = await stored.tell("rfd")
    assert client.kinds[-1] in {"agent_message_chunk", "notice"}
    assert heard == []


@pytest.mark.contract("SE-077")
@pytest.mark.parametrize("form", ["rfd", "air"])
async def test_nothing_can_be_asked_of_one(stored: Stored, form: str) -> None:
    stored.launch("c1")
    stored.agent("a1", "c1")
    client, _ = await stored.tell(form)
    for update in of(client, "subagent_spawned"):
        assert update["capabilities"] == {}
    for update in of(client, "subagent_update"):
        assert "capabilities" not in update
