"""Tool calls as a client sees them: the one door of the session to everything in this package.

Who owns the status of a call, and which session its reports go to, is decided elsewhere. Here each
fact becomes the `session/update` payloads that tell it, in order, and nothing twice. An id that
was never shown is never reported.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.tools import render
from bridge.tools.facts import Content, Json, ResultFacts, Update, Updates
from bridge.tools.partial import PartialInputs
from bridge.tools.plans import Plans, is_plan_tool
from bridge.tools.reading import mapping
from bridge.tools.render import Drawn, Outcome
from bridge.tools.reporters import reporter_of
from bridge.tools.reporters.changes import standard_change
from bridge.tools.reporters.reporter import ResultView, UseView
from bridge.tools.tracker import ChangedMeta, FieldTracker
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolReturned, ToolUse

FinalDiff = Callable[[str, Json, Json], Change | None]
"""`(tool, response, input)` of a hook to the exact patch, where there is one."""


_LATE_HOOKS = 64


@dataclass(slots=True)
class _Call:
    """What is known of a call that is not over; the record goes once nothing of it is owed."""

    use: ToolUse
    shown: bool = False
    complete: bool = False
    """The whole input is known: what still streams of it adds nothing."""
    planned: bool = False
    """Its todo list went out as a plan."""
    keep_text: bool = False
    """Its preview says only that a file is overwritten, so `rawInput` keeps the text (§7.3)."""
    owed: set[Literal["result", "hook"]] = field(default_factory=lambda: {"result", "hook"})


@dataclass(frozen=True, slots=True)
class _Reporters:
    """Asks the reporter of a tool, for one client and one working directory."""

    client: ClientCapabilities
    cwd: str
    home: str
    final_diff: FinalDiff | None

    def drawn(self, use: ToolUse, *, live: bool = True) -> Drawn:
        return Drawn(use, reporter_of(use.name).use(self._view(use, live=live)), self.client)

    def result(self, use: ToolUse, result: ToolReturned) -> ResultFacts:
        view = ResultView(self._view(use), result.content, mapping(result.structured))
        reporter = reporter_of(use.name)
        return reporter.error(view) if result.is_error else reporter.result(view)

    def change(self, call: _Call, hook: ToolHooked) -> Change | None:
        if not reporter_of(call.use.name).edits_file:
            return None
        response = mapping(hook.response)
        # Behind the notice of an overwrite there was no text to make a patch from.
        if self.client.diff_patch and self.final_diff and not call.keep_text:
            exact = self.final_diff(call.use.name, response, hook.input)
            if exact is not None:
                return exact
        return standard_change(self._view(call.use), response)

    def _view(self, use: ToolUse, *, live: bool = True) -> UseView:
        return UseView(use.name, use.input, self.client, self.cwd, self.home, live)


class ToolReports:
    """The reports of one session to one client; synchronous, without a clock, reads no file but
    plan and skill files.
    """

    def __init__(
        self, client: ClientCapabilities, cwd: str, home: str, *, final_diff: FinalDiff | None = None
    ) -> None:
        self._client = client
        self._reporters = _Reporters(client, cwd, home, final_diff)
        self._calls: dict[str, _Call] = {}
        self._replayed: dict[str, ToolUse] = {}
        self._late: deque[str] = deque()
        """Calls that have their result and wait for a hook, which some tools never have."""
        self._in_background: dict[str, ToolUse] = {}
        """Commands whose terminal ends with their task."""
        self._inputs = PartialInputs()
        self._held = FieldTracker()
        self._sent_meta = ChangedMeta()
        self._plans = Plans(skip_repeats=client.air)

    # ── the input ─────────────────────────────────────────────────────────────

    def started(self, use: ToolUse) -> Updates:
        """A tool use begins to stream: its first report, unless a permission request was first."""
        if self._open(use.call):
            return []
        call = self._calls[use.call] = _Call(use)
        return [] if is_plan_tool(use.name) else self._show(call)

    def input_started(self, lane: str | None, index: int, call: str) -> None:
        """The input of a started call will come in fragments of this block."""
        if (known := self._open(call)) and not known.complete and not is_plan_tool(known.use.name):
            self._inputs.begin(lane, index, call)

    def fragment(self, lane: str | None, index: int, text: str) -> Updates:
        """One delta of an input: at most one report of what it completed (§4.10)."""
        found = self._inputs.feed(lane, index, text)
        call = self._open(found[0]) if found else None
        if found is None or call is None or call.complete or not call.shown:
            return []
        call.use = replace(call.use, input=found[1])
        return self._send(render.partial(self._reporters.drawn(call.use)))

    def block_ended(self, lane: str | None, index: int) -> None:
        """`content_block_stop`."""
        self._inputs.end(lane, index)

    def message_edge(self, lane: str | None) -> None:
        """`message_start` or `message_stop`: no block of the lane streams any more."""
        self._inputs.clear(lane)

    def dispatched(self, use: ToolUse) -> Updates:
        """The complete input: what it adds, or the first report of a call that did not stream."""
        call = self._completed(use)
        if is_plan_tool(use.name):
            if call.planned:
                return []
            plan = self._plans.todos(call.use)
            call.planned = bool(plan)
            return plan
        if not call.shown:
            return self._show(call)
        return self._send(render.refinement(self._reporters.drawn(call.use), keep_text=call.keep_text))

    # ── permission ────────────────────────────────────────────────────────────

    def announced(self, use: ToolUse, preview: Content | None = None) -> Updates:
        """A permission request is about to name the call: shows it, if need be, and pins the preview.

        A plan tool is shown too. For a call that is shown already the request carries the preview.
        """
        call = self._open(use.call)
        if call is None or not call.complete:  # the input of an ask may lack what the message had (§7.5)
            call = self._completed(use)
        call.keep_text = _is_notice(preview)
        sent = [] if call.shown else self._show(call, preview)
        self._pin(call, preview)
        return sent

    def request_tool_call(
        self,
        use: ToolUse,
        preview: Content | None = None,
        blocked_path: str | None = None,
        mcp_server: Json | None = None,
        title: str | None = None,
    ) -> Update:
        """The `toolCall` of `session/request_permission`; it pins the preview that it carries.

        `blocked_path` and `title` (a host, a display name) are clean or None (`permissions` §3.1–3.2).
        """
        if known := self._calls.get(use.call):
            use = replace(use, parent=use.parent or known.use.parent)
            self._pin(known, preview)
        drawn = self._reporters.drawn(use)
        if title:
            drawn = replace(drawn, facts=replace(drawn.facts, title=title))
        return render.request(drawn, preview, blocked_path, mcp_server, keep_text=_is_notice(preview))

    def settled(self, call: str, status: str) -> Updates:
        """The answer to a request is all the end that a call without a result has."""
        return self._end(call, lambda drawn: render.status(drawn, status))

    # ── the run ───────────────────────────────────────────────────────────────

    def progressed(self, beat: ToolProgressed, target: str) -> Updates:
        """A beat; `target` is the call itself or, when that is not shown, its parent."""
        call = self._running(target)
        return self._send(render.progress(self._reporters.drawn(call.use), beat)) if call else []

    def hooked(self, hook: ToolHooked) -> Updates:
        """The PostToolUse hook of a call, before or after its result."""
        call = self._calls.get(hook.call)
        if call is None or not call.shown:
            return []
        drawn = self._reporters.drawn(call.use)
        report = render.hook(drawn, hook.response, self._reporters.change(call, hook))
        sent = self._send(report, replace_content=True) if report else []
        self._settle(call, "hook")
        return sent

    def returned(self, result: ToolReturned, status: str, *, backgrounded: bool = False) -> Updates:
        """The result, with the status the call ends with; `backgrounded` when its task is known to be.

        An error with the status `completed` is an accepted plan whose context was cleared (§6.6).
        """
        call = self._open(result.call)
        if call is None:
            return []
        sent = self._outcome(call, result, status, backgrounded=backgrounded)
        plan = self._plans.returned(call.use, result)
        if result.is_error or not call.shown:
            call.owed.discard("hook")  # a failed tool has none, and a plan tells nothing by it
        self._settle(call, "result")
        return sent + plan

    def background_ended(self, call: str) -> Updates:
        """The task of a backgrounded command ended, and with it the terminal it was shown in."""
        use = self._in_background.pop(call, None)
        return [render.late_exit(use)] if use else []

    def denied(self, denial: ToolDenied) -> Updates:
        """A rule or a mode refused the call; its error result follows."""
        call = self._running(denial.call)
        if call is None:
            return []
        return self._send(render.denial(self._reporters.drawn(call.use), denial), replace_content=True)

    def closed(self, call: str, text: str, status: str) -> Updates:
        """The call gets no result any more (§6.4)."""
        return self._end(call, lambda drawn: render.closing(drawn, text, status))

    def forget(self, call: str) -> None:
        """Its hook will not come any more, or its announcement could not be sent."""
        self._calls.pop(call, None)
        self._held.forget(call)

    def failed_launch(self, use: ToolUse, result: ToolReturned) -> Updates:
        """An Agent call, hidden behind its child session, failed before there was a child."""
        drawn = self._reporters.drawn(use)
        drawn = replace(drawn, facts=replace(drawn.facts, air={}))
        (end,) = render.outcome(drawn, Outcome(result, self._reporters.result(use, result), "failed"))
        return self._filtered([render.merged(render.opening(drawn, complete=True), end)])

    def memory_recalled(self, call: str, mode: str, memories: Sequence[Json]) -> Updates:
        """`system/memory_recall`, under an id that the caller gives it."""
        return self._filtered([render.memory_recall(call, mode, memories)])

    # ── plans ─────────────────────────────────────────────────────────────────

    def task_created(self, task: str, subject: str) -> Updates:
        """The TaskCreated hook."""
        return self._plans.created(task, subject)

    def task_completed(self, task: str) -> Updates:
        """The TaskCompleted hook."""
        return self._plans.completed(task)

    def plan_again(self) -> Updates:
        """A new prompt starts: tasks that are unfinished are shown once more."""
        return self._plans.again()

    def conversation_reset(self) -> None:
        """The conversation starts anew, without tasks."""
        self._plans.forget()

    # ── history ───────────────────────────────────────────────────────────────

    def replay_started(self) -> None:
        """History is told from its beginning."""
        self._replayed.clear()
        self._plans.forget()

    def replay_use(self, use: ToolUse) -> Updates:
        """A stored tool use: one report with the complete input (§10)."""
        self._replayed[use.call] = use
        if is_plan_tool(use.name):
            return self._plans.todos(use)
        return self._filtered([render.opening(self._reporters.drawn(use, live=False), complete=True)])

    def replay_result(self, result: ToolReturned) -> Updates:
        """A stored result, by its content alone; only AIR's rule for `_meta` leaves anything out."""
        use = self._replayed.pop(result.call, None)
        if use is None:
            return []
        stored = replace(result, structured=None, non_execution_kind=None, user_feedback=None)
        if is_plan_tool(use.name):
            return self._plans.returned(use, stored)
        drawn = self._reporters.drawn(use, live=False)
        status = "failed" if result.is_error else "completed"
        facts = self._reporters.result(use, stored)
        end = Outcome(stored, facts, status, backgrounded=_goes_on(drawn, stored))
        return self._filtered(render.outcome(drawn, end))

    # ── inside ────────────────────────────────────────────────────────────────

    def _open(self, call: str) -> _Call | None:
        """The call, unless it has its result: its id then starts a call of its own."""
        known = self._calls.get(call)
        return known if known and "result" in known.owed else None

    def _running(self, call: str) -> _Call | None:
        """The call, if the client sees it and waits for its end."""
        known = self._open(call)
        return known if known and known.shown else None

    def _completed(self, use: ToolUse) -> _Call:
        call = self._open(use.call) or _Call(use)
        call.use = use if use.parent else replace(use, parent=call.use.parent)
        call.complete = True
        self._calls[use.call] = call
        return call

    def _pin(self, call: _Call, preview: Content | None) -> None:
        call.keep_text = _is_notice(preview)
        if preview:
            self._held.pin(call.use.call, preview)

    def _show(self, call: _Call, preview: Content | None = None) -> Updates:
        call.shown = True
        opening = render.opening(
            self._reporters.drawn(call.use), complete=call.complete, preview=preview, keep_text=call.keep_text
        )
        return self._send(opening)

    def _outcome(self, call: _Call, result: ToolReturned, status: str, *, backgrounded: bool) -> Updates:
        if not call.shown:
            return []
        drawn = self._reporters.drawn(call.use)
        if is_plan_tool(call.use.name):
            return self._send(render.bare_outcome(drawn, result, status=status, rawOutput=result.content))
        if result.is_error and status == "completed":
            return self._send(render.bare_outcome(drawn, result, status=status))
        goes_on = _goes_on(drawn, result, known=backgrounded)
        later = goes_on and drawn.terminal and not self._client.air
        if later:
            self._in_background[call.use.call] = call.use
        end = Outcome(
            result, self._reporters.result(call.use, result), status, backgrounded=goes_on, ends_later=later
        )
        return self._send(*render.outcome(drawn, end), replace_content=True)

    def _settle(self, call: _Call, came: Literal["result", "hook"]) -> None:
        call.owed.discard(came)
        if not call.owed:
            self.forget(call.use.call)
        elif came == "result":
            self._late.append(call.use.call)
            if len(self._late) > _LATE_HOOKS and not self._open(oldest := self._late.popleft()):
                self.forget(oldest)

    def _end(self, call: str, report: Callable[[Drawn], Update]) -> Updates:
        known = self._running(call)
        sent = self._send(report(self._reporters.drawn(known.use)), replace_content=True) if known else []
        self.forget(call)
        return sent

    def _send(self, *updates: Update, replace_content: bool = False) -> Updates:
        reduced = (self._held.reduced(update, replace_content=replace_content) for update in updates)
        return self._filtered([update for update in reduced if update])

    def _filtered(self, updates: Updates) -> Updates:
        if not self._client.air:
            return updates
        return [sent for update in updates if (sent := self._sent_meta.reduced(update))]


def _is_notice(preview: Content | None) -> bool:
    """Whether a preview holds no change, only the notice that a file is overwritten."""
    return bool(preview) and all(item.get("type") != "diff" for item in preview or ())


def _goes_on(drawn: Drawn, result: ToolReturned, *, known: bool = False) -> bool:
    """Whether a command runs in the background; without a structured result its input tells."""
    if result.is_error or not drawn.facts.command:
        return False
    structured = mapping(result.structured)
    asked = drawn.use.input.get("run_in_background") is True and "stdout" not in structured
    return known or asked or bool(structured.get("backgroundTaskId"))
