"""Who may ask the user, where, and who waits for the answer (M9, M10, INV-X4)."""

from dataclasses import replace

from machines.events import AskAnswered, AskReceived, AskWithdrawn, FormAnswered, FormReceived
from machines.feed import Feed
from machines.outputs import AskClient, AskForm
from machines.permissions.asks import Asks
from machines.permissions.permission import Announce
from machines.tools.calls import Calls
from machines.turns.work import Work


class Requests:
    """The requests of one session between its work, its calls and its subagents."""

    def __init__(self, feed: Feed, work: Work, calls: Calls, asks: Asks) -> None:
        self._feed = feed
        self._work = work
        self._calls = calls
        self._asks = asks

    def receive(self, event: AskReceived) -> None:
        """Claude Code wants to use a tool; a call that only the request tells of is its subagent's."""
        lane = self._work.children.lane_of(event.agent)
        if lane is not None and event.use.parent is None:
            event = replace(event, use=replace(event.use, parent=lane))
        self._asks.receive(event, admitted=self._may_ask(event.agent, event.use.call))

    def receive_form(self, event: FormReceived) -> None:
        """Claude Code has a question."""
        call = event.use.call if event.use is not None else None
        self._asks.receive_form(event, admitted=self._may_ask(event.agent, call))
        self._work.sync_requests()

    def answer(self, event: AskAnswered | FormAnswered) -> None:
        """The client answered."""
        self._asks.answer(event, self._work.tasks.in_background)
        self._work.sync_requests()

    def withdraw(self, event: AskWithdrawn) -> None:
        """Claude Code does not wait any more."""
        self._asks.withdraw(event)
        self._work.sync_requests(withdrawn=not self._work.cancel.admits_new)

    def announce(self, signal: Announce) -> None:
        """A call has to be on the screen before the request that names it."""
        self._work.children.reveal(signal.use, signal.ask)
        self._calls.announce(signal.use, signal.ask)

    def ask(self, signal: AskClient | AskForm) -> None:
        """The request of a subagent goes to its session, which waits for the user from then on (SA-078).

        So does the work that waits for the subagent; that is told last (V2-034).
        """
        agent = self._asks.agent_of(signal.ask)
        self._work.children.ask(agent)
        self._work.sync_requests()
        self._feed.put(replace(signal, place=self._work.children.place_of(agent)))

    def _may_ask(self, agent: str | None, call: str | None) -> bool:
        """Work that a cancel stopped may not; a subagent that goes on in the background may."""
        if call is not None and self._calls.is_over(call):
            return False
        tasks = self._work.tasks
        goes_on = agent is not None and agent in tasks.by_id and tasks.in_background(agent)
        goes_on = goes_on and not self._work.children.is_over(self._work.children.lane_of(agent))
        return self._work.cancel.admits_new or goes_on
