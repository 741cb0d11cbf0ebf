"""What Claude Code asks of us while it works: permissions, questions, hooks, and what each gets back."""

from collections.abc import Mapping

from anyio import to_thread

from bridge.live.asking import Asking, read_answer, read_form_answer
from bridge.live.host import Host
from bridge.live.process import Post, SessionProcess
from bridge.live.setup import Setup
from bridge.messages.hooks import read_hook
from bridge.messages.raw import mapping, text
from bridge.permissions import outcome, questions
from bridge.permissions.options import QUESTION, Situation, used_percent
from bridge.view.client import SessionClient
from bridge.view.configuration import Configuration
from bridge.view.screen import Screen
from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import Place

Request = Mapping[str, object]

_PATCHED = frozenset({"Edit", "Write"})


class Control:
    """Answers the control requests of one session's process."""

    def __init__(
        self,
        setup: Setup,
        host: Host,
        process: SessionProcess,
        client: SessionClient,
        screen: Screen,
        config: Configuration,
        post: Post,
    ) -> None:
        self._setup = setup
        self._host = host
        self._process = process
        self._client = client
        self._screen = screen
        self._config = config
        self._post = post
        self._asking = Asking(setup.client, setup.cwd, screen.reports)
        self.plan = ""
        """The approved plan that goes on in an empty conversation."""
        self.plan_mode: str | None = None
        """The mode in which it goes on, from when that conversation begins (M2.1)."""

    def asked(self, request_id: str, request: Request, *, in_turn: bool) -> e.Event | None:
        """A control request: an ask becomes an event, everything else is answered here."""
        match request.get("subtype"):
            case "can_use_tool" if request.get("tool_name") == QUESTION:
                return self._asked_question(request_id, request)
            case "can_use_tool":
                return self._asking.receive(request_id, request, self._situation(in_turn=in_turn))
            case "hook_callback":
                self._answer_hook(request_id, request)
            case "elicitation":
                form = self._asking.receive_form(request_id, request, self._setup.id, self._host.new_id())
                if form is not None:
                    return form
                self._process.reply(request_id, {"action": "cancel"})
            case "request_user_dialog":
                pass  # no kind of dialog was declared, and Claude Code expects no answer then
            case _:
                self._process.refuse(request_id, "Unsupported control request")
        return None

    def note_capabilities(self, listed: object) -> None:
        """What the process can read, of `system/init`."""
        known = isinstance(listed, list) and questions.UNANSWERED_CAPABILITY in listed
        self._asking.marks_unanswered = known

    def preview_of(self, ask: str | None) -> tuple[dict[str, object], ...] | None:
        """What the announcement of an ask's call shows."""
        return self._asking.preview_content(ask)

    # ── permissions and questions ──

    def prepare(self, output: o.PrepareAsk) -> None:
        """Read what a request has to show, if it has to show a file."""
        if self._asking.needs_preview(output.ask):
            self._host.tasks.start_soon(self._prepare, output.ask, name="preview")
        else:
            self._post(e.AskPrepared(output.ask))

    def ask_client(self, output: o.AskClient) -> None:
        """Send the request of an ask."""
        ask, session = output.ask, self._session(output.place)
        known = self._asking.ask(ask)
        if known is not None and session == self._setup.id:
            self._screen.routes.surface(known.use.call)
        self._asking.send(ask, self._client, session, lambda answer: self._post(read_answer(ask, answer)))

    def ask_form(self, output: o.AskForm) -> None:
        """Send a form."""
        ask, session = output.ask, self._session(output.place)
        self._asking.send_form(
            ask, self._client, session, lambda answer: self._post(read_form_answer(ask, answer))
        )

    def withdraw(self, output: o.WithdrawRequest) -> None:
        """Tell the client that nobody waits for its answer."""
        self._asking.withdraw(output.ask, self._client)

    def reply(self, output: o.ReplyAsk) -> None:
        """Reply what the option means; what follows from it is told first."""
        settled = self._asking.settle(output.ask, output.option, supports_auto=self._config.supports_auto)
        for follow_up in settled.follow_ups:
            match follow_up:
                case outcome.ModeChanged(mode):
                    self._config.mode_changed(mode)
                case outcome.CallEnded(call, status):
                    self._screen.send(self._screen.reports.settled(call, status))
                    self._post(e.ToolReturned(call, is_error=status == "failed"))
                case outcome.PlanStopped(call, mode, plan):
                    self._stop_plan(call, mode, plan)
                case outcome.AutoUnavailable():
                    self._screen.notices.warn_auto()
        self._send(output.ask, settled.reply)

    def reply_form(self, output: o.ReplyForm) -> None:
        """Reply what was filled in."""
        self._send(output.ask, self._asking.settle_form(output.ask, output.answer))

    def deny(self, output: o.DenyAsk) -> None:
        """Refuse what was never asked."""
        self._process.reply(output.ask, self._asking.deny(output.ask, output.text))

    def abort(self, output: o.AbortAsk) -> None:
        """Reply with an error."""
        self._asking.forget(output.ask)
        self._process.refuse(output.ask, output.text)

    def _session(self, place: Place) -> str:
        return self._screen.children.session(place)

    async def _prepare(self, ask: str) -> None:
        try:
            await self._asking.read_preview(ask)
        finally:
            self._post(e.AskPrepared(ask))

    def _asked_question(self, request_id: str, request: Request) -> e.Event | None:
        if not self._setup.client.elicitation_form:
            self._send(request_id, questions.not_presented())
            return None
        asked = self._asking.receive_question(request_id, request, self._setup.id)
        if asked is None:
            self._send(request_id, questions.no_valid_question())
        return asked

    def _stop_plan(self, call: str, mode: str | None, plan: str | None) -> None:
        """The turn will be interrupted; with a plan it goes on in that mode, in an empty conversation."""
        self.plan, self.plan_mode = plan or "", mode
        self._post(e.PlanStopped(call, afresh=plan is not None))

    def _send(self, ask: str, reply: outcome.Reply | outcome.Failure) -> None:
        match reply:
            case outcome.Reply(payload):
                self._process.reply(ask, payload)
            case outcome.Failure(message):
                self._process.refuse(ask, message)

    def _situation(self, *, in_turn: bool) -> Situation:
        usage = self._screen.usage
        return Situation(
            cwd=self._setup.cwd,
            home=self._host.home,
            modes=self._config.mode_ids,
            mode_before_plan=self._config.before_plan,
            context_used=used_percent(usage.used, usage.size),
            in_turn=in_turn,
        )

    # ── hooks ──

    def _answer_hook(self, request_id: str, request: Request) -> None:
        hook = read_hook(request)
        if hook is None:
            self._note_hook(request)
        elif isinstance(hook, e.ToolHooked) and self._setup.client.diff_patch and hook.name in _PATCHED:
            self._host.tasks.start_soon(self._patch_then_answer, request_id, hook, name="patch")
            return
        else:
            self._post(hook)
            if isinstance(hook, e.ToolHooked) and hook.name == "EnterPlanMode" and hook.agent is None:
                self._post(lambda: self._config.mode_changed("plan"))
        self._process.reply(request_id, {})

    def _note_hook(self, request: Request) -> None:
        """Hooks that no lifecycle waits for."""
        told = mapping(request, "input")
        task, subject = text(told, "task_id"), text(told, "task_subject")
        match told.get("hook_event_name"):
            case "TaskCreated":
                self._screen.send(self._screen.reports.task_created(task, subject))
            case "PostModelSwitch" if told.get("source") != "sdk":
                self._config.model_switched(text(told, "to_model"))
            case "TaskCompleted":
                self._screen.send(self._screen.reports.task_completed(task))

    async def _patch_then_answer(self, request_id: str, hook: e.ToolHooked) -> None:
        """Claude Code waits for the reply, so the result can't overtake the patch."""
        try:
            await to_thread.run_sync(self._screen.keep_change, hook)
        finally:
            self._post(hook)
            self._process.reply(request_id, {})
