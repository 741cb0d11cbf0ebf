"""Results as content: blocks, fences, files, commands, reports of subagents."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.tools.facts import UNDECIDED, ResultFacts
from bridge.tools.reporters import reporter_of
from bridge.tools.reporters.agent import HAND_BACK
from bridge.tools.reporters.plan_mode import unfenced
from bridge.tools.reporters.reporter import ResultView, UseView
from bridge.tools.results import block_text, converted, md_fence
from tests.bridge.tools.clients import AIR, AIR_BARE, PLAIN
from tests.bridge.tools.test_titles import text

Input = dict[str, Any]


def result(
    tool: str,
    content: object,
    structured: Input | None = None,
    *,
    given: Input | None = None,
    client: ClientCapabilities = PLAIN,
    error: bool = False,
) -> ResultFacts:
    view = ResultView(UseView(tool, given or {}, client, "/w", "/h"), content, structured or {})
    return reporter_of(tool).error(view) if error else reporter_of(tool).result(view)


# ── blocks ────────────────────────────────────────────────────────────────────

BLOCKS: list[tuple[Input, str]] = [
    ({"type": "text", "text": "a"}, "a"),
    ({"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}, "[image: https://a/b.png]"),
    ({"type": "image", "source": {"type": "file", "file_id": "f"}}, "[image: file reference]"),
    ({"type": "document", "source": {"type": "url", "url": "https://a"}}, "[document: https://a]"),
    (
        {"type": "document", "title": "T", "source": {"type": "url", "url": "https://a"}},
        '[document "T": https://a]',
    ),
    (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 1364},
        },
        "[document: application/pdf, 1023 B]",
    ),
    (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 2048},
        },
        "[document: application/pdf, 1.5 KB]",
    ),
    (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x" * 1572864}},
        "[document: text/plain, 1.5 MB]",
    ),
    ({"type": "document", "title": "T", "source": {"type": "content"}}, '[document "T"]'),
    ({"type": "document"}, "[document]"),
    ({"type": "tool_reference", "tool_name": "X"}, "Tool: X"),
    (
        {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"tool_name": "a"}, {"tool_name": "b"}],
        },
        "Tools found: a, b",
    ),
    ({"type": "tool_search_tool_search_result", "tool_references": []}, "Tools found: none"),
    ({"type": "web_search_result", "title": "A", "url": "https://a"}, "A (https://a)"),
    ({"type": "web_fetch_result", "url": "https://a", "content": {}}, "Fetched: https://a"),
    ({"type": "code_execution_result", "stdout": "o", "stderr": "e"}, "Output: o"),
    ({"type": "bash_code_execution_result", "stdout": "", "stderr": "e"}, "Output: e"),
    ({"type": "bash_code_execution_result"}, "Output: "),
    ({"type": "text_editor_code_execution_view_result", "content": "c"}, "c"),
    ({"type": "text_editor_code_execution_create_result", "is_file_update": True}, "File updated"),
    ({"type": "text_editor_code_execution_create_result", "is_file_update": False}, "File created"),
    ({"type": "text_editor_code_execution_str_replace_result", "lines": ["-a", "+b"]}, "-a\n+b"),
    ({"type": "web_search_tool_result_error", "error_code": "max_uses"}, "Error: max_uses"),
    (
        {"type": "web_fetch_tool_result_error", "error_code": "e", "error_message": "why"},
        "Error: e",
    ),
    (
        {"type": "tool_search_tool_result_error", "error_code": "e", "error_message": "why"},
        "Error: e - why",
    ),
    (
        {"type": "text_editor_code_execution_tool_result_error", "error_code": "e", "error_message": "why"},
        "Error: e - why",
    ),
    ({"type": "novel", "ä": [1, 2]}, '{"type":"novel","ä":[1,2]}'),
]


@pytest.mark.contract("TC-083", "TC-146")
@pytest.mark.parametrize(("block", "shown"), BLOCKS)
def test_a_block_is_shown_as_text(block: Input, shown: str) -> None:
    assert block_text(block) == shown
    assert converted([block]) == [text(shown)]
    assert converted([block], fenced=True) == [text(f"```\n{shown}\n```")]


def test_an_image_is_an_image_also_in_an_error() -> None:
    block = {"type": "image", "source": {"type": "base64", "data": "QQ==", "media_type": "image/png"}}
    image = {"type": "content", "content": {"type": "image", "data": "QQ==", "mimeType": "image/png"}}

    assert converted([block]) == converted([block], fenced=True) == [image]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (None, None),
        ("", None),
        ([], None),
        ("a", [text("a")]),
        (["a", 3], [text("a"), text("3")]),
        ({"type": "text", "text": "a"}, [text("a")]),
    ],
)
def test_a_result_may_be_a_string_a_block_or_a_list(content: object, shown: object) -> None:
    assert converted(content) == shown


# ── fences ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("shown", "fence"),
    [
        ("a", "```"),
        ("", "```"),
        ("``", "```"),
        ("a\n```x", "````"),
        ("````", "`````"),
        ("  ````", "```"),
        ("a ````", "```"),
        ("```\n`````\n````", "``````"),
    ],
)
def test_a_fence_is_longer_than_any_at_the_start_of_a_line(shown: str, fence: str) -> None:
    assert md_fence(shown).split("\n")[0] == fence


@given(st.text(alphabet="`a \n", max_size=40))
def test_a_fenced_text_reads_back_as_it_was(shown: str) -> None:
    fence, *lines = md_fence(shown).split("\n")
    closing = next(number for number, line in enumerate(lines) if line.startswith(fence))

    assert closing == len(lines) - 1
    assert "\n".join(lines[:closing]) == shown.removesuffix("\n")


@pytest.mark.parametrize(
    ("shown", "bare"),
    [
        ("a", "a"),
        ("```\na\nb\n```", "a\nb"),
        ("```md\na\n```\n", "a"),
        ("````\n```\na\n```\n````", "```\na\n```"),
        ("```\na\n```\nb\n```\nc\n```", "```\na\n```\nb\n```\nc\n```"),
        ("```\na", "```\na"),
    ],
)
def test_one_fence_around_everything_comes_off(shown: str, bare: str) -> None:
    assert unfenced(shown) == bare


# ── files ─────────────────────────────────────────────────────────────────────


def file(content: str, **more: object) -> Input:
    return {"type": "text", "file": {"content": content, **more}}


@pytest.mark.contract("TC-083", "TC-116")
@pytest.mark.parametrize(
    ("structured", "shown"),
    [
        (file("a\nb\n", startLine=1), "```\n1\ta\n2\tb\n```"),
        (file("a\n\n", startLine=7), "```\n7\ta\n8\t\n```"),
        (file("b"), "```\n3\tb\n```"),
        (
            file("a", startLine=1, truncatedByTokenCap=True, numLines=1, totalLines=9),
            "```\n1\ta\n[File truncated: showing 1 of 9 lines]\n```",
        ),
        (file("a", startLine=1, truncatedByTokenCap=True), "```\n1\ta\n[File truncated]\n```"),
        (file("", startLine=1), "```\n<reminder>\n```"),
        ({"type": "image", "file": {"content": "x"}}, "```\n<reminder>\n```"),
        ({}, "```\n<reminder>\n```"),
    ],
)
def test_a_file_is_shown_without_what_is_said_to_the_model(structured: Input, shown: str) -> None:
    for client in (PLAIN, AIR, AIR_BARE):
        found = result("Read", "<reminder>", structured, given={"offset": 3}, client=client)
        assert found.content == [text(shown)]


def test_the_lines_of_a_file_end_at_line_feeds_alone() -> None:
    found = result("Read", "", file("a\u2028b\x0cc\r\nd", startLine=1))

    assert found.content == [text("```\n1\ta\u2028b\x0cc\r\n2\td\n```")]


# ── commands ──────────────────────────────────────────────────────────────────


def streams(**more: object) -> Input:
    return {"stdout": "out", "stderr": "err", "interrupted": False, "isImage": False, **more}


COMMANDS: list[tuple[object, Input, tuple[str | None, int | None, bool]]] = [
    ("raw", streams(), ("out\nerr", 0, False)),
    ("raw", streams(stdout=""), ("err", 0, False)),
    ("raw", streams(stdout="", stderr=""), ("", 0, False)),
    ("raw", streams(interrupted=True), ("out\nerr\n[Command was aborted before completion]", None, True)),
    (
        "raw",
        streams(persistedOutputPath="/t/o", persistedOutputSize=99),
        ("out\nerr\n[Output truncated (99 bytes total): full output saved to /t/o]", 0, False),
    ),
    (
        "raw",
        streams(persistedOutputPath="/t/o"),
        ("out\nerr\n[Output truncated: full output saved to /t/o]", 0, False),
    ),
    ("raw", streams(returnCodeInterpretation="No matches"), ("out\nerr", None, False)),
    ("started", streams(backgroundTaskId="b1"), ("started", None, False)),
    ("raw", streams(stdout=None), ("raw", 0, False)),
    ("raw", {}, ("raw", 0, False)),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {}, ("a\nb", 0, False)),
    ([{"type": "image"}], streams(isImage=True), (None, 0, False)),
    (None, {}, ("", 0, False)),
]


@pytest.mark.contract("TC-086", "TC-077")
@pytest.mark.parametrize(("content", "structured", "output"), COMMANDS)
def test_the_output_of_a_command(
    content: object, structured: Input, output: tuple[str | None, int | None, bool]
) -> None:
    command = result("Bash", content, structured).command

    assert command is not None
    assert (command.text, command.exit_code, command.interrupted) == output


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("Exit code 3\nbad", 3),
        ("Exit code 127", 127),
        ("Exit codes 3", None),
        ("bad\nExit code 3", None),
        ("", None),
    ],
)
def test_the_exit_code_of_a_failure_leads_its_text(content: str, code: int | None) -> None:
    found = result("Bash", content, streams(), error=True)

    assert found.command is not None
    assert (found.command.text, found.command.exit_code) == (content, code)
    assert found.content == ([text(f"```\n{content}\n```")] if content else None)


@pytest.mark.contract("TC-071", "TC-086")
@pytest.mark.parametrize(
    ("stdout", "shown"), [("a\n\n  \n", "```console\na\n```"), ("  a", "```console\n  a\n```"), (" \n", None)]
)
def test_output_without_a_terminal_is_a_console_block(stdout: str, shown: str | None) -> None:
    found = result("Bash", "raw", {"stdout": stdout, "stderr": ""})

    assert found.content == ([text(shown)] if shown else None)


# ── reports of subagents ──────────────────────────────────────────────────────

TRAILER = "agentId: a1-b_2 (use SendMessage with to: 'a1' to go on)\n<usage>subagent_tokens: 15\n</usage>"


def report(content: object, structured: Input | None = None) -> list[str]:
    shown = result("Agent", content, structured).content or ()
    return [item["content"]["text"] for item in shown if isinstance(item["content"], dict)]


@pytest.mark.contract("TC-132")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("All is well.", "All is well."),
        (f"All is well.\n{TRAILER}", "All is well."),
        (f"{HAND_BACK}\n  All\n    is well.\n{TRAILER}", "All\n  is well."),
        (f"  note\n  \n{HAND_BACK}\n  body\n{TRAILER}", "note\n\nbody"),
        (f"  {HAND_BACK}\n  forged", f"  {HAND_BACK}\n  forged"),
        (f"{HAND_BACK} and more\n  x", f"{HAND_BACK} and more\n  x"),
        ("a <usage>b</usage> c", "a <usage>b</usage> c"),
        ("a\n<usage>1</usage>\n<usage>2</usage>", "a\n<usage>1</usage>"),
        ("agentId: a1 (one) two", "agentId: a1 (one) two"),
        ("x agentId: a1 (one)", "x agentId: a1 (one)"),
        (
            "NOTE: this agent stopped at its 5-turn limit before finishing. It may go on.\n\nSo far.",
            "[Agent stopped at its turn limit — the output below is partial]\n\nSo far.",
        ),
    ],
)
def test_a_report_comes_without_its_frame(raw: str, shown: str) -> None:
    assert report([{"type": "text", "text": raw}]) == [shown]
    assert report(raw) == [shown]


@pytest.mark.contract("TC-132")
def test_a_structured_report_is_taken_as_it_is() -> None:
    told = [{"type": "text", "text": f"{HAND_BACK}\nx"}, {"type": "text", "text": "y"}]

    assert report("raw", {"status": "completed", "content": told}) == [f"{HAND_BACK}\nx", "y"]
    assert report("raw", {"status": "completed", "content": []}) == ["raw"]
    assert report("launched", {"status": "async_launched", "content": told}) == ["launched"]
    limit = "  NOTE: this agent stopped at its 30-turn limit before finishing. x"
    stopped = {"status": "completed", "content": [{"type": "text", "text": limit}]}
    assert report("raw", stopped) == ["[Agent stopped at its turn limit — the output below is partial]"]


def test_a_block_of_the_trailer_alone_is_not_shown() -> None:
    assert report([{"type": "text", "text": "x"}, {"type": "text", "text": TRAILER}]) == ["x"]


# ── the rest ──────────────────────────────────────────────────────────────────


@pytest.mark.contract("TC-130")
@pytest.mark.parametrize(
    ("structured", "shown"),
    [
        ({"results": ["said", {"title": "A", "url": "u"}, {"title": "B"}, 3, ""]}, "said\nA (u)"),
        ({"results": [{"tool_use_id": "s", "content": [{"title": "A", "url": "u"}]}]}, "A (u)"),
        ({"results": []}, "raw"),
        ({"results": "x"}, "raw"),
        ({}, "raw"),
    ],
)
def test_hits_come_without_instructions(structured: Input, shown: str) -> None:
    assert result("WebSearch", "raw", structured).content == [text(shown)]


@pytest.mark.contract("TC-136", "TC-137")
def test_the_reason_of_a_rejected_plan() -> None:
    reason = "```\nNot yet\n```"

    for_air = result("ExitPlanMode", reason, client=AIR_BARE, error=True)
    assert (for_air.content, for_air.raw_output) == (None, "Not yet")
    for_others = result("ExitPlanMode", reason, error=True)
    assert (for_others.content, for_others.raw_output) == ([text("```\nNot yet\n```")], "Not yet")


@pytest.mark.contract("TC-125", "TC-126")
def test_a_shown_cell_needs_no_result() -> None:
    source = {"notebook_path": "/n", "new_source": "x"}

    assert result("NotebookEdit", "Done", given=source, client=AIR_BARE) == ResultFacts(raw_output=None)
    assert result("NotebookEdit", "Done", given={}, client=AIR_BARE).content == [text("Done")]
    assert result("NotebookEdit", "Done", given=source).content == [text("Done")]


@pytest.mark.parametrize("tool", ["Edit", "Write", "Skill"])
def test_a_mere_confirmation_is_no_content(tool: str) -> None:
    found = result(tool, "Done")

    assert (found.content, found.raw_output) == (None, UNDECIDED)
    assert result(tool, "No", error=True).content == [text("```\nNo\n```")]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "text",
                        "source",
                        "file",
                        "content",
                        "results",
                        "status",
                        "stdout",
                        "stderr",
                        "lines",
                        "data",
                        "title",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
    st.sampled_from(["Read", "Bash", "Agent", "WebSearch", "ExitPlanMode", "Skill", "mcp__a__b"]),
)
def test_no_result_breaks_a_reporter(anything: Any, tool: str) -> None:
    structured = anything if isinstance(anything, dict) else {}

    for error in (True, False):
        found = result(tool, anything, structured, error=error)
        assert all(item["type"] in ("content", "terminal", "diff") for item in found.content or ())
