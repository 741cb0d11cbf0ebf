import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.diffs.files import MAX_BYTES
from bridge.diffs.preview import Preview, preview
from tests.bridge.diffs.git import apply, texts


def edit(folder: Path, text: str | None, old: object, new: object, **more: object) -> Preview | None:
    """The preview of an Edit of the file `f`, which holds the text."""
    if text is not None:
        (folder / "f").write_bytes(text.encode())
    input = {"file_path": str(folder / "f"), "old_string": old, "new_string": new, **more}
    return preview("Edit", input, "/", _at_once)


def write(folder: Path, text: str | None, content: object) -> Preview | None:
    if text is not None:
        (folder / "f").write_bytes(text.encode())
    return preview("Write", {"file_path": str(folder / "f"), "content": content}, "/", _at_once)


def _at_once() -> float:
    return 0.0


def hunks(shown: Preview | None) -> str | None:
    """The hunks of the one patch block, None without a preview."""
    if shown is None:
        return None
    text = patch_of(shown)
    assert not shown.keeps_text
    return text[text.index("@@") :]


def patch_of(shown: Preview) -> str:
    (block,) = shown.content
    assert (block["oldText"], block["newText"]) == (None, "")
    text: str = block["_meta"]["jetbrains"]["air"]["diffPatch"]["text"]
    return text


BIG = "x" * (MAX_BYTES + 1)


