"""What stands in a prompt is what the model reads, in its order, with readable links."""

import base64
import sys

import pytest

from tests.e2e.chat import Chat, script
from tests.e2e.conftest import NewChat
from tests.e2e.sessions import prompting_mcp
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def blob(uri: str, mime_type: str | None, data: bytes) -> Json:
    resource: Json = {"uri": uri, "blob": base64.b64encode(data).decode()}
    return {
        "type": "resource",
        "resource": resource if mime_type is None else {**resource, "mimeType": mime_type},
    }


def read(chat: Chat) -> list[Json]:
    """The blocks that the model got of the last prompt, without what Claude Code adds."""
    asked = chat.requests()[-1].body["messages"]
    contents = [message["content"] for message in asked if message["role"] == "user"]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    start = next(n for n, block in enumerate(blocks) if block.get("text") == "Start.")
    return [block for block in blocks[start:] if not block.get("text", "").startswith("<system-reminder>")]


@pytest.mark.contract("SE-096")
async def test_links_and_contexts_stand_where_they_belong(chat: Chat) -> None:
    there = {"uri": "file:///p/notes%20one.md", "mimeType": "text/markdown", "text": "the notes"}
    await chat.ask(
        [
            text("Start."),
            {"type": "resource_link", "uri": "file:///p/a%20b.txt", "name": "the name"},
            {"type": "resource_link", "uri": "file:///p/a%20b.txt", "name": ""},
            {"type": "resource_link", "uri": "zed:///agent/symbol/sym", "name": "sym"},
            {"type": "resource_link", "uri": "https://example.com/x", "name": "page"},
            {"type": "resource", "resource": there},
            blob("file:///p/data.json", "application/JSON; charset=utf-16", '{"ü": 1}'.encode("utf-16")),
            blob("file:///p/data.bin", "application/octet-stream", b"\x00\x01"),
            text("End."),
        ]
    )
    assert [block["text"].removesuffix("\n") for block in read(chat)] == [
        "Start.",
        "[@the name](file:///p/a%20b.txt)",
        "[@a b.txt](file:///p/a%20b.txt)",
        "[@sym](zed:///agent/symbol/sym)",
        "https://example.com/x",
        "[@notes one.md](file:///p/notes%20one.md)",
        "[@data.json](file:///p/data.json)",
        "End.",
        '\n<context ref="file:///p/notes%20one.md">\nthe notes\n</context>',
        '\n<context ref="file:///p/data.json">\n{"ü": 1}\n</context>',
    ]


@pytest.mark.contract("SE-096")
async def test_pictures_by_data_by_address_and_embedded(chat: Chat) -> None:
    await chat.ask(
        [
            text("Start."),
            {"type": "image", "mimeType": "image/png", "data": PIXEL},
            {"type": "image", "mimeType": "image/png", "data": "", "uri": "https://example.com/x.png"},
            {"type": "image", "mimeType": "image/png", "data": "", "uri": "file:///p/x.png"},
            blob("file:///p/y.png", "IMAGE/PNG", base64.b64decode(PIXEL)),
            text("End."),
        ]
    )
    shown = [block.get("text", "").strip() or block["source"]["type"] for block in read(chat)]
    assert shown[:6] == ["Start.", "base64", "url", "[@y.png](file:///p/y.png)", "base64", "End."]
    assert all(each.startswith("[Image") for each in shown[6:]), "Claude Code says where it keeps them"


@pytest.mark.contract("SE-096")
async def test_a_prompt_with_a_sound_is_refused_whole(chat: Chat) -> None:
    sound = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    error = await chat.prompt([text("Start."), sound]).error()
    assert (error.code, error.data) == (-32602, {"type": "audio"})
    assert error.message == "Invalid params: Content blocks of type audio are not supported"
    assert chat.requests() == []
    await chat.is_well()


async def test_a_prompt_of_a_server_goes_by_the_name_that_the_client_saw(new_chat: NewChat) -> None:
    server: Json = {"name": "demo", "command": sys.executable, "args": [prompting_mcp.__file__], "env": []}
    chat = await new_chat(mcpServers=[server])

    def names(update: Json) -> set[str]:
        return {command["name"] for command in update["availableCommands"]}

    await chat.client.wait_update(
        "available_commands_update", lambda update: "mcp:demo:hello" in names(update), since=chat.start
    )
    result = await chat.ask("/mcp:demo:hello World")
    assert result["stopReason"] == "end_turn"
    assert "Say hello to World." in str(chat.requests()[-1].body["messages"])
    assert chat.text() == "Hello World!"


async def test_a_command_that_nobody_knows_is_read_by_the_model(chat: Chat) -> None:
    await chat.ask("/nosuch " + script(["Read it."]))
    assert chat.text().strip()
    await chat.is_well()


async def test_an_empty_prompt_ends(chat: Chat) -> None:
    assert (await chat.ask([]))["stopReason"] == "end_turn"
    await chat.is_well()
