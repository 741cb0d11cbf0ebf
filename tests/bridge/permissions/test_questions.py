"""Questions, MCP forms and links, and the refusal dialog: what is asked and what an answer means."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.permissions.outcome import Failure, Reply
from bridge.permissions.questions import (
    mcp_form,
    mcp_reply,
    no_valid_question,
    not_presented,
    question_form,
    question_reply,
    read_questions,
    refusal_form,
    refusal_reply,
)
from tests.bridge.permissions.build import ask_for
from tests.support.oracle import check_outgoing

AIR = ClientCapabilities(air=True, elicitation_form=True)
PLAIN = ClientCapabilities(elicitation_form=True, elicitation_url=True)

COLOR = {
    "question": "Which color?",
    "header": "Color",
    "options": [
        {"label": "Red", "description": "warm"},
        {"label": "Blue", "description": "cold", "preview": "<b>"},
    ],
    "multiSelect": False,
}
SIZES = {
    "question": "Which sizes?",
    "header": "Size",
    "options": [{"label": "S", "description": "s"}, {"label": "L", "description": "l"}],
    "multiSelect": True,
}
COLORS = [
    {"const": "Red", "title": "Red", "description": "warm"},
    {
        "const": "Blue",
        "title": "Blue",
        "description": "cold",
        "_meta": {"_claude/askUserQuestionOption": {"preview": "<b>"}},
    },
]
NOTE = "Type your own answer, or add a note to the option you chose above (optional)."
ADD = "Type your own answer to add to your selection above (optional)."


def form(client: ClientCapabilities, *questions: object) -> dict[str, object]:
    ask = ask_for("AskUserQuestion", {"questions": list(questions)})
    return valid(question_form("s", ask.use.call, read_questions(ask), client))


def valid(params: dict[str, object]) -> dict[str, object]:
    """The same params, checked against the protocol."""
    check_outgoing({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": params}, {})
    return params


def reply(response: object, *questions: object, marks: bool = False) -> Reply | Failure:
    ask = ask_for("AskUserQuestion", {"questions": list(questions)})
    return question_reply(ask, read_questions(ask), response, marks_unanswered=marks)


def told(content: object, *questions: object, marks: bool = False) -> tuple[object, object]:
    """The answers and the annotations that Claude gets for an accepted form."""
    answer = reply({"action": "accept", "content": content}, *questions, marks=marks)
    assert isinstance(answer, Reply)
    assert set(answer.payload) == {"behavior", "updatedInput"}
    updated = answer.payload["updatedInput"]
    assert isinstance(updated, dict)
    assert updated["questions"] == list(questions)
    return updated["answers"], updated.get("annotations")


@pytest.mark.contract("QA-001", "QA-003", "QA-004", "QA-005", "QA-006", "QA-007", "QA-009")
def test_one_question_for_air() -> None:
    assert form(AIR, COLOR) == {
        "mode": "form",
        "sessionId": "s",
        "toolCallId": "toolu_1",
        "message": "Which color?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "question_0": {"type": "string", "title": "Color", "oneOf": COLORS},
                "question_0_custom": {
                    "type": "string",
                    "title": "Other",
                    "description": NOTE,
                    "_meta": {
                        "jetbrains": {
                            "air": {
                                "version": 1,
                                "customAnswer": {"questionId": "question_0", "isCustomAnswer": True},
                            }
                        }
                    },
                },
            },
        },
    }


@pytest.mark.contract("QA-003", "QA-008", "TC-008")
def test_several_questions_for_another_client() -> None:
    params = form(PLAIN, COLOR, SIZES)

    assert params["message"] == "Please answer the following questions."
    assert params["requestedSchema"] == {
        "type": "object",
        "properties": {
            "question_0": {
                "type": "string",
                "title": "Color",
                "description": "Which color?",
                "oneOf": COLORS,
            },
            "question_0_custom": {"type": "string", "title": "Other", "description": NOTE},
            "question_1": {
                "type": "array",
                "title": "Size",
                "description": "Which sizes?",
                "items": {
                    "anyOf": [
                        {"const": "S", "title": "S", "description": "s"},
                        {"const": "L", "title": "L", "description": "l"},
                    ]
                },
            },
            "question_1_custom": {"type": "string", "title": "Other", "description": ADD},
        },
    }


BARE = {"question": "Go?", "options": [{"label": "Yes"}]}


def test_absent_texts_are_left_out() -> None:
    schema = form(PLAIN, BARE | {"header": ""})["requestedSchema"]
    assert isinstance(schema, dict)
    assert schema["properties"]["question_0"] == {
        "type": "string",
        "oneOf": [{"const": "Yes", "title": "Yes"}],
    }


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "Which?",
        {},
        {"question": 7, "options": [{"label": "A"}]},
        {"question": "Q", "options": []},
        {"question": "Q", "options": "A"},
        {"question": "Q", "options": [None, {"label": 7}]},
        {"options": [{"label": "A"}]},
    ],
)
def test_a_question_that_cannot_be_asked_is_left_out(bad: object) -> None:
    params = form(PLAIN, bad, BARE)
    assert params["message"] == "Go?"
    assert list(params["requestedSchema"]["properties"]) == ["question_0", "question_0_custom"]  # type: ignore[index]  # it is a dict


@pytest.mark.parametrize("questions", [None, {}, "x", [], [{}]])
def test_without_a_question_nothing_is_asked(questions: object) -> None:
    assert read_questions(ask_for("AskUserQuestion", {"questions": questions})) == ()
    assert no_valid_question().payload == {
        "behavior": "deny",
        "message": "AskUserQuestion called with no valid questions.",
    }


def test_a_client_that_cannot_show_questions_denies_them() -> None:
    assert not_presented().payload == {
        "behavior": "deny",
        "message": "Could not present the question to the user.",
    }


@pytest.mark.parametrize(
    ("content", "answers", "annotations"),
    [
        ({"question_0": "Red"}, {"Which color?": "Red"}, None),
        ({"question_0_custom": " green "}, {"Which color?": "green"}, None),
        (
            {"question_0": "Red", "question_0_custom": " note "},
            {"Which color?": "Red"},
            {"Which color?": {"notes": "note"}},
        ),
        ({"question_0": ["Red", "Blue"]}, {"Which color?": "Red, Blue"}, None),
        ({"question_0": 3}, {"Which color?": "3"}, None),
        ({"question_0": 3.0}, {"Which color?": "3"}, None),
        ({"question_0": 0.5}, {"Which color?": "0.5"}, None),
        ({"question_0": True}, {"Which color?": "true"}, None),
        ({"question_0": ""}, {}, None),
        ({"question_0": {"label": "Red"}}, {}, None),
        ({"question_0": [None, {}, ["Red"]], "question_0_custom": 7}, {}, None),
        ({"question_0_custom": "  "}, {}, None),
        ({"question_9": "Red"}, {}, None),
        ({}, {}, None),
        (None, {}, None),
        ([], {}, None),
        ("Red", {}, None),
    ],
)
def test_answers_to_a_single_choice(content: object, answers: object, annotations: object) -> None:
    assert told(content, COLOR) == (answers, annotations)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ({"question_0": ["S", "L"], "question_0_custom": "XL, wide"}, 'S, L, "XL, wide"'),
        ({"question_0": ["S", 'the "big" one']}, 'S, "the \\"big\\" one"'),
        ({"question_0": ["größer, ü"]}, '"größer, ü"'),
        ({"question_0": "S"}, "S"),
        ({"question_0_custom": "XL"}, "XL"),
    ],
)
def test_answers_to_a_multiple_choice(content: object, answer: str) -> None:
    assert told(content, SIZES) == ({"Which sizes?": answer}, None)


def test_nothing_chosen_is_no_answer() -> None:
    assert told({"question_0": []}, SIZES) == ({}, None)


def test_open_questions_are_marked_for_a_cli_that_knows_the_mark() -> None:
    assert told({"question_0": "Red"}, COLOR, SIZES, marks=True) == (
        {"Which color?": "Red"},
        {"Which sizes?": {"unanswered": "skipped"}},
    )


def test_a_declined_form_tells_claude_that_it_was_skipped() -> None:
    plain = reply({"action": "decline"}, COLOR)
    marked = reply({"action": "decline", "content": {"question_0": "Red"}}, COLOR, marks=True)

    assert plain == Reply({"behavior": "allow", "updatedInput": {"questions": [COLOR], "answers": {}}})
    assert marked == Reply(
        {
            "behavior": "allow",
            "updatedInput": {
                "questions": [COLOR],
                "answers": {},
                "annotations": {"Which color?": {"unanswered": "dismissed"}},
            },
        }
    )


@pytest.mark.parametrize(
    "response", [{"action": "cancel"}, {"action": "maybe"}, {"action": ["accept"]}, {}, None, [], "accept"]
)
def test_any_other_response_aborts(response: object) -> None:
    assert reply(response, COLOR) == Failure("Tool use aborted")


@given(
    st.dictionaries(
        st.sampled_from(["question_0", "question_0_custom", "question_1", "question_1_custom"]),
        st.none() | st.booleans() | st.text() | st.integers() | st.floats() | st.lists(st.text() | st.none()),
    ),
    st.booleans(),
)
def test_every_question_is_answered_or_open(content: dict[str, Any], marks: bool) -> None:
    answers, annotations = told(content, COLOR, SIZES, marks=marks)
    assert isinstance(answers, dict)
    marked = annotations if isinstance(annotations, dict) else {}
    for question in ("Which color?", "Which sizes?"):
        assert answers.get(question, "absent") != ""
        assert marks == ("unanswered" in marked.get(question, {})) or question in answers


SCHEMA = {"properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(
    ("request_fields", "params"),
    [
        (
            {"message": "Who?", "mode": "form", "requested_schema": SCHEMA},
            {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA | {"type": "object"}},
        ),
        (
            {"message": "Who?", "requested_schema": {"type": "string", "properties": 7}},
            {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
        ),
        (
            {"mode": "form"},
            {"mode": "form", "message": "", "requestedSchema": {"type": "object", "properties": {}}},
        ),
        (
            {"message": "Go", "mode": "url", "url": "https://a.example", "elicitation_id": "e1"},
            {"mode": "url", "message": "Go", "url": "https://a.example", "elicitationId": "e1"},
        ),
        (
            {"message": "Go", "mode": "url", "url": "https://a.example"},
            {"mode": "url", "message": "Go", "url": "https://a.example", "elicitationId": "new"},
        ),
        ({"message": "Go", "mode": "url"}, None),
        ({"message": "Go", "mode": "url", "url": " "}, None),
        ({"message": "Go", "mode": "voice"}, None),
        ({"message": "Go", "mode": ["form"]}, None),
    ],
)
def test_what_an_mcp_server_asks(request_fields: dict[str, Any], params: dict[str, Any] | None) -> None:
    made = mcp_form("s", request_fields, PLAIN, "new")
    assert made == (None if params is None else {"sessionId": "s", **params})
    if made is not None:
        valid(made)


@pytest.mark.parametrize("mode", ["form", "url"])
def test_an_mcp_mode_that_the_client_lacks_is_not_asked(mode: str) -> None:
    request = {"message": "Go", "mode": mode, "url": "https://a.example"}
    assert mcp_form("s", request, ClientCapabilities(), "new") is None


@pytest.mark.parametrize(
    ("response", "payload"),
    [
        ({"action": "accept", "content": {"name": "Bob"}}, {"action": "accept", "content": {"name": "Bob"}}),
        ({"action": "accept", "content": 7}, {"action": "accept", "content": {}}),
        ({"action": "accept"}, {"action": "accept", "content": {}}),
        ({"action": "decline"}, {"action": "decline"}),
        ({"action": "cancel"}, {"action": "cancel"}),
        ({"action": "later"}, {"action": "cancel"}),
        (None, {"action": "cancel"}),
    ],
)
def test_what_an_mcp_server_is_told(response: object, payload: dict[str, Any]) -> None:
    assert mcp_reply(response) == Reply(payload)


DIALOG = {
    "dialog_kind": "refusal_fallback_prompt",
    "payload": {"originalModel": "Opus", "fallbackModel": "Sonnet"},
}


def test_the_refusal_dialog_offers_the_other_model() -> None:
    payload = DIALOG["payload"] | {"apiRefusalCategory": "cyber", "guidanceText": "Be careful."}  # type: ignore[operator]  # a dict
    params = refusal_form("s", {"dialog_kind": "refusal_fallback_prompt", "payload": payload})

    assert params is not None
    assert valid(params) == {
        "mode": "form",
        "sessionId": "s",
        "message": "Opus declined this request (cyber). Retry with Sonnet?\n\nBe careful.",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "choice": {
                    "type": "string",
                    "oneOf": [
                        {
                            "const": "retry_fallback",
                            "title": "Retry with Sonnet",
                            "description": "The session continues on Sonnet.",
                        },
                        {
                            "const": "cancelled",
                            "title": "Keep the refusal",
                            "description": "You can send a new message.",
                        },
                    ],
                }
            },
        },
    }
    plain = refusal_form("s", DIALOG)
    assert plain is not None
    assert plain["message"] == "Opus declined this request. Retry with Sonnet?"


@pytest.mark.parametrize(
    "request_fields",
    [
        {},
        {"dialog_kind": "other", "payload": DIALOG["payload"]},
        {"dialog_kind": "refusal_fallback_prompt"},
        {"dialog_kind": "refusal_fallback_prompt", "payload": {"originalModel": "Opus"}},
        {"dialog_kind": "refusal_fallback_prompt", "payload": {"originalModel": 1, "fallbackModel": "S"}},
    ],
)
def test_an_unreadable_dialog_is_not_shown(request_fields: dict[str, Any]) -> None:
    assert refusal_form("s", request_fields) is None


@pytest.mark.parametrize(
    ("response", "payload"),
    [
        (
            {"action": "accept", "content": {"choice": "retry_fallback"}},
            {"behavior": "completed", "result": "retry_fallback"},
        ),
        ({"action": "accept", "content": {"choice": "cancelled"}}, {"behavior": "cancelled"}),
        ({"action": "accept", "content": {}}, {"behavior": "cancelled"}),
        ({"action": "accept"}, {"behavior": "cancelled"}),
        ({"action": "decline", "content": {"choice": "retry_fallback"}}, {"behavior": "cancelled"}),
        (None, {"behavior": "cancelled"}),
    ],
)
def test_only_an_explicit_choice_retries(response: object, payload: dict[str, Any]) -> None:
    assert refusal_reply(response) == Reply(payload)
