"""What goes along with turns: compactions, goals, incidents and reports of files (M11 … M14)."""

from typing import Any

import pytest

from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from machines.companions.compaction import BoundaryPassed, Compacted, Compacting, CompactionFailed
from machines.companions.goal import Told
from machines.companions.incident import Book
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    INITIALIZED,
    TASK,
    Talk,
    aborted,
    answered,
    begin,
    end,
    moved,
    of,
    prompt,
    result,
)

GOAL = e.GoalCommand("ship it")
SHIP = r.GoalSnapshot("ship it")
PREVIEW = e.TimerFired(e.Timer.FILE_PREVIEW)


def air(*events: Any) -> Talk:
    return Talk(*events, book=Book("S", "epoch"))


def api_error(turn: str, kind: str = "overloaded", text: str = "API Error: 529 Overloaded") -> e.Result:
    return result(turn, is_error=True, error_kind=kind, text=text)


# ── compactions ───────────────────────────────────────────────────────────────


@pytest.mark.contract("CC-016")
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ((Compacted("x"), *end("A")), "completed"),
        ((CompactionFailed("x", "no"), *end("A")), "failed"),
        ((*end("A"),), "cancelled"),
        ((CANCEL, CompactionFailed("x", "aborted"), aborted("A"), IDLE), "cancelled"),
        ((DEAD,), "cancelled"),
        ((CLOSE,), "cancelled"),
    ],
)
def test_inv_k3_a_compaction_ends_before_the_answer(ending: tuple[Any, ...], status: str) -> None:
    talk = Talk(prompt("A"), begin("A"))
    outputs = talk(Compacting("c"), *ending)
    reports = of(r.ReportCompaction, outputs)
    assert [(report.id, report.status) for report in reports] == [("c", "in_progress"), ("c", status)]
    (answer,) = of(o.AnswerPrompt, outputs)
    assert outputs.index(reports[-1]) < outputs.index(answer)


def test_m11_what_an_interrupted_compaction_still_says_is_dropped_until_the_next_turn() -> None:
    talk = Talk(
        prompt("A"), begin("A"), Compacting("c"), CANCEL, aborted("A"), *moved("cancelled", "A"), IDLE
    )
    boundary = BoundaryPassed("d", r.CompactionFacts("manual"))
    assert of(r.ReportCompaction, talk(Compacted("d"), boundary)) == []
    again = talk(prompt("B"), begin("B"), Compacting("e"))
    assert of(r.ReportCompaction, again) == [r.ReportCompaction("e", "in_progress")]


# ── goals ─────────────────────────────────────────────────────────────────────


@pytest.mark.contract("GL-016", "GL-020", "GL-017")
@pytest.mark.parametrize("told", [(), (Told(SHIP),), (Told(None),), (Told(r.GoalSnapshot("other")),)])
def test_m12_no_goal_holds_or_ends_a_prompt(told: tuple[Any, ...]) -> None:
    talk = Talk()
    sent = talk(e.PromptReceived("A", GOAL))
    assert sent == [o.SendPrompt("A"), r.PublishGoal(SHIP)]
    outputs = talk(begin("A"), *told, *end("A"))
    assert of(o.AnswerPrompt, outputs) == [answered("A")]
    assert not talk.session.is_busy
    assert of((o.AnswerPrompt, o.SendPrompt), talk(*told)) == []
    ordinary = talk(prompt("B"), begin("B"), *told, *end("B"))
    assert of(o.AnswerPrompt, ordinary) == [answered("B")]


def test_m12_a_cancel_before_the_command_ran_takes_its_goal_back() -> None:
    talk = Talk(Told(r.GoalSnapshot("old")), e.PromptReceived("A", GOAL))
    outputs = talk(*moved("queued", "A"), CANCEL, *moved("cancelled", "A"), IDLE)
    assert of(r.PublishGoal, outputs) == [r.PublishGoal(r.GoalSnapshot("old"))]


