"""What `session/new` asks for is what the model gets: servers, folders, prompts, tools, options."""

import sys
from pathlib import Path

import pytest

from bridge.demo.api import ApiRequest
from tests.e2e.chat import SESSION_HEADER, Chat, bash, script, use
from tests.e2e.conftest import NewChat
from tests.e2e.permissions.kinds import ChatAs
from tests.support import echo_mcp
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

ECHO: Json = {
    "name": "echo",
    "command": sys.executable,
    "args": [echo_mcp.__file__, "--flag"],
    "env": [{"name": "MARKER", "value": "from the client"}],
}


def options(**given: object) -> Json:
    return {"claudeCode": {"options": given}}


def system(asked: ApiRequest) -> str:
    """The system prompt of a request."""
    return "\n".join(block["text"] for block in asked.body["system"])


def tools(asked: ApiRequest) -> set[str]:
    """Names of the tools; a placeholder stands for those that are looked up when they are needed."""
    return {tool["name"] for tool in asked.body["tools"]} - {"DeferredToolPlaceholder"}


async def first(chat: Chat) -> ApiRequest:
    """What the model is asked with the first prompt."""
    await chat.ask(script(["Hello."]))
    return chat.requests()[0]


@pytest.mark.contract("SE-002")
async def test_an_mcp_server_of_the_request_is_used(new_chat: NewChat) -> None:
    """With its arguments and variables, and over a server of the same name in the options."""
    other = {"echo": {"type": "stdio", "command": "false", "args": []}}
    chat = await new_chat(mcpServers=[ECHO], _meta=options(mcpServers=other))
    steps = [use("mcp__echo__environment", name="MARKER")], [use("mcp__echo__greet", who="you")], ["Done."]
    await chat.ask(script(*steps))
    environment, greet = chat.calls().values()
    assert (environment["status"], greet["status"]) == ("completed", "completed")
    assert "from the client" in str(environment["rawOutput"])
    assert "--flag" in str(environment["rawOutput"])
    assert "Hello you!" in str(greet["content"])
    assert "Hello you!" in str(chat.requests()[-1].body["messages"])


@pytest.mark.contract("SE-002")
async def test_the_system_prompt_is_appended_to_or_replaced(new_chat: NewChat) -> None:
    appended = await first(await new_chat(_meta={"systemPrompt": {"append": "Speak like a pirate."}}))
    assert "Speak like a pirate." in system(appended)
    preset = system(await first(await new_chat()))
    assert len(system(appended)) > len(preset) > 1000
    replaced = await first(await new_chat(_meta={"systemPrompt": "Only this."}))
    assert "Only this." in system(replaced)
    assert len(system(replaced)) < 1000 < len(preset)


@pytest.mark.contract("SE-002", "SE-011")
async def test_the_tools_are_those_that_the_request_leaves(new_chat: NewChat) -> None:
    assert {"Bash", "Read", "Edit"} <= tools(await first(await new_chat()))
    none = await new_chat(_meta={"disableBuiltInTools": True})
    assert (await none.ask("Hello."))["stopReason"] == "end_turn"
    beside = [asked for asked in none.api.side_requests if asked.kind == "side"]
    (asked,) = [asked for asked in beside if asked.headers.get(SESSION_HEADER) == none.session]
    assert not asked.body.get("tools")
    few = await new_chat(_meta={"disableBuiltInTools": True, **options(tools=["Read", "Bash"])})
    assert tools(await first(few)) == {"Read", "Bash"}
    less = tools(await first(await new_chat(_meta=options(disallowedTools=["Bash"]))))
    assert "Bash" not in less
    assert "Read" in less


@pytest.mark.contract("SE-020", "NG-052")
async def test_options_of_the_sdk_reach_claude(new_chat: NewChat) -> None:
    asked = await first(await new_chat(_meta=options(model="sonnet", effort="high")))
    assert asked.body["model"] == "claude-sonnet-5-5"
    assert asked.body["output_config"]["effort"] == "high"

    chat = await new_chat(_meta=options(maxTurns=1))
    error = await chat.prompt(script([bash("echo one")], ["Two."])).error()
    assert (error.code, error.data) == (-32603, {"errorKind": "error_max_turns"})
    assert len(chat.requests()) == 1

    variables = {"MY_MARKER": "from the client"}
    chat = await new_chat(_meta=options(env=variables, permissionMode="bypassPermissions", cwd="/"))
    await chat.ask(script([bash("echo $MY_MARKER; pwd > here")], ["Done."]))
    assert len(chat.asked()) == 1, "the mode is not the client's option to say"
    assert "from the client" in str(next(iter(chat.calls().values()))["rawOutput"])
    assert (chat.project / "here").exists(), "neither is the folder"


