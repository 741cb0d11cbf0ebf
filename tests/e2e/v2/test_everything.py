"""Every tool once on ACP v2, plan mode, and local commands; the oracle checks each message."""

import pytest

from bridge.demo.api import ScriptedApi
from tests.e2e.chat import Chat
from tests.e2e.tools.story import MCP, _answer, everything, planning, prepare, respond
from tests.e2e.v2.conftest import V2
from tests.e2e.v2.talk import V2Chat, merged
from tests.support.acp_client import run_agent
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]


@pytest.fixture(scope="module")
async def story(agent_command: list[str], tmp_path_factory: pytest.TempPathFactory) -> V2Chat:
    """The session, played once."""
    async with ScriptedApi(respond) as api:
        sandbox = Sandbox(tmp_path_factory.mktemp("story"), api.url).create()
        async with run_agent(agent_command, sandbox, V2) as client:
            project = sandbox.project
            prepare(project)
            await client.initialize_v2()
            answer = {"action": "accept", "content": {"question_0": "Red"}}
            client.handlers["elicitation/create"] = lambda _: answer
            client.on_permission(_answer)
            server = {**MCP, "type": "stdio"}
            session = await client.new_session(cwd=str(project), mcpServers=[server])
            chat = V2Chat(Chat(client, session, project, api, 0))
            for prompt in (everything(project), planning(), "/context", "/usage", "/mcp", "/compact"):
                assert (await chat.ask(prompt))["stopReason"] == "end_turn", prompt
            return chat


def call(story: V2Chat, name: str) -> Json:
    """A call as an editor holds it in the end."""
    id = f"toolu_{name}"
    return merged([each for each in story.told() if each.get("toolCallId") == id])


@pytest.mark.contract("V2-039", "V2-038")
async def test_every_call_has_a_title_from_its_first_report_on_and_an_end(story: V2Chat) -> None:
    first: dict[str, Json] = {}
    for each in story.told():
        if "toolCallId" in each:
            first.setdefault(each["toolCallId"], each)
    assert len(first) > 15
    for id, report in first.items():
        assert report["title"], id
        held = call(story, id.removeprefix("toolu_"))
        assert held["name"], id
        assert held["status"] in {"completed", "failed"}, id
    assert (call(story, "fails")["status"], call(story, "denied")["status"]) == ("failed", "failed")


async def test_what_is_of_v1_alone_is_in_no_message(story: V2Chat) -> None:
    told = str([body for body in story.chat.client.received if body.get("method") == "session/update"])
    for gone in (
        "toolName",
        "terminal_info",
        "terminal_exit",
        "jetbrains",
        "current_mode_update",
        "'tool_call'",
    ):
        assert gone not in told, gone


async def test_a_written_file_is_added_and_an_overwritten_one_modified(story: V2Chat) -> None:
    for name, operation, line in (("create", "add", "+new text"), ("overwrite", "modify", "+TWO")):
        (diff,) = call(story, name)["content"]
        assert [each["operation"] for each in diff["changes"]] == [operation]
        assert line in diff["patch"]["text"]


async def test_the_mode_is_told_as_an_option(story: V2Chat) -> None:
    lists = [each["configOptions"] for each in story.updates("config_option_update")]
    modes = [next(o["currentValue"] for o in options if o["configId"] == "mode") for options in lists]
    assert modes[0] == "plan"
    assert modes[-1] == "default"


async def test_the_work_of_each_prompt_is_bracketed_by_its_states(story: V2Chat) -> None:
    """INV-F1, INV-F3."""
    told = [each for each in story.updates() if each["sessionUpdate"] in {"user_message", "state_update"}]
    words = [each.get("state", "message") for each in told]
    assert words.count("message") == 6
    before = "idle"
    allowed = {
        "idle": {"message", "running"},
        "message": {"running"},
        "running": {"requires_action", "idle"},
        "requires_action": {"running"},
    }
    for word in words:
        assert word in allowed[before], words
        before = word
    assert before == "idle"
