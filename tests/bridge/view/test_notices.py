"""What a client is told beside the conversation, in each client's form (S§12.3, M13)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import read_capabilities
from bridge.live.setup import Setup
from bridge.messages import items as f
from bridge.permissions.modes import catalog
from bridge.view.notices import Notices
from bridge.view.session_info import notice
from machines.companions.incident import Book
from tests.bridge.view.stand_ins import Client
from tests.support.clients import CAPABILITIES

NOTICES_AND_RECORDS = {**CAPABILITIES["air"], "session": {"notices": {}}}


class Bench:
    """The notices of one session."""

    def __init__(self, capabilities: Any = "plain", **more: Any) -> None:
        given = CAPABILITIES[capabilities] if isinstance(capabilities, str) else capabilities
        known = read_capabilities(given)
        self.client = Client()
        book = Book("S", "epoch") if known.session_failure else None
        setup = Setup("S", "/p", known, catalog(auto=True, bypass=False), **more)
        self.notices = Notices(setup, self.client.as_client(), lambda: "new-id", book)

    @property
    def lines(self) -> list[str]:
        return [update["content"]["text"] for update in self.client.updates if "content" in update]

    @property
    def records(self) -> list[Any]:
        found = (
            update.get("_meta", {}).get("jetbrains", {}).get("air", {}) for update in self.client.updates
        )
        return [air["sessionFailure"] for air in found if "sessionFailure" in air]


def informed(text: str, level: str = "warning", call: str | None = None) -> f.Informed:
    return f.Informed(level, text, "frame-id", call)


FALLBACK = f.ModelFellBack("Opus is busy. Sonnet goes on.", "frame-id")


@pytest.mark.contract("SE-099")
def test_an_informational_line_says_what_it_is() -> None:
    bench = Bench()
    bench.notices.show_informed(informed("Low on space"))
    bench.notices.show_informed(informed("Just so you know", "info"))
    first, second = bench.client.updates
    assert first["content"]["text"] == "**Warning:** Low on space"
    assert first["_meta"] == {"claudeCode": {"kind": "informational", "level": "warning"}}
    assert second["content"]["text"] == "Just so you know"
    assert second["_meta"] == {"claudeCode": {"kind": "informational", "level": "info"}}


def test_the_line_of_a_call_is_told_once() -> None:
    bench = Bench()
    for _ in range(2):
        bench.notices.show_informed(informed("Low on space", call="toolu_1"))
    assert bench.lines == ["**Warning:** Low on space"]


@pytest.mark.contract("CF-023", "SE-119")
@pytest.mark.parametrize("kind", ["plain", "air", "rfd"])
def test_the_warning_of_the_auto_mode_comes_once_a_session(kind: str) -> None:
    bench = Bench(kind)
    for _ in range(2):
        bench.notices.warn_auto()
    if kind == "rfd":
        told = "The selected model does not support Auto mode; using Accept edits instead."
        title = "Auto mode unavailable"
        update = {"sessionUpdate": "notice", "severity": "warning", "title": title, "description": told}
        assert bench.client.updates == [update]
    else:
        told = "the selected model does not support Auto mode; using Accept edits instead."
        assert bench.lines == [f"**Auto mode unavailable:** {told}"]


@pytest.mark.contract("SF-043", "SE-121")
@pytest.mark.parametrize("capabilities", ["rfd", NOTICES_AND_RECORDS])
def test_a_fallback_is_a_notice_where_there_are_notices_and_then_no_record(capabilities: Any) -> None:
    bench = Bench(capabilities)
    bench.notices.show_fallback(FALLBACK)
    assert bench.client.kinds == ["notice"]
    assert bench.client.updates[0]["title"] == FALLBACK.text
    assert bench.records == []


@pytest.mark.contract("SF-032", "SF-046", "SF-011", "SF-012", "SF-054")
def test_a_fallback_is_a_warning_with_the_text_of_its_notice() -> None:
    bench = Bench("air")
    other = f.ModelFellBack("Sonnet is busy too.", "x")
    for told in (FALLBACK, FALLBACK, other, FALLBACK):
        bench.notices.show_fallback(told)
    known = [(record["id"], record["revision"], record["title"]) for record in bench.records]
    assert known == [
        ("S:notice:epoch:1", 1, FALLBACK.text),
        ("S:notice:epoch:1", 2, FALLBACK.text),
        ("S:notice:epoch:2", 1, other.text),
        ("S:notice:epoch:3", 1, FALLBACK.text),
    ]
    assert {(record["category"], record["severity"], *record["actions"]) for record in bench.records} == {
        ("unknown", "warning")
    }


def test_a_fallback_is_a_line_for_everybody_else() -> None:
    bench = Bench()
    bench.notices.show_fallback(FALLBACK)
    assert bench.lines == [f"**Model fallback:** {FALLBACK.text}"]


@pytest.mark.contract("SE-120")
@given(st.text(alphabet="ab #*_`\n", max_size=400))
def test_a_notice_has_a_short_title_and_loses_no_word(text: str) -> None:
    update = notice("info", text, "Claude reported a notice")
    title, description = str(update["title"]), str(update.get("description", ""))
    assert 0 < len(title) <= 256
    assert "\n" not in title
    standard = title == "Claude reported a notice"
    said = description if standard else f"{title}\n{description}"
    assert [c for c in said if c in "ab"] == [c for c in text if c in "ab"]


@pytest.mark.contract("SE-120")
@pytest.mark.parametrize(
    ("text", "title", "description"),
    [
        ("**Low** on `space`", "Low on space", None),
        ("# Low\nDelete files.", "Low", "Delete files."),
        ("x" * 257, "Claude reported a notice", "x" * 257),
        ("a\n" + "x" * 300, "a", "x" * 300),
    ],
)
def test_the_first_line_is_the_title(text: str, title: str, description: str | None) -> None:
    update = notice("info", text, "Claude reported a notice")
    assert (update["title"], update.get("description")) == (title, description)


def test_a_new_process_is_told_in_each_form() -> None:
    for kind, kinds in (("plain", ["agent_message_chunk"]), ("rfd", ["notice"]), ("air", [])):
        bench = Bench(kind)
        bench.notices.show_restart()
        assert bench.client.kinds == kinds
