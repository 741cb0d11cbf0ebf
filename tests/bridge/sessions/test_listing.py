import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.sessions import listing
from bridge.sessions.listing import PAGE, Page, SessionList, UnknownCursorError, iso_time, read_summary
from bridge.sessions.titles import shown_title
from tests.bridge.sessions.histories import History, folder_of, identity, store, write_many

CWD = "/home/u/proj"


def session(
    projects: Path, number: int = 0, text: str = "hello", cwd: str = CWD, changed: float = 1.0
) -> Path:
    history = History(identity(number), cwd)
    history.prompt(text)
    history.answer("yes")
    return store(projects, history, changed)


def pages(sessions: SessionList, cwd: str | None = None) -> Iterator[Page]:
    cursor = None
    while True:
        page = sessions.page(cwd, cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return


def test_a_row_names_the_session_its_directory_its_title_and_its_time(tmp_path: Path) -> None:
    session(tmp_path, 1, "hello\nworld", changed=1_790_000_000.457)
    (row,) = SessionList(tmp_path).page().rows
    assert (row.session_id, row.cwd, row.title) == (identity(1), CWD, "hello world")
    assert row.updated_at == "2026-09-21T14:13:20.457Z"


@pytest.mark.parametrize(
    ("nanoseconds", "time"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_499_999, "1970-01-01T00:00:00.001Z"),
        (999_500_000, "1970-01-01T00:00:01.000Z"),
    ],
)
def test_times(nanoseconds: int, time: str) -> None:
    assert iso_time(nanoseconds) == time


@pytest.mark.contract("SE-053", "SE-054", "SE-055", "TC-018", "TC-019", "TC-020")
def test_a_page_has_a_thousand_rows_the_newest_first(tmp_path: Path) -> None:
    write_many(tmp_path, PAGE + 3)
    sessions = SessionList(tmp_path)
    first, last = pages(sessions)
    assert (len(first.rows), first.next_cursor) == (PAGE, f"offset:{PAGE}")
    assert (len(last.rows), last.next_cursor) == (3, None)
    rows = [*first.rows, *last.rows]
    assert len({row.session_id for row in rows}) == PAGE + 3
    assert [row.updated_at for row in rows] == sorted((row.updated_at for row in rows), reverse=True)
    assert sessions.page(cursor="offset:99999") == Page((), None)
    assert sessions.page(cursor=f"offset:{'9' * 30}") == Page((), None)


@pytest.mark.contract("SE-054", "SE-055")
@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=14), st.integers(1, 5))
def test_the_pages_have_each_session_once_and_end_when_there_is_no_more(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[tuple[int, bool]], size: int
) -> None:
    projects = tmp_path_factory.mktemp("projects")
    for number, (changed, is_one) in enumerate(sessions):
        session(projects, number, "hello" if is_one else " ", changed=changed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "PAGE", size)
        found = [*pages(SessionList(projects))]
    ids = [row.session_id for page in found for row in page.rows]
    assert sorted(ids) == [identity(number) for number, (_, is_one) in enumerate(sessions) if is_one]
    assert all(len(page.rows) == size for page in found[:-1])
    assert bool(found[-1].rows) == bool(ids)


@pytest.mark.contract("SE-056")
@pytest.mark.parametrize(
    "cursor", ["", "zzz", "offset:", "offset:-1", "Offset:1", " offset:1", "offset:1\n", "offset:١", "1"]
)
def test_an_unknown_cursor_is_refused(tmp_path: Path, cursor: str) -> None:
    with pytest.raises(UnknownCursorError) as refusal:
        SessionList(tmp_path).page(cursor=cursor)
    assert refusal.value.args == (cursor,)


@pytest.mark.contract("SE-056")
@given(st.text())
def test_only_offsets_are_cursors(cursor: str) -> None:
    number = cursor.removeprefix("offset:")
    if not (number.isascii() and number.isdigit() and cursor != number):
        with pytest.raises(UnknownCursorError):
            SessionList(Path("/nowhere")).page(cursor=cursor)


