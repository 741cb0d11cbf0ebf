"""Async tasks: what an AIR client hears of work in the background, and how it stops it (A1)."""

from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.e2e.chat import SLEEP, Chat, bash, script, slow, use
from tests.e2e.children.words import updates
from tests.e2e.conftest import NewChat
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.turns.losses import kill_claude
from tests.e2e.turns.test_background import background, cycle_over
from tests.support.clients import CAPABILITIES
from tests.support.rpc import Call, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

SPAWNED, PROGRESS, STATE = "async_task_spawned", "async_task_progress", "async_task_state_update"
FOREVER = bash(f"touch began; {SLEEP}", run_in_background=True, description="wait for it")


def tasks(chat: Chat, since: int | None = None) -> list[Json]:
    """All that was told of tasks."""
    return [each for each in chat.updates(since=since) if each["sessionUpdate"].startswith("async_task_")]


async def ended(chat: Chat, since: int) -> Json:
    """The next end of a task."""
    ends = {"completed", "failed", "stopped"}
    message = await chat.client.wait_update(STATE, lambda u: u["state"] in ends, since=since)
    update: Json = message.body["params"]["update"]
    return update


async def start_forever(chat: Chat) -> str:
    """Let a command run in the background that does not end; the id of its task."""
    await chat.ask(script([FOREVER], ["Started."], ["Over."]))
    await chat.until_made("began")
    (task,) = {each["asyncTaskId"] for each in tasks(chat)}
    return str(task)


def stop(chat: Chat, task: str) -> Call:
    return chat.client.call("_session/async_task/stop", {"sessionId": chat.session, "asyncTaskId": task})


@pytest.mark.contract(
    "AT-001", "AT-005", "AT-008", "AT-017", "AT-019", "AT-023", "AT-045", "TC-148", "TC-223"
)
async def test_a_command_in_the_background_is_a_task_until_it_ends(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script([background(chat)], ["Started."], ["It is over."]))
    (call,) = chat.calls()
    spawned, progress = tasks(chat)
    id = spawned["asyncTaskId"]
    command = chat.calls()[call]["rawInput"]["command"]
    assert spawned == {
        "sessionUpdate": SPAWNED,
        "asyncTaskId": id,
        "name": command,
        "taskType": "shell",
        "description": command,
        "showInTranscript": False,
        "canStop": True,
        "toolCallId": call,
    }
    path = progress.pop("outputFilePath")
    assert path.endswith(f"/tasks/{id}.output")
    assert progress == {"sessionUpdate": PROGRESS, "asyncTaskId": id}
    told = [each["sessionUpdate"] for each in chat.updates()]
    final = next(n for n, each in enumerate(chat.updates()) if each.get("status") == "completed")
    assert told.index("tool_call") < told.index(SPAWNED) < told.index(PROGRESS) < final
    marked = [each for each in chat.updates("tool_call_update") if "asyncTasks" in str(each)]
    assert marked[0]["_meta"]["jetbrains"]["air"]["asyncTasks"] == {"backgrounded": True}
    mark = chat.mark
    (chat.project / "go").touch()
    assert await ended(chat, mark) == {"sessionUpdate": STATE, "asyncTaskId": id, "state": "completed"}
    await cycle_over(chat, mark)
    assert chat.text(since=mark) == "It is over."
    await chat.is_well()
    assert len(tasks(chat)) == 3
    assert chat.updates("user_message_chunk") == []


