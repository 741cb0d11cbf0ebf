"""What Claude asks of the user beside permissions: questions, MCP forms and links, the refusal dialog.

Each kind has one function that makes the `elicitation/create` request and one that reads the answer;
whatever a client answers in a wrong shape counts as no answer (permissions §8, §9).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bridge.capabilities import ClientCapabilities
from bridge.permissions.ask import Ask
from bridge.permissions.outcome import Failure, Reply

UNANSWERED_CAPABILITY = "ask_user_question_unanswered_v1"
"""Name in the CLI's init frame: it understands which questions stayed open."""
REFUSAL_DIALOG = "refusal_fallback_prompt"
"""The one `dialog_kind` that is declared, to clients with forms alone."""

_SEVERAL = "Please answer the following questions."
_ADD = "Type your own answer to add to your selection above (optional)."
_NOTE = "Type your own answer, or add a note to the option you chose above (optional)."


@dataclass(frozen=True, slots=True)
class Question:
    """One valid question; `key` is the name of its select field."""

    key: str
    text: str
    options: tuple[Mapping[str, object], ...]
    header: str | None = None
    multiple: bool = False

    @property
    def custom_key(self) -> str:
        """The name of the companion field for the user's own words."""
        return f"{self.key}_custom"


def read_questions(ask: Ask) -> tuple[Question, ...]:
    """The questions of an AskUserQuestion that can be asked; the others are left out."""
    listed = ask.use.input.get("questions")
    asked = [each for each in listed if _askable(each)] if isinstance(listed, list) else []
    return tuple(
        Question(
            key=f"question_{index}",
            text=each["question"],
            options=tuple(option for option in each["options"] if _choosable(option)),
            header=_text(each.get("header")),
            multiple=each.get("multiSelect") is True,
        )
        for index, each in enumerate(asked)
    )


def no_valid_question() -> Reply:
    """The answer when nothing can be asked."""
    return _deny("AskUserQuestion called with no valid questions.")


def not_presented() -> Reply:
    """The answer when the client failed to show the questions, or has no forms at all."""
    return _deny("Could not present the question to the user.")


def question_form(
    session: str, call: str, questions: Sequence[Question], client: ClientCapabilities
) -> dict[str, object]:
    """The params of `elicitation/create` for at least one question (QA-003 … QA-009)."""
    single = len(questions) == 1
    properties: dict[str, object] = {}
    for question in questions:
        properties[question.key] = _select_field(question, described=not single)
        properties[question.custom_key] = _custom_field(question, client)
    return {
        "mode": "form",
        "sessionId": session,
        "toolCallId": call,
        "message": questions[0].text if single else _SEVERAL,
        "requestedSchema": {"type": "object", "properties": properties},
    }


def question_reply(
    ask: Ask, questions: Sequence[Question], response: object, *, marks_unanswered: bool
) -> Reply | Failure:
    """What the client's response tells Claude.

    `marks_unanswered`: the CLI's init frame lists `UNANSWERED_CAPABILITY`.
    """
    match _action(response):
        case "accept":
            return _accepted(ask, questions, _content(response), marks_unanswered)
        case "decline":
            marks = {question.text: {"unanswered": "dismissed"} for question in questions}
            return _answer(ask, {}, marks if marks_unanswered else {})
        case _:
            return Failure("Tool use aborted")


def mcp_form(
    session: str, request: Mapping[str, object], client: ClientCapabilities, new_id: str
) -> dict[str, object] | None:
    """The params for an `elicitation` control request of an MCP server; `None` when it must be cancelled.

    `new_id` names a link whose server gave it no id.
    """
    message = request.get("message")
    params: dict[str, object] = {"sessionId": session, "message": message if isinstance(message, str) else ""}
    match request.get("mode") or "form":
        case "form" if client.elicitation_form:
            schema = _object(request.get("requested_schema"))
            properties = _object(schema.get("properties"))
            shape = {**schema, "type": "object", "properties": properties}
            return {"mode": "form", **params, "requestedSchema": shape}
        case "url" if client.elicitation_url and (url := _text(request.get("url"))):
            link = _text(request.get("elicitation_id")) or new_id
            return {"mode": "url", **params, "url": url, "elicitationId": link}
        case _:
            return None


def mcp_reply(response: object) -> Reply:
    """The reply to the MCP server; without a readable response it is a cancel."""
    match _action(response):
        case "accept":
            return Reply({"action": "accept", "content": dict(_content(response))})
        case "decline":
            return Reply({"action": "decline"})
        case _:
            return Reply({"action": "cancel"})


