"""What a prompt may hold, and that the model gets it: blocks, sizes, odd characters, odd paths."""

import base64
import os

import pytest

from tests.e2e.chat import Chat, bash, script, use
from tests.e2e.conftest import NewChat
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
ODD = 'a\u2028b\u2029c\u0085d\x0ce \U0001f600 ü 日本 \x7f "q"'


def asked(chat: Chat) -> list[Json]:
    """All blocks that the user has said so far, as the model got them."""
    contents = [
        message["content"] for message in chat.requests()[-1].body["messages"] if message["role"] == "user"
    ]
    return [block for content in contents if isinstance(content, list) for block in content]


def asked_text(chat: Chat) -> str:
    """All text among them."""
    return "\n".join(block.get("text", "") for block in asked(chat))


@pytest.mark.contract("SE-096")
async def test_every_kind_of_block_reaches_the_model(chat: Chat) -> None:
    blocks: list[Json] = [
        {"type": "text", "text": "Look at these."},
        {"type": "image", "mimeType": "image/png", "data": PIXEL},
        {"type": "resource_link", "uri": "file:///x/a%20b.txt", "name": "a b.txt"},
        {
            "type": "resource",
            "resource": {"uri": "file:///notes.md", "mimeType": "text/markdown", "text": "embedded words"},
        },
    ]
    assert (await chat.ask(blocks))["stopReason"] == "end_turn"
    text = asked_text(chat)
    assert "Look at these." in text
    assert "a b.txt" in text
    assert "file:///x/a%20b.txt" in text
    assert "embedded words" in text
    (image,) = [block for block in asked(chat) if block["type"] == "image"]
    assert image["source"]["media_type"] == "image/png"
    assert image["source"]["data"]


@pytest.mark.contract("SE-096")
@pytest.mark.parametrize(
    "block", [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, {"type": "smell"}]
)
async def test_a_block_that_nobody_reads_is_refused_and_the_next_prompt_works(
    block: Json, chat: Chat
) -> None:
    error = await chat.prompt([{"type": "text", "text": "hear"}, block]).error()
    assert error.code == -32602
    assert error.data == {"type": block["type"]}
    await chat.is_well()
    assert len(chat.requests()) == 1


@pytest.mark.contract("SE-097")
async def test_odd_characters_come_out_as_they_went_in(chat: Chat) -> None:
    write = use("Write", file_path=str(chat.project / "odd"), content=ODD)
    await chat.ask(f"{ODD} {script([ODD, write], [f'again {ODD}'])}")
    assert ODD in asked_text(chat)
    assert chat.text() == ODD + f"again {ODD}"
    assert (chat.project / "odd").read_bytes().decode() == ODD


async def test_a_prompt_of_one_and_a_half_megabytes_is_answered(chat: Chat) -> None:
    long = "0123456789abcdef" * 100_000
    result = await chat.ask([{"type": "text", "text": long}, {"type": "text", "text": script(["Long!"])}])
    assert result["stopReason"] == "end_turn"
    assert chat.text() == "Long!"
    assert long in asked_text(chat)
    await chat.is_well()


async def test_an_image_of_four_megabytes_is_answered(chat: Chat) -> None:
    blob = base64.b64encode(base64.b64decode(PIXEL) + os.urandom(3_000_000)).decode()
    image = {"type": "image", "mimeType": "image/png", "data": blob}
    await chat.prompt([image, {"type": "text", "text": script(["Seen."])}]).message()
    await chat.is_well()


async def test_an_answer_of_a_megabyte_is_whole(chat: Chat) -> None:
    text = "".join(f"{n:07} " for n in range(130_000))
    await chat.ask(script([{"text": text, "size": 4096}]))
    assert chat.text() == text


async def test_a_folder_with_blanks_and_letters_of_the_world(new_chat: NewChat, chat: Chat) -> None:
    there = await new_chat(cwd=str(chat.project / "a b" / "ü 日本"))
    await there.ask(script([bash("pwd > here")], ["Done."]))
    assert (there.project / "here").read_text() == f"{there.project}\n"


async def test_commands_are_listed_after_the_response_and_run(chat: Chat) -> None:
    await chat.client.wait_update("available_commands_update", since=chat.start)
    (commands,) = chat.updates("available_commands_update")
    assert "compact" in {command["name"] for command in commands["availableCommands"]}

    for command in ("/context", "/nosuch"):
        mark = chat.mark
        assert (await chat.ask(command))["stopReason"] == "end_turn"
        assert chat.text(since=mark).strip(), f"{command} left no trace"
    await chat.is_well()