def test_a_directory_has_exactly_its_own_sessions(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("a-b", "a/b", "a/b/c", "a")]
    for number, place in enumerate(places):
        place.mkdir(parents=True, exist_ok=True)
        session(tmp_path / "projects", number, cwd=str(place))
    (tmp_path / "link").symlink_to(places[1])
    sessions = SessionList(tmp_path / "projects")
    assert folder_of(tmp_path, str(places[0])) == folder_of(tmp_path, str(places[1])), (
        "the encoding loses this"
    )
    for cwd in (f"{places[1]}", f"{places[1]}/", f"{tmp_path / 'link'}"):
        assert [row.session_id for row in sessions.page(cwd).rows] == [identity(1)]
    assert sessions.page(str(tmp_path / "none")) == Page((), None)
    assert len(sessions.page().rows) == 4


def test_a_session_in_two_folders_is_listed_once(tmp_path: Path) -> None:
    session(tmp_path, 1, "old", cwd="/a", changed=1)
    session(tmp_path, 1, "new", cwd="/b", changed=2)
    assert [row.title for row in SessionList(tmp_path).page().rows] == ["new"]


def test_only_files_that_changed_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [session(tmp_path, number, changed=number) for number in range(4)]
    read: list[str] = []

    def reading(path: str) -> object:
        read.append(path)
        return read_summary(path)

    monkeypatch.setattr(listing, "read_summary", reading)
    sessions = SessionList(tmp_path)
    sessions.page()
    assert sorted(read) == sorted(map(str, paths))
    read.clear()
    session(tmp_path, 2, "changed", changed=9)
    paths[0].unlink()
    assert [row.title for row in sessions.page().rows] == ["changed", "hello", "hello"]
    assert read == [str(paths[2])]
    assert set(sessions._known) == {*map(str, paths[1:])}


def test_only_the_ends_of_a_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(identity(1), CWD)
    history.prompt("the first prompt")
    for _ in range(50):
        history.answer("x" * 10_000)
    history.note("custom-title", customTitle="in the middle")
    for _ in range(50):
        history.answer("x" * 10_000)
    path = store(tmp_path, history)
    summary = read_summary(path)
    assert summary is not None
    assert (summary.title, summary.cwd) == ("the first prompt", CWD)


@pytest.mark.parametrize(
    ("notes", "title"),
    [
        ({}, "the prompt"),
        ({"lastPrompt": "the last"}, "the last"),
        ({"lastPrompt": "the last", "aiTitle": "made"}, "made"),
        ({"lastPrompt": "the last", "aiTitle": "made", "customTitle": "given"}, "given"),
        ({"customTitle": "  ", "aiTitle": 3}, "the prompt"),
        ({"customTitle": "[archived] given"}, "[archived] given"),
        ({"customTitle": "a\n b\u2028c"}, "a b c"),
    ],
)
@pytest.mark.parametrize("length", [1, 200_000])
def test_the_best_title_is_shown(tmp_path: Path, notes: dict[str, object], title: str, length: int) -> None:
    history = History(identity(1), CWD)
    history.prompt("the prompt")
    history.answer("x" * length)
    for key, value in notes.items():
        history.note("some-title", **{key: f"an older {value}"})
        history.note("some-title", **{key: value})
    history.answer('the key stands in a text too: {"customTitle":"no","aiTitle":"no"}')
    history.add(
        "assistant",
        message={"content": [{"type": "tool_use", "input": {"customTitle": "no", "lastPrompt": "no"}}]},
    )
    if title == "the prompt" and notes:
        history.records = [record for record in history.records if "an older" not in str(record)]
    store(tmp_path, history)
    assert [row.title for row in SessionList(tmp_path).page().rows] == [title]


