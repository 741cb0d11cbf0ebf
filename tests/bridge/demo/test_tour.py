"""The tour as a person sees it: two columns, a diff, a question, and a clear end."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from bridge.demo.client import Json
from bridge.demo.narrator import Narrator
from bridge.demo.screen import Screen
from bridge.demo.tour import run_demo


class Terminal(io.StringIO):
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def width(monkeypatch: pytest.MonkeyPatch) -> int:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return 80


@pytest.fixture
def out() -> io.StringIO:
    """What the screen has shown."""
    return io.StringIO()


def rows(out: io.StringIO) -> list[tuple[str, str]]:
    """Left and right column of each line that has both."""
    cells = [line.split("│") for line in out.getvalue().split("\n") if "│" in line]
    return [(left.strip(), right.strip()) for left, right in cells]


def update(kind: str, **more: object) -> Json:
    """A `session/update` of the agent."""
    return {
        "method": "session/update",
        "params": {"sessionId": "s", "update": {"sessionUpdate": kind, **more}},
    }


# ── the screen ────────────────────────────────────────────────────────────────


def test_streamed_words_flow_into_the_right_column(width: int, out: io.StringIO) -> None:
    screen = Screen(out)
    screen.client("Say it.")
    for word in ["lorem "] * 30:
        screen.stream(word)
    screen.agent("end")
    assert rows(out)[0] == ("Say it.", "")
    assert rows(out)[-1] == ("", "end")
    assert " ".join(right for _, right in rows(out)[1:-1]).split() == ["lorem"] * 30
    assert max(len(line.rstrip()) for line in out.getvalue().split("\n")) <= width
    assert len(rows(out)) > 4


def test_a_thought_and_an_answer_are_lines_of_their_own(out: io.StringIO) -> None:
    screen = Screen(out)
    screen.stream("thinking", "dim")
    screen.stream("speaking")
    screen.stream(" on\nnext")
    screen.line("done")
    assert [right for _, right in rows(out)] == ["thinking", "speaking on", "next"]


def test_a_diff_shows_what_goes_and_what_comes(out: io.StringIO) -> None:
    Screen(out).diff("poem.txt", "a\nb\nc\n", "a\nB\nc\n")
    assert [right for _, right in rows(out)] == ["poem.txt", "a", "-b", "+B", "c"]


def test_a_new_file_is_all_plus(out: io.StringIO) -> None:
    Screen(out).diff("new.txt", None, "a\nb\n")
    assert [right for _, right in rows(out)] == ["new.txt", "+a", "+b"]


def test_colours_are_for_terminals_alone(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    for target in (out, terminal):
        Screen(target).client("hello")
    assert "\x1b[" not in out.getvalue()
    assert "\x1b[" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    Screen(quiet := Terminal()).client("hello")
    assert "\x1b[" not in quiet.getvalue()


# ── the narrator ──────────────────────────────────────────────────────────────


def test_a_question_shows_the_change_once_and_is_answered_once(out: io.StringIO) -> None:
    narrator = Narrator(Screen(out), raw=False, trace=None)
    diff = {"type": "diff", "path": "/p/a.txt", "oldText": "a", "newText": "b"}
    call = {"toolCallId": "t", "name": "Edit", "title": "Edit a.txt", "content": [diff]}
    options = [{"optionId": "1", "name": "Always", "kind": "allow_always"}]
    options += [{"optionId": "2", "name": "Yes", "kind": "allow_once"}]
    assert narrator.ask({"toolCall": call, "options": options})["optionId"] == "2"
    narrator.observe(
        "received", update("tool_call_update", toolCallId="t", status="completed", content=[diff])
    )
    shown = [right for _, right in rows(out)]
    assert shown == ["⚙ Edit a.txt", "a.txt", "-a", "+b", "? May I?  [Always]  [Yes]", "✓ done"]
    assert narrator.heard.questions == ["Edit a.txt"]
    assert narrator.heard.diffs == [diff]


def test_the_output_of_a_command_is_shown_without_its_fence(out: io.StringIO) -> None:
    narrator = Narrator(Screen(out), raw=False, trace=None)
    text = {"type": "content", "content": {"type": "text", "text": "```console\n14 words\n```"}}
    report = update("tool_call", toolCallId="t", name="Bash", title="wc", status="failed", content=[text])
    narrator.observe("received", report)
    narrator.observe("received", report)
    assert [right for _, right in rows(out)] == ["⚙ Bash: wc", "14 words", "✗ failed"]
    assert narrator.heard.output == "14 words"


def test_transitions_come_from_the_trace_as_far_as_it_is_written(out: io.StringIO, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    narrator = Narrator(Screen(out), raw=False, trace=trace)
    narrator.show_transitions()
    step = {"type": "transition", "event": "activate", "source": "queued", "target": "working"}
    whole = [json.dumps({**step, "lifecycle": f"Turn:{key}"}) for key in ("a", "b", "a")]
    trace.write_text("\n".join([*whole, "garbage", '{"type": "event"}', '{"type": "tran']))
    narrator.show_transitions()
    assert re.findall(r"Turn \d +queued → working  \(activate\)", out.getvalue()) == [
        f"Turn {number}        queued → working  (activate)" for number in (1, 2, 1)
    ]


def test_raw_messages_are_shown_as_they_are(out: io.StringIO) -> None:
    narrator = Narrator(Screen(out), raw=True, trace=None)
    narrator.observe("sent", {"id": 1, "method": "initialize"})
    narrator.observe("received", {"id": 1, "result": {}})
    assert out.getvalue() == '→ {"id": 1, "method": "initialize"}\n← {"id": 1, "result": {}}\n'


# ── the whole tour ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("no-such-agent", "the agent cannot be started"),
        (f"{sys.executable} -c 'import sys; sys.exit(\"out of tea\")'", "out of tea"),
        (f"{sys.executable} -c 'print(1234)'", "the agent wrote no JSON-RPC message: b'1234"),
    ],
)
def test_a_tour_that_fails_says_why(agent: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo(["--agent", agent]) == 1
    shown = capsys.readouterr().out
    assert "✗" in shown
    assert reason in shown


@pytest.mark.live
def test_the_tour_goes_through(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo(["--transitions"]) == 0
    shown = capsys.readouterr().out
    for seen in (
        "① A streamed answer",
        "? May I?",
        "▸ Yes",
        "14 poem.txt",
        "-and Monday is too.",
        "+and fixed before two.",
        "▸ Stop",
        "· cancelled",
        "session closed",
        "✓ five steps",
    ):
        assert seen in shown
    assert re.search(r"· Turn 1 +queued → working", shown)
