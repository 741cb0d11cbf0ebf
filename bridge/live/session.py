"""One live ACP session: its mailbox, and what it reads and does in one order.

Everything that happens to the session is posted; one consumer takes it to its end before the
next. Nothing here waits: work is started as an effect, whose end is posted again.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio

from bridge.claude.frames import Closed, Frame
from bridge.claude.process import Claude
from bridge.live.answers import Change, Message, answer_goal, answer_prompt
from bridge.live.goals import read_goal, read_report_request
from bridge.live.host import Host
from bridge.live.mailbox import Mailbox
from bridge.live.perform import Performer
from bridge.live.process import Mail, SessionProcess
from bridge.live.setup import Setup, is_stored
from bridge.live.work import answer_unless_inserted, insert_prompt
from bridge.messages import items as f
from bridge.messages.frames import FrameReader
from bridge.messages.stream import MessageStream
from bridge.peer import Inbound
from machines import events as e
from machines.companions.incident import Book
from machines.conversation import Conversation
from machines.outputs import Ignored, Output
from wire import rpc

Blocks = Sequence[Mapping[str, object]]

log = logging.getLogger(__name__)


class LiveSession:
    """A session from its creation to the answer of its close."""

    def __init__(
        self,
        setup: Setup,
        host: Host,
        on_closed: Callable[["LiveSession"], None],
        spawned: Claude | None = None,
    ) -> None:
        self.setup = setup
        self._host = host
        self._trace = host.trace
        self._on_closed = on_closed
        record = partial(host.trace.step, setup.id) if host.trace is not None else None
        book = Book(setup.id, host.new_id()) if setup.client.session_failure else None
        tasks, form = setup.client.has("asyncTasks"), setup.client.subagent_form
        self.conversation = Conversation(record, book=book, async_tasks=tasks, form=form)
        self._mailbox: Mailbox[Mail] = Mailbox(self._take, host.now)
        self._stream = MessageStream()
        self._reader = FrameReader(
            self._stream,
            lambda uuid: self._performer.is_ours(uuid),
            hides_errors=book is not None,
            shows_children=setup.shows_children,
            native_children=setup.client.subagent_form != "none",
        )
        drop, is_there = self._drop_frames, partial(is_stored, projects=host.projects)
        process = SessionProcess(host.tasks, self.post, drop, host.gate, self._admit, is_there, spawned)
        self._performer = Performer(setup, host, process, self._stream, self.conversation, self.post, book)
        self._reports: set[str] = set()  # ids of file reports that were asked for
        self._refused: dict[str, int] = {}
        self._active: str | None = None
        self._asked_to_close = False
        self._requests: list[Inbound] = []
        """Whoever waits for an answer that the session gives."""
        self.opened = self._performer.opened
        self.ended = anyio.Event()
        """It is gone: its id may be opened again."""
        host.tasks.start_soon(self._run, name=f"session {setup.id}")

    # ── what the agent asks of it ──

    @property
    def mode(self) -> str:
        """The permission mode that it is in."""
        return self._performer.config.mode

    @property
    def is_closing(self) -> bool:
        """Nothing new may start for it, also while the request to close it is in the mailbox."""
        return self._asked_to_close or self.conversation.phase in {"closing", "closed"}

    def is_opened_by(self, inbound: Inbound) -> bool:
        """The request waits for the session to be opened."""
        return self._performer.opening is inbound

    def post(self, mail: Mail) -> None:
        """Something happened; it is handled in its turn."""
        self._mailbox.post(mail)

    def open(self, inbound: Inbound) -> None:
        """Create it, for the request that wants it."""
        self._await_answer(inbound)
        self._performer.opening = inbound
        resume, replay = self.setup.transcript is not None, self.setup.replay
        self.post(lambda: self._perform(self.conversation.open(resume=resume, replay=replay)))
        if self.setup.agents is not None:
            self.post(self.setup.agents)

    def load_again(self, inbound: Inbound, transcript: Path) -> None:
        """Tell the history once more, for a client that lost it; the process goes on."""
        self._await_answer(inbound)
        self.post(lambda: self._performer.load_again(inbound, transcript))

    def answer_open(self, inbound: Inbound) -> None:
        """Another request opens it, and finds it as it is."""
        self._await_answer(inbound)
        self.post(lambda: self._performer.answer_opening(inbound))

    def prompt(self, inbound: Inbound, blocks: Blocks, turn: str, meta: object = None) -> None:
        """Take in a prompt, under the id of its turn."""
        self._await_answer(inbound)
        client = self.setup.client
        asks = client.has("agentFileChangeReport")
        report = read_report_request(meta, self._reports) if asks else None
        answer, inserted = partial(answer_prompt, inbound), None
        if client.v2:
            answer = partial(answer_unless_inserted, inbound)
            inserted = partial(insert_prompt, inbound=inbound, blocks=blocks, turn=turn)
        self._performer.messages[turn] = Message(blocks, inbound, answer, inserted)
        if self._host.accounts.is_stale(self.setup.id):
            self.post(e.RecreateRequested())
        self.post(e.PromptReceived(turn, read_goal(blocks) if client.air else None, report))

    def steer(self, inbound: Inbound, blocks: Blocks, steer: str, *, prompt_when_idle: bool) -> None:
        """Add to the turn that runs (M4.5)."""
        self._await_answer(inbound)

        def steered(outcome: str) -> None:
            reason = {"reason": "noRunningTurn"} if outcome == "promptRequired" else {}
            inbound.respond({"outcome": outcome, **reason})

        goal = read_goal(blocks) if self.setup.client.air else None
        self._performer.messages[steer] = Message(blocks, steered=steered)
        self.post(e.SteerReceived(steer, goal, prompt_when_idle))

    def set_goal(self, inbound: Inbound, command: str, message: str) -> None:
        """`_session/goal`: into the turn that runs, or as a prompt of its own (M12)."""
        self._await_answer(inbound)
        blocks = [{"type": "text", "text": command}]

        def steered(outcome: str) -> None:
            if outcome == "injected":
                inbound.respond({})

        answer = partial(answer_goal, inbound)
        self._performer.messages[message] = Message(blocks, None, answer, steered=steered)
        self.post(e.SteerReceived(message, read_goal(blocks)))

    def stop_task(self, inbound: Inbound, task: str, stop: str) -> None:
        """`_session/async_task/stop`, under the id of the request."""
        self._await_answer(inbound)
        self._performer.tasks.stops[stop] = inbound
        self.post(e.TaskStopRequested(stop, task))

    def cancel(self) -> None:
        """`session/cancel`."""
        self.post(e.CancelRequested())

    def cancel_prompt(self, inbound: Inbound) -> None:
        """`$/cancel_request` of a prompt."""
        for turn, message in self._performer.messages.items():
            if message.inbound is inbound:
                self.post(e.PromptCancelRequested(turn))

    def change_mode(self, inbound: Inbound, mode: str, change: str) -> None:
        """`session/set_mode`, in the order of all changes."""
        apply = partial(self._performer.config.set_mode, mode)
        self._change(change, Change(inbound, apply, dict))

    def change_option(self, inbound: Inbound, config_id: str, value: str | bool, change: str) -> None:
        """`session/set_config_option`; raises WireError for a value that is not offered."""
        config = self._performer.config
        checked = config.check(config_id, value)

        def result() -> Mapping[str, object]:
            return {"configOptions": config.state()["configOptions"]}

        self._change(change, Change(inbound, partial(config.change, config_id, checked), result))

    def _change(self, id: str, change: Change) -> None:
        self._await_answer(change.inbound)
        self._performer.changes.add(id, change)
        self.post(e.ChangeRequested(id))

    def recreate(self, done: Callable[[], None]) -> None:
        """Let another process take up the conversation at the next quiet point; `done` comes once."""
        self._performer.recreated.append(done)
        self.post(e.RecreateRequested())

    def close(self, inbound: Inbound | None = None) -> None:
        """Bring everything to its end; the request is answered last."""
        self._asked_to_close = True
        if inbound is not None:
            self._await_answer(inbound)
            self._performer.closing.append(inbound)
        self.post(e.CloseRequested())

    def kill(self) -> None:
        """There is no time left for a close."""
        self._performer.process.kill()

    def _await_answer(self, inbound: Inbound) -> None:
        self._requests = [each for each in self._requests if not each.answered]
        self._requests.append(inbound)

    # ── the consumer ──

    def _admit(self, info: Mapping[str, object]) -> None:
        self._host.accounts.admit(self.setup.id, info.get("account"))

    def _drop_frames(self) -> None:
        self._mailbox.drop(lambda mail: isinstance(mail, Frame | Closed))

    async def _run(self) -> None:
        await self._mailbox.run()
        for inbound in self._requests:
            if not inbound.answered:  # it came behind the close, or its answer did
                inbound.fail(rpc.REQUEST_CANCELLED, "Request cancelled")
        self._host.accounts.forget(self.setup.id)
        self._on_closed(self)
        self.ended.set()

    def _take(self, mail: Mail) -> None:
        """One item to its end; a fault of ours is logged, and the session goes on."""
        try:
            match mail:
                case Frame(raw=raw):
                    if not self._performer.commands.holds(raw):
                        self._read(raw)
                case Closed(end=end, text=text):
                    self._performer.commands.abandon()
                    self._read_released()
                    self._performer.process.discard()
                    self._performer.screen.end_tasks()
                    self._handle(e.StreamClosed(end, text))
                case _ if callable(mail):
                    mail()
                case _:
                    self._handle(mail)
            self._read_released()
        except Exception:
            log.exception("session %s could not handle something", self.setup.id)

    def _read_released(self) -> None:
        for raw in self._performer.commands.released():
            self._read(raw)

    def _read(self, raw: Mapping[str, object]) -> None:
        self._performer.forward(raw)
        if raw.get("type") == "stream_event":
            event = raw.get("event")
            if isinstance(event, Mapping) and self._performer.screen.stream_block(raw, event):
                return
        for item in self._reader.read(raw):
            self._read_item(item)
        if raw.get("type") == "stream_event" and isinstance(event, Mapping):
            self._performer.screen.stream_edge(raw, event)

    def _read_item(self, item: f.Item) -> None:
        match item:
            case f.Asked(request_id, request):
                in_turn = self.conversation.active_turn is not None
                received = self._performer.control.asked(request_id, request, in_turn=in_turn)
                if received is not None:
                    self._handle(received)
            case (
                f.Content()
                | f.Spoken()
                | f.UsageRead()
                | f.ModeReported()
                | f.CommandsListed()
                | f.Initialized()
                | f.ConversationReset()
                | f.Replied()
                | f.Informed()
                | f.ModelFellBack()
                | f.Originated()
                | f.LinkDone()
                | f.Recalled()
            ):
                self._performer.note(item)
            case e.TaskStarted() | e.TaskBackgrounded() | e.TaskEnded():
                self._performer.screen.note_task(item)
                self._handle(item)
            case e.Echoed() | e.Result():
                self._performer.note_stored()
                self._handle(item)
            case _:
                self._handle(item)

    def _handle(self, event: e.Event | f.Side) -> None:
        if self._trace is not None:
            self._trace.event(self.setup.id, event)
        self._perform(self.conversation.handle(event))
        if self.conversation.active_turn != self._active:
            self._active = self.conversation.active_turn
            self._performer.begin_turn(self._active)
        elif self.conversation.cancelled:
            self._performer.commands.abandon()

    def _perform(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            if self._trace is not None:
                self._trace.output(self.setup.id, output)
            if isinstance(output, Ignored):
                self._count(output)
                continue
            try:
                self._performer.perform(output)
            except Exception:
                log.exception("session %s could not perform %s", self.setup.id, type(output).__name__)
        if self._performer.closed:
            self._mailbox.close()

    def _count(self, ignored: Ignored) -> None:
        """The one place for events out of order: counted, logged, and never the end of a session."""
        name = f"{ignored.lifecycle} in {ignored.state}: {type(ignored.event).__name__}"
        self._refused[name] = self._refused.get(name, 0) + 1
        log.debug("session %s ignores %s (%d)", self.setup.id, name, self._refused[name])
