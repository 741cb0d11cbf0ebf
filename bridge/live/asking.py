"""The requests of a session, permissions and questions: what each shows, what its answer tells Claude Code.

The lifecycle of an ask decides whether and when; this keeps what was offered until then.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anyio import to_thread

from bridge.capabilities import ClientCapabilities
from bridge.diffs.preview import Preview, preview
from bridge.peer import Answer
from bridge.permissions import outcome, questions
from bridge.permissions.ask import Ask, read_ask
from bridge.permissions.options import Offer, Situation, offer
from bridge.permissions.presentation import blocked_path, request_params, title_override
from bridge.tools.report import ToolReports
from bridge.view.client import SessionClient
from machines import events as e

Request = Mapping[str, object]
"""The inner object of a control request."""

_PREVIEWED = frozenset({"Edit", "Write"})


@dataclass(slots=True)
class _Open:
    offer: Offer
    preview: Preview | None = None
    request: int | None = None


@dataclass(slots=True)
class _Form:
    params: dict[str, object]
    question: tuple[Ask, tuple[questions.Question, ...]] | None = None
    """The model's question; without one it is a form of an MCP server."""
    request: int | None = None


class Asking:
    """Every ask that is not settled, by its control request id."""

    marks_unanswered = False
    """Claude Code understands which questions were left open."""

    def __init__(self, client: ClientCapabilities, cwd: str, reports: ToolReports) -> None:
        self._client = client
        self._cwd = cwd
        self._reports = reports
        self._open: dict[str, _Open] = {}
        self._forms: dict[str, _Form] = {}

    def receive(self, request_id: str, request: Request, situation: Situation) -> e.AskReceived:
        """Read an ask and fix what it offers."""
        ask = read_ask({"request_id": request_id, "request": request})
        offered = offer(ask, situation)
        self._open[request_id] = _Open(offered)
        return e.AskReceived(request_id, ask.use, offered.options(), ask.agent)

    def ask(self, ask: str) -> Ask | None:
        """What Claude Code asked."""
        entry = self._open.get(ask)
        return entry.offer.ask if entry is not None else None

    def needs_preview(self, ask: str) -> bool:
        """Whether a file has to be read before the request can be shown (TC-184)."""
        known = self.ask(ask)
        return self._client.diff_patch and known is not None and known.use.name in _PREVIEWED

    async def read_preview(self, ask: str) -> None:
        """Read it in a worker thread; a preview that can't be made counts as none (TC-180)."""
        entry = self._open[ask]
        use = entry.offer.ask.use
        entry.preview = await to_thread.run_sync(preview, use.name, use.input, self._cwd)

    def preview_content(self, ask: str | None) -> tuple[dict[str, object], ...] | None:
        """The content that the announcement of the call shows."""
        entry = self._open.get(ask) if ask is not None else None
        return entry.preview.content if entry is not None and entry.preview is not None else None

    def send(self, ask: str, client: SessionClient, session: str, answered: Callable[[Answer], None]) -> None:
        """Send the request."""
        entry = self._open[ask]
        known = entry.offer.ask
        tool_call = self._reports.request_tool_call(
            known.use,
            entry.preview.content if entry.preview is not None else None,
            blocked_path=blocked_path(known),
            mcp_server=known.mcp_server,
            title=title_override(known),
        )
        params = request_params(session, entry.offer, tool_call, self._client)
        entry.request = client.request("session/request_permission", params, answered)

    def receive_question(self, request_id: str, request: Request, session: str) -> e.FormReceived | None:
        """Read a question of the model; None when there is nothing that could be asked."""
        ask = read_ask({"request_id": request_id, "request": request})
        asked = questions.read_questions(ask)
        if not asked:
            return None
        params = questions.question_form(session, ask.use.call, asked, self._client)
        self._forms[request_id] = _Form(params, (ask, asked))
        return e.FormReceived(request_id, ask.use, ask.agent)

    def receive_form(
        self, request_id: str, request: Request, session: str, new_id: str
    ) -> e.FormReceived | None:
        """Read a form or a link of an MCP server; None when this client can't show it."""
        params = questions.mcp_form(session, request, self._client, new_id)
        if params is None:
            return None
        self._forms[request_id] = _Form(params)
        return e.FormReceived(request_id)

    def send_form(
        self, ask: str, client: SessionClient, session: str, answered: Callable[[Answer], None]
    ) -> None:
        """Send the form."""
        form = self._forms[ask]
        params = {**form.params, "sessionId": session}
        form.request = client.request("elicitation/create", params, answered)

    def settle_form(self, ask: str, answer: object) -> outcome.Reply | outcome.Failure:
        """What the client's answer tells Claude Code; None is an error of the client's."""
        form = self._forms.pop(ask)
        if form.question is None:
            return questions.mcp_reply(answer)
        if answer is None:
            return questions.not_presented()
        known, asked = form.question
        return questions.question_reply(known, asked, answer, marks_unanswered=self.marks_unanswered)

    def deny(self, ask: str, text: str) -> dict[str, object]:
        """The reply to an ask that is refused unasked."""
        form = self._forms.pop(ask, None)
        self._open.pop(ask, None)
        if form is not None and form.question is None:
            return {"action": "cancel"}
        return {"behavior": "deny", "message": text}

    def withdraw(self, ask: str, client: SessionClient) -> None:
        """Tell the client that nobody waits for its answer."""
        entry = self._open.get(ask) or self._forms.get(ask)
        if entry is not None and entry.request is not None:
            client.withdraw(entry.request)

    def settle(self, ask: str, option: str, *, supports_auto: bool) -> outcome.Outcome:
        """What the selected option does."""
        return outcome.answered(self._open.pop(ask).offer, option, auto_supported=supports_auto)

    def forget(self, ask: str) -> None:
        """It was settled in another way."""
        self._open.pop(ask, None)
        self._forms.pop(ask, None)


def read_form_answer(ask: str, answer: Answer) -> e.FormAnswered:
    """The client's answer to a form as an event."""
    action = answer.result.get("action") if answer.result is not None else None
    return e.FormAnswered(ask, action if isinstance(action, str) else None, answer.result)


def read_answer(ask: str, answer: Answer) -> e.AskAnswered:
    """The client's answer as an event; its error text goes on to Claude Code."""
    if answer.error is not None:
        return e.AskAnswered(ask, failure=answer.error[1])
    return e.AskAnswered(ask, outcome.selected_option(answer.result))