async def test_what_a_command_left_behind_is_a_failed_task(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    work = bash("until [ -e go ]; do sleep 0.05; done; exit 3", run_in_background=True)
    await chat.ask(script([work], ["Started."], ["It failed."]))
    mark = chat.mark
    (chat.project / "go").touch()
    assert (await ended(chat, mark))["state"] == "failed"
    await cycle_over(chat, mark)


@pytest.mark.contract("AT-018", "TC-148")
@pytest.mark.parametrize("kind", ["airmin", "plain", "rfd"])
async def test_no_other_client_hears_of_tasks(kind: str, chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    await chat.ask(script([background(chat)], ["Started."], ["It is over."]))
    assert await stop(chat, "task").result() == {"stopped": False}
    mark = chat.mark
    (chat.project / "go").touch()
    await cycle_over(chat, mark)
    assert tasks(chat) == []
    assert "asyncTasks" not in str(chat.updates())


@pytest.mark.contract("AT-034")
@pytest.mark.parametrize("params", [{}, {"asyncTaskId": 7}, {"asyncTaskId": ""}, {"sessionId": None}])
async def test_a_stop_names_a_session_and_a_task(params: Json, chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    asked = {"sessionId": chat.session, **params}
    if "sessionId" in params:
        asked["asyncTaskId"] = "task"
    error = await chat.client.call("_session/async_task/stop", asked).error()
    assert error.code == -32602
    assert error.data["errors"][0]["path"] in {"sessionId", "asyncTaskId"}


@pytest.mark.contract("AT-040")
async def test_in_an_unknown_session_every_task_is_unknown(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    asked = {"sessionId": "no such session", "asyncTaskId": "task"}
    assert await chat.client.request("_session/async_task/stop", asked) == {"stopped": False}


@pytest.mark.contract("AT-002")
async def test_the_agent_says_that_it_tells_of_tasks(start_agent: StartAgent) -> None:
    client = await start_agent()
    told = await client.initialize("air")
    assert "asyncTasks" in told["_meta"]["jetbrains"]["air"]["capabilities"]


@pytest.mark.contract("AT-038")
async def test_a_client_with_notices_gets_one_for_a_stop(start_agent: StartAgent, new_chat: NewChat) -> None:
    client = await start_agent()
    await client.initialize({**CAPABILITIES["air"], "session": {"notices": {}}})
    chat = await new_chat(client=client)
    task = await start_forever(chat)
    mark = chat.mark
    assert await stop(chat, task).result() == {"stopped": True}
    (notice,) = chat.updates("notice", since=mark)
    assert (notice["title"], notice["description"]) == ("Task stopped by user", "wait for it.")
    assert notice["severity"] == "info"
    assert chat.text(since=mark) == ""


@pytest.mark.contract("AT-003")
async def test_a_subagent_is_no_task_and_its_command_is_one(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    child = use(
        "Agent",
        description="Help",
        prompt=script([background(chat)], ["Child done."]),
        subagent_type="general-purpose",
    )
    await chat.ask(script([child], ["Started."], ["It told me."], ["It is over."]))
    (chat.project / "go").touch()
    end = await ended(chat, chat.start)
    told = [update for _, update in updates(chat) if update["sessionUpdate"].startswith("async_task_")]
    assert {each["asyncTaskId"] for each in told} == {end["asyncTaskId"]}
    assert [each["taskType"] for each in told if each["sessionUpdate"] == SPAWNED] == ["shell"]
    assert tasks(chat) == [], "it is told in the subagent's session"


@pytest.mark.contract("AT-044")
async def test_a_long_command_in_the_foreground_is_no_task(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script([bash("python3 -c 'import time; time.sleep(5)'")], ["Done."]))
    assert tasks(chat) == []
    assert [call["status"] for call in chat.calls().values()] == ["completed"]


@pytest.mark.contract("AT-035", "AT-036", "AT-037", "AT-038", "AT-040")
async def test_a_task_is_stopped_on_request(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    task = await start_forever(chat)
    assert await stop(chat, "no such task").result() == {"stopped": False}
    mark = chat.mark
    first, second = stop(chat, task), stop(chat, task)
    assert [await each.result() for each in (first, second)] == [{"stopped": True}, {"stopped": False}]
    assert [each["state"] for each in tasks(chat, mark)] == ["stopped"]
    assert chat.text(since=mark) == "**Task stopped by user:** wait for it."
    answer = (await first.message()).seq
    assert chat.updates(STATE, since=answer) == []
    assert await stop(chat, task).result() == {"stopped": False}
    await chat.is_well()
    assert [each["state"] for each in tasks(chat, mark)] == ["stopped"]


async def test_a_task_outlives_the_conversation_that_started_it(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    task = await start_forever(chat)
    mark = chat.mark
    await chat.ask("/clear")
    await chat.is_well()
    assert tasks(chat, mark) == [], "Claude Code lists it still"
    assert await stop(chat, task).result() == {"stopped": True}
    assert [each["state"] for each in tasks(chat, mark)] == ["stopped"]


async def test_a_cancel_of_other_work_leaves_a_task_alone(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    task = await start_forever(chat)
    mark = chat.mark
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=mark)
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()
    assert tasks(chat, mark) == []
    assert await stop(chat, task).result() == {"stopped": True}


async def test_a_monitor_is_a_task_until_its_source_ends(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    source = f"until [ -e {chat.project / 'go'} ]; do sleep 0.05; done; echo over"
    watch = use("Monitor", command=source, description="watch it", timeout_ms=60000, persistent=False)
    await chat.ask(script([watch], ["Started."], ["It is over."], ["Ended."]))
    (call,) = chat.calls()
    (spawned,) = tasks(chat)
    assert (spawned["name"], spawned["toolCallId"]) == ("watch it", call)
    mark = chat.mark
    (chat.project / "go").touch()
    end = await ended(chat, mark)
    assert (end["asyncTaskId"], end["state"]) == (spawned["asyncTaskId"], "completed")


@pytest.mark.contract("AT-033")
async def test_a_close_stops_its_tasks_first(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    task = await start_forever(chat)
    mark = chat.mark
    close = chat.client.call("session/close", {"sessionId": chat.session})
    assert await close.result() == {}
    assert tasks(chat, mark) == [{"sessionUpdate": STATE, "asyncTaskId": task, "state": "stopped"}]
    assert chat.updates(since=(await close.message()).seq) == []


@pytest.mark.contract("AT-033")
async def test_the_tasks_of_a_dead_claude_have_failed(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script([background(chat)], ["Started."], ["Over."]))
    task = tasks(chat)[0]["asyncTaskId"]
    mark = chat.mark
    await kill_claude(chat)
    assert await ended(chat, mark) == {"sessionUpdate": STATE, "asyncTaskId": task, "state": "failed"}
    await chat.is_well()
    assert len(tasks(chat, mark)) == 1
    (chat.project / "go").touch()
    assert await stop(chat, task).result() == {"stopped": False}


async def test_a_loaded_session_has_its_tasks_with_their_ends(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await chat.ask(script([background(chat)], ["Started."], ["It is over."]))
    mark = chat.mark
    (chat.project / "go").touch()
    await cycle_over(chat, mark)
    live = tasks(chat)
    await chat.client.request("session/close", {"sessionId": chat.session})
    mark = chat.mark
    asked = {"sessionId": chat.session, "cwd": str(chat.project), "mcpServers": []}
    await chat.client.request("session/load", asked)
    spawned, end = tasks(chat, mark)
    assert spawned == live[0] | {"outputFilePath": live[1]["outputFilePath"]}
    assert (end["asyncTaskId"], end["state"]) == (spawned["asyncTaskId"], "completed")
    assert chat.updates("user_message_chunk", since=mark)[1:] == []


async def test_a_trace_does_not_hold_the_command_of_a_task(
    start_agent: StartAgent, new_chat: NewChat, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    client = await start_agent(env={"CLAUDE_ACP_TRACE": str(trace)})
    await client.initialize("air")
    chat = await new_chat(client=client)
    work = bash(f"{SLEEP} # MARK", run_in_background=True)
    await chat.ask(script([work], ["Started."], ["Over."]))
    (task,) = {each["asyncTaskId"] for each in tasks(chat)}
    assert "MARK" in chat.updates(SPAWNED)[0]["name"]
    assert await stop(chat, task).result() == {"stopped": True}
    await client.close()
    assert "ShowTask" in trace.read_text()
    assert "MARK" not in trace.read_text()
