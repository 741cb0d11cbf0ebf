"""What tasks mean for the turns that wait for them, and for the subagents that run in them (B1, M4)."""

from machines.children.agents import end_of
from machines.children.delegations import resumed_agent
from machines.events import TaskEnded, TaskEvent, ToolReturned
from machines.feed import Feed
from machines.outputs import Ignored
from machines.permissions.asks import Asks
from machines.turns.work import Work


class Following:
    """Follows the tasks of the process, for whoever depends on them."""

    def __init__(self, feed: Feed, work: Work, asks: Asks) -> None:
        self._feed = feed
        self._work = work
        self._asks = asks

    def follow(self, event: TaskEvent) -> None:
        """Something happened to a task; whoever looks into the table sees one that ended still in it."""
        work = self._work
        if work.tasks.is_late(event):
            self._feed.put(Ignored("LiveTask", "late", event))
            return
        if isinstance(event, TaskEnded) and work.children.keeps_requests and end_of(event) == "cancelled":
            self._asks.cancel_of(event.task)
            work.sync_requests(withdrawn=True)
        work.children.follow(event)
        if work.tasks.take(event):
            work.turns.spawn(event.task)
        work.sync_requests()

    def note_resume(self, result: ToolReturned) -> None:
        """A message had a subagent run again; mostly its task has said so before (M21)."""
        work, agent = self._work, resumed_agent(result)
        if agent is not None and work.tasks.resume(agent, result.call):
            work.children.resume(agent, result.call)
            work.turns.spawn(agent)
