"""Tools of the real Claude Code under every answer that a client may give."""

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.conftest import NewChat
from tests.support.rpc import ALLOW, ALLOW_ALWAYS, CANCELLED, REJECT, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def status(chat: Chat) -> list[str]:
    """Final status of each call, in the order of their appearance."""
    return [call["status"] for call in chat.calls().values()]


def offered(question: Json, kind: str) -> str:
    """The id of the offered option of a kind."""
    options = question["params"]["options"]
    return next(str(option["optionId"]) for option in options if option["kind"] == kind)


def selected(option: str) -> Json:
    """The answer that selects an option."""
    return {"outcome": {"outcome": "selected", "optionId": option}}


def results(chat: Chat) -> list[Json]:
    """The tool results that the model got."""
    found = []
    for message in chat.requests()[-1].body["messages"]:
        if message["role"] == "user" and isinstance(message["content"], list):
            found += [block for block in message["content"] if block["type"] == "tool_result"]
    return found


@pytest.mark.contract("PM-003", "PM-008", "PM-034", "PM-035", "PM-044")
async def test_an_allowed_tool_runs_and_its_request_names_a_known_call(chat: Chat) -> None:
    await chat.ask(script(["I touch.", bash("touch made")], ["Done."]))
    assert (chat.project / "made").exists()
    (asked,) = chat.asked()
    (known,) = chat.updates("tool_call")
    assert asked["toolCall"]["toolCallId"] == known["toolCallId"]
    parts = {"toolCallId", "name", "status", "rawInput", "title", "kind", "content", "locations", "_meta"}
    assert asked["toolCall"].keys() == parts
    assert asked["toolCall"]["status"] == "pending"
    assert asked["toolCall"]["rawInput"] == {"command": "touch made"}
    assert asked["toolCall"]["_meta"]["claudeCode"]["toolName"] == "Bash"
    assert [option["kind"] for option in asked["options"]] == ["allow_once", "reject_once"]
    assert status(chat) == ["completed"]
    await chat.ask(script([bash("touch made")], ["Done."]))
    assert len(chat.asked()) == 2


@pytest.mark.contract("PM-042", "PM-050", "PM-106")
async def test_a_rejected_tool_does_not_run_and_the_turn_goes_on(chat: Chat) -> None:
    chat.client.on_permission(REJECT)
    result = await chat.ask(script([bash("touch never")], ["A pity."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "A pity."
    assert status(chat) == ["failed"]
    assert not (chat.project / "never").exists()
    (told,) = results(chat)
    assert told["is_error"]


@pytest.mark.contract("PM-043", "PM-104")
async def test_a_cancelled_question_stops_the_tool_alone(chat: Chat) -> None:
    chat.client.on_permission(CANCELLED)
    result = await chat.ask(script([bash("touch never")], ["I go on."]))
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "I go on."
    assert status(chat) == ["failed"]
    assert not (chat.project / "never").exists()


async def test_the_tools_of_one_message_are_decided_one_by_one(chat: Chat) -> None:
    answers = [REJECT, ALLOW]
    chat.client.on_permission(lambda params: answers.pop(0)(params))
    await chat.ask(script([bash("touch a"), bash("touch b; echo out-b")], ["Done."]))
    assert status(chat) == ["failed", "completed"]
    assert not (chat.project / "a").exists()
    assert (chat.project / "b").exists()
    refused, ran = results(chat)
    assert refused["is_error"]
    assert "out-b" in str(ran["content"])


@pytest.mark.contract("PM-010")
async def test_questions_that_are_open_together_reach_their_own_tools(chat: Chat) -> None:
    """Answered in reverse order, as far as Claude Code asks them together."""
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch a"), bash("touch b")], ["Done."]))
    first = await chat.client.wait_question(since=chat.start)
    commands = {"touch a": "reject_once", "touch b": "allow_once"}
    chat.client.on_permission(
        lambda params: selected(offered({"params": params}, commands[params["toolCall"]["title"]]))
    )
    open_now = list(chat.client.questions.values())
    for question in reversed(open_now or [first.body]):
        kind = commands[question["params"]["toolCall"]["title"]]
        chat.client.answer(question["id"], selected(offered(question, kind)))
    assert (await call.result())["stopReason"] == "end_turn"
    assert [path.name for path in chat.project.iterdir()] == ["b"]


@pytest.mark.contract("PM-045", "PM-069")
async def test_always_is_not_asked_again_in_its_scope(chat: Chat, new_chat: NewChat) -> None:
    chat.client.on_permission(ALLOW_ALWAYS)
    for n in range(2):
        write = use("Write", file_path=str(chat.project / f"f{n}"), content="x")
        await chat.ask(script([write], ["Done."]))
        assert (chat.project / f"f{n}").exists()
    assert len(chat.asked()) == 1

    other = await new_chat()
    await other.ask(script([use("Write", file_path=str(other.project / "f"), content="x")], ["Done."]))
    assert len(other.asked()) == 1


# ── answers that make no sense ────────────────────────────────────────────────


NONSENSE: list[Json] = [
    selected("never-offered"),
    {"outcome": {"outcome": "selected"}},
    {"outcome": {"outcome": "perhaps"}},
    {"outcome": None},
    {"bogus": 1},
    {},
]


@pytest.mark.contract("PM-007", "PM-107")
async def test_an_answer_that_makes_no_sense_grants_nothing(chat: Chat) -> None:
    for n, answer in enumerate(NONSENSE):
        mark = chat.mark
        chat.client.on_permission(lambda _, answer=answer: answer)  # type: ignore[misc]  # a default binds it
        result = await chat.ask(script([bash(f"touch never{n}")], [f"I go on {n}."]))
        assert result["stopReason"] == "end_turn"
        assert chat.text(since=mark) == f"I go on {n}."
    assert status(chat) == ["failed"] * len(NONSENSE)
    assert [*chat.project.iterdir()] == []


async def test_an_error_for_an_answer_is_told_to_the_model(chat: Chat) -> None:
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch never")], ["I go on."]))
    question = await chat.client.wait_question(since=chat.start)
    chat.client.fail(question.body["id"], -32800, "the editor went away")
    assert (await call.result())["stopReason"] == "end_turn"
    assert status(chat) == ["failed"]
    assert not (chat.project / "never").exists()
    (told,) = results(chat)
    assert "the editor went away" in str(told["content"])


@pytest.mark.contract("PM-107")
async def test_the_second_answer_to_a_question_changes_nothing(chat: Chat) -> None:
    chat.client.on_permission(never)
    call = chat.prompt(script([bash("touch never")], ["I go on."]))
    question = (await chat.client.wait_question(since=chat.start)).body
    with chat.client.one_write():
        chat.client.answer(question["id"], selected(offered(question, "reject_once")))
        chat.client.answer(question["id"], selected(offered(question, "allow_once")))
        chat.client.answer(4711, selected(offered(question, "allow_once")))
    assert (await call.result())["stopReason"] == "end_turn"
    assert not (chat.project / "never").exists()
    await chat.is_well()
