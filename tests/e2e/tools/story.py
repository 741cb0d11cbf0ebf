"""One session that uses every tool once, and what one kind of client saw of it."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.demo.api import ApiRequest, ScriptedApi
from bridge.demo.script import MARKER
from tests.e2e.chat import Chat, bash, script, use
from tests.support import echo_mcp
from tests.support.acp_client import AcpClient
from tests.support.clients import CAPABILITIES
from tests.support.rpc import ALLOW, Json

KINDS = tuple(CAPABILITIES)
AIR_KINDS = ("air", "airmin")
OTHER_KINDS = tuple(kind for kind in KINDS if kind not in AIR_KINDS)

DENIED = "touch forbidden"
PLAN = "# Plan\n1. Touch it."
DESCRIPTION = "Say out and touch"
FETCHED = "https://127.0.0.1:9/page"
FETCH_PROMPT = "What does the page say?"
QUESTION = "Which color?"
CHILD_TEXT = "The child looks."
REPORT = "The child's report."
SUMMARY = "The scripted summary."
MCP = {
    "name": "echo",
    "command": sys.executable,
    "args": [str(Path(echo_mcp.__file__))],
    "env": [],
}

_PLAN_FILE = "{PLANFILE}"
_PATH = re.compile(r"/[^\s\"'`\\]+/plans/[\w-]+\.md")
_NOTEBOOK = {
    "cells": [{"cell_type": "code", "id": "c1", "source": "1", "metadata": {}, "outputs": []}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def prepare(project: Path) -> None:
    """The files that the tools work with."""
    (project / "read.txt").write_text("one\ntwo\nthree\nfour\n")
    (project / "old.txt").write_text("1\n2\n3\n")
    (project / "edit.txt").write_text("x\ny\nx\n")
    (project / "n.ipynb").write_text(json.dumps(_NOTEBOOK))
    skill = project / ".claude" / "skills" / "demo"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: demo\ndescription: Shows skills.\n---\nNothing to do.\n")
    rules = {"permissions": {"deny": [f"Bash({DENIED})"]}}
    (project / ".claude" / "settings.json").write_text(json.dumps(rules))


def everything(project: Path) -> str:
    """A prompt whose model uses every tool; each step is one message of it.

    The skill comes last: the script ends where its text takes the place of the prompt.
    """

    def file(name: str) -> str:
        return str(project / name)

    return script(
        [
            "I begin.",
            named("bash", bash("echo out; touch made", description=DESCRIPTION)),
            named("read", use("Read", file_path=file("read.txt"), offset=2, limit=2)),
            named("read-old", use("Read", file_path=file("old.txt"))),
            named("read-edit", use("Read", file_path=file("edit.txt"))),
            named("read-notebook", use("Read", file_path=file("n.ipynb"))),
        ],
        [
            named("create", use("Write", file_path=file("new.txt"), content="new text\n")),
            named("overwrite", use("Write", file_path=file("old.txt"), content="1\nTWO\n3\n")),
            named(
                "edit",
                use("Edit", file_path=file("edit.txt"), old_string="x", new_string="z", replace_all=True),
            ),
            named(
                "notebook",
                use("NotebookEdit", notebook_path=file("n.ipynb"), cell_id="c1", new_source="print(2)"),
            ),
        ],
        [
            named("fails", bash("echo bad; exit 3")),
            named("denied", bash(DENIED)),
            named("background", bash("echo behind", run_in_background=True)),
            named("task", use("TaskCreate", subject="First", description="It", activeForm="Doing first")),
            named("list", use("TaskList")),
        ],
        [
            named("greet", use("mcp__echo__greet", who="Bob")),
            named("mixed", use("mcp__echo__mixed")),
            named("broken", use("mcp__echo__fail")),
            named("fetch", use("WebFetch", url=FETCHED, prompt=FETCH_PROMPT)),
            named("unknown", use("NoSuchTool", a=1)),
        ],
        [named("ask", use("AskUserQuestion", questions=[_question()]))],
        [
            named(
                "agent",
                use(
                    "Agent",
                    description="Help",
                    prompt=script([CHILD_TEXT, named("child", bash("echo child"))], [REPORT]),
                    subagent_type="general-purpose",
                    run_in_background=False,
                ),
            )
        ],
        [named("skill", use("Skill", skill="demo"))],
    )


def planning() -> str:
    """A prompt whose model enters plan mode, writes its plan and asks to leave."""
    return script(
        [named("enter", use("EnterPlanMode"))],
        [named("plan-file", use("Write", file_path=_PLAN_FILE, content=PLAN))],
        [named("exit", use("ExitPlanMode"))],
        ["I start."],
    )


def named(name: str, call: Json) -> Json:
    """The call with an id by which a test finds it."""
    return {**call, "id": f"toolu_{name}"}


def _question() -> Json:
    options = [{"label": label, "description": f"About {label}"} for label in ("Red", "Blue")]
    return {"question": QUESTION, "header": "Color", "multiSelect": False, "options": options}


def respond(asked: ApiRequest) -> Sequence[Any] | None:
    """The model's plan goes to the file that Claude Code tells it."""
    if asked.kind != "turn" or _PLAN_FILE not in asked.prompt:
        return None
    path = _PATH.findall(json.dumps(asked.body["messages"]) + json.dumps(asked.body["system"]))[-1:]
    steps = json.loads(asked.prompt.partition(MARKER)[2].replace(_PLAN_FILE, path[0] if path else ""))
    return steps[asked.step] if asked.step < len(steps) else ["All done."]


