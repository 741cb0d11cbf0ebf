"""A real conversation with this very agent and Claude Code, while a scripted model answers on loopback.

The user's variables stay, but for those of Claude Code and its account; configuration and project
are temporary, so nothing of the user's is changed, and nothing is asked of a real model.
"""

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from bridge.demo.api import ApiRequest, ScriptedApi, environment
from bridge.demo.client import AgentError, Client, Direction, Json, run_client
from bridge.doctor.claude import STEP
from bridge.doctor.report import Row, failed, ok, warning

STEPS = ("initialize", "session/new", "prompt", "permission request", "cancel")

_FORGOTTEN = ("ANTHROPIC_", "CLAUDE_", "CLAUDECODE", "AWS_BEARER")
_KEPT = frozenset(
    {"CLAUDE_CODE_EXECUTABLE", "CLAUDE_CODE_GIT_BASH_PATH", "CLAUDE_CODE_SHELL", "CLAUDE_AGENT_LOGS"}
)
_OWN = "CLAUDE_ACP_"
_REDIRECTS = ("ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")

_PROMPT = "This is claude-acp doctor. Please make a file."
_SAID, _WENT_ON = "I make one.", "It is there."
_COMMAND = {"command": "echo well > asked.txt", "description": "Make a file"}

_AGAIN = "Run this again with CLAUDE_ACP_TRACE=trace.jsonl, and report that file with all rows."
_REAL = (
    "not tried, since managed settings send requests to a real model",
    "Try it in an editor.",
)


async def converse(
    environ: Mapping[str, str], managed: Mapping[str, str], add: Callable[[Row], None]
) -> None:
    """Try the steps one after the other until one fails; `managed` is the policy's environment."""
    left = list(STEPS)
    why, remedy = "not tried", "Repair what failed above; then this is tried."

    def told(row: Row) -> None:
        left.remove(row.name)
        add(row)

    try:
        async with _open(environ) as conversation:
            await conversation.initialize(told)
            await conversation.new_session(told)
            if any(managed.get(name) for name in _REDIRECTS):
                why, remedy = _REAL
            else:
                await conversation.prompt_and_cancel(told)
    except* (AgentError, TimeoutError, OSError) as errors:
        told(_failure(left[0], next(_leaves(errors))))
    for name in left:
        add(warning(name, why, remedy))


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """The errors themselves, out of the groups that carried them."""
    for error in errors.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]


def _failure(name: str, error: BaseException) -> Row:
    if isinstance(error, TimeoutError) or not str(error):
        return failed(name, f"no answer within {STEP:.0f} s", _AGAIN)
    lines = [line for each in str(error).splitlines() if (line := each.strip(" |+-"))]
    if lines[0].startswith("the agent "):  # it is gone, and the last of its words tells most
        said = ": ".join(dict.fromkeys((lines[0], lines[-1])))
        return failed(name, said, "Report this as a fault of claude-acp, with all rows.")
    said = " ".join(lines).removeprefix(f"{name}: ").removeprefix("Internal error: ")
    return failed(name, said, "Follow the advice in this message, or report it if there is none.")


