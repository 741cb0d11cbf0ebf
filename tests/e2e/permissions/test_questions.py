"""Questions of the model: what each kind of form says, and what the model hears of each answer."""

import json

import pytest

from tests.e2e.chat import Chat, script, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import NOISE, air, statuses, told
from tests.support.rpc import Handler, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def question(text: str, *labels: str, multiple: bool = False, header: str = "Head") -> Json:
    """One question of the model."""
    options = [{"label": label, "description": f"About {label}"} for label in labels]
    return {"question": text, "header": header, "multiSelect": multiple, "options": options}


COLOR = question("Which color?", "Red", "Blue", header="Color")
SIZE = question("Which sizes?", "S", "L", multiple=True, header="Size")


def accept(**content: object) -> Handler:
    """Fill in the form."""
    return lambda _: {"action": "accept", "content": content}


async def answered(chat: Chat, handler: Handler, *questions: Json) -> str:
    """What the model hears when the client answers its questions like this."""
    chat.client.handlers["elicitation/create"] = handler
    result = await chat.ask(script([use("AskUserQuestion", questions=list(questions))], ["Thanks."]))
    assert result["stopReason"] == "end_turn"
    return str(told(chat)[-1]["content"])


@pytest.mark.contract("PM-083", "TC-138", "TC-140")
async def test_a_form_has_a_choice_and_a_field_for_another_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert '"Which color?"="Red"' in await answered(chat, accept(question_0="Red"), COLOR)
    (form,) = chat.asked("elicitation/create")
    (call,) = chat.updates("tool_call")
    assert (form["mode"], form["message"], form["toolCallId"]) == ("form", "Which color?", call["toolCallId"])
    fields = form["requestedSchema"]["properties"]
    assert "required" not in form["requestedSchema"]
    assert fields["question_0"] == {
        "type": "string",
        "title": "Color",
        "oneOf": [
            {"const": "Red", "title": "Red", "description": "About Red"},
            {"const": "Blue", "title": "Blue", "description": "About Blue"},
        ],
    }
    assert fields["question_0_custom"]["title"] == "Other"
    assert "_meta" not in fields["question_0_custom"]
    assert chat.client.tool_call(call["toolCallId"], chat.session)["title"] == "Which color?"
    assert chat.asked() == []
    assert chat.order(without=NOISE) == [
        *("prompt", "call pending", "create", "accept", "update completed", "text", "end_turn")
    ]


@pytest.mark.contract("TC-054", "TC-139")
async def test_air_knows_which_field_is_the_other_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    await answered(chat, accept(question_0="Red"), COLOR)
    (form,) = chat.asked("elicitation/create")
    mark = {"version": 1, "customAnswer": {"questionId": "question_0", "isCustomAnswer": True}}
    custom = form["requestedSchema"]["properties"]["question_0_custom"]
    assert air(custom) == mark
    assert "_askUserQuestionCustomAnswer" not in json.dumps(form)
    assert form["toolCallId"] in chat.calls()
    assert [call["title"] for call in chat.calls().values()] == ["Asking for your input"]


async def test_the_model_hears_a_choice(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    for content, heard in (
        ({"question_0": "Blue"}, '"Which color?"="Blue"'),
        ({"question_0_custom": " Green "}, '"Which color?"="Green"'),
        ({"question_0": "Red", "question_0_custom": " dark "}, '"Which color?"="Red" notes: dark'),
    ):
        assert heard in await answered(chat, accept(**content), COLOR)


async def test_the_model_hears_several_choices(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    for content, heard in (
        ({"question_0": ["S", "L"]}, '"Which sizes?"="S, L"'),
        ({"question_0": ["S"], "question_0_custom": "XL, wide"}, '"Which sizes?"="S, "XL, wide""'),
    ):
        assert heard in (await answered(chat, accept(**content), SIZE)).replace("\\", "")
    form = chat.asked("elicitation/create")[-1]
    field = form["requestedSchema"]["properties"]["question_0"]
    assert field["type"] == "array"
    assert [choice["const"] for choice in field["items"]["anyOf"]] == ["S", "L"]


async def test_two_questions_are_one_form(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    heard = await answered(chat, accept(question_1=["L"]), COLOR, SIZE)
    assert '"Which sizes?"="L"' in heard
    assert "Red" not in heard
    (form,) = chat.asked("elicitation/create")
    assert form["message"] == "Please answer the following questions."
    fields = form["requestedSchema"]["properties"]
    assert [fields[f"question_{n}"]["description"] for n in (0, 1)] == ["Which color?", "Which sizes?"]


async def test_nothing_chosen_and_a_refusal_are_told_apart(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    for handler in (accept(), lambda _: {"action": "decline"}):
        assert "did not answer" in await answered(chat, handler, COLOR)
    hooked = [
        update["_meta"]["claudeCode"].get("toolResponse") for update in chat.updates("tool_call_update")
    ]
    marks = [response["annotations"]["Which color?"] for response in hooked if response]
    assert marks == [{"unanswered": "skipped"}, {"unanswered": "dismissed"}]
    assert statuses(chat) == ["completed", "completed"]


async def test_a_client_that_fails_to_ask_does_not_stop_the_turn(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    chat.client.handlers["elicitation/create"] = never
    call = chat.prompt(script([use("AskUserQuestion", questions=[COLOR])], ["I decide."]))
    form = await chat.client.wait_question("elicitation/create", since=chat.start)
    chat.client.fail(form.body["id"], -32603, "no window")
    assert (await call.result())["stopReason"] == "end_turn"
    assert "Could not present the question to the user." in str(told(chat)[-1]["content"])
    assert statuses(chat) == ["failed"]


@pytest.mark.contract("QA-002")
async def test_a_client_without_forms_is_not_asked(chat_as: ChatAs) -> None:
    chat = await chat_as("bare")
    result = await chat.ask(script([use("AskUserQuestion", questions=[COLOR])], ["I decide."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "I decide."
    assert "AskUserQuestion" not in {tool["name"] for tool in chat.requests()[0].body["tools"]}
    assert chat.asked("elicitation/create") == []
    assert chat.asked() == []


async def test_a_question_and_a_permission_are_open_together(chat_as: ChatAs) -> None:
    """Each answer reaches its own call, whichever Claude Code asks first."""
    chat = await chat_as("plain")
    chat.client.handlers["elicitation/create"] = accept(question_0="Blue")
    ask = use("AskUserQuestion", questions=[COLOR])
    await chat.ask(script([use("Bash", command="npm test"), ask], ["Thanks."]))
    assert len(chat.asked()) == len(chat.asked("elicitation/create")) == 1
    assert "Blue" in str(told(chat)[-1]["content"])
