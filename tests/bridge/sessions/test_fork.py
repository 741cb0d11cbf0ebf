import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.sessions.chain import open_transcript
from bridge.sessions.fork import ForkPoint, find_fork_record, fingerprint, read_fork_point
from tests.bridge.sessions.histories import History, call, identity

HELLO = "sha256:" + hashlib.sha256(b"hello").hexdigest()


def found(history: History, folder: Path, *point: Any, live: dict[str, str] | None = None) -> str | None:
    path = history.write(folder / "t.jsonl")
    with open_transcript(path) as transcript:
        return find_fork_record(ForkPoint(*point), transcript, live)


def uuids(history: History, message_id: str) -> list[str]:
    return [each["uuid"] for each in history.records if each.get("message", {}).get("id") == message_id]


@pytest.mark.contract("SE-038", "SE-039", "SE-045")
@pytest.mark.parametrize(
    ("fork", "point"),
    [
        ({"version": 1, "messageId": "m"}, ForkPoint("m")),
        ({"version": 1.0, "messageId": " m "}, ForkPoint("m")),
        (
            {"version": 1, "messageId": "m", "messageFingerprint": " f ", "messageOccurrence": 2},
            ForkPoint("m", "f", 2),
        ),
        ({"version": 1, "messageId": "m", "messageFingerprint": " ", "messageOccurrence": 0}, ForkPoint("m")),
        ({"version": 1, "messageId": "m", "messageFingerprint": 3, "messageOccurrence": 1.5}, ForkPoint("m")),
        ({"version": 1, "messageId": "m", "messageOccurrence": True}, ForkPoint("m")),
        ({"version": 1, "messageId": "m", "messageOccurrence": 2.0}, ForkPoint("m", None, 2)),
        ({"version": 1, "messageId": "m", "messageOccurrence": float("inf")}, ForkPoint("m")),
        ({"version": 1, "messageId": "m", "messageOccurrence": float("nan")}, ForkPoint("m")),
        ({"version": 2, "messageId": "m"}, None),
        ({"version": True, "messageId": "m"}, None),
        ({"version": "1", "messageId": "m"}, None),
        ({"messageId": "m"}, None),
        ({"version": 1, "messageId": " \n"}, None),
        ({"version": 1, "messageId": 3}, None),
        ({"version": 1}, None),
        (None, None),
        ([1], None),
    ],
)
def test_the_fork_object(fork: object, point: ForkPoint | None) -> None:
    assert read_fork_point({"fork": fork}) == point


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda each: (
            st.lists(each) | st.dictionaries(st.sampled_from(["fork", "version", "messageId"]), each)
        ),
    )
)
def test_no_metadata_is_an_exception(air: object) -> None:
    point = read_fork_point(air)
    assert point is None or point.message_id.strip()


