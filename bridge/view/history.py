"""A stored conversation, told to the client as if it happened now (S§8)."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import from_thread, to_thread

from bridge.children.replayed import ReplayedChildren
from bridge.children.routes import Routes, Update
from bridge.children.stored import stored_agents
from bridge.children.view import ChildrenView
from bridge.live.setup import Setup
from bridge.messages.stream import chunk
from bridge.sessions.chain import open_transcript
from bridge.sessions.replay import items as i
from bridge.sessions.replay.delegated import Delegated, delegated
from bridge.sessions.replay.subagents import stored_subagents
from bridge.sessions.replay.told import Launched, Told, told
from bridge.tasks.replayed import ReplayedTasks
from bridge.tools.report import ToolReports
from bridge.view.client import SessionClient
from bridge.view.session_info import compaction_update, incident_update
from machines.companions.failure_table import facts_of
from machines.companions.session_reports import ReportCompaction, ReportIncident
from machines.events import AgentsRestored, LimitReplayed, ToolReturned, ToolUse
from machines.outputs import Failure, FailureKind

if TYPE_CHECKING:
    from bridge.claude.tap import Gate

Post = Callable[[Callable[[], None] | LimitReplayed | AgentsRestored], None]

BATCH = 32
"""Items that are read ahead; memory is bounded by them, not by the transcript."""


class History:
    """Tells a transcript and those of its subagents, item by item, in a client's form."""

    def __init__(self, setup: Setup, port: SessionClient, reports: ToolReports, now_ms: int) -> None:
        self._setup = setup
        self._caps = setup.client
        self._client = port
        self._reports = reports
        self._now_ms = now_ms
        self._last_limit: LimitReplayed | None = None
        self._tasks = ReplayedTasks()
        self._routes = Routes(port, native=setup.client.subagent_form != "none")
        self._view = ChildrenView(setup.id, port, self._routes, lambda: reports)
        self._children = self._with(Delegated())

    async def tell(self, transcript: Path, post: Post, gate: "Gate | None") -> None:
        """Read in a worker thread, show through the mailbox; a slow client slows the reader.

        Raises OSError for a transcript that can't be read.
        """
        post(self._reports.replay_started)
        await to_thread.run_sync(self._read, transcript, post, gate)
        if self._last_limit is not None:
            post(self._last_limit)

    def _read(self, transcript: Path, post: Post, gate: "Gate | None") -> None:
        with open_transcript(transcript) as stored:
            subagents = stored_subagents(transcript)
            native = self._setup.client.subagent_form != "none"
            found = delegated(stored, subagents) if subagents or native else Delegated()
            self._children = self._with(found)
            for batch in _batches(told(stored, found)):
                from_thread.run_sync(post, lambda batch=batch: self._show_all(batch))
                from_thread.run(_wait, gate)
            from_thread.run_sync(post, self._children.end)
            if found.subagents:
                from_thread.run_sync(post, AgentsRestored(stored_agents(found), True, self._now_ms))

    def _with(self, found: Delegated) -> ReplayedChildren:
        return ReplayedChildren(self._setup.id, self._caps, self._view, self._routes, found)

    def _show_all(self, batch: list[Told | Launched]) -> None:
        for each in batch:
            match each:
                case Launched():
                    self._children.begin(each)
                case Told(item, str(lane)):
                    self._show_of_child(item, lane)
                case Told(item):
                    self._show(item)

    def _show(self, item: i.Item) -> None:
        match item:
            case i.UserText(message_id, text):
                self._client.update(chunk("user_message_chunk", text, message_id))
            case i.UserImage():
                self._client.update(_image(item))
            case i.CompactionSummary():
                self._show_summary(item)
            case i.UsageLimit():
                self._show_limit(item)
            case _:
                self._show_work(item, None)

    def _show_of_child(self, item: i.Item, lane: str) -> None:
        match item:
            case i.UserText():
                self._children.user_text(item, lane)
            case i.Asked():
                self._children.asked(item, lane)
            case _ if not (self._setup.shows_children or self._children.is_close(lane)):
                pass  # of a subagent's subagent nothing is shown flat
            case i.AgentText() | i.AgentThought() if not self._setup.shows_children:
                pass
            case _:
                self._show_work(item, lane)

    def _show_work(self, item: i.Item, lane: str | None) -> None:
        match item:
            case i.AgentText(message_id, text):
                self._send([chunk("agent_message_chunk", text, message_id, lane)], lane)
            case i.AgentThought(message_id, text):
                self._send([chunk("agent_thought_chunk", text, message_id, lane)], lane)
            case i.ToolUse(id, name, input):
                use = ToolUse(id, name, input, lane)
                self._tasks.note_use(use)
                if not self._children.hides(id):
                    self._send(self._reports.replay_use(use), lane)
            case i.ToolResult(call, content, is_error, structured):
                result = ToolReturned(call, content, is_error, structured)
                self._tasks.note_result(result)
                self._send(self._reports.replay_result(result), lane)
            case i.TaskEnd(task, status, call, summary):
                self._show_task(task, status, call, summary)
            case _:
                pass  # a subagent's own images, summaries and limits are not shown

    def _show_summary(self, item: i.CompactionSummary) -> None:
        if not self._caps.compaction or item.summary is None:
            self._client.update(chunk("user_message_chunk", item.text, item.message_id))
            return
        report = ReportCompaction(item.message_id, "completed", summary=item.summary)
        update = compaction_update(report, self._caps, opened=False)
        if update is not None:
            self._client.update(update)

    def _show_limit(self, item: i.UsageLimit) -> None:
        if not self._caps.session_failure:
            self._client.update(chunk("agent_message_chunk", item.text, item.message_id))
            return
        id = f"{item.prompt}:error" if item.prompt else f"{self._setup.id}:history-error:{item.record}"
        facts = facts_of(Failure(FailureKind.API, item.text))
        self._client.update(incident_update(ReportIncident(id, 1, facts)))
        if item.stands:
            self._last_limit = LimitReplayed(id, item.text)

    def _show_task(self, task: str, status: str, call: str | None, summary: str | None) -> None:
        """Its follow-up is told as text, the task itself to a client that has tasks."""
        if self._caps.has("asyncTasks"):
            for update in self._tasks.end(task, status, call, summary):
                self._routes.update_task(update)

    def _send(self, updates: Iterable[Update], lane: str | None) -> None:
        for update in updates:
            self._routes.update(update, lane)


def _image(item: i.UserImage) -> dict[str, object]:
    content: dict[str, object] = {"type": "image", "data": item.data, "mimeType": item.mime_type}
    if item.uri is not None:
        content["uri"] = item.uri
    return {"sessionUpdate": "user_message_chunk", "content": content, "messageId": item.message_id}


def _batches(items: Iterator[Told | Launched]) -> Iterator[list[Told | Launched]]:
    batch: list[Told | Launched] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _wait(gate: "Gate | None") -> None:
    opening = gate() if gate is not None else None
    if opening is not None:
        await opening
