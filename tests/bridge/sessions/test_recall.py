from pathlib import Path
from typing import Any

import pytest

from bridge.sessions.recall import LastChoices, last_choices
from tests.bridge.sessions.histories import History, identity


def history() -> History:
    history = History(identity(1))
    history.prompt("hello", "acceptEdits")
    history.answer("yes", model="claude-opus-5-5")
    return history


def recalled(history: History, folder: Path) -> LastChoices:
    return last_choices(history.write(folder / "t.jsonl"))


@pytest.mark.contract("SE-029", "SE-030", "SE-031")
@pytest.mark.parametrize(
    ("model", "fields", "known"),
    [
        ("claude-sonnet-5-5", {}, "claude-sonnet-5-5"),
        ("<synthetic>", {}, "claude-opus-5-5"),
        ("<other>", {}, "claude-opus-5-5"),
        ("", {}, "claude-opus-5-5"),
        ("claude-haiku", {"isSidechain": True}, "claude-opus-5-5"),
    ],
)
def test_the_model_is_that_of_the_last_real_answer_of_the_main_thread(
    tmp_path: Path, model: str, fields: dict[str, Any], known: str
) -> None:
    conversation = history()
    conversation.answer("more", model=model, **fields)
    conversation.answer('"assistant" in a text')
    conversation.records[-1]["message"]["model"] = 3
    assert recalled(conversation, tmp_path) == LastChoices(known, "acceptEdits")


@pytest.mark.parametrize(("effort", "known"), [("high", "high"), (7, None), (None, None)])
def test_the_effort_is_that_of_the_same_answer(tmp_path: Path, effort: object, known: str | None) -> None:
    conversation = history()
    conversation.records[-1]["effort"] = "low"
    conversation.answer("more", model="claude-sonnet-5-5", effort=effort)
    assert recalled(conversation, tmp_path).effort == known


def test_what_stands_behind_the_end_of_a_copy_tells_nothing(tmp_path: Path) -> None:
    conversation = history()
    end = conversation.leaf
    conversation.prompt("more", "plan")
    conversation.answer("yes", model="claude-sonnet-5-5")
    path = conversation.write(tmp_path / "t.jsonl")
    assert last_choices(path, end) == LastChoices("claude-opus-5-5", "acceptEdits")
    assert last_choices(path, conversation.leaf) == LastChoices("claude-sonnet-5-5", "plan")


@pytest.mark.contract("SE-032", "SE-033")
@pytest.mark.parametrize("kind", ["empty", "missing", "folder", "noise", "no answer"])
def test_a_transcript_that_tells_nothing_is_no_failure(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.jsonl"
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "folder":
            path.mkdir()
        case "noise":
            path.write_bytes(
                b'"assistant" "permissionMode"\n\xff{}\n[]\n{"type":"assistant","message":3}\n{"type":"user"}'
            )
        case "no answer":
            path.write_text('{"type":"attachment","attachment":3,"x":"human"}\n')
    assert last_choices(path) == LastChoices()


def test_the_mode_is_that_of_the_last_prompt_that_has_one(tmp_path: Path) -> None:
    conversation = history()
    conversation.prompt("plan it", "plan")
    conversation.answer("I look.")
    conversation.add("user", message={"role": "user", "content": "x"}, origin={"kind": "task-notification"})
    conversation.add("user", permissionMode="auto", isSidechain=True)
    assert recalled(conversation, tmp_path).mode == "plan"


def test_a_prompt_of_the_user_without_a_mode_ends_the_search(tmp_path: Path) -> None:
    conversation = history()
    conversation.prompt("/greet", None)
    conversation.answer("hello")
    assert recalled(conversation, tmp_path) == LastChoices("claude-opus-5-5", None)


@pytest.mark.parametrize(("mode", "known"), [("plan", None), ("auto", "auto")])
def test_a_plan_that_was_left_is_no_mode(tmp_path: Path, mode: str, known: str | None) -> None:
    conversation = history()
    conversation.prompt("plan it", mode)
    conversation.add("attachment", attachment={"type": "plan_mode_exit"})
    assert recalled(conversation, tmp_path).mode == known


def test_a_plan_that_was_left_before_counts_when_entered_again(tmp_path: Path) -> None:
    conversation = history()
    conversation.add("attachment", attachment={"type": "plan_mode_exit"})
    conversation.prompt("plan it", "plan")
    assert recalled(conversation, tmp_path).mode == "plan"


def test_no_more_is_read_than_both_need(tmp_path: Path) -> None:
    conversation = History(identity(1))
    conversation.prompt("x" * 3_000_000)
    conversation.answer("x" * 3_000_000)
    conversation.prompt("last", "plan")
    conversation.answer("yes")
    path = conversation.write(tmp_path / "t.jsonl")
    with path.open("r+b") as file:
        file.write(b"\0" * 1_000_000)  # would be nonsense to read
    assert last_choices(path) == LastChoices("claude-opus-5-5", "plan")


def test_lines_longer_than_a_chunk_are_found(tmp_path: Path) -> None:
    conversation = history()
    conversation.prompt("x" * 300_000, "auto")
    conversation.answer("y" * 300_000, model="claude-fable")
    conversation.note("attachment", content="z" * 300_000)
    assert recalled(conversation, tmp_path) == LastChoices("claude-fable", "auto")
