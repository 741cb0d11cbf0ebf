"""A conversation with every kind of content, closed, and loaded by a new agent: it looks as it did live."""

from pathlib import Path

import anyio
import pytest

from bridge.demo.api import ScriptedApi
from bridge.demo.script import GREETING
from tests.conftest import StartAgent
from tests.e2e.chat import SLEEP, bash, claudes, script, use
from tests.e2e.sessions.traffic import INTERRUPTED, load, texts, told
from tests.support.acp_client import AcpClient
from tests.support.rpc import ALLOW, HANG, REJECT, Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
BLOCKS: list[Json] = [
    {"type": "text", "text": "See these."},
    {"type": "image", "mimeType": "image/png", "data": PIXEL},
    {"type": "resource_link", "uri": "file:///x/a%20b.txt", "name": "a b.txt"},
    {"type": "resource", "resource": {"uri": "file:///n.md", "mimeType": "text/markdown", "text": "words"}},
]


def decide(params: Json) -> Json | None:
    """Refuse what is forbidden, allow the rest."""
    return (REJECT if "forbidden" in str(params["toolCall"]) else ALLOW)(params)


def prompts(project: Path) -> list[str | list[Json]]:
    """One turn for each kind of content; the last needs a cancel."""
    file, other = str(project / "a.txt"), str(project / "b.txt")
    task = {"subject": "First", "description": "The first.", "activeForm": "Doing it"}
    return [
        "Work. "
        + script(
            [{"thinking": "Let me see."}, "I look.", use("Read", file_path=file)],
            [use("Edit", file_path=file, old_string="two", new_string="TWO")],
            [use("Write", file_path=other, content="new\n"), bash("echo hi", description="Say hi")],
            ["Done."],
        ),
        "Refused. " + script([bash("touch forbidden")], ["It was refused."]),
        BLOCKS,
        "/greet Bob",
        "Plan. "
        + script(
            [use("TaskCreate", **task)], [use("TaskUpdate", taskId="1", status="completed")], ["Planned."]
        ),
        "Long. " + script(["Running.", bash(f"touch began; {SLEEP}")]),
    ]


def furnish(project: Path) -> None:
    """What the conversation is about: a file, and a command of the project."""
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    commands = project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text(
        f"---\ndescription: Greet\n---\nGreet $ARGUMENTS. {script(['Hello.'])}"
    )


async def until_made(path: Path) -> None:
    with anyio.fail_after(HANG):
        while not await anyio.Path(path).exists():  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)


async def converse(client: AcpClient, session: str) -> None:
    """Play the whole conversation and close the session."""
    project = client.sandbox.project
    client.on_permission(decide)
    *whole, cut = prompts(project)
    for prompt in whole:
        assert (await client.prompt(session, prompt).result())["stopReason"] == "end_turn"
    call = client.prompt(session, cut)
    await until_made(project / "began")
    client.cancel(session)
    assert (await call.result())["stopReason"] == "cancelled"
    await client.request("session/close", {"sessionId": session})


@pytest.mark.contract("SE-021", "SE-061", "SE-062", "SE-022", "SE-004", "NG-003")
@pytest.mark.parametrize("kind", ["bare", "zed", "rfd", "air"])
async def test_a_loaded_conversation_looks_as_it_did_live(
    kind: str, start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi
) -> None:
    furnish(sandbox.project)
    first = await start_agent()
    await first.initialize(kind)
    session = await first.new_session()
    await converse(first, session)
    live = told(first, session)

    second = await start_agent()
    await second.initialize(kind)
    call = second.call("session/load", {"sessionId": session, "cwd": str(sandbox.project), "mcpServers": []})
    answered = (await call.message()).seq
    replayed = told(second, session, until=answered)

    assert replayed == live
    assert [text.partition(" ")[0] for text in texts(live, "user_message")] == [
        *(
            "Work.",
            "Refused.",
            "See",
            "[@a",
            "[@n.md](file:///n.md)",
            "\n<context",
            "/greet",
            "Plan.",
            "Long.",
        )
    ]
    assert texts(live, "agent_message") == [
        *("I look.", "Done.", "It was refused.", GREETING, "Hello.", "Planned.", "Running.")
    ]
    assert second.text(session, "user_message_chunk").endswith(INTERRUPTED)
    assert {call["status"] for call in replayed if call["is"] == "call"} == {"completed", "failed"}
    if kind != "air":
        assert "jetbrains" not in str([message.body for message in second.messages])

    await second.wait_update("available_commands_update", since=answered)
    mark = len(second.messages)
    processes = claudes(second).keys()
    await load(second, session)
    assert told(second, session, since=mark) == replayed, "a second time tells the same, ids included"
    assert claudes(second).keys() == processes

    await second.prompt(session, script(["Still here."])).result()
    asked = str(api.requests[-1].body["messages"])
    for words in ("Work.", "I look.", "It was refused.", "Hello.", "Planned.", "Running.", INTERRUPTED):
        assert words in asked
    assert [u["sessionUpdate"] for u in second.updates(session, since=answered)].count("plan") >= 1


