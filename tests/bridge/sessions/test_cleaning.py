import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sessions.replay.cleaning import (
    is_login_request,
    is_usage_limit,
    summary_body,
    visible_text,
    without_any_mark,
    without_marks,
)

TAGS = [
    f"<{slash}{name}>" for name in ("command-name", "command-args", "system-reminder") for slash in ("", "/")
]
PIECES = st.lists(st.sampled_from([*TAGS, "a", " ", "\n", "<", ">", "/x"]), max_size=16).map("".join)


@pytest.mark.contract("SE-063", "SE-064", "SE-065")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hello", "hello"),
        ("  a < b  ", "  a < b  "),
        (" \n", ""),
        ("<system-reminder>x</system-reminder>", ""),
        ("a<system-reminder>x\ny</system-reminder>b", "a<system-reminder>x\ny</system-reminder>b"),
        ("<system-reminder>x</system-reminder>\na", "\na"),
        ("a\n<system-reminder>x</system-reminder>\n", "a\n\n"),
        (
            "<system-reminder>x</system-reminder>What is <command-name>/a</command-name> for?",
            "What is <command-name>/a</command-name> for?",
        ),
        ("<command-name>/foo</command-name> hello <command-args>a</command-args>", " hello "),
        ("<system-reminder>open", "<system-reminder>open"),
        ("</system-reminder>", "</system-reminder>"),
        ("<system-reminder>a<system-reminder>b</system-reminder>c", "c"),
        ("<system-reminder>a<command-name>b</system-reminder>c</command-name>", "c</command-name>"),
        ("<system-reminder >x</system-reminder>", "<system-reminder >x</system-reminder>"),
        ('<context ref="x">y</context>', '<context ref="x">y</context>'),
        (
            "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>Bob</command-args>",
            "/greet Bob",
        ),
        ("<command-name> /clear </command-name>\n <command-args> </command-args>", "/clear"),
        (
            "<command-name>/mcp__demo__hello</command-name><command-args>World</command-args>",
            "/mcp__demo__hello World",
        ),
        ("<command-name>greet</command-name>", ""),
        ("<command-args>Bob</command-args>", ""),
        ("<command-name>/x</command-name><local-command-stdout></local-command-stdout>", ""),
        ("<local-command-stderr>x</local-command-stderr>", ""),
        ("<task-notification>x</task-notification>", ""),
        *(
            (f"<command-name>/{name}</command-name><command-args>x</command-args>", "")
            for name in (
                "context",
                "heapdump",
                "extra-usage",
                "compact",
                "model",
                "mcp",
                "status",
                "usage",
                "mcp reconnect",
            )
        ),
        ("<command-name>/models</command-name>", "/models"),
    ],
)
def test_what_a_person_sees(text: str, shown: str) -> None:
    assert visible_text(text) == shown


@pytest.mark.contract("SE-063")
@given(PIECES)
def test_each_opening_goes_up_to_the_nearest_closing(text: str) -> None:
    """Against the plain way to say it, which takes quadratic time."""
    pieces: list[tuple[bool, str]] = []
    plain, rest = "", text
    while found := re.search("<(command-name|command-args|system-reminder)>", rest):
        closing = rest.find(f"</{found[1]}>", found.end())
        if closing < 0:
            plain, rest = plain + rest[: found.end()], rest[found.end() :]
        else:
            end = closing + len(found[1]) + 3
            pieces += [(False, plain + rest[: found.start()]), (True, rest[found.start() : end])]
            plain, rest = "", rest[end:]
    pieces.append((False, plain + rest))
    written = [at for at, (marked, piece) in enumerate(pieces) if not marked and piece.strip()]
    first, last = (written[0], written[-1]) if written else (len(pieces), 0)
    kept = [piece for at, (marked, piece) in enumerate(pieces) if not marked or first < at < last]
    assert without_marks(text) == "".join(kept)


@pytest.mark.contract("SE-066")
@pytest.mark.parametrize(
    "unit",
    [
        "<system-reminder>",
        "</system-reminder>",
        "<command-name>",
        "<system-reminder></system-reminder>",
        "<system-reminder>x</command-name>",
        "<command-name><command-args></command-name></command-args>",
        "<",
        " ",
    ],
)
def test_cleaning_takes_linear_time(unit: str) -> None:
    text = unit * (3_000_000 // len(unit))
    start = time.monotonic()
    visible_text(text)
    summary_body(f"This session is being continued from a previous conversation{text}")
    assert time.monotonic() - start < 20, "a hang: quadratic time would be hours"


@pytest.mark.contract("SE-068")
@pytest.mark.parametrize(
    ("text", "is_limit"),
    [
        ("You've hit your session limit · resets 5pm", True),
        ("You're out of extra usage", True),
        ("Fable 5 requires usage credits", True),
        ("Your org is out of usage", False),
        ("Sorry: You've hit your limit", False),
        ("", False),
    ],
)
def test_usage_limits_are_known_by_their_beginning(text: str, is_limit: bool) -> None:
    assert is_usage_limit(text) == is_limit


def test_a_usage_limit_that_mentions_the_login_is_no_request_for_it() -> None:
    assert is_login_request("Not logged in · Please run /login")
    assert not is_login_request("You've hit your limit. Run /login to switch")


START = "This session is being continued from a previous conversation that ran out of context.\n\n"
DETAILS = "If you need specific details from before compaction (like code), read the transcript"
GO_ON = "Continue the conversation from where it left off without asking the user any further questions."


def test_no_mark_stays_in_what_claude_code_wrote_by_itself() -> None:
    text = "A<system-reminder>x</system-reminder>B<command-name>/y</command-name>C<system-reminder>"
    assert without_any_mark(text) == "ABC<system-reminder>"
    assert without_any_mark("plain") == "plain"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (f"{START}Summary:\nA.\n\nB.", "A.\n\nB."),
        (f"{START}<system-reminder>x</system-reminder>\nSummary:\nA.\n\n{DETAILS}\n{GO_ON}", "A."),
        (f"{START}Summary:\nA.\nPlease continue the conversation from where we left it off without", "A."),
        (f"{START}<analysis>\nSummary:\nno\n</analysis>\n\n<summary>A.</summary>", "A."),
        (f"{START}Summary:\n  \n", None),
        (f"{START}nothing known", None),
        ("Summary:\nA.", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_core_of_a_summary(text: str, body: str | None) -> None:
    assert summary_body(text) == body
