import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sessions.folders import (
    canonical,
    config_folder,
    delete_session,
    find_transcript,
    is_session_id,
    projects_folder,
    stored_files,
)
from tests.bridge.sessions.histories import History, identity, store

ID = identity(7)
OTHER = identity(8)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    return projects_folder(config_folder({"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}, Path("/")))


def stored(projects: Path, session_id: str = ID, cwd: str = "/home/u/proj", changed: float = 1.0) -> Path:
    history = History(session_id, cwd)
    history.prompt("hello")
    return store(projects, history, changed)


@pytest.mark.contract("CL-013")
def test_the_config_folder_is_that_of_the_environment_or_of_the_home() -> None:
    assert config_folder({"CLAUDE_CONFIG_DIR": "/c"}, Path("/h")) == Path("/c")
    assert config_folder({"CLAUDE_CONFIG_DIR": ""}, Path("/h")) == Path("/h/.claude")
    assert config_folder({}, Path("/h")) == Path("/h/.claude")
    assert config_folder({"CLAUDE_CONFIG_DIR": "/u\u0308"}, Path("/h")) == Path("/ü")


@pytest.mark.contract("SE-028")
@pytest.mark.parametrize(
    "value",
    ["", "x", ID[:-1], ID + "\n", f" {ID}", f"../{ID}", ID.replace("-", ""), ID[:-1] + "١", None, 3, [ID]],
)
def test_what_is_no_uuid_is_no_session(projects: Path, value: object) -> None:
    stored(projects)
    assert not is_session_id(value)
    assert find_transcript(projects, value) is None  # type: ignore[arg-type]  # whatever a client sends
    assert delete_session(projects, value) is False  # type: ignore[arg-type]  # the same
    assert find_transcript(projects, ID) is not None


@given(st.text())
def test_no_text_leads_out_of_the_projects_folder(text: str) -> None:
    assert not is_session_id(text) or len(text) == 36


@pytest.mark.contract("SE-035")
def test_a_transcript_is_found_in_any_project_folder_the_newest_first(projects: Path) -> None:
    assert find_transcript(projects, ID) is None
    old = stored(projects, cwd="/home/u/a", changed=1)
    assert find_transcript(projects, ID) == old
    new = stored(projects, cwd="/home/u/b", changed=2)
    assert find_transcript(projects, ID) == new


def test_symlinks_inside_the_projects_folder_are_followed_and_others_are_not(
    projects: Path, tmp_path: Path
) -> None:
    inside = stored(projects)
    (inside.parent / f"{OTHER}.jsonl").symlink_to(inside)
    assert find_transcript(projects, OTHER) == inside.parent / f"{OTHER}.jsonl"
    secret = tmp_path / "secret"
    secret.write_text("{}")
    (inside.parent / f"{identity(9)}.jsonl").symlink_to(secret)
    assert find_transcript(projects, identity(9)) is None
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{identity(10)}.jsonl").write_text("{}")
    (projects / "linked").symlink_to(outside)
    assert find_transcript(projects, identity(10)) is None
    assert {file.session_id for file in stored_files(projects)} == {ID, OTHER}
    assert not delete_session(projects, identity(10))
    assert not delete_session(projects, identity(9))
    assert secret.exists()
    assert (outside / f"{identity(10)}.jsonl").exists()


def test_what_is_no_file_is_no_transcript(projects: Path) -> None:
    folder = stored(projects).parent
    os.mkfifo(folder / f"{OTHER}.jsonl")
    (folder / f"{identity(9)}.jsonl").mkdir()
    (folder / "notes.jsonl").write_text("{}")
    (projects / "a file").write_text("x")
    (projects / "loop").symlink_to("loop")
    assert [file.session_id for file in stored_files(projects)] == [ID]
    assert find_transcript(projects, OTHER) is None
    assert find_transcript(projects, identity(9)) is None


def test_a_config_folder_that_is_not_there_holds_nothing(projects: Path) -> None:
    assert list(stored_files(projects)) == []
    assert find_transcript(projects, ID) is None
    assert not delete_session(projects, ID)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/u/proj", "-home-u-proj"),
        ("/home/u/proj/", "-home-u-proj"),
        ("/home/u/ü 日本.x", "-home-u------x"),
        ("/home/u/😀", "-home-u---"),
        ("/" + "n" * 250, "-" + "n" * 199 + "-1abc"),
    ],
)
def test_a_directory_names_its_project_folder(projects: Path, cwd: str, name: str) -> None:
    for folder in (name, "other"):
        (projects / folder).mkdir(parents=True)
        (projects / folder / f"{ID}.jsonl").write_text("{}")
    assert [Path(file.path).parent.name for file in stored_files(projects, cwd)] == [name]


def test_a_symlink_to_a_directory_names_the_same_folder(projects: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    stored(projects, cwd=str(tmp_path / "real"))
    assert canonical(str(tmp_path / "link") + "/") == canonical(str(tmp_path / "real"))
    assert [file.session_id for file in stored_files(projects, str(tmp_path / "link"))] == [ID]


@pytest.mark.contract("SE-057", "SE-058")
def test_delete_removes_every_copy_with_its_folder_and_nothing_else(projects: Path) -> None:
    first, second = stored(projects, cwd="/home/u/a"), stored(projects, cwd="/home/u/b")
    kept = stored(projects, OTHER, "/home/u/a")
    for folder in (first.with_suffix(""), kept.with_suffix("")):
        (folder / "subagents").mkdir(parents=True)
        (folder / "subagents" / "agent-1.jsonl").write_text("{}")
    assert delete_session(projects, ID)
    assert not first.exists()
    assert not second.exists()
    assert not first.with_suffix("").exists()
    assert kept.exists()
    assert (kept.with_suffix("") / "subagents" / "agent-1.jsonl").exists()
    assert not delete_session(projects, ID)


def test_delete_follows_no_symlink(projects: Path, tmp_path: Path) -> None:
    transcript = stored(projects)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    transcript.with_suffix("").symlink_to(precious)
    assert delete_session(projects, ID)
    assert (precious / "file").exists()
