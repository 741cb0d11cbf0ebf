from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.diffs.files import MAX_BYTES
from bridge.diffs.final import Change, final_change
from tests.bridge.diffs.git import apply, changes


def edited(path: Path, original: object, **more: object) -> Change | None:
    response = {"filePath": str(path), "oldString": "o", "newString": "n", "originalFile": original, **more}
    return final_change("Edit", response, {"file_path": str(path)}, "/", lambda: 0.0)


def written(path: Path, kind: str, original: object, content: object) -> Change | None:
    response = {"type": kind, "filePath": str(path), "content": content, "originalFile": original}
    return final_change("Write", response, {"file_path": str(path)}, "/", lambda: 0.0)


def patch_of(change: Change | None) -> str:
    assert change is not None
    (block,) = change.content
    text: str = block["_meta"]["jetbrains"]["air"]["diffPatch"]["text"]
    return text


@pytest.mark.contract("TC-193", "TC-194", "TC-153")
def test_an_edit_is_the_original_against_the_file_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "e.txt"
    file.write_text("a\n\tB\nc\n")
    lie = [{"oldStart": 9, "oldLines": 1, "newStart": 9, "newLines": 1, "lines": ["-    b", "+    B"]}]
    change = edited(file, "a\n\tb\nc\n", structuredPatch=lie)
    name = str(file).lstrip("/")
    assert patch_of(change) == (
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n a\n-\tb\n+\tB\n c\n"
    )
    assert change is not None
    assert change.locations == ({"path": str(file), "line": 1},)


def test_each_hunk_has_its_line_and_all_share_a_block(tmp_path: Path) -> None:
    file = tmp_path / "f"
    lines = [f"{i}\n" for i in range(40)]
    file.write_text("".join([*lines[:10], "new\n", *lines[10:30], *lines[31:]]))
    change = edited(file, "".join(lines))
    assert change is not None
    assert len(change.content) == 1
    assert change.locations == ({"path": str(file), "line": 8}, {"path": str(file), "line": 29})


@pytest.mark.contract("TC-196", "TC-159")
def test_a_created_file_gets_a_creation_patch(tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    file.write_text("l1\nl2")
    change = written(file, "create", None, "l1\nl2")
    name = str(file).lstrip("/")
    assert patch_of(change) == (
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        "@@ -0,0 +1,2 @@\n+l1\n+l2\n\\ No newline at end of file\n"
    )
    assert change is not None
    assert change.locations == ({"path": str(file)},)


@pytest.mark.contract("TC-165", "TC-170", "TC-195", "TC-197")
@pytest.mark.parametrize(
    ("original", "disk"),
    [
        ("a\n", None),
        ("a\n", b"b\r\n"),
        ("a\r\n", b"b\n"),
        ("a\n", b"b\0\n"),
        ("a\n", b"\xff"),
        ("a\n", b"\xef\xbb\xbfb\n"),
        ("a\n", b"b" * (MAX_BYTES + 1)),
        ("a" * (MAX_BYTES + 1), b"b\n"),
        ("a\n", b"a\n"),
        ("\ud800", b"a\n"),
        (None, b"a\n"),
        (["a"], b"a\n"),
    ],
)
def test_without_an_exact_patch_the_standard_change_stays(
    tmp_path: Path, original: object, disk: bytes | None
) -> None:
    file = tmp_path / "f"
    if disk is not None:
        file.write_bytes(disk)
    assert edited(file, original) is None
    assert written(file, "update", original, "content") is None


@pytest.mark.contract("TC-177")
def test_an_edit_that_made_or_filled_an_empty_file_is_ambiguous(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("n\n")
    assert edited(tmp_path / "f", "", oldString="") is None
    assert edited(tmp_path / "f", " \n", oldString="") is not None


def test_a_write_that_wrote_what_was_there_shows_nothing_new(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("changed by a hook\n")
    assert written(tmp_path / "f", "update", "same\n", "same\n") is None
    assert written(tmp_path / "f", "update", "same\n", "other\n") is not None


def test_a_created_file_that_another_hand_changed_shows_the_standard_diff(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("formatted\n")
    assert written(tmp_path / "f", "create", None, "written\n") is None


@pytest.mark.contract("TC-168")
def test_white_space_that_claude_removed_is_in_the_final_patch(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("new\n")
    assert "-old\n+new\n" in patch_of(edited(tmp_path / "f", "old\n", newString="new  "))


@pytest.mark.contract("TC-197")
def test_an_original_that_the_approval_could_not_show_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("was CRLF before\n")
    response = {"type": "update", "originalFile": "a\nb\n", "content": "was CRLF before\n"}
    input = {"file_path": str(tmp_path / "f")}
    assert final_change("Write", response, input, "/", was_shown=False) is None
    assert final_change("Write", response, input, "/", was_shown=True) is not None


@pytest.mark.parametrize(
    ("input", "path"),
    [({"file_path": "sub/f"}, "sub/f"), ({"path": "sub/f"}, "sub/f"), ({}, "f"), ({"file_path": ""}, "f")],
)
def test_the_path_is_the_input_s_else_the_response_s(
    tmp_path: Path, input: dict[str, str], path: str
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / path).write_text("b\n")
    change = final_change("Edit", {"originalFile": "a\n", "filePath": "f"}, input, str(tmp_path))
    assert change is not None
    assert change.content[0]["path"] == path
    assert final_change("Edit", {"originalFile": "a\n"}, {}, str(tmp_path)) is None


@settings(deadline=None)
@given(
    st.sampled_from(["Edit", "Write", "NotebookEdit"]),
    st.dictionaries(
        st.sampled_from(["type", "filePath", "content", "originalFile", "oldString"]),
        st.sampled_from([None, "create", "update", "/dev/zero", "/", "\0", "", {"a": 1}, ["x"], 3, True]),
    ),
)
def test_no_response_is_an_exception(tool: str, response: dict[str, Any]) -> None:
    assert final_change(tool, response, {}, "/") is None


@pytest.mark.contract("TC-163", "TC-193")
@settings(deadline=None)
@given(changes())
def test_git_applies_final_patches(tmp_path_factory: pytest.TempPathFactory, change: tuple[str, str]) -> None:
    old, new = change
    folder = tmp_path_factory.mktemp("final")
    (folder / "f").write_bytes(new.encode())
    final = edited(folder / "f", old)
    assert (final is None) == (old == new or "\0" in new or new.startswith("\ufeff"))
    if final is not None:
        assert apply(folder, str(folder / "f").lstrip("/"), old, patch_of(final)) == new
