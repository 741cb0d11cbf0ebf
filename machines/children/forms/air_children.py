"""Subagents as AIR's draft shows them: a session for each generation, whose end is its last word (M20)."""

from collections.abc import Collection

from machines.children.agents import Agent, end_of
from machines.children.child_outputs import ROOT, ChildEnd, Place
from machines.children.delegations import Delegation, StoredAgent
from machines.children.forms.air_child import AirChild, Extend, Finish, Generation, Restore, Spawn
from machines.feed import Feed
from machines.tasks.task_events import TaskEnded
from machines.tools.calls import Calls
from machines.tools.tool_call import Occasion


class AirChildren:
    """Every generation of every subagent of one session."""

    hides_launches = True
    ends_at_cancel = True

    def __init__(self, feed: Feed, calls: Calls) -> None:
        self._feed = feed
        self._calls = calls
        self._latest: dict[str, AirChild] = {}
        self._numbers: dict[str, int] = {}

    def register(self, agent: Agent) -> None:
        """Its first generation; what it is called is known when it is announced."""
        self._begin(agent, "")

    def restore(self, agent: Agent, stored: StoredAgent, *, shown: bool, at: int) -> None:
        """Its next generation has a number that none of before had."""
        if agent.id not in self._latest:
            self.register(agent)
            self._numbers[agent.id] = max(at - 1, 1)
            self._feed(self._latest[agent.id], Restore())

    def is_shown(self, agent: Agent) -> bool:
        """The client knows it."""
        return not self.is_waiting(agent)

    def repeat(self, agent: Agent) -> None:
        """An end is told once."""

    def is_waiting(self, agent: Agent) -> bool:
        """It is not announced yet."""
        return self._latest[agent.id].phase == "registered"

    def is_over(self, agent: Agent) -> bool:
        """Its generation ended."""
        return bool(self._latest[agent.id].is_terminated)

    def place(self, agent: Agent) -> Place:
        """Its session, or that of the nearest ancestor that still runs (INV-H3)."""
        found: Agent | None = agent
        while found is not None:
            if not self.is_over(found):
                return Place(self._latest[found.id].generation.session)
            found = found.parent
        return ROOT

    def announce(self, agent: Agent, parent: Place) -> None:
        """Tell it with all that is known by now."""
        child = self._latest[agent.id]
        child.generation = _generation(child.generation.session, agent, agent.prompt)
        self._feed(child, Spawn(parent, tuple(agent.lanes)))

    def rename(self, agent: Agent) -> None:
        """The draft has no word for it."""

    def delegate(self, agent: Agent, delegation: Delegation | None, text: str, sender: Place | None) -> None:
        """A generation that ended is followed by another; one that runs goes on."""
        if self.is_over(agent):
            self._begin(agent, text)
            self._feed(self._latest[agent.id], Spawn(self._above(agent), tuple(agent.lanes)))
        else:
            self._feed(self._latest[agent.id], Extend(tuple(agent.lanes)))

    def wake(self, agent: Agent, delegation: Delegation | None) -> None:
        """The first sign of another generation."""
        if self.is_over(agent):
            self.delegate(agent, delegation, delegation.prompt if delegation is not None else "", None)

    def ask(self, agent: Agent) -> None:
        """The draft has no word for it."""

    def close_asks(self, asking: Collection[str], *, withdrawn: bool) -> None:
        """The draft has no word for it."""

    def speak(self, agent: Agent) -> None:
        """The draft has no word for it."""

    def finish(self, agent: Agent, event: TaskEnded) -> None:
        """It ended by itself, or somebody stopped it."""
        state = end_of(event)
        self._end(agent, state, Occasion.CANCELLED if state == "cancelled" else Occasion.TURN_ENDED)

    def cancel(self, agent: Agent) -> None:
        """A cancel ends every one that is shown (SA-024)."""
        if not self.is_waiting(agent):
            self._end(agent, "cancelled", Occasion.CANCELLED)

    def lose(self, agent: Agent, *, cancelled: bool) -> None:
        """Nobody is left to end it."""
        if cancelled:
            self._end(agent, "cancelled", Occasion.CANCELLED)
        else:
            self._end(agent, "failed", Occasion.LOST)

    def _end(self, agent: Agent, state: ChildEnd, occasion: Occasion) -> None:
        """Its calls first (decision 22); one that ends unannounced is told on the root after all."""
        if self.is_over(agent):
            return
        if self.is_waiting(agent):
            self.announce(agent, ROOT)
        self._calls.close_of(agent.lanes, occasion)
        self._feed(self._latest[agent.id], Finish(self._above(agent), state))

    def _above(self, agent: Agent) -> Place:
        return self.place(agent.parent) if agent.parent is not None else ROOT

    def _begin(self, agent: Agent, text: str) -> None:
        number = self._numbers[agent.id] = self._numbers.get(agent.id, 0) + 1
        session = agent.id if number == 1 else f"{agent.id}:generation:{number}"
        listeners = self._feed.listeners(f"AirChild:{session}")
        self._latest[agent.id] = AirChild(_generation(session, agent, text), *listeners)


def _generation(session: str, agent: Agent, prompt: str) -> Generation:
    name = agent.name or agent.description or agent.role or f"Agent {agent.id[-8:]}"
    task = prompt or agent.description or "Delegated task"
    return Generation(session, name, task, prompt or None)
