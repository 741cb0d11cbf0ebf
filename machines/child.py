"""A subagent in the form of the public draft: one session for all that it is ever asked (M21).

1. It is announced in a session that is announced already, before anything of it (INV-H1, INV-H9).
2. No state is the last while the session lives: what is idle may run again, and may still tell of
   work that it left in the background.
3. Equal states are not told twice in a row; it waits for the user only while it runs (INV-H4).
4. `stopping`: a cancel withdrew its last request. The client sees `requires_action` until the end
   that follows, or until the subagent turns out to go on.
5. `unexplained`: it failed, and the text of the failure may still come.
6. What it is asked appears once (INV-H6).
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.child_outputs import (
    ROOT,
    ChildState,
    ChildStop,
    ForgetChild,
    MessageChild,
    Place,
    RouteChild,
    UpdateChild,
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What a subagent is called; None for what is not known."""

    title: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What it is asked to do, by the call that asks it."""

    call: str
    text: str
    sender: Place | None = None


@dataclass(frozen=True, slots=True)
class Appear:
    """It is known whose subagent it is."""

    parent: Place
    labels: Labels
    lanes: tuple[str, ...] = ()
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Rename:
    """More is known of what it is called."""

    labels: Labels


@dataclass(frozen=True, slots=True)
class Delegate:
    """It is asked again; `asking` when a request of it is open."""

    lanes: tuple[str, ...] = ()
    request: Request | None = None
    asking: bool = False


@dataclass(frozen=True, slots=True)
class Wake:
    """It runs, and nobody says what for."""

    asking: bool = False


@dataclass(frozen=True, slots=True)
class AskOpened:
    """It asks the user something."""


@dataclass(frozen=True, slots=True)
class AsksClosed:
    """The last of its requests ended."""

    withdrawn: bool = False
    """A cancel or the end of the process withdrew it."""


@dataclass(frozen=True, slots=True)
class Spoke:
    """It says something new."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What it was asked is over."""

    stop: ChildStop | None = None
    error: str | None = None
    disconnected: bool = False


