"""Where the text of a subagent goes: to the root session of those who want it there, once."""

from typing import Any

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.tools.story import CHILD_TEXT, REPORT, Story

pytestmark = [pytest.mark.anyio, pytest.mark.live]

AIR: dict[str, Any] = {"jetbrains": {"air": {"version": 1, "capabilities": []}}}
WISH: dict[str, Any] = {"subagent-transcript": True}
THOUGHT = "The child thinks."


async def heard(start_agent: StartAgent, api: ScriptedApi, meta: Any, **options: Any) -> Chat:
    """A session with a subagent that says, thinks and does something."""
    agent = await start_agent()
    await agent.initialize({"_meta": meta})
    session = await agent.new_session(_meta={"claudeCode": {"options": options}})
    chat = Chat(agent, session, agent.sandbox.project, api, 0)
    child = script([CHILD_TEXT, {"thinking": THOUGHT}, bash("echo child")], [REPORT])
    work = use("Agent", description="Help", prompt=child, subagent_type="general-purpose")
    work["input"]["run_in_background"] = False
    await chat.ask(script(["I begin. ", work], ["I end."]))
    return chat


def assert_flat(chat: Chat) -> None:
    """The child's words are among the root's, in their order and marked as the child's."""
    assert chat.text() == f"I begin. {CHILD_TEXT}{REPORT}I end."
    assert chat.text("agent_thought_chunk") == THOUGHT
    (parent,) = [id for id, call in chat.calls().items() if call["kind"] == "think"]
    chunks = [update for update in chat.updates() if update["sessionUpdate"].endswith("_chunk")]
    marked = [chunk["content"]["text"] for chunk in chunks if "_meta" in chunk]
    assert "".join(marked) == f"{CHILD_TEXT}{THOUGHT}{REPORT}"
    told = [chunk["_meta"] for chunk in chunks if "_meta" in chunk]
    assert all(meta == {"claudeCode": {"parentToolUseId": parent}} for meta in told)


@pytest.mark.contract("TC-014", "TC-110", "TC-111", "SA-010")
@pytest.mark.parametrize("meta", [WISH, {**WISH, **AIR}], ids=["other", "air"])
async def test_a_client_that_wants_the_transcript_gets_it_on_the_root(
    start_agent: StartAgent, api: ScriptedApi, meta: Any
) -> None:
    assert_flat(await heard(start_agent, api, meta))


@pytest.mark.contract("TC-111", "SA-010")
async def test_so_does_a_session_that_was_opened_with_the_option(
    start_agent: StartAgent, api: ScriptedApi
) -> None:
    assert_flat(await heard(start_agent, api, AIR, forwardSubagentText=True))


@pytest.mark.contract("TC-111", "SA-011")
async def test_nobody_else_reads_a_subagent_on_the_root(story: Story) -> None:
    assert CHILD_TEXT not in story.chat.text()
    assert REPORT not in story.chat.text()
    assert "parentToolUseId" not in str([u for u in story.chat.updates() if "chunk" in u["sessionUpdate"]])


@pytest.mark.contract("TC-133")
async def test_air_that_renders_the_input_gets_no_copy_of_the_prompt(
    start_agent: StartAgent, api: ScriptedApi
) -> None:
    air = {"jetbrains": {"air": {"version": 1, "capabilities": ["rawInputRendering"]}}}
    chat = await heard(start_agent, api, air)
    (call,) = [call for call in chat.calls().values() if call["kind"] == "think"]
    assert call["rawInput"]["prompt"].startswith("SCRIPT ")
    assert "SCRIPT" not in str([update.get("content") for update in chat.updates()])
