"""Titles: made once after a turn, the user's own before any other, and never sent twice (S§9)."""

import json
import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.claude.errors import ClaudeGone
from bridge.view.titles import CONTEXT, Titles
from tests.bridge.view.stand_ins import Client, Process
from tests.support.oracle import check_outgoing

pytestmark = pytest.mark.anyio

ID = "01234567-89ab-4cde-8f01-23456789abcd"
NOON = datetime(2026, 1, 2, 12, 0, 0, 5000, UTC)


class Bench:
    """Titles of one session, over a folder of stored ones."""

    def __init__(self, folder: Path) -> None:
        self.client, self.process, self._folder = Client(), Process(), folder
        self.titles = Titles(self.client.as_client(), self.process.as_process(), folder, lambda: NOON)

    def stores(self, *records: dict[str, Any]) -> Path:
        """What the transcript of the session holds."""
        path = self._folder / "project" / f"{ID}.jsonl"
        path.parent.mkdir(exist_ok=True)
        user = {
            "type": "user",
            "sessionId": ID,
            "cwd": "/p",
            "message": {"role": "user", "content": "the prompt"},
        }
        path.write_text("".join(f"{json.dumps(record)}\n" for record in (user, *records)))
        return path

    def says(self, prompt: str, answer: str = "") -> None:
        self.titles.note_prompt([{"type": "text", "text": prompt}])
        self.titles.note_text(answer)

    async def turn(self, reply: Any = None) -> None:
        """A turn ends; `reply` is the answer to a request for a title."""
        await self.titles.turn_ended(ID, lambda call: call())
        if reply is not None:
            self.process.reply_all(reply)

    @property
    def told(self) -> list[str]:
        return [update["title"] for update in self.client.updates]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.contract("SE-081", "SE-087", "SE-090")
async def test_a_title_is_made_once(bench: Bench) -> None:
    bench.says("Why is the sky blue?", "Because of scattering.")
    await bench.turn({"title": "Blue sky"})
    update = {
        "sessionUpdate": "session_info_update",
        "title": "Blue sky",
        "updatedAt": "2026-01-02T12:00:00.005Z",
    }
    assert bench.client.updates == [update]
    params = {"sessionId": "S", "update": update}
    check_outgoing({"jsonrpc": "2.0", "method": "session/update", "params": params}, {})
    (request,) = bench.process.requests
    assert request[0] == "generate_session_title"
    assert request[1]["persist"] is True
    bench.says("And the sea?")
    await bench.turn({"title": "Blue sea"})
    assert bench.told == ["Blue sky"]
    assert len(bench.process.requests) == 1


@pytest.mark.contract("SE-083")
@given(prompt=st.text(min_size=20, max_size=3000), answer=st.text(max_size=3000))
async def test_it_is_made_from_the_end_of_the_conversation(prompt: str, answer: str) -> None:
    bench = Bench(Path("/nowhere"))
    bench.says(f"x{prompt}x", answer)
    await bench.turn()
    for _, fields in bench.process.requests:
        whole = f"\nx{prompt}x\n{answer}"
        assert fields["description"] == whole[-CONTEXT:].strip()


@pytest.mark.contract("SE-084", "SE-085")
@pytest.mark.parametrize(
    ("prompt", "description"),
    [
        ("/compact", None),
        ("hi", None),
        (" \n ", None),
        ("123456789", None),
        ("1234567890", "1234567890"),
        ("/review the parser of numbers", "the parser of numbers"),
        ("/a:b-c what is it about", "what is it about"),
        ("/etc/passwd is a file", "/etc/passwd is a file"),
    ],
)
async def test_what_says_too_little_has_none(bench: Bench, prompt: str, description: str | None) -> None:
    bench.says(prompt)
    await bench.turn()
    assert [fields["description"] for _, fields in bench.process.requests] == (
        [description] if description else []
    )


async def test_a_turn_that_said_too_little_does_not_spend_the_one_title(bench: Bench) -> None:
    bench.says("hi")
    await bench.turn()
    bench.says("Why is the sky blue?")
    await bench.turn({"title": "Blue sky"})
    assert bench.told == ["Blue sky"]


@pytest.mark.contract("SE-089")
async def test_the_users_own_title_is_taken_over_and_never_replaced(bench: Bench) -> None:
    stored = bench.stores({"type": "custom-title", "sessionId": ID, "customTitle": "Mine"})
    os.utime(stored, (1_700_000_000.5, 1_700_000_000.5))
    bench.says("Why is the sky blue?")
    await bench.turn({"title": "Blue sky"})
    await bench.turn({"title": "Blue sky"})
    assert bench.told == ["Mine"]
    assert bench.client.updates[0]["updatedAt"] == "2023-11-14T22:13:20.500Z", "it is not new"
    assert bench.process.requests == []


async def test_a_title_that_was_made_before_is_not_made_over(bench: Bench) -> None:
    """Not in the process that goes on with the conversation either (S§9.5)."""
    bench.stores({"type": "ai-title", "sessionId": ID, "aiTitle": "Made before"})
    bench.says("Why is the sky blue?")
    await bench.turn({"title": "Blue sky"})
    await bench.turn({"title": "Blue sky"})
    assert bench.told == ["Made before"]
    assert bench.process.requests == []


@pytest.mark.contract("SE-091")
@pytest.mark.parametrize("reply", [{}, {"title": None}, {"title": " "}, ClaudeGone("gone")])
async def test_without_one_the_stored_summary_is_shown_and_the_next_turn_asks_again(
    bench: Bench, reply: Any
) -> None:
    bench.stores({"type": "summary", "summary": "Stored words", "leafUuid": "x"})
    bench.says("Why is the sky blue?")
    await bench.turn(reply)
    first = bench.told
    assert len(first) == 1
    await bench.turn(reply)
    assert bench.told == first, "the same is not sent twice"
    await bench.turn({"title": "Blue sky"})
    assert bench.told == [*first, "Blue sky"]
    assert len(bench.process.requests) == 3


@pytest.mark.contract("SE-088")
@given(st.lists(st.sampled_from(("a", "b", " a ", "")), max_size=8))
async def test_no_title_is_sent_twice_in_a_row(titles: list[str]) -> None:
    bench = Bench(Path("/nowhere"))
    for title in titles:
        bench.titles.clear()
        bench.says("Why is the sky blue?")
        await bench.turn({"title": title})
    assert all(one != other for one, other in pairwise(bench.told))
    assert {told.strip() for told in bench.told} <= {"a", "b"}


@pytest.mark.contract("SE-094", "SE-092")
async def test_a_title_for_a_session_that_is_gone_is_dropped(bench: Bench) -> None:
    bench.says("Why is the sky blue?")
    await bench.titles.turn_ended(ID, lambda _: None)  # a closed mailbox takes nothing
    assert bench.told == []
    assert bench.process.requests == []


@pytest.mark.contract("SE-093")
async def test_a_new_conversation_has_a_title_of_its_own(bench: Bench) -> None:
    bench.says("Why is the sky blue?")
    await bench.turn({"title": "Blue sky"})
    bench.titles.clear()
    bench.says("How do birds fly at all?")
    await bench.turn({"title": "Flight"})
    assert bench.told == ["Blue sky", "Flight"]
    assert "sky" not in bench.process.requests[-1][1]["description"]
