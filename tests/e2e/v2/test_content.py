"""What a turn shows on ACP v2 beside text: changes of files, plans, forms, compactions."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.chat import bash, script, use
from tests.e2e.permissions import asking_mcp
from tests.e2e.v2.conftest import NewV2Chat
from tests.support.rpc import REJECT, Json, RpcError

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.mark.contract("V2-019", "PM-117", "V2-039")
async def test_an_edit_shows_its_patch_before_and_after(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    file = chat.chat.project / "song.txt"
    file.write_text("one\ntwo\nthree\n")
    edit = use("Edit", file_path=str(file), old_string="two", new_string="deux")
    await chat.ask(script([use("Read", file_path=str(file))], [edit], ["Done."]))
    (asked,) = chat.chat.asked()
    assert "song.txt" in asked["title"]
    (shown,) = asked["subject"]["toolCall"]["content"]
    assert shown["changes"] == [{"operation": "modify", "path": str(file)}]
    call = chat.call(1)
    (diff,) = call["content"]
    assert diff["changes"] == shown["changes"]
    assert (call["name"], call["status"]) == ("Edit", "completed")
    assert file.read_text() == "one\ndeux\nthree\n"
    file.write_text("one\ntwo\nthree\n")
    done = subprocess.run(  # noqa: ASYNC221 - short
        ["git", "apply", "--unsafe-paths", "--directory=/", "-"],
        input=diff["patch"]["text"],
        text=True,
        cwd=chat.chat.project,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "one\ndeux\nthree\n"


async def test_a_refused_write_writes_nothing(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    chat.chat.client.on_permission(REJECT)
    file = chat.chat.project / "new.txt"
    await chat.ask(script([use("Write", file_path=str(file), content="new\n")], ["A pity."]))
    (shown,) = chat.chat.asked()[0]["subject"]["toolCall"]["content"]
    assert shown["changes"] == [{"operation": "add", "path": str(file)}]
    assert "+new" in shown["patch"]["text"]
    assert chat.call()["status"] == "failed"
    assert not file.exists()


@pytest.mark.parametrize(
    "answer", [{"outcome": {"outcome": "cancelled"}}, {"outcome": {"outcome": "perhaps"}}, {}]
)
async def test_no_choice_is_a_refusal(answer: Json, v2_chat: NewV2Chat) -> None:
    """M9: a cancel of the session does not wait for an answer."""
    chat = await v2_chat()
    chat.chat.client.on_permission(lambda _: answer)
    end = await chat.ask(script([bash("touch no.txt")], ["A pity."]))
    assert end["stopReason"] in {"end_turn", "cancelled"}
    assert chat.call()["status"] == "failed"
    assert not (chat.chat.project / "no.txt").exists()
    states = [each["state"] for each in chat.updates("state_update")]
    assert states == ["running", "requires_action", "running", "idle"]


@pytest.mark.contract("V2-015", "NG-050")
async def test_a_plan(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    todos = [{"content": "Do it", "status": "in_progress", "activeForm": "Doing it"}]
    await chat.ask(script([use("TodoWrite", todos=todos)], ["Done."]))
    plan = chat.updates("plan_update")[0]["plan"]
    assert (plan["type"], plan["planId"]) == ("items", "plan")
    assert plan["entries"] == [{"content": "Doing it", "status": "in_progress", "priority": "medium"}]


@pytest.mark.contract("V2-020", "NG-051")
async def test_a_question_of_the_model(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    options = [{"label": "Tea", "description": "Hot"}, {"label": "Juice", "description": "Cold"}]
    question = {"question": "What to drink?", "header": "Drink", "options": options, "multiSelect": False}

    def answer(params: Json) -> Json:
        key = next(iter(params["requestedSchema"]["properties"]))
        return {"action": "accept", "content": {key: "Tea"}}

    chat.chat.client.handlers["elicitation/create"] = answer
    await chat.ask(script([use("AskUserQuestion", questions=[question])], ["Done."]))
    (form,) = chat.chat.asked("elicitation/create")
    assert form["mode"] == "form"
    assert form["toolCallId"] == chat.call()["toolCallId"]
    assert [each["state"] for each in chat.updates("state_update")] == [
        *("running", "requires_action", "running", "idle")
    ]
    assert "Tea" in str(chat.chat.requests()[-1].body["messages"][-1])


@pytest.mark.contract("V2-020")
async def test_a_form_of_a_server(v2_chat: NewV2Chat) -> None:
    server = {
        "type": "stdio",
        "name": "asking",
        "command": sys.executable,
        "args": [str(Path(asking_mcp.__file__))],
    }
    chat = await v2_chat(mcpServers=[server])
    schema = {"type": "object", "properties": {"dish": {"type": "string", "title": "Dish"}}}
    answer = {"action": "accept", "content": {"dish": "soup"}}
    chat.chat.client.handlers["elicitation/create"] = lambda _: answer
    order = use("mcp__asking__order", message="What will it be?", requestedSchema=schema)
    await chat.ask(script([order], ["Thanks."]))
    (form,) = chat.chat.asked("elicitation/create")
    assert form["message"] == "What will it be?"
    assert '"dish": "soup"' in str(chat.call())


@pytest.mark.contract("V2-017", "NG-050")
async def test_a_compaction(v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    await chat.ask("remember the zebra " + script(["A zebra."]))
    mark = chat.mark
    assert (await chat.ask("/compact"))["stopReason"] == "end_turn"
    updates = chat.updates("compaction_update", since=mark)
    assert [update["status"] for update in updates] == ["in_progress", "completed"]
    assert updates[-1]["summary"]
    assert chat.order(since=mark)[0:4] == ["prompt", "user_message", "inserted", "running"]


@pytest.mark.parametrize(
    "prompt",
    [
        [],
        [{"type": "_own", "x": 1}],
        [{"type": "audio", "data": "", "mimeType": "audio/wav"}],
        [{"type": "text"}],
    ],
    ids=["nothing", "unknown", "audio", "malformed"],
)
async def test_prompts_that_are_none(prompt: list[Json], v2_chat: NewV2Chat) -> None:
    chat = await v2_chat()
    with pytest.raises(RpcError) as caught:
        await chat.chat.ask(prompt)
    assert caught.value.code == -32602
    assert chat.updates("user_message") == []
