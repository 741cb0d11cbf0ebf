"""Where the transcripts are: the config folder, one folder a project, one file a session.

Rules: `sessions` §7 and §14. An id is a UUID or it names nothing, so no id leads out of the
projects folder; neither does a symlink.
"""

import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SUFFIX = ".jsonl"
_LONGEST_NAME = 200
"""A longer folder name is cut here and goes on with a hash that depends on Claude Code's runtime."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A transcript as it was found; `changed` is nanoseconds since the epoch."""

    session_id: str
    path: str
    """Thousands are listed at once, so it is no `Path`."""
    changed: int
    size: int


def config_folder(env: Mapping[str, str], home: Path) -> Path:
    """Claude Code's folder: `CLAUDE_CONFIG_DIR`, else `.claude` in the home folder (CL-013)."""
    return Path(unicodedata.normalize("NFC", env.get("CLAUDE_CONFIG_DIR") or str(home / ".claude")))


def projects_folder(config: Path) -> Path:
    """The folder of all project folders."""
    return config / "projects"


def is_session_id(value: object) -> TypeGuard[str]:
    """Whether the value can be the id of a stored session (SE-028)."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def find_transcript(projects: Path, session_id: str) -> Path | None:
    """The transcript of a session, from whichever project folder has it (SE-035); the newest of several."""
    found = _copies(projects, session_id)
    return Path(max(found, key=lambda file: (file.changed, file.path)).path) if found else None


def stored_files(projects: Path, cwd: str | None = None) -> Iterator[StoredFile]:
    """Every transcript, or those in the folders that sessions of this directory may be in."""
    for folder in _folders(projects):
        if cwd is None or _may_hold(folder.name, cwd):
            yield from _transcripts(folder)


def delete_session(projects: Path, session_id: str) -> bool:
    """Remove the transcript and its folder, wherever they are; false if there was nothing (SE-057, SE-058).

    Raises `OSError` when the system refuses.
    """
    if not is_session_id(session_id):
        return False
    copies = _copies(projects, session_id)
    for file in copies:
        Path(file.path).unlink(missing_ok=True)
    belongings = [
        folder / session_id
        for folder in _folders(projects)
        if (folder / session_id).is_dir() and not (folder / session_id).is_symlink()
    ]
    for folder in belongings:
        shutil.rmtree(folder)
    return bool(copies or belongings)


def canonical(directory: str) -> str:
    """The path of a directory without symlinks, a trailing slash or another form of the same letters."""
    return unicodedata.normalize("NFC", os.path.realpath(directory))


def _may_hold(name: str, cwd: str) -> bool:
    """Whether a project folder has the name of the directory; the encoding loses information."""
    # Claude Code replaces UTF-16 units, so a letter beyond the first plane gives two hyphens.
    units = re.sub(r"[^\x00-\uffff]", "--", canonical(cwd))
    encoded = re.sub(r"[^a-zA-Z0-9]", "-", units)
    if len(encoded) <= _LONGEST_NAME:
        return name == encoded
    return name.startswith(f"{encoded[:_LONGEST_NAME]}-")


def _copies(projects: Path, session_id: str) -> list[StoredFile]:
    if not is_session_id(session_id):
        return []
    paths = (folder / f"{session_id}{_SUFFIX}" for folder in _folders(projects))
    return [file for path in paths if (file := _stored(path, session_id))]


def _folders(projects: Path) -> Iterator[Path]:
    """The project folders, none that a symlink has elsewhere."""
    for entry in _entries(projects):
        try:
            if entry.is_dir() and (not entry.is_symlink() or _is_inside(entry.path, projects)):
                yield Path(entry.path)
        except OSError:
            continue


def _transcripts(folder: Path) -> Iterator[StoredFile]:
    for entry in _entries(folder):
        session_id = entry.name.removesuffix(_SUFFIX)
        if session_id == entry.name or not is_session_id(session_id):
            continue
        if file := _stored(entry, session_id):
            yield file


def _stored(file: os.DirEntry[str] | Path, session_id: str) -> StoredFile | None:
    try:
        status = file.stat()
    except OSError:
        return None
    path = os.fspath(file)
    if not stat.S_ISREG(status.st_mode) or (
        file.is_symlink() and not _is_inside(path, Path(path).parent.parent)
    ):
        return None
    return StoredFile(session_id, path, status.st_mtime_ns, status.st_size)


def _is_inside(path: str | Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
