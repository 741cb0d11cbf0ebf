"""The open requests of a session, permissions and questions: each is settled once on both sides (M9, M10)."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from machines.events import AskAnswered, AskPrepared, AskReceived, AskWithdrawn, FormAnswered, FormReceived
from machines.feed import Feed
from machines.outputs import Ignored
from machines.permissions.elicitation import Elicitation
from machines.permissions.permission import CancelAsk, LoseAsk, Permission, Refuse

STOPPED = "The user cancelled this prompt."


class Asks:
    """Every unsettled ask of one session."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._asks: dict[str, Permission | Elicitation] = {}

    @property
    def any_open(self) -> bool:
        """The user is asked something."""
        return any(ask.phase == "open" for ask in self._asks.values())

    def asking(self) -> frozenset[str]:
        """The agents that have an open request."""
        agents = (ask.received.agent for ask in self._asks.values() if ask.phase == "open")
        return frozenset(agent for agent in agents if agent is not None)

    def agent_of(self, ask: str) -> str | None:
        """Who asks."""
        known = self._asks.get(ask)
        return known.received.agent if known is not None else None

    def blocks(self, in_background: Callable[[str | None], bool]) -> bool:
        """The foreground waits for an answer: of the root, or of a subagent that it waits for."""
        return any(
            ask.phase == "open" and not (ask.received.agent is not None and in_background(ask.received.agent))
            for ask in self._asks.values()
        )

    def receive(self, event: AskReceived, *, admitted: bool) -> None:
        """Claude Code asks; work that was stopped may not."""
        ask = Permission(event, *self._feed.listeners(f"Permission:{event.ask}"))
        self._asks[event.ask] = ask
        self._to(event.ask, event if admitted else Refuse(STOPPED))

    def receive_form(self, event: FormReceived, *, admitted: bool) -> None:
        """Claude Code has a question; work that was stopped may not ask."""
        ask = Elicitation(event, *self._feed.listeners(f"Elicitation:{event.ask}"))
        self._asks[event.ask] = ask
        self._to(event.ask, event if admitted else Refuse(STOPPED))

    def prepared(self, event: AskPrepared) -> None:
        """What it shows is known."""
        self._to(event.ask, event)

    def answer(self, event: AskAnswered | FormAnswered, in_background: Callable[[str | None], bool]) -> None:
        """The client answered; to a subagent in the background no answer is a refusal (decision 32)."""
        ask = self._asks.get(event.ask)
        if isinstance(ask, Permission) and isinstance(event, AskAnswered):
            unanswered = event.option is None and event.failure is None
            if unanswered and ask.received.agent is not None and in_background(ask.received.agent):
                declining = next((o.id for o in ask.received.options if not o.grants), None)
                event = replace(event, option=declining)
        self._to(event.ask, event)

    def withdraw(self, event: AskWithdrawn) -> None:
        """Claude Code does not wait any more."""
        self._to(event.ask, event)

    def cancel_all(self, keep: Collection[str] = ()) -> None:
        """A cancel stopped the work that asks, but for these agents (INV-X4)."""
        for ask, machine in tuple(self._asks.items()):
            if machine.received.agent not in keep:
                self._to(ask, CancelAsk())

    def cancel_of(self, agent: str) -> bool:
        """Somebody stopped the agent; whether it asked anything."""
        stopped = [ask for ask, machine in self._asks.items() if machine.received.agent == agent]
        for ask in stopped:
            self._to(ask, CancelAsk())
        return bool(stopped)

    def lose_all(self) -> None:
        """There is no process left to answer."""
        for ask in tuple(self._asks):
            self._to(ask, LoseAsk())

    def _to(self, ask: str, event: object) -> None:
        machine: Any = self._asks.get(ask)
        if machine is None:
            self._feed.put(Ignored("Permission", "unknown", event))
            return
        self._feed(machine, event)
        if machine.is_terminated:
            del self._asks[ask]
