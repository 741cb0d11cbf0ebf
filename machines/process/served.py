"""The process that serves a session, or none: at most one lifecycle at a time (INV-S1)."""

from machines.feed import Feed
from machines.outputs import DropQuery, Ignored, RecreateQuery, ReplaceQuery, StartQuery, TellRecreated
from machines.process import query as q
from machines.turns.work import Work

Start = StartQuery | ReplaceQuery | RecreateQuery


class Served:
    """Follows the process of one session."""

    def __init__(self, feed: Feed, work: Work) -> None:
        self._feed = feed
        self._work = work
        self._query: q.Query | None = None
        self.to_recreate = False
        """Another process is to take up the conversation at the next quiet point."""

    @property
    def phase(self) -> str:
        """The state of the process; `none` without one."""
        return self._query.phase if self._query is not None else "none"

    @property
    def speaks(self) -> bool:
        """Its frames count (INV-Q2)."""
        return self.phase in {"streaming", "draining"}

    def recreate(self) -> None:
        """What a process starts with changed."""
        self.to_recreate = True

    def may_recreate(self, session: str) -> bool:
        """Whether the time has come; a session without a process takes what is new when it starts one."""
        if not self.to_recreate:
            return False
        if session in {"lost", "closing", "closed"}:
            self.to_recreate = False
            self._feed.put(TellRecreated())
            return False
        if session != "ready" or not self._work.is_quiet:
            return False
        self.to_recreate = False
        return True

    def begin(self, start: Start) -> None:
        """A process is started; a turn that goes on in it keeps what it used (M2.1)."""
        self._query = q.Query(*self._feed.listeners("Query"))
        match start:
            case StartQuery(resume):
                self._work.begin_process(resumed=resume)
            case RecreateQuery():
                self._work.begin_process(resumed=True)
            case ReplaceQuery():
                pass
        self._feed.put(start)

    def drop(self, signal: DropQuery) -> None:
        """A process that is not wanted any more."""
        self._query = None
        self._feed.put(signal)

    def forget(self) -> None:
        """It is gone."""
        self._query = None

    def tell(self, event: q.Input) -> None:
        """Something happened to it."""
        if self._query is None:
            self._feed.put(Ignored("Query", "none", event))
        else:
            self._feed(self._query, event)
