"""Compactions: shown once, ended once, silent after an interruption (M11)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from machines.companions.compaction import (
    BoundaryPassed,
    Compacted,
    Compacting,
    Compaction,
    CompactionFailed,
    Interrupted,
    Summarized,
    SummaryStreamed,
    TurnEnded,
    Unmute,
)
from machines.companions.session_reports import CompactionFacts, ReportCompaction, ShowSummary
from tests.machines.tables import Row, every, in_any_order, missing, refusals, step
from tests.machines.walks import FreeWalk

FACTS = CompactionFacts("manual", 900, 90, 5)
START, DONE, FAILED = Compacting("c"), Compacted("d"), CompactionFailed("d", "too long")
BOUNDARY, SUMMARY, PIECE = BoundaryPassed("d", FACTS), Summarized("all of it"), SummaryStreamed("c", "all ")
ENDED, STOPPED, NEW = TurnEnded(), Interrupted(), Unmute()
SAMPLES = (START, SUMMARY, PIECE, DONE, FAILED, BOUNDARY, ENDED, STOPPED, NEW)

ENDS = ("completed", "failed")
QUIET = ("none", *ENDS)


def told(id: str, status: Any, **more: Any) -> tuple[ReportCompaction]:
    return (ReportCompaction(id, status, **more),)


ROWS = (
    Row("M11 start", "none", START, "open", told("c", "in_progress")),
    *(Row("M11 start again", s, START, "open", told("c", "in_progress")) for s in ("completed", "failed")),
    Row("M11 start again", "open", START, "open"),
    Row("M11 muted start", "muted", START, "muted"),
    *(Row("M11 summary", state, SUMMARY, state) for state in (*QUIET, "open", "muted")),
    Row("M11 streamed summary", "open", PIECE, "open", (ShowSummary("old", "all "),)),
    *(Row("M11 streamed summary", state, PIECE, state) for state in (*QUIET, "muted")),
    Row("M11 success", "open", DONE, "completed", told("old", "completed")),
    Row("M11 success without a start", "none", DONE, "completed", told("d", "completed")),
    *(Row("M11 success after the end", state, DONE, state) for state in ENDS),
    Row("M11 muted success", "muted", DONE, "muted"),
    Row("M11 failure", "open", FAILED, "failed", told("old", "failed", error="too long")),
    Row("M11 failure without a start", "none", FAILED, "failed", told("d", "failed", error="too long")),
    *(Row("M11 failure after the end", state, FAILED, state) for state in ENDS),
    Row("M11 muted failure", "muted", FAILED, "muted"),
    Row("M11 boundary", "open", BOUNDARY, "completed", told("old", "completed", facts=FACTS)),
    Row("M11 boundary alone", "none", BOUNDARY, "completed", told("d", "completed", facts=FACTS)),
    Row(
        "M11 boundary after success",
        "completed",
        BOUNDARY,
        "completed",
        told("old", "completed", facts=FACTS),
    ),
    Row("M11 boundary after failure", "failed", BOUNDARY, "failed"),
    Row("M11 muted boundary", "muted", BOUNDARY, "muted"),
    Row("M11 the turn ended", "open", ENDED, "none", told("old", "cancelled")),
    *(Row("M11 the turn ended", state, ENDED, "none") for state in ENDS),
    Row("M11 the turn ended", "none", ENDED, "none"),
    Row("M11 the turn ended", "muted", ENDED, "muted"),
    Row("M11 interrupted", "open", STOPPED, "muted", told("old", "cancelled")),
    *(Row("M11 interrupted", state, STOPPED, "muted") for state in (*QUIET, "muted")),
    Row("M11 new work", "muted", NEW, "none"),
    *(Row("M11 new work", state, NEW, state) for state in (*QUIET, "open")),
)


def at(state: str) -> Compaction:
    compaction = Compaction(start=state)
    compaction.id = "old"
    return compaction


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(Compaction, ROWS) == set()


def test_totality() -> None:
    assert refusals(Compaction, at, SAMPLES) == set()


def outputs(*events: Any) -> list[Any]:
    machine = Compaction()
    return [output for event in events for output in machine.handle(event)]


@pytest.mark.contract("TC-017")
def test_m11_a_summary_that_comes_before_is_told_with_the_end() -> None:
    assert outputs(SUMMARY, START, DONE)[-1] == ReportCompaction("c", "completed", summary="all of it")


@pytest.mark.contract("TC-016")
@pytest.mark.contract("CC-015")
def test_m11_a_summary_that_was_streamed_is_not_told_again() -> None:
    done = outputs(START, PIECE, SummaryStreamed("c", "of it"), SUMMARY, DONE)[-1]
    assert done == ReportCompaction("c", "completed")


@pytest.mark.parametrize("end", [FAILED, STOPPED, ENDED])
def test_m11_the_summary_of_one_that_ended_is_not_told_with_the_next(end: Any) -> None:
    after = outputs(START, SUMMARY, end, NEW, Compacting("n"), Compacted("n"))
    assert after[-1] == ReportCompaction("n", "completed")


class AnyOrder(FreeWalk):
    """Ids are new each time, as Claude Code makes them."""

    number = 0

    def create(self) -> Compaction:
        return Compaction()

    @rule(kind=st.sampled_from(("start", "done", "failed", "boundary")))
    def frame(self, kind: str) -> None:
        self.number += 1
        id = f"id-{self.number}"
        made = {
            "start": Compacting(id),
            "done": Compacted(id),
            "failed": CompactionFailed(id, "no"),
            "boundary": BoundaryPassed(id, FACTS),
        }
        self.feed(made[kind])

    @rule(event=st.sampled_from((SUMMARY, PIECE, ENDED, STOPPED, NEW)))
    def other(self, event: object) -> None:
        self.feed(event)

    @invariant()
    def each_id_begins_once_and_ends_once(self) -> None:  # INV-K1, INV-K2
        reports = [each for each in self.outputs if isinstance(each, ReportCompaction)]
        for id in {report.id for report in reports}:
            own = [report for report in reports if report.id == id]
            statuses = [report.status for report in own]
            assert statuses.count("in_progress") <= 1
            assert "in_progress" not in statuses[1:]
            ends = {status for status in statuses if status != "in_progress"}
            assert len(ends) <= 1
            # Only the facts of a boundary may follow the end.
            told_again = [report for report in own if report.status == "completed"][1:]
            assert all(report.facts is not None for report in told_again)

    @invariant()
    def nothing_is_open_unless_the_state_says_so(self) -> None:  # INV-K3
        reports = [each for each in self.outputs if isinstance(each, ReportCompaction)]
        begun = {report.id for report in reports if report.status == "in_progress"}
        ended = {report.id for report in reports if report.status != "in_progress"}
        assert len(begun - ended) == (self.machine.phase == "open")


TestAnyOrder = in_any_order(AnyOrder)
