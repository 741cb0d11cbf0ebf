"""A scripted Messages API on loopback: the real Claude Code CLI works with it, offline.

It serves `POST /v1/messages` (streamed or not) and `/v1/messages/count_tokens`; any other request
gets an empty object. What it answers stands in the prompt itself (`bridge.demo.script`), or is
decided by a Python function. Point the CLI at it with `environment(url)`.

    async with ScriptedApi() as api:
        …                       # run an agent with environment(api.url)
        api.requests[-1].body   # what Claude Code asked

`python -m bridge.demo.api` serves in a process of its own and prints the address.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, assert_never

import anyio
from anyio.from_thread import start_blocking_portal

from bridge.demo import script
from bridge.demo.loopback import Exchange, LoopbackServer
from bridge.demo.script import Delay, Error, Step, Text, Usage
from bridge.demo.stream import DEFAULT_USAGE, Envelope, Halt, error_body, message, play

Kind = Literal["turn", "title", "compact", "side", "count"]
"""What a request is for: the conversation itself, or something that Claude Code asks beside it."""

EVENT_STREAM = "text/event-stream"
FLUSH_BYTES = 32 * 1024
TITLE = "Scripted session"
SUMMARY = "<summary>The scripted summary.</summary>"

_UNCOUNTED = Usage(dict.fromkeys(DEFAULT_USAGE, 0))
"""Of requests beside the conversation: they come when they come, and must not blur its numbers."""

_COMPACT = "CRITICAL: Respond with TEXT ONLY"
_SUGGEST = "[SUGGESTION MODE:"
_NOT_A_PROMPT = (
    "<",
    "[Request interrupted",
    "The user sent a new message while you were working",
    "Output token limit hit",
    "Your response above was",
    "Stop hook feedback:",
    "Continue from where you left off",
    "This session is being continued",
)
"""How texts begin that Claude Code writes in the user's name while it goes on with a prompt."""
_ATTACHMENT = re.compile(r"\[@[^\]]*\]\(\S+\)|[a-z][\w+.-]*://\S*|")
"""A block that is a link and nothing else, or empty: the prompt stands beside it."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request as it came in, and how it was understood."""

    kind: Kind
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    prompt: str = ""
    """The text that decides the answer; empty for requests beside the conversation."""
    step: int = 0
    """How many responses the prompt has already got."""
    place: tuple[int, int] = (0, 0)
    """Where the prompt stands: index of its message and of its block."""