@pytest.mark.contract("GL-010")
def test_m12_a_cancel_of_a_turn_keeps_the_goal() -> None:
    talk = Talk(Told(SHIP), prompt("A"), begin("A"))
    assert of(r.PublishGoal, talk(CANCEL, aborted("A"), *moved("cancelled", "A"), IDLE)) == []


@pytest.mark.contract("GL-036")
def test_m12_a_process_that_is_started_again_keeps_the_goal() -> None:
    talk = Talk(Told(SHIP))
    assert of(r.PublishGoal, talk(DEAD, prompt("A"), INITIALIZED, begin("A"), *end("A"))) == []


# ── failures ──────────────────────────────────────────────────────────────────


@pytest.mark.contract("SF-006", "SF-040", "AU-011")
def test_m13_the_retries_of_a_turn_are_warnings_of_its_failure() -> None:
    talk = air(prompt("A"), begin("A"))
    retries = [e.ApiRetried(n, 10, "overloaded", 529) for n in (1, 2)]
    sign_in = e.ApiRetried(1, 10, "authentication_failed", 401)
    warned = of(r.ReportIncident, talk(*retries, sign_in))
    assert [(each.id, each.revision, each.facts.severity) for each in warned] == [
        ("A:error", 1, "warning"),
        ("A:error", 2, "warning"),
    ]
    (answer,) = of(o.AnswerPrompt, talk(api_error("A"), *moved("completed", "A"), IDLE))
    record = answer.outcome.incident
    assert (record.id, record.revision, record.facts.severity) == ("A:error", 3, "error")


@pytest.mark.contract("SF-008", "SF-055")
def test_m13_the_same_failure_of_another_turn_has_its_own_id() -> None:
    talk = air()
    ids = []
    for turn in "AB":
        outputs = talk(prompt(turn), begin(turn), api_error(turn), *moved("completed", turn), IDLE)
        (answer,) = of(o.AnswerPrompt, outputs)
        assert of(r.ReportIncident, outputs) == [], "the first is not told again"
        ids.append((answer.outcome.incident.id, answer.outcome.incident.revision))
    assert ids == [("A:error", 1), ("B:error", 1)]


@pytest.mark.contract("SF-015", "SF-053", "SF-052")
def test_m13_recovery_is_silent() -> None:
    talk = air(prompt("A"), begin("A"), api_error("A"), *moved("completed", "A"), IDLE)
    assert of(r.ReportIncident, talk(prompt("B"), begin("B"), *end("B"))) == []
    talk(prompt("C"), begin("C"), DEAD)
    assert of(r.ReportIncident, talk(prompt("D"), INITIALIZED, begin("D"), *end("D"))) == []


@pytest.mark.contract("SF-051", "SF-059")
def test_m13_a_limit_of_the_history_stands_until_a_model_answers() -> None:
    book = Book("S", "epoch")
    talk = Talk(e.LimitReplayed("u:error", "You've hit your limit"), book=book)
    assert book.open["u:error"][0].phase == "active"
    talk(prompt("A"), begin("A"), *end("A"))
    assert "u:error" in book.open, "a command without a model is no answer"
    talk(prompt("B"), begin("B"), api_error("B"), *moved("completed", "B"), IDLE)
    assert "u:error" in book.open
    assert of(r.ReportIncident, talk(prompt("C"), begin("C"), *end("C", used=(1, 2)))) == []
    assert "u:error" not in book.open


@pytest.mark.contract("SF-010", "SF-019")
def test_m13_a_loss_between_turns_is_the_session_s() -> None:
    talk = air()
    (first,) = of(r.ReportIncident, talk(DEAD))
    assert (first.id, first.revision, first.facts.category) == ("S:session-error:epoch:1", 1, "connection")
    assert talk.session.phase == "lost"
    talk(prompt("A"), INITIALIZED, begin("A"), *end("A"))
    (second,) = of(r.ReportIncident, talk(DEAD))
    assert second.id == "S:session-error:epoch:2"


