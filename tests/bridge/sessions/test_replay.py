import json
import os
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.sessions.chain import open_transcript
from bridge.sessions.replay.items import (
    AgentText,
    AgentThought,
    CompactionSummary,
    Item,
    TaskEnd,
    ToolResult,
    ToolUse,
    UsageLimit,
    UserImage,
    UserText,
)
from bridge.sessions.replay.reader import replay
from bridge.sessions.replay.subagents import StoredSubagent, replay_subagent, stored_subagents
from tests.bridge.sessions.histories import History, call, identity, write_long

LIMIT = "You've hit your session limit · resets 5pm"


def replayed(history: History, folder: Path, lines: Iterable[bytes] | None = None) -> list[Item]:
    path = folder / "t.jsonl"
    path.write_bytes(b"\n".join(history.lines() if lines is None else lines) + b"\n")
    with open_transcript(path) as transcript:
        return [*replay(transcript)]


def ids(history: History) -> list[str]:
    return [record["uuid"] for record in history.records]


@pytest.mark.contract("SE-061", "SE-062")
def test_a_turn_with_tools(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("go")
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    first = history.answer(
        thinking, "I look.", call("toolu_1", command="ls"), call("toolu_2", "Read", file_path="/x")
    )
    history.results("toolu_1", "toolu_2", text="x")
    second = history.answer("Done.")
    assert replayed(history, tmp_path) == [
        UserText(ids(history)[0], "go"),
        AgentThought(first, "hm"),
        AgentText(first, "I look."),
        ToolUse("toolu_1", "Bash", {"command": "ls"}),
        ToolUse("toolu_2", "Read", {"file_path": "/x"}),
        ToolResult("toolu_1", "x", False, {"stdout": "x"}),
        ToolResult("toolu_2", "x", False, {"stdout": "x"}),
        AgentText(second, "Done."),
    ]  # fmt: skip


def test_the_blocks_of_a_prompt_share_its_id(tmp_path: Path) -> None:
    history = History(identity(1))
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    history.prompt(
        [
            {"type": "text", "text": "see "},
            {"type": "image", "source": source},
            {"type": "image", "source": {"type": "url", "url": "http://x/y.png"}},
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            {"type": "document", "source": source},
            {"type": "text", "text": '\n<context ref="x">\nBODY\n</context>'},
            {"type": "text", "text": "<system-reminder>x</system-reminder>"},
        ]
    )
    (prompt,) = ids(history)
    assert replayed(history, tmp_path) == [
        UserText(prompt, "see "),
        UserImage(prompt, "aGk=", "image/png"),
        UserImage(prompt, uri="http://x/y.png"),
        UserText(prompt, '\n<context ref="x">\nBODY\n</context>'),
    ]


@pytest.mark.contract("SE-064", "SE-065")
def test_commands_read_as_typed_and_local_ones_are_hidden(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt(
        "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>Bob</command-args>",
        None,
    )
    history.add(
        "user", message={"role": "user", "content": [{"type": "text", "text": "Greet Bob."}]}, isMeta=True
    )
    history.answer("hello")
    history.add(
        "user",
        message={"role": "user", "content": "<local-command-caveat>x</local-command-caveat>"},
        isMeta=True,
    )
    history.prompt("<command-name>/model</command-name>\n  <command-args>sonnet</command-args>", None)
    history.add("system", subtype="local_command", content="<local-command-stdout>x</local-command-stdout>")
    history.add("user", message={"role": "user", "content": "<local-command-stdout>x</local-command-stdout>"})
    history.prompt("[Request interrupted by user]")
    shown = [item.text for item in replayed(history, tmp_path) if isinstance(item, UserText | AgentText)]
    assert shown == ["/greet Bob", "hello", "[Request interrupted by user]"]


def test_nothing_empty_is_shown(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("  ")
    history.answer(
        "", {"type": "thinking", "thinking": "", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}
    )
    assert replayed(history, tmp_path) == []


def test_what_is_not_part_of_the_conversation_shows_nothing(tmp_path: Path) -> None:
    history = History(identity(1))
    history.add("attachment", attachment={"type": "date"})
    history.add("system", subtype="informational", content="x")
    history.add("a new kind", message={"role": "user", "content": "x"})
    history.add("user", message={"content": "x"}, origin={"kind": "peer"}, isMeta=True)
    history.add("assistant", message={"content": [{"type": "text", "text": "x"}]}, isMeta=True)
    history.answer(
        {"type": "a new block", "text": "x"}, {"type": "text", "text": 3}, {"type": "tool_use", "name": "x"}
    )
    history.note("ai-title", aiTitle="x")
    assert replayed(history, tmp_path) == []


def test_tools_of_the_server_are_calls_with_results(tmp_path: Path) -> None:
    history = History(identity(1))
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    history.answer(
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}, found
    )
    assert replayed(history, tmp_path) == [
        ToolUse("srv_1", "web_search", {"query": "x"}),
        ToolResult("srv_1", [found], False),
    ]


@pytest.mark.contract("SE-067")
@pytest.mark.parametrize(
    ("blocks", "model", "is_shown"),
    [
        (["Please run /login · API Error"], "<synthetic>", False),
        (["Invalid API key · Please RUN /LOGIN"], "<synthetic>", False),
        (["Please run /login"], "claude-opus-5-5", True),
        (["rerun /login"], "<synthetic>", True),
        (["API Error: 500"], "<synthetic>", True),
    ],
)
def test_the_request_for_a_login_is_left_out(
    tmp_path: Path, blocks: list[str], model: str, is_shown: bool
) -> None:
    history = History(identity(1))
    history.prompt("go")
    message_id = history.answer(*blocks, model=model)
    assert replayed(history, tmp_path)[1:] == [AgentText(message_id, text) for text in blocks if is_shown]


@pytest.mark.contract("SE-068", "SE-069", "SE-071", "SE-072")
def test_a_usage_limit_stands_until_a_real_answer(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("first")
    first = history.answer(LIMIT, model="<synthetic>")
    history.prompt("again")
    history.answer(LIMIT + " says the model")
    history.prompt("go")
    history.answer(call("toolu_1"))
    history.results("toolu_1")
    last = history.answer(LIMIT, model="<synthetic>")
    shown = replayed(history, tmp_path)
    uuids = ids(history)
    assert [item for item in shown if isinstance(item, UsageLimit)] == [
        UsageLimit(first, uuids[1], LIMIT, prompt=uuids[0], stands=False),
        UsageLimit(last, uuids[-1], LIMIT, prompt=uuids[4], stands=True),
    ]
    assert AgentText("msg_0_3", LIMIT + " says the model") in shown


@pytest.mark.contract("SE-071")
def test_a_usage_limit_without_a_prompt_names_none(tmp_path: Path) -> None:
    history = History(identity(1))
    message_id = history.answer(LIMIT, model="<synthetic>")
    assert replayed(history, tmp_path) == [UsageLimit(message_id, ids(history)[0], LIMIT, None, True)]


def test_a_compaction_is_its_summary_and_what_came_after(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("before")
    history.answer("kept word for word", message_id="msg_kept")
    kept = ids(history)[-1]
    history.compact("All of it.\n\nIn two parts.", preserved=[kept])
    history.prompt("after")
    summary, preserved, after = replayed(history, tmp_path)
    assert isinstance(summary, CompactionSummary)
    assert (summary.message_id, summary.summary) == (ids(history)[3], "All of it.\n\nIn two parts.")
    assert summary.text.startswith("This session is being continued")
    assert preserved == AgentText("msg_kept", "kept word for word")
    assert after == UserText(ids(history)[-1], "after")


def test_a_task_notification_is_the_end_of_a_task_and_no_text(tmp_path: Path) -> None:
    history = History(identity(1))
    text = (
        "<task-notification>\n<task-id>t1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>completed</status>\n"
        "<summary>It ended</summary>\n<result><status>failed</status></result></task-notification>"
    )
    second = "<task-notification><task-id>t2</task-id><status>failed</status></task-notification>"
    blocks = [text, second, second.replace("status>", "state>"), f"see: {second}", f"<result>{second}"]
    history.prompt([{"type": "text", "text": each} for each in blocks], origin={"kind": "task-notification"})
    history.prompt("a prompt", origin={"kind": "task-notification", "subkind": "scheduled"})
    assert replayed(history, tmp_path) == [
        TaskEnd("t1", "completed", "toolu_1", "It ended"),
        TaskEnd("t2", "failed", None, None),
        UserText(ids(history)[1], "a prompt"),
    ]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return History(identity(1)).write(tmp_path / f"{identity(1)}.jsonl")


def child(session: Path, name: str, launch: object, *texts: str) -> Path:
    history = History(identity(1), seed=9)
    for text in texts:
        history.prompt(text, isSidechain=True, agentId=name)
        history.answer("found", isSidechain=True, agentId=name)
    path = history.write(session.with_suffix("") / "subagents" / f"agent-{name}.jsonl")
    if launch is not None:
        path.with_suffix(".meta.json").write_text(json.dumps(launch))
    return path


def test_subagents_are_read_from_their_own_files(session: Path) -> None:
    assert stored_subagents(session) == ()
    launch = {
        "agentType": "general-purpose",
        "description": "scout",
        "toolUseId": "toolu_1",
        "model": "m",
        "name": " ",
    }
    first = child(session, "a1", launch, "look")
    second = child(session, "a2", None)
    third = child(session, "a3", {"agentType": 3, "stoppedByUser": True})
    (session.with_suffix("") / "subagents" / "agent-a4.jsonl").symlink_to("/etc/passwd")
    assert stored_subagents(session) == (
        StoredSubagent("a1", first, "toolu_1", "general-purpose", None, "scout", "m"),
        StoredSubagent("a2", second),
        StoredSubagent("a3", third, was_stopped=True),
    )
    with open_transcript(first) as transcript:
        shown = [*replay_subagent(stored_subagents(session)[0], transcript)]
    assert [astuple(item)[-1] for item in shown] == ["look", "found"]


def test_a_pipe_says_nothing_of_a_subagent(session: Path) -> None:
    path = child(session, "a1", None, "look")
    os.mkfifo(path.with_suffix(".meta.json"))
    os.mkfifo(path.with_name("agent-a2.jsonl"))
    assert stored_subagents(session) == (StoredSubagent("a1", path),)


@pytest.mark.parametrize("link", ["session", "subagents", "file", "meta"])
def test_no_symlink_leads_to_subagents(session: Path, link: str, tmp_path: Path) -> None:
    path = child(session, "a1", {"toolUseId": "toolu_1"}, "look")
    linked = {
        "session": session.with_suffix(""),
        "subagents": path.parent,
        "file": path,
        "meta": path.with_suffix(".meta.json"),
    }[link]
    elsewhere = linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(elsewhere)
    assert [each.call for each in stored_subagents(session)] == ([None] if link == "meta" else [])


@pytest.mark.parametrize("role", ["fork", "general-purpose"])
def test_a_forked_subagent_begins_with_its_directive(session: Path, role: str) -> None:
    directive = "<fork-boilerplate>rules</fork-boilerplate>\nYour directive: look there"
    child(session, "a1", {"agentType": role}, "inherited", directive, "more")
    (subagent,) = stored_subagents(session)
    with open_transcript(subagent.transcript) as transcript:
        texts = [item.text for item in replay_subagent(subagent, transcript) if isinstance(item, UserText)]
    assert texts == (["look there", "more"] if role == "fork" else ["inherited", directive, "more"])


def test_a_fork_without_its_directive_is_shown_whole(session: Path) -> None:
    child(session, "a1", {"agentType": "fork"}, "inherited")
    (subagent,) = stored_subagents(session)
    with open_transcript(subagent.transcript) as transcript:
        assert len([*replay_subagent(subagent, transcript)]) == 2


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["user", "assistant", "text", "tool_use", "\ud800"]),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "id"]), each, max_size=3)
    ),
    max_leaves=5,
)


