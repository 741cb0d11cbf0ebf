import itertools
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.diffs.files import MAX_BYTES
from bridge.diffs.patch import build_patch, git_patch, patch_block
from tests.bridge.diffs.git import apply, changes, git, texts

_HUNK = r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apply")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    return folder


@pytest.mark.contract("TC-153", "TC-154", "TC-160", "TC-162", "TC-163")
@settings(max_examples=300, deadline=None)
@given(changes() | st.tuples(texts(), texts()))
@example(("", "a"))
@example(("", "\n"))
@example(("a", ""))
@example(("a\n", "a"))
@example(("a", "a\n"))
@example(("a\n\n", "a\n"))
def test_git_makes_the_new_text_from_the_old_one(folder: Path, change: tuple[str, str]) -> None:
    old, new = change
    patch = git_patch("/w/x.txt", old, new)
    if old == new:
        assert patch is None
        return
    assert patch is not None
    assert apply(folder, "w/x.txt", old, patch) == new
    assert patch.startswith("diff --git a/w/x.txt b/w/x.txt\n--- a/w/x.txt\n+++ b/w/x.txt\n@@ ")
    assert "\r" not in patch
    assert patch.endswith("\n")


@pytest.mark.contract("TC-159", "TC-163")
@settings(max_examples=50, deadline=None)
@given(texts())
def test_git_creates_the_file(folder: Path, new: str) -> None:
    patch = git_patch("/w/x.txt", None, new)
    if not new:
        assert patch is None
        return
    assert patch is not None
    assert apply(folder, "w/x.txt", None, patch) == new
    assert patch.startswith(
        "diff --git a/w/x.txt b/w/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/w/x.txt\n@@ -0,0 +1"
    )


@pytest.mark.contract("TC-164")
@settings(max_examples=200, deadline=None)
@given(changes())
def test_hunks_have_the_lines_of_the_files_at_their_numbers_and_three_lines_of_context(
    change: tuple[str, str],
) -> None:
    old, new = (text.split("\n") for text in change)
    patch = build_patch("/w/x", *change)
    hunks = [] if patch is None else re.split(_HUNK, patch.text, flags=re.MULTILINE)[1:]
    starts = []
    for start, count, new_start, new_count, text in zip(*[iter(hunks)] * 5, strict=True):
        body = [line for line in text.split("\n")[:-1] if not line.startswith("\\")]
        first, size = _place(start, count)
        new_first, new_size = _place(new_start, new_count)
        starts.append(new_first + 1)
        assert [line[1:] for line in body if line[0] != "+"] == old[first : first + size]
        assert [line[1:] for line in body if line[0] != "-"] == new[new_first : new_first + new_size]
        head, tail = (len([*itertools.takewhile(_stays, part)]) for part in (body, reversed(body)))
        assert head == 3 or (head < 3 and first == 0)
        assert tail == 3 or (tail < 3 and "".join(old[first + size :]) == "")
    assert tuple(starts) == (() if patch is None else patch.lines)
    assert bool(starts) == (change[0] != change[1])


@pytest.mark.contract("TC-154")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\n", "a\nb\n"),
        ("a\nb", "a"),
        ("".join(f"{i}\n" for i in range(30)), "".join(f"{i}\n" for i in range(30) if i not in (3, 20))),
        ("".join(f"{i}\n" for i in range(30)), "".join(f"{i}\n" for i in range(30) if i not in (3, 10))),
        ("".join(f"{i}\n" for i in range(30)), "".join(f"{i}\n" for i in range(30) if i not in (3, 11))),
        ("a\nx\nx\nb\n", "a\nx\nx\nx\nb\n"),
        ("", "a\nb"),
        ("a\nb\n", ""),
    ],
)
def test_the_whole_text_is_what_git_diff_prints(repository: Path, old: str, new: str) -> None:
    assert git_patch("/f.txt", old, new) == _printed_by_git(repository, "f.txt", old, new)


