"""The permission requests of a session: what each shows, and what its answer tells Claude Code.

The lifecycle of an ask decides whether and when; this keeps what was offered until then.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anyio import to_thread

from bridge.capabilities import ClientCapabilities
from bridge.diffs.preview import Preview, preview
from bridge.live.client import SessionClient
from bridge.peer import Answer
from bridge.permissions import outcome
from bridge.permissions.ask import Ask, read_ask
from bridge.permissions.options import Offer, Situation, offer
from bridge.permissions.presentation import blocked_path, request_params, title_override
from bridge.tools.report import ToolReports
from machines import events as e

_PREVIEWED = frozenset({"Edit", "Write"})


@dataclass(slots=True)
class _Open:
    offer: Offer
    preview: Preview | None = None
    request: int | None = None


class Asking:
    """Every ask that is not settled, by its control request id."""

    def __init__(self, client: ClientCapabilities, cwd: str, reports: ToolReports) -> None:
        self._client = client
        self._cwd = cwd
        self._reports = reports
        self._open: dict[str, _Open] = {}

    def receive(self, request_id: str, request: Mapping[str, object], situation: Situation) -> e.AskReceived:
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

    def withdraw(self, ask: str, client: SessionClient) -> None:
        """Tell the client that nobody waits for its answer."""
        entry = self._open.get(ask)
        if entry is not None and entry.request is not None:
            client.withdraw(entry.request)

    def settle(self, ask: str, option: str) -> outcome.Outcome:
        """What the selected option does."""
        return outcome.answered(self._open.pop(ask).offer, option)

    def forget(self, ask: str) -> None:
        """It was settled in another way."""
        self._open.pop(ask, None)


def read_answer(ask: str, answer: Answer) -> e.AskAnswered:
    """The client's answer as an event; its error text goes on to Claude Code."""
    if answer.error is not None:
        return e.AskAnswered(ask, failure=f"Error: {answer.error[1]}")
    return e.AskAnswered(ask, outcome.selected_option(answer.result))
