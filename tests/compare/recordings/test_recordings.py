"""Recordings are driven again: in their order, with the ids and paths of the run."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge.demo.api import ApiRequest
from tests.compare.normalise import Entry, tell
from tests.compare.recordings.drive import drive
from tests.compare.recordings.explained import sort_out
from tests.compare.recordings.fold import fold
from tests.compare.recordings.furnish import furnish, translated
from tests.compare.recordings.model import Model
from tests.compare.recordings.recording import Line, Recording, before, read, unmade
from tests.compare.report import Difference, find
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.anyio

PROJECT = "/workspace/proj"

AGENT = """
import json, sys
def say(**body):
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)
def hear():
    return json.loads(sys.stdin.readline())
say(id=hear()["id"], result={"protocolVersion": 1})
new = hear()
say(id=new["id"], result={"sessionId": "my-session"})
prompt = hear()
assert prompt["params"]["sessionId"] == "my-session", prompt
call = {"toolCallId": "my-call", "title": "TITLE", "path": new["params"]["cwd"] + "/x"}
say(id=77, method="session/request_permission", params={"sessionId": "my-session", "toolCall": call})
answer = hear()
assert answer["id"] == 77, answer
say(id=prompt["id"], result={"stopReason": answer["result"]["outcome"]["outcome"]})
hear()
"""
"""An agent with ids of its own; it breaks when it is not talked to with them."""


def recording(*bodies: tuple[str, Json]) -> Recording:
    """A recording of a few messages, each of one side."""
    sides = {">": "client", "<": "agent"}
    return Recording(
        "tiny",
        [Line(0, sides[side], {"jsonrpc": "2.0", **body}) for side, body in bodies],  # type: ignore[arg-type]
    )


def tiny(title: str = "touch x") -> Recording:
    """One prompt and one question, with the ids of another run."""
    call = {"toolCallId": "call-of-theirs", "title": title, "path": f"{PROJECT}/x"}
    question = {"sessionId": "their-session", "toolCall": call}
    return recording(
        (">", {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        ("<", {"id": 1, "result": {"protocolVersion": 1}}),
        (">", {"id": 2, "method": "session/new", "params": {"cwd": PROJECT, "mcpServers": []}}),
        ("<", {"id": 2, "result": {"sessionId": "their-session"}}),
        (">", {"id": 3, "method": "session/prompt", "params": {"sessionId": "their-session", "prompt": []}}),
        ("<", {"id": 0, "method": "session/request_permission", "params": question}),
        (">", {"id": 0, "result": {"outcome": {"outcome": "selected"}}}),
        ("<", {"id": 3, "result": {"stopReason": "selected"}}),
    )


async def driven(script: str, played: Recording) -> list[Difference]:
    """How an agent differs from a recording."""
    async with drive([sys.executable, "-c", script], Model()) as run:
        return find(*await run.play(played))


async def test_an_agent_that_does_the_same_with_other_ids_is_the_same() -> None:
    assert await driven(AGENT.replace("TITLE", "touch x"), tiny()) == []


async def test_a_field_that_differs_is_found() -> None:
    (difference,) = await driven(AGENT.replace("TITLE", "touch y"), tiny())
    assert (difference.title, difference.path) == ("session/request_permission", "params.toolCall.title")
    assert (difference.reference, difference.ours) == ('"touch x"', '"touch y"')


async def test_an_agent_that_ends_is_told_and_what_it_did_not_say() -> None:
    script = AGENT.partition("prompt = hear()")[0]
    titles = [difference.title for difference in await driven(script, tiny())]
    assert titles == [
        "session/request_permission",
        "result of session/prompt #3",
        "STOPPED: question session/request_permission never came",
    ]


def test_the_three_forms_of_a_recording_are_read(tmp_path: Path) -> None:
    asked, told = {"jsonrpc": "2.0", "id": 1, "method": "x"}, {"jsonrpc": "2.0", "id": 1, "result": {}}
    expected = [("client", asked), ("agent", told), ("note", "EOF")]
    forms: Sequence[Sequence[Json]] = (
        [{"t": t, "dir": way, "msg": body} for t, way, body in ((0, "c2a", asked), (2, "a2c", told))],
        [{"t": t, "dir": way, "msg": body} for t, way, body in ((0, ">", asked), (2, "<", told))],
        [{"t": t, "d": way, "o": body} for t, way, body in ((0, ">", asked), (2000, "<", told))],
    )
    for form in forms:
        path = tmp_path / "one.jsonl"
        end = {"t": form[-1]["t"], "dir": "<", "msg": "EOF"}
        path.write_text("\n".join(json.dumps(line) for line in [*form, end]))
        lines = read(path).lines
        assert [(line.side, line.body) for line in lines] == expected
        assert lines[1].at == 2


def test_a_session_is_made_before_it_is_loaded() -> None:
    asked = {"id": 2, "method": "session/load", "params": {"sessionId": "their-session"}}
    load = Recording("load", recording((">", asked), ("<", {"id": 2, "result": {}})).lines)
    assert [other.name for other in before(load, [tiny(), load])] == ["tiny"]
    assert before(tiny(), [tiny(), load]) == []
    assert (unmade(load, [tiny(), load]), unmade(load, [load])) == (set(), {"their-session"})


def test_files_and_the_mode_are_those_that_the_recording_shows(tmp_path: Path) -> None:
    path = f"{PROJECT}/sub/a.txt"
    file = {"filePath": path, "content": "one\n", "startLine": 1}
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "a-call"}
    meta = {"claudeCode": {"toolResponse": {"type": "text", "file": file}}}
    shown = recording(
        (">", {"id": 2, "method": "session/new", "params": {"cwd": f"{PROJECT}/sub"}}),
        ("<", {"id": 2, "result": {"sessionId": "s", "modes": {"currentModeId": "plan"}}}),
        ("<", {"method": "session/update", "params": {"update": {**call, "rawInput": {"file_path": path}}}}),
        ("<", {"method": "session/update", "params": {"update": {**call, "_meta": meta}}}),
    )
    sandbox = Sandbox(tmp_path, "http://127.0.0.1:1").create()
    furnish(shown, sandbox)
    assert Path(translated(path, sandbox)).read_text() == "one\n"
    assert (tmp_path / "proj" / "sub").is_dir()
    assert json.loads((sandbox.config / "settings.json").read_text()) == {
        "permissions": {"defaultMode": "plan"}
    }


def test_the_models_of_the_recordings_answer_as_they_did() -> None:
    def steps(prompt: str, step: int = 0, body: Json | None = None) -> object:
        told = Model()(ApiRequest("turn", {"model": "opus", **(body or {})}, {}, prompt, step))
        assert told is not None
        return [item for item in told if not (isinstance(item, dict) and "usage" in item)]

    assert steps('SCRIPT [["a"]]') == ["a"]
    assert steps('SCRIPT [["a"]]', 1) == ["all done"]
    read_it = {"name": "Read", "input": {"file_path": "/c/plans/p.md"}}
    script = 'SCRIPT [[{"name": "Read", "input": {"file_path": "{PLANFILE}"}}]]'
    assert steps(script, body={"system": "at /c/plans/p.md."}) == [read_it]
    marked = {"role": "user", "content": 'x @@[[{"text": "a b", "wd": 0.5}]]@@'}
    assert steps("x", body={"messages": [marked]}) == [{"text": "a b", "pace": 0.5}]
    assert steps("BASH: ls", 1) == ["done with tool"]


def told(*updates: Json) -> list[Entry]:
    """Updates of a session as they are compared."""
    messages = [
        {"method": "session/update", "params": {"sessionId": "a-session", "update": update}}
        for update in updates
    ]
    return tell(fold(messages, {}), {})


def test_the_pieces_of_an_input_and_the_numbers_of_messages_do_not_matter() -> None:
    piece = {"sessionUpdate": "tool_call_update", "toolCallId": "a-call"}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}}
    many = told(
        {**piece, "rawInput": {}}, {**piece, "rawInput": {"a": 1}, "title": "A"}, {**chunk, "messageId": "m1"}
    )
    one = told({**piece, "rawInput": {"a": 1}, "title": "A"}, {**chunk, "messageId": "m2"})
    assert many == one
    assert [entry.title for entry in one] == ["tool_call_update <call 1>", "agent_message_chunk hello"]
    done = told({**piece, "rawInput": {"a": 1}}, {**piece, "status": "completed"})
    assert len(done) == 2


def test_what_is_decided_is_counted_and_the_rest_is_left() -> None:
    meant = Difference("result of initialize", path="result.agentInfo.name", reference='"a"', ours='"b"')
    fault = Difference("result of initialize", path="result.protocolVersion", reference="1", ours="2")
    reasons, rest = sort_out([meant, fault], "tiny")
    assert rest == [fault]
    assert list(reasons.values()) == [1]
