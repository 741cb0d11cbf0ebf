"""Subagents in sessions of their own, as updates: AIR's draft, and the public one (M20, M21).

ACP v2 tells a state also on the subagent's own stream; this is the place for that.
"""

from collections.abc import Callable

from bridge.children.routes import Routes, Update
from bridge.tools.report import ToolReports
from bridge.view.client import SessionClient
from machines.children import child_outputs as c
from wire.rpc import INTERNAL_ERROR


class ChildrenView:
    """Tells the client of the subagents of one session."""

    def __init__(
        self, root: str, client: SessionClient, routes: Routes, reports: Callable[[], ToolReports]
    ) -> None:
        self._root = root
        self._client = client
        self._routes = routes
        self._reports = reports

    def session(self, place: c.Place) -> str:
        """The id of the session that a place is."""
        return place.child or self._root

    def show(self, output: c.ChildOutput) -> None:
        """Carry out one output."""
        match output:
            case c.SpawnChild(parent):
                self._client.update_in(self.session(parent), spawned(output))
            case c.EndChild(parent, session):
                self._client.update_in(self.session(parent), ended(output))
                self._routes.close(session)
            case c.UpdateChild(parent):
                self._client.update_in(self.session(parent), updated(output))
            case c.MessageChild(session):
                self._client.update_in(session, self._message(output))
            case c.RouteChild(session, lanes):
                self._routes.open(session, lanes)
            case c.ForgetChild(lanes):
                self._routes.forget(lanes)
            case c.ShowFailedLaunch(use, result):
                self._routes.forget([use.call])
                for update in self._reports().failed_launch(use, result):
                    self._routes.update(update, use.parent)

    def _message(self, output: c.MessageChild) -> Update:
        """The child's own view of it alone: the caller has its tool call (decision 16)."""
        sender = {} if output.sender is None else {"senderSessionId": self.session(output.sender)}
        return {
            "sessionUpdate": "session_message",
            "messageId": output.message,
            **sender,
            "recipientSessionId": output.session,
            "content": [{"type": "text", "text": output.text}],
        }


def spawned(output: c.SpawnChild) -> Update:
    """AIR: a subagent begins; it cannot be cancelled or closed by itself (SA-025)."""
    prompt = {} if output.prompt is None else {"prompt": output.prompt}
    return {
        "sessionUpdate": "subagent_spawned",
        "subagentSessionId": output.session,
        "name": output.name,
        "task": output.task,
        **prompt,
        "capabilities": {},
    }


def ended(output: c.EndChild) -> Update:
    """AIR: it ended."""
    return {
        "sessionUpdate": "subagent_state_update",
        "subagentSessionId": output.session,
        "state": output.state,
    }


def updated(output: c.UpdateChild) -> Update:
    """RFD: what is new of a subagent, and nothing else."""
    labels = {"title": output.title, "description": output.description}
    known = {key: value for key, value in labels.items() if value is not None}
    state = {} if output.state is None else {"state": _state(output)}
    return {"sessionUpdate": "subagent_update", "sessionId": output.session, **known, **state}


def _state(output: c.UpdateChild) -> dict[str, object]:
    told: dict[str, object] = {"state": output.state}
    if output.stop is not None:
        told["stopReason"] = output.stop
    if output.error is not None:
        told["error"] = {"code": INTERNAL_ERROR, "message": output.error}
    return told
