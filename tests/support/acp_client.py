"""The tests' ACP client: it starts any agent and speaks ACP with it.

    async with run_agent(command, Sandbox(path, api.url)) as client:
        await client.initialize("zed")
        session = await client.new_session()
        result = await client.prompt(session, "hello").result()
        client.updates(session, "agent_message_chunk")

What it checks on the way: `tests.support.connection`. The end demands that the agent and everything
it started are gone in time once its input is closed.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tests.support.clients import CAPABILITIES
from tests.support.connection import Connection
from tests.support.processes import Mark
from tests.support.rpc import ALLOW, HANG, Call, Handler, Json, Message
from tests.support.sandbox import Sandbox


class AcpClient(Connection):
    """A client that allows what it is asked, unless a test says otherwise; made by `run_agent`."""

    def __init__(
        self, process: asyncio.subprocess.Process, mark: Mark, sandbox: Sandbox, *, check: bool = True
    ) -> None:
        super().__init__(process, mark, sandbox, check=check)
        self.on_permission(ALLOW)
        self.handlers["elicitation/create"] = lambda _: {"action": "decline"}

    # ── talking ───────────────────────────────────────────────────────────────

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request and wait for its result."""
        return await self.call(method, params).result()

    async def initialize(self, capabilities: str | Mapping[str, Any] = "plain", **more: Any) -> Json:
        """Shake hands as one of the known kinds of clients, or with capabilities of one's own."""
        declared = CAPABILITIES[capabilities] if isinstance(capabilities, str) else capabilities
        params = {
            "protocolVersion": 1,
            "clientCapabilities": dict(declared),
            "clientInfo": {"name": "claude-acp-tests", "version": "0"},
        }
        return await self.request("initialize", {**params, **more})

    async def initialize_v2(self, capabilities: Mapping[str, Any] | None = None, **more: Any) -> Json:
        """Shake hands for ACP v2."""
        params = {
            "protocolVersion": 2,
            "info": {"name": "claude-acp-tests", "version": "0"},
            "capabilities": {"elicitation": {"form": {}}} if capabilities is None else dict(capabilities),
        }
        return await self.request("initialize", {**params, **more})

    async def new_session(self, **more: Any) -> str:
        """Open a session in the sandbox's project; its id."""
        params = {"cwd": str(self.sandbox.project), "mcpServers": []}
        session: str = (await self.request("session/new", {**params, **more}))["sessionId"]
        return session

    def prompt(self, session: str, prompt: str | Sequence[Json], **more: Any) -> Call:
        """Send a prompt: a text, or content blocks."""
        blocks = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else list(prompt)
        return self.call("session/prompt", {"sessionId": session, "prompt": blocks, **more})

    def cancel(self, session: str) -> None:
        """Send `session/cancel`."""
        self.notify("session/cancel", {"sessionId": session})

    def on_permission(self, handler: Handler) -> None:
        """Decide how permission requests are answered from now on."""
        self.handlers["session/request_permission"] = handler

    # ── looking back ──────────────────────────────────────────────────────────

    @property
    def received(self) -> list[Json]:
        """Bodies of the agent's messages, in order."""
        return [message.body for message in self.messages if message.direction == "received"]

    def updates(self, session: str | None = None, kind: str | None = None, *, since: int = 0) -> list[Json]:
        """Payloads of `session/update`, of one session and kind or of all, from a place on."""
        found = []
        for message in self.messages[since:]:
            params = message.body.get("params")
            if message.direction == "sent" or message.body.get("method") != "session/update":
                continue
            assert isinstance(params, dict)
            update = params["update"]
            if session in (None, params["sessionId"]) and kind in (None, update["sessionUpdate"]):
                found.append(update)
        return found

    def text(self, session: str | None = None, kind: str = "agent_message_chunk", *, since: int = 0) -> str:
        """Text of all chunks of a kind, joined."""
        chunks = self.updates(session, kind, since=since)
        return "".join(chunk["content"].get("text", "") for chunk in chunks)

    def tool_call(self, id: str, session: str | None = None) -> Json:
        """All reports of a tool call merged as an editor does: later values replace earlier ones."""
        state: Json = {}
        for update in self.updates(session):
            if update.get("toolCallId") == id and update["sessionUpdate"].startswith("tool_call"):
                state |= {key: value for key, value in update.items() if value is not None}
        return state

    def asked(self, method: str = "session/request_permission") -> list[Json]:
        """Params of the agent's requests of a method."""
        return [body["params"] for body in self.received if body.get("method") == method and "id" in body]

    # ── waiting ───────────────────────────────────────────────────────────────

    async def wait_for(
        self, predicate: Callable[[Json], object], *, since: int = 0, within: float = HANG
    ) -> Message:
        """The first message of the agent that fits, already received or still to come."""
        deadline = time.monotonic() + within
        seen = since
        while True:
            self._news.clear()
            for message in self.messages[seen:]:
                if message.direction == "received" and predicate(message.body):
                    return message
            seen = len(self.messages)
            self.assert_clean()
            if self._closed:
                raise self._gone()
            left = deadline - time.monotonic()
            try:
                await asyncio.wait_for(self._news.wait(), max(left, 0))
            except TimeoutError:
                last = "\n".join(json.dumps(body)[:300] for body in self.received[-5:])
                raise TimeoutError(f"nothing fits after {within:.0f} s; last messages:\n{last}") from None

    async def wait_update(
        self, kind: str, predicate: Callable[[Json], object] = lambda _: True, *, since: int = 0
    ) -> Message:
        """The first `session/update` of a kind that fits."""

        def fits(body: Json) -> object:
            update = body["params"]["update"] if body.get("method") == "session/update" else {}
            return update.get("sessionUpdate") == kind and predicate(update)

        return await self.wait_for(fits, since=since)

    async def wait_question(self, method: str = "session/request_permission", *, since: int = 0) -> Message:
        """The agent's first request of a method."""
        return await self.wait_for(lambda body: body.get("method") == method and "id" in body, since=since)


@asynccontextmanager
async def run_agent(
    command: Sequence[str],
    sandbox: Sandbox,
    env: Mapping[str, str | None] | None = None,
    *,
    check: bool = True,
) -> AsyncIterator[AcpClient]:
    """Start an agent in a sandbox; at the end close it, with all that `AcpClient.close` demands.

    `check` off spares a foreign agent the oracle of our own messages.
    """
    sandbox.create()
    mark = Mark()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=sandbox.root,
        env=sandbox.environment(env) | mark.environment,
        start_new_session=True,
    )
    client = AcpClient(process, mark, sandbox, check=check)
    try:
        yield client
        if process.returncode is None:
            await client.close()
        client.assert_clean()
    finally:
        await client.kill()
