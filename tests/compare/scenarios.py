"""What both agents are put through: one table of scenarios, each a few scripted prompts."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.acp_client import AcpClient
from tests.support.rpc import (
    ALLOW,
    ALLOW_ALWAYS,
    CANCELLED,
    REJECT,
    REJECT_ALWAYS,
    Call,
    Handler,
    Json,
    choose,
    never,
)

ECHO_MCP = Path(__file__).resolve().parents[1] / "support" / "echo_mcp.py"
ECHO_SERVER: Json = {"name": "echo", "command": sys.executable, "args": [str(ECHO_MCP)], "env": []}

Prompt = Sequence[Sequence[Any]]
"""The steps of one prompt."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a scenario plays: a client with a fresh session in a fresh project."""

    client: AcpClient
    session: str
    project: Path

    def prompt(self, steps: Prompt) -> Call:
        """Send one scripted prompt; `{project}` in it is the project's path."""
        text = "SCRIPT " + json.dumps(list(steps)).replace("{project}", str(self.project))
        return self.client.prompt(self.session, text)

    async def ask(self, steps: Prompt) -> Json:
        """Send one scripted prompt and wait for its response."""
        return (await self.prompt(steps).message()).body


Play = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: files of the project, and what happens."""

    name: str
    play: Play
    files: Mapping[str, bytes] = field(default_factory=dict)
    mcp_servers: Sequence[Json] = ()
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    mode: str = "default"


SCENARIOS: dict[str, Scenario] = {}


def _prompts(
    name: str, *prompts: Prompt, permission: Handler | None = None, settle: float = 0, **more: Any
) -> None:
    """A scenario of prompts that follow each other."""

    async def play(stage: Stage) -> None:
        for prompt in prompts:
            await stage.ask(prompt)
        await asyncio.sleep(settle)

    handlers = {"session/request_permission": permission or ALLOW, "elicitation/create": accept_form}
    SCENARIOS[name] = Scenario(name, play, handlers=handlers, **more)


def _staged(name: str, permission: Handler = ALLOW) -> Callable[[Play], Play]:
    """A scenario that is more than prompts in a row."""

    def register(play: Play) -> Play:
        SCENARIOS[name] = Scenario(name, play, handlers={"session/request_permission": permission})
        return play

    return register


def use(name: str, **input: Any) -> Json:
    """A tool call."""
    return {"name": name, "input": input}


def bash(command: str, **more: Any) -> Json:
    """A Bash call."""
    return use("Bash", command=command, description="d", **more)


def accept_form(params: Json) -> Json:
    """Fill in a form with the first choice of each question."""
    content: Json = {}
    for name, schema in params.get("requestedSchema", {}).get("properties", {}).items():
        choices = schema.get("oneOf") or schema.get("items", {}).get("anyOf")
        if choices:
            first = choices[0]["const"]
            content[name] = [first] if schema["type"] == "array" else first
    return {"action": "accept", "content": content}


def decline_form(_: Json) -> Json:
    """Decline to answer."""
    return {"action": "decline"}


# ── text and endings ──────────────────────────────────────────────────────────

_prompts("text", [[{"thinking": "I think. Twice."}, "One answer."]], [["A second answer."]])
_prompts("empty-thought", [[{"thinking": ""}, "words"]])
_prompts("max-tokens", [["half", {"stop": "max_tokens"}], ["the rest"]])
_prompts("refusal", [["no", {"stop": "refusal"}], ["still no", {"stop": "refusal"}]])
_prompts("error-400", [[{"error": 400, "message": "bad request"}]], [["fine again"]])
_prompts("error-529-once", [[{"error": 529, "times": 1, "headers": {"retry-after": "0"}}, "after a retry"]])
_prompts("cut", [["part", {"cut": True, "times": 1}], ["the rest"]])
_prompts(
    "usage",
    [[bash("echo 1"), {"usage": {"input_tokens": 10000}}], ["done", {"usage": {"input_tokens": 20000}}]],
)

# ── tools ─────────────────────────────────────────────────────────────────────

_prompts("bash", [["run", bash("echo out; echo err >&2; touch x")], ["done"]])
_prompts("bash-fails", [[bash("echo bad; touch y; exit 3")], ["done"]])
_prompts("bash-silent", [[bash("true; touch z")], ["done"]])
_prompts(
    "bash-background",
    [[bash("sleep 1; echo end", run_in_background=True)], ["started"], ["noticed"]],
    settle=3,
)
_prompts(
    "read",
    [[use("Read", file_path="{project}/a.txt")], ["done"]],
    [[use("Read", file_path="{project}/a.txt", offset=2, limit=2)], ["done"]],
    [[use("Read", file_path="{project}/missing.txt")], ["done"]],
    [[use("Read", file_path="/etc/hostname")], ["done"]],
    files={"a.txt": b"one\ntwo\nthree\nfour\n"},
)
_prompts("write-new", [[use("Write", file_path="{project}/new.txt", content="l1\nl2")], ["done"]])
_prompts(
    "write-over",
    [
        [use("Read", file_path="{project}/old.txt")],
        [use("Write", file_path="{project}/old.txt", content="1\nTWO\n3\n")],
        ["done"],
    ],
    files={"old.txt": b"1\n2\n3\n"},
)
_prompts(
    "edit",
    [
        [use("Read", file_path="{project}/e.txt")],
        [use("Edit", file_path="{project}/e.txt", old_string="b", new_string="B")],
        [use("Edit", file_path="{project}/e.txt", old_string="x", new_string="y", replace_all=True)],
        [use("Edit", file_path="{project}/e.txt", old_string="nomatch", new_string="q")],
        ["done"],
    ],
    files={"e.txt": b"a\nb\nx\nc\nx\n"},
)
_prompts(
    "search",
    [[use("Glob", pattern="**/*.txt")], ["done"]],
    [[use("Grep", pattern="b", path="{project}", output_mode="content", **{"-n": True})], ["done"]],
    files={"a.txt": b"abc\n", "b.txt": b"bcd\n"},
)
_prompts("web-fetch", [[use("WebFetch", url="http://127.0.0.1:9/x", prompt="what?")], ["done"]])
_prompts("web-search", [[use("WebSearch", query="abc")], ["done"]])
_prompts("unknown-tool", [[use("Nope", a=1)], ["done"]])
_prompts("tool-search", [[use("ToolSearch", query="select:X")], ["done"]])
_prompts(
    "notebook",
    [
        [use("Read", file_path="{project}/n.ipynb")],
        [use("NotebookEdit", notebook_path="{project}/n.ipynb", cell_id="c1", new_source="print(2)")],
        ["done"],
    ],
    files={
        "n.ipynb": b'{"cells":[{"id":"c1","cell_type":"code","source":["print(1)"],"metadata":{},'
        b'"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}'
    },
)
_prompts(
    "tasks",
    [
        [use("TaskCreate", subject="First", description="d1", activeForm="Doing first")],
        [use("TaskCreate", subject="Second", description="d2")],
        [use("TaskUpdate", taskId="1", status="in_progress")],
        [use("TaskList")],
        [use("TaskUpdate", taskId="1", status="completed")],
        [use("TaskUpdate", taskId="2", status="deleted")],
        ["done"],
    ],
)
_prompts(
    "mcp",
    [[use("mcp__echo__greet", who="Al")], ["done"]],
    [[use("mcp__echo__mixed")], [use("mcp__echo__fail")], ["done"]],
    mcp_servers=[ECHO_SERVER],
)
_CHILD = 'SCRIPT [["sub text", {"name": "Bash", "input": {"command": "echo sub; touch s"}}], ["REPORT body"]]'
_AGENT = {"description": "Look around", "prompt": _CHILD, "subagent_type": "general-purpose"}
_prompts("agent", [[use("Agent", **_AGENT, run_in_background=False)], ["main done"]])
_prompts("agent-background", [[use("Agent", **_AGENT)], ["main done"], ["noticed"]], settle=3)

# ── questions ─────────────────────────────────────────────────────────────────

_COLOR = {
    "question": "Which color?",
    "header": "Color",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
_SIZES = {**_COLOR, "question": "Which sizes?", "header": "Size", "multiSelect": True}
_prompts("ask", [[use("AskUserQuestion", questions=[_COLOR])], ["done"]])
_prompts("ask-two", [[use("AskUserQuestion", questions=[_COLOR, _SIZES])], ["done"]])
_PLAN: Prompt = [["plan", use("ExitPlanMode", plan="# Plan\n1. do")], ["done"]]
_prompts("plan-mode-enter", [[use("EnterPlanMode")], ["done"]])
_prompts("plan-approve", _PLAN, mode="plan")
_prompts("plan-approve-always", _PLAN, mode="plan", permission=ALLOW_ALWAYS)
_prompts("plan-reject", _PLAN, mode="plan", permission=REJECT)

_GATED: Prompt = [[bash("touch q")], ["after"]]
_TWICE = (_GATED, _GATED)
_prompts("permission-allow", _GATED)
_prompts("permission-always", *_TWICE, permission=ALLOW_ALWAYS)
_prompts("permission-reject", _GATED, permission=REJECT)
_prompts("permission-reject-always", _GATED, permission=REJECT_ALWAYS)
_prompts("permission-cancelled", _GATED, permission=CANCELLED)
_prompts(
    "permission-unoffered",
    _GATED,
    permission=lambda _: {"outcome": {"outcome": "selected", "optionId": "nonsense"}},
)
_prompts("permission-edit-always", [[use("Write", file_path="{project}/w.txt", content="w")], ["done"]],
         permission=choose("allow_always"))  # fmt: skip
_prompts("parallel-gated", [[bash("touch p1"), bash("touch p2")], ["done"]])


# ── cancelling, queueing, closing ─────────────────────────────────────────────

_SLOW_TEXT: Prompt = [[{"text": "begun never", "pace": 30}]]
_SLOW_BASH: Prompt = [[bash("touch q; python3 -c 'import time; time.sleep(30)'")], ["after"]]


@_staged("cancel-mid-stream")
async def _cancel_mid_stream(stage: Stage) -> None:
    call = stage.prompt(_SLOW_TEXT)
    await stage.client.wait_update("agent_message_chunk", since=len(stage.client.messages))
    stage.client.cancel(stage.session)
    await call.message()
    await stage.ask([["next"]])


@_staged("cancel-mid-tool")
async def _cancel_mid_tool(stage: Stage) -> None:
    call = stage.prompt(_SLOW_BASH)
    await _until(lambda: (stage.project / "q").exists())
    stage.client.cancel(stage.session)
    await call.message()
    await stage.ask([["next"]])


@_staged("cancel-open-permission", never)
async def _cancel_open_permission(stage: Stage) -> None:
    call = stage.prompt(_GATED)
    await stage.client.wait_question(since=len(stage.client.messages))
    stage.client.cancel(stage.session)
    await call.message()
    await stage.ask([["next"]])


@_staged("cancel-idle")
async def _cancel_idle(stage: Stage) -> None:
    stage.client.cancel(stage.session)
    await stage.ask([["next"]])


@_staged("queue-two")
async def _queue_two(stage: Stage) -> None:
    first = stage.prompt([[{"text": "a b c d e f", "pace": 0.1}]])
    second = stage.prompt([["second"]])
    await first.message()
    await second.message()


@_staged("queue-during-tool")
async def _queue_during_tool(stage: Stage) -> None:
    first = stage.prompt([[bash("touch q; python3 -c 'import time; time.sleep(2)'")], ["first goes on"]])
    await _until(lambda: (stage.project / "q").exists())
    second = stage.prompt([["second"]])
    await first.message()
    await second.message()


@_staged("queue-cancelled")
async def _queue_cancelled(stage: Stage) -> None:
    first = stage.prompt(_SLOW_TEXT)
    await stage.client.wait_update("agent_message_chunk", since=len(stage.client.messages))
    second = stage.prompt([["never"]])
    stage.client.cancel(stage.session)
    await first.message()
    await second.message()


@_staged("close-mid-turn")
async def _close_mid_turn(stage: Stage) -> None:
    call = stage.prompt(_SLOW_TEXT)
    await stage.client.wait_update("agent_message_chunk", since=len(stage.client.messages))
    closed = stage.client.call("session/close", {"sessionId": stage.session})
    await call.message()
    await closed.message()


@_staged("load")
async def _load(stage: Stage) -> None:
    await stage.ask([[{"thinking": "hm"}, "hi", bash("echo out; touch x")], ["done"]])
    await stage.client.call("session/close", {"sessionId": stage.session}).message()
    params = {"sessionId": stage.session, "cwd": str(stage.project), "mcpServers": []}
    await stage.client.call("session/load", params).message()
    await stage.ask([["and on"]])


@_staged("commands")
async def _commands(stage: Stage) -> None:
    for text in ("/context", "/nosuch", "/compact", "/goal be nice"):
        await stage.client.prompt(stage.session, text).message()


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.05)
