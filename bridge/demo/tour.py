"""`claude-acp demo`: a tour of the agent with the real Claude Code CLI, without account or network.

A scripted model answers on loopback, a client plays a person in a temporary project, and the
conversation is printed as it happens. The exit status is 0 only if every step went as it must.
"""

import argparse
import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from bridge.demo.api import ApiRequest, ScriptedApi, environment
from bridge.demo.client import AgentError, Client, Json, run_client
from bridge.demo.narrator import Narrator
from bridge.demo.screen import Screen

GUARD_SECONDS = 120.0
"""The whole tour takes a few seconds; after this time something hangs."""
_PAUSE = 0.3
"""Seconds that the person takes to read a question."""

_HELLO = "Hello! What are you?"
_COUNT = "How many words has the poem? Keep the number in count.txt."
_EDIT = "The last line is sad. Make it a happy one."
_LONG = "Count to a thousand, please."

_POEM = "Roses are red,\nviolets are blue,\nthe build is broken,\nand Monday is too.\n"
_SAD, _HAPPY = "and Monday is too.", "and fixed before two."
_THOUGHT = "A greeting. One friendly sentence will do."
_ANSWER = (
    "I am Claude Code, working in your editor through the Agent Client Protocol. "
    "A scripted model speaks for me today, so nothing here costs a thing."
)
_LAST = "200"
_NUMBERS = " ".join(str(number) for number in range(1, 201))

_FORGOTTEN = ("ANTHROPIC_", "CLAUDE_", "CLAUDECODE")
"""Prefixes of variables of the person's own setup, which must not reach the tour."""


class TourError(Exception):
    """A step did not go as it must."""


def run_demo(argv: Sequence[str]) -> int:
    """Play the tour on the terminal; 0 if every step succeeded, else 1."""
    parser = argparse.ArgumentParser(prog="claude-acp demo", description="A tour without account or network.")
    parser.add_argument(
        "--transitions", action="store_true", help="show the transitions of the state machines"
    )
    parser.add_argument("--json", action="store_true", help="show the messages themselves")
    parser.add_argument("--agent", metavar="COMMAND", help="tour another ACP agent")
    options = parser.parse_args(argv)
    screen = Screen(sys.stdout)
    status = 0
    try:
        anyio.run(_tour, screen, options)
    except* (TourError, AgentError, TimeoutError) as failures:
        status = 1
        for failure in _leaves(failures):
            screen.line(f"✗ {failure or 'the tour took too long'}", "bad")
    except* BrokenPipeError:
        status = 1  # whoever read along has gone
    return status


async def _tour(screen: Screen, options: argparse.Namespace) -> None:
    start = time.monotonic()
    screen.line(
        "claude-acp demo · the real Claude Code CLI and a scripted model, on this machine alone", "bold"
    )
    with TemporaryDirectory(prefix="claude-acp-demo-", ignore_cleanup_errors=True) as folder:
        root = _furnish(folder)
        project = root / "project"
        trace = root / "trace.jsonl" if options.transitions else None
        narrator = Narrator(screen, raw=options.json, trace=trace)

        async def permit(params: Json) -> str:
            option = narrator.ask(params)
            await anyio.sleep(_PAUSE)
            narrator.say(f"▸ {option['name']}")
            return str(option["optionId"])

        with anyio.fail_after(GUARD_SECONDS):
            async with ScriptedApi(_answer(project)) as api:
                env = _environment(api.url, root)
                async with run_client(
                    _command(options.agent, trace), env, narrator.observe, permit
                ) as client:
                    await _Tour(client, narrator, screen, project).play()
    screen.heading(f"✓ five steps, {time.monotonic() - start:.1f} s, no account, no network")


def _furnish(folder: str) -> Path:
    """A home, a configuration and a project of the tour's own."""
    root = Path(folder).resolve()
    for name in ("project", "home", "config"):
        (root / name).mkdir()
    (root / "project" / "poem.txt").write_text(_POEM)
    return root


