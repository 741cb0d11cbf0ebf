"""What each answer writes to Claude Code, and what the session does about it."""

from typing import Any

import pytest

from bridge.permissions.options import Offer, Situation, offer
from bridge.permissions.outcome import (
    AutoUnavailable,
    CallEnded,
    Failure,
    ModeChanged,
    Outcome,
    PlanStopped,
    Reply,
    aborted,
    answered,
    failed,
    prompt_cancelled,
    selected_option,
    session_gone,
    unanswered,
)
from tests.bridge.permissions.build import add_rules, ask_for, offered, set_mode

COMMAND = {"command": "touch y"}
RULES = [add_rules(("Bash", "touch y *"), to="localSettings")]
REFUSED = {
    "behavior": "deny",
    "message": "User refused permission to run tool",
    "toolUseID": "toolu_1",
    "decisionClassification": "user_reject",
}


def command() -> Offer:
    return offered("Bash", COMMAND, permission_suggestions=RULES)


def plan() -> Offer:
    return offered("ExitPlanMode", {"plan": "do it"})


def allowed(tool_input: dict[str, Any], classification: str, updates: list[Any] | None = None) -> Reply:
    payload: dict[str, Any] = {"behavior": "allow", "updatedInput": tool_input, "toolUseID": "toolu_1"}
    payload |= {"decisionClassification": classification}
    return Reply(payload if updates is None else payload | {"updatedPermissions": updates})


@pytest.mark.contract("PM-008", "PM-044")
def test_allow_once_changes_no_permission() -> None:
    assert answered(command(), "allow-once") == Outcome(allowed(COMMAND, "user_temporary"))


@pytest.mark.contract("PM-045", "PM-060", "PM-109", "PM-110")
def test_allow_with_updates_applies_what_the_name_showed() -> None:
    source = [add_rules(("Bash", "touch y *"), to="localSettings")]
    made = offered("Bash", COMMAND, permission_suggestions=source)
    source[0]["rules"][0]["ruleContent"] = "rm -rf /"

    assert answered(made, "allow-with-updates") == Outcome(allowed(COMMAND, "user_permanent", RULES))


@pytest.mark.contract("PM-045")
def test_a_grant_that_changes_the_mode_says_so() -> None:
    made = offered("Edit", {"file_path": "a"}, permission_suggestions=[set_mode("acceptEdits")])
    outcome = answered(made, "allow-with-updates")

    assert outcome.reply == allowed({"file_path": "a"}, "user_permanent", [set_mode("acceptEdits")])
    assert outcome.follow_ups == (ModeChanged("acceptEdits"),)


@pytest.mark.contract("PM-046", "PM-047")
@pytest.mark.parametrize(
    ("option", "rule"), [("allow-skill-exact", "go now"), ("allow-skill-prefix", "go:*")]
)
def test_skill_answers_apply_their_own_rule(option: str, rule: str) -> None:
    outcome = answered(offered("Skill", {"skill": "go now"}), option)
    updates = [add_rules(("Skill", rule), to="localSettings")]
    assert outcome == Outcome(allowed({"skill": "go now"}, "user_permanent", updates))


@pytest.mark.contract("PM-042", "PM-050", "PM-106")
def test_reject_refuses_the_call_and_lets_claude_go_on() -> None:
    assert answered(command(), "reject") == Outcome(Reply(REFUSED))


@pytest.mark.contract("PM-007", "PM-110")
@pytest.mark.parametrize("option", ["bogus", "", "allow-skill-exact", "Allow-Once", "exit-plan-bypass"])
def test_an_id_that_was_not_offered_grants_nothing(option: str) -> None:
    assert answered(command(), option) == Outcome(Failure(f"Permission option was not offered: {option}"))


@pytest.mark.contract("PM-010")
def test_an_id_of_another_request_grants_nothing() -> None:
    assert isinstance(answered(offered("Bash", COMMAND), "allow-with-updates").reply, Failure)


@pytest.mark.contract("PM-043", "PM-104")
def test_without_an_answer_the_tool_use_is_aborted() -> None:
    assert unanswered(command()) == Outcome(Failure("Tool use aborted"))
    assert aborted(command()) == Outcome(Failure("Tool use aborted"))


def test_a_background_subagent_is_only_refused() -> None:
    assert unanswered(command(), background=True) == Outcome(Reply(REFUSED))


def test_an_error_of_the_client_reaches_claude() -> None:
    assert failed(command(), "Internal error") == Outcome(Failure("Internal error"))


def test_asks_that_are_answered_without_the_client() -> None:
    assert session_gone().reply == Reply({"behavior": "deny", "message": "Session not found"})
    assert prompt_cancelled().reply == Reply(
        {"behavior": "deny", "message": "The user cancelled this prompt."}
    )


def mode_update(mode: str) -> list[Any]:
    return [{"type": "setMode", "mode": mode, "destination": "session"}]


