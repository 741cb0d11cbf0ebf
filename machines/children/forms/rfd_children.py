"""Subagents as the public draft shows them: a session for each, over all that it is asked (M21)."""

from collections.abc import Collection

from machines.children.agents import Agent, end_of
from machines.children.child_outputs import ROOT, Place
from machines.children.delegations import Delegation, StoredAgent
from machines.children.forms.child import Child
from machines.children.forms.child_inputs import (
    Appear,
    AskOpened,
    AsksClosed,
    Delegate,
    Finish,
    Introduce,
    Labels,
    Lose,
    Rename,
    Repeat,
    Request,
    Restore,
    Spoke,
    Wake,
    Withdraw,
)
from machines.feed import Feed
from machines.tasks.task_events import TaskEnded
from machines.tools.calls import Calls
from machines.tools.tool_call import Occasion

RESTARTED = "worker_restart"


class RfdChildren:
    """Every subagent of one session."""

    hides_launches = False
    ends_at_cancel = False

    def __init__(self, feed: Feed, calls: Calls) -> None:
        self._feed = feed
        self._calls = calls
        self._children: dict[str, Child] = {}
        self._asking: set[str] = set()
        """Those with an open request: also one that is idle may have one, and be asked again."""

    def register(self, agent: Agent) -> None:
        """It began; its session is named by its own id, for good (INV-H2)."""
        self._children[agent.id] = Child(agent.id, *self._feed.listeners(f"Child:{agent.id}"))

    def restore(self, agent: Agent, stored: StoredAgent, *, shown: bool, at: int) -> None:
        """It is idle, in its session of before."""
        if agent.id not in self._children:
            self.register(agent)
        parent = self.place(agent.parent) if agent.parent is not None else ROOT
        known = Restore(parent, _labels(agent), tuple(agent.lanes), shown, stored.stop, stored.error)
        self._feed(self._children[agent.id], known)

    def is_shown(self, agent: Agent) -> bool:
        """The client knows it."""
        return self._children[agent.id].phase not in {"registered", "dormant", "withdrawn"}

    def repeat(self, agent: Agent) -> None:
        """Tell its state once more."""
        self._feed(self._children[agent.id], Repeat())

    def is_waiting(self, agent: Agent) -> bool:
        """It is not announced yet."""
        return self._children[agent.id].phase == "registered"

    def is_over(self, agent: Agent) -> bool:
        """No state is the last."""
        return False

    def place(self, agent: Agent) -> Place:
        """Its session."""
        return Place(agent.id)

    def announce(self, agent: Agent, parent: Place) -> None:
        """It runs; the call that started it stays a call of its parent."""
        self._introduce_above(agent)
        request = None
        if agent.start.call is not None and agent.prompt:
            request = Request(agent.start.call, agent.prompt, parent)
        child = self._children[agent.id]
        self._feed(child, Appear(parent, _labels(agent), tuple(agent.lanes), request))
        if agent.id in self._asking:
            self._feed(child, AskOpened())

    def rename(self, agent: Agent) -> None:
        """Tell what changed."""
        self._feed(self._children[agent.id], Rename(_labels(agent)))

    def delegate(self, agent: Agent, delegation: Delegation | None, text: str, sender: Place | None) -> None:
        """It runs again in its session."""
        self._introduce_above(agent)
        request = Request(delegation.call, text, sender) if delegation is not None else None
        again = Delegate(tuple(agent.lanes), request, agent.id in self._asking)
        self._feed(self._children[agent.id], again)

    def wake(self, agent: Agent, delegation: Delegation | None) -> None:
        """It runs; no reason is guessed."""
        self._introduce_above(agent)
        self._feed(self._children[agent.id], Wake(agent.id in self._asking))

    def ask(self, agent: Agent) -> None:
        """It waits for the user."""
        self._asking.add(agent.id)
        self._feed(self._children[agent.id], AskOpened())

    def close_asks(self, asking: Collection[str], *, withdrawn: bool) -> None:
        """Whoever is not among them waits no more."""
        for id in sorted(self._asking.difference(asking)):
            self._asking.discard(id)
            self._feed(self._children[id], AsksClosed(withdrawn))

    def speak(self, agent: Agent) -> None:
        """A cancel did not stop it."""
        self._feed(self._children[agent.id], Spoke())

    def finish(self, agent: Agent, event: TaskEnded) -> None:
        """It is idle; the calls of one that was stopped end right after (SA-056, SA-057)."""
        child = self._children[agent.id]
        if self.is_waiting(agent):
            self._feed(child, Withdraw(tuple(agent.lanes)))
            return
        self._feed(child, _finish(event))
        if end_of(event) == "cancelled":
            self._calls.close_of(agent.lanes, Occasion.CANCELLED)

    def cancel(self, agent: Agent) -> None:
        """Claude Code stops it and tells so (SA-050)."""

    def lose(self, agent: Agent, *, cancelled: bool) -> None:
        """It is idle, for no reason of its own."""
        child = self._children[agent.id]
        if self.is_waiting(agent):
            self._feed(child, Withdraw(tuple(agent.lanes)))
            return
        self._calls.close_of(agent.lanes, Occasion.CANCELLED if cancelled else Occasion.LOST)
        self._feed(child, Lose())

    def _introduce_above(self, agent: Agent) -> None:
        """Whoever it runs for, and was not told of here, comes first, the outermost before all (R.5)."""
        above: list[Agent] = []
        while agent.parent is not None and agent.parent not in above:
            agent = agent.parent
            above.append(agent)
        for each in reversed(above):
            if self._children[each.id].phase == "dormant":
                self._feed(self._children[each.id], Introduce())


def _finish(event: TaskEnded) -> Finish:
    if event.reason == RESTARTED:
        return Finish()
    match end_of(event):
        case "completed":
            return Finish("end_turn")
        case "cancelled":
            return Finish("cancelled")
        case "failed":
            return Finish("error", event.error or None)
        case "disconnected":
            return Finish(disconnected=True)


def _labels(agent: Agent) -> Labels:
    title = f"{agent.name} ({agent.role})" if agent.name and agent.role else agent.name or agent.role
    return Labels(title or None, agent.description or None)
