"""Subagents in the background and asked again: the turn that waits, the session that goes on."""

import pytest

from tests.e2e.chat import Chat, bash, script, slow, use
from tests.e2e.children.words import agent, calls, children, of, order, requests
from tests.e2e.permissions.kinds import ChatAs
from tests.support.rpc import CANCELLED, Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def send(to: str, *steps: list[Json | str]) -> Json:
    """A message that has a subagent work again."""
    return use("SendMessage", to=to, message=f"More. {script(*steps)}", summary="more")


@pytest.mark.contract("SA-087", "SA-086", "SA-078", "SA-080")
async def test_a_turn_waits_and_the_subagent_works_in_its_session(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    work = agent(
        [{"delay": 1}, "Child hi.", bash("npm test; touch child")], ["Child report."], background=True
    )
    assert (await chat.ask(script(["I look. ", work], ["Started."], ["It told me."])))[
        "stopReason"
    ] == "end_turn"
    assert order(chat) == [
        *("text", "call pending", "1 running", "1 message", "update completed", "text"),
        *("1 text", "1 call pending", "1 requires_action", "1 asks", "1 answered", "1 running"),
        *("1 update completed", "1 text", "1 idle end_turn", "text", "end_turn"),
    ]
    assert chat.text() == "I look. Started.It told me."
    await chat.is_well()


@pytest.mark.contract("SA-087", "SA-013")
async def test_in_the_form_of_air_too(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    work = agent(
        [{"delay": 1}, "Child hi.", bash("npm test; touch child")], ["Child report."], background=True
    )
    assert (await chat.ask(script(["I look. ", work], ["Started."], ["It told me."])))[
        "stopReason"
    ] == "end_turn"
    assert order(chat) == [
        *("text", "1 spawned", "text", "1 text", "1 call pending", "1 asks", "1 answered"),
        *("1 update completed", "1 text", "1 completed", "text", "end_turn"),
    ]
    assert "Async agent launched" not in str(chat.updates()), "that is for the model"
    await chat.is_well()


async def test_no_answer_is_a_refusal_and_the_subagent_goes_on(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    chat.client.on_permission(CANCELLED)
    work = agent([{"delay": 1}, bash("npm test; touch child")], ["I go on."], background=True)
    await chat.ask(script([work], ["Started."], ["It told me."]))
    assert len(requests(chat)) == 1
    (child,) = children(chat)
    assert calls(chat, child) == [("Bash", "failed")]
    assert chat.client.text(child) == "I go on."


async def test_work_that_an_idle_subagent_left_does_no_harm_when_it_ends(chat_as: ChatAs) -> None:
    """Its command in the background ends after it, and the conversation goes on."""
    chat = await chat_as("rfd")
    go = chat.project / "go"
    left = bash(f"until [ -e {go} ]; do sleep 0.05; done; echo over", run_in_background=True)
    await chat.ask(script([agent([left], ["Child report."])], ["All done."], ["Over."]))
    (child,) = children(chat)
    assert calls(chat, child) == [("Bash", "completed")]
    mark = chat.mark
    go.touch()
    await chat.is_well()
    assert "error" not in str(order(chat, mark))


async def resumed(kind: str, chat_as: ChatAs) -> tuple[Chat, list[str]]:
    """A conversation with a subagent that was asked twice; what happened since the second time."""
    chat = await chat_as(kind)
    await chat.ask(script(["I look. ", agent(["First run."], name="scout")], ["All done."]))
    (child,) = children(chat)
    mark = chat.mark
    work = send(child, [{"delay": 1}, "Second run.", bash("npm test; touch child")], ["Second report."])
    result = await chat.ask(script(["Again. ", work], ["Sent."], ["It told me."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text(since=mark) == "Again. Sent.It told me.", "the turn waited"
    return chat, order(chat, mark)


@pytest.mark.contract("SA-064", "SA-065", "SA-066", "SA-067", "SA-070", "SA-077", "SA-089")
async def test_who_is_asked_again_goes_on_in_the_same_session(chat_as: ChatAs) -> None:
    chat, told = await resumed("rfd", chat_as)
    assert told == [
        *("text", "call pending", "1 running", "1 message", "update completed", "text", "1 text"),
        *("1 call pending", "1 requires_action", "1 asks", "1 answered", "1 running", "1 update completed"),
        *("1 text", "1 idle end_turn", "text", "end_turn"),
    ]
    (child,) = children(chat)
    first, second = of(chat, child, "session_message")
    assert [first["senderSessionId"], second["senderSessionId"]] == [chat.session, chat.session]
    assert [first["messageId"], second["messageId"]] == list(chat.calls())
    assert second["content"][0]["text"].startswith("More. ")
    assert calls(chat, chat.session) == [("Agent", "completed"), ("SendMessage", "completed")]
    assert chat.client.text(child) == "First run.Second run.Second report."
    await chat.is_well()


@pytest.mark.contract("SA-018", "SA-021")
async def test_air_sees_another_generation_in_a_session_of_its_own(chat_as: ChatAs) -> None:
    chat, told = await resumed("air", chat_as)
    assert told == [
        *("text", "call pending", "2 spawned", "update completed", "text", "2 text", "2 call pending"),
        *("2 asks", "2 answered", "2 update completed", "2 text", "2 completed", "text", "end_turn"),
    ]
    first, second = children(chat)
    assert second == f"{first}:generation:2"
    spawned = chat.updates("subagent_spawned")
    assert [each["name"] for each in spawned] == ["scout", "scout"]
    assert spawned[1]["prompt"] == spawned[1]["task"]
    assert spawned[1]["prompt"].startswith("More. ")
    assert chat.client.text(second) == "Second run.Second report."
    await chat.is_well()


async def test_a_task_that_a_subagent_starts_is_told_in_its_session(chat_as: ChatAs) -> None:
    """Also its end, which follows that of AIR's subagent: Claude Code stops the command with it (INV-H3)."""
    chat = await chat_as("air")
    wait = f"until [ -e {chat.project / 'go'} ]; do sleep 0.05; done; echo over"
    work = agent([bash(wait, run_in_background=True)], ["It runs."])
    await chat.ask(script([work], ["Started."]))
    (child,) = children(chat)
    await chat.client.wait_update("async_task_state_update", since=chat.start)
    (spawned,) = of(chat, child, "async_task_spawned")
    assert spawned["toolCallId"] in {call["toolCallId"] for call in of(chat, child, "tool_call")}
    assert [each["state"] for each in of(chat, child, "async_task_state_update")] == ["stopped"]
    assert not of(chat, chat.session, "async_task_spawned")
    await chat.is_well()


async def test_of_prompts_that_are_taken_up_together_the_last_waits(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    first = chat.prompt(script([slow(12)]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    work = agent([{"delay": 1}, "Child hi."], ["Child report."], background=True)
    with chat.client.one_write():
        second = chat.prompt("Just this.")
        third = chat.prompt(script([work], ["Started."], ["It told me."]))
    for call in (first, second, third):
        assert (await call.result())["stopReason"] == "end_turn"
    answered = (await second.message()).seq
    assert order(chat, answered)[-5:] == ["end_turn", "1 text", "1 idle end_turn", "text", "end_turn"]
    assert chat.text(since=answered) == "It told me."
    await chat.is_well()
