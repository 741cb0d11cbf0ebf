"""The real git as the judge of patches, and texts that are hard for one."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "LC_ALL": "C",
}

_HARD = ("", "}", "\tx", "x ", " ", "é", "日本", "\x0c", "\u2028", "a\x85b", "\x1f", "\0", "\ufeff", "\x7f")
_MARKS = ("-- a", "++ b", "-", "+", "@@ -1 +1 @@", "\\ No newline at end of file", "diff --git a/x b/x")
_LINES = st.sampled_from([*"aaabbc", *_HARD, *_MARKS])


def git(folder: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run git far from any repository but `folder`; its output, or a failure of the test."""
    env = {**_ENV, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(["git", *args], cwd=folder, env=env, input=stdin, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    assert done.returncode == 0 or args[0] == "diff", done.stderr.decode()
    return done.stdout


def apply(folder: Path, path: str, old: str | None, patch: str) -> str:
    """What `git apply` makes of the old text at the relative path."""
    with TemporaryDirectory(dir=folder) as name:
        file = Path(name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if old is not None:
            file.write_bytes(old.encode())
        git(Path(name), "apply", "--whitespace=nowarn", "-", stdin=patch.encode())
        return file.read_bytes().decode()


@st.composite
def texts(draw: st.DrawFn, max_lines: int = 30) -> str:
    lines, end = draw(st.tuples(st.lists(_LINES, max_size=max_lines), st.sampled_from(["", "\n"])))
    return "\n".join(lines) + (end if lines else "")


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str]:
    """An old text and a new one made from it by a few edits, so that hunks touch, merge and part."""
    old = draw(texts(60))
    lines = old.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(lines)))
        stop = min(len(lines), start + draw(st.integers(0, 3)))
        lines[start:stop] = draw(st.lists(_LINES, max_size=3))
    return old, "\n".join(lines)
