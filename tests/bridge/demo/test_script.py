"""The script language: what stands in a prompt becomes exactly the items it names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.demo.script import (
    Cut,
    Delay,
    Error,
    Hang,
    Many,
    RawEvent,
    ScriptError,
    Stop,
    Text,
    Thinking,
    ToolCall,
    Usage,
    deltas,
    find_script,
    read_step,
    without_spent,
)


def test_a_prompt_without_a_directive_has_no_script() -> None:
    assert find_script("Please write a SCRIPT for me") is None


def test_a_directive_is_found_among_other_words() -> None:
    text = 'The user said: SCRIPT [["a", {"name": "Bash", "input": {"command": "ls"}}], ["b"]] and more [x]'
    assert find_script(text) == ((Text("a"), ToolCall("Bash", {"command": "ls"})), (Text("b"),))


def test_the_script_of_a_subagent_stays_in_its_prompt() -> None:
    inner = 'SCRIPT [["sub"]]'
    text = 'SCRIPT [[{"name": "Agent", "input": {"prompt": "SCRIPT [[\\"sub\\"]]"}}]]'
    assert find_script(text) == ((ToolCall("Agent", {"prompt": inner}),),)


def test_every_item_is_read() -> None:
    assert read_step(
        [
            "plain",
            {"text": "t", "size": 5, "pace": 0.5},
            {"thinking": ""},
            {"name": "Bash", "input": {"command": "ls"}, "pieces": 7, "id": "toolu_1"},
            {"many": [3, 20], "pace": 0.1},
            {"delay": 2},
            {"error": 529, "times": 2, "message": "m", "headers": {"retry-after": "1"}},
            {"hang": True, "times": 1},
            {"cut": True},
            {"event": {"type": "ping"}},
            {"stop": "refusal"},
            {"usage": {"input_tokens": 7}},
        ]
    ) == (
        Text("plain"),
        Text("t", 5, 0.5),
        Thinking(""),
        ToolCall("Bash", {"command": "ls"}, 7, 0.0, "toolu_1"),
        Many(3, 20, 0.1),
        Delay(2.0),
        Error(529, "m", {"retry-after": "1"}, 2),
        Hang(1),
        Cut(),
        RawEvent({"type": "ping"}),
        Stop("refusal"),
        Usage({"input_tokens": 7}),
    )


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("SCRIPT [[", "not JSON"),
        ('SCRIPT ["no step"]', "list of steps"),
        ("SCRIPT [[1]]", "not 1"),
        ('SCRIPT [[{"nothing": 1}]]', "no item has the keys"),
        ('SCRIPT [[{"text": "a", "speed": 1}]]', "'text' does not take ['speed']"),
        ('SCRIPT [[{"many": [1]}]]', "'many' has a wrong value"),
    ],
)
def test_a_malformed_directive_says_what_is_wrong(prompt: str, reason: str) -> None:
    with pytest.raises(ScriptError) as raised:
        find_script(prompt)
    assert reason in str(raised.value)


@given(st.text(), st.integers(0, 9))
def test_deltas_are_the_text(text: str, size: int) -> None:
    pieces = list(deltas(Text(text, size)))
    assert "".join(pieces) == text
    assert "" not in pieces
    if size:
        assert all(len(piece) <= size for piece in pieces)


def test_words_are_deltas() -> None:
    assert list(deltas(Text("two  words\nhere"))) == ["two ", " ", "words\nhere"]


def test_failures_are_spent_after_their_times() -> None:
    step = (Error(529, times=2), Hang(), Text("ok"))
    assert without_spent(step, 1) == step
    assert without_spent(step, 2) == (Hang(), Text("ok"))
