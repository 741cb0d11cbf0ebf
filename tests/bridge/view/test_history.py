"""A stored conversation in each client's form: limits, compactions, and their places (S§8, M13)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import read_capabilities
from bridge.live.setup import Setup
from bridge.tools.report import ToolReports
from bridge.view.history import History
from machines.events import LimitReplayed
from machines.results.usage_limits import USAGE_LIMIT_PREFIXES
from tests.bridge.view.stand_ins import Client
from tests.support.clients import CAPABILITIES

pytestmark = pytest.mark.anyio

LIMIT = f"{USAGE_LIMIT_PREFIXES[0]} session limit · resets 3pm"


def record(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {
        "role": kind,
        "content": content,
        "id": f"msg_{uuid}",
        "model": more.pop("model", "claude-opus-5"),
    }
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "S",
        "timestamp": "2026-01-02T03:04:05Z",
        "isSidechain": False,
        "message": message,
        **more,
    }


def said(uuid: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return record("assistant", uuid, parent, [{"type": "text", "text": text}], **more)


def limit(uuid: str, parent: str | None, text: str = LIMIT) -> dict[str, Any]:
    return said(uuid, parent, text, model="<synthetic>", isApiErrorMessage=True)


async def tell(folder: Path, kind: str, *records: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """What the client is sent, and what the session hears of it."""
    path = folder / "S.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    client, known = Client(), read_capabilities(CAPABILITIES[kind])
    heard: list[Any] = []

    def post(mail: Any) -> None:
        if callable(mail):
            mail()
        else:
            heard.append(mail)

    setup = Setup("S", "/p", known, ())
    history = History(setup, client.as_client(), ToolReports(known, "/p", "/home"), 0)
    await history.tell(path, post, None)
    return client.updates, heard


async def told(folder: Path, kind: str, *records: Mapping[str, Any]) -> list[Any]:
    """What the client is sent."""
    return (await tell(folder, kind, *records))[0]


def short(update: Mapping[str, Any]) -> tuple[str, str]:
    """A chunk by its text, a record by its id."""
    if "content" in update:
        return update["sessionUpdate"], update["content"]["text"]
    return "failure", update["_meta"]["jetbrains"]["air"]["sessionFailure"]["id"]


@pytest.mark.contract("SF-013", "SF-057")
@pytest.mark.parametrize("prefix", USAGE_LIMIT_PREFIXES)
async def test_a_limit_is_a_record_of_its_prompt_at_its_place(tmp_path: Path, prefix: str) -> None:
    updates = await told(
        tmp_path,
        "air",
        record("user", "u1", None, "one"),
        limit("a1", "u1", f"{prefix} and so on"),
        record("user", "u2", "a1", "two"),
        said("a2", "u2", "fine"),
    )
    assert [short(update) for update in updates] == [
        ("user_message_chunk", "one"),
        ("failure", "u1:error"),
        ("user_message_chunk", "two"),
        ("agent_message_chunk", "fine"),
    ]
    failure = updates[1]["_meta"]["jetbrains"]["air"]["sessionFailure"]
    assert failure == {
        "id": "u1:error",
        "revision": 1,
        "category": "limit",
        "severity": "error",
        "title": f"{prefix} and so on",
        "actions": [],
    }


@pytest.mark.contract("SF-059")
async def test_the_last_limit_stands_until_a_real_answer(tmp_path: Path) -> None:
    history = [
        record("user", "u1", None, "one"),
        limit("a1", "u1"),
        record("user", "u2", "a1", "two"),
        limit("a2", "u2"),
    ]
    assert (await tell(tmp_path, "air", *history))[1] == [LimitReplayed("u2:error", LIMIT)]
    answer = [record("user", "u3", "a2", "three"), said("a3", "u3", "fine")]
    assert (await tell(tmp_path, "air", *history, *answer))[1] == []
    assert (await tell(tmp_path, "plain", *history))[1] == []


@pytest.mark.contract("SF-014")
async def test_a_limit_without_a_prompt_has_an_id_of_its_own(tmp_path: Path) -> None:
    (update,) = await told(tmp_path, "air", limit("a1", None))
    assert short(update) == ("failure", "S:history-error:a1")


@pytest.mark.contract("SF-057")
async def test_prose_of_a_model_is_never_a_limit(tmp_path: Path) -> None:
    updates = await told(tmp_path, "air", record("user", "u1", None, "one"), said("a1", "u1", LIMIT))
    assert short(updates[-1]) == ("agent_message_chunk", LIMIT)


@pytest.mark.contract("SF-057")
async def test_other_words_of_claude_code_are_no_limit(tmp_path: Path) -> None:
    updates = await told(
        tmp_path, "air", record("user", "u1", None, "one"), limit("a1", "u1", "Something else happened")
    )
    assert "failure" not in {short(update)[0] for update in updates}


@pytest.mark.contract("SF-002")
@pytest.mark.parametrize("kind", ["plain", "zed", "rfd", "airmin"])
async def test_without_the_capability_the_text_stays_as_it_was(tmp_path: Path, kind: str) -> None:
    updates = await told(tmp_path, kind, record("user", "u1", None, "one"), limit("a1", "u1"))
    assert short(updates[-1]) == ("agent_message_chunk", LIMIT)


async def test_a_transcript_that_can_t_be_read_is_an_os_error(tmp_path: Path) -> None:
    client, known = Client(), read_capabilities(CAPABILITIES["plain"])
    setup = Setup("S", "/p", known, ())
    history = History(setup, client.as_client(), ToolReports(known, "/p", "/home"), 0)
    with pytest.raises(OSError, match="No such file"):
        await history.tell(tmp_path / "gone.jsonl", lambda _: None, None)


# ── background work ───────────────────────────────────────────────────────────

OUTPUT = "/tmp/claude-0/-p/S/tasks/b1.output"
LAUNCHED = f"Command running in background with ID: b1. Output is being written to: {OUTPUT}. You will be"


def background(name: str = "Bash", **input: str) -> list[dict[str, Any]]:
    """A call that starts a task, its result, and the notification of its end."""
    use = {"type": "tool_use", "id": "c", "name": name, "input": {**input, "run_in_background": True}}
    launch = {"type": "tool_result", "tool_use_id": "c", "content": LAUNCHED}
    notice = (
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>c</tool-use-id>\n"
        "<status>killed</status>\n<summary>It was stopped.</summary>\n</task-notification>"
    )
    return [
        record("user", "u1", None, "one"),
        record("assistant", "a1", "u1", [use]),
        record("user", "u2", "a1", [launch], toolUseResult={"stdout": "", "backgroundTaskId": "b1"}),
        said("a2", "u2", "Started."),
        record("user", "u3", "a2", notice, origin={"kind": "task-notification"}),
        said("a3", "u3", "It is over."),
    ]


def of_tasks(updates: list[Any]) -> list[Any]:
    return [update for update in updates if update["sessionUpdate"].startswith("async_task_")]


async def test_background_work_is_replayed_with_its_end(tmp_path: Path) -> None:
    updates = await told(tmp_path, "air", *background(command="sleep", description="Wait"))
    spawned, ended = of_tasks(updates)
    assert spawned == {
        "sessionUpdate": "async_task_spawned",
        "asyncTaskId": "b1",
        "name": "Wait",
        "taskType": "shell",
        "description": "Wait",
        "showInTranscript": False,
        "canStop": True,
        "outputFilePath": OUTPUT,
        "toolCallId": "c",
    }
    assert ended == {
        "sessionUpdate": "async_task_state_update",
        "asyncTaskId": "b1",
        "state": "stopped",
        "summary": "It was stopped.",
    }
    place = updates.index(spawned)
    assert updates[place - 1]["content"]["text"] == "Started."
    assert updates[place + 2]["content"]["text"] == "It is over."


@pytest.mark.parametrize("kind", ["airmin", "plain", "rfd"])
async def test_no_other_client_is_replayed_tasks(kind: str, tmp_path: Path) -> None:
    assert of_tasks(await told(tmp_path, kind, *background(command="sleep"))) == []


async def test_a_replayed_subagent_is_no_task(tmp_path: Path) -> None:
    assert of_tasks(await told(tmp_path, "air", *background("Agent", description="Help"))) == []


async def test_an_end_without_its_launch_is_not_told(tmp_path: Path) -> None:
    history = background(command="sleep")
    history[1]["message"]["content"] = []
    assert of_tasks(await told(tmp_path, "air", *history)) == []
