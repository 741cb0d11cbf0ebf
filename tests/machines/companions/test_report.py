"""File-change reports: exactly one for each request, at most two seconds late (M14)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines._core import Unexpected
from machines.companions.report import Collect, FileReport, FilesListed, Unavailable
from machines.companions.session_reports import PreviewFiles, ReportFiles
from machines.events import Timer
from machines.outputs import StartTimer, StopTimer
from tests.machines.tables import Refused, Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

LISTED, LATE = FilesListed(("/p/a", "/p/b")), Unavailable("timeout")
SAMPLES = (Collect(), LISTED, LATE)
STOP = StopTimer(Timer.FILE_PREVIEW)

ROWS = (
    Row(
        "M14 the turn ended well",
        "requested",
        Collect(),
        "collecting",
        (PreviewFiles("t"), StartTimer(Timer.FILE_PREVIEW)),
    ),
    Row("M14 listed", "collecting", LISTED, "finished", (STOP, ReportFiles("r", LISTED.paths))),
    Row("M14 too late", "collecting", LATE, "finished", (ReportFiles("r", None, "timeout"), STOP)),
    Row(
        "M14 the turn failed",
        "requested",
        Unavailable("providerError"),
        "finished",
        (ReportFiles("r", None, "providerError"),),
    ),
)
REFUSED: Refused = {("requested", FilesListed), ("collecting", Collect)}


def at(state: str) -> FileReport:
    return FileReport("t", "r", start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(FileReport, ROWS) == set()


def test_totality() -> None:
    assert refusals(FileReport, at, SAMPLES) == REFUSED


class AnyOrder(FreeWalk):
    def create(self) -> FileReport:
        return FileReport("t", "r")

    @rule(event=st.sampled_from((*SAMPLES, Unavailable("cancelled"))))
    def any_event(self, event: Any) -> None:
        if (self.machine.phase, type(event)) in REFUSED:
            with pytest.raises(Unexpected):
                self.feed(event)
        else:
            self.feed(event)

    @invariant()
    def a_report_is_told_once_and_its_timer_stops(self) -> None:  # INV-R1
        kinds = [type(each) for each in self.outputs]
        assert kinds.count(ReportFiles) == self.machine.is_terminated
        assert kinds.count(StopTimer) == (self.machine.is_terminated and StartTimer in kinds)


TestAnyOrder = in_any_order(AnyOrder)
