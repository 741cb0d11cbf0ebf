"""How subagents are stopped: by a cancel, by the loss of the process, by the close of the session."""

from collections.abc import Callable

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.children.words import BEGAN, agent, calls, children, order, stuck
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.turns.losses import kill_claude
from tests.support.rpc import Call, Json, never

pytestmark = [pytest.mark.anyio, pytest.mark.live]


def saying(text: str) -> Callable[[Json], bool]:
    """An update that says this."""
    return lambda update: text in update["content"]["text"]


async def started(chat: Chat, *, background: bool) -> Call:
    """A prompt whose subagent has begun to work."""
    call = chat.prompt(script(["I look. ", stuck(background=background)], ["Started."], ["No."]))
    await chat.until_made("began")
    if background:
        await chat.client.wait_update("agent_message_chunk", saying("Started."), since=chat.start)
    return call


@pytest.mark.contract("SA-050", "SA-051", "SA-052", "SA-043", "SA-056", "CY-019")
async def test_a_cancel_leaves_the_end_to_claude_code(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    call = await started(chat, background=False)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    told = [word for word in order(chat, mark) if word != "1 running"]  # the answer before the cancel
    assert told == ["cancel", "update failed", "1 idle cancelled", "1 update failed", "cancelled"]
    await chat.is_well()
    assert "No." not in chat.client.text(children(chat)[0])


@pytest.mark.contract("SA-024", "SA-027")
async def test_a_cancel_ends_every_subagent_of_air_after_its_calls(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = await started(chat, background=False)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    assert order(chat, mark) == ["cancel", "1 update failed", "1 cancelled", "cancelled"]
    mark = chat.mark
    await chat.is_well()
    assert order(chat, mark) == ["text", "end_turn"], "nothing follows its end"


@pytest.mark.contract("SA-088", "SA-057", "SA-051")
async def test_a_cancel_answers_a_turn_that_waits_and_the_end_follows(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    call = await started(chat, background=True)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.client.wait_update(
        "subagent_update", lambda u: u.get("state", {}).get("stopReason") == "cancelled", since=mark
    )
    await chat.is_well()
    told = [word for word in order(chat, mark) if word not in {"1 running", "text", "end_turn"}]
    assert told == ["cancel", "cancelled", "1 idle cancelled", "1 update failed"]


@pytest.mark.contract("SA-088", "SA-024")
async def test_air_hears_the_end_before_the_answer(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    call = await started(chat, background=True)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()
    assert order(chat, mark) == [
        "cancel",
        "1 update failed",
        "1 cancelled",
        "cancelled",
        "text",
        "end_turn",
    ]


@pytest.mark.contract("SA-053", "SA-084")
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_a_cancel_withdraws_what_a_subagent_asks(background: bool, chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    chat.client.on_permission(never)
    work = agent([bash("npm test; touch child")], ["No."], background=background)
    call = chat.prompt(script([work], ["Started."], ["No."]))
    await chat.client.wait_question(since=chat.start)
    if background:
        await chat.client.wait_update("agent_message_chunk", saying("Started."), since=chat.start)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.client.wait_update(
        "subagent_update", lambda u: u.get("state", {}).get("state") == "idle", since=mark
    )
    await chat.is_well()
    told = [word for word in order(chat, mark) if word.startswith("1 ")]
    assert told == ["1 withdrawn", "1 idle cancelled", "1 update failed"], "no `running` in between"
    assert not (chat.project / "child").exists()


@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_in_the_form_of_air_too(background: bool, chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    chat.client.on_permission(never)
    work = agent([bash("npm test; touch child")], ["No."], background=background)
    call = chat.prompt(script([work], ["Started."], ["No."]))
    await chat.client.wait_question(since=chat.start)
    if background:
        await chat.client.wait_update("agent_message_chunk", saying("Started."), since=chat.start)
    mark = chat.mark
    chat.cancel()
    assert (await call.result())["stopReason"] == "cancelled"
    await chat.is_well()
    assert order(chat, mark) == [
        *("cancel", "1 withdrawn", "1 update failed", "1 cancelled", "cancelled", "text", "end_turn")
    ]
    assert not (chat.project / "child").exists()


@pytest.mark.contract("SA-047", "SA-013")
@pytest.mark.parametrize(
    ("kind", "end"), [("rfd", ["1 update failed", "1 idle"]), ("air", ["1 update failed", "1 failed"])]
)
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_a_subagent_ends_with_its_process(
    background: bool, kind: str, end: list[str], chat_as: ChatAs
) -> None:
    chat = await chat_as(kind)
    command = bash(f"touch began; until [ -e {chat.project / 'go'} ]; do sleep 0.05; done")
    work = agent(["Child hi.", command], ["No."], background=background)
    call = chat.prompt(script([work], ["Started."], ["No."]))
    await chat.until_made("began")
    mark = chat.mark
    await kill_claude(chat)
    await call.message()
    (chat.project / "go").touch()  # the command itself outlives a process that was killed
    told = [word for word in order(chat, mark) if word.startswith("1 ") and word != "1 running"]
    assert told == end
    await chat.is_well()


@pytest.mark.contract("SA-065")
async def test_its_session_outlives_the_process(chat_as: ChatAs) -> None:
    """Whoever was asked before a loss can be asked after it: the conversation is the same."""
    chat = await chat_as("rfd")
    await chat.ask(script([agent(["First run."], name="scout")], ["All done."]))
    (child,) = children(chat)
    await kill_claude(chat)
    await chat.is_well()
    mark = chat.mark
    work = use("SendMessage", to=child, message=f"More. {script([{'delay': 1}, 'Again.'])}", summary="more")
    await chat.ask(script([work], ["Sent."], ["It told me."]))
    assert children(chat) == [child]
    assert order(chat, mark) == [
        *("call pending", "1 running", "1 message", "update completed", "text", "1 text"),
        *("1 idle end_turn", "text", "end_turn"),
    ]
    assert chat.client.text(child) == "First run.Again."


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ("rfd", ["update failed", "1 update failed", "1 idle"]),
        ("air", ["1 update failed", "1 cancelled"]),
    ],
)
async def test_a_close_ends_it_first(kind: str, end: list[str], chat_as: ChatAs) -> None:
    chat = await chat_as(kind)
    call = await started(chat, background=False)
    mark = chat.mark
    assert await chat.client.request("session/close", {"sessionId": chat.session}) == {}
    assert (await call.result())["stopReason"] == "cancelled"
    told = [word for word in order(chat, mark) if word != "1 running"]
    assert told == [*end, "cancelled"]


@pytest.mark.contract("CY-010")
async def test_a_cancel_of_a_cycle_ends_the_command_of_its_subagent(chat_as: ChatAs) -> None:
    chat = await chat_as("rfd")
    go = chat.project / "go"
    wait = bash(f"until [ -e {go} ]; do sleep 0.05; done; echo over", run_in_background=True)
    await chat.ask(script([wait], ["Started."], [agent([bash(BEGAN)], ["No."])], ["No."]))
    mark = chat.mark
    go.touch()
    await chat.until_made("began")
    chat.cancel()
    await chat.client.wait_update(
        "subagent_update", lambda u: u.get("state", {}).get("stopReason") == "cancelled", since=mark
    )
    await chat.is_well()
    (child,) = children(chat)
    assert calls(chat, child) == [("Bash", "failed")]
    told = order(chat, mark)
    assert told.index("1 idle cancelled") < told.index("1 update failed")
    assert told.count("1 update failed") == 1
