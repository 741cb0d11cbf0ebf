"""What the outputs of a session do: answers and updates at once, all else as effects that end as events."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from bridge.live.asking import Asking, read_answer, read_form_answer
from bridge.live.client import SessionClient
from bridge.live.failures import open_error, prompt_error
from bridge.live.modes import Modes
from bridge.live.process import Post, Reply, SessionProcess
from bridge.live.screen import Screen
from bridge.live.setup import Setup, launch
from bridge.messages import frames as f
from bridge.messages.prompts import claude_content
from bridge.messages.stream import MessageStream
from bridge.messages.usage import prompt_usage
from bridge.peer import Inbound
from bridge.permissions import outcome, questions
from bridge.permissions.options import QUESTION, Situation, used_percent
from machines import events as e
from machines import outputs as o
from machines.conversation import Conversation
from wire import rpc

if TYPE_CHECKING:
    from bridge.live.session import Host

_PATCHED = frozenset({"Edit", "Write"})


class Performer:
    """Carries out the outputs of one session, in their order."""

    def __init__(
        self,
        setup: Setup,
        host: "Host",
        process: SessionProcess,
        stream: MessageStream,
        conversation: Conversation,
        post: Post,
    ) -> None:
        self._setup = setup
        self._host = host
        self._post = post
        self._conversation = conversation
        self.process = process
        self._client = SessionClient(host.peer, setup.id)
        self.screen = Screen(setup, host.home, self._client, stream, conversation, host.new_id)
        self.modes = Modes(setup, self._client)
        self._asking = Asking(setup.client, setup.cwd, self.screen.reports)
        self._claude_id = setup.id
        self.opening: Inbound | None = None
        self.closing: list[Inbound] = []
        self.prompts: dict[str, tuple[Inbound, Sequence[Mapping[str, object]]]] = {}
        self.changes: dict[str, tuple[Inbound, str]] = {}
        self.closed = False

    def perform(self, output: o.Output) -> None:
        """Do what the output says."""
        _PERFORM[type(output)](self, output)

    # ── what the session is asked by Claude Code ──

    def asked(self, request_id: str, request: Mapping[str, object]) -> e.Event | None:
        """A control request: an ask becomes an event, everything else is answered here."""
        match request.get("subtype"):
            case "can_use_tool" if request.get("tool_name") == QUESTION:
                return self._asked_question(request_id, request)
            case "can_use_tool":
                return self._asking.receive(request_id, request, self._situation())
            case "hook_callback":
                self._answer_hook(request_id, request)
            case "elicitation":
                form = self._asking.receive_form(request_id, request, self._setup.id, self._host.new_id())
                if form is not None:
                    return form
                self.process.reply(request_id, {"action": "cancel"})
            case "request_user_dialog":
                pass  # no kind of dialog was declared, and Claude Code expects no answer then
            case _:
                self.process.refuse(request_id, "Unsupported control request")
        return None

    def _asked_question(self, request_id: str, request: Mapping[str, object]) -> e.Event | None:
        if not self._setup.client.elicitation_form:
            self._reply(request_id, questions.not_presented())
            return None
        asked = self._asking.receive_question(request_id, request, self._setup.id)
        if asked is None:
            self._reply(request_id, questions.no_valid_question())
        return asked

    def note(self, fact: f.Fact) -> None:
        """Something that no lifecycle waits for."""
        match fact:
            case f.Content():
                self.screen.content(fact)
            case f.UsageRead():
                self.screen.read_usage(fact)
            case f.CommandsListed(commands):
                self.screen.list_commands(commands)
            case f.Initialized():
                self.screen.note_init(fact)
                listed = fact.raw.get("capabilities")
                self._asking.marks_unanswered = isinstance(listed, list) and (
                    questions.UNANSWERED_CAPABILITY in listed
                )
            case f.ModeReported(mode):
                self.modes.reported(mode)
            case f.ConversationReset(new_id):
                self._claude_id = new_id or self._claude_id
                self.screen.usage.clear()
            case f.Replied(response):
                self.process.replied(response)
            case f.Asked():
                pass  # `asked` answers it

    def _answer_hook(self, request_id: str, request: Mapping[str, object]) -> None:
        hook = f.read_hook(request)
        if hook is not None and self._setup.client.diff_patch and hook.name in _PATCHED:
            self._host.tasks.start_soon(self._patch_then_answer, request_id, hook, name="patch")
            return
        if hook is not None:
            self._post(hook)
        self.process.reply(request_id, {})

    async def _patch_then_answer(self, request_id: str, hook: e.ToolHooked) -> None:
        """Claude Code waits for the reply, so the result can't overtake the patch."""
        try:
            await to_thread.run_sync(self.screen.keep_change, hook)
        finally:
            self._post(hook)
            self.process.reply(request_id, {})

    def _situation(self) -> Situation:
        usage = self.screen.usage
        return Situation(
            cwd=self._setup.cwd,
            home=self._host.home,
            modes=self.modes.ids,
            mode_before_plan=self.modes.before_plan,
            context_used=used_percent(usage.used, usage.size),
            in_turn=self._conversation.active_turn is not None,
        )

    # ── the process ──

    def _start_query(self, output: o.StartQuery) -> None:
        self.process.start(
            launch(
                self._setup,
                claude_id=self._claude_id,
                mode=self.modes.current,
                resume=output.resume,
            )
        )

    def _send_prompt(self, output: o.SendPrompt) -> None:
        self.screen.plan_again()
        _, blocks = self.prompts[output.turn]
        self.process.send(
            {
                "type": "user",
                "message": {"role": "user", "content": claude_content(blocks)},
                "parent_tool_use_id": None,
                "session_id": self._claude_id,
                "uuid": output.turn,
                "origin": {"kind": "human"},
            }
        )

    # ── answers ──

    def _answer_open(self, _: o.AnswerOpen) -> None:
        if self.opening is not None:
            self.opening.respond({"sessionId": self._setup.id, "modes": self.modes.state()})
            self.opening = None
        self.screen.list_commands(self.process.info.get("commands"))
        self._learn_window()

    def _refuse_open(self, output: o.RefuseOpen) -> None:
        if self.opening is not None:
            self.opening.fail(*open_error(output.kind, output.text, self._setup.id))
            self.opening = None
        self.closed = True

    def _answer_prompt(self, output: o.AnswerPrompt) -> None:
        inbound, _ = self.prompts.pop(output.turn)
        failure = output.outcome.failure
        if failure is not None:
            inbound.fail(*prompt_error(failure))
            return
        inbound.respond({"stopReason": output.outcome.stop_reason, **prompt_usage(output.usage)})

    def _answer_close(self, _: o.AnswerClose) -> None:
        if self.opening is not None:
            self.opening.fail(rpc.REQUEST_CANCELLED, "Request cancelled")
            self.opening = None
        for inbound in self.closing:
            inbound.respond({})
        self.closing.clear()
        self.closed = True

    # ── permissions ──

    def _prepare_ask(self, output: o.PrepareAsk) -> None:
        if self._asking.needs_preview(output.ask):
            self._host.tasks.start_soon(self._prepare, output.ask, name="preview")
        else:
            self._post(e.AskPrepared(output.ask))

    async def _prepare(self, ask: str) -> None:
        try:
            await self._asking.read_preview(ask)
        finally:
            self._post(e.AskPrepared(ask))

    def _ask_client(self, output: o.AskClient) -> None:
        ask = output.ask
        self._asking.send(
            ask, self._client, self._setup.id, lambda answer: self._post(read_answer(ask, answer))
        )

    def _reply_ask(self, output: o.ReplyAsk) -> None:
        settled = self._asking.settle(output.ask, output.option)
        for follow_up in settled.follow_ups:
            match follow_up:
                case outcome.ModeChanged(mode):
                    self.modes.changed(mode)
                case outcome.CallEnded(call, status):
                    for update in self.screen.reports.settled(call, status):
                        self._client.update(update)
                case outcome.AutoUnavailable() | outcome.PlanStopped():
                    pass
        self._reply(output.ask, settled.reply)

    def _reply(self, ask: str, reply: outcome.Reply | outcome.Failure) -> None:
        match reply:
            case outcome.Reply(payload):
                self.process.reply(ask, payload)
            case outcome.Failure(message):
                self.process.refuse(ask, message)

    def _ask_form(self, output: o.AskForm) -> None:
        ask = output.ask
        self._asking.send_form(ask, self._client, lambda answer: self._post(read_form_answer(ask, answer)))

    def _reply_form(self, output: o.ReplyForm) -> None:
        self._reply(output.ask, self._asking.settle_form(output.ask, output.answer))

    def _deny_ask(self, output: o.DenyAsk) -> None:
        self.process.reply(output.ask, self._asking.deny(output.ask, output.text))

    def _abort_ask(self, output: o.AbortAsk) -> None:
        self._asking.forget(output.ask)
        self.process.refuse(output.ask, output.text)

    # ── changes of the session ──

    def _apply_change(self, output: o.ApplyChange) -> None:
        inbound, mode = self.changes.pop(output.change)

        def replied(reply: Reply) -> None:
            if isinstance(reply, Exception):
                self.modes.applying = None
                inbound.fail(rpc.INTERNAL_ERROR, f"Internal error: {reply}")
            else:
                self.modes.set(mode)
                inbound.respond({})
            self._post(e.ChangeFinished(output.change))

        self.modes.applying = mode
        self.process.request("set_permission_mode", replied, mode=mode)

    def _fail_change(self, output: o.FailChange) -> None:
        inbound, _ = self.changes.pop(output.change)
        inbound.fail(*prompt_error(output.failure))

    def _learn_window(self) -> None:
        """Claude Code's own estimate of the window, until a result tells it; nobody waits for it."""

        def replied(reply: Reply) -> None:
            if isinstance(reply, Mapping):
                self.screen.usage.suggest(reply.get("rawMaxTokens"))

        self.process.request("get_context_usage", replied, detail="summary")


