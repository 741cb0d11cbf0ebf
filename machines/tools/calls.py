"""The tool calls that the client was shown: who may appear, and who closes what (M8).

Open calls have a machine; of ended ones only their ids are kept, a bounded number.
"""

from collections.abc import Callable, Collection

from machines.events import (
    ToolDenied,
    ToolDispatched,
    ToolHooked,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    ToolUse,
)
from machines.feed import Feed
from machines.outputs import Ignored, ReportHook, ShowPlan, ShowPlanResult
from machines.tools.tool_call import Accept, Beat, Close, Input, Occasion, Refine, Show, ToolCall

PLAN_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})
"""They keep the plan and are shown as one, not as calls."""

REMEMBERED = 2048
"""How many ended calls may still get a late hook."""


class Calls:
    """Every tool call of one session."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._open: dict[str, ToolCall] = {}
        self._plans: dict[str, ToolUse] = {}
        self._ended: dict[str, bool] = {}  # call → a hook may still come
        self._dropped: set[str] = set()

    def __contains__(self, call: str) -> bool:
        return call in self._open

    def was_dropped(self, call: str) -> bool:
        """The client never saw it, since a cancel had stopped its work."""
        return call in self._dropped

    def is_over(self, call: str) -> bool:
        """It was dropped, or the client saw its end."""
        return self.was_dropped(call) or (call in self._ended and call not in self._open)

    def start(self, event: ToolStarted, *, admitted: bool) -> None:
        """A tool use begins to stream."""
        call, name = event.use.call, event.use.name
        if call in self._open or name in PLAN_TOOLS:
            return
        if not admitted:
            self._dropped.add(call)
            return
        self._show(event.use, streaming=True)

    def dispatch(self, event: ToolDispatched, *, admitted: bool) -> None:
        """A consolidated message holds the complete tool use."""
        call = event.use.call
        if not admitted:
            if call not in self._open:
                self._dropped.add(call)
            return
        if call in self._open:
            self._feed(self._open[call], Refine(event.use))
        elif call in self._ended or call in self._plans:
            self._feed.put(Ignored("ToolCall", "ended", event))
        elif event.use.name in PLAN_TOOLS:
            self._plans[call] = event.use
            self._feed.put(ShowPlan(event.use))
        else:
            self._show(event.use)

    def announce(self, use: ToolUse, ask: str) -> None:
        """A permission request is about to name it; plan tools too are shown for that."""
        self._plans.pop(use.call, None)
        if use.call not in self._open:
            self._show(use, ask=ask)

    def progress(self, event: ToolProgressed) -> None:
        """A beat of it, or of a call below it that the client does not know."""
        target = event.call if event.call in self._open else event.parent
        self._to_open(target, Beat(event), event)

    def hook(self, event: ToolHooked) -> None:
        """A hook told about it; after the result at most one still counts (INV-C5)."""
        if self._ended.get(event.call, False):
            self._ended[event.call] = False
            self._feed.tell(ReportHook(event))
        elif event.call not in self._plans:
            self._to_open(event.call, event, event)

    def deny(self, event: ToolDenied) -> None:
        """A rule refused it."""
        self._to_open(event.call, event, event)

    def finish(self, event: ToolReturned, *, accepted: bool = False) -> None:
        """Its result came; `accepted` says that an error stands for an approval."""
        use = self._plans.pop(event.call, None)
        if use is not None:
            self._feed.put(ShowPlanResult(use, event))
            return
        call = self._open.get(event.call)
        self._to_open(event.call, Accept(event) if accepted else event, event)
        if call is not None:
            self._ended[event.call] = not event.is_error and not call.hooked

    def close_all(self, occasion: Occasion, keep: Callable[[ToolUse], bool] = lambda _: False) -> bool:
        """Give every open call that is not kept its final status (M8.3).

        Returns whether one of the root's had been dispatched, so that its result is missing.
        """
        self._plans = {call: use for call, use in self._plans.items() if keep(use)}
        closing = [call for call in self._open.values() if not keep(call.use)]
        for call in closing:
            self._feed(call, Close(occasion))
            self._end(call.use.call)
        return any(call.dispatched and call.use.parent is None for call in closing)

    def close_of(self, lanes: Collection[str], occasion: Occasion) -> None:
        """Close the calls that one subagent made (INV-H8)."""
        for call in [call for call in self._open.values() if call.use.parent in lanes]:
            self._feed(call, Close(occasion))
            self._end(call.use.call)

    def close_abandoned(self, keep: Callable[[ToolUse], bool]) -> None:
        """Close the calls that never reached a complete message, but for those that are kept."""
        for call in [call for call in self._open.values() if not (call.dispatched or keep(call.use))]:
            self._feed(call, Close(Occasion.TURN_ENDED))
            self._end(call.use.call)

    def forget_dropped(self) -> None:
        """New work began: nothing of the stopped work is expected any more."""
        self._dropped.clear()
        self._plans.clear()

    def _show(self, use: ToolUse, *, streaming: bool = False, ask: str | None = None) -> None:
        self._ended.pop(use.call, None)
        call = ToolCall(use, *self._feed.listeners(f"ToolCall:{use.call}"))
        self._open[use.call] = call
        self._feed(call, Show(use, streaming, ask))

    def _to_open(self, call: str | None, event: Input, origin: object) -> None:
        machine = self._open.get(call) if call is not None else None
        if machine is None:
            self._feed.put(Ignored("ToolCall", "unknown", origin))
            return
        self._feed(machine, event)
        if machine.is_terminated:
            self._end(machine.use.call)

    def _end(self, call: str) -> None:
        del self._open[call]
        self._ended[call] = False
        while len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
