"""What a client is told beside the conversation: notices, or lines to a client without them (S§12.3)."""

from collections.abc import Callable, Mapping

from bridge.live.setup import Setup
from bridge.messages import items as f
from bridge.messages.stream import chunk
from bridge.permissions.modes import AUTO_UNAVAILABLE
from bridge.view.client import SessionClient
from bridge.view.session_info import incident_update, notice
from machines.companions.incident import Book
from machines.companions.session_reports import IncidentFacts, ReportIncident

Update = Mapping[str, object]

RESTARTED = "Claude Code was restarted"
SERVER_FAILED = "Its tools are unavailable in this session. Run /mcp for the error."
SERVER_NEEDS_AUTH = "Its tools are unavailable until the server is authenticated."


class Notices:
    """Tells each thing once, in the client's form."""

    def __init__(
        self, setup: Setup, client: SessionClient, new_id: Callable[[], str], book: Book | None
    ) -> None:
        self._setup = setup
        self._client = client
        self._new_id = new_id
        self._book = book
        self._informed: set[str] = set()
        self._warned_auto = False
        self._servers: set[str] = set()
        self._last = ""

    def begin_turn(self) -> None:
        """A turn became active."""
        self._last = ""

    def said(self, text: str) -> bool:
        """The text only repeats the last notice of the turn."""
        return bool(self._last) and " ".join(text.split()) == self._last

    def show_restart(self) -> None:
        """Tell, once a loss, that Claude Code was started again (M2.3)."""
        client = self._setup.client
        if client.notices:
            self._client.update({"sessionUpdate": "notice", "severity": "info", "title": RESTARTED})
        elif not client.session_failure:
            self.say(RESTARTED)

    def show_informed(self, item: f.Informed) -> None:
        """Something for the user to read (S§12.3)."""
        client = self._setup.client
        if item.call is not None and item.call in self._informed:
            return
        self._last = " ".join(item.text.split())
        if item.call is not None:
            self._informed.add(item.call)
        if client.notices and item.level == "info":
            return
        if client.notices:
            severity = "warning" if item.level == "warning" else "info"
            told = "Claude reported a warning" if severity == "warning" else "Claude reported a notice"
            self._client.update(notice(severity, item.text, told))
            return
        shown = item.text if item.level == "info" else f"**{item.level.capitalize()}:** {item.text}"
        meta = {"claudeCode": {"kind": "informational", "level": item.level}}
        self._client.update({**chunk("agent_message_chunk", shown, item.id), "_meta": meta})

    def show_fallback(self, item: f.ModelFellBack) -> None:
        """Claude Code went on with another model (SF-032, SF-043)."""
        self._last = " ".join(item.text.split())
        client = self._setup.client
        if client.notices:
            self._client.update(notice("warning", item.text, "Model fallback"))
        elif client.session_failure and self._book is not None:
            facts = IncidentFacts("unknown", "warning", " ".join(item.text.split()))
            id = self._book.notice_id(facts.title)
            self._client.update(incident_update(ReportIncident(id, self._book.revise(id), facts)))
        else:
            self.say(f"**Model fallback:** {item.text}")

    def warn_auto(self) -> None:
        """The model has no auto mode; told once a session (CF-023)."""
        if self._warned_auto:
            return
        self._warned_auto = True
        title, reason = AUTO_UNAVAILABLE
        self._notify("warning", title, reason[0].upper() + reason[1:], line=reason)

    def tell_fast_off(self, reason: str) -> None:
        """Claude Code turned fast mode off."""
        told = f"{reason[0].upper()}{reason[1:]}."
        self._notify("warning", "Fast mode turned off", told, line=f"{reason}.")

    def tell_task_stopped(self, title: str) -> None:
        """A task was stopped on the client's request (AT-038)."""
        self._notify("info", "Task stopped by user", f"{title}.")

    def note_server(self, name: str, status: str) -> None:
        """`system/init` lists a server; one of the client's that can't be used is told once a session."""
        if name not in self._setup.mcp_servers or name in self._servers:
            return
        meta = {"claudeCode": {"kind": "mcpServerStatus", "server": name, "status": status}}
        if status == "failed":
            title, then = f'MCP server "{name}" failed to start', SERVER_FAILED
            self._notify("warning", title, then, meta=meta)
        elif status == "needs-auth" and not self._setup.client.elicitation_url:
            title, then = f'MCP server "{name}" needs authentication', SERVER_NEEDS_AUTH
            self._notify("info", title, then, meta=meta)
        else:
            return
        self._servers.add(name)

    def _notify(
        self, severity: str, title: str, description: str, *, line: str = "", meta: Update | None = None
    ) -> None:
        """A notice, or to a client without notices a line of the conversation (SE-119)."""
        if self._setup.client.notices:
            self._client.update(
                {"sessionUpdate": "notice", "severity": severity, "title": title, "description": description}
            )
        else:
            self.say(f"**{title}:** {line or description}", meta)

    def say(self, text: str, meta: Update | None = None) -> None:
        """A line of the conversation, as a message of its own."""
        said = chunk("agent_message_chunk", text, self._new_id())
        self._client.update(said if meta is None else {**said, "_meta": meta})
