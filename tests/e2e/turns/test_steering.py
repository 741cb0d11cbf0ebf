"""Steering: a message that is added to the turn that runs, at every moment of it."""

import anyio
import pytest

from tests.e2e.chat import SLEEP, WELL, Chat, bash, script, slow, use
from tests.e2e.permissions.kinds import ChatAs
from tests.support.rpc import Call, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]

NOISE = ("commands", "usage", "cost", "update")
INJECTED = {"outcome": "injected"}
COLOR = use(
    "AskUserQuestion",
    questions=[
        {
            "question": "Which color?",
            "header": "Color",
            "multiSelect": False,
            "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cool"}],
        }
    ],
)


def steer(chat: Chat, text: str, idle: str | None = None) -> Call:
    """Send `_session/steering`."""
    params: Json = {"sessionId": chat.session, "prompt": [{"type": "text", "text": text}]}
    if idle is not None:
        params["_meta"] = {"steering": {"idleBehavior": idle}}
    return chat.client.call("_session/steering", params)


async def test_a_turn_ends_with_its_message_although_a_prompt_overtook_it(chat_as: ChatAs) -> None:
    """While the user is asked, a message waits longer than the prompt behind it, which joins the turn."""
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    first = chat.prompt(script([bash("npm test; touch began")], ["Not said."]))
    asked = await chat.client.wait_question(since=chat.start)
    assert await steer(chat, script(["Steered."])).result() == INJECTED
    second = chat.prompt(script(["Second. "]))
    await anyio.sleep(0.3)
    chat.client.answer(asked.body["id"], {"outcome": {"outcome": "selected", "optionId": "allow-once"}})
    answers = [await call.message() for call in (first, second)]
    assert [answer.body["result"]["stopReason"] for answer in answers] == ["end_turn", "end_turn"]
    assert answers[0].seq < answers[1].seq
    assert chat.text() == "Second. Steered."
    assert chat.text(since=answers[0].seq) == "", "nothing comes behind the answers"
    await chat.is_well()


@pytest.mark.contract("TC-065")
async def test_steering_in_a_text_ends_it_and_the_turn_has_one_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    assert await steer(chat, script(["Another way."])).result() == INJECTED
    result = await call.result()
    assert result["stopReason"] == "end_turn"
    text = chat.text()
    assert text.startswith("word-0 ")
    assert text.endswith("Another way.")
    assert "word-99" not in text
    mark = chat.mark
    await chat.is_well()
    assert "word-" not in chat.text(since=mark)