@dataclass(frozen=True, slots=True)
class Story:
    """What one kind of client saw, from the handshake to the end of its session."""

    kind: str
    handshake: Json
    chat: Chat
    ends: dict[str, Json] = field(default_factory=dict)
    """Results of the prompts: `everything`, `plan`, `compact`."""

    @property
    def is_air(self) -> bool:
        return self.kind in AIR_KINDS

    def reports(self, call: str) -> list[Json]:
        """Every report of a call, in order, in whichever session it is."""
        id, updates = f"toolu_{call}", self.chat.client.updates(since=self.chat.start)
        return [update for update in updates if update.get("toolCallId") == id]

    def opening(self, call: str) -> Json:
        """The first report of a call."""
        return self.reports(call)[0]

    def end(self, call: str) -> Json:
        """A call as an editor shows it in the end."""
        return self.chat.client.tool_call(f"toolu_{call}")

    def air(self, call: str) -> Json:
        """All that AIR's record of a call was told, in one."""
        told: Json = {}
        for update in self.reports(call):
            told |= update.get("_meta", {}).get("jetbrains", {}).get("air", {})
        return told

    def claude(self, call: str) -> Json:
        """The `claudeCode` record of a call, likewise."""
        told: Json = {}
        for update in self.reports(call):
            told |= update.get("_meta", {}).get("claudeCode", {})
        return told

    def request(self, call: str) -> Json:
        """The permission request of a call."""
        id = f"toolu_{call}"
        (asked,) = [asked for asked in self.chat.asked() if asked["toolCall"]["toolCallId"] == id]
        return asked

    def bodies(self) -> list[Json]:
        """Every message of the agent."""
        return self.chat.client.received


async def play(kind: str, client: AcpClient, api: ScriptedApi, project: Path) -> Story:
    """Run the whole session with one kind of client."""
    prepare(project)
    handshake = await client.initialize(kind)
    client.handlers["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "Red"}}
    client.on_permission(_answer)
    mark = len(client.messages)
    session = await client.new_session(cwd=str(project), mcpServers=[MCP])
    story = Story(kind, handshake, Chat(client, session, project, api, mark))
    story.ends["everything"] = await story.chat.ask(everything(project))
    story.ends["plan"] = await story.chat.ask(planning())
    story.ends["compact"] = await story.chat.ask("/compact")
    return story


def _answer(params: Json) -> Json | None:
    """Allow, and leave plan mode without clearing the context."""
    ids = [option["optionId"] for option in params["options"]]
    if "exit-plan-default" in ids:
        return {"outcome": {"outcome": "selected", "optionId": "exit-plan-default"}}
    return ALLOW(params)
