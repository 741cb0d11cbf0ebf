"""A conversation of a test: one session in a project folder of its own, and what happened in it.

chat = await new_chat()
result = await chat.ask(script(["I look.", bash("ls")], ["Done."]))
assert chat.order() == ["prompt", "text", "call pending", …, "end_turn"]
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from bridge.demo.api import ApiRequest, ScriptedApi
from tests.support.acp_client import AcpClient
from tests.support.rpc import HANG, Call, Json, Message

SESSION_HEADER = "x-claude-code-session-id"

WELL = "All is well."

NOISE = ("commands", "usage", "cost", "update", "session_info_update")
"""What may come between the steps of a turn without being one."""

SLEEP = "python3 -c 'import time; time.sleep(300)'"
"""A command that does not end by itself; Claude Code refuses a bare `sleep`."""


def script(*steps: Sequence[Any]) -> str:
    """A prompt that tells the scripted model what to answer (`bridge.demo.script`)."""
    return "SCRIPT " + json.dumps(steps)


def use(name: str, /, **input: Any) -> Json:
    """A tool call in a script."""
    return {"name": name, "input": input}


def bash(command: str, **more: Any) -> Json:
    """A Bash call in a script."""
    return use("Bash", command=command, **more)


def slow(words: int = 100, pace: float = 0.1) -> Json:
    """A text in a script that takes its time: `word 0 word 1 …`."""
    return {"text": " ".join(f"word-{n}" for n in range(words)), "pace": pace}


def claudes(client: AcpClient) -> dict[int, str]:
    """Command lines of the Claude Codes that serve sessions of an agent, by process id."""
    return {pid: command for pid, command in client.mark.living().items() if "stream-json" in command}


@dataclass(frozen=True, slots=True)
class Chat:
    """One session of an agent, which may have others."""

    client: AcpClient
    session: str
    project: Path
    api: ScriptedApi
    start: int
    """Where its messages begin."""
    is_scripted: bool = True
    """The real Claude Code with the scripted model; else the fake one, which repeats the prompt."""

    # ── talking ───────────────────────────────────────────────────────────────

    def prompt(self, prompt: str | Sequence[Json], **more: Any) -> Call:
        """Send a prompt: a text, or content blocks."""
        return self.client.prompt(self.session, prompt, **more)

    async def ask(self, prompt: str | Sequence[Json], **more: Any) -> Json:
        """Send a prompt and wait for its result."""
        return await self.prompt(prompt, **more).result()

    def cancel(self) -> None:
        """Send `session/cancel`."""
        self.client.cancel(self.session)

    async def set_mode(self, mode: str) -> None:
        """Switch the permission mode."""
        await self.client.request("session/set_mode", {"sessionId": self.session, "modeId": mode})

    async def is_well(self) -> None:
        """Whatever happened before: a fresh prompt gets its own text and its own end."""
        mark = self.mark
        text = script([WELL]) if self.is_scripted else WELL
        assert (await self.ask(text))["stopReason"] == "end_turn"
        said = self.text(since=mark)
        assert said == WELL, said

    async def until_made(self, name: str) -> None:
        """Wait until a file of the project is there."""
        with anyio.fail_after(HANG):
            while not (self.project / name).exists():  # noqa: ASYNC110 - no event tells it
                await anyio.sleep(0.02)

    # ── looking back ──────────────────────────────────────────────────────────

    @property
    def mark(self) -> int:
        """The place where the next message will be."""
        return len(self.client.messages)

    def updates(self, kind: str | None = None, *, since: int | None = None) -> list[Json]:
        """Payloads of its `session/update`s."""
        return self.client.updates(self.session, kind, since=self.start if since is None else since)

    def text(self, kind: str = "agent_message_chunk", *, since: int | None = None) -> str:
        """Text of its chunks, joined."""
        return self.client.text(self.session, kind, since=self.start if since is None else since)

    def calls(self) -> dict[str, Json]:
        """Its tool calls by id, as an editor sees them in the end."""
        ids = [update["toolCallId"] for update in self.updates("tool_call", since=self.start)]
        return {id: self.client.tool_call(id, self.session) for id in ids}

    def asked(self, method: str = "session/request_permission") -> list[Json]:
        """Params of the requests that the agent made for it."""
        return [params for params in self.client.asked(method) if params.get("sessionId") == self.session]

    def requests(self) -> list[ApiRequest]:
        """What Claude Code asked the model in this conversation."""
        return [asked for asked in self.api.requests if asked.headers.get(SESSION_HEADER) == self.session]

    def order(self, *, since: int | None = None, without: Iterable[str] = NOISE) -> list[str]:
        """What happened, a word or two for each; what repeats at once is said once."""
        told: list[str] = []
        for word in self._words(self.start if since is None else since):
            if word not in without and told[-1:] != [word]:
                told.append(word)
        return told

    def _words(self, since: int) -> Iterator[str]:
        asked: dict[tuple[str, Any], str] = {}
        for message in self.client.messages[self.start :]:
            word = self._word(message, asked)
            if word is not None and message.seq >= since:
                yield word

    def _word(self, message: Message, asked: dict[tuple[str, Any], str]) -> str | None:
        """One message in words, `None` for another session's."""
        body = message.body
        if "method" not in body:
            other = "received" if message.direction == "sent" else "sent"
            question = asked.pop((other, body.get("id")), None)
            return None if question is None else _answer(question, body)
        params = body.get("params") or {}
        if "requestId" in params:
            other = "sent" if message.direction == "sent" else "received"
            return "withdrawn" if (other, params["requestId"]) in asked else None
        if params.get("sessionId") != self.session:
            return None
        if "id" in body:
            asked[message.direction, body["id"]] = body["method"]
        if body["method"] == "session/update":
            return _update(params["update"])
        return str(body["method"]).rpartition("/")[2]


_PLAIN = {
    "agent_message_chunk": "text",
    "agent_thought_chunk": "thought",
    "available_commands_update": "commands",
    "current_mode_update": "mode",
    "config_option_update": "options",
}


def _update(update: Mapping[str, Any]) -> str:
    match update["sessionUpdate"]:
        case "tool_call":
            return f"call {update['status']}"
        case "tool_call_update":
            return f"update {update['status']}" if "status" in update else "update"
        case "state_update":
            return " ".join(update[key] for key in ("state", "stopReason") if key in update)
        case "usage_update":
            return "cost" if "cost" in update else "usage"
        case kind:
            return _PLAIN.get(kind, str(kind))


def _answer(question: str, body: Mapping[str, Any]) -> str:
    if "error" in body:
        return f"error {body['error']['code']}"
    result = body["result"]
    match question:
        case "session/prompt":
            return str(result.get("stopReason", "inserted"))  # ACP v2 answers at once
        case "session/request_permission":
            return str(result["outcome"].get("optionId", result["outcome"]["outcome"]))
        case "elicitation/create":
            return str(result["action"])
        case _:
            return "done"
