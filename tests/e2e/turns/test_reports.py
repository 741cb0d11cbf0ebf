"""File-change reports of AIR: one for each request, before the answer, and true."""

import os
from typing import Any

import anyio
import pytest

from tests.e2e.chat import Chat, bash, script, slow, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import air
from tests.support.rpc import Call, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def asking(id: object, **more: object) -> Json:
    """`_meta` of a prompt that wants a report."""
    request = {"version": 1, "requestId": id, **more}
    return {"jetbrains": {"air": {"version": 1, "agentFileChangeReportRequest": request}}}


def prompt(chat: Chat, text: str, id: object, **more: object) -> Call:
    """Send a prompt that wants a report."""
    return chat.prompt(text, _meta=asking(id, **more))


def reports(chat: Chat) -> list[Json]:
    """The reports that came."""
    infos = [info for info in chat.updates("session_info_update") if "jetbrains" in (info.get("_meta") or {})]
    return [air(info)["agentFileChangeReport"] for info in infos if "agentFileChangeReport" in air(info)]


@pytest.mark.contract("FC-002", "FC-008", "FC-009", "FC-010", "FC-012", "FC-021", "FC-022", "TC-048")
async def test_the_files_of_a_turn_are_told_before_its_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    (chat.project / "old").write_text("one\n")
    link = chat.project / "link"
    os.symlink("old", link)
    await chat.ask(script([use("Write", file_path=str(chat.project / "before"), content="x")], ["Done."]))
    project = chat.project.resolve()
    steps: list[list[Any]] = [
        [use("Write", file_path=str(chat.project / "new"), content="new")],
        [use("Read", file_path=str(chat.project / "old"))],
        [use("Edit", file_path=str(chat.project / "old"), old_string="one", new_string="two")],
        ["Done."],
    ]
    call = prompt(chat, script(*steps), "r-1")
    assert (await call.result())["stopReason"] == "end_turn"
    (report,) = reports(chat)
    assert report["status"] == "reported"
    assert report["requestId"] == "r-1"
    assert sorted(report["paths"]) == sorted(str(project / name) for name in ("new", "old"))
    assert report["declaredComplete"] is False
    assert report["truncated"] is False
    words = chat.order(without=("commands", "usage", "cost", "update"))
    assert words[-2:] == ["session_info_update", "end_turn"]


@pytest.mark.parametrize("asks", [("r-1", "r-2"), ("r-2",), ("r-1",), ("r-2", "r-3"), ("r-1", "r-2", "r-3")])
async def test_prompts_that_share_a_turn_have_a_report_each(asks: tuple[str, ...], chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    go = chat.project / "go"
    wait = bash(f"touch began; until [ -e {go} ]; do sleep 0.1; done")
    texts = [script([wait], ["Not said."]), script(["Second. "]), script(["Third. "])]

    def send(number: int) -> Call:
        id = f"r-{number + 1}"
        return prompt(chat, texts[number], id) if id in asks else chat.prompt(texts[number])

    calls = [send(0)]
    await chat.until_made("began")
    calls += [send(1), send(2)]
    await anyio.sleep(0.3)
    go.touch()
    answers = [await call.message() for call in calls]
    for answer in answers:
        assert answer.body["result"]["stopReason"] == "end_turn"
        assert "jetbrains" not in answer.body["result"].get("_meta", {}), "no failure"
    assert [answer.seq for answer in answers] == sorted(answer.seq for answer in answers)
    told = {each["requestId"]: each.get("reason", "reported") for each in reports(chat)}
    unknown = "invalidOutput"  # Claude Code knows no state of the files from before a prompt that joined
    assert told == {id: "reported" if id == "r-1" else unknown for id in asks}
    await chat.is_well()


async def test_a_turn_without_changes_has_an_empty_report(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await prompt(chat, script(["Nothing."]), "r-1").result()
    (report,) = reports(chat)
    assert report["status"] == "reported"
    assert report["paths"] == []


@pytest.mark.contract("FC-025", "FC-010")
async def test_a_cancelled_turn_has_no_files(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = prompt(chat, script([slow()]), "r-1")
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    (report,) = reports(chat)
    assert report == {"version": 1, "requestId": "r-1", "status": "unavailable", "reason": "cancelled"}


@pytest.mark.contract("FC-029")
async def test_a_failed_turn_has_no_files(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await prompt(chat, script([{"error": 400}]), "r-1").result()
    (report,) = reports(chat)
    assert (report["status"], report["reason"]) == ("unavailable", "providerError")


async def test_what_nobody_may_ask_is_not_answered(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    for id in ("r-1", "r-1", "not valid", 1):
        await prompt(chat, script(["Nothing."]), id).result()
    await prompt(chat, script(["Nothing."]), "r-2", extra=1).result()
    assert [report["requestId"] for report in reports(chat)] == ["r-1"]


@pytest.mark.contract("TC-048", "NG-028")
async def test_others_get_no_report(chat_as: ChatAs) -> None:
    chat = await chat_as("airmin")
    await prompt(chat, script(["Nothing."]), "r-1").result()
    assert reports(chat) == []