def mixed_history() -> History:
    history = History(identity(1))
    history.prompt(
        [{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "url", "url": "x"}}]
    )
    history.answer({"type": "thinking", "thinking": "hm"}, "I look.", call("toolu_1"), call("toolu_2"))
    history.results("toolu_1", "toolu_2")
    history.answer(LIMIT, model="<synthetic>")
    history.compact("all", preserved=[history.records[0]["uuid"]])
    history.prompt("<command-name>/x</command-name>", origin={"kind": "human"})
    history.prompt(
        "<task-notification><task-id>t</task-id><status>s</status>", origin={"kind": "task-notification"}
    )
    history.answer("Done.")
    return history


@settings(deadline=None, max_examples=300)
@given(st.integers(0), VALUES, st.sampled_from(["value", "drop", "twice", "shuffle", "bytes", "cut"]))
def test_no_damage_is_an_exception(
    tmp_path_factory: pytest.TempPathFactory, seed: int, value: Any, damage: str
) -> None:
    random = Random(seed)
    history = mixed_history()
    target: Any = random.choice(history.records)
    while damage == "value":
        key = random.choice([*target] if isinstance(target, dict) else range(len(target)))
        if not isinstance(target[key], dict | list) or not target[key] or random.random() < 0.3:
            target[key] = value
            break
        target = target[key]
    lines = history.lines()
    place = random.randrange(len(lines))
    match damage:
        case "drop":
            del lines[place]
        case "twice":
            lines.insert(random.randrange(len(lines)), lines[place])
        case "shuffle":
            random.shuffle(lines)
        case "bytes":
            at = random.randrange(len(lines[place]))
            lines[place] = lines[place][:at] + random.randbytes(3) + lines[place][at:]
        case "cut":
            lines = [*lines[:place], lines[place][: random.randrange(len(lines[place]))]]
    for item in replayed(history, tmp_path_factory.mktemp("t"), lines):
        json.dumps(astuple(item), ensure_ascii=False).encode()
        assert not isinstance(item, UserText | AgentText | AgentThought) or item.text


def test_a_long_history_is_replayed_whole(tmp_path: Path) -> None:
    path = write_long(tmp_path / f"{identity(1)}.jsonl", megabytes=1, messages=400)
    with open_transcript(path) as transcript:
        items = [*replay(transcript)]
        assert len(items) >= len(transcript.nodes) >= 400
    uses = [item.id for item in items if isinstance(item, ToolUse)]
    assert uses
    assert sorted(uses) == sorted(item.call for item in items if isinstance(item, ToolResult))
