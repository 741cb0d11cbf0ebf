"""Subagents in the life of a session: whose they are, what they hear, and when they end (M20, M21)."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from machines import events as e
from machines import goal as g
from machines import outputs as o
from machines.child_forms import FormName
from machines.child_outputs import (
    ROOT,
    ChildOutput,
    EndChild,
    ForgetChild,
    MessageChild,
    Place,
    RouteChild,
    ShowFailedLaunch,
    SpawnChild,
    UpdateChild,
)
from machines.delegations import Delegations, resumed_agent
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    OPTIONS,
    Talk,
    aborted,
    answer,
    begin,
    end,
    prepared,
    prompt,
    returned,
)

CHILD = get_args(ChildOutput)
NEWS = (*CHILD, o.ShowCall, o.RefineCall, o.ReturnCall, o.CloseCall, o.AskClient, o.AnswerPrompt)


def launch(call: str, lane: str | None = None, **input: str) -> e.ToolDispatched:
    told = {"description": "Help", "prompt": "Go.", "subagent_type": "explorer", **input}
    return e.ToolDispatched(e.ToolUse(call, "Agent", told, lane))


def message(call: str, to: str, lane: str | None = None) -> e.ToolDispatched:
    told = {"to": to, "message": f"More by {call}."}
    return e.ToolDispatched(e.ToolUse(call, "SendMessage", told, lane))


def resumed(call: str, agent: str) -> e.ToolReturned:
    return e.ToolReturned(call, structured={"success": True, "resumedAgentId": agent})


def started(
    agent: str, call: str | None, *, run: str = "", background: bool = False, **facts: str
) -> e.TaskStarted:
    told = e.TaskFacts("local_agent", subagent_type="explorer", prompt=facts.get("prompt", ""))
    return e.TaskStarted(agent, call, True, background, None, run, told)


def ended(agent: str, status: str = "completed", **more: Any) -> e.TaskEnded:
    return e.TaskEnded(agent, status=status, **more)


def child_call(call: str, lane: str) -> e.ToolDispatched:
    return e.ToolDispatched(e.ToolUse(call, "Bash", {"command": "ls"}, lane))


def asks(ask: str, call: str, agent: str) -> tuple[Any, ...]:
    return (e.AskReceived(ask, e.ToolUse(call, "Bash", {"command": "ls"}), OPTIONS, agent), prepared(ask))


def talk(form: FormName, *events: Any) -> Talk:
    return Talk(prompt("A"), begin("A"), *events, form=form)


def news(outputs: list[Any]) -> list[Any]:
    """What concerns subagents and calls."""
    return [each for each in outputs if isinstance(each, NEWS)]


def said(outputs: list[Any]) -> list[str]:
    """The same in short."""
    return [_short(each) for each in news(outputs)]


def _short(output: Any) -> str:
    match output:
        case SpawnChild(parent, session):
            return f"{parent.child or 'root'} spawned {session}"
        case EndChild(parent, session, state):
            return f"{parent.child or 'root'} {state} {session}"
        case UpdateChild(parent, session, _, _, state, stop, error):
            words = (parent.child or "root", session, state or "renamed", stop, error)
            return " ".join(word for word in words if word)
        case MessageChild(session, id, sender):
            return f"{session} {id} from {'nobody' if sender is None else sender.child or 'root'}"
        case RouteChild(session, lanes):
            return f"{','.join(lanes)} to {session}"
        case ForgetChild(lanes):
            return f"forget {','.join(lanes)}"
        case ShowFailedLaunch(use):
            return f"failed {use.call}"
        case o.ShowCall(use) | o.RefineCall(use):
            return f"{type(output).__name__} {use.call}"
        case o.ReturnCall(result, status):
            return f"{status} {result.call}"
        case o.CloseCall(call):
            return f"close {call}"
        case o.AskClient(ask, place):
            return f"ask {ask} on {place.child or 'root'}"
        case _:
            return str(output.outcome.stop_reason)


RUNNING = ["ShowCall c1", "root a running", "a c1 from root", "c1 to a"]
SPAWNED = ["root spawned a", "c1 to a"]


def working(form: FormName, *more: Any) -> Talk:
    """A subagent that works."""
    return talk(form, launch("c1", name="scout"), started("a", "c1", run="1"), *more)


# ── the beginning ─────────────────────────────────────────────────────────────


@pytest.mark.contract("SA-006")
def test_without_a_form_nothing_is_told_of_a_subagent() -> None:
    it = talk("none")
    outputs = it(
        launch("c1"), started("a", "c1"), child_call("b1", "c1"), *asks("ask", "b1", "a"), ended("a")
    )
    assert said(outputs) == ["ShowCall c1", "ShowCall b1", "ask ask on root"]


def test_m21_the_launch_is_shown_before_the_subagent() -> None:
    assert said(talk("rfd")(launch("c1"), started("a", "c1"))) == RUNNING


@pytest.mark.contract("SA-015")
def test_m20_the_subagent_is_shown_in_place_of_its_launch() -> None:
    it = talk("air")
    streamed = e.ToolStarted(e.ToolUse("c1", "Agent"))
    assert said(it(streamed, launch("c1"), started("a", "c1"))) == SPAWNED
    beat = e.ToolProgressed("c1", "Agent", "c1")
    late = e.ToolHooked("c1", "Agent")
    assert said(it(beat, ended("a"), returned("c1"), late)) == ["root completed a"]
    assert not [each for each in it(beat) if isinstance(each, o.ReportProgress | o.ReportHook)]


@pytest.mark.contract("SA-031", "SA-030", "SA-032")
@pytest.mark.parametrize(("name", "title"), [("scout", "scout (explorer)"), ("", "explorer")])
def test_m21_labels(name: str, title: str) -> None:
    outputs = talk("rfd")(launch("c1", name=name, description="Scan"), started("a", "c1"))
    (update,) = [each for each in outputs if isinstance(each, UpdateChild)]
    assert (update.title, update.description) == (title, "Scan")


@pytest.mark.contract("SA-016", "SA-017", "SA-019", "SA-020")
@pytest.mark.parametrize(
    ("told", "input", "prompt"),
    [
        ("Told.", "Input.", "Told."),
        ("", "Input.", "Input."),
        ("", "", None),
        ("x" * 100_000, "", "x" * 100_000),
    ],
)
def test_m20_the_prompt(told: str, input: str, prompt: str | None) -> None:
    (spawn, _) = news(talk("air")(launch("c1", prompt=input), started("a", "c1", prompt=told)))
    assert spawn.prompt == prompt
    assert spawn.task == (prompt or "Help")


@pytest.mark.parametrize(
    ("input", "name"),
    [
        ({"name": "scout"}, "scout"),
        ({}, "Help"),
        ({"description": ""}, "explorer"),
        ({"description": "", "subagent_type": ""}, "Agent 90abcdef"),
    ],
)
def test_m20_names(input: dict[str, str], name: str) -> None:
    start = started("1234567890abcdef", "c1")
    if "subagent_type" in input:
        start = replace(start, facts=e.TaskFacts("local_agent"))
    (spawn, _) = news(talk("air")(launch("c1", **input), start))
    assert spawn.name == name
    nameless = news(talk("air")(launch("c1", description="", prompt=""), started("a", "c1")))[0]
    assert nameless.task == "Delegated task"


def test_m21_who_has_no_call_is_the_root_s_and_is_asked_nothing() -> None:
    outputs = talk("rfd")(started("a", None, prompt="Go."))
    assert said(outputs) == ["root a running", " to a"]


@pytest.mark.parametrize("form", ["rfd", "air"])
def test_who_starts_before_its_call_is_seen_waits_for_it(form: FormName) -> None:
    it = talk(form)
    assert said(it(started("a", "c1"))) == []
    assert said(it(launch("c1"))) == (RUNNING if form == "rfd" else SPAWNED)


@pytest.mark.contract("SA-059")
def test_inv_h9_a_nested_subagent_waits_until_its_parent_is_announced() -> None:
    it = talk("rfd")
    assert said(it(started("a", "c1"), launch("c2", "c1"), started("b", "c2"))) == ["ShowCall c2"]
    assert said(it(launch("c1"))) == [*RUNNING, "a b running", "b c2 from a", "c2 to b"]


def test_inv_h9_in_the_form_of_air_too() -> None:
    it = talk("air")
    assert said(it(started("a", "c1"), launch("c2", "c1"), started("b", "c2"))) == []
    assert said(it(launch("c1"))) == [*SPAWNED, "a spawned b", "c2 to b"]


@pytest.mark.contract("SA-058")
def test_m21_no_parent_is_guessed() -> None:
    it = talk("rfd")
    assert said(it(started("a", "c1"), ended("a"), launch("c1"))) == ["forget c1", "ShowCall c1"]


@pytest.mark.contract("SA-023")
def test_m20_who_ends_before_its_call_is_seen_is_announced_on_the_root() -> None:
    it = talk("air")
    assert said(it(started("a", "c1"), ended("a", "failed"))) == [*SPAWNED, "root failed a"]
    assert said(it(launch("c1"))) == []


@pytest.mark.contract("SA-033")
def test_m21_a_call_that_comes_late_brings_the_name() -> None:
    it = talk("rfd", started("a", None))
    assert said(it(started("b", "c1"))) == []
    outputs = it(launch("c1", name="scout"), launch("c1", name="spy"))
    assert [each.title for each in outputs if isinstance(each, UpdateChild)] == [
        "scout (explorer)",
        "spy (explorer)",
    ]


# ── the end ───────────────────────────────────────────────────────────────────

ENDS = [
    (ended("a"), "idle end_turn", "completed"),
    (ended("a", "killed"), "idle cancelled", "cancelled"),
    (ended("a", "stopped"), "idle cancelled", "cancelled"),
    (ended("a", "failed", error="It broke."), "idle error It broke.", "failed"),
    (ended("a", "killed", reason="worker_restart"), "idle", "cancelled"),
    (ended("a", "disconnected"), "unknown", "disconnected"),
]


@pytest.mark.contract("SA-041", "SA-044", "SA-046")
@pytest.mark.parametrize(("event", "rfd", "air"), ENDS)
def test_how_a_run_ends(event: e.TaskEnded, rfd: str, air: str) -> None:
    assert said(working("rfd")(event, event)) == [f"root a {rfd}"]
    assert said(working("air")(event, event)) == [f"root {air} a"]


@pytest.mark.contract("SA-045")
def test_m21_the_text_of_a_failure_may_come_later() -> None:
    it = working("rfd")
    said_so = it(
        ended("a", "failed"), ended("a", "failed", error="It broke."), ended("a", "failed", error="x")
    )
    assert said(said_so) == ["root a idle error", "root a idle error It broke."]


@pytest.mark.contract("SA-056", "SA-057")
def test_m21_the_call_of_a_subagent_that_was_stopped_ends_right_after_it() -> None:
    it = working("rfd", child_call("b1", "c1"))
    assert said(it(ended("a", "killed"))) == ["root a idle cancelled", "close b1"]
    assert said(it(e.ToolReturned("b1", "", is_error=True))) == []


def test_m21_one_that_is_done_keeps_its_call_until_the_turn_ends() -> None:
    it = working("rfd", child_call("b1", "c1"))
    assert said(it(ended("a"))) == ["root a idle end_turn"]
    assert said(it(returned("b1"))) == ["completed b1"]


@pytest.mark.contract("SA-027", "SA-061", "TC-220", "TC-221", "SA-022")
def test_inv_h8_the_calls_of_air_s_subagent_are_closed_before_its_end_and_nothing_follows() -> None:
    it = working("air", child_call("b1", "c1"))
    assert said(it(ended("a"))) == ["close b1", "root completed a"]
    assert said(it(child_call("b2", "c1"), returned("b1"), returned("b2"), started("a", "c1", run="1"))) == []


@pytest.mark.contract("SA-024", "TC-220")
def test_m20_a_cancel_ends_the_innermost_first() -> None:
    it = working(
        "air", child_call("b1", "c1"), launch("c2", "c1"), started("b", "c2"), child_call("b2", "c2")
    )
    assert said(it(CANCEL)) == ["close b2", "a cancelled b", "close b1", "root cancelled a"]
    assert said(it(ended("b", "killed"), ended("a", "killed"))) == []


@pytest.mark.contract("SA-050")
def test_m21_a_cancel_ends_none() -> None:
    it = working("rfd", child_call("b1", "c1"))
    assert said(it(CANCEL)) == []


@pytest.mark.contract("SA-055")
def test_inv_x4_one_in_the_background_keeps_its_calls_after_a_cancel() -> None:
    it = talk(
        "rfd", launch("c1"), started("a", "c1", background=True), returned("c1"), child_call("b1", "c1")
    )
    assert said(it(CANCEL, aborted("A"), IDLE)) == ["cancelled"]
    assert said(it(e.MessageStarted("c1"), child_call("b2", "c1"), returned("b1"))) == [
        *("ShowCall b2", "completed b1")
    ]
    assert said(it(ended("a"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-054")
def test_inv_x4_and_its_requests() -> None:
    it = talk("rfd", launch("c1"), started("a", "c1", background=True), returned("c1"), *asks("1", "b1", "a"))
    outputs = it(CANCEL, aborted("A"), IDLE)
    assert not [each for each in outputs if isinstance(each, o.WithdrawRequest)]
    outputs = it(answer("1", "allow-once"))
    assert said(outputs) == ["root a running"]
    assert [each for each in outputs if isinstance(each, o.ReplyAsk)]


@pytest.mark.contract("SA-053", "SA-084")
@pytest.mark.parametrize("first", ["end", "withdrawal"])
def test_inv_x4_unless_the_cancel_stopped_it(first: str) -> None:
    it = talk("rfd", launch("c1"), started("a", "c1", background=True), returned("c1"), *asks("1", "b1", "a"))
    it(CANCEL, aborted("A"), IDLE)
    stop, withdrawal = ended("a", "killed"), e.AskWithdrawn("1")
    outputs = it(*((stop, withdrawal) if first == "end" else (withdrawal, stop)))
    told = [each for each in outputs if isinstance(each, o.WithdrawRequest | UpdateChild)]
    assert told == [o.WithdrawRequest("1"), UpdateChild(ROOT, "a", state="idle", stop="cancelled")]


def test_inv_h3_the_end_of_a_nested_one_goes_to_who_still_shows_something() -> None:
    it = working("air", launch("c2", "c1"), started("b", "c2", background=True))
    assert said(it(ended("a"), ended("b"))) == ["root completed a", "root completed b"]


@pytest.mark.contract("SA-047")
@pytest.mark.parametrize(
    ("form", "ends"),
    [
        ("rfd", ["close b1", "close c1", "a b idle", "root a idle"]),
        ("air", ["close b1", "a failed b", "root failed a"]),
    ],
)
def test_inv_h5_a_process_that_is_gone_ends_whoever_began_last_first(form: FormName, ends: list[str]) -> None:
    it = working(form, launch("c2", "c1"), started("b", "c2"), child_call("b1", "c2"))
    told = [each for each in said(it(DEAD)) if each not in {"close c2", "end_turn"}]
    assert sorted(told) == sorted(ends)
    assert [each for each in told if not each.startswith("close")] == [
        each for each in ends if not each.startswith("close")
    ]


@pytest.mark.parametrize(("form", "last"), [("rfd", "root a idle"), ("air", "root cancelled a")])
def test_a_close_and_a_loss_after_a_cancel(form: FormName, last: str) -> None:
    assert last in said(working(form)(CLOSE))
    lost = said(working(form)(CANCEL, DEAD))
    assert lost.count(last) == 1


@pytest.mark.parametrize(("form", "last"), [("rfd", "root a idle"), ("air", "root failed a")])
def test_an_empty_conversation_has_no_subagents(form: FormName, last: str) -> None:
    assert said(working(form)(g.Reset())) == [last]


def test_who_is_lost_unannounced_is_forgotten_or_told_after_all() -> None:
    assert said(talk("rfd", started("a", "c1"))(DEAD))[:1] == ["forget c1"]
    assert said(talk("air", started("a", "c1"))(DEAD))[:3] == [*SPAWNED, "root failed a"]


def test_inv_x1_what_a_cancel_stopped_before_it_was_seen_never_appears() -> None:
    it = talk("rfd", CANCEL)
    assert said(it(launch("c1"), started("a", "c1"), ended("a", "killed"))) == []


# ── a launch that fails ───────────────────────────────────────────────────────

FAILED = e.ToolReturned("c1", "No such agent.", is_error=True)


def test_m20_a_launch_that_fails_without_a_subagent_is_shown_after_all() -> None:
    assert said(talk("air", launch("c1"))(FAILED)) == ["failed c1"]
    assert said(working("air", ended("a", "failed"))(FAILED)) == []
    assert said(talk("rfd", launch("c1"))(FAILED)) == ["failed c1"]


def test_inv_c4_a_launch_that_needs_a_permission_is_there_before_the_request() -> None:
    it = talk("air", launch("c1"))
    ask = e.AskReceived("ask", e.ToolUse("c1", "Agent"), OPTIONS)
    assert said(it(ask, prepared("ask"))) == ["ShowCall c1", "ask ask on root"]
    told = said(it(answer("ask", "allow-once"), started("a", "c1"), ended("a"), returned("c1")))
    assert told == [*SPAWNED, "root completed a", "completed c1"]


# ── asked again ───────────────────────────────────────────────────────────────


def asked_twice(form: FormName, *more: Any) -> Talk:
    """A subagent that was done and runs again."""
    return working(
        form, ended("a", run="1"), returned("c1"), message("c2", "a"), started("a", "c2", run="2"), *more
    )


@pytest.mark.contract("SA-064", "SA-066", "SA-067", "SA-069", "SA-070")
def test_m21_it_runs_again_in_its_session() -> None:
    it = working("rfd", ended("a", run="1"), returned("c1"))
    told = said(
        it(message("c2", "a"), started("a", "c2", run="2"), resumed("c2", "a"), started("a", "c2", run="2"))
    )
    assert told == ["ShowCall c2", "root a running", "a c2 from root", "c1,c2 to a", "completed c2"]
    assert said(it(ended("a", run="2", call="c2"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-021", "SA-018")
def test_m20_it_runs_again_in_another_session() -> None:
    it = working("air", ended("a", run="1"), returned("c1"))
    outputs = it(message("c2", "a"), started("a", "c2", run="2"), resumed("c2", "a"))
    assert said(outputs) == [
        "ShowCall c2",
        "root spawned a:generation:2",
        "c1,c2 to a:generation:2",
        "completed c2",
    ]
    (spawn,) = [each for each in outputs if isinstance(each, SpawnChild)]
    assert (spawn.name, spawn.prompt) == ("scout", "More by c2.")
    assert said(it(child_call("b1", "c1"), ended("a", run="2"))) == [
        *("ShowCall b1", "close b1", "root completed a:generation:2")
    ]


@pytest.mark.contract("SA-068")
def test_m21_who_asks_may_be_unknown() -> None:
    it = working("rfd", ended("a"))
    told = said(it(started("a", "c9", run="2", prompt="More.")))
    assert told == ["root a running", "a c9 from nobody", "c1,c9 to a"]


@pytest.mark.contract("SA-067")
def test_m21_one_subagent_asks_another() -> None:
    it = working("rfd", ended("a"), launch("c2"), started("b", "c2"))
    told = said(it(message("c3", "a", "c2"), started("a", "c3")))
    assert told[1:] == ["root a running", "a c3 from b", "c1,c3 to a"]


@pytest.mark.contract("SA-071", "SA-072")
def test_inv_h7_the_end_of_an_earlier_run_ends_nothing() -> None:
    it = asked_twice("rfd")
    late = it(ended("a", run="1"), ended("a", run="2", call="c1"))
    assert said(late) == []
    assert it.session._work.tasks.holds({"a"}), "nor does it settle the task"
    assert said(it(ended("a", run="2", call="c2"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-073")
def test_m21_the_result_of_a_message_whose_run_is_over_starts_nothing() -> None:
    it = asked_twice("rfd", ended("a", run="2", call="c2"))
    assert said(it(resumed("c2", "a"))) == ["completed c2"]
    assert not it.session._work.tasks.holds({"a"})


@pytest.mark.parametrize("form", ["rfd", "air"])
def test_m21_the_result_may_be_the_first_signal(form: FormName) -> None:
    it = working(form, ended("a"), returned("c1"), message("c2", "a"))
    told = said(it(resumed("c2", "a")))
    if form == "rfd":
        assert told == ["completed c2", "root a running", "a c2 from root", "c1,c2 to a"]
    else:
        assert told == ["completed c2", "root spawned a:generation:2", "c1,c2 to a:generation:2"]
    assert it.session._work.tasks.holds({"a"})
    again = [each for each in said(it(started("a", "c2", run="2"))) if " to a" not in each]
    assert again == []


def test_the_result_may_be_text() -> None:
    it = working("rfd", ended("a"), returned("c1"), message("c2", "a"))
    text = [{"type": "text", "text": '{"success": true, "resumedAgentId": "a"}'}]
    assert "root a running" in said(it(e.ToolReturned("c2", text)))
    assert "root b running" not in said(
        it(e.ToolReturned("c3", [{"type": "text", "text": '"resumedAgentId"'}]))
    )


@pytest.mark.contract("SA-075")
def test_m21_a_run_under_an_id_it_had_before_is_ended_by_that_run() -> None:
    it = asked_twice("rfd", ended("a", run="2"))
    assert said(it(started("a", "c1", run="3"))) == ["root a running", "c1,c2 to a"]
    assert said(it(ended("a", run="3", call="c2"))) == []
    assert said(it(ended("a", run="3", call="c1"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-076")
def test_m21_a_running_patch_tells_that_alone() -> None:
    it = working("rfd", ended("a", run="1"))
    assert said(it(e.TaskMoved("a", "running", "2"))) == ["root a running"]
    assert said(it(started("a", "c2", run="2", prompt="More."))) == ["a c2 from nobody", "c1,c2 to a"]


def test_m20_a_running_patch_is_the_first_sign_of_a_generation() -> None:
    it = working("air", ended("a", run="1"), message("c2", "scout"))
    outputs = it(e.TaskMoved("a", "running", "2"))
    assert said(outputs) == ["root spawned a:generation:2", "c1 to a:generation:2"]
    assert news(outputs)[0].prompt == "More by c2."
    assert said(it(e.TaskMoved("a", "running", "2"))) == []
    assert said(it(started("a", "c2", run="2"))) == ["c1,c2 to a:generation:2"]


def test_b1_a_patch_of_a_run_that_is_over_wakes_nobody() -> None:
    it = working("rfd", ended("a", run="1"))
    assert said(it(e.TaskMoved("a", "running", "1"))) == []


def test_an_agent_from_before_this_connection_stays_unexposed() -> None:
    """A replay will know whose it was."""
    it = talk("rfd")
    assert said(it(message("c2", "z"), started("z", "c2"), ended("z"))) == ["ShowCall c2", "forget c2"]


# ── requests ──────────────────────────────────────────────────────────────────


@pytest.mark.contract("SA-078", "SA-080", "SA-081", "PM-115")
def test_m21_it_waits_for_the_user_until_the_last_answer() -> None:
    it = working("rfd", child_call("b1", "c1"), child_call("b2", "c1"))
    assert said(it(*asks("1", "b1", "a"))) == ["root a requires_action", "ask 1 on a"]
    assert said(it(*asks("2", "b2", "a"))) == ["ask 2 on a"]
    assert said(it(answer("1", "allow-once"))) == []
    assert said(it(answer("2", "reject"))) == ["root a running"]


@pytest.mark.contract("SA-079")
def test_m21_a_question_is_a_request_too() -> None:
    it = working("rfd")
    outputs = it(e.FormReceived("f", agent="a"))
    assert said(outputs) == ["root a requires_action"]
    assert [each.place for each in outputs if isinstance(each, o.AskForm)] == [Place("a")]
    assert said(it(e.FormAnswered("f", "decline"))) == ["root a running"]


@pytest.mark.contract("SA-082", "PM-115")
def test_m21_one_that_ended_while_it_waited_does_not_run() -> None:
    it = working("rfd", *asks("1", "b1", "a"))
    assert said(it(ended("a"), answer("1", "allow-once"))) == ["root a idle end_turn"]


@pytest.mark.contract("SA-083", "PM-116")
def test_m21_one_that_is_asked_again_while_it_waits_says_so() -> None:
    it = working(
        "rfd", child_call("b1", "c1"), *asks("1", "b1", "a"), ended("a", run="1"), message("c2", "a")
    )
    assert said(it(started("a", "c2", run="2")))[0] == "root a requires_action"
    assert said(it(answer("1", "allow-once"))) == ["root a running"]


@pytest.mark.contract("SA-084", "SA-085", "PM-118")
def test_m21_a_cancel_withdraws_and_nothing_is_told_before_the_end() -> None:
    """The client never answers; the request counts no more all the same."""
    it = working("rfd", child_call("b1", "c1"), *asks("1", "b1", "a"))
    assert said(it(CANCEL, e.AskWithdrawn("1"))) == []
    assert said(it(ended("a", "killed", run="1")))[0] == "root a idle cancelled"
    it(end("A"), prompt("B"), begin("B"), message("c2", "a"))
    assert said(it(started("a", "c2", run="2")))[0] == "root a running"


def test_m21_so_does_the_loss_of_the_process() -> None:
    it = working("rfd", child_call("b1", "c1"), *asks("1", "b1", "a"))
    told = [each for each in said(it(DEAD)) if each.startswith("root a")]
    assert told == ["root a idle"]


def test_m21_one_that_goes_on_after_a_cancel_says_so() -> None:
    it = working("rfd", *asks("1", "b1", "a"), CANCEL)
    assert said(it(e.MessageStarted("c1"))) == ["root a running"]


def test_m21_claude_code_itself_may_withdraw() -> None:
    it = working("rfd", *asks("1", "b1", "a"))
    assert said(it(e.AskWithdrawn("1"))) == ["root a running"]


@pytest.mark.contract("PM-113", "SA-060")
def test_a_request_of_one_that_is_not_announced_is_on_the_root() -> None:
    it = talk("rfd", started("a", "c1"))
    assert said(it(*asks("1", "b1", "a"))) == ["ShowCall b1", "ask 1 on root"]
    assert said(it(launch("c1")))[-1] == "root a requires_action"


def test_a_call_that_only_its_request_tells_of_is_its_subagent_s() -> None:
    it = working("rfd")
    (shown,) = [each for each in it(*asks("1", "b1", "a")) if isinstance(each, o.ShowCall)]
    assert shown.use.parent == "c1"


def test_m20_a_subagent_that_a_cancel_ended_asks_nobody() -> None:
    it = talk("air", launch("c1"), started("a", "c1", background=True), CANCEL)
    outputs = it(*asks("1", "b1", "a"))
    assert [type(each) for each in outputs if isinstance(each, o.DenyAsk | o.AskClient)] == [o.DenyAsk]


# ── what is forgotten, and what is not understood ─────────────────────────────


def test_a_hook_of_a_launch_that_nobody_sees_is_not_told() -> None:
    it = talk("air", launch("toolu_1"))
    assert it(e.ToolHooked("toolu_1", "Agent", response={"status": "async_launched"})) == []


def test_a_launch_that_a_rule_refuses_is_shown_with_its_result() -> None:
    it = talk("air", launch("toolu_1"))
    assert it(e.ToolDenied("toolu_1", "Agent")) == []
    outputs = it(returned("toolu_1", is_error=True))
    assert [type(each) for each in outputs if isinstance(each, CHILD)] == [ShowFailedLaunch]


def test_launches_that_never_ended_are_forgotten_in_the_end() -> None:
    it = talk("air", *(launch(f"toolu_{n}") for n in range(1100)))
    failed = {"is_error": True}
    assert [type(each) for each in it(returned("toolu_1099", **failed)) if isinstance(each, CHILD)] == [
        ShowFailedLaunch
    ]
    assert not [each for each in it(returned("toolu_0", **failed)) if isinstance(each, ShowFailedLaunch)]


def test_only_the_last_delegations_are_remembered() -> None:
    known = Delegations()
    for n in range(1100):
        known.note(launch(f"toolu_{n}").use)
    assert known.launch("toolu_0") is None
    assert known.launch("toolu_1099") is not None


@pytest.mark.parametrize(
    ("content", "agent"),
    [
        ([{"text": '{"resumedAgentId": '}, {"text": '{"resumedAgentId": "a"}'}], "a"),
        ('{"resumedAgentId": "a"}', "a"),
        ('["resumedAgentId"]', None),
        ("resumedAgentId", None),
        (None, None),
    ],
)
def test_who_runs_again_stands_in_the_text_too(content: object, agent: str | None) -> None:
    assert resumed_agent(e.ToolReturned("toolu_1", content)) == agent


@pytest.mark.contract("SA-048")
@pytest.mark.parametrize(("form", "shown"), [("rfd", ["ShowCall left"]), ("air", [])])
def test_what_a_subagent_that_ended_left_in_the_background_is_told(form: FormName, shown: list[str]) -> None:
    """An idle one may still tell; a session of AIR that ended may not (INV-H3)."""
    it = working(form)
    assert any("root" in word and "a" in word for word in said(it(ended("a"))))
    assert said(it(child_call("left", "c1"))) == shown
