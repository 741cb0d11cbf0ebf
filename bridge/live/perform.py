"""What the outputs of a session do: answers and updates at once, all else as effects that end as events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import anyio

from bridge.commands.local import LocalCommands
from bridge.commands.sign_in import McpSignIn
from bridge.live.answers import Message, open_error
from bridge.live.async_tasks import AsyncTasks
from bridge.live.changes import Changes
from bridge.live.control import Control
from bridge.live.host import Host
from bridge.live.inquiries import learn_window, preview_files
from bridge.live.process import Post, SessionProcess
from bridge.live.setup import Setup, launch
from bridge.live.work import WorkView
from bridge.messages import items as f
from bridge.messages.forwarding import wanted_frames
from bridge.messages.prompts import claude_content
from bridge.messages.raw import mapping
from bridge.messages.stream import MessageStream
from bridge.peer import Inbound
from bridge.view.client import SessionClient
from bridge.view.configuration import Configuration
from bridge.view.history import History
from bridge.view.screen import Screen
from bridge.view.titles import Titles
from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import ChildOutput
from machines.companions import session_reports as r
from machines.companions.incident import Book
from machines.conversation import Conversation
from wire import rpc

_REMEMBERED = 256


class Performer:
    """Carries out the outputs of one session, in their order."""

    def __init__(
        self,
        setup: Setup,
        host: Host,
        process: SessionProcess,
        stream: MessageStream,
        conversation: Conversation,
        post: Post,
        book: Book | None,
    ) -> None:
        self._setup = setup
        self._host = host
        self._post = post
        self._conversation = conversation
        self.process = process
        self._client = SessionClient(host.peer, setup.id)
        self.screen = Screen(setup, host.home, self._client, stream, conversation, host.new_id, book)
        self.config = Configuration(setup, self._client, process, host.environ, self.screen.notices.warn_auto)
        self.titles = Titles(self._client, process, host.projects, host.clock)
        self.control = Control(setup, host, process, self._client, self.screen, self.config, post)
        told, stopped = self.screen.routes.update_task, self.screen.notices.tell_task_stopped
        self.tasks = AsyncTasks(process, post, told, stopped)
        self.sign_in = McpSignIn(self._client, process, host.tasks, host.new_id)
        self.commands = LocalCommands(process, host.tasks, post, self.screen.content, self.offer_sign_in)
        self._forwarded = wanted_frames(mapping(setup.meta, "claudeCode").get("emitRawSDKMessages"))
        self._claude_id = setup.id
        self.opening: Inbound | None = None
        self.opened = anyio.Event()
        """The request that opens the session was answered."""
        self.closing: list[Inbound] = []
        self.recreated: list[Callable[[], None]] = []
        """Whoever waits for another process to serve the session."""
        self.messages: dict[str, Message] = {}
        self._injected: list[str] = []
        self._sent: dict[str, None] = {}  # ids of the last messages, whose echoes are not the user's
        self._fork = setup.fork  # a copy that has no name of its own yet
        self.changes = Changes(process, post)
        self.work = WorkView(self._client, followed=setup.client.v2)
        self.closed = False

    def perform(self, output: o.Output) -> None:
        """Do what the output says."""
        _PERFORM[type(output)](self, output)

    def note(self, fact: f.Fact) -> None:
        """Something that no lifecycle waits for."""
        match fact:
            case f.Content():
                if not self.commands.note(fact):
                    self.screen.content(fact)
            case f.CommandsListed(commands) if not self.opened.is_set():
                self.screen.commands(commands)  # told with the answer: before it, nobody knows the session
            case f.Spoken(said):
                self.titles.note_text(said)
            case f.Initialized():
                self.screen.note_init(fact)
                self.note_fast(fact.raw)
                self.control.note_capabilities(fact.raw.get("capabilities"))
            case f.ModeReported(mode):
                self.config.mode_reported(mode)
            case f.ConversationReset(new_id):
                self._claude_id = new_id or self._claude_id
                self.screen.forget_conversation()
                self.titles.clear()
            case f.Replied(response):
                self.process.replied(response)
            case f.Asked():
                pass  # `asked` answers it
            case _:
                self.screen.note(fact)

    def begin_turn(self, turn: str | None) -> None:
        """Another turn is the active one, or none is."""
        if turn is not None:
            self.screen.begin_turn()
        message = self.messages.get(turn) if turn is not None else None
        self.commands.begin(message.blocks if message is not None else ())

    def forward(self, raw: Mapping[str, object]) -> None:
        """Hand a frame on as it is, to a client that wants it."""
        if self._forwarded is not None and self._forwarded(raw):
            self._client.forward(raw)

    def offer_sign_in(self, servers: Iterable[str]) -> None:
        """Let the user sign in to those of the client's MCP servers that need it."""
        if self._setup.client.elicitation_url:
            self.sign_in.start(self._setup.mcp_servers.keys() & set(servers))

    def note_fast(self, raw: Mapping[str, object]) -> None:
        """A frame says whether fast mode is on."""
        reason = self.config.fast_reported(raw)
        if reason is not None:
            self.screen.notices.tell_fast_off(reason)

    def is_ours(self, uuid: str) -> bool:
        """The message was written by us, in this process or the one before."""
        return uuid in self._sent

    def note_stored(self) -> None:
        """Claude Code took a message up: from now on it writes a transcript."""
        fork, self._fork = self._fork, None
        if fork is not None:
            self._host.tasks.start_soon(self.titles.name_fork, fork.source, self._post, name="title")

    # ── the process ──

    def _start_query(self, output: o.StartQuery) -> None:
        self._launch(resume=output.resume)

    def _launch(self, *, resume: bool, mode: str | None = None) -> None:
        self.screen.end_tasks()
        self.sign_in.stop()
        mode = mode or self.config.mode
        describe = partial(
            launch, self._setup, self._host.accounts.route, claude_id=self._claude_id, mode=mode
        )
        self.process.start(describe(resume=False), describe(resume=True) if resume else None)

    def _stop_query(self, _: o.StopQuery) -> None:
        self.sign_in.stop()
        self.process.stop()

    def _tell_restarted(self, _: o.TellRestarted) -> None:
        self.screen.notices.show_restart()
        self.screen.relist_commands(self.process.info.get("commands"))
        self.config.restore()

    def _replace_query(self, _: o.ReplaceQuery) -> None:
        """An empty conversation has an id of its own; the session keeps the one the client knows."""
        self.process.discard()
        self._claude_id = self._host.new_id()
        self._launch(resume=False, mode=self.control.plan_mode)

    def _recreate_query(self, _: o.RecreateQuery) -> None:
        self.process.discard()
        self._launch(resume=True)

    def _tell_recreated(self, output: o.TellRecreated) -> None:
        if output.failure is None:
            self.config.begin_again(self.process.info)
            self.screen.relist_commands(self.process.info.get("commands"))
        for tell in self.recreated:
            tell()
        self.recreated.clear()

    def _continue_plan(self, output: o.ContinuePlan) -> None:
        if self.control.plan_mode is not None:
            self.config.mode_changed(self.control.plan_mode)
        self.config.restore()
        self.screen.relist_commands(self.process.info.get("commands"))
        self.screen.start_afresh()
        blocks = [{"type": "text", "text": f"Implement the following plan:\n\n{self.control.plan}"}]
        self._write(output.turn, blocks)

    def _send_prompt(self, output: o.SendPrompt) -> None:
        self.config.prompted()
        self.screen.plan_again()
        blocks = self.messages[output.turn].blocks
        self.titles.note_prompt(blocks)
        self._write(output.turn, blocks)

    def _send_steer(self, output: o.SendSteer) -> None:
        self._write(output.steer, self.messages[output.steer].blocks, priority=output.priority)

    def _write(self, uuid: str, blocks: Sequence[Mapping[str, object]], **fields: object) -> None:
        self._sent[uuid] = None
        while len(self._sent) > _REMEMBERED:
            del self._sent[next(iter(self._sent))]
        self.process.send(
            {
                "type": "user",
                "message": {"role": "user", "content": claude_content(blocks)},
                "parent_tool_use_id": None,
                "session_id": self._claude_id,
                "uuid": uuid,
                "origin": {"kind": "human"},
                **fields,
            }
        )

    # ── answers ──

    def _start_replay(self, _: o.StartReplay) -> None:
        self._host.tasks.start_soon(self._replay, name="replay")

    async def _replay(self) -> None:
        try:
            await self._tell_history(self._setup.transcript)
        except OSError as error:
            self._post(e.HistoryFailed(f"The stored session could not be read: {error.strerror}"))
        else:
            self._post(e.HistoryReplayed())

    async def _tell_history(self, transcript: Path | None) -> None:
        if transcript is not None:
            now_ms = int(self._host.clock().timestamp() * 1000)
            history = History(self._setup, self._client, self.screen.reports, now_ms)
            await history.tell(transcript, self._post, self._host.gate)

    def load_again(self, inbound: Inbound, transcript: Path) -> None:
        """Tell the history to a client that has the session already, then answer."""
        self._host.tasks.start_soon(self._load_again, inbound, transcript, name="replay")

    async def _load_again(self, inbound: Inbound, transcript: Path) -> None:
        try:
            await self._tell_history(transcript)
        except OSError as error:
            text = f"Internal error: The stored session could not be read: {error.strerror}"
            self._post(lambda: inbound.fail(rpc.INTERNAL_ERROR, text))
        else:
            self._post(lambda: self.answer_opening(inbound))
            self._post(e.HistoryAnswered())

    def answer_opening(self, inbound: Inbound) -> None:
        """Answer a request that opened the session, or found it open."""
        result: dict[str, object] = self.config.state()
        if inbound.method in {"session/new", "session/fork"}:
            result = {"sessionId": self._setup.id, **result}
        commands = self.screen.known_commands(self.process.info.get("commands"))
        if self._setup.client.v2:
            if inbound.method == "session/resume":
                self.titles.restate(self._setup.title)
                self.work.repeat()
            inbound.respond({**result, "availableCommands": commands["availableCommands"]})
        else:
            inbound.respond(result)
            self._client.update(commands)
        self.offer_sign_in(self._setup.mcp_servers)

    def _answer_open(self, _: o.AnswerOpen) -> None:
        inbound, self.opening = self.opening, None

        def settled(error: str | None) -> None:
            self.opened.set()
            if inbound is None or inbound.answered:
                return
            if error is not None:
                inbound.fail(rpc.INTERNAL_ERROR, f"Internal error: {error}", {"details": error})
                self._post(e.CloseRequested())
                return
            self.answer_opening(inbound)
            if self._setup.replay:
                self._post(e.HistoryAnswered())
            learn_window(self.process, self.screen.usage)

        self.config.begin(self.process.info, settled)

    def _refuse_open(self, output: o.RefuseOpen) -> None:
        if self.opening is not None:
            self.opening.fail(*open_error(output.kind, output.text, output.reason, self._setup.id))
            self.opening = None
        self.opened.set()
        if self._conversation.phase == "closed":  # else it still has a process to stop
            self._end()

    def _insert_prompt(self, output: o.InsertPrompt) -> None:
        message = self.messages.get(output.turn)
        if message is not None and message.inserted is not None:
            message.inserted(self._client)

    def _answer_prompt(self, output: o.AnswerPrompt) -> None:
        message, failure = self.messages.pop(output.turn, None), output.outcome.failure
        if not self._conversation.is_busy:
            for steer in self._injected:
                self.messages.pop(steer, None)
            self._injected.clear()
        if failure is not None and failure.kind is o.FailureKind.AUTH_REQUIRED:
            self._host.accounts.signed_out(self._setup.id)
        if message is not None and message.answer is not None:
            message.answer(output)
        if failure is None and output.outcome.stop_reason != "cancelled":
            self._host.tasks.start_soon(self.titles.turn_ended, self._claude_id, self._post, name="title")

    def _answer_steer(self, output: o.AnswerSteer) -> None:
        message = self.messages.get(output.steer)
        if output.outcome == "injected":  # it may have to be written to another process
            self._injected.append(output.steer)
        elif output.outcome == "promptRequired":
            del self.messages[output.steer]
        if message is not None and message.steered is not None:
            message.steered(output.outcome)

    def _answer_close(self, _: o.AnswerClose) -> None:
        if self.opening is not None:
            self.opening.fail(rpc.REQUEST_CANCELLED, "Request cancelled")
            self.opening = None
        self._end()

    def _end(self) -> None:
        self.opened.set()
        for inbound in self.closing:
            inbound.respond({})
        self.closing.clear()
        self.closed = True


