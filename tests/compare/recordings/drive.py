"""Drives an agent as the client of a recording did, and keeps what the agent sends."""

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bridge.demo.api import ScriptedApi
from tests.compare.normalise import Entry, matters, named, names, tell
from tests.compare.recordings.fold import fold
from tests.compare.recordings.furnish import furnish, own_paths, recorded_paths, setup_of, translated
from tests.compare.recordings.model import Model
from tests.compare.recordings.recording import Line, Recording
from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import Json, never
from tests.support.sandbox import Sandbox, bundled_cli

ANSWER_SECONDS = 40.0
"""How long an answer or a question that the recording has is waited for."""
UPDATE_SECONDS = 2.0
"""How long an update that the recording has is waited for: ours may never come."""
PAUSE_SECONDS = 3.0
"""The longest pause of a recorded client that is kept."""


_SHORT = 4
"""An id of so many characters may stand in a text by chance."""
_NOBODY = "answer to null"
"""What was no request may be missing in the recording."""


class Traffic:
    """What one side of the comparison has seen: the agent's messages, and how they are called."""

    def __init__(self) -> None:
        self.told: list[Json] = []
        """Of all agents, with the method of the request instead of its id."""
        self._methods: dict[Any, str] = {}
        self.questions: list[Any] = []
        """Ids of the requests of the present agent."""
        self.count: Counter[str] = Counter()
        self.spoken = ""
        """All that the client said."""
        self.given: list[str] = []
        """Ids that come from the client."""
        self._known: set[str] = set()
        self._last = ""

    def starts(self, body: Any) -> bool:
        """Whether the client talks to a new agent: it shakes hands, and counts its requests anew."""
        if not isinstance(body, dict) or body.get("method") != "initialize":
            return False
        return not self._methods or body.get("id") in self._methods

    def awaited(self) -> list[str]:
        """What shows that the other side is as far: all answers and questions, and the last message."""
        needed = [kind for kind in self.count if kind.startswith(("answer", "question")) and kind != _NOBODY]
        return [*needed, *([self._last] if self._last and self._last not in needed else ())]

    def restart(self) -> None:
        """The agent is another one."""
        self._methods = {}
        self.questions = []

    def sent(self, body: Any) -> None:
        """Note a message of the client."""
        self.spoken += json.dumps(body)
        if isinstance(body, dict) and "method" in body and "id" in body:
            self._methods[body["id"]] = f"{body['method']} #{body['id']}"

    def received(self, body: Json) -> None:
        """Note a message of the agent."""
        if "method" in body and "id" in body:
            self.questions.append(body["id"])
        for id in names([body]):
            if id not in self._known and id in self.spoken and len(id) > _SHORT:
                self.given.append(id)
            self._known.add(id)
        self.told.append(named(body, self._methods))
        self.count[_kind(body)] += 1
        if matters(body):
            self._last = _kind(body)


