"""The wheel installs one public module, works where a project has folders of the same names, and
an editable install runs the tree.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRIVATE = ("machines", "bridge", "wire")
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(
    *command: str | Path, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and keep what it says."""
    return subprocess.run(
        [*map(str, command)], cwd=cwd, input=stdin, env=env, capture_output=True, text=True, timeout=300
    )


def succeed(*command: str | Path, cwd: Path) -> None:
    """Run a program that must not fail."""
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a release makes it: out of the source archive."""
    out = tmp_path_factory.mktemp("dist")
    succeed(sys.executable, "-m", "build", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel and what it asks for."""
    home = tmp_path_factory.mktemp("environment")
    succeed(sys.executable, "-m", "venv", home, cwd=home)
    succeed(home / "bin" / "python", "-m", "pip", "install", "--quiet", wheel, cwd=home)
    return home / "bin" / "python"


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    """A project whose folders have the names of ours, and end whoever imports them."""
    for package in PRIVATE:
        folder = tmp_path / package
        folder.mkdir()
        (folder / "__init__.py").write_text(f"raise SystemExit('the {package} of the project ran')\n")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    """What a careless shell gives: the project first on the path. No account, no network."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return kept | {
        "PYTHONPATH": ".",
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder / ".claude"),
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    }


def starts(python: Path) -> list[Sequence[str | Path]]:
    """Both ways to start the agent."""
    return [(python.with_name("claude-acp"),), (python, "-m", "claude_acp")]


def test_the_wheel_has_one_public_module_and_a_private_folder(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "claude_acp.py",
        "claude_acp_app",
    }
    assert {name.split("/")[1] for name in names if name.startswith("claude_acp_app/")} == {*PRIVATE}


def test_the_wheel_holds_every_source_file(wheel: Path) -> None:
    held = {name.removeprefix("claude_acp_app/") for name in zipfile.ZipFile(wheel).namelist()}

    assert {
        path.relative_to(ROOT).as_posix() for package in PRIVATE for path in (ROOT / package).rglob("*.py")
    } <= held


def test_the_installed_agent_answers_from_within_a_project_with_the_same_names(
    python: Path, decoy: Path
) -> None:
    for start in starts(python):
        done = run(*start, cwd=decoy, stdin=json.dumps(INITIALIZE) + "\n", env=environment(decoy))

        answer = json.loads(done.stdout.splitlines()[0])
        assert answer["id"] == 1
        assert answer["result"]["agentInfo"]["name"] == "claude-acp"
        assert done.returncode == 0


def test_an_editable_install_runs_the_tree_as_it_is_now(
    decoy: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE", "claude_acp.py"):
        shutil.copy(ROOT / name, tree)
    for package in PRIVATE:
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    home = tmp_path_factory.mktemp("editable")
    succeed(sys.executable, "-m", "venv", home, cwd=home)
    editable = home / "bin" / "python"
    succeed(editable, "-m", "pip", "install", "--quiet", "--no-deps", "-e", tree, cwd=home)

    for word in ("edited", "edited again"):
        (tree / "bridge" / "__main__.py").write_text(
            f"def main():\n    print({word!r})\n    return {len(word)}\n"
        )
        for start in starts(editable):
            done = run(*start, cwd=decoy, env=environment(decoy))

            assert (done.stdout, done.returncode) == (f"{word}\n", len(word)), done.stderr
