"""Subagents in the life of a session: whose they are, what they hear, and when they end (M20, M21)."""

from dataclasses import replace

import pytest

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import (
    ROOT,
    ShowFailedLaunch,
    UpdateChild,
)
from machines.children.delegations import Delegations, resumed_agent
from machines.children.forms.child_forms import FormName
from machines.companions import goal as g
from tests.machines.conversation.family import (
    CHILD,
    RUNNING,
    SPAWNED,
    asks,
    child_call,
    ended,
    launch,
    news,
    said,
    started,
    talk,
    working,
)
from tests.machines.talk import (
    CANCEL,
    CLOSE,
    DEAD,
    IDLE,
    OPTIONS,
    aborted,
    answer,
    prepared,
    returned,
)

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
