"""The turn of a command whose text is replaced: `/usage` and `/mcp` (S§12.1, S§12.2).

Claude Code runs the command and says what it says to a terminal; meanwhile the real answer is
worked out. If that takes longer, the frames behind the text wait, so the turn ends after its
answer. A cancel, the end of the process and every failure leave Claude Code's own text.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from bridge.claude.errors import ClaudeGone, ControlError
from bridge.commands.mcp import McpCommand, outcome_lines, read_mcp, status_list, targets
from bridge.commands.requests import ACTION_LIMIT, STATUS_LIMIT, ask, ask_servers
from bridge.commands.usage import usage_markdown
from bridge.live.process import Post, SessionProcess
from bridge.messages.items import Content

Raw = Mapping[str, object]
Answer = Callable[[str], str | None]
"""From Claude Code's text to the one that the client gets; None keeps it."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    command: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    said: list[Content] = field(default_factory=list)
    """Claude Code's own text, once it came."""
    done: bool = False
    answer: Answer | None = None


class LocalCommands:
    """Answers the local command of the turn that runs, at most one at a time."""

    def __init__(
        self,
        process: SessionProcess,
        tasks: TaskGroup,
        post: Post,
        show: Callable[[Content], None],
        reconnected: Callable[[Sequence[str]], None],
    ) -> None:
        self._process = process
        self._tasks = tasks
        self._post = post
        self._show = show
        self._reconnected = reconnected
        self._job: _Job | None = None
        self._held: deque[Raw] = deque()

    def begin(self, blocks: Sequence[Raw]) -> None:
        """A turn with this prompt became active, or none is."""
        if self._job is not None:
            self._job.scope.cancel()
            self._job = None
        prompt = blocks[0].get("text") if len(blocks) == 1 and blocks[0].get("type") == "text" else None
        if not isinstance(prompt, str):
            return
        command = read_mcp(prompt)
        if command is not None:
            self._start(_Job("mcp"), lambda: self._mcp(command))
        elif prompt.strip() == "/usage":
            self._start(_Job("usage"), self._usage)

    def note(self, content: Content) -> bool:
        """Whether the text is the one to be replaced; it is shown once there is an answer."""
        job = self._job
        if job is None or content.command != job.command:
            return False
        job.said.append(content)
        if job.done:
            self._finish(job)
        return True

    def holds(self, raw: Raw) -> bool:
        """Whether a frame waits for the answer; replies never do, the answer is made of them."""
        waiting = self._job is not None and bool(self._job.said)
        if not waiting or raw.get("type") == "control_response":
            return False
        self._held.append(raw)
        return True

    def released(self) -> Iterator[Raw]:
        """The frames that need not wait any more, in their order."""
        while self._held and (self._job is None or not self._job.said):
            yield self._held.popleft()

    def abandon(self) -> None:
        """Nothing more will come to replace it: what Claude Code said stands."""
        if self._job is not None:
            self._job.scope.cancel()
            self._finish(self._job)

    def _finish(self, job: _Job) -> None:
        self._job = None
        said = "".join(_text(content) for content in job.said)
        answer = job.answer(said) if job.answer is not None and job.said else None
        if answer is None:
            for content in job.said:
                self._show(content)
        else:
            told = {**job.said[0].update, "content": {"type": "text", "text": answer}}
            self._show(replace(job.said[0], update=told))

    # ── the work ──

    def _start(self, job: _Job, work: Callable[[], Awaitable[Answer]]) -> None:
        self._job = job
        self._tasks.start_soon(self._run, job, work, name=f"/{job.command}")

    async def _run(self, job: _Job, work: Callable[[], Awaitable[Answer]]) -> None:
        answer: Answer | None = None
        with job.scope:
            try:
                answer = await work()
            except (ControlError, ClaudeGone) as error:
                log.debug("/%s stays as Claude Code answers it: %s", job.command, error)
        self._post(lambda: self._worked(job, answer))

    def _worked(self, job: _Job, answer: Answer | None) -> None:
        if self._job is not job:
            return
        job.done, job.answer = True, answer
        if job.said:
            self._finish(job)

    async def _usage(self) -> Answer:
        shown = usage_markdown(await ask(self._process, "get_usage", STATUS_LIMIT))
        return lambda _: shown

    async def _mcp(self, command: McpCommand) -> Answer:
        servers = await ask_servers(self._process)
        if command.action is None:
            shown = status_list(servers)
            return lambda _: shown
        tried = targets(command, servers)
        errors = {name: await self._change(command, name) for name in tried}
        if tried:
            servers = await ask_servers(self._process)
        if command.action == "reconnect":
            self._post(lambda: self._reconnected(tried))
        return lambda said: f"{outcome_lines(command, errors, said)}\n\n{status_list(servers)}"

    async def _change(self, command: McpCommand, name: str) -> str | None:
        """Carry out an action on one server; its error, and the next one goes on."""
        try:
            if command.action == "reconnect":
                await ask(self._process, "mcp_reconnect", ACTION_LIMIT, serverName=name)
            else:
                enabled = command.action == "enable"
                await ask(self._process, "mcp_toggle", ACTION_LIMIT, serverName=name, enabled=enabled)
        except ControlError as error:
            return str(error)
        return None


def _text(content: Content) -> str:
    block = content.update.get("content")
    return str(block.get("text")) if isinstance(block, Mapping) else ""
