"""What the client says between the end of one Claude Code and the start of the next."""

import anyio
import pytest

from tests.e2e.chat import Chat
from tests.e2e.faults.conftest import Stage
from tests.support import fake_cli
from tests.support.rpc import HANG

pytestmark = pytest.mark.anyio

LOST = "The Claude Agent process exited unexpectedly."


async def reviving(stage: Stage) -> Chat:
    """A session whose Claude Code died, and whose next one never answers."""
    chat = await stage.open(turns=[[{"do": "die"}]])
    await chat.prompt("hi").error()
    stage.plan(replies={"initialize": None})
    return chat


async def until_started(stage: Stage, before: int) -> None:
    """Wait until one more Claude Code of a session runs."""
    with anyio.fail_after(HANG):
        while len(starts(stage)) <= before:  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)


def starts(stage: Stage) -> list[object]:
    """Every start of a Claude Code for a session."""
    return [entry for entry in fake_cli.logged(stage.folder) if "stream-json" in entry.get("argv", ())]


async def test_a_prompt_that_crosses_the_death_is_answered(stage: Stage) -> None:
    """Either it was sent to the dead one and is told so, or the next one serves it."""
    chat = await stage.open(turns=[[{"do": "plain"}, {"do": "die"}]])
    for n in range(12):
        body = (await chat.prompt(f"turn {n}").message()).body
        if "error" in body:
            assert (body["error"]["code"], body["error"]["message"].startswith(LOST)) == (-32603, True)
        else:
            assert body["result"]["stopReason"] == "end_turn"
            assert chat.text().endswith(f"turn {n}")
    stage.plan()
    await chat.prompt("this one may cross it, too").message()
    assert (await chat.ask("well"))["stopReason"] == "end_turn"


async def test_a_mode_that_crosses_the_death_is_set_in_the_next_process(stage: Stage) -> None:
    chat = await stage.open(turns=[[{"do": "plain"}, {"do": "die"}]])
    await chat.ask("hi")
    stage.plan()
    await chat.set_mode("plan")
    assert (await chat.ask("again"))["stopReason"] == "end_turn"
    assert "--permission-mode" in str(starts(stage)[-1])


async def test_a_cancel_while_it_starts_again_answers_what_waits(stage: Stage) -> None:
    chat = await reviving(stage)
    before = len(starts(stage))
    calls = [chat.prompt("one"), chat.prompt("two")]
    await until_started(stage, before)
    chat.cancel()
    for call in calls:
        assert await call.result() == {"stopReason": "cancelled"}
    stage.plan()
    await chat.client.request("session/close", {"sessionId": chat.session})


async def test_one_prompt_of_those_that_wait_is_cancelled_alone(stage: Stage) -> None:
    chat = await reviving(stage)
    before = len(starts(stage))
    one, two = chat.prompt("one"), chat.prompt("two")
    await until_started(stage, before)
    chat.client.notify("$/cancel_request", {"requestId": one.id})
    assert await one.result() == {"stopReason": "cancelled"}
    assert not two.done
    assert await chat.client.request("session/close", {"sessionId": chat.session}) == {}
    assert await two.result() == {"stopReason": "cancelled"}


async def test_a_close_while_it_starts_again_comes_last(stage: Stage) -> None:
    chat = await reviving(stage)
    before = len(starts(stage))
    prompt = chat.prompt("one")
    change = chat.client.call("session/set_mode", {"sessionId": chat.session, "modeId": "plan"})
    await until_started(stage, before)
    close = chat.client.call("session/close", {"sessionId": chat.session})
    assert await close.result() == {}
    assert await prompt.result() == {"stopReason": "cancelled"}
    assert (await change.error()).code in {-32603, -32800}
    last = (await close.message()).seq
    assert max((await prompt.message()).seq, (await change.message()).seq) < last
    assert chat.updates(since=last) == []


async def test_a_question_that_is_taken_back_is_withdrawn_once(stage: Stage) -> None:
    ask = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t1", "input": {"command": "ls"}}
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    gone = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "Tool use aborted"}
    chat = await stage.open(
        turns=[
            [
                {"type": "command_lifecycle", "command_uuid": "$UUID", "state": "started"},
                {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [use]}},
                {"type": "control_request", "request_id": "c1", "request": ask},
                {"do": "sleep", "seconds": 1},
                {"type": "control_cancel_request", "request_id": "c1"},
                {"type": "control_cancel_request", "request_id": "c1"},
                {"type": "user", "message": {"role": "user", "content": [gone]}},
                {"do": "plain", "text": "I go on."},
            ]
        ]
    )
    chat.client.on_permission(lambda _: None)
    call = chat.prompt("hi")
    question = await chat.client.wait_question(since=chat.start)
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.client.withdrawn.count(question.body["id"]) == 1
    assert chat.order()[-4:] == ["withdrawn", "update failed", "text", "end_turn"]
    chat.client.answer(question.body["id"], {"outcome": {"outcome": "cancelled"}})
    await chat.is_well()
    replies = [line for line in fake_cli.received(stage.folder) if line["type"] == "control_response"]
    assert not [line for line in replies if line["response"]["request_id"] == "c1"]