@pytest.mark.contract("TC-155", "TC-157", "TC-158")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12),
        min_size=1,
        max_size=3,
    )
    .filter(lambda parts: not any(part in (".", "..") or part.lower().startswith(".git") for part in parts))
    .map("/".join)
)
@example("a b.txt")
@example("ä.txt")
@example('q"\\\a\b\t\n\v\f\r\x7f')
@example("日本 語")
def test_names_are_written_and_read_as_git_does(repository: Path, folder: Path, name: str) -> None:
    patch = git_patch(f"/{name}", "a\n", "b\n")
    assert patch == _printed_by_git(repository, name, "a\n", "b\n")
    assert apply(folder, name, "a\n", patch or "") == "b\n"


@pytest.mark.contract("TC-155", "TC-156", "TC-157", "TC-158")
@pytest.mark.parametrize(
    ("path", "old", "new", "tab"),
    [
        ("/w/a.txt", "a/w/a.txt", "b/w/a.txt", ""),
        ("rel/x", "a/rel/x", "b/rel/x", ""),
        ("///w/x", "a/w/x", "b/w/x", ""),
        ("C:\\w\\App.ts", "a/C:/w/App.ts", "b/C:/w/App.ts", ""),
        ("\\\\host\\share\\x", "a/host/share/x", "b/host/share/x", ""),
        ("/w/a b.txt", "a/w/a b.txt", "b/w/a b.txt", "\t"),
        ("/w/ä.txt", r'"a/w/\303\244.txt"', r'"b/w/\303\244.txt"', ""),
        ("/w/ä b", r'"a/w/\303\244 b"', r'"b/w/\303\244 b"', "\t"),
        ('/w/q"', r'"a/w/q\""', r'"b/w/q\""', ""),
        ("/w/a\\b", r'"a/w/a\\b"', r'"b/w/a\\b"', ""),
    ],
)
def test_names(path: str, old: str, new: str, tab: str) -> None:
    headers = f"diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n"
    assert git_patch(path, "a\n", "b\n") == f"{headers}@@ -1 +1 @@\n-a\n+b\n"


def test_the_old_header_of_a_created_file_has_no_tab() -> None:
    patch = git_patch("/w/a b", None, "x\n")
    assert patch is not None
    assert patch.split("\n")[2:4] == ["--- /dev/null", "+++ b/w/a b\t"]