@pytest.mark.contract("TC-167", "TC-171", "TC-172", "TC-173", "TC-174", "TC-175", "TC-177")
@pytest.mark.parametrize(
    ("text", "old", "new", "shown"),
    [
        ("a\nb\nc\n", "b", "B", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("a\nb\n", "b\n", "", "@@ -1,2 +1 @@\n a\n-b\n"),
        ("a\n", "a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("a $& $1\n", "$&", "\\1$&$$", "@@ -1 +1 @@\n-a $& $1\n+a \\1$&$$ $1\n"),
        ("\tx\n", "\tx", "  y  ", "@@ -1 +1 @@\n-\tx\n+  y  \n"),
        ("\ufeffa\n", "a", "b", "@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n"),
        (None, "", "n\n", "@@ -0,0 +1 @@\n+n\n"),
        ("", "", "n\n", "@@ -0,0 +1 @@\n+n\n"),
        (" \u2003\t\n", "", "n\n", "@@ -1 +1 @@\n- \u2003\t\n+n\n"),
        ("\ufeff", "", "n", None),
        (" \x1c", "", "n", None),
        ("a", "", "n", None),
        (None, "a", "b", None),
        ("a", "z", "b", None),
        ("a a", "a", "b", None),
        ("a", "a", "a", None),
        ("a", "a", BIG, None),
        ("a", "a", "b\0", None),
        ("a", "a", "b\r\n", None),
        ("a", "a", "\ud800", None),
        ("a\r\nb\r\n", "b", "c", None),
        ("a\0", "a", "b", None),
        ("a" + BIG, "a", "b", None),
        ("a", None, "b", None),
        ("a", "a", 3, None),
    ],
)
def test_an_edit_shows_the_patch_of_the_replacement_or_keeps_its_diff(
    tmp_path: Path, text: str | None, old: object, new: object, shown: str | None
) -> None:
    assert hunks(edit(tmp_path, text, old, new)) == shown


@pytest.mark.contract("TC-173", "TC-159")
def test_an_edit_without_old_string_creates_only_a_missing_file(tmp_path: Path) -> None:
    created, filled = edit(tmp_path, None, "", "n"), edit(tmp_path, "\n", "", "n")
    assert created is not None
    assert filled is not None
    assert "\nnew file mode 100644\n--- /dev/null\n" in patch_of(created)
    assert "/dev/null" not in patch_of(filled)


@pytest.mark.contract("TC-169")
@pytest.mark.parametrize(
    ("text", "old", "every", "left"),
    [
        ("a\ngone\nlast", "gone", False, "a\nlast"),
        ("a\ngone", "gone", False, "a\n"),
        ("a gone b\n", "gone ", False, "a b\n"),
        ("gone\n\nb", "gone\n", False, "\nb"),
        ("x\ny x\nx", "x", True, "y x"),
        ("x,x", "x", True, ","),
    ],
)
def test_an_empty_replacement_takes_the_line_break_too(
    tmp_path: Path, text: str, old: str, every: bool, left: str
) -> None:
    shown = edit(tmp_path, text, old, "", replace_all=every)
    assert shown is not None
    name = str(tmp_path / "f").lstrip("/")
    assert apply(tmp_path, name, text, patch_of(shown)) == left


@pytest.mark.contract("TC-174")
def test_replace_all_takes_every_match_and_counts_only_when_true(tmp_path: Path) -> None:
    text = "x\na\nx\n"
    assert hunks(edit(tmp_path, text, "x", "y", replace_all=True)) == "@@ -1,3 +1,3 @@\n-x\n+y\n a\n-x\n+y\n"
    assert edit(tmp_path, text, "x", "y", replace_all="true") is None


@pytest.mark.contract("TC-170", "TC-176")
def test_the_size_counts_the_growth_of_every_match(tmp_path: Path) -> None:
    text = "a\n" * (MAX_BYTES // 4)
    assert edit(tmp_path, text, "a\n", "aaa\n", replace_all=True) is not None
    assert edit(tmp_path, text, "a\n", "aaaa\n", replace_all=True) is None
    assert edit(tmp_path, text, "a\n", "ääa\n", replace_all=True) is None
    assert edit(tmp_path, "a\n" * (MAX_BYTES // 2), "a", "b" * MAX_BYTES, replace_all=True) is None


@pytest.mark.contract("TC-159", "TC-175", "TC-185", "TC-186")
@pytest.mark.parametrize(
    ("text", "content", "shown"),
    [
        (None, "l1\nl2", "@@ -0,0 +1,2 @@\n+l1\n+l2\n\\ No newline at end of file\n"),
        ("1\n2\n3\n", "1\nTWO\n3\n", "@@ -1,3 +1,3 @@\n 1\n-2\n+TWO\n 3\n"),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("\ufeffa\n", "b\n", "@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n"),
        ("\ufeffa\n", "\ufeffb\n", "@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n"),
        ("\ufeffa\n", "a\n", None),
        ("same", "same", None),
        ("", "", None),
        ("a", None, None),
    ],
)
def test_a_write_shows_the_patch(
    tmp_path: Path, text: str | None, content: object, shown: str | None
) -> None:
    assert hunks(write(tmp_path, text, content)) == shown


@pytest.mark.contract("TC-165", "TC-172", "TC-177", "TC-186")
@pytest.mark.parametrize("text", [None, "", "what was there\n"])
@pytest.mark.parametrize("content", ["a\r\n", "a\0", BIG, "\ud800"])
def test_a_write_without_an_exact_patch_shows_the_real_texts(
    tmp_path: Path, text: str | None, content: str
) -> None:
    shown = write(tmp_path, text, content)
    path = str(tmp_path / "f")
    assert shown == Preview(({"type": "diff", "path": path, "oldText": text, "newText": content},))


@pytest.mark.contract("TC-186")
def test_a_new_empty_file_has_no_hunk_and_shows_the_standard_diff(tmp_path: Path) -> None:
    shown = write(tmp_path, None, "")
    assert shown is not None
    assert shown.content == ({"type": "diff", "path": str(tmp_path / "f"), "oldText": None, "newText": ""},)


@pytest.mark.contract("TC-187", "TC-188")
@pytest.mark.parametrize("kind", ["crlf", "binary", "big", "folder", "fifo", "link"])
def test_a_write_over_what_cannot_be_shown_says_so(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "f"
    match kind:
        case "folder":
            file.mkdir()
        case "fifo":
            os.mkfifo(file)
        case "link":
            file.symlink_to(__file__)
        case _:
            file.write_bytes({"crlf": b"a\r\n", "binary": b"\0", "big": BIG.encode()}[kind])
    notice = f"Overwrites the existing file `{file}`. The adapter cannot show its current content."
    shown = write(tmp_path, None, "new text")
    assert shown == Preview(
        ({"type": "content", "content": {"type": "text", "text": notice}},), keeps_text=True
    )


@pytest.mark.contract("TC-178", "TC-180")
def test_over_the_time_budget_an_edit_keeps_its_diff_and_a_write_shows_the_real_texts(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    path, hours = str(tmp_path / "f"), itertools.count()

    def slow() -> float:
        return next(hours) * 3600.0

    assert preview("Edit", {"file_path": path, "old_string": "b", "new_string": "c"}, "/", slow) is None
    assert preview("Write", {"file_path": path, "content": "c\na\n"}, "/", slow) == Preview(
        ({"type": "diff", "path": path, "oldText": "a\nb\n", "newText": "c\na\n"},)
    )


def test_a_relative_path_is_found_in_the_working_directory_and_shown_as_given(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_text("a\n")
    shown = preview("Edit", {"file_path": "sub/f", "old_string": "a", "new_string": "b"}, str(tmp_path))
    assert shown is not None
    assert shown.content[0]["path"] == "sub/f"
    assert patch_of(shown).startswith("diff --git a/sub/f b/sub/f\n")


def test_the_other_names_of_a_write_s_input_count(tmp_path: Path) -> None:
    shown = preview("Write", {"path": "f", "file_text": "x\n"}, str(tmp_path))
    assert hunks(shown) == "@@ -0,0 +1 @@\n+x\n"


@pytest.mark.contract("TC-179", "TC-180")
@settings(deadline=None)
@given(
    st.sampled_from(["Edit", "Write", "MultiEdit", "Bash", ""]),
    st.dictionaries(
        st.sampled_from(["file_path", "path", "content", "old_string", "new_string", "replace_all"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(st.characters())
        | st.lists(st.text())
        | st.just("/dev/zero"),
    ),
    st.sampled_from(["/nowhere", "", "\0", "/proc/self"]),
)
def test_no_input_is_an_exception(tool: str, input: dict[str, Any], cwd: str) -> None:
    shown = preview(tool, input, cwd)
    assert shown is None or len(shown.content) == 1


@pytest.mark.contract("TC-163", "TC-167")
@settings(max_examples=100, deadline=None)
@given(texts(), st.sampled_from(["a", "b\n", "a\na", "é", "x ", "\n"]), texts(3), st.booleans())
def test_git_applies_the_previews_of_edits(
    tmp_path_factory: pytest.TempPathFactory, text: str, old: str, new: str, every: bool
) -> None:
    folder = tmp_path_factory.mktemp("edit")
    shown = edit(folder, text, old, new, replace_all=every)
    if text.count(old) == 0 or (text.count(old) > 1 and not every) or old == new or "\0" in text + new:
        assert shown is None
        return
    if not new and not old.endswith("\n") and f"{old}\n" in text:
        old += "\n"
    changed = text.replace(old, new) if every else text.replace(old, new, 1)
    assert shown is not None or changed == text
    if shown is not None:
        assert apply(folder, str(folder / "f").lstrip("/"), text, patch_of(shown)) == changed