_Perform = Callable[[Performer, Any], object]

_PERFORM: Mapping[type, _Perform] = {
    o.AnswerOpen: Performer._answer_open,
    o.RefuseOpen: Performer._refuse_open,
    o.AnswerPrompt: Performer._answer_prompt,
    o.AnswerClose: Performer._answer_close,
    o.ShowCall: lambda p, x: p.screen.show_call(x, p._asking.preview_content(x.ask)),
    o.RefineCall: lambda p, x: p.screen.refine_call(x),
    o.ReportProgress: lambda p, x: p.screen.report_progress(x),
    o.ReportHook: lambda p, x: p.screen.report_hook(x),
    o.ReturnCall: lambda p, x: p.screen.return_call(x),
    o.DenyCall: lambda p, x: p.screen.deny_call(x),
    o.CloseCall: lambda p, x: p.screen.close_call(x),
    o.ShowPlan: lambda p, x: p.screen.refine_call(x),
    o.ShowPlanResult: lambda p, x: p.screen.show_plan_result(x),
    o.ShowResult: lambda p, x: p.screen.show_result(x),
    o.AskClient: Performer._ask_client,
    o.WithdrawRequest: lambda p, x: p._asking.withdraw(x.ask, p._client),
    o.TellRestarted: lambda p, _: p.screen.show_restart(),
    o.ReportLoss: lambda _, __: None,  # clients without failure records hear of it at the next prompt
    o.ReportWork: lambda _, __: None,  # ACP v1 has no word for it
    o.StartQuery: Performer._start_query,
    o.StopQuery: lambda p, _: p.process.stop(),
    o.SendPrompt: Performer._send_prompt,
    o.Interrupt: lambda p, x: p.process.request("interrupt", cancel_queued=x.cancel_queued),
    o.CancelMessage: lambda p, x: p.process.request("cancel_async_message", message_uuid=x.uuid),
    o.PrepareAsk: Performer._prepare_ask,
    o.ReplyAsk: Performer._reply_ask,
    o.DenyAsk: Performer._deny_ask,
    o.AbortAsk: Performer._abort_ask,
    o.AskForm: Performer._ask_form,
    o.ReplyForm: Performer._reply_form,
    o.ApplyChange: Performer._apply_change,
    o.FailChange: Performer._fail_change,
    o.StartTimer: lambda p, x: p.process.start_timer(x.timer),
    o.StopTimer: lambda p, x: p.process.stop_timer(x.timer),
}
"""Every output has its entry; a test compares this with the closed set."""
