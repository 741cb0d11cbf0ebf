"""What a session tells of itself: the keys of each payload, and what is kept out of it (M11 … M14)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import read_capabilities
from bridge.view.session_info import (
    compaction_update,
    failure_record,
    files_update,
    goal_update,
    incident_update,
    summary_update,
)
from machines.companions.session_reports import (
    CompactionFacts,
    GoalSnapshot,
    IncidentFacts,
    ReportCompaction,
    ReportFiles,
    ReportIncident,
    ShowSummary,
)
from tests.support.clients import CAPABILITIES

AIR = read_capabilities(CAPABILITIES["air"])
PLAIN = read_capabilities(CAPABILITIES["plain"])
RFD = read_capabilities(CAPABILITIES["rfd"])
AIR_UPDATES = read_capabilities({**CAPABILITIES["air"], "session": {"compaction": {}}})
FACTS = CompactionFacts("manual", 900, 90, 5)


def payload(update: Any, key: str) -> Any:
    """One payload, in the one envelope."""
    air = update["_meta"]["jetbrains"]["air"]
    assert set(air) == {"version", key}
    assert air["version"] == 1
    return air[key]


# ── goals ─────────────────────────────────────────────────────────────────────


@pytest.mark.contract("GL-013", "GL-014", "GL-015")
def test_a_goal_has_the_keys_that_are_known() -> None:
    full = GoalSnapshot("ship it", 2, "tests are red", 1_700_000_000_000)
    assert payload(goal_update(full), "goal") == {
        "objective": "ship it",
        "status": "active",
        "iterations": 2,
        "lastReason": "tests are red",
        "createdAt": 1_700_000_000_000,
        "controlMethod": "_session/goal",
    }
    bare = {"objective": "ship it", "status": "active", "controlMethod": "_session/goal"}
    assert payload(goal_update(GoalSnapshot("ship it")), "goal") == bare


def test_no_goal_is_an_explicit_null() -> None:
    update = goal_update(None)
    assert update["sessionUpdate"] == "session_info_update"
    assert payload(update, "goal") is None


# ── failure records ───────────────────────────────────────────────────────────


@pytest.mark.contract("SF-003", "SF-004", "SF-005", "SF-007", "SF-042", "SF-017")
@pytest.mark.parametrize("details", [None, "more of it"])
@pytest.mark.parametrize("severity", ["warning", "error"])
def test_a_record_has_these_keys_and_no_other(severity: Any, details: str | None) -> None:
    facts = IncidentFacts("service", severity, "It failed.", ("retry", "new_session"), details)
    incident = ReportIncident("t:error", 3, facts)
    record = failure_record(incident)
    known: dict[str, object] = {"details": details} if details is not None else {}
    assert record == {
        "id": "t:error",
        "revision": 3,
        "category": "service",
        "severity": severity,
        "title": "It failed.",
        "actions": ["retry", "new_session"],
        **known,
    }
    assert incident_update(incident)["sessionUpdate"] == "session_info_update"
    assert payload(incident_update(incident), "sessionFailure") == record


# ── file-change reports ───────────────────────────────────────────────────────


def reported(root: Path, *paths: str, more: tuple[Path, ...] = ()) -> Any:
    update = files_update(ReportFiles("r", paths), [str(root), *map(str, more)])
    return payload(update, "agentFileChangeReport")


@pytest.mark.contract("FC-011", "FC-017", "FC-023")
def test_a_report_names_files_and_nothing_else(tmp_path: Path) -> None:
    assert reported(tmp_path, f"{tmp_path}/a", "sub/b") == {
        "version": 1,
        "requestId": "r",
        "status": "reported",
        "paths": [f"{tmp_path}/a", f"{tmp_path}/sub/b"],
        "declaredComplete": False,
        "truncated": False,
    }


@pytest.mark.contract("FC-013", "FC-014", "FC-015", "FC-016", "FC-019")
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../out", ".", "a\nb", "a\x7f", "x" * 5000, "link/inside", "more"]
)
def test_what_may_not_be_named_is_dropped_and_counted(tmp_path: Path, path: str) -> None:
    root, more = tmp_path / "root", tmp_path / "root" / "more"
    more.mkdir(parents=True)
    (root / "link").symlink_to("/etc")
    report = reported(root, path, "kept", more=(more,))
    assert report["paths"] == [f"{root}/kept"]
    assert report["truncated"] is True


def test_a_file_below_an_additional_folder_is_named_by_its_real_path(tmp_path: Path) -> None:
    root, more = tmp_path / "root", tmp_path / "more"
    root.mkdir()
    more.mkdir()
    (root / "link").symlink_to(more)
    assert reported(root, f"{root}/link/a", f"{more}/a", more=(more,))["paths"] == [f"{more}/a"]


@pytest.mark.contract("FC-018", "FC-020")
@pytest.mark.parametrize(("count", "length"), [(1025, 5), (1024, 300)])
def test_a_report_has_limits(tmp_path: Path, count: int, length: int) -> None:
    report = reported(tmp_path, *(f"{number}/{'d/' * (length // 2)}f" for number in range(count)))
    assert 0 < len(report["paths"]) <= 1024
    assert len(json.dumps(report)) <= 256 * 1024
    assert report["truncated"] is True


@pytest.mark.contract("FC-018")
def test_a_report_of_1024_files_is_whole(tmp_path: Path) -> None:
    report = reported(tmp_path, *map(str, range(1024)))
    assert (len(report["paths"]), report["truncated"]) == (1024, False)


@pytest.mark.contract("FC-024")
@pytest.mark.parametrize("reason", ["cancelled", "timeout", "invalidOutput", "providerError"])
def test_without_a_list_there_is_a_reason(reason: Any) -> None:
    report = payload(files_update(ReportFiles("r", None, reason), []), "agentFileChangeReport")
    assert report == {"version": 1, "requestId": "r", "status": "unavailable", "reason": reason}


@given(st.lists(st.text(max_size=20), max_size=20))
def test_whatever_is_listed_is_below_the_root_or_dropped(paths: list[str]) -> None:
    report = reported(Path("/nowhere/at all"), *paths)
    assert all(path.startswith("/nowhere/at all/") for path in report["paths"])
    assert len(set(report["paths"])) == len(report["paths"])


# ── compactions ───────────────────────────────────────────────────────────────


@pytest.mark.contract("CC-005", "TC-053")
@pytest.mark.parametrize("trigger", ["manual", "automatic"])
def test_air_is_told_the_facts_that_are_known(trigger: Any) -> None:
    report = ReportCompaction("c", "completed", facts=CompactionFacts(trigger, 900))
    for client in (AIR, AIR_UPDATES):
        update = compaction_update(report, client, opened=False)
        known = {"version": 1, "trigger": trigger, "preTokens": 900}
        assert payload(update, "contextCompaction") == known


@pytest.mark.contract("CC-008")
def test_the_update_form_has_its_error_in_the_standard_field() -> None:
    report = ReportCompaction("c", "failed", error="too long")
    update = compaction_update(report, RFD, opened=True)
    assert update == {
        "sessionUpdate": "compaction_update",
        "compactionId": "c",
        "status": "failed",
        "error": "too long",
    }
    told = compaction_update(report, AIR_UPDATES, opened=True)
    assert payload(told, "contextCompaction") == {"version": 1}


@pytest.mark.contract("CC-007", "CC-009")
def test_the_call_form_says_its_error_once_as_text() -> None:
    report = ReportCompaction("c", "failed", error="too long")
    text = {"type": "content", "content": {"type": "text", "text": "Compaction failed: too long"}}
    plain = compaction_update(report, PLAIN, opened=True)
    assert plain == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c",
        "status": "failed",
        "content": [text],
        "_meta": {"claudeCode": {"toolName": "compact"}},
    }
    air = compaction_update(report, AIR, opened=True)
    assert air is not None
    assert air["content"] == [text]
    assert payload(air, "contextCompaction") == {"version": 1, "error": "too long"}


def test_a_call_that_was_not_shown_is_begun_with_its_end() -> None:
    update = compaction_update(ReportCompaction("c", "completed"), PLAIN, opened=False)
    assert update is not None
    assert (update["sessionUpdate"], update["title"], update["kind"], update["status"]) == (
        "tool_call",
        "Compact conversation",
        "think",
        "completed",
    )


def test_the_facts_of_a_boundary_are_no_news_for_the_update_form() -> None:
    report = ReportCompaction("c", "completed", facts=FACTS)
    assert compaction_update(report, RFD, opened=True) is None
    plain = compaction_update(report, PLAIN, opened=True)
    raw = {"trigger": "manual", "preTokens": 900, "postTokens": 90, "durationMs": 5}
    assert plain is not None
    assert plain["rawOutput"] == raw


def test_a_piece_of_a_summary_is_a_chunk_or_a_sign_of_life() -> None:
    piece = ShowSummary("c", "all ")
    assert summary_update(piece, RFD) == {
        "sessionUpdate": "compaction_summary_chunk",
        "compactionId": "c",
        "content": {"type": "text", "text": "all "},
    }
    assert summary_update(piece, PLAIN)["status"] == "in_progress"
    assert "all " not in str(summary_update(piece, PLAIN))