class _Conversation:
    """The client's side: each step waits for what must come."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self.client: Client
        self._session = ""
        self._text = ""
        self._command: str | None = None
        self._asked = False
        self._news = anyio.Event()

    def observe(self, direction: Direction, body: Json) -> None:
        """Keep what the steps look for."""
        if direction == "sent" or body.get("method") != "session/update":
            return
        update = body["params"]["update"]
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._text += str(update["content"].get("text", ""))
            case "tool_call" | "tool_call_update":
                self._command = update.get("status") or self._command
        self._tell()

    async def permit(self, params: Json) -> str:
        """Allow it once."""
        self._asked = True
        self._tell()
        allowing = (option["optionId"] for option in params["options"] if option["kind"] == "allow_once")
        return str(next(allowing, "allow"))

    async def initialize(self, add: Callable[[Row], None]) -> None:
        """The handshake."""
        with anyio.fail_after(STEP):
            params = {"protocolVersion": 1, "clientInfo": {"name": "claude-acp-doctor", "version": "1"}}
            info = (await self.client.request("initialize", params))["agentInfo"]
        add(ok("initialize", f"{info['name']} {info['version']}"))

    async def new_session(self, add: Callable[[Row], None]) -> None:
        """A session of the real Claude Code."""
        with anyio.fail_after(STEP):
            params = {"cwd": str(self._project), "mcpServers": []}
            created = await self.client.request("session/new", params)
            self._session = created["sessionId"]
            if (mode := created.get("modes", {}).get("currentModeId")) != "default":
                params = {"sessionId": self._session, "modeId": "default"}
                await self.client.request("session/set_mode", params)
        add(ok("session/new", f"mode {mode}"))

    async def prompt_and_cancel(self, add: Callable[[Row], None]) -> None:
        """One turn: an answer, a question, a command, and a cancel while the model goes on."""
        block = {"type": "text", "text": _PROMPT}
        ended: list[Json] = []

        async def prompt() -> None:
            try:
                params = {"sessionId": self._session, "prompt": [block]}
                ended.append(await self.client.request("session/prompt", params))
            finally:
                self._tell()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await self._until(lambda: _SAID in self._text or bool(ended))
            add(self._answered())
            await self._until(lambda: _WENT_ON in self._text or bool(ended))
            add(self._question())
            await self.client.notify("session/cancel", {"sessionId": self._session})
            await self._until(lambda: bool(ended))
            add(_cancelled(ended[0].get("stopReason")))

    def _answered(self) -> Row:
        if _SAID in self._text:
            return ok("prompt", "the answer was streamed")
        return failed("prompt", f"the answer was {self._text or 'empty'}", _AGAIN)

    def _question(self) -> Row:
        name = "permission request"
        if not self._asked:
            remedy = "Look for permission rules in managed settings, which decide without asking."
            return warning(name, "Claude Code did not ask before it ran a command", remedy)
        if self._command != "completed" or not (self._project / "asked.txt").exists():
            remedy = "Set PATH and SHELL to what a terminal has, so that Claude Code finds a shell."
            return failed(name, "asked and allowed, but the command did not run", remedy)
        return ok(name, "asked and allowed, and the command ran")

    async def _until(self, there: Callable[[], bool]) -> None:
        with anyio.fail_after(STEP):
            while not there():
                self._news = anyio.Event()
                await self._news.wait()

    def _tell(self) -> None:
        self._news.set()


def _cancelled(reason: object) -> Row:
    if reason == "cancelled":
        return ok("cancel", "the turn ended as cancelled")
    return failed("cancel", f"the turn ended as {reason}", _AGAIN)


def _answer(request: ApiRequest) -> Sequence[Any] | None:
    """The model: a command, then the beginning of an answer that does not end."""
    if request.kind != "turn":
        return None
    command = [{"text": _SAID, "pace": 0}, {"name": "Bash", "input": _COMMAND}]
    return command if request.step == 0 else [{"text": _WENT_ON}, {"hang": True}]


@asynccontextmanager
async def _open(environ: Mapping[str, str]) -> AsyncIterator[_Conversation]:
    """The agent and its model; at the end all of it is gone."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(
            TemporaryDirectory(prefix="claude-acp-doctor-", ignore_cleanup_errors=True)
        )
        root = _furnish(folder)
        api = await stack.enter_async_context(ScriptedApi(_answer))
        conversation = _Conversation(root / "project")
        env = {name: text for name, text in environ.items() if _is_kept(name)}
        env |= {**environment(api.url), "CLAUDE_CONFIG_DIR": str(root / "config")}
        async with run_client(_command(), env, conversation.observe, conversation.permit) as client:
            conversation.client = client
            try:
                yield conversation
            finally:
                with anyio.CancelScope(shield=True):
                    await _close(client)


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_OWN) or not name.startswith(_FORGOTTEN)


def _furnish(folder: str) -> Path:
    root = Path(folder).resolve()
    for name in ("project", "config"):
        (root / name).mkdir()
    return root


async def _close(client: Client) -> None:
    """End it by the end of its input, so that it ends Claude Code.

    With a Claude Code that hangs it needs as long as one `close` waits.
    """
    for _ in range(3):
        try:
            await client.close()
        except AgentError:
            continue
        return


def _command() -> list[str]:
    """This agent, from any folder."""
    spec = importlib.util.find_spec("claude_acp")
    if spec is None or spec.origin is None:
        raise AgentError("claude_acp is not installed beside the doctor")
    return [sys.executable, spec.origin]