def test_m13_the_retries_of_a_cycle_share_one_id_of_the_session() -> None:
    talk = air(e.MessageStarted())
    warned = of(r.ReportIncident, talk(*[e.ApiRetried(n, 10, None, None) for n in (1, 2)]))
    assert [(each.id, each.revision) for each in warned] == [
        ("S:session-error:epoch:1", 1),
        ("S:session-error:epoch:1", 2),
    ]


@pytest.mark.contract("SF-034", "SF-035")
@pytest.mark.parametrize("kind", ["authentication_failed", "oauth_org_not_allowed"])
def test_m13_a_sign_in_condition_has_no_record(kind: str) -> None:
    talk = air(prompt("A"), begin("A"))
    told = result("A", is_error=True, error_kind=kind, text="Please run /login", auth_required=True)
    outputs = talk(told, *moved("completed", "A"), IDLE)
    (answer,) = of(o.AnswerPrompt, outputs)
    assert answer.outcome.failure.kind is o.FailureKind.AUTH_REQUIRED
    assert answer.outcome.incident is None
    assert of(r.ReportIncident, outputs) == []


# ── file reports ──────────────────────────────────────────────────────────────


def reporting(*events: Any) -> Talk:
    return air(e.PromptReceived("A", None, "r"), begin("A"), *events)


@pytest.mark.contract("FC-031", "FC-032", "FC-026", "FC-030", "FC-028", "FC-027")
@pytest.mark.parametrize(
    ("told", "paths", "reason"),
    [
        (e.FilesPreviewed("A", ("/p/a",)), ("/p/a",), None),
        (e.FilesPreviewed("A", ()), (), None),
        (e.FilesPreviewed("A", None), None, "invalidOutput"),
        (e.FilesPreviewed("A", None, failed=True), None, "providerError"),
        (PREVIEW, None, "timeout"),
        (DEAD, None, "providerError"),
    ],
)
def test_inv_r1_one_report_comes_before_the_answer_which_does_not_depend_on_it(
    told: Any, paths: tuple[str, ...] | None, reason: Any
) -> None:
    talk = reporting()
    waiting = talk(*end("A"))
    assert of(r.PreviewFiles, waiting) == [r.PreviewFiles("A")]
    assert of(o.AnswerPrompt, waiting) == []
    outputs = talk(told)
    assert of((r.ReportFiles, o.AnswerPrompt), outputs) == [r.ReportFiles("r", paths, reason), answered("A")]
    late = talk(e.FilesPreviewed("A", ("/p/b",)), PREVIEW)
    assert of((r.ReportFiles, o.AnswerPrompt), late) == []


def test_m14_a_cancel_while_the_files_are_listed_ends_both_at_once() -> None:
    talk = reporting(*end("A"))
    outputs = of((r.ReportFiles, o.AnswerPrompt), talk(CANCEL))
    assert outputs == [r.ReportFiles("r", None, "cancelled"), answered("A", "cancelled")]


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ((CANCEL, aborted("A"), *moved("cancelled", "A"), IDLE), "cancelled"),
        ((api_error("A"), *moved("completed", "A"), IDLE), "providerError"),
        ((DEAD,), "providerError"),
        ((CLOSE,), "cancelled"),
    ],
)
def test_inv_r1_a_turn_that_did_not_end_well_has_its_report_too(ending: tuple[Any, ...], reason: Any) -> None:
    outputs = reporting()(*ending)
    first, second = of((r.ReportFiles, o.AnswerPrompt), outputs)
    assert first == r.ReportFiles("r", None, reason)
    assert isinstance(second, o.AnswerPrompt)
    assert of(r.PreviewFiles, outputs) == []


def test_m14_a_prompt_without_a_request_has_no_report() -> None:
    outputs = air(prompt("A"), begin("A"))(*end("A"))
    assert of((r.PreviewFiles, r.ReportFiles), outputs) == []


def test_m5_the_result_of_a_cycle_answers_no_prompt() -> None:
    talk = Talk(e.MessageStarted())
    outputs = talk(prompt("A"), result(origin=TASK, num_turns=1), IDLE)
    assert of(o.AnswerPrompt, outputs) == []
    assert of(o.AnswerPrompt, talk(begin("A"), *end("A"))) == [answered("A")]