@pytest.mark.parametrize(
    "skipped",
    [
        {"content": "<local-command-stdout>x</local-command-stdout>"},
        {"content": "[Request interrupted by user for tool use]"},
        {"content": " <ide_opened_file>a\nb</ide_opened_file> "},
        {"content": "  "},
        {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        {"content": [{"type": "image"}, 3, {"type": "text", "text": 4}]},
        {"content": 3},
        {"content": "a caveat", "isMeta": True},
        {"content": "a summary", "isCompactSummary": True},
        {"content": "<command-name>/greet</command-name>"},
        {"content": "<command-name>" * 4_000},
    ],
)
def test_the_first_prompt_is_what_the_user_wrote_first(tmp_path: Path, skipped: dict[str, Any]) -> None:
    history = History(identity(1), CWD)
    history.prompt(skipped.pop("content"), **skipped)
    history.prompt([{"type": "text", "text": "really " + "x" * 300}])
    summary = read_summary(store(tmp_path, history))
    assert summary is not None
    assert (
        summary.first_prompt == f"really {'x' * 193}…"
        or summary.first_prompt == f"{'<command-name>' * 14}<com…"
    )


def test_a_command_is_the_first_prompt_when_nothing_else_is(tmp_path: Path) -> None:
    history = History(identity(1), CWD)
    history.prompt("<command-message>greet</command-message>\n<command-name>/greet</command-name>")
    summary = read_summary(store(tmp_path, history))
    assert summary is not None
    assert summary.first_prompt == "/greet"


def test_a_prompt_longer_than_the_head_does_not_hide_the_session(tmp_path: Path) -> None:
    history = History(identity(1), CWD)
    history.prompt([{"type": "image", "source": {"data": "A" * 300_000}}, {"type": "text", "text": "look"}])
    history.answer("nice")
    history.note("last-prompt", lastPrompt="look")
    store(tmp_path, history)
    assert [(row.title, row.cwd) for row in SessionList(tmp_path).page(CWD).rows] == [("look", CWD)]


@pytest.mark.parametrize(
    "kind", ["empty", "no conversation", "no directory", "subagent", "broken", "unreadable"]
)
def test_what_is_no_session_is_not_listed(tmp_path: Path, kind: str) -> None:
    history = History(identity(1), CWD)
    history.prompt("hello", isSidechain=kind == "subagent")
    path = store(tmp_path, history)
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "no conversation":
            path.write_text('{"type":"mode","cwd":"/home/u/proj"}\n')
        case "no directory":
            path.write_text('{"type":"ai-title","aiTitle":"x"}\n')
        case "broken":
            path.write_bytes(os.urandom(200_000))
        case "unreadable":
            path.unlink()
            path.symlink_to(path)
    assert SessionList(tmp_path).page() == Page((), None)
    assert SessionList(tmp_path).page(CWD) == Page((), None)


def test_a_file_that_vanished_meanwhile_tells_nothing(tmp_path: Path) -> None:
    assert read_summary(tmp_path / "gone") is None


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 2_000))
def test_any_bytes_give_a_summary_or_none(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    history = History(identity(1), CWD)
    history.prompt("hello")
    history.note("ai-title", aiTitle="title")
    data = b"\n".join(history.lines())
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(data[:at] + noise + data[at:])
    summary = read_summary(path)
    assert summary is None or summary.title is None or isinstance(summary.title, str)


@pytest.mark.contract("SE-082")
@given(st.text())
def test_a_title_is_one_line_of_at_most_256_characters(text: str) -> None:
    title = shown_title(text)
    assert len(title) <= 256
    assert title == " ".join(title.split())
    assert " ".join(text.split()).startswith(title.removesuffix("…"))


@pytest.mark.contract("SE-082")
def test_a_long_title_keeps_255_characters() -> None:
    assert shown_title("x" * 256) == "x" * 256
    assert shown_title("x" * 257) == "x" * 255 + "…"
