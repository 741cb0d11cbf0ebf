"""What the client sees of a session: chunks, tool calls, usage, commands, in the order they happen."""

from collections.abc import Callable, Iterable, Mapping

from bridge.children.routes import Routes
from bridge.children.view import ChildrenView
from bridge.commands.advertised import commands_update
from bridge.diffs.final import Change, final_change
from bridge.live.setup import Setup
from bridge.messages import items as f
from bridge.messages.raw import rows, text
from bridge.messages.stream import MessageStream, chunk
from bridge.tools.report import ToolReports
from bridge.tools.reporters.skill import skill_files
from bridge.view.client import SessionClient
from bridge.view.notices import Notices
from bridge.view.session_info import (
    compaction_update,
    files_update,
    goal_update,
    incident_update,
    summary_update,
)
from bridge.view.usage import ContextUsage
from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from machines.companions.incident import Book
from machines.conversation import Conversation
from machines.tools.tool_call import STUCK

Update = Mapping[str, object]
Shown = f.UsageRead | f.CommandsListed | f.Informed | f.ModelFellBack | f.Recalled | f.LinkDone | f.Originated
Task = e.TaskStarted | e.TaskBackgrounded | e.TaskEnded

_DELTAS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}


class Screen:
    """Turns what happens into the updates of one client; nothing of it changes a lifecycle."""

    def __init__(
        self,
        setup: Setup,
        home: str,
        client: SessionClient,
        stream: MessageStream,
        conversation: Conversation,
        new_id: Callable[[], str],
        book: Book | None,
    ) -> None:
        self._setup = setup
        self._client = client
        self._stream = stream
        self._conversation = conversation
        self._exact: dict[
            str, Change | None
        ] = {}  # patches that were worked out before their hook is reported
        self._reporting: Change | None = None
        self.reports = ToolReports(setup.client, setup.cwd, home, final_diff=lambda *_: self._reporting)
        self.routes = Routes(client, native=setup.client.subagent_form != "none")
        self.children = ChildrenView(setup.id, client, self.routes, lambda: self.reports)
        self.usage = ContextUsage()
        self.notices = Notices(setup, client, new_id, book)
        self._compactions: set[str] = set()  # shown in this turn
        self._commands: object = []
        self._terminal_commands: tuple[str, ...] = ()
        self._skills: tuple[str, ...] = ()
        self._home = home
        self._answered = False  # a real model spoke since the last result
        self._origin: Update = {}
        self._tasks: dict[str, tuple[str, bool]] = {}  # call and whether it goes on in the background
        self._ended: set[str] = set()  # calls whose task was over before their result

    # ── around the machines: one frame in, at most one update out ──

    def stream_block(self, raw: Mapping[str, object], event: Mapping[str, object]) -> bool:
        """Show a delta at once; False when the frame is none."""
        if event.get("type") != "content_block_delta":
            return False
        delta, index, lane = event.get("delta"), event.get("index"), _lane(raw)
        if not isinstance(delta, Mapping) or not isinstance(index, int):
            return True
        if delta.get("type") == "input_json_delta":
            self.send(self.reports.fragment(lane, index, str(delta.get("partial_json", ""))), lane)
            return True
        block, key = _DELTAS.get(str(delta.get("type")), ("", ""))
        text = delta.get(key)
        if not isinstance(text, str):
            return True
        if not (self._conversation.admits_text or self._goes_on(lane)):
            self._stream.drop(lane)
        kind = self._stream.append(lane, index, block, text)
        if kind is not None:
            self.routes.update(chunk(kind, text, self._stream.message_id(lane) or "", lane), lane)
        return True

    def stream_edge(self, raw: Mapping[str, object], event: Mapping[str, object]) -> None:
        """Follow where the input of a tool use starts and ends in the stream."""
        index, lane = event.get("index"), _lane(raw)
        match event.get("type"):
            case "content_block_start" if isinstance(index, int):
                block = event.get("content_block")
                call = block.get("id") if isinstance(block, Mapping) else None
                if isinstance(call, str) and self._conversation.shows(call):
                    self.reports.input_started(lane, index, call)
            case "content_block_stop" if isinstance(index, int):
                self.reports.block_ended(lane, index)
            case "message_start" | "message_stop":
                self.reports.message_edge(lane)

    # ── facts that no lifecycle waits for ──

    def note(self, fact: Shown) -> None:
        """Show what is only there to be seen."""
        match fact:
            case f.UsageRead():
                self.read_usage(fact)
            case f.CommandsListed(commands):
                self.list_commands(commands)
            case f.Informed():
                self.notices.show_informed(fact)
            case f.ModelFellBack():
                self.notices.show_fallback(fact)
            case f.Recalled(id, mode, memories):
                if self._conversation.admits_new:
                    self.send(self.reports.memory_recalled(id, mode, memories))
            case f.Originated(origin):
                self._origin = origin
            case f.LinkDone(elicitation):
                if self._setup.client.elicitation_url:
                    self._client.complete(elicitation)

    def content(self, item: f.Content) -> None:
        """Text of a consolidated message; a cancel lets only results of open calls pass (M6)."""
        repeats = item.synthetic and bool(self._compactions)  # Claude Code's own words on a compaction
        if (self._conversation.admits_new or self._goes_on(item.lane)) and not repeats:
            self.routes.update(item.update, item.lane)

    def read_usage(self, item: f.UsageRead) -> None:
        """Token counts of a root message."""
        if item.starts:
            update = self.usage.start_message(item.model, item.usage)
            self._answered = self._answered or self.usage.model == item.model
        else:
            update = self.usage.add(item.usage)
        if update is not None:
            self._client.update(update)

    def list_commands(self, commands: object) -> None:
        """Show the slash commands that Claude Code has."""
        self._client.update(self.commands(commands))

    def known_commands(self, listed: object) -> Update:
        """The update that shows what was listed last, or else these."""
        return self.commands(self._commands or listed)

    def relist_commands(self, listed: object) -> None:
        """Show what a new process has, if that is something else."""
        if isinstance(listed, list) and listed != self._commands:
            self.list_commands(listed)

    def commands(self, commands: object) -> Update:
        """The update that shows them."""
        self._commands = commands
        return commands_update(commands, self._terminal_commands, self._known_skills())

    def _known_skills(self) -> Mapping[str, str | None]:
        """The commands that are skills; Claude Code names them, or their files do."""
        if not self._setup.client.air:
            return {}
        listed = self._commands if isinstance(self._commands, list) else []
        names = {text(row, "name") for row in listed if isinstance(row, Mapping)} | {*self._skills}
        files = skill_files(names, cwd=self._setup.cwd, home=self._home)
        return {**dict.fromkeys(self._skills), **files}

    def note_init(self, item: f.Initialized) -> None:
        """`system/init`: commands that make sense in a terminal alone, servers that don't work."""
        hidden, skills = (_names(item.raw.get(key)) for key in ("terminal_slash_commands", "skills"))
        if hidden != self._terminal_commands or (self._setup.client.air and skills != self._skills):
            self._terminal_commands, self._skills = hidden, skills
            self.list_commands(self._commands)
        for server in rows(item.raw, "mcp_servers"):
            self.notices.note_server(text(server, "name"), text(server, "status"))

    def note_task(self, event: Task) -> None:
        """The terminal of a command in the background ends with its task."""
        match event:
            case e.TaskStarted(task, str(call), is_subagent, backgrounded):
                self._tasks[task] = (call, backgrounded)
                if not is_subagent:
                    self.routes.forget([call])  # nobody is announced by that call (Routing 5)
            case e.TaskBackgrounded(task, backgrounded) if task in self._tasks:
                self._tasks[task] = (self._tasks[task][0], backgrounded)
            case e.TaskEnded(task) if task in self._tasks:
                call, _ = self._tasks.pop(task)
                if self._conversation.shows(call):
                    self._ended.add(call)
                else:
                    self.send(self.reports.background_ended(call))
            case _:
                pass

    def end_tasks(self) -> None:
        """The process is gone, and all that it ran."""
        for call, _ in self._tasks.values():
            self.send(self.reports.background_ended(call))
        self._tasks.clear()
        self._ended.clear()

    def forget_conversation(self) -> None:
        """`/clear`: no context and no tasks."""
        self.usage.clear()
        self.reports.conversation_reset()

    def start_afresh(self) -> None:
        """The conversation is empty again."""
        self.usage.clear()
        update = self.usage.update()
        if update is not None:
            self._client.update(update)

    def begin_turn(self) -> None:
        """A turn became active."""
        self._stream.reset()
        self._compactions.clear()
        self.notices.begin_turn()

    # ── outputs ──

    def show_compaction(self, output: r.ReportCompaction) -> None:
        """The status of a compaction; its boundary also tells how full the context is now."""
        opened = output.id in self._compactions
        self._compactions.add(output.id)
        update = compaction_update(output, self._setup.client, opened=opened)
        if update is not None:
            self._client.update(update)
        if output.facts is not None:
            self.usage.shrink(output.facts.post_tokens or 0)
            changed = self.usage.changed()
            if changed is not None:
                self._client.update(changed)

    def show_summary(self, output: r.ShowSummary) -> None:
        """A piece of a summary."""
        self._client.update(summary_update(output, self._setup.client))

    def show_goal(self, output: r.PublishGoal) -> None:
        """The goal, to the clients that know goals (GL-001)."""
        if self._setup.client.air:
            self._client.update(goal_update(output.goal))

    def show_incident(self, output: r.ReportIncident) -> None:
        """A failure record."""
        self._client.update(incident_update(output))

    def show_files(self, output: r.ReportFiles) -> None:
        """The report of the files that a turn changed."""
        self._client.update(files_update(output, [self._setup.cwd, *self._setup.add_dirs]))

    def show_call(self, output: o.ShowCall, preview: tuple[Mapping[str, object], ...] | None) -> None:
        """First report of a call, which says for good where it is shown."""
        lane = output.use.parent
        if output.ask is not None:
            self.routes.surface(output.use.call, lane)
            self.send(self.reports.announced(output.use, preview), lane)
        elif output.streaming:
            self.send(self.reports.started(output.use), lane)
        else:
            self.send(self.reports.dispatched(output.use), lane)

    def refine_call(self, output: o.RefineCall | o.ShowPlan) -> None:
        """Its complete input."""
        self.send(self.reports.dispatched(output.use), output.use.parent)

    def report_progress(self, output: o.ReportProgress) -> None:
        """It runs."""
        self.send(self.reports.progressed(output.beat, output.target))

    def report_hook(self, output: o.ReportHook) -> None:
        """What a hook told about it."""
        self._reporting = self._exact.pop(output.hook.call, None)
        self.send(self.reports.hooked(output.hook))

    def return_call(self, output: o.ReturnCall) -> None:
        """Its result."""
        call, status = output.result.call, output.status
        if self._setup.client.v2 and status == "failed" and not self._conversation.admits_new:
            status = "cancelled"
        backgrounded = (call, True) in self._tasks.values()
        self.send(self.reports.returned(output.result, status, backgrounded=backgrounded))
        if call in self._ended:
            self._ended.discard(call)
            self.send(self.reports.background_ended(call))

    def show_plan_result(self, output: o.ShowPlanResult) -> None:
        """What became of the plan."""
        status = "failed" if output.result.is_error else "completed"
        self.send(self.reports.returned(output.result, status), output.use.parent)

    def deny_call(self, output: o.DenyCall) -> None:
        """A rule refused it."""
        self.send(self.reports.denied(output.denial))

    def close_call(self, output: o.CloseCall) -> None:
        """No result will come; ACP v2 has a word for a call that was stopped (M8.3)."""
        stopped = self._setup.client.v2 and output.text != STUCK
        self.send(self.reports.closed(output.call, output.text, "cancelled" if stopped else output.status))

    def show_result(self, output: o.ShowResult) -> None:
        """Text that nothing has shown yet, then usage and cost."""
        result = output.result
        self.usage.learn(result.model_usage)
        quiet = output.outcome.failure is not None or output.outcome.stop_reason == "cancelled"
        quiet = quiet or self.notices.said(result.text)
        if result.text and not quiet and not self._stream.delivered and not _output_tokens(result):
            self.notices.say(result.text)
        update = self.usage.update(result.cost, self._origin) if self._answered else None
        self._answered = False
        if update is not None:
            self._client.update(update)

    def keep_change(self, hook: e.ToolHooked) -> None:
        """Work out the exact patch of a change; reads the file, so a worker thread runs it."""
        if isinstance(hook.response, Mapping):
            change = final_change(hook.name, hook.response, hook.input, self._setup.cwd)
            self._exact[hook.call] = change

    def plan_again(self) -> None:
        """A prompt starts: unfinished tasks are shown once more (SE-104)."""
        self.send(self.reports.plan_again())

    def send(self, updates: Iterable[Update], lane: str | None = None) -> None:
        """Send updates as they are, each to the session that it belongs to."""
        for update in updates:
            self.routes.update(update, lane)

    def _goes_on(self, lane: str | None) -> bool:
        """The words of a subagent that no cancel stopped, in its own session."""
        return self.routes.leads_to_child(lane) and self._conversation.admits(lane)


def _lane(raw: Mapping[str, object]) -> str | None:
    parent = raw.get("parent_tool_use_id")
    return parent if isinstance(parent, str) else None


def _names(listed: object) -> tuple[str, ...]:
    return tuple(str(name) for name in listed) if isinstance(listed, list) else ()


def _output_tokens(result: e.Result) -> bool:
    return bool((result.usage or {}).get("output_tokens"))
