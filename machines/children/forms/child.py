"""A subagent in the form of the public draft: one session for all that it is ever asked (M21).

1. It is announced in a session that is announced already, before anything of it (INV-H1, INV-H9).
2. No state is the last while the session lives: what is idle may run again, and may still tell of
   work that it left in the background.
3. Equal states are not told twice in a row; it waits for the user only while it runs (INV-H4).
4. `stopping`: a cancel withdrew its last request. The client sees `requires_action` until the end
   that follows, or until the subagent turns out to go on.
5. `unexplained`: it failed, and the text of the failure may still come.
6. What it is asked appears once (INV-H6).
7. `dormant`: it is of a stored conversation that the client was not told. It is announced when it
   runs again, or, without a state, when a subagent of it does (`introduced`).
"""

from dataclasses import replace
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.children.child_outputs import (
    ROOT,
    ChildState,
    ChildStop,
    ForgetChild,
    MessageChild,
    RouteChild,
    UpdateChild,
)
from machines.children.forms.child_inputs import (
    Appear,
    AskOpened,
    AsksClosed,
    Delegate,
    Finish,
    Input,
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
    dormant = State()
    introduced = State()
    withdrawn = State(final=True)

    appear = registered.to(running, on="announce")
    rename = (
        stay(running, "relabel")
        | stay(requires_action, "relabel")
        | stay(stopping, "relabel")
        | stay(idle, "relabel")
        | stay(unexplained, "relabel")
        | stay(unknown, "relabel")
        | stay(introduced, "relabel")
        | stay(registered)
        | stay(dormant)
    )
    delegate = (
        requires_action.from_(
            idle, unexplained, unknown, introduced, cond="asks", on=["report_asking", "take"]
        )
        | running.from_(idle, unexplained, unknown, introduced, on=["report_running", "take"])
        | dormant.to(requires_action, cond="asks", on=["appear_again", "report_asking", "take"])
        | dormant.to(running, on=["appear_again", "take"])
        | stay(running, "take")
        | stay(requires_action, "take")
        | stay(stopping, "take")
        | stay(registered)
    )
    wake = (
        requires_action.from_(idle, unexplained, unknown, introduced, cond="asks", on="report_asking")
        | running.from_(idle, unexplained, unknown, introduced, on="report_running")
        | dormant.to(requires_action, cond="asks", on=["appear_again", "route", "report_asking"])
        | dormant.to(running, on=["appear_again", "route"])
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
        | stay(dormant)
        | stay(introduced)
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
        | stay(dormant)
        | stay(introduced)
    )
    speak = (
        stopping.to(running, on="report_running")
        | stay(registered)
        | stay(running)
        | stay(requires_action)
        | stay(idle)
        | stay(unexplained)
        | stay(unknown)
        | stay(dormant)
        | stay(introduced)
    )
    finish = (
        unknown.from_(running, requires_action, stopping, cond="disconnects", on="report_unknown")
        | unexplained.from_(running, requires_action, stopping, cond="lacks_text", on="report_end")
        | idle.from_(running, requires_action, stopping, on="report_end")
        | unexplained.to(idle, cond="explains", on="report_end")
        | stay(unexplained)
        | stay(idle)
        | stay(unknown)
        | stay(dormant)
        | stay(introduced)
    )
    lose = (
        idle.from_(running, requires_action, stopping, on="report_loss")
        | stay(idle)
        | unexplained.to(idle)
        | stay(unknown)
        | stay(dormant)
        | stay(introduced)
    )
    withdraw = registered.to(withdrawn, on="forget")
    restore = (
        idle.from_(registered, dormant, introduced, cond="is_shown", on=["take_over", "route"])
        | registered.to(dormant, on="take_over")
        | stay(dormant)
        | stay(introduced)
        | stay(running)
        | stay(requires_action)
        | stay(stopping)
        | stay(idle)
        | stay(unexplained)
        | stay(unknown)
    )
    introduce = dormant.to(introduced, on=["present", "route"])
    repeat = (
        stay(running, "report_again")
        | stay(requires_action, "report_again")
        | stay(stopping, "report_again")
        | stay(idle, "report_again")
        | stay(unexplained, "report_again")
        | stay(unknown, "report_again")
        | stay(registered)
        | stay(dormant)
        | stay(introduced)
    )

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
        Restore: "restore",
        Introduce: "introduce",
        Repeat: "repeat",
    }

    def __init__(self, session: str, *listeners: object, start: str | None = None) -> None:
        self.session = session
        # None of these is a state: they say what was told, and what is to be told later.
        self.parent = ROOT
        self.labels = Labels()
        self.lanes: tuple[str, ...] = ()
        self.asked: set[str] = set()
        self.last: UpdateChild | None = None
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

    def is_shown(self, cause: Restore) -> bool:
        """The client knows it."""
        return cause.shown

    def announce(self, cause: Appear) -> None:
        """Tell its parent that it runs, itself what it is asked, then let its updates through."""
        self.parent, self.labels = cause.parent, cause.labels
        self._appear()
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

    def take_over(self, cause: Restore) -> None:
        """Remember what a client has been told of it, or will be."""
        self.parent, self.labels, self.lanes = cause.parent, cause.labels, cause.lanes
        self.last = UpdateChild(self.parent, self.session, None, None, "idle", cause.stop, cause.error)

    def route(self) -> None:
        """Let through what comes on its lanes of before."""
        self.put(RouteChild(self.session, self.lanes))

    def appear_again(self) -> None:
        """Tell its parent that it runs; nobody has told of it here."""
        self._appear()

    def present(self) -> None:
        """Tell its parent of it, and not what it does (R.5)."""
        self.put(UpdateChild(self.parent, self.session, self.labels.title, self.labels.description))

    def report_again(self) -> None:
        """Tell its state once more."""
        if self.last is not None:
            self.put(self.last)

    def _appear(self) -> None:
        self.last = UpdateChild(self.parent, self.session, state="running")
        self.put(replace(self.last, title=self.labels.title, description=self.labels.description))

    def _report(self, state: ChildState, stop: ChildStop | None = None, error: str | None = None) -> None:
        self.last = UpdateChild(self.parent, self.session, None, None, state, stop, error)
        self.put(self.last)

    def _ask(self, request: Request | None) -> None:
        if request is not None and request.text and request.call not in self.asked:
            self.asked.add(request.call)
            self.put(MessageChild(self.session, request.call, request.sender, request.text))