@pytest.fixture
async def two(start_agent: StartAgent) -> tuple[AcpClient, AcpClient]:
    """Two agents at the same place, one after the other in use."""
    clients = (await start_agent(), await start_agent())
    for client in clients:
        await client.initialize("plain")
    return clients


@pytest.mark.contract("SE-065")
async def test_commands_of_the_agent_itself_leave_nothing_in_the_history(
    two: tuple[AcpClient, AcpClient],
) -> None:
    """And none of the tags in which Claude Code stores them (C40)."""
    first, second = two
    session = await first.new_session()
    await first.prompt(session, script(["Before."])).result()
    for command in ("/context", "/usage", "/model sonnet", "/mcp"):
        mark = len(first.messages)
        await first.prompt(session, command).result()
        assert first.text(session, since=mark).strip(), f"{command} was answered"
    await first.prompt(session, script(["After."])).result()
    await first.request("session/close", {"sessionId": session})

    await load(second, session)
    entries = told(second, session)
    assert [entry["is"] for entry in entries] == ["user_message", "agent_message"] * 2
    assert texts(entries, "agent_message") == ["Before.", "After."]


async def test_a_filler_behind_an_interruption_is_not_shown_as_an_answer(
    start_agent: StartAgent, sandbox: Sandbox
) -> None:
    """Claude Code stores one when a conversation that was interrupted goes on; nobody saw it live."""
    session = ""
    for turn in range(2):
        client = await start_agent()
        await client.initialize("bare")
        if turn == 0:
            session = await client.new_session()
            call = client.prompt(session, script(["Running.", bash(f"touch began; {SLEEP}")]))
            await until_made(sandbox.project / "began")
            client.cancel(session)
            await call.result()
        else:
            await load(client, session)
            await client.prompt(session, script(["Gone on."])).result()
        await client.request("session/close", {"sessionId": session})
    last = await start_agent()
    await last.initialize("bare")
    await load(last, session)
    assert texts(told(last, session), "agent_message") == ["Running.", "Gone on."]


async def test_a_subagent_leaves_its_call_and_its_report(two: tuple[AcpClient, AcpClient]) -> None:
    """A client without subagents sees the call; what the child did is in a transcript of its own."""
    first, second = two
    session = await first.new_session()
    work = script([{"thinking": "Hm."}, bash("echo child")], ["Child done."])
    told_to = {"description": "Help", "prompt": work, "subagent_type": "general-purpose"}
    call = use("Agent", **told_to, run_in_background=False)
    await first.prompt(session, script([call], ["All done."])).result()
    live = told(first, session)
    assert [entry["is"] for entry in live] == ["user_message", "call", "agent_message"]
    await first.request("session/close", {"sessionId": session})

    await load(second, session)
    assert told(second, session) == live


@pytest.mark.parametrize("kind", ["bare", "rfd"])
async def test_a_compacted_conversation_begins_with_its_summary(
    kind: str, start_agent: StartAgent, api: ScriptedApi
) -> None:
    """As a compaction for a client that knows them, else as text; the model gets it too (S§8.3)."""
    first = await start_agent()
    await first.initialize(kind)
    session = await first.new_session()
    await first.prompt(session, "Alpha. " + script(["One."])).result()
    await first.prompt(session, "/compact").result()
    await first.prompt(session, "Beta. " + script(["Two."])).result()
    await first.request("session/close", {"sessionId": session})

    second = await start_agent()
    await second.initialize(kind)
    await load(second, session)
    summary, *rest = told(second, session)
    if kind == "rfd":
        assert (summary["is"], summary["status"]) == ("compaction_update", "completed")
        assert "The scripted summary." in str(summary["summary"])
    else:
        assert summary["is"] == "user_message"
        assert "The scripted summary." in summary["text"]
    shown = "\n".join(texts([summary, *rest], "user_message"))
    assert not [tag for tag in ("<command-", "<local-command", "<system-reminder", "Alpha.") if tag in shown]
    assert texts(rest, "agent_message") == ["Two."]
    await second.prompt(session, script(["Three."])).result()
    asked = str(api.requests[-1].body["messages"])
    assert "The scripted summary." in asked
    assert "Beta." in asked
    assert "Alpha." not in asked
