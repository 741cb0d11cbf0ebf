"""An approved plan that goes on in an empty conversation, within the turn that made it (M2.1)."""

from machines.events import Result
from machines.feed import Feed
from machines.outputs import ContinuePlan, Outcome, ShowResult
from machines.stops.plan_stop import PlanStop
from machines.stops.stops import Stops
from machines.turns.intake import Intake
from machines.turns.work import Work


class PlanRestart:
    """Leaves one conversation for the next."""

    def __init__(self, feed: Feed, work: Work, stops: Stops, intake: Intake) -> None:
        self._feed = feed
        self._work = work
        self._stops = stops
        self._intake = intake
        self.stop = PlanStop()
        """The answer to a plan that waits for its interruption."""

    def takes(self, result: Result) -> bool:
        """Whether the result is that interruption: the turn then waits for another process.

        Its usage and cost are told, and its words are not: it says that the turn was stopped.
        """
        restarts = self.stop.restarts(result)
        self.stop.end()
        active = self._work.turns.active
        if not restarts or active is None or self._work.cancel.in_effect:
            return False
        self._feed.put(ShowResult(result, Outcome("cancelled"), active.uuid))
        self._stops.replace(cancelled=True)
        self._work.begin_continuation(result)
        self._intake.take_back()
        return True

    def go_on(self) -> None:
        """The other process is there: the plan is its first message."""
        active = self._work.turns.active
        if active is not None:  # pragma: no branch - without it the restart was abandoned
            self._feed.put(ContinuePlan(active.uuid))
            self._intake.send_again(active)
