"""A session without I/O: the coordinator between a model of Claude Code, a client and timers.

`World` feeds events, carries out what the coordinator decides, and remembers what everyone was
told. A `Rule` sees every output before it is carried out, and the whole after every event.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Literal

from machines import events as e
from machines import outputs as o
from machines.conversation import Conversation
from tests.fuzz.claude import Claude
from tests.fuzz.effects import carry_out
from tests.fuzz.facts import Asked, Call, Request
from tests.fuzz.runs import Addition, Frame, Prompt, Run, Text


class Rule:
    """Something that holds in every order of events; a subclass names the invariants that it is."""

    def before(self, world: "World", event: e.Event) -> None:
        """An event is about to be handled."""

    def see(self, world: "World", output: o.Output) -> None:
        """An output is about to be carried out."""

    def text(self, world: "World", run: Run | None, *, shown: bool) -> None:
        """A text delta came."""

    def rest(self, world: "World") -> None:
        """An event was handled to its end."""

    def end(self, world: "World") -> None:
        """Nothing is left to happen."""


class World:
    """One session and everything around it."""

    def __init__(self, rules: Sequence[Rule], *, marks: bool = True) -> None:
        self.rules = rules
        self.marks = marks
        self._ids = count(1)
        self.handled = 0
        self.broken = False
        """A rule was broken: what comes after it says nothing."""
        self.conversation = Conversation()
        self.process: Literal["none", "starting", "live", "stopping"] = "none"
        self.claude: Claude | None = None
        self.cause: e.Event | None = None
        self.frame: Frame | None = None
        """The frame that is being handled, and the event of it or of another source."""
        self.prompts: dict[str, Asked] = {}
        self.steers: dict[str, Asked] = {}
        """The prompt that each message was added to."""
        self.runs: dict[str, Run] = {}
        """What each prompt or added message runs in."""
        self.refused: set[str] = set()
        self.agents: set[str] = set()
        """Subagents that were told to run in the background."""
        self.calls: dict[str, Call] = {}
        self.requests: dict[str, Request] = {}
        self.changes: dict[str, str] = {}
        self.preparing: deque[str] = deque()
        self.previews: deque[str] = deque()
        """Prompts whose changed files Claude Code was asked for."""
        self.timers: set[e.Timer] = set()
        self.work = "idle"
        self.closed = False
        self.delivered: deque[Frame] = deque(maxlen=30)
        self.taken_up: set[str] = set()
        """Messages that were told to run."""
        self.left: set[str] = set()
        """Messages whose prompt was answered before they ran."""
        self._drops_message = False

    def new_id(self, kind: str) -> str:
        """An id that nothing has yet."""
        return f"{kind}-{next(self._ids)}"

    # ── events and outputs ──

    def open(self, *, resume: bool) -> None:
        """The request that opens the session."""
        self._take(self.conversation.open(resume=resume))

    def feed(self, event: e.Event, frame: Frame | None = None) -> None:
        """Handle an event, judge what comes of it, and carry it out."""
        self.cause, self.frame = event, frame
        self.handled += 1
        for rule in self.rules:
            rule.before(self, event)
        self.broken = True
        self._take(self.conversation.handle(event))

    def _take(self, outputs: Iterable[o.Output]) -> None:
        self.broken = True
        for output in outputs:
            for rule in self.rules:
                rule.see(self, output)
            carry_out(self, output)
        for asked in self.unanswered():  # nothing runs that it waited for: now it waits for reports
            released = self.is_held(asked) and asked.uuid in self.settling()
            asked.concluded = asked.concluded or released
        for rule in self.rules:
            rule.rest(self)
        self.broken = False

    # ── what is known ──

    def unanswered(self) -> list[Asked]:
        """Prompts without an answer, in the order received."""
        return [asked for asked in self.prompts.values() if asked.answer is None]

    def open_requests(self) -> list[Request]:
        """What the user is being asked."""
        return [request for request in self.requests.values() if request.is_open]

    def open_calls(self) -> list[Call]:
        """Calls without a final status."""
        return [call for call in self.calls.values() if call.final is None]

    def runs_first(self) -> Asked | None:
        """The first prompt that is neither ending nor being stopped."""
        ending = self.settling()
        return next(
            (each for each in self.unanswered() if not each.cancelled and each.uuid not in ending), None
        )

    def is_over(self, run: Run | None) -> bool:
        """The client was told that the work ended."""
        if run is None:
            return False
        if run.over or run.cycle or not run.members:
            return run.over
        return all(self.is_answered(uuid) for uuid in run.members)

    def has_ended(self, run: Run) -> bool:
        """Its result was handled, or is being handled, or there is none."""
        ends = self.frame is not None and self.frame.run is run and isinstance(self.cause, e.Result)
        silent = run.result is None and run.expected is not None
        return run.over or ends or silent

    def asked_by(self, uuid: str) -> Asked:
        """The prompt that a message is, or was added to."""
        return self.steers[uuid] if uuid in self.steers else self.prompts[uuid]

    def is_answered(self, uuid: str) -> bool:
        """Nothing of the message belongs to a prompt any more; what was left alone is work of its own."""
        return uuid not in self.left and self.asked_by(uuid).answer is not None

    def asked_in(self, run: Run) -> list[Asked]:
        """The prompts that a run is of, in the order received."""
        return sorted({self.asked_by(uuid) for uuid in run.members}, key=lambda asked: asked.number)

    def runs_of(self, asked: Asked) -> list[Run]:
        """What a prompt and the messages that were added to it ran in."""
        return [self.runs[uuid] for uuid in (asked.uuid, *asked.steers) if uuid in self.runs]

    def kin(self, asked: Asked) -> set[Asked]:
        """The prompts that share a run with it, or with one that does."""
        kin, new = {asked}, {asked}
        while new:
            new = {other for each in new for run in self.runs_of(each) for other in self.asked_in(run)} - kin
            kin |= new
        return kin

    def is_steered(self, asked: Asked) -> bool:
        """Something was added to the prompt, or to one that shares a result with it."""
        return any(each.steers for each in self.kin(asked))

    def holds(self, asked: Asked) -> bool:
        """A subagent runs that the prompt, or one that shares its result, has to wait for."""
        return any(each.agents & self.agents for each in self.kin(asked) if not each.cancelled)

    def is_held(self, asked: Asked) -> bool:
        """Its result came, and the answer is not known to wait for anything but subagents."""
        runs = [run for each in self.kin(asked) for run in self.runs_of(each)]
        ended = all(run.over for run in runs) and any(run.expected == o.Outcome() for run in runs)
        return asked.answer is None and ended and not asked.concluded

    def active_turns(self) -> list[str]:
        """Turns whose lifecycle says that output belongs to them."""
        turns = self.conversation._work.turns
        return [turn.uuid for turn in turns if turn.phase in {"working", "steered", "steer_pending", "held"}]

    def settling(self) -> list[str]:
        """Turns whose lifecycle says that they wait for reports."""
        return [turn.uuid for turn in self.conversation._work.turns.settling()]

    # ── the client ──

    def prompt(self, *, report: bool = False) -> None:
        """`session/prompt`, of a client that may want to know the files it changed."""
        asked = self.add_prompt(self.new_id("prompt"))
        if report and not asked.cancelled:
            asked.report = self.new_id("report")
        self.feed(e.PromptReceived(asked.uuid, report=asked.report))

    def add_prompt(self, uuid: str) -> Asked:
        """A prompt is there to be answered."""
        asked = self.prompts[uuid] = Asked(uuid, len(self.prompts))
        if self.conversation.phase in {"closing", "closed"}:
            asked.cancelled = "close"
        return asked

    def steer(self, *, prompts: bool) -> None:
        """`_session/steering`, which without a turn is a prompt or nothing."""
        self.feed(e.SteerReceived(self.new_id("steer"), prompt_when_idle=prompts))

    def cancel(self) -> None:
        """`session/cancel`."""
        self._mark_cancelled("all")
        self.feed(e.CancelRequested())

    def close(self) -> None:
        """`session/close`."""
        self._mark_cancelled("close")
        self.feed(e.CloseRequested())

    def _mark_cancelled(self, how: Literal["all", "close"]) -> None:
        for asked in self.unanswered():
            asked.cancelled = asked.cancelled or how

    def cancel_prompt(self, asked: Asked) -> None:
        """`$/cancel_request` of a prompt."""
        if asked.answer is None:
            asked.cancelled = asked.cancelled or "alone"
        self.feed(e.PromptCancelRequested(asked.uuid))

    def answer(self, request: Request, answer: str) -> None:
        """The client answers with an option, or with `cancelled`, or with an error."""
        reply: e.AskAnswered | e.FormAnswered
        if request.requested is o.AskForm:
            reply = e.FormAnswered(request.ask, "accept" if answer == "allow" else answer, answer)
        elif answer == "error":
            reply = e.AskAnswered(request.ask, failure="The dialog crashed.")
        else:
            reply = e.AskAnswered(request.ask, None if answer == "cancelled" else answer)
        if request.is_open:
            request.answered.append(reply)
        self.feed(reply)

    def change(self) -> None:
        """A change of mode or configuration."""
        change = self.new_id("change")
        self.changes[change] = "waits"
        self.feed(e.ChangeRequested(change))

    # ── effects that end ──

    def prepare(self) -> None:
        """What the oldest request shows is ready."""
        self.feed(e.AskPrepared(self.preparing.popleft()))

    def preview(self, pick: int) -> None:
        """Claude Code lists the files that a prompt changed, or can't."""
        paths = ("/a",) if pick % 3 == 0 else None
        self.feed(e.FilesPreviewed(self.previews.popleft(), paths, failed=pick % 3 == 2))

    def finish_change(self) -> None:
        """The change that is being applied was answered."""
        change = next(change for change, state in self.changes.items() if state == "applied")
        self.changes[change] = "done"
        self.feed(e.ChangeFinished(change))

    def fire(self, timer: e.Timer) -> None:
        """A timer runs out."""
        self.timers.discard(timer)
        self.feed(e.TimerFired(timer))

    # ── the process ──

    def start_ends(self, event: e.QueryInitialized | e.QueryStartFailed | e.StreamClosed) -> None:
        """The process that is being started answers, or does not come up."""
        self.process = "live" if isinstance(event, e.QueryInitialized) else "none"
        self.feed(event)

    def stopped(self) -> None:
        """The process that was told to stop is gone."""
        self.process = "none"
        self.feed(e.QueryStopped())

    def die(self, end: e.StreamEnd, *, keep: int, warned: bool) -> None:
        """The process ends under the session; of what it wrote only the first frames come through."""
        assert self.claude is not None
        kept = [*self.claude.outbox][:keep]
        if warned:
            kept.insert(0, Frame(e.WorkerShuttingDown()))
        self.claude.outbox = deque([*kept, Frame(e.StreamClosed(end, "It broke."))])
        self.claude.inbox.clear()
        self.claude.dead = True

    def deliver(self) -> bool:
        """Handle the oldest frame; False when there is none."""
        if self.claude is None or self.process not in {"live", "stopping"} or not self.claude.outbox:
            return False
        self.handle_frame(self.claude.outbox.popleft())
        return True

    def handle_frame(self, frame: Frame) -> None:
        """What the intake of a session does with a frame."""
        self.delivered.append(frame)
        event, run = frame.event, frame.run
        if isinstance(event, Text):
            self._show_text(run)
            return
        self._note(event, run)
        self.feed(event, frame)
        if isinstance(event, e.CommandMoved) and event.state == "started":
            self.taken_up.add(event.uuid)
        if run is not None:
            run.seen = run.seen or isinstance(event, e.MessageStarted)
            run.over = run.over or isinstance(event, e.Result)

    def _show_text(self, run: Run | None) -> None:
        shown = self.conversation.admits_text and not self._drops_message
        self._drops_message = not shown  # and so the rest of the message is (M6)
        self.broken = True
        for rule in self.rules:
            rule.text(self, run, shown=shown)
        self.broken = False

    def _note(self, event: e.Event, run: Run | None) -> None:
        match event:
            case e.MessageStarted():
                self._drops_message = False
                if run is not None and run.cycle and not self.marks and self._waits_for_prompts():
                    run.garbled = True  # nothing tells it from a command of a prompt that waits
            case e.AskReceived(ask, use, options):
                self._ask(Request(ask, run, use.call, options))
            case e.FormReceived(ask, use):
                self._ask(Request(ask, run, use.call if use is not None else None))
            case e.AskWithdrawn(ask):
                self.requests[ask].gone = True
            case e.TaskStarted(agent):
                self.agents.add(agent)
                for asked in self._starters(run):
                    asked.agents.add(agent)
            case e.TaskEnded(agent):
                self.agents.discard(agent)
            case e.StreamClosed():
                self.agents.clear()
                self.process = "none" if self.process == "live" else self.process
                self.lose_asks()
            case _:
                pass

    def _ask(self, request: Request) -> None:
        request.gone = self.process == "stopping"  # what is being ended waits for nothing
        self.requests.setdefault(request.ask, request)

    def _starters(self, run: Run | None) -> list[Asked]:
        """The prompts of the run so far, or the one that waits for subagents; none that was cancelled."""
        assert run is not None
        told = [uuid for uuid in run.members if uuid in self.taken_up or not self.marks]
        asked = [each for each in self.asked_in(run) if {each.uuid, *each.steers} & {*told}]
        asked = asked or [each for each in self.unanswered() if self.is_held(each)]
        return [each for each in asked if not each.cancelled]

    def _waits_for_prompts(self) -> bool:
        """A prompt has no answer, or Claude Code may still run one that was cancelled."""
        claude = self.claude
        unread = claude is not None and any(
            isinstance(command, Prompt | Addition) for command in claude.inbox
        )
        queued = claude is not None and bool(claude.queue)
        return bool(self.unanswered()) or unread or queued or any(run.members for run in self.met())

    def lose_asks(self) -> None:
        """There is no process that waits for an answer."""
        for request in self.requests.values():
            request.gone = True

    def write(self, command: Any) -> None:
        """Write to Claude Code, as long as it reads."""
        if self.claude is not None and self.process == "live" and not self.claude.dead:
            self.claude.inbox.append(command)

    def start(self) -> None:
        """Start another Claude Code."""
        self.process = "starting"
        self.claude = Claude(self.new_id, self.runs, self.refused, self.marks)

    def touch(self, *, alone: bool) -> None:
        """An interrupt is written: it meets what runs, and what was written and not handled yet."""
        for run in self.met():
            run.touched = True
            run.hit_alone = run.hit_alone or alone

    def met(self) -> set[Run]:
        """Every run that is not handled to its end."""
        frames = [*self.claude.outbox] if self.claude is not None else []
        if self.frame is not None:
            frames.append(self.frame)
        runs = {frame.run for frame in frames} | {self.claude.run if self.claude is not None else None}
        return {run for run in runs if run is not None}