class ScriptedApi:
    """The API while it is entered; `url` is its address.

    `respond` may decide the answer of a request, of any kind but a count: a step as plain data, or
    `None` to go by the prompt. `requests` holds the conversation's requests in the order of their arrival,
    retries included, `side_requests` all others.
    """

    def __init__(
        self, respond: Callable[[ApiRequest], Sequence[Any] | None] | None = None, *, port: int = 0
    ) -> None:
        self.respond = respond
        self.requests: list[ApiRequest] = []
        self.side_requests: list[ApiRequest] = []
        self._tries: Counter[tuple[object, ...]] = Counter()
        self._run = os.urandom(3).hex()
        """Part of every message id: two servers may serve one stored session, one after the other."""
        self._numbers = count(1)
        self._server = LoopbackServer(self._answer, port)
        self._stack = AsyncExitStack()

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return self._server.url

    async def __aenter__(self) -> "ScriptedApi":
        await self._stack.enter_async_context(self._server)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    async def _answer(self, exchange: Exchange) -> None:
        request = exchange.request
        path = request.path.partition("?")[0]
        if request.method != "POST" or not path.startswith("/v1/messages"):
            await exchange.reply(200, {})
            return
        body = json.loads(request.body)
        asked = _understand(body, request.headers, counting=path.endswith("/count_tokens"))
        (self.requests if asked.kind == "turn" else self.side_requests).append(asked)
        if asked.kind == "count":
            await exchange.reply(200, {"input_tokens": len(request.body) // 4})
            return
        try:
            step = self._step(asked)
        except script.ScriptError as error:
            await exchange.reply(400, error_body(Error(400, f"{script.MARKER.strip()}: {error}")))
            return
        envelope = Envelope(f"msg_{self._run}_{next(self._numbers)}", body.get("model", "scripted"))
        if body.get("stream"):
            await _stream(exchange, step, envelope)
        else:
            await _reply(exchange, step, envelope)

    def _step(self, asked: ApiRequest) -> Step:
        decided = self.respond(asked) if self.respond else None
        if decided is None:
            step = _scripted(asked) if asked.kind == "turn" else (Text(_side_answer(asked)), _UNCOUNTED)
        else:
            step = script.read_step(decided)
        key = (asked.headers.get("x-claude-code-session-id"), asked.prompt, asked.place, asked.step)
        self._tries[key] += 1
        return script.without_spent(step, self._tries[key] - 1)


def environment(url: str) -> dict[str, str]:
    """What Claude Code needs to work with the scripted API and with nothing else."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


@contextmanager
def serve_in_thread(
    respond: Callable[[ApiRequest], Sequence[Any] | None] | None = None,
) -> Iterator[ScriptedApi]:
    """The API on an event loop of its own, for code that is not async."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(ScriptedApi(respond)) as api:
        yield api


def _scripted(asked: ApiRequest) -> Step:
    steps = script.find_script(asked.prompt) or ((Text(script.GREETING),),)
    return steps[asked.step] if asked.step < len(steps) else (Text(script.CLOSING),)


def _understand(body: Mapping[str, Any], headers: Mapping[str, str], *, counting: bool) -> ApiRequest:
    """Which answer a request waits for.

    The prompt is the last text block that the user wrote. What Claude Code adds in the user's name
    is none, and neither is a message sent during the work, unless it has a directive of its own.
    """
    if counting:
        return ApiRequest("count", body, headers)
    messages = body.get("messages", [])
    last = next((text for _, _, text in _user_texts(messages)), "")
    if "<session>" in last:
        return ApiRequest("title", body, headers)
    if last.startswith(_COMPACT):
        return ApiRequest("compact", body, headers)
    if last.startswith(_SUGGEST) or not body.get("tools"):
        return ApiRequest("side", body, headers)
    for at, block, text in _user_texts(messages):
        if script.MARKER + "[" in text or _is_prompt(text.strip()):
            step = sum(1 for later in messages[at + 1 :] if later.get("role") == "assistant")
            return ApiRequest("turn", body, headers, text, step, (at, block))
    return ApiRequest("turn", body, headers)


def _is_prompt(text: str) -> bool:
    return not text.startswith(_NOT_A_PROMPT) and not _ATTACHMENT.fullmatch(text)


def _user_texts(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, str]]:
    """Text blocks of the user, newest first, with the places where they stand."""
    for at in reversed(range(len(messages))):
        if messages[at].get("role") != "user":
            continue
        content = messages[at].get("content", "")
        if isinstance(content, str):
            yield at, 0, content
            continue
        for block in reversed(range(len(content))):
            if content[block].get("type") == "text":
                yield at, block, content[block].get("text", "")


def _side_answer(asked: ApiRequest) -> str:
    schema = asked.body.get("output_config", {}).get("format", {}).get("schema")
    if schema:
        return json.dumps(_instance(schema))
    match asked.kind:
        case "title":
            return json.dumps({"title": TITLE})
        case "compact":
            return SUMMARY
        case "side" | "turn" | "count":
            return "ok"
        case _:
            assert_never(asked.kind)


def _instance(schema: Mapping[str, Any]) -> Any:
    """The simplest value of a JSON schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return {name: _instance(parts[name]) for name in schema.get("required", parts)}
        case "array":
            return []
        case "boolean":
            return True
        case "integer" | "number":
            return 0
        case _:
            return TITLE


async def _stream(exchange: Exchange, step: Step, envelope: Envelope) -> None:
    """Play a step; what needs no pause leaves in large writes, so that benchmarks measure others."""
    buffer = bytearray()
    for part in play(step, envelope):
        match part:
            case bytes():
                buffer += part
                if len(buffer) >= FLUSH_BYTES:
                    await _flush(exchange, buffer)
            case float():
                if part > 0:
                    await _flush(exchange, buffer)
                    await anyio.sleep(part)
            case Error():
                await exchange.reply(part.status, error_body(part), part.headers)
                return
            case Halt():
                await exchange.open(EVENT_STREAM)
                await _flush(exchange, buffer)
                await _halt(exchange, part)
                return
            case _:
                assert_never(part)
    await _flush(exchange, buffer)
    await exchange.finish()


async def _flush(exchange: Exchange, buffer: bytearray) -> None:
    if buffer:
        await exchange.open(EVENT_STREAM)
        await exchange.send(bytes(buffer))
        buffer.clear()


async def _reply(exchange: Exchange, step: Step, envelope: Envelope) -> None:
    for item in step:
        match item:
            case Delay(seconds):
                await anyio.sleep(seconds)
            case Error():
                await exchange.reply(item.status, error_body(item), item.headers)
                return
            case script.Hang():
                await exchange.wait_gone()
                return
            case script.Cut():
                await exchange.cut()
                return
            case _:
                pass
    await exchange.reply(200, message(step, envelope))


async def _halt(exchange: Exchange, halt: Halt) -> None:
    match halt:
        case Halt.HANG:
            await exchange.wait_gone()
        case Halt.CUT:
            await exchange.cut()
        case _:
            assert_never(halt)


async def _serve() -> None:
    async with ScriptedApi(port=int(sys.argv[1]) if sys.argv[1:] else 0) as api:
        sys.stdout.write(f"{api.url}\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(_serve)