class Drive:
    """One agent that is driven through recordings, one after the other, in one sandbox."""

    def __init__(self, command: Sequence[str], root: Path, api_url: str) -> None:
        self._command = command
        self._sandbox = Sandbox(root.resolve(), api_url).create()
        self._client: AcpClient | None = None
        self._seen = 0
        self._ids: dict[str, str] = {}
        """Ids of earlier recordings with those of this run."""
        self._running: Any = None
        self._played = 0
        """Lines of the present recording that were played."""
        self._missed: Counter[str] = Counter()
        """What the present recording has and we did not send in time."""

    async def play(
        self, recording: Recording, siblings: Sequence[Recording] = ()
    ) -> tuple[list[Entry], list[Entry]]:
        """What was recorded and what the agent sends now."""
        furnish(recording, self._sandbox, siblings)
        theirs, ours = Traffic(), Traffic()
        stopped = ""
        try:
            await self._lines(recording, theirs, ours)
        except TimeoutError as error:
            stopped = str(error)
        for line in recording.lines[self._played :]:
            _note(line, theirs)
        self._take(ours)
        self._learn(theirs, ours)
        await self.close()
        given = {id: f"<given {place}>" for place, id in enumerate(theirs.given, 1)}
        recorded = tell(fold(theirs.told, recorded_paths(recording)), recorded_paths(recording) | given)
        given = {self._ids.get(id, id): name for id, name in given.items()}
        told = tell(fold(ours.told, own_paths(self._sandbox)), own_paths(self._sandbox) | given)
        if stopped:
            told.append(Entry(f"STOPPED: {stopped}", {}))
        return recorded, told

    async def close(self) -> None:
        """End the agent."""
        if self._client is not None:
            self._client.violations.clear()
            await self._client.kill()
            with suppress(Exception):
                await self._running.__aexit__(None, None, None)
        self._client = None

    # ── line by line ──────────────────────────────────────────────────────────

    async def _lines(self, recording: Recording, theirs: Traffic, ours: Traffic) -> None:
        self._played = 0
        self._missed.clear()
        before = 0.0
        for line in recording.lines:
            if line.side == "client":
                await self._catch_up(theirs, ours, UPDATE_SECONDS)
                await asyncio.sleep(min(max(line.at - before, 0), PAUSE_SECONDS))
                await self._say(line.body, recording, theirs, ours)
            elif isinstance(line.body, dict) and "kill" in line.body:
                await self._catch_up(theirs, ours, UPDATE_SECONDS)
                self._kill_claude()
            self._played += 1
            _note(line, theirs)
            before = line.at
        await self._catch_up(theirs, ours, 2 * UPDATE_SECONDS)
        await asyncio.sleep(0.3)

    async def _say(self, body: Any, recording: Recording, theirs: Traffic, ours: Traffic) -> None:
        if theirs.starts(body) or self._client is None:
            await self._start(recording, theirs, ours)
        assert self._client is not None
        self._take(ours)
        self._learn(theirs, ours)
        mine = self._translate(body)
        if isinstance(mine, dict) and "method" not in mine:
            place = theirs.questions.index(mine["id"])
            mine["id"] = ours.questions[place]
            self._client.questions.pop(mine["id"], None)
        elif isinstance(mine, dict) and "id" in mine:
            self._client.expect(mine["id"], mine["method"])
        ours.sent(mine)
        if isinstance(mine, dict):
            self._client.send(mine)
        else:
            self._client.send_raw(json.dumps(mine).encode() + b"\n")

    async def _start(self, recording: Recording, theirs: Traffic, ours: Traffic) -> None:
        """Start the agent; a second handshake in a recording is that of another agent."""
        await self.close()
        theirs.restart()
        ours.restart()
        setup = setup_of(recording)
        env = {"CLAUDE_CODE_EXECUTABLE": str(bundled_cli()), **setup.env}
        self._running = run_agent([*self._command, *setup.args], self._sandbox, env, check=False)
        self._client = await self._running.__aenter__()
        self._client.handlers.update({"session/request_permission": never, "elicitation/create": never})
        self._seen = 0

    def _kill_claude(self) -> None:
        """End the processes that serve the agent's sessions."""
        assert self._client is not None
        for pid, command in self._client.mark.living().items():
            if "stream-json" in command:
                os.kill(pid, signal.SIGKILL)

    async def _catch_up(self, theirs: Traffic, ours: Traffic, patience: float) -> None:
        """Wait until we are where the recording is; what is not answered stops the drive."""
        start = time.monotonic()
        while True:
            self._take(ours)
            left = {
                kind: theirs.count[kind] - ours.count[kind] - self._missed[kind]
                for kind in theirs.awaited()
                if theirs.count[kind] > ours.count[kind] + self._missed[kind]
            }
            needed = [kind for kind in left if kind.startswith(("answer", "question"))]
            waited = time.monotonic() - start
            if not left or (not needed and waited > patience):
                self._missed.update(left)
                return
            gone = self._client is not None and self._client.process.returncode is not None
            if needed and (waited > ANSWER_SECONDS or gone):
                raise TimeoutError(f"{', '.join(needed)} never came")
            await asyncio.sleep(0.02)

    def _take(self, ours: Traffic) -> None:
        if self._client is None:
            return
        new = self._client.messages[self._seen :]
        self._seen += len(new)
        for message in new:
            if message.direction == "received":
                ours.received(message.body)

    # ── translation ───────────────────────────────────────────────────────────

    def _learn(self, theirs: Traffic, ours: Traffic) -> None:
        """Ids that play the same part in both runs."""
        own = {name: id for id, name in names(ours.told).items()}
        for id, name in names(theirs.told).items():
            if name in own and id not in theirs.given:
                self._ids[id] = own[name]

    def _translate(self, body: Any) -> Any:
        text = translated(json.dumps(body), self._sandbox)
        for id in sorted(self._ids, key=len, reverse=True):
            if len(id) > _SHORT:
                text = text.replace(json.dumps(id)[1:-1], json.dumps(self._ids[id])[1:-1])
        return json.loads(text)


def _note(line: Line, theirs: Traffic) -> None:
    if line.side == "agent":
        theirs.received(line.body)
    elif line.side == "client":
        if theirs.starts(line.body):
            theirs.restart()
        theirs.sent(line.body)


def _kind(body: Json) -> str:
    """What is counted to see whether both sides are equally far."""
    if "method" not in body:
        return "answer to " + json.dumps(body.get("id"))
    if "id" in body:
        return f"question {body['method']}"
    update = (body.get("params") or {}).get("update") or {}
    return " ".join(str(part) for part in (body["method"], update.get("sessionUpdate"), update.get("status")))


@asynccontextmanager
async def drive(command: Sequence[str], model: Model) -> AsyncIterator[Drive]:
    """A drive with a place of its own."""
    with TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as folder:
        async with ScriptedApi(model) as api:
            driven = Drive(command, Path(folder), api.url)
            try:
                yield driven
            finally:
                await driven.close()
