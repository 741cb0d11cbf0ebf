"""Every tool for every kind of client: what is sent, update by update.

The files in `tests/golden/tools` hold what happens to a call and, for each client, what it must
get. The values are the contract's, most of them as recorded from a bridge that clients know; where
it departs from the contract the file has the contract's value.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.tools.report import ToolReports
from machines.events import ToolDenied, ToolHooked, ToolReturned, ToolUse
from tests.bridge.tools.clients import CLIENTS, Update, check

FOLDER = Path(__file__).parents[2] / "golden" / "tools"
Golden = dict[str, Any]


class Player:
    """Feeds the events of a golden file to the reports of one client."""

    def __init__(self, client: ClientCapabilities, cwd: str, home: str) -> None:
        self.client = client
        self.exact: Change | None = None
        self.reports = ToolReports(client, cwd, home, final_diff=lambda *_: self.exact)
        self.use = ToolUse("t1", "")
        self.requests: list[Update] = []

    def play(self, events: list[dict[str, Any]]) -> list[Update]:
        steps: dict[str, Callable[[Any], list[Update]]] = {
            "started": self.started,
            "fragments": self.fragments,
            "dispatched": self.dispatched,
            "asked": self.asked,
            "hooked": self.hooked,
            "denied": lambda told: self.reports.denied(ToolDenied(self.use.call, self.use.name, **told)),
            "returned": self.returned,
            "background_ended": lambda _: self.reports.background_ended(self.use.call),
            "task_created": lambda told: self.reports.task_created(*told),
            "task_completed": lambda told: self.reports.task_completed(*told),
        }
        return [update for event in events for step, told in event.items() for update in steps[step](told)]

    def started(self, told: dict[str, Any]) -> list[Update]:
        self.use = ToolUse(**told)
        sent = self.reports.started(self.use)
        self.reports.message_edge(None)
        self.reports.input_started(None, 0, self.use.call)
        return sent

    def fragments(self, told: list[str]) -> list[Update]:
        sent = [update for fragment in told for update in self.reports.fragment(None, 0, fragment)]
        self.reports.block_ended(None, 0)
        return sent

    def dispatched(self, told: dict[str, Any]) -> list[Update]:
        self.use = ToolUse(**told)
        return self.reports.dispatched(self.use)

    def asked(self, told: dict[str, Any]) -> list[Update]:
        name = told.get("name", self.use.name)
        use = ToolUse(self.use.call, name, told.get("input", self.use.input), self.use.parent)
        preview = told.get("preview") if self.client.diff_patch else None
        sent = self.reports.announced(use, preview)
        self.requests.append(
            self.reports.request_tool_call(use, preview, told.get("blocked_path"), told.get("mcp_server"))
        )
        return sent

    def hooked(self, told: dict[str, Any]) -> list[Update]:
        exact = told.get("exact")
        self.exact = Change(tuple(exact["content"]), tuple(exact["locations"])) if exact else None
        call = told.get("call", self.use.call)
        return self.reports.hooked(ToolHooked(call, self.use.name, self.use.input, told["response"]))

    def returned(self, told: dict[str, Any]) -> list[Update]:
        told = {"call": self.use.call, **told}
        status = told.pop("status")
        return self.reports.returned(ToolReturned(**told), status)


def golden(name: str, tmp_path: Path) -> Golden:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    for folder in ("cwd", "home"):
        (tmp_path / folder).mkdir(exist_ok=True)
        text = text.replace(f"{{{folder}}}", str(tmp_path / folder))
    loaded: Golden = json.loads(text)
    for path, content in loaded.get("files", {}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8")
    return loaded


def for_client(expected: dict[str, Any], client: str) -> Any:
    found = expected.get(client)
    return expected[found] if isinstance(found, str) else found


contract = pytest.mark.contract
PROVES = {
    "agent": contract("TC-051", "TC-131", "TC-132", "TC-133", "TC-076"),
    "agent_child": contract("TC-005", "TC-225"),
    "bash_background": contract("TC-046"),
    "bash_cancelled": contract("TC-074"),
    "bash_denied": contract("TC-107", "TC-114"),
    "bash_fails": contract("TC-069", "TC-086"),
    "bash_refused": contract("TC-074"),
    "bash_silent": contract("TC-084", "TC-085"),
    "bash_succeeds": contract(
        *("TC-003", "TC-004", "TC-006", "TC-050", "TC-059", "TC-060", "TC-066", "TC-067", "TC-068", "TC-069"),
        *("TC-070", "TC-071", "TC-079", "TC-080", "TC-081", "TC-086", "TC-088", "TC-089", "TC-094", "TC-095"),
        *("TC-096", "TC-103", "TC-104", "TC-105", "TC-106", "TC-112", "TC-113"),
    ),
    "edit_announced_first": contract("TC-191", "TC-011"),
    "edit_once": contract("TC-082", "TC-120", "TC-121", "TC-122", "TC-182"),
    "exit_plan_file": contract(
        *("TC-135", "TC-198", "TC-199", "TC-200", "TC-201", "TC-203", "TC-204", "TC-207", "TC-208", "TC-210"),
        *("TC-211", "TC-212"),
    ),
    "exit_plan_inline": contract("TC-210", "TC-211"),
    "exit_plan_rejected": contract("TC-136", "TC-137", "TC-203"),
    "glob_finds": contract("TC-127"),
    "grep_finds": contract("TC-127"),
    "mcp_fails": contract("TC-146"),
    "mcp_mixed": contract("TC-146", "TC-083"),
    "mcp_text": contract("TC-061", "TC-146", "TC-083"),
    "notebook_deletes": contract("TC-125", "TC-126"),
    "notebook_edits": contract("TC-123", "TC-124", "TC-125", "TC-126"),
    "powershell": contract("TC-112", "TC-113"),
    "question_one": contract("TC-138", "TC-139", "TC-140"),
    "questions_two": contract("TC-138", "TC-139"),
    "read_file": contract("TC-083", "TC-115", "TC-116"),
    "read_range": contract("TC-115", "TC-116"),
    "report_findings": contract("TC-145"),
    "skill": contract("TC-052", "TC-141"),
    "tasks": contract("TC-109", "TC-142", "TC-144"),
    "todo_write": contract("TC-142", "TC-144"),
    "unknown_tool": contract("TC-146"),
    "web_fetch": contract("TC-128", "TC-129"),
    "web_search_hits": contract("TC-130"),
    "write_creates": contract("TC-117", "TC-118", "TC-119", "TC-183", "TC-189"),
    "write_replaces": contract("TC-117", "TC-118", "TC-119"),
}
"""Rows of the contract that a file is the proof of."""

NAMES = [
    pytest.param(path.stem, marks=PROVES.get(path.stem, ()), id=path.stem)
    for path in sorted(FOLDER.glob("*.json"))
]


@pytest.mark.contract("TC-213", "TC-214", "TC-149")
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", NAMES)
def test_each_client_gets_its_updates(name: str, client: str, tmp_path: Path) -> None:
    told = golden(name, tmp_path)
    player = Player(CLIENTS[client], str(tmp_path / "cwd"), str(tmp_path / "home"))

    sent = player.play(told["events"])

    assert sent == for_client(told["expected"], client)
    for update in sent:
        check(update)


def requests() -> list[Any]:
    """Each request that a file holds, for each client that it holds it for."""
    files = sorted(FOLDER.glob("*.json"))
    loaded = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}
    return [(name, client) for name, told in loaded.items() for client in told.get("request", ())]


@pytest.mark.contract("TC-108", "TC-202", "PM-024", "PM-025", "PM-028", "PM-029", "PM-030", "PM-031")
@pytest.mark.contract("PM-033", "PM-034", "PM-035", "PM-036")
@pytest.mark.parametrize(("name", "client"), requests())
def test_a_permission_request_shows_the_call(name: str, client: str, tmp_path: Path) -> None:
    told = golden(name, tmp_path)
    player = Player(CLIENTS[client], str(tmp_path / "cwd"), str(tmp_path / "home"))
    player.play(told["events"])

    assert player.requests == [for_client(told["request"], client)]