@dataclass(frozen=True, slots=True)
class Lose:
    """The process that it ran in is gone."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """It ended, and whose subagent it was is not known: no parent is guessed."""

    lanes: tuple[str, ...] = ()


Input = Appear | Rename | Delegate | Wake | AskOpened | AsksClosed | Spoke | Finish | Lose | Withdraw


class Child(Lifecycle[Input, UpdateChild | MessageChild | RouteChild | ForgetChild]):
    """Lifecycle of one subagent, in the RFD form."""

    validate_final_reachability = False  # only one that was never announced ends (rule 2)

    registered = State(initial=True)
    running = State()
    requires_action = State()
    stopping = State()
    idle = State()
    unexplained = State()
    unknown = State()
    withdrawn = State(final=True)

    appear = registered.to(running, on="announce")
    rename = (
        stay(running, "relabel")
        | stay(requires_action, "relabel")
        | stay(stopping, "relabel")
        | stay(idle, "relabel")
        | stay(unexplained, "relabel")
        | stay(unknown, "relabel")
        | stay(registered)
    )
    delegate = (
        requires_action.from_(idle, unexplained, unknown, cond="asks", on=["report_asking", "take"])
        | running.from_(idle, unexplained, unknown, on=["report_running", "take"])
        | stay(running, "take")
        | stay(requires_action, "take")
        | stay(stopping, "take")
        | stay(registered)
    )
    wake = (
        requires_action.from_(idle, unexplained, unknown, cond="asks", on="report_asking")
        | running.from_(idle, unexplained, unknown, on="report_running")
        | stay(registered)
        | stay(running)
        | stay(requires_action)
        | stay(stopping)
    )
    open_ask = (
        running.to(requires_action, on="report_asking")
        | stopping.to(requires_action)
        | stay(requires_action)
        | stay(registered)
        | stay(idle)
        | stay(unexplained)
        | stay(unknown)
    )
    close_asks = (
        requires_action.to(stopping, cond="was_withdrawn")
        | requires_action.to(running, on="report_running")
        | stay(registered)
        | stay(running)
        | stay(stopping)
        | stay(idle)
        | stay(unexplained)
        | stay(unknown)
    )
    speak = (
        stopping.to(running, on="report_running")
        | stay(registered)
        | stay(running)
        | stay(requires_action)
        | stay(idle)
        | stay(unexplained)
        | stay(unknown)
    )
    finish = (
        unknown.from_(running, requires_action, stopping, cond="disconnects", on="report_unknown")
        | unexplained.from_(running, requires_action, stopping, cond="lacks_text", on="report_end")
        | idle.from_(running, requires_action, stopping, on="report_end")
        | unexplained.to(idle, cond="explains", on="report_end")
        | stay(unexplained)
        | stay(idle)
        | stay(unknown)
    )
    lose = (
        idle.from_(running, requires_action, stopping, on="report_loss")
        | stay(idle)
        | unexplained.to(idle)
        | stay(unknown)
    )
    withdraw = registered.to(withdrawn, on="forget")

    triggers: ClassVar[dict[type, str]] = {
        Appear: "appear",
        Rename: "rename",
        Delegate: "delegate",
        Wake: "wake",
        AskOpened: "open_ask",
        AsksClosed: "close_asks",
        Spoke: "speak",
        Finish: "finish",
        Lose: "lose",
        Withdraw: "withdraw",
    }

    def __init__(self, session: str, *listeners: object, start: str | None = None) -> None:
        self.session = session
        # None of these is a state: they only leave out what was told already.
        self.parent = ROOT
        self.labels = Labels()
        self.asked: set[str] = set()
        super().__init__(*listeners, start=start)

    def asks(self, cause: Delegate | Wake) -> bool:
        """It waits for the user from the beginning."""
        return cause.asking

    def was_withdrawn(self, cause: AsksClosed) -> bool:
        """No answer ended the request."""
        return cause.withdrawn

    def disconnects(self, cause: Finish) -> bool:
        """What became of it is not known."""
        return cause.disconnected

    def lacks_text(self, cause: Finish) -> bool:
        """It failed, and why is not told yet."""
        return cause.stop == "error" and not cause.error

    def explains(self, cause: Finish) -> bool:
        """The text of the failure."""
        return cause.stop == "error" and bool(cause.error)

    def announce(self, cause: Appear) -> None:
        """Tell its parent that it runs, itself what it is asked, then let its updates through."""
        self.parent, self.labels = cause.parent, cause.labels
        title, description = cause.labels.title, cause.labels.description
        self.put(UpdateChild(self.parent, self.session, title, description, "running"))
        self._ask(cause.request)
        self.put(RouteChild(self.session, cause.lanes))

    def relabel(self, cause: Rename) -> None:
        """Tell the labels that changed."""
        title, description = cause.labels.title, cause.labels.description
        title = title if title != self.labels.title else None
        description = description if description != self.labels.description else None
        if title or description:
            self.labels = Labels(title or self.labels.title, description or self.labels.description)
            self.put(UpdateChild(self.parent, self.session, title or None, description or None))

    def take(self, cause: Delegate) -> None:
        """Tell what it is asked now, and follow it on its new lane."""
        self._ask(cause.request)
        self.put(RouteChild(self.session, cause.lanes))

    def report_running(self) -> None:
        """It works."""
        self._report("running")

    def report_asking(self) -> None:
        """It waits for the user."""
        self._report("requires_action")

    def report_end(self, cause: Finish) -> None:
        """It is done with what it was asked."""
        self._report("idle", cause.stop, cause.error or None)

    def report_unknown(self) -> None:
        """Nobody knows what became of it."""
        self._report("unknown")

    def report_loss(self) -> None:
        """It stopped, for a reason that is not its own."""
        self._report("idle")

    def forget(self, cause: Withdraw) -> None:
        """Drop what waited for it."""
        self.put(ForgetChild(cause.lanes))

    def _report(self, state: ChildState, stop: ChildStop | None = None, error: str | None = None) -> None:
        self.put(UpdateChild(self.parent, self.session, None, None, state, stop, error))

    def _ask(self, request: Request | None) -> None:
        if request is not None and request.text and request.call not in self.asked:
            self.asked.add(request.call)
            self.put(MessageChild(self.session, request.call, request.sender, request.text))
