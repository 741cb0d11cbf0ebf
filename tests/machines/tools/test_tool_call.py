"""The status of one tool call that the client was shown (M8)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolReturned, ToolUse
from machines.outputs import (
    CloseCall,
    DenyCall,
    RefineCall,
    ReportHook,
    ReportProgress,
    ReturnCall,
    ShowCall,
)
from machines.tools.tool_call import (
    ABANDONED,
    CANCELLED,
    STUCK,
    Accept,
    Beat,
    Close,
    Occasion,
    Refine,
    Show,
    ToolCall,
)
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

USE = ToolUse("toolu_1", "Bash")
FULL = ToolUse("toolu_1", "Bash", {"command": "ls"})
STREAMED = Show(USE, streaming=True)
COMPLETE = Show(FULL)
ASKED = Show(FULL, ask="ask")
PROGRESS = ToolProgressed("toolu_1-heartbeat-0", "Bash", parent="toolu_1", elapsed=30)
HOOK = ToolHooked("toolu_1", "Bash", response={"stdout": ""})
DENIAL = ToolDenied("toolu_1", "Bash", reason_type="rule")
OK = ToolReturned("toolu_1", "done")
ERROR = ToolReturned("toolu_1", "no", is_error=True)
APPROVED = Accept(ERROR)
CLOSES = tuple(Close(occasion) for occasion in Occasion)

SAMPLES = (
    STREAMED,
    COMPLETE,
    ASKED,
    Refine(FULL),
    Beat(PROGRESS),
    HOOK,
    DENIAL,
    OK,
    ERROR,
    APPROVED,
    *CLOSES,
)

RETURNED = (ReturnCall(OK, "completed"),)
FAILED = (ReturnCall(ERROR, "failed"),)
HIDDEN = (ReturnCall(ERROR, "completed"),)
BEAT = (ReportProgress(PROGRESS, "toolu_1"),)

ROWS = (
    Row("M8 stream start", "pending", STREAMED, "pending", (ShowCall(USE, streaming=True),)),
    Row("M8 consolidated tool use", "pending", COMPLETE, "pending", (ShowCall(FULL),)),
    Row("M8 permission about to be asked", "pending", ASKED, "pending", (ShowCall(FULL, ask="ask"),)),
    Row("M8 complete input", "pending", Refine(FULL), "pending", (RefineCall(FULL),)),
    Row(
        "M8 complete input of a running one", "in_progress", Refine(FULL), "in_progress", (RefineCall(FULL),)
    ),
    Row("M8 complete input of a denied one", "denied", Refine(FULL), "denied"),
    Row("M8 tool_progress", "pending", Beat(PROGRESS), "in_progress", BEAT),
    Row("M8 tool_progress again", "in_progress", Beat(PROGRESS), "in_progress", BEAT),
    Row("M8 tool_progress of a denied one", "denied", Beat(PROGRESS), "denied"),
    Row("M8 hook", "pending", HOOK, "pending", (ReportHook(HOOK),)),
    Row("M8 hook of a running one", "in_progress", HOOK, "in_progress", (ReportHook(HOOK),)),
    Row("M8 hook of a denied one", "denied", HOOK, "denied"),
    Row("M8 permission_denied", "pending", DENIAL, "denied", (DenyCall(DENIAL),)),
    Row("M8 permission_denied of a running one", "in_progress", DENIAL, "denied", (DenyCall(DENIAL),)),
    Row("M8 permission_denied twice", "denied", DENIAL, "denied"),
    Row("M8 tool_result ok", "pending", OK, "completed", RETURNED),
    Row("M8 tool_result ok of a running one", "in_progress", OK, "completed", RETURNED),
    Row("M8 tool_result error", "pending", ERROR, "failed", FAILED),
    Row("M8 tool_result error of a running one", "in_progress", ERROR, "failed", FAILED),
    Row("M8 tool_result of a denied one", "denied", ERROR, "failed", FAILED),
    Row("M2.1 the error of an approved plan", "pending", APPROVED, "completed", HIDDEN),
    Row("M2.1 the error of an approved plan that ran", "in_progress", APPROVED, "completed", HIDDEN),
    Row("M2.1 a denied one stays it", "denied", APPROVED, "failed"),
    Row(
        "M8.3 cycle or turn ends",
        "pending",
        Close(Occasion.TURN_ENDED),
        "failed",
        (CloseCall("toolu_1", ABANDONED),),
    ),
    Row(
        "M8.3 cancelled",
        "in_progress",
        Close(Occasion.CANCELLED),
        "failed",
        (CloseCall("toolu_1", ABANDONED),),
    ),
    Row("M8.3 stream death", "pending", Close(Occasion.LOST), "failed", (CloseCall("toolu_1", STUCK),)),
    Row("M8.3 a denied one has its status", "denied", Close(Occasion.CANCELLED), "failed"),
)

REFUSED: Refused = {("in_progress", Show), ("denied", Show)}


def at(state: str) -> ToolCall:
    return ToolCall(USE, start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(ToolCall, ROWS) == set()


def test_totality() -> None:
    assert refusals(ToolCall, at, SAMPLES) == REFUSED


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("state", ["completed", "failed"])
@pytest.mark.contract("TC-215")
def test_m8_a_final_call_reports_nothing(state: str, event: Any) -> None:
    assert at(state).handle(event) == ()


@pytest.mark.parametrize(
    ("occasion", "dispatched", "text"),
    [
        (Occasion.TURN_ENDED, False, "Claude stopped this tool call before it ran."),
        (Occasion.TURN_ENDED, True, "Claude ended the turn without returning a result for this tool."),
        (Occasion.CANCELLED, False, "Claude stopped this tool call before it ran."),
        (Occasion.CANCELLED, True, "The turn was cancelled before this tool call returned a result."),
        (Occasion.LOST, False, "Claude ended the turn without returning a result for this tool."),
        (Occasion.LOST, True, "Claude ended the turn without returning a result for this tool."),
    ],
)
def test_m8_3_the_text_says_how_far_it_got(occasion: Occasion, dispatched: bool, text: str) -> None:
    call = ToolCall(USE)
    call.handle(STREAMED)
    if dispatched:
        call.handle(Refine(FULL))

    assert call.handle(Close(occasion)) == (CloseCall("toolu_1", text),)


class AnyOrder(Walk):
    """A call that was shown; the oracle keeps whether it was dispatched and hooked."""

    rows = tuple(row for row in ROWS if not isinstance(row.event, Show))
    refused = REFUSED

    def begin(self) -> None:
        super().begin()
        self.dispatched = False
        self.handle(STREAMED)

    def create(self) -> ToolCall:
        return ToolCall(USE)

    @initialize(show=st.sampled_from((STREAMED, COMPLETE, ASKED)))
    def shown(self, show: Show) -> None:
        super().begin()
        self.handle(show)

    @rule(event=st.sampled_from(tuple(event for event in SAMPLES if not isinstance(event, Show))))
    def feed(self, event: object) -> None:
        self.handle(event)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        quiet = state == "denied"
        match event:
            case Show(use, streaming, ask):
                self.dispatched = not streaming
                return "pending", (ShowCall(use, streaming, ask),)
            case Refine(use):
                self.dispatched = self.dispatched or not quiet
                return state, () if quiet else (RefineCall(use),)
            case Beat():
                return (state, ()) if quiet else ("in_progress", BEAT)
            case ToolHooked():
                return state, () if quiet else (ReportHook(event),)
            case ToolDenied():
                return "denied", () if quiet else (DenyCall(event),)
            case Accept(result):
                return ("failed", ()) if quiet else ("completed", (ReturnCall(result, "completed"),))
            case ToolReturned(is_error=is_error):
                status = "failed" if is_error or quiet else "completed"
                return status, (ReturnCall(event, "failed" if status == "failed" else "completed"),)
        return "failed", () if quiet else (CloseCall("toolu_1", self.text(event.occasion)),)

    def text(self, occasion: Occasion) -> str:
        if occasion is Occasion.LOST:
            return STUCK
        if not self.dispatched:
            return ABANDONED
        return CANCELLED if occasion is Occasion.CANCELLED else STUCK

    @invariant()
    def the_first_report_is_the_call(self) -> None:  # INV-C1
        kinds = [type(each) for each in self.outputs]
        assert kinds[:1] == [ShowCall] * bool(kinds)
        assert ShowCall not in kinds[1:]

    @invariant()
    def it_gets_one_final_status_and_only_content_after_it(self) -> None:  # INV-C2
        kinds = [type(each) for each in self.outputs]
        ends = [kind for kind in kinds if kind in {ReturnCall, DenyCall, CloseCall}]
        assert bool(ends) == (self.machine.phase in {"denied", "completed", "failed"})
        assert ends in ([], [ReturnCall], [CloseCall], [DenyCall], [DenyCall, ReturnCall])
        assert kinds[len(kinds) - len(ends) :] == ends


TestAnyOrder = pytest.mark.contract("TC-215")(in_any_order(AnyOrder))