class _Tour:
    """The steps, each with the checks that make it a success."""

    def __init__(self, client: Client, narrator: Narrator, screen: Screen, project: Path) -> None:
        self._client = client
        self._narrator = narrator
        self._screen = screen
        self._project = project
        self._session = ""

    async def play(self) -> None:
        """All steps in their order."""
        await self._open()
        steps: Sequence[tuple[str, Callable[[], Awaitable[None]]]] = (
            ("① A streamed answer", self._streamed_answer),
            ("② A command that asks first", self._command),
            ("③ An edit with its diff", self._edit),
            ("④ A long answer, cancelled", self._cancel),
            ("⑤ Goodbye", self._goodbye),
        )
        for title, step in steps:
            self._screen.heading(title)
            self._narrator.start()
            await step()
            self._narrator.show_transitions()

    async def _open(self) -> None:
        info = {"name": "claude-acp-demo", "version": "1"}
        await self._client.request("initialize", {"protocolVersion": 1, "clientInfo": info})
        created = await self._client.request("session/new", {"cwd": str(self._project), "mcpServers": []})
        self._session = created["sessionId"]
        if created.get("modes", {}).get("currentModeId") != "default":
            await self._client.request("session/set_mode", {"sessionId": self._session, "modeId": "default"})

    async def _streamed_answer(self) -> None:
        await self._prompt(_HELLO, "end_turn")
        heard = self._narrator.heard
        _require(heard.thought == _THOUGHT, f"the thought arrived as {heard.thought!r}")
        _require(heard.text == _ANSWER, f"the answer arrived as {heard.text!r}")

    async def _command(self) -> None:
        await self._prompt(_COUNT, "end_turn")
        heard = self._narrator.heard
        _require(
            len(heard.questions) == 1, f"it asked {len(heard.questions)} times before it ran the command"
        )
        _require("14" in heard.output, f"the output of the command arrived as {heard.output!r}")
        _require((self._project / "count.txt").exists(), "the command left no file")

    async def _edit(self) -> None:
        await self._prompt(_EDIT, "end_turn")
        heard = self._narrator.heard
        _require(
            len(heard.questions) == 1, f"it asked {len(heard.questions)} times before it changed the file"
        )
        shown = any(_HAPPY in diff["newText"] for diff in heard.diffs)
        _require(shown, "no diff was shown before the file changed")
        _require(_HAPPY in (self._project / "poem.txt").read_text(), "the file did not change")

    async def _cancel(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._prompt, _LONG, "cancelled")
            await self._narrator.wait_text(" 12 ")
            self._narrator.say("▸ Stop")
            await self._client.notify("session/cancel", {"sessionId": self._session})
        _require(_LAST not in self._narrator.heard.text, "the answer went on to its end")

    async def _goodbye(self) -> None:
        self._narrator.say("▸ Close the session")
        await self._client.request("session/close", {"sessionId": self._session})
        self._narrator.remark("session closed")
        status = await self._client.close()
        _require(status == 0, f"the agent ended with status {status}")
        self._narrator.remark("the agent ended with status 0")

    async def _prompt(self, text: str, expected: str) -> None:
        self._narrator.say(text)
        block = {"type": "text", "text": text}
        result = await self._client.request("session/prompt", {"sessionId": self._session, "prompt": [block]})
        _require(
            result["stopReason"] == expected, f"the turn ended with {result['stopReason']}, not {expected}"
        )
        self._narrator.remark(f"· {result['stopReason']}")


def _answer(project: Path) -> Callable[[ApiRequest], list[Any] | None]:
    """The model of the tour: what it answers to each of the person's prompts, request by request."""
    poem = str(project / "poem.txt")
    count = {"command": "wc -w poem.txt | tee count.txt", "description": "Count the words"}
    edit = {"file_path": poem, "old_string": _SAD, "new_string": _HAPPY}
    script: Mapping[str, list[list[Any]]] = {
        _HELLO: [[{"thinking": _THOUGHT, "pace": 0.03}, {"text": _ANSWER, "pace": 0.03}]],
        _COUNT: [
            ["I count them with the shell.", {"name": "Bash", "input": count}],
            [{"text": "The poem has 14 words.", "pace": 0.03}],
        ],
        _EDIT: [
            [{"name": "Read", "input": {"file_path": poem}}],
            [{"name": "Edit", "input": edit}],
            [{"text": "Now it ends well.", "pace": 0.03}],
        ],
        _LONG: [[{"text": _NUMBERS, "pace": 0.08}]],
    }

    def answer(request: ApiRequest) -> list[Any] | None:
        steps = script.get(request.prompt, [])
        return steps[request.step] if request.step < len(steps) else None

    return answer


def _environment(url: str, root: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FORGOTTEN)}
    own = {"HOME": str(root / "home"), "CLAUDE_CONFIG_DIR": str(root / "config")}
    return {**kept, **environment(url), **own}


def _command(agent: str | None, trace: Path | None) -> list[str]:
    command = shlex.split(agent) if agent else [sys.executable, str(_launcher())]
    return [*command, "--trace", str(trace)] if trace else command


def _launcher() -> Path:
    """The file behind `python -m claude_acp`, which works from any folder."""
    spec = importlib.util.find_spec("claude_acp")
    if spec is None or spec.origin is None:
        raise TourError("claude_acp is not installed beside this tour")
    return Path(spec.origin)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise TourError(otherwise)


def _leaves(failures: BaseExceptionGroup[Any]) -> list[BaseException]:
    """The failures themselves, out of the groups that carried them."""
    found: list[BaseException] = []
    for failure in failures.exceptions:
        found += _leaves(failure) if isinstance(failure, BaseExceptionGroup) else [failure]
    return found


if __name__ == "__main__":
    raise SystemExit(run_demo(sys.argv[1:]))