@pytest.mark.contract("SE-013")
async def test_settings_come_from_the_sources_that_the_request_names(new_chat: NewChat) -> None:
    own = {"permissions": {"allow": ["Bash(npm test)"]}}
    chat = await new_chat(_meta=options(settings=own))
    await chat.ask(script([bash("npm test")], ["Done."]))
    assert chat.asked() == []

    project = chat.project
    (project / ".claude").mkdir(exist_ok=True)
    (project / "CLAUDE.md").write_text("Marker of the project's memory.")
    memory = await new_chat(cwd=str(project))
    assert "Marker of the project's memory." in str((await first(memory)).body)
    without = await new_chat(cwd=str(project), _meta=options(settingSources=[]))
    assert "Marker of the project's memory." not in str((await first(without)).body)


@pytest.mark.contract("SE-002")
async def test_roots_of_the_metadata_count_where_no_directories_are_given(new_chat: NewChat) -> None:
    base = (await new_chat()).project
    one, two = base / "one", base / "two"
    meta = {"additionalRoots": [str(one)]}
    cases: list[tuple[Json, Path, Path]] = [
        ({"_meta": meta}, one, two),
        ({"_meta": meta, "additionalDirectories": [str(two)]}, two, one),
    ]
    for more, allowed, refused in cases:
        for folder in (one, two):
            folder.mkdir(exist_ok=True)
            (folder / "f").unlink(missing_ok=True)
        chat = await new_chat(**more)
        await chat.set_mode("acceptEdits")
        for folder in (allowed, refused):
            await chat.ask(script([use("Write", file_path=str(folder / "f"), content="x")], ["Done."]))
        (question,) = chat.asked()
        assert question["toolCall"]["rawInput"]["file_path"] == str(refused / "f")
        assert (allowed / "f").exists()


@pytest.mark.contract("SE-008")
async def test_raw_messages_are_handed_on_to_a_client_that_wants_them(new_chat: NewChat) -> None:
    chat = await new_chat(_meta={"claudeCode": {"emitRawSDKMessages": [{"type": "result"}]}})
    await chat.ask(script(["Hello."]))
    raw = [body for body in chat.client.received if body.get("method") == "_claude/sdkMessage"]
    assert [body["params"]["message"]["type"] for body in raw] == ["result"]
    assert raw[0]["params"]["sessionId"] == chat.session


@pytest.mark.contract("SE-010", "SE-009", "CF-001", "SE-003")
async def test_the_answer_has_what_there_is_to_choose(shared_agent: AcpClient) -> None:
    request = {"cwd": str(shared_agent.sandbox.project), "mcpServers": [], "_meta": options(agent="Explore")}
    opened = await shared_agent.request("session/new", request)
    assert opened.keys() == {"sessionId", "modes", "configOptions"}
    assert [option["id"] for option in opened["configOptions"]] == ["mode", "model", "effort", "fast"]
    await shared_agent.request("session/close", {"sessionId": opened["sessionId"]})


@pytest.mark.contract("SE-014", "SE-015", "SE-019", "CF-019")
@pytest.mark.parametrize("kind", ["plain", "air"])
async def test_claude_is_started_as_the_client_can_use_it(kind: str, chat_as: ChatAs) -> None:
    """The mode is always said; what only AIR can show is asked for with AIR alone."""
    chat = await chat_as(kind)
    await chat.ask(script([bash("env > env.txt")], ["Done."]))
    (command,) = [each for each in chat.client.mark.living().values() if chat.session in each]
    assert "--permission-mode default" in " ".join(command.split())
    assert ("--session-mirror" in command) is (kind == "air")
    variables = (chat.project / "env.txt").read_text().splitlines()
    assert "CLAUDE_CODE_ENABLE_TODO_TOOLS=1" in variables
    has_checkpoints = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true" in variables
    assert has_checkpoints is (kind == "air")


@pytest.mark.contract("SE-118")
async def test_air_is_told_which_commands_are_skills(chat_as: ChatAs, new_chat: NewChat) -> None:
    project = (await new_chat()).project
    skill = project / ".claude" / "skills" / "doit" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: doit\ndescription: Does it\n---\nDo it.")
    chat = await chat_as("air", cwd=str(project))
    await chat.ask(script(["Hello."]))
    rows = chat.updates("available_commands_update")[-1]["availableCommands"]
    commands = {row["name"]: row for row in rows}
    told = {"version": 1, "kind": "skill", "skillPath": str(skill)}
    assert commands["doit"]["_meta"] == {"jetbrains": {"air": told}}
    assert "_meta" not in commands["compact"]