def refusal_form(session: str, request: Mapping[str, object]) -> dict[str, object] | None:
    """The params for a refusal dialog (`request_user_dialog`); `None` for a payload that is not readable.

    A `dialog_kind` that was not declared must get no answer at all, so it never comes here.
    """
    payload = _object(request.get("payload"))
    original, fallback = _text(payload.get("originalModel")), _text(payload.get("fallbackModel"))
    if request.get("dialog_kind") != REFUSAL_DIALOG or original is None or fallback is None:
        return None
    category = _text(payload.get("apiRefusalCategory"))
    guidance = _text(payload.get("guidanceText"))
    reason = f" ({category})" if category else ""
    message = f"{original} declined this request{reason}. Retry with {fallback}?"
    retry = f"Retry with {fallback}"
    choices = [
        {"const": "retry_fallback", "title": retry, "description": f"The session continues on {fallback}."},
        {"const": "cancelled", "title": "Keep the refusal", "description": "You can send a new message."},
    ]
    return {
        "mode": "form",
        "sessionId": session,
        "message": f"{message}\n\n{guidance}" if guidance else message,
        "requestedSchema": {"type": "object", "properties": {"choice": {"type": "string", "oneOf": choices}}},
    }


def refusal_reply(response: object) -> Reply:
    """Only an explicit choice retries; everything else keeps the refusal."""
    if _action(response) == "accept" and _content(response).get("choice") == "retry_fallback":
        return Reply({"behavior": "completed", "result": "retry_fallback"})
    return Reply({"behavior": "cancelled"})


def _askable(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("question"), str):
        return False
    options = value.get("options")
    return isinstance(options, list) and any(_choosable(option) for option in options)


def _choosable(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("label"), str)


def _select_field(question: Question, *, described: bool) -> dict[str, object]:
    field: dict[str, object] = {"type": "array" if question.multiple else "string"}
    if question.header is not None:
        field["title"] = question.header
    if described:
        field["description"] = question.text
    choices = [_choice(option) for option in question.options]
    return field | ({"items": {"anyOf": choices}} if question.multiple else {"oneOf": choices})


def _choice(option: Mapping[str, object]) -> dict[str, object]:
    choice: dict[str, object] = {"const": option["label"], "title": option["label"]}
    if (description := _text(option.get("description"))) is not None:
        choice["description"] = description
    if (preview := _text(option.get("preview"))) is not None:
        choice["_meta"] = {"_claude/askUserQuestionOption": {"preview": preview}}
    return choice


def _custom_field(question: Question, client: ClientCapabilities) -> dict[str, object]:
    field: dict[str, object] = {
        "type": "string",
        "title": "Other",
        "description": _ADD if question.multiple else _NOTE,
    }
    if client.air:
        mark = {"questionId": question.key, "isCustomAnswer": True}
        field["_meta"] = {"jetbrains": {"air": {"version": 1, "customAnswer": mark}}}
    return field


def _accepted(
    ask: Ask, questions: Sequence[Question], content: Mapping[str, object], marks_unanswered: bool
) -> Reply:
    answers: dict[str, str] = {}
    annotations: dict[str, dict[str, str]] = {}
    for question in questions:
        picks = _picks(content.get(question.key))
        custom = _text(content.get(question.custom_key))
        own = custom.strip() if custom else None
        if question.multiple:
            picks = [_quoted(item) for item in (*picks, *([own] if own else []))]
        elif own and picks:
            annotations[question.text] = {"notes": own}
        elif own:
            picks = [own]
        if picks:
            answers[question.text] = ", ".join(picks)
        elif marks_unanswered:
            annotations[question.text] = {"unanswered": "skipped"}
    return _answer(ask, answers, annotations)


def _picks(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [text for each in listed if isinstance(each, str | int | float) and (text := _plain(each))]


def _plain(value: str | float) -> str:
    if isinstance(value, str):
        return value
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole else value)


def _quoted(item: str) -> str:
    return json.dumps(item, ensure_ascii=False) if ", " in item or '"' in item else item


def _answer(ask: Ask, answers: dict[str, str], annotations: Mapping[str, object]) -> Reply:
    answered: dict[str, object] = {**ask.use.input, "answers": answers}
    if annotations:
        answered["annotations"] = dict(annotations)
    return Reply({"behavior": "allow", "updatedInput": answered})


def _deny(message: str) -> Reply:
    return Reply({"behavior": "deny", "message": message})


def _action(response: object) -> object:
    return _object(response).get("action")


def _content(response: object) -> Mapping[str, object]:
    return _object(_object(response).get("content"))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
