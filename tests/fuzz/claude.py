"""A model of Claude Code: it reads what the agent wrote and writes frames in orders that it may.

Both directions are queues: a command in `inbox` was written and not read, a frame in `outbox`
was written and not handled. So every race between the two sides is an order of moves. Each
frame bears the run that it belongs to, which is what the rules judge by.

The orders are those of the recorded CLI (§5 of its description): queued, started, requesting,
echo, messages, tools with asks, hooks and results, result, completed, idle; prompts that wait
together run together, one that comes during a tool joins the run; an interrupt withdraws what
is asked, fails the tools, and with `cancel_queued` drops what waits. A message with the priority
`now` ends what runs and goes before all others; one with `later` goes behind them and joins nothing.
A subagent that is started in the background ends at any time, and its end brings a cycle.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from machines import events as e
from machines.outputs import Failure, FailureKind, Outcome
from machines.results.usage import Tokens
from machines.turns.turns import NO_RESULT
from tests.fuzz.runs import (
    ENDINGS,
    OPTIONS,
    RANKS,
    Addition,
    Command,
    Drop,
    Frame,
    Priority,
    Prompt,
    Reply,
    Run,
    Stop,
    Text,
    Tool,
)

TASK = "task-notification"
MODEL = "opus"


@dataclass(slots=True)
class Claude:
    """One Claude Code process; `marks` says that it sends lifecycle frames and stamps its results."""

    new_id: Callable[[str], str]
    runs: dict[str, Run]
    """The run of each prompt, kept by the caller."""
    refused: set[str]
    """Prompts that it does not run, kept by the caller."""
    marks: bool = True
    inbox: deque[Command] = field(default_factory=deque)
    outbox: deque[Frame] = field(default_factory=deque)
    queue: list[str] = field(default_factory=list)
    """What waits, in the order in which it will run."""
    ranks: dict[str, int] = field(default_factory=dict)
    """The priority of each message."""
    run: Run | None = None
    tools: list[Tool] = field(default_factory=list)
    background: int = 0
    """Tasks whose end brings a cycle."""
    agents: dict[str, str] = field(default_factory=dict)
    """Subagents that run in the background, each with the call that started it."""
    whims: bool = True
    """It may withdraw an ask by itself, refuse a message, or end a run without a result."""
    dead: bool = False
    told: str = ""
    """The state that it told last."""
    spent: Tokens = field(default_factory=Tokens)
    """What all results so far add up to."""
    _echoed: bool = False
    _streams: bool = False
    """A message of the run has begun."""

    # ── what it may do next ──

    def moves(self) -> list[Callable[[int], None]]:
        """Every act that is legal now."""
        if self.dead:
            return []
        moves: list[Callable[[int], None]] = [self.read] * 2 if self.inbox else []
        if self.run is None:
            if self.queue:
                moves += [self.start, self.start]
            elif self.background:
                moves.append(self.start_cycle)
            if self.agents:
                moves += [self.go_on_behind] * 3 + [self.end_agent]
            return moves
        if not self._streams:
            return [*moves, self.request]
        return moves + self._work_moves()

    def _work_moves(self) -> list[Callable[[int], None]]:
        subagents = self.launch if len(self.agents) < 2 else self.end_agent
        moves: list[Callable[[int], None]] = [self.say, subagents]
        if len(self.tools) < 3:
            moves += [self.use, self.use]
        for tool in self.tools:
            if not tool.dispatched:
                moves.append(lambda pick, tool=tool: self.dispatch(tool))  # type: ignore[misc]
            elif tool.ask is None:
                moves.append(lambda pick, tool=tool: self.finish(tool, pick))  # type: ignore[misc]
                if not tool.asked:
                    moves += [lambda pick, tool=tool: self.ask(tool, pick)] * 2  # type: ignore[misc]
            elif self.whims:
                moves.append(lambda pick, tool=tool: self.withdraw(tool, pick))  # type: ignore[misc]
        if not any(tool.dispatched for tool in self.tools):
            moves += [self.end, self.go_on]
        return moves

    def act(self, pick: int) -> bool:
        """Do the move that a number picks; False when there is none."""
        moves = self.moves()
        if not moves:
            return False
        moves[pick % len(moves)](pick // len(moves))
        return True

    # ── reading ──

    def read(self, pick: int) -> None:
        """Take the oldest command."""
        match self.inbox.popleft():
            case Prompt(uuid):
                self._receive(uuid, "next", pick)
            case Addition(uuid, priority):
                self._receive(uuid, priority, pick)
                if priority == "now" and uuid in self.queue and self.run is not None:
                    self._yield(self.run)
            case Stop(cancel_queued):
                self._interrupt(cancel_queued=cancel_queued)
            case Drop(uuid):
                if uuid in self.queue and self.marks:
                    self.queue.remove(uuid)
                    self._mark(uuid, "cancelled")
                    self._rest()
            case Reply(ask, grants):
                self._take_reply(ask, grants=grants)

    def _receive(self, uuid: str, priority: Priority, pick: int) -> None:
        if self.told != "running":
            self._tell("running")
        self._mark(uuid, "queued")
        if self.whims and self.marks and pick % 16 == 5:
            self.refused.add(uuid)
            self._mark(uuid, "refused")
            self._rest()
        else:
            rank = self.ranks[uuid] = RANKS.index(priority)
            places = (place for place, other in enumerate(self.queue) if self.ranks[other] > rank)
            self.queue.insert(next(places, len(self.queue)), uuid)

    def _interrupt(self, *, cancel_queued: bool) -> None:
        if cancel_queued and self.marks:
            for uuid in self.queue:
                self._mark(uuid, "cancelled")
            self.queue.clear()
        if self.run is not None:
            self._abort(self.run, alone=not cancel_queued)
        else:
            self._rest()

    def _abort(self, run: Run, *, alone: bool) -> None:
        run.touched = True
        run.hit_alone = run.hit_alone or alone
        self._break_off(run, {"subtype": "error_during_execution", "is_error": True}, Outcome("cancelled"))

    def _yield(self, run: Run) -> None:
        """A message that does not wait takes the place of what runs."""
        self._break_off(run, {"stop_reason": None}, Outcome())

    def _break_off(self, run: Run, fields: dict[str, object], outcome: Outcome) -> None:
        if not run.cycle and not self._echoed:
            self._echo(run.members[-1])
        reason = "aborted_tools" if self.tools else "aborted_streaming"
        for tool in self.tools:
            if tool.ask is not None:
                self.write(e.AskWithdrawn(tool.ask))
        for tool in self.tools:
            if tool.dispatched:
                end = e.ToolReturned(tool.use.call, "", is_error=True, non_execution_kind="user-rejected")
                self.write(end)
        self._finish({**fields, "terminal_reason": reason}, outcome, last="cancelled")

    def _take_reply(self, ask: str, *, grants: bool) -> None:
        for tool in self.tools:
            if tool.ask == ask:
                tool.ask, tool.refused = None, not grants
                if not any(other.ask for other in self.tools):
                    self._tell("running")

    # ── a run ──

    def start(self, pick: int) -> None:
        """Take up what waits: everything together, or the first alone."""
        together = self.marks and pick % 3 != 0
        members = self.queue[:] if together else self.queue[:1]
        self.queue = self.queue[len(members) :]
        self._begin(Run(self.new_id("run"), cycle=False, members=members))
        for uuid in members[:-1]:
            self._echo(uuid)
        for uuid in members:
            self._mark(uuid, "started")

    def start_cycle(self, pick: int) -> None:
        """A background task ended: Claude Code works on its own."""
        self.background -= 1
        if self.told != "running":
            self._tell("running")
        self._begin(Run(self.new_id("cycle"), cycle=True, members=[]))

    def _begin(self, run: Run) -> None:
        self.run = run
        run.began_with = len(run.members)
        self.runs.update(dict.fromkeys(run.members, run))
        self._echoed = self._streams = False

    def request(self, pick: int) -> None:
        """The first API request of the run, or the output of a command that needs none."""
        run = self._run()
        local = not run.cycle and len(run.members) == 1 and pick % 8 == 7
        run.garbled = local and not self.marks  # not even an echo tells whose output it is
        if not local:
            self._request(run)
            if not run.cycle:
                self._echo(run.members[-1])
        self.write(e.MessageStarted())
        self._streams = True
        if local:
            self.say(0)
            if self.marks:
                self._echo(run.members[-1])
            self._finish({"num_turns": 0}, Outcome(), last="completed", tokens=Tokens())

    def _request(self, run: Run) -> None:
        self.write(e.Requesting(tuple(run.members) if self.marks else ()))

    def say(self, pick: int) -> None:
        """A text delta."""
        self.write(Text())

    def use(self, pick: int) -> None:
        """A tool use, streamed or whole."""
        name = "TodoWrite" if pick % 8 == 3 else "Bash"
        tool = Tool(e.ToolUse(self.new_id("toolu"), name))
        self.tools.append(tool)
        if pick % 4 == 1:
            self.dispatch(tool)
        else:
            self.write(e.ToolStarted(tool.use))

    def dispatch(self, tool: Tool) -> None:
        """The consolidated message with a tool use."""
        tool.dispatched = True
        self.write(e.ToolDispatched(tool.use))

    def ask(self, tool: Tool, pick: int) -> None:
        """May the tool run, or what does the user say?"""
        tool.ask, tool.asked = self.new_id("ask"), True
        self._tell("requires_action")
        if pick % 4 == 3:
            self.write(e.FormReceived(tool.ask, tool.use))
        else:
            self.write(e.AskReceived(tool.ask, tool.use, OPTIONS))

    def withdraw(self, tool: Tool, pick: int) -> None:
        """Rarely a hook decides, and nobody waits for the user any more."""
        if pick % 4:
            return
        self.write(e.AskWithdrawn(tool.ask or ""))
        tool.ask = None
        if not any(other.ask for other in self.tools):
            self._tell("running")

    def finish(self, tool: Tool, pick: int) -> None:
        """The tool runs and returns, or is refused."""
        call = tool.use.call
        if tool.refused:
            self.write(e.ToolReturned(call, "", is_error=True, non_execution_kind="permission-rule"))
        elif tool.use.name != "Bash":
            self.write(e.ToolReturned(call, ""))
        elif pick % 8 == 2 and not tool.asked:
            self.write(e.ToolDenied(call, tool.use.name, "rule"))
            self.write(e.ToolReturned(call, "", is_error=True))
        else:
            for _ in range(pick % 2):
                self.write(e.ToolProgressed(f"{call}-heartbeat-0", tool.use.name, parent=call, elapsed=30))
            is_error = pick % 8 == 4
            if not is_error:
                self.write(e.ToolHooked(call, tool.use.name))
            self.write(e.ToolReturned(call, "", is_error=is_error))
            self.background += pick % 8 == 6
        self.tools.remove(tool)

    def launch(self, pick: int) -> None:
        """A subagent begins in the background, which its call does not wait for."""
        call, agent = self.new_id("toolu"), self.new_id("agent")
        self.agents[agent] = call
        self.write(e.ToolDispatched(e.ToolUse(call, "Agent")))
        self.write(e.TaskStarted(agent, call, is_subagent=True, backgrounded=True, run="1"))
        self.write(e.ToolReturned(call, ""))

    def go_on_behind(self, pick: int) -> None:
        """A subagent says something."""
        self.write(e.MessageStarted(next(iter(self.agents.values()))))

    def end_agent(self, pick: int) -> None:
        """A subagent is done, and Claude Code has something to say about it."""
        self.background += 1
        self.outbox.append(Frame(e.TaskEnded(self.agents.popitem()[0], run="1")))

    def go_on(self, pick: int) -> None:
        """Another request of the same run; what waits joins it, as after a tool."""
        run = self._run()
        self.tools.clear()  # the message broke off: what it had not said in whole never comes
        if self.queue and self.marks and pick % 3 != 0 and self.ranks[self.queue[0]] < RANKS.index("later"):
            uuid = self.queue.pop(0)
            run.members.append(uuid)
            self.runs[uuid] = run
            self._echo(uuid)
            self._mark(uuid, "started")
        self._request(run)
        self.write(e.MessageStarted())

    def end(self, pick: int) -> None:
        """The result of the run, or rarely none at all."""
        run = self._run()
        if self.whims and self.marks and not run.cycle and not self.queue and pick % 32 == 9:
            self._end_silently(run)
            return
        fields, outcome = ENDINGS[pick % len(ENDINGS)]
        self._finish(dict(fields), outcome, last="cancelled" if outcome.failure else "completed")

    def _finish(
        self,
        fields: dict[str, object],
        outcome: Outcome,
        *,
        last: e.CommandState,
        tokens: Tokens | None = None,
    ) -> None:
        run = self._run()
        run.tokens = Tokens(self.spent.input % 7 + 1, 2) if tokens is None else tokens
        run.expected = outcome
        self.spent = self.spent.plus(run.tokens)
        run.result = e.Result(
            uuids=tuple(run.members) if self.marks else (),
            origin=TASK if run.cycle else None,
            usage={"input_tokens": run.tokens.input, "output_tokens": run.tokens.output},
            model_usage={MODEL: {"inputTokens": self.spent.input, "outputTokens": self.spent.output}},
            **fields,  # type: ignore[arg-type]  # the fields of `ENDINGS` and of an abort
        )
        for uuid in run.members[run.began_with :]:
            self._mark(uuid, last)
        self.write(run.result)
        for uuid in run.members[: run.began_with]:
            self._mark(uuid, last)
        self._leave()

    def _end_silently(self, run: Run) -> None:
        run.expected = Outcome(failure=Failure(FailureKind.NO_RESULT, NO_RESULT))
        for uuid in run.members:
            self._mark(uuid, "completed")
        self._leave()

    def _leave(self) -> None:
        self.run = None
        self.tools.clear()
        if not (self.background or self.agents) or self.spent.input % 2:  # else it stays `running`
            self._rest()

    # ── frames ──

    def write(self, event: e.Event | Text) -> None:
        """Write a frame of the run."""
        self.outbox.append(Frame(event, self.run))

    def _run(self) -> Run:
        assert self.run is not None
        return self.run

    def _mark(self, uuid: str, state: e.CommandState) -> None:
        if self.marks:
            self.write(e.CommandMoved(uuid, state))

    def _echo(self, uuid: str) -> None:
        self._echoed = True
        self.write(e.Echoed(uuid))

    def _tell(self, state: e.CliState) -> None:
        self.told = state
        self.outbox.append(Frame(e.CliStateChanged(state), self.run))

    def _rest(self) -> None:
        """Go idle when nothing is left to do."""
        if self.run is None and not self.queue and self.told != "idle" and self.told:
            self._tell("idle")
