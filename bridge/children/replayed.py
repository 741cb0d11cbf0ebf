"""The subagents of a stored conversation, in the client's form (R.3, R.4, `sessions` §8.4)."""

from bridge.capabilities import ClientCapabilities
from bridge.children.routes import Routes, Update
from bridge.children.stored import STOPS, outcome, title_of
from bridge.children.view import ChildrenView
from bridge.messages.stream import chunk
from bridge.sessions.replay import items as i
from bridge.sessions.replay.delegated import Delegated
from bridge.sessions.replay.told import Launched
from machines.children import child_outputs as c
from machines.children.delegations import Delegation

_UNNAMED = "Restored agent"
_UNDESCRIBED = "Delegated task restored from session history"


class ReplayedChildren:
    """Tells of each when its launch is told, and how all of them ended behind everything else."""

    def __init__(
        self,
        root: str,
        client: ClientCapabilities,
        view: ChildrenView,
        routes: Routes,
        delegated: Delegated,
    ) -> None:
        self._root = root
        self._form = client.subagent_form
        self._notices = client.notices
        self._view = view
        self._routes = routes
        self._delegated = delegated
        self._shown: dict[str, tuple[Delegation, c.Place]] = {}  # by launch, with the place of the parent
        self._unsent = {each.agent_id: delegated.asked(each) for each in delegated.subagents.values()}

    def hides(self, call: str) -> bool:
        """AIR sees the subagent in place of its launch; a launch that failed started none."""
        if self._form != "air" or call not in self._delegated.launches:
            return False
        result = self._delegated.results.get(call)
        return call in self._delegated.subagents or result is None or not result.is_error

    def is_close(self, lane: str) -> bool:
        """The subagent of the lane is the root's own."""
        return self._delegated.launches[lane].lane is None

    def begin(self, launched: Launched) -> None:
        """Announce the subagent of a launch, in the session of whoever made the call."""
        launch, subagent = launched.launch, launched.subagent
        parent = self._place(launch.lane)
        if self.hides(launch.call):
            session = self._session(launch.call)
            name = launch.name or launch.description or launch.role or _UNNAMED
            task = launch.prompt or launch.description or _UNDESCRIBED
            self._view.show(c.SpawnChild(parent, session, name, task))
        elif self._form == "rfd" and subagent is not None:
            session = subagent.agent_id
            title, description = title_of(launch, subagent), launch.description or subagent.description
            self._view.show(c.UpdateChild(parent, session, title, description, "running"))
            if launch.prompt:
                self._view.show(c.MessageChild(session, launch.call, parent, launch.prompt))
        else:
            return
        self._view.show(c.RouteChild(session, (launch.call,)))
        self._shown[launch.call] = (launch, parent)

    def user_text(self, item: i.UserText, lane: str) -> None:
        """Words of the user in its transcript; the public draft has messages instead."""
        if self._form == "air":
            self._routes.update(chunk("user_message_chunk", item.text, item.message_id, lane), lane)

    def asked(self, item: i.Asked, lane: str) -> None:
        """A message to it, in the words of the call that sent it."""
        subagent = self._delegated.subagents[lane]
        unsent = self._unsent[subagent.agent_id]
        sent = next((each for each in unsent if each.prompt and each.prompt in item.text), None)
        if sent is not None:
            unsent.remove(sent)
        text = sent.prompt if sent is not None else item.text
        if self._form == "air":
            self._routes.update(chunk("user_message_chunk", text, item.message_id, lane), lane)
        elif self._form == "rfd":
            message = sent.call if sent is not None else item.message_id
            sender = self._place(sent.lane) if sent is not None else None
            self._view.show(c.MessageChild(subagent.agent_id, message, sender, text))

    def end(self) -> None:
        """Tell how each ended, whoever began last first (INV-Y3), and what is missing."""
        for launch, parent in reversed(self._shown.values()):
            state, error = outcome(self._delegated, launch)
            session = self._session(launch.call)
            if self._form == "air":
                self._view.show(c.EndChild(parent, session, state or "disconnected"))
            else:
                stop = STOPS[state] if state is not None else None
                self._view.show(c.UpdateChild(parent, session, None, None, "idle", stop, error))
        if self._form == "rfd" and self._notices and self._delegated.missing:
            self._routes.update(_missing(self._delegated.missing))

    def _place(self, lane: str | None) -> c.Place:
        return c.Place(self._session(lane)) if lane is not None and lane in self._shown else c.ROOT

    def _session(self, launch: str) -> str:
        if self._form == "air":
            return f"{self._root}:replay-subagent:{launch}"
        return self._delegated.subagents[launch].agent_id


def _missing(count: int) -> Update:
    """One word for all of them (SA-094)."""
    what = "subagent" if count == 1 else "subagents"
    return {
        "sessionUpdate": "notice",
        "severity": "info",
        "title": "Some subagent history is not available",
        "description": f"The history of {count} {what} of this session could not be restored.",
    }
