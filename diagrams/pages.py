"""The pages: one a lifecycle, and the index of them."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from statemachine.state import State

import machines
from diagrams.arrows import actions, arrows, entry_actions, events, exit_actions, guards
from diagrams.mermaid import LifecycleClass, chart
from machines._core import Lifecycle

FOLDER = Path(__file__).parent
_MARK = "<!-- Written by `python -m diagrams` from the code; edit that, not this. -->"


def discover() -> list[LifecycleClass]:
    """Every lifecycle of `machines`, by module and then in the order of the code."""
    found: list[LifecycleClass] = []
    for info in pkgutil.walk_packages(machines.__path__, "machines."):
        module = importlib.import_module(info.name)
        found += [value for value in vars(module).values() if _is_lifecycle(value, info.name)]
    return found


def _is_lifecycle(value: object, module: str) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Lifecycle)
        and value is not Lifecycle
        and value.__module__ == module
    )


def pages(lifecycles: Iterable[LifecycleClass]) -> dict[str, str]:
    """The text of every page by its file name."""
    lifecycles = [*lifecycles]
    return {"README.md": _index(lifecycles), **{_file(each): page(each) for each in lifecycles}}


def stale(wanted: dict[str, str], folder: Path = FOLDER) -> list[str]:
    """Names of the pages that are missing, differ, or show a lifecycle that is no more."""
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))


def write(wanted: dict[str, str], folder: Path = FOLDER) -> list[str]:
    """Bring the folder up to date and return the names of the pages that changed."""
    changed = stale(wanted, folder)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def page(lifecycle: LifecycleClass) -> str:
    """One lifecycle: the rules of its module, its chart, its transitions."""
    module = inspect.getmodule(lifecycle)
    rules = inspect.cleandoc(module.__doc__ or "") if module else ""
    parts = [
        f"# {lifecycle.__name__}",
        _MARK,
        f"`{lifecycle.__module__.replace('.', '/')}.py`",
        rules,
        f"```mermaid\n{chart(lifecycle)}\n```",
        "\n".join(_table(lifecycle)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(lifecycle: LifecycleClass) -> Iterator[str]:
    yield "| from | event | guard | does | to |"
    yield "|---|---|---|---|---|"
    for state in _every(lifecycle.states):
        if does := entry_actions(state):
            yield _row(state.id, "(on entry)", "", does, "")
        for arrow in arrows(state):
            to = ", ".join(target.id for target in arrow.targets) or state.id
            yield _row(state.id, events(arrow), guards(arrow), actions(arrow), to)
        if does := exit_actions(state):
            yield _row(state.id, "(on exit)", "", does, "")


def _index(lifecycles: list[LifecycleClass]) -> str:
    rows = [
        _row(
            f"[{each.__name__}]({_file(each)})",
            (inspect.getdoc(each) or "").partition("\n")[0],
            str(len(states := [*_every(each.states)])),
            str(sum(len([*arrows(state)]) for state in states)),
        )
        for each in lifecycles
    ]
    head = ["| lifecycle | what it is | states | transitions |", "|---|---|---|---|"]
    return "\n".join(["# The lifecycles", "", _MARK, "", *head, *rows]) + "\n"


def _every(states: Iterable[State]) -> Iterator[State]:
    for state in states:
        yield state
        yield from _every(state.states)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _file(lifecycle: LifecycleClass) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", lifecycle.__name__).lower() + ".md"