@pytest.mark.contract("PM-048")
@pytest.mark.parametrize(
    ("option", "mode", "classification"),
    [
        ("exit-plan-auto", "auto", "user_permanent"),
        ("exit-plan-bypass", "bypassPermissions", "user_permanent"),
        ("exit-plan-default", "default", "user_temporary"),
    ],
)
def test_an_approved_plan_sets_the_mode_of_its_answer(option: str, mode: str, classification: str) -> None:
    reply = allowed({"plan": "do it"}, classification, mode_update(mode))
    assert answered(plan(), option) == Outcome(reply, (ModeChanged(mode),))


@pytest.mark.contract("PM-048", "PM-049")
@pytest.mark.parametrize("option", ["exit-plan-accept-edits", "exit-plan-clear-accept-edits"])
def test_accept_edits_is_the_last_resort(option: str) -> None:
    made = offer(ask_for("ExitPlanMode", {"plan": "p"}), Situation(cwd="/", home="/"))
    outcome = answered(made, option)
    assert isinstance(outcome.reply, Reply)
    assert outcome.follow_ups in {
        (ModeChanged("acceptEdits"),),
        (PlanStopped("toolu_1", "acceptEdits", "p"),),
    }


@pytest.mark.contract("CF-025")
def test_auto_gives_way_on_a_model_without_it() -> None:
    kept = answered(plan(), "exit-plan-auto", auto_supported=False)
    cleared = answered(plan(), "exit-plan-clear-auto", auto_supported=False)

    assert kept.reply == allowed({"plan": "do it"}, "user_permanent", mode_update("acceptEdits"))
    assert kept.follow_ups == (AutoUnavailable(), ModeChanged("acceptEdits"))
    assert cleared.follow_ups == (AutoUnavailable(), PlanStopped("toolu_1", "acceptEdits", "do it"))
    bypass = answered(plan(), "exit-plan-bypass", auto_supported=False)
    assert bypass.follow_ups == (ModeChanged("bypassPermissions"),)


@pytest.mark.contract("PM-049")
def test_a_fresh_context_stops_the_turn_and_keeps_the_plan() -> None:
    outcome = answered(plan(), "exit-plan-clear-auto")

    assert outcome.reply == Reply(
        {
            "behavior": "deny",
            "message": "User accepted the plan and requested a fresh context",
            "interrupt": True,
            "toolUseID": "toolu_1",
            "decisionClassification": "user_reject",
        }
    )
    assert outcome.follow_ups == (PlanStopped("toolu_1", "auto", "do it"),)


@pytest.mark.contract("PM-098")
def test_what_a_plan_wants_allowed_is_forgotten_in_a_fresh_context() -> None:
    prompts = {"allowedPrompts": [{"tool": "Bash", "prompt": "run the tests"}]}
    outcome = answered(offered("ExitPlanMode", {"plan": "do it", **prompts}), "exit-plan-clear-auto")
    assert "run the tests" not in str(outcome)


@pytest.mark.contract("PM-050")
def test_keep_planning_stops_the_turn() -> None:
    outcome = answered(plan(), "reject")

    assert outcome.reply == Reply(
        {
            "behavior": "deny",
            "message": "User chose to keep planning",
            "interrupt": True,
            "toolUseID": "toolu_1",
            "decisionClassification": "user_reject",
        }
    )
    assert outcome.follow_ups == (PlanStopped("toolu_1"),)


def test_the_end_of_a_network_request_is_its_answer() -> None:
    made = offered("SandboxNetworkAccess", {"host": "a.example"})

    assert answered(made, "allow-once").follow_ups == (CallEnded("toolu_1", "completed"),)
    for outcome in (
        answered(made, "reject"),
        answered(made, "bogus"),
        unanswered(made),
        unanswered(made, background=True),
        aborted(made),
        failed(made, "no"),
    ):
        assert outcome.follow_ups == (CallEnded("toolu_1", "failed"),)


@pytest.mark.contract("PM-007", "PM-043")
@pytest.mark.parametrize(
    ("result", "option"),
    [
        ({"outcome": {"outcome": "selected", "optionId": "allow-once"}}, "allow-once"),
        ({"outcome": {"outcome": "selected", "optionId": "allow-once", "_meta": {}}}, "allow-once"),
        ({"outcome": {"outcome": "cancelled"}}, None),
        ({"outcome": {"outcome": "cancelled", "optionId": "allow-once"}}, None),
        ({"outcome": {"outcome": "Selected", "optionId": "allow-once"}}, None),
        ({"outcome": {"outcome": "selected"}}, None),
        ({"outcome": {"outcome": "selected", "optionId": 7}}, None),
        ({"outcome": {"outcome": "selected", "optionId": None}}, None),
        ({"outcome": {"outcome": ["selected"], "optionId": "x"}}, None),
        ({"outcome": "selected"}, None),
        ({"outcome": None}, None),
        ({"optionId": "allow-once"}, None),
        ({}, None),
        ([], None),
        ("allow-once", None),
        (None, None),
    ],
)
def test_reading_the_answer_of_a_client(result: object, option: str | None) -> None:
    assert selected_option(result) == option