@pytest.mark.contract("TC-161")
@pytest.mark.parametrize(
    ("old", "new", "hunk"),
    [
        ("a", "b", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
        ("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"),
        ("a", "a\nb\n", "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"),
        ("a\nz", "b\nz", "@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n"),
        (None, "l1\nl2", "@@ -0,0 +1,2 @@\n+l1\n+l2\n\\ No newline at end of file\n"),
    ],
)
def test_a_side_without_a_final_newline(old: str | None, new: str, hunk: str) -> None:
    patch = git_patch("/x", old, new)
    assert patch is not None
    assert patch[patch.index("@@") :] == hunk


@pytest.mark.contract("TC-162", "TC-165")
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("/x", "a\r\nb\r\n", "a\r\nc\r\n"),
        ("/x", "a\n", "a\r"),
        ("/x", None, ""),
        ("/x", "a", "a"),
        ("/x", "", ""),
        ("/x", "a\n", "\ud800\n"),
        ("/\ud800", "a\n", "b\n"),
        ("/x", "a\n", "b" * (MAX_BYTES + 1)),
        ("/x", "é" * (MAX_BYTES // 2) + "e", "b"),
    ],
)
def test_no_exact_patch(path: str, old: str | None, new: str) -> None:
    assert git_patch(path, old, new) is None


@pytest.mark.contract("TC-170")
def test_exactly_one_mebibyte_is_allowed() -> None:
    assert git_patch("/x", "é" * (MAX_BYTES // 2), "a") is not None


@pytest.mark.contract("TC-178")
def test_a_comparison_over_its_time_budget_gives_no_patch() -> None:
    hours = itertools.count()
    assert git_patch("/x", "a\nb\n", "b\na\n", clock=lambda: next(hours) * 3600.0) is None
    assert git_patch("/x", "a\nb\n", "b\na\n", clock=lambda: 0.0) is not None


@pytest.mark.contract("TC-178")
def test_a_hopeless_comparison_stops_by_itself() -> None:
    now = itertools.count()
    old = "".join(f"{i * i % 7}\n" for i in range(20_000))
    new = "".join(f"{i * i * i % 11 % 7}\n" for i in range(20_000))
    assert git_patch("/x", old, new, clock=lambda: next(now) / 10_000) is None
    assert next(now) < 1_100


def test_the_same_comparison_is_made_once() -> None:
    looks = itertools.count()

    def clock() -> float:
        next(looks)
        return 0.0

    first = git_patch("/x", "one\n", "two\n", clock)
    before = next(looks)
    assert git_patch("/x", "one\n", "two\n", clock) == first
    assert next(looks) == before + 1


@pytest.mark.contract("TC-181")
@pytest.mark.parametrize("places", [(6_000,), (0, 11_999), (1, 3_000, 9_000)])
def test_a_small_change_of_a_long_file_makes_a_small_patch(folder: Path, places: tuple[int, ...]) -> None:
    lines = [f"line {i}\n" if i % 3 else "\n" for i in range(12_000)]
    changed = ["changed\n" if i in places else line for i, line in enumerate(lines)]
    patch = build_patch("/w/x", "".join(lines), "".join(changed), clock=lambda: 0.0)
    assert patch is not None
    assert len(patch.text) < 150 * (1 + len(places))
    assert patch.lines == tuple(max(1, place - 2) for place in places)
    assert apply(folder, "w/x", "".join(lines), patch.text) == "".join(changed)


@pytest.mark.contract("TC-163")
@settings(max_examples=25, deadline=None)
@given(st.integers(0), st.integers(1, 40), st.integers(1, 300))
def test_long_texts_with_scattered_changes_stay_exact(
    folder: Path, seed: int, kinds: int, edits: int
) -> None:
    random = Random(seed)
    old = [f"{random.randrange(kinds * 50)}\n" for _ in range(1_500)]
    new = old.copy()
    for _ in range(edits):
        at = random.randrange(len(new))
        new[at : at + random.randrange(3)] = [
            f"{random.randrange(kinds * 50)}\n" for _ in range(random.randrange(3))
        ]
    patch = git_patch("/w/x", "".join(old), "".join(new), clock=lambda: 0.0)
    assert patch is not None or old == new
    assert patch is None or apply(folder, "w/x", "".join(old), patch) == "".join(new)


@pytest.mark.contract("TC-151", "TC-152", "TC-166")
@given(st.text(), st.text())
def test_the_block_holds_the_patch_and_placeholders(path: str, text: str) -> None:
    assert patch_block(path, text) == {
        "type": "diff",
        "path": path,
        "oldText": None,
        "newText": "",
        "_meta": {
            "jetbrains": {
                "air": {"version": 1, "diffPatch": {"version": 1, "format": "git_patch", "text": text}},
            },
        },
    }


def _place(start: str, count: str | None) -> tuple[int, int]:
    """The first line, counted from 0, and the number of lines that a hunk header says."""
    size = 1 if count is None else int(count)
    return int(start) - (1 if size else 0), size


def _stays(line: str) -> bool:
    return line[0] == " "


def _printed_by_git(repository: Path, name: str, old: str, new: str) -> str:
    """What `git diff` prints, less what names blobs and the heading of a hunk."""
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(old.encode())
    git(repository, "add", "--", f":(literal){name}")
    file.write_bytes(new.encode())
    shown = git(repository, "diff", "--no-ext-diff", "--", f":(literal){name}").decode()
    git(repository, "rm", "-q", "-f", "--", f":(literal){name}")
    return re.sub(r"^(@@ .*? @@) .*", r"\1", re.sub(r"^index .*\n", "", shown, flags=re.M), flags=re.M)
