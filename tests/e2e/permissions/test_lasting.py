"""Answers that last: what the label says is what Claude Code remembers, and it does not ask again."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.permissions.kinds import ChatAs
from tests.e2e.permissions.words import local_rules, offered, select, statuses, until_rules
from tests.support import echo_mcp
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

ECHO = {"name": "echo", "command": sys.executable, "args": [str(Path(echo_mcp.__file__))], "env": []}
LASTING = "allow-with-updates"


async def choices(chat: Chat, call: Json, option: str = LASTING) -> dict[str, str]:
    """Answer one call's request with an option; what was offered, nothing if nobody asked."""
    asked = len(chat.asked())
    chat.client.on_permission(select(option))
    await chat.ask(script([call], ["Done."]))
    return offered(chat.asked()[asked]) if len(chat.asked()) > asked else {}


@pytest.mark.contract("PM-040", "PM-045", "PM-066")
async def test_a_command_is_remembered_in_the_local_settings(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    assert await choices(chat, bash("npm test")) == {
        "allow-once": "Yes",
        LASTING: "Yes, and don't ask again for npm test * commands",
        "reject": "No",
    }
    await until_rules(chat.project, "Bash(npm test *)")
    assert await choices(chat, bash("npm test")) == {}

    other = await chat_as("plain", cwd=str(chat.project))
    assert await choices(other, bash("npm test")) == {}


@pytest.mark.contract("PM-045", "PM-066")
async def test_several_commands_are_remembered_together(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    names = await choices(chat, bash("npm test; exit 3"))
    assert names[LASTING] == "Yes, and don't ask again for npm test * and exit 3 commands"
    await until_rules(chat.project, "Bash(exit 3)", "Bash(npm test *)")
    assert await choices(chat, bash("npm test")) == {}


@pytest.mark.contract("PM-044")
async def test_an_answer_for_once_is_asked_again(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    for _ in range(2):
        assert await choices(chat, bash("npm test"), "allow-once")
    assert local_rules(chat.project) == []


@pytest.mark.contract("PM-045", "PM-079")
async def test_a_tool_of_a_server_is_remembered_alone(chat_as: ChatAs) -> None:
    chat = await chat_as("air", mcpServers=[ECHO])
    names = await choices(chat, use("mcp__echo__greet", who="Bob"))
    assert names[LASTING].startswith("Yes, and don't ask again for ")
    await until_rules(chat.project, "mcp__echo__greet")
    assert await choices(chat, use("mcp__echo__greet", who="Eve")) == {}
    assert await choices(chat, use("mcp__echo__mixed"), "reject") != {}
    assert statuses(chat) == ["completed", "completed", "failed"]


async def test_a_host_is_remembered(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    fetch = use("WebFetch", url="http://localhost:9/", prompt="What is it?")
    names = await choices(chat, fetch)
    assert names[LASTING] == "Yes, and don't ask again for localhost"
    await until_rules(chat.project, "WebFetch(domain:localhost)")
    assert await choices(chat, fetch) == {}


@pytest.mark.contract("PM-045", "PM-068")
async def test_reading_in_a_folder_holds_for_the_session(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    outside = chat.project.parent / f"{chat.project.name}-outside"
    outside.mkdir()
    for name in ("a", "b"):
        (outside / name).write_text(name)
    names = await choices(chat, use("Read", file_path=str(outside / "a")))
    assert names[LASTING] == f"Yes, allow reading from {outside.name}/ during this session"
    assert await choices(chat, use("Read", file_path=str(outside / "b"))) == {}
    assert local_rules(chat.project) == []

    other = await chat_as("air", cwd=str(chat.project))
    assert await choices(other, use("Read", file_path=str(outside / "b")), "allow-once")


@pytest.mark.contract("PM-045", "PM-069")
async def test_editing_holds_for_the_session_and_its_mode_is_told(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    (chat.project / "f").write_text("one\n")
    await choices(chat, use("Read", file_path=str(chat.project / "f")))
    edit = use("Edit", file_path=str(chat.project / "f"), old_string="one", new_string="two")
    mark = chat.mark
    names = await choices(chat, edit)
    assert names[LASTING] == "Yes, allow all edits during this session"
    assert [u["currentModeId"] for u in chat.updates("current_mode_update", since=mark)] == ["acceptEdits"]
    assert await choices(chat, use("Write", file_path=str(chat.project / "g"), content="g")) == {}
    assert (chat.project / "f").read_text() == "two\n"
    assert (chat.project / "g").read_text() == "g"


async def test_a_skill_is_remembered(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    folder = chat.project / ".claude" / "skills" / "greet"
    folder.mkdir(parents=True)
    head = "---\nname: greet\ndescription: Greet.\nallowed-tools: Bash\n---\n"
    (folder / "SKILL.md").write_text(f"{head}Say hello.\n")
    chat = await chat_as("plain", cwd=str(chat.project))
    names = await choices(chat, use("Skill", skill="greet"), "allow-skill-exact")
    assert names["allow-skill-exact"] == "Yes, and don't ask again for greet"
    await until_rules(chat.project, "Skill(greet)")
    assert await choices(chat, use("Skill", skill="greet")) == {}


@pytest.mark.contract("PM-064")
async def test_a_rule_that_always_asks_keeps_asking(chat_as: ChatAs) -> None:
    chat = await chat_as("plain")
    settings = chat.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(
        json.dumps({"permissions": {"ask": ["Bash(npm test)", "WebFetch(domain:localhost)"]}})
    )
    chat = await chat_as("plain", cwd=str(chat.project))
    for call in (bash("npm test"), use("WebFetch", url="http://localhost:9/", prompt="?")):
        assert await choices(chat, call, "allow-once") == {"allow-once": "Yes", "reject": "No"}


async def test_a_denied_tool_is_not_asked_for(chat_as: ChatAs) -> None:
    chat = await chat_as("air")
    settings = chat.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(npm test)"]}}))
    chat = await chat_as("air", cwd=str(chat.project))
    assert await choices(chat, bash("npm test")) == {}
    assert statuses(chat) == ["failed"]
