"""The status of one tool call that the client was shown (M8).

1. The first report is the call itself, before any update or request that names it (INV-C1).
2. It gets exactly one final status and none after it (INV-C2).
3. `denied` already bears the final status `failed`; its error result is still to come and
   brings content alone.
4. A call without a result is closed by whoever ends its work; the text says how far it got.
"""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolReturned, ToolUse
from machines.outputs import CloseCall, DenyCall, RefineCall, ReportHook, ReportProgress, ReturnCall, ShowCall

ABANDONED = "Claude stopped this tool call before it ran."
CANCELLED = "The turn was cancelled before this tool call returned a result."
STUCK = "Claude ended the turn without returning a result for this tool."


class Occasion(Enum):
    """What ended the work that a call belongs to (M8.3)."""

    TURN_ENDED = "turn_ended"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Show:
    """The client is to see it."""

    use: ToolUse
    streaming: bool = False
    ask: str | None = None


@dataclass(frozen=True, slots=True)
class Refine:
    """A consolidated message holds it, or a permission was asked: it was dispatched."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class Beat:
    """It runs; the beat is its own or of a call below it."""

    progress: ToolProgressed


@dataclass(frozen=True, slots=True)
class Close:
    """Its work ended without a result for it."""

    occasion: Occasion


@dataclass(frozen=True, slots=True)
class Accept:
    """Its error result hides an approval: the plan goes on elsewhere (M2.1)."""

    result: ToolReturned


Input = Accept | Show | Refine | Beat | ToolHooked | ToolReturned | ToolDenied | Close
Signal = ShowCall | RefineCall | ReportProgress | ReportHook | ReturnCall | DenyCall | CloseCall


class ToolCall(Lifecycle[Input, Signal]):
    """Lifecycle of one tool call."""

    pending = State(initial=True)
    in_progress = State()
    denied = State()
    completed = State(final=True)
    failed = State(final=True)

    show = stay(pending, "show_call")
    refine = stay(pending, "refine_call") | stay(in_progress, "refine_call") | stay(denied)
    beat = pending.to(in_progress, on="report_progress") | stay(in_progress, "report_progress") | stay(denied)
    hook = stay(pending, "report_hook") | stay(in_progress, "report_hook") | stay(denied)
    deny = denied.from_(pending, in_progress, on="deny_call") | stay(denied)
    returns = (
        completed.from_(pending, in_progress, unless="is_error", on="complete_call")
        | failed.from_(pending, in_progress, cond="is_error", on="fail_call")
        | denied.to(failed, on="fail_call")
    )
    accept = completed.from_(pending, in_progress, on="accept_call") | denied.to(failed)
    close = failed.from_(pending, in_progress, on="close_call") | denied.to(failed)

    triggers: ClassVar[dict[type, str]] = {
        Show: "show",
        Refine: "refine",
        Beat: "beat",
        ToolHooked: "hook",
        ToolDenied: "deny",
        ToolReturned: "returns",
        Accept: "accept",
        Close: "close",
    }

    def __init__(self, use: ToolUse, *listeners: object, start: str | None = None) -> None:
        self.use = use
        # Neither is a state: they only pick the text of a closing and refuse a second hook,
        # in every state alike.
        self.dispatched = False
        self.hooked = False
        super().__init__(*listeners, start=start)

    def is_error(self, cause: ToolReturned) -> bool:
        """The result is an error."""
        return cause.is_error

    def show_call(self, cause: Show) -> None:
        """Report it for the first time."""
        self.dispatched = not cause.streaming
        self.put(ShowCall(cause.use, cause.streaming, cause.ask))

    def refine_call(self, cause: Refine) -> None:
        """Report its complete input."""
        self.use, self.dispatched = cause.use, True
        self.put(RefineCall(cause.use))

    def report_progress(self, cause: Beat) -> None:
        """Report that it runs."""
        self.put(ReportProgress(cause.progress, self.use.call))

    def report_hook(self, cause: ToolHooked) -> None:
        """Report what the hook told."""
        self.hooked = True
        self.put(ReportHook(cause))

    def deny_call(self, cause: ToolDenied) -> None:
        """Report that a rule refused it."""
        self.put(DenyCall(cause))

    def complete_call(self, cause: ToolReturned) -> None:
        """Report its result."""
        self.put(ReturnCall(cause, "completed"))

    def fail_call(self, cause: ToolReturned) -> None:
        """Report its error."""
        self.put(ReturnCall(cause, "failed"))

    def accept_call(self, cause: Accept) -> None:
        """Report an approval, whatever Claude Code was told."""
        self.put(ReturnCall(cause.result, "completed"))

    def close_call(self, cause: Close) -> None:
        """Report that no result will come."""
        self.put(CloseCall(self.use.call, self._closing_text(cause.occasion)))

    def _closing_text(self, occasion: Occasion) -> str:
        match occasion:
            case Occasion.LOST:
                return STUCK
            case Occasion.CANCELLED:
                return CANCELLED if self.dispatched else ABANDONED
            case Occasion.TURN_ENDED:
                return STUCK if self.dispatched else ABANDONED