async def test_steering_in_a_tool_ends_it(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call = chat.prompt(script([bash(f"touch began; {SLEEP}; touch ended")], ["No."]))
    await chat.until_made("began")
    assert await steer(chat, script(["Another way."])).result() == INJECTED
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text() == "Another way."
    (shown,) = chat.calls().values()
    assert shown["status"] in {"failed", "completed"}
    assert not (chat.project / "ended").exists()
    await chat.is_well()


async def test_steering_does_not_take_an_open_request_away(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch made")], ["Made."]))
    request = await chat.client.wait_question(since=chat.start)
    assert await steer(chat, script(["And another."])).result() == INJECTED
    assert chat.client.withdrawn[-1:] != [request.body["id"]]
    answer = {"outcome": {"outcome": "selected", "optionId": "allow-once"}}
    chat.client.answer(request.body["id"], answer)
    assert (await call.result())["stopReason"] == "end_turn"
    assert (chat.project / "made").exists()
    assert [each["status"] for each in chat.calls().values()] == ["completed"]
    assert chat.text().endswith("And another.")
    await chat.is_well()


async def test_steering_does_not_take_an_open_form_away(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.handlers["elicitation/create"] = never
    call = chat.prompt(script([COLOR], ["Thanks."]))
    form = await chat.client.wait_question("elicitation/create", since=chat.start)
    assert await steer(chat, script(["And another."])).result() == INJECTED
    chat.client.answer(form.body["id"], {"action": "accept", "content": {"question_0": "Blue"}})
    assert (await call.result())["stopReason"] == "end_turn"
    assert "Blue" in str(chat.requests()[-1].body["messages"])
    assert chat.text().endswith("And another.")
    await chat.is_well()


async def test_steering_without_a_turn_asks_for_a_prompt_or_is_one(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    answer = await steer(chat, script(["Never said."]), "promptRequired").result()
    assert answer == {"outcome": "promptRequired", "reason": "noRunningTurn"}
    assert chat.requests() == []

    assert await steer(chat, script(["By myself."])).result() == {"outcome": "startedNewTurn"}
    await chat.client.wait_update("usage_update", lambda update: "cost" in update, since=chat.start)
    assert chat.text() == "By myself."
    await chat.is_well()


async def test_steering_that_is_not_valid_is_refused(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert (await steer(chat, "x", "perhaps").error()).code == -32602
    empty: Json = {"sessionId": chat.session, "prompt": []}
    assert (await chat.client.call("_session/steering", empty).error()).code == -32602
    await chat.is_well()


async def test_two_messages_are_added_to_one_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    with chat.client.one_write():
        steers = [steer(chat, text) for text in ("Not like that.", script(["Like this."]))]
    assert [await each.result() for each in steers] == [INJECTED, INJECTED]
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text().endswith("Like this.")
    await chat.is_well()


async def test_a_prompt_behind_a_steered_turn_has_its_own_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    first = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    await steer(chat, script([slow(10)])).result()
    second = chat.prompt(script(["Second."]))
    assert (await first.result())["stopReason"] == "end_turn"
    assert (await second.result())["stopReason"] == "end_turn"
    assert (await first.message()).seq < (await second.message()).seq
    assert chat.text().endswith("word-9Second.")
    assert chat.text(since=(await first.message()).seq) == "Second."


async def test_a_cancel_means_the_steered_turn_whole(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    call = chat.prompt(script([slow()]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    await steer(chat, script([slow(90, 0.2)])).result()
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await anyio.sleep(0.3)  # nothing of the added message may come
    assert "word-89" not in chat.text(since=mark)
    mark = chat.mark
    await chat.is_well()
    assert "word-" not in chat.text(since=mark)


async def test_steering_before_the_turn_began(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    with chat.client.one_write():
        call = chat.prompt(script([slow()]))
        steered = steer(chat, script(["Another way."]))
    assert await steered.result() == INJECTED
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text().endswith("Another way.")


async def test_steering_while_the_turn_waits_for_a_subagent(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    told = {
        "description": "Help",
        "prompt": script([{"delay": 2}, "Child."]),
        "subagent_type": "general-purpose",
    }
    call = chat.prompt(script([use("Agent", **told, run_in_background=True)], ["Started."], ["It told me."]))
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    assert await steer(chat, script(["Steered."])).result() == INJECTED
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text().startswith("Started.")
    assert "Steered." in chat.text()
    await chat.is_well()


async def test_a_cancel_of_the_prompt_alone_means_what_was_added_to_it_too(chat_as: ChatAs) -> None:
    """With a question open it waits in Claude Code's queue, which an interrupt alone leaves as it is."""
    chat = await chat_as("plain")
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch made")], ["Not said."]))
    await chat.client.wait_question(since=chat.start)
    assert await steer(chat, script(["Nor this."])).result() == INJECTED
    chat.client.notify("$/cancel_request", {"requestId": call.id})
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()
    assert chat.text() == WELL
    assert not (chat.project / "made").exists()


async def test_a_prompt_that_comes_before_the_added_message_has_an_answer_of_its_own(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    with chat.client.one_write():
        first = chat.prompt(script([slow(10)]))
        steered = steer(chat, script(["Added."]))
    assert await steered.result() == INJECTED
    await chat.client.wait_update("agent_message_chunk", since=chat.start)
    second = chat.prompt(script(["Second."]))
    answers = [await each.message() for each in (first, second)]
    assert [answer.body["result"]["stopReason"] for answer in answers] == ["end_turn", "end_turn"]
    assert answers[0].seq < answers[1].seq
    assert chat.text(since=answers[0].seq).startswith("Second.")
    await chat.client.wait_for(lambda body: "Added." in str(body), since=answers[0].seq)
    await chat.is_well()
