"""The SDK without `mcp` and `jsonschema`: what it needs of them, and that nobody else notices."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest

from bridge.claude.lean import FULL_IMPORT, STAND_INS

ROOT = Path(__file__).parents[3]
TREES = ("mcp", "jsonschema")

LOADED = """
import json, sys
trees = ("claude_agent_sdk", "mcp", "jsonschema")
print(json.dumps(sorted(name for name in sys.modules if name.partition(".")[0] in trees)))
"""


def run(script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh interpreter."""
    inherited = {name: value for name, value in os.environ.items() if name != FULL_IMPORT}
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(
        command, cwd=ROOT, env=inherited | env, capture_output=True, text=True, timeout=120, check=True
    )


def loaded(script: str, **env: str) -> list[str]:
    """The modules of the SDK and of the two trees that a script leaves loaded."""
    names: list[str] = json.loads(run(script + LOADED, **env).stdout)
    return names


def test_the_process_module_does_not_load_the_sdk() -> None:
    assert loaded("import bridge.claude.process") == []


def test_the_lean_import_leaves_no_trace_of_the_trees() -> None:
    names = loaded("from bridge.claude.lean import load_sdk; load_sdk(); import bridge.claude.tap")
    assert "claude_agent_sdk" in names
    assert not [name for name in names if name.startswith(TREES)]


def test_the_real_packages_come_to_whoever_imports_them_later() -> None:
    script = """
from bridge.claude.lean import load_sdk
load_sdk()
import jsonschema, mcp.types
jsonschema.validate({"a": 1}, {"type": "object"})
assert mcp.types.Tool.model_validate({"name": "t", "inputSchema": {}}).name == "t"
"""
    run(script)


def test_a_package_that_is_there_already_stays_as_it_is() -> None:
    script = """
import jsonschema
from bridge.claude.lean import load_sdk
sdk = load_sdk()
import sys
assert sys.modules["jsonschema"] is jsonschema is sdk.jsonschema
"""
    names = loaded(script)
    assert not [name for name in names if name.startswith("mcp")]


def test_a_variable_forces_the_full_import() -> None:
    assert set(TREES) < set(
        loaded("from bridge.claude.lean import load_sdk; load_sdk()", **{FULL_IMPORT: "1"})
    )


@pytest.mark.parametrize("missing", ["mcp.types", "mcp.shared.memory"])
def test_stand_ins_that_do_not_fit_give_way_to_the_full_import(missing: str) -> None:
    script = f"""
from bridge.claude import lean
lean.STAND_INS = dict(lean.STAND_INS)
lean.STAND_INS[{missing!r}] = lean.STAND_INS[{missing!r}][:-1]
sdk = lean.load_sdk()
assert lean.load_sdk() is sdk
sdk.create_sdk_mcp_server("works", tools=[])
"""
    run_ = run(script + LOADED)
    assert set(TREES) < set(json.loads(run_.stdout))
    [line] = run_.stderr.splitlines()
    assert "lean import failed" in line


def test_an_sdk_that_is_missing_is_said_once_and_raised() -> None:
    script = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "claude_agent_sdk":
            raise ModuleNotFoundError(f"No module named {name}")
sys.meta_path.insert(0, Missing())
from bridge.claude.lean import load_sdk
try:
    load_sdk()
except ImportError:
    print("raised")
"""
    done = run(script)
    assert done.stdout == "raised\n"
    assert len(done.stderr.splitlines()) == 1


def test_the_sdk_asks_for_nothing_but_the_stand_ins() -> None:
    """Imports inside functions count too: a session must not load a tree later."""
    folder = Path(claude_agent_sdk.__file__).parent
    asked = {name for path in folder.rglob("*.py") for name in _imports(ast.parse(path.read_text()))}
    offered = set(STAND_INS) | {
        f"{module}.{member}" for module, members in STAND_INS.items() for member in members
    }
    assert asked <= offered
    # Nothing is held ready that the SDK does not ask for.
    assert {name for name in offered if not any(other.startswith(f"{name}.") for other in offered)} <= asked


def _imports(node: ast.AST) -> Iterator[str]:
    """Every module and member that is imported at run time from the two trees."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                continue
            case ast.Import(names=names):
                found = [name.name for name in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found = [f"{module}.{name.name}" for name in names]
            case _:
                found = []
        yield from (name for name in found if name.partition(".")[0] in TREES)
        yield from _imports(child)


SESSION = """
import json, os, sys
import anyio
from pathlib import Path
from tests.bridge.claude.bench import Bench, plain_launch

async def main():
    async with anyio.create_task_group() as tasks:
        bench = Bench(tasks, plain_launch(Path.cwd()))
        await bench.start()
        bench.prompt('Hi. SCRIPT [["It works."]]')
        result = await bench.until(lambda frame: frame.type == "result")
        await bench.idle()
        await bench.claude.stop()
    print(json.dumps([result.raw["result"], sorted({"mcp", "jsonschema"} & set(sys.modules))]))

sys.path.insert(0, os.environ["PYTHONPATH"])
anyio.run(main)
"""


@pytest.mark.live
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("env", "trees"), [({}, []), ({FULL_IMPORT: "1"}, sorted(TREES))], ids=["lean", "full"]
)
async def test_a_real_session_works_with_either_import(
    sandbox: Any, env: dict[str, str], trees: list[str]
) -> None:
    import anyio

    done = await anyio.run_process(
        [sys.executable, "-c", SESSION], cwd=sandbox.project, env=sandbox.environment(env), check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == ["It works.", trees]