@pytest.mark.contract("SE-040", "SE-041", "SE-051")
def test_the_last_record_of_the_answer_is_found_by_its_id(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("go")
    first = history.answer("I look.", call("toolu_1"), call("toolu_2"), message_id="msg_1")
    history.results("toolu_1", "toolu_2")
    history.answer("Done.", message_id="msg_1:segment:2")
    last = uuids(history, first)[-1]
    assert found(history, tmp_path, "msg_1") == last
    assert found(history, tmp_path, "msg_1:segment:7") == last
    assert found(history, tmp_path, "msg_1:segment:2") == uuids(history, "msg_1:segment:2")[-1], (
        "the exact id first"
    )
    assert found(history, tmp_path, "msg_1:segment:x") is None
    assert found(history, tmp_path, "nope") is None


@pytest.mark.contract("SE-041")
def test_this_run_goes_before_the_active_history_and_that_before_dead_branches(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("go")
    start = history.leaf
    history.answer("one", message_id="msg_1")
    active = history.leaf
    history.leaf = start
    history.answer("two", message_id="msg_dead")
    dead = history.leaf
    history.leaf = active
    history.answer("three", message_id="msg_3")
    assert found(history, tmp_path, "msg_1") == active
    assert found(history, tmp_path, "msg_dead") == dead
    assert found(history, tmp_path, "msg_1", live={"msg_1": "live"}) == "live"
    assert found(history, tmp_path, "msg_1:segment:1", live={"msg_1": "live"}) == "live"


@pytest.mark.contract("SE-052")
def test_subagents_are_no_fork_points(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("go")
    leaf = history.leaf
    history.answer("hello", message_id="msg_agent", isSidechain=True, agentId="a")
    history.leaf = leaf
    history.answer("done", message_id="msg_1")
    assert found(history, tmp_path, "msg_agent") is None
    assert found(history, tmp_path, "other", HELLO, 1) is None


@pytest.mark.contract("SE-042", "SE-049")
@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_the_fingerprint_is_of_all_texts_joined(texts: list[str]) -> None:
    assert fingerprint(texts) == "sha256:" + hashlib.sha256("".join(texts).encode()).hexdigest()


@pytest.mark.contract("SE-042", "SE-043", "SE-044", "SE-047", "SE-049")
def test_a_single_answer_with_the_text_is_found_whatever_the_occurrence(tmp_path: Path) -> None:
    history = History(identity(1))
    history.prompt("hello")
    history.answer("hel", {"type": "thinking", "thinking": "x"}, call("toolu_1"), "lo", message_id="msg_1")
    last = history.leaf
    history.answer("other", message_id="msg_2")
    for occurrence in (None, 1, 7):
        assert found(history, tmp_path, "gone", HELLO, occurrence) == last
    assert found(history, tmp_path, "msg_2", HELLO, 1) == history.leaf, "an id that is there goes before"
    assert found(history, tmp_path, "gone", "sha256:0", 1) is None
    assert found(history, tmp_path, "gone", None, 1) is None


@pytest.mark.contract("SE-044", "SE-046", "SE-048")
def test_of_several_the_occurrence_on_the_branch_decides(tmp_path: Path) -> None:
    history = History(identity(1))
    ends: list[str | None] = []
    for number in range(3):
        history.prompt("again")
        history.answer("hel", "lo", message_id=f"msg_{number}")
        ends.append(history.leaf)
    for occurrence, end in enumerate(ends, 1):
        assert found(history, tmp_path, "gone", HELLO, occurrence) == end
    assert found(history, tmp_path, "gone", HELLO, 4) is None
    assert found(history, tmp_path, "gone", HELLO) is None
    history.leaf = ends[0]
    history.prompt("instead")
    history.answer("hello", message_id="msg_branch")
    assert found(history, tmp_path, "gone", HELLO, 2) is None, "two branches have a second one"
    assert found(history, tmp_path, "gone", HELLO, 3) == ends[2]


@pytest.mark.contract("SE-046")
@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=12), st.data())
def test_occurrences_count_along_the_branch(
    tmp_path_factory: pytest.TempPathFactory, equal: list[bool], data: st.DataObject
) -> None:
    history = History(identity(1))
    ends: list[str | None] = []
    for number, is_equal in enumerate(equal):
        history.prompt("x")
        history.answer("hello" if is_equal else "other", message_id=f"msg_{number}")
        if is_equal:
            ends.append(history.leaf)
    occurrence = data.draw(st.integers(1, len(equal)))
    expected = ends[0] if len(ends) == 1 else ends[occurrence - 1] if occurrence <= len(ends) else None
    assert found(history, tmp_path_factory.mktemp("t"), "gone", HELLO, occurrence) == expected


def test_a_cycle_ends_the_count(tmp_path: Path) -> None:
    history = History(identity(1))
    first, second = history.answer("hello", message_id="a"), history.answer("hello", message_id="b")
    history.records[0]["parentUuid"] = history.records[1]["uuid"]
    assert (first, second) == ("a", "b")
    assert found(history, tmp_path, "gone", HELLO, 1) is None