_Perform = Callable[[Performer, Any], object]

_PERFORM: Mapping[type, _Perform] = {
    o.StartReplay: Performer._start_replay,
    o.AnswerOpen: Performer._answer_open,
    o.RefuseOpen: Performer._refuse_open,
    o.InsertPrompt: Performer._insert_prompt,
    o.AnswerPrompt: Performer._answer_prompt,
    o.AnswerClose: Performer._answer_close,
    o.ShowCall: lambda p, x: p.screen.show_call(x, p.control.preview_of(x.ask)),
    o.RefineCall: lambda p, x: p.screen.refine_call(x),
    o.ReportProgress: lambda p, x: p.screen.report_progress(x),
    o.ReportHook: lambda p, x: p.screen.report_hook(x),
    o.ReturnCall: lambda p, x: p.screen.return_call(x),
    o.DenyCall: lambda p, x: p.screen.deny_call(x),
    o.CloseCall: lambda p, x: p.screen.close_call(x),
    o.ShowPlan: lambda p, x: p.screen.refine_call(x),
    o.ShowPlanResult: lambda p, x: p.screen.show_plan_result(x),
    **dict.fromkeys(get_args(ChildOutput), lambda p, x: p.screen.children.show(x)),
    o.ShowResult: lambda p, x: p.screen.show_result(x),
    o.AskClient: lambda p, x: p.control.ask_client(x),
    o.WithdrawRequest: lambda p, x: p.control.withdraw(x),
    o.TellRestarted: Performer._tell_restarted,
    r.ReportCompaction: lambda p, x: p.screen.show_compaction(x),
    r.ShowSummary: lambda p, x: p.screen.show_summary(x),
    r.PublishGoal: lambda p, x: p.screen.show_goal(x),
    r.ReportIncident: lambda p, x: p.screen.show_incident(x),
    r.PreviewFiles: lambda p, x: preview_files(p.process, p._post, x),
    r.ReportFiles: lambda p, x: p.screen.show_files(x),
    o.ReportWork: lambda p, x: p.work.report(x),
    **dict.fromkeys(get_args(o.TaskOutput), lambda p, x: p.tasks.perform(x)),
    o.StartQuery: Performer._start_query,
    o.StopQuery: Performer._stop_query,
    o.ReplaceQuery: Performer._replace_query,
    o.RecreateQuery: Performer._recreate_query,
    o.TellRecreated: Performer._tell_recreated,
    o.DropQuery: lambda p, _: p.process.discard(),
    o.ContinuePlan: Performer._continue_plan,
    o.SendPrompt: Performer._send_prompt,
    o.SendSteer: Performer._send_steer,
    o.AnswerSteer: Performer._answer_steer,
    o.Interrupt: lambda p, x: p.process.request("interrupt", cancel_queued=x.cancel_queued),
    o.CancelMessage: lambda p, x: p.process.request("cancel_async_message", message_uuid=x.uuid),
    o.PrepareAsk: lambda p, x: p.control.prepare(x),
    o.ReplyAsk: lambda p, x: p.control.reply(x),
    o.DenyAsk: lambda p, x: p.control.deny(x),
    o.AbortAsk: lambda p, x: p.control.abort(x),
    o.AskForm: lambda p, x: p.control.ask_form(x),
    o.ReplyForm: lambda p, x: p.control.reply_form(x),
    o.ApplyChange: lambda p, x: p.changes.apply(x),
    o.FailChange: lambda p, x: p.changes.fail(x),
    o.StartTimer: lambda p, x: p.process.start_timer(x.timer),
    o.StopTimer: lambda p, x: p.process.stop_timer(x.timer),
}
"""Every output has its entry; a test compares this with the closed set."""
