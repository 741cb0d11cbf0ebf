import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.diffs.files import MAX_BYTES, NoText, read_shown


@pytest.mark.contract("TC-170", "TC-171")
@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\nb", "a\nb"),
        (b"", ""),
        (b"\xef\xbb\xbfa", "\ufeffa"),
        (b"a\tb\x0c\xe2\x80\xa8", "a\tb\x0c\u2028"),
        (b"x" * MAX_BYTES, "x" * MAX_BYTES),
        (b"x" * (MAX_BYTES + 1), NoText.UNSHOWABLE),
        (b"a\r\nb\r\n", NoText.UNSHOWABLE),
        (b"x" * 100_000 + b"\r", NoText.UNSHOWABLE),
        (b"x" * 7_999 + b"\0", NoText.UNSHOWABLE),
        (b"x" * 8_000 + b"\0", "x" * 8_000 + "\0"),
        (b"\xff\xfea\0", NoText.UNSHOWABLE),
        (b"caf\xe9", NoText.UNSHOWABLE),
        (b"\xed\xa0\x80", NoText.UNSHOWABLE),
    ],
)
def test_what_is_shown_of_a_file(tmp_path: Path, data: bytes, shown: str | NoText) -> None:
    file = tmp_path / "ü 日本"
    file.write_bytes(data)
    assert read_shown(str(file)) == shown


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert read_shown(str(tmp_path / "none")) is NoText.MISSING
    assert read_shown(str(tmp_path / "none" / "deeper")) is NoText.MISSING
    assert read_shown(str(tmp_path / "file" / "below")) is NoText.MISSING


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        os.mkfifo,
        _socket,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path),
        lambda path: path.symlink_to(path.with_name("nowhere")),
        lambda path: path.symlink_to(path.parent),
        lambda path: path.symlink_to(__file__),
    ],
    ids=["folder", "fifo", "socket", "to device", "to itself", "to nothing", "to folder", "to file"],
)
def test_what_is_no_file_cannot_be_shown(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "it")
    assert read_shown(str(tmp_path / "it")) is NoText.UNSHOWABLE


def test_a_fifo_is_not_even_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "fifo", os.O_WRONLY)
    os.write(writer, b"kept for its reader")
    assert read_shown(str(tmp_path / "fifo")) is NoText.UNSHOWABLE
    assert os.read(reader, 100) == b"kept for its reader"
    os.close(reader)
    os.close(writer)


def test_a_device_is_no_file() -> None:
    assert read_shown("/dev/zero") is NoText.UNSHOWABLE


def test_a_file_in_a_linked_folder_is_shown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path)
    assert read_shown(str(tmp_path / "link" / "file")) == "text"


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800", "/" + "n" * 5_000])
def test_an_impossible_path_is_no_exception(path: str) -> None:
    assert read_shown(path) is NoText.UNSHOWABLE


@pytest.mark.parametrize("failing", ["lstat", "open", "fstat", "read"])
def test_a_refusal_of_the_system_is_no_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    (tmp_path / "file").write_text("text")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, refuse)
        shown = read_shown(str(tmp_path / "file"))
    assert shown is NoText.UNSHOWABLE


def test_a_file_that_vanishes_before_it_is_opened_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _before("open", lambda: (tmp_path / "file").unlink(), monkeypatch)
    (tmp_path / "file").write_text("text")
    assert read_shown(str(tmp_path / "file")) is NoText.MISSING


@pytest.mark.parametrize("other", [os.mkfifo, lambda path: path.symlink_to(__file__), Path.mkdir])
def test_a_file_that_becomes_something_else_before_it_is_opened_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: Callable[[Path], None]
) -> None:
    def swap() -> None:
        (tmp_path / "file").unlink()
        other(tmp_path / "file")

    (tmp_path / "file").write_text("text")
    _before("open", swap, monkeypatch)
    assert read_shown(str(tmp_path / "file")) is NoText.UNSHOWABLE


@pytest.mark.parametrize("change", [b"", b"longer than it was", b"x" * (MAX_BYTES + 9)])
def test_a_file_that_changes_while_it_is_read_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    (tmp_path / "file").write_text("text")
    _before("read", lambda: (tmp_path / "file").write_bytes(change), monkeypatch)
    assert read_shown(str(tmp_path / "file")) is NoText.UNSHOWABLE


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts the open handles of Linux")
def test_no_handle_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "crlf").write_bytes(b"\r\n")
    (tmp_path / "big").write_bytes(b"x" * (MAX_BYTES + 1))
    before = os.listdir("/proc/self/fd")
    for name in ("crlf", "big", "none"):
        read_shown(str(tmp_path / name))
    assert os.listdir("/proc/self/fd") == before


def _before(name: str, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something happen just before the first call of a function of `os`."""
    call, pending = getattr(os, name), [act]

    def wrapped(*args: object) -> object:
        if pending:
            pending.pop()()
        return call(*args)

    monkeypatch.setattr(os, name, wrapped)
