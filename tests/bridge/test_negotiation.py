"""The handshake: what a client is taken for, whatever it declares, and what it is told."""

import copy
import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import AIR_CAPABILITIES, ClientCapabilities, read_capabilities
from bridge.initialize import SESSION_CAPABILITIES, WORKING, initialize_response
from bridge.live.setup import Setup, launch
from bridge.methods.opening import Request
from bridge.permissions.modes import catalog
from bridge.sessions.fork import ForkPoint, read_fork_point
from bridge.tools.render import with_air
from tests.support.clients import AIR_NAMES, CAPABILITIES

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NO_OBJECT = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(JSON, max_size=2)
ODD_VERSIONS = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=4) | st.just("1"),
    st.integers(max_value=0),
    st.floats().filter(lambda number: not number.is_integer() or number < 1),
    st.lists(JSON, max_size=2),
)
VERSIONS = st.integers(min_value=1) | st.integers(1, 2**50).map(float)
NAMES = st.lists(st.sampled_from(AIR_NAMES), min_size=1, max_size=4)


def client(air: Any, **more: Any) -> ClientCapabilities:
    """A client with this at `_meta.jetbrains.air`."""
    return read_capabilities({**more, "_meta": {"jetbrains": {"air": air}}})


def told(client: ClientCapabilities) -> Any:
    """What AIR is told in the answer."""
    return initialize_response(client)["_meta"]["jetbrains"]["air"]  # type: ignore[index]  # plain JSON


# ── who the client is ─────────────────────────────────────────────────────────


@pytest.mark.contract("NG-001")
@given(st.dictionaries(st.sampled_from(["version", "capabilities"]) | st.text(max_size=4), JSON))
def test_any_object_makes_an_air_client(air: Any) -> None:
    assert client(air).air
    assert told(client(air))["version"] == 1


@pytest.mark.contract("NG-002")
@given(NO_OBJECT)
def test_anything_else_does_not(air: Any) -> None:
    assert client(air) == read_capabilities({}) == ClientCapabilities()
    assert "jetbrains" not in str(initialize_response(client(air)))


def test_nothing_makes_no_air_client() -> None:
    nothings: list[Any] = [{"_meta": {"jetbrains": {}}}, {"_meta": {}}, {}, None, [], "air"]
    assert not any(read_capabilities(nothing).air for nothing in nothings)


@pytest.mark.contract("NG-006", "NG-007", "TC-022", "TC-023")
@given(VERSIONS, NAMES)
def test_capabilities_count_with_a_whole_version_of_at_least_one(version: Any, names: list[str]) -> None:
    assert client({"version": version, "capabilities": names}).air_capabilities == set(names)


@pytest.mark.contract("NG-006", "NG-007", "NG-010", "TC-023", "TC-026")
@given(ODD_VERSIONS, NAMES)
def test_and_with_no_other(version: Any, names: list[str]) -> None:
    declared = client({"version": version, "capabilities": names})
    assert (declared.air, declared.air_capabilities) == (True, frozenset())


@pytest.mark.contract("NG-007", "TC-026")
@pytest.mark.parametrize("version", [0, -1, 1.5, "1", True, math.nan, math.inf, -math.inf, None, [1], {}])
def test_odd_versions(version: Any) -> None:
    assert client({"version": version, "capabilities": AIR_NAMES}).air_capabilities == frozenset()
    assert client({"capabilities": AIR_NAMES}).air_capabilities == frozenset()


@pytest.mark.contract("NG-008", "TC-024")
@given(
    st.none() | st.booleans() | st.integers() | st.text() | st.dictionaries(st.sampled_from(AIR_NAMES), JSON)
)
def test_capabilities_that_are_no_array_do_not_count(names: Any) -> None:
    assert client({"version": 1, "capabilities": names}).air_capabilities == frozenset()


@pytest.mark.contract("NG-009", "TC-025")
@given(
    st.lists(JSON | st.sampled_from([*AIR_NAMES, "diffpatch", "DiffPatch", " diffPatch", "diff"]), max_size=6)
)
def test_a_capability_is_on_by_its_exact_name(names: list[Any]) -> None:
    declared = client({"version": 1, "capabilities": names})
    on = {name for name in AIR_NAMES if declared.has(name)}
    assert on == {name for name in AIR_NAMES if any(each == name for each in names)}
    assert declared.diff_patch == ("diffPatch" in on)
    assert declared.plan_file == ("planFile" in on)
    assert declared.raw_input_rendering == ("rawInputRendering" in on)
    assert declared.session_failure == ("sessionFailure" in on)


KEYS = st.sampled_from(["_meta", "session", "elicitation", "auth", "subagents", "fs", "terminal"])
META_KEYS = st.sampled_from(
    ["jetbrains", "terminal_output", "terminal_output_delta", "terminal-auth", "subagent-transcript", "x"]
)


@pytest.mark.contract("NG-010")
@given(JSON | st.dictionaries(KEYS, JSON | st.dictionaries(META_KEYS, JSON)))
def test_whatever_is_declared_is_answered(declared: Any) -> None:
    """A wrong value turns nothing on: what is on was asked for with `true` or an object."""
    found = read_capabilities(declared)
    assert initialize_response(found)["protocolVersion"] == 1
    if found == ClientCapabilities():
        return
    meta = declared.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    assert (found.terminal == "delta") == (meta.get("terminal_output_delta") is True)
    assert (found.terminal == "output") == (
        meta.get("terminal_output") is True and meta.get("terminal_output_delta") is not True
    )
    assert found.terminal_auth == (meta.get("terminal-auth") is True)
    assert found.subagents == isinstance(declared.get("subagents"), dict)
    assert found.air_capabilities == frozenset()


@pytest.mark.contract("NG-053")
@given(JSON)
def test_notices_count_as_an_object_alone(notices: Any) -> None:
    found = read_capabilities({"session": {"notices": notices, "compaction": notices}})
    assert found.notices == found.compaction == isinstance(notices, dict)


@pytest.mark.contract("NG-031")
@pytest.mark.parametrize("air", [None, {}, {"version": 1, "capabilities": AIR_NAMES}])
def test_the_appending_form_outranks_the_other(air: Any) -> None:
    both = {"terminal_output": True, "terminal_output_delta": True}
    assert read_capabilities({"_meta": {**both, "jetbrains": {"air": air}}}).terminal == "delta"


@pytest.mark.contract("NG-042", "NG-043")
@pytest.mark.parametrize(
    ("declared", "names", "form"),
    [
        ({}, None, "none"),
        ({"subagents": {}}, None, "rfd"),
        ({"subagents": {"more": 1}}, None, "rfd"),
        ({"subagents": None}, None, "none"),
        ({"subagents": True}, None, "none"),
        ({}, [], "none"),
        ({}, ["nativeSubagentSessions"], "air"),
        ({"subagents": {}}, [], "air"),
        ({"subagents": {}}, ["nativeSubagentSessions"], "air"),
    ],
)
def test_the_form_of_subagents(declared: Any, names: list[str] | None, form: str) -> None:
    air = None if names is None else {"version": 1, "capabilities": names}
    assert client(air, **declared).subagent_form == form


@pytest.mark.contract("TC-101", "TC-102")
def test_what_a_client_can_do_is_known_once_and_for_all() -> None:
    air = client({"version": 1, "capabilities": AIR_NAMES})
    with pytest.raises(dataclasses.FrozenInstanceError):
        air.air = False  # type: ignore[misc]  # this is the test
    general = dataclasses.replace(air, air=False, air_capabilities=frozenset())
    assert general == ClientCapabilities(), "no name of AIR turns on what is for all"
    assert hash(air) != hash(general)


# ── what it is told ───────────────────────────────────────────────────────────


@pytest.mark.contract("NG-014", "TC-032")
@given(JSON | st.sampled_from([*map(dict, CAPABILITIES.values())]), JSON | NAMES)
def test_the_list_is_the_same_for_every_air_client(declared: Any, air: Any) -> None:
    more = declared if isinstance(declared, dict) else {}
    found = client({"version": 1, "capabilities": air}, **{key: more[key] for key in more if key != "_meta"})
    assert told(found) == told(client({}))


@pytest.mark.contract("NG-013", "NG-019", "TC-033")
def test_the_list_has_what_works_in_the_order_of_the_contract() -> None:
    listed = told(client({}))["capabilities"]
    assert listed == [name for name in AIR_CAPABILITIES if name in WORKING]
    assert set(listed) <= set(AIR_CAPABILITIES)
    assert not {"rawInputRendering", "planContentDelta"} & set(listed)


@pytest.mark.contract("NG-020")
def test_plan_content_delta_changes_nothing() -> None:
    names = ["planContentDelta"]
    declared = client({"version": 1, "capabilities": names})
    rest = dataclasses.replace(declared, air_capabilities=frozenset())
    assert rest == client({})
    flags = {
        name
        for name in dir(ClientCapabilities)
        if isinstance(getattr(ClientCapabilities, name), property)
        and getattr(declared, name) != getattr(rest, name)
    }
    assert flags == set()
    assert initialize_response(declared) == initialize_response(rest)


@pytest.mark.contract("NG-021", "TC-037")
@pytest.mark.parametrize("air", [{}, {"version": "odd"}, {"version": 1, "capabilities": []}])
def test_goals_need_air_and_no_capability(air: Any) -> None:
    offered = {"version": 1, "controlMethod": "_session/goal", "actions": ["set", "clear"]}
    assert told(client(air))["goal"] == offered
    assert "goal" not in str(initialize_response(read_capabilities(CAPABILITIES["rfd"])))


@pytest.mark.contract("NG-040")
@pytest.mark.parametrize("kind", CAPABILITIES)
def test_the_capabilities_of_sessions_are_those_that_there_are(kind: str) -> None:
    answer: Any = initialize_response(read_capabilities(CAPABILITIES[kind]))
    sessions = answer["agentCapabilities"]["sessionCapabilities"]
    assert "systemPrompt" not in sessions
    assert sessions.keys() - {"subagents"} == set(SESSION_CAPABILITIES)
    assert all(value == {} for value in sessions.values())


# ── the envelope ──────────────────────────────────────────────────────────────

PAYLOADS = st.dictionaries(
    st.sampled_from(["subagent", "skill", "commandTitle", "goal"]), JSON.filter(lambda v: v == v), min_size=1
)
METAS = st.dictionaries(
    st.sampled_from(["claudeCode", "terminal_info", "x"]) | st.text(max_size=3), JSON, max_size=3
)
AIRS = st.dictionaries(st.sampled_from(["version", "subagent", "kind", "old"]), JSON, max_size=3)


@pytest.mark.contract("NG-022", "NG-023", "NG-024", "TC-040")
@given(METAS, st.dictionaries(st.sampled_from(["other"]), JSON), AIRS, PAYLOADS)
def test_a_payload_more_keeps_everything_else(meta: Any, jetbrains: Any, air: Any, payload: Any) -> None:
    given = {**meta, "jetbrains": {**jetbrains, "air": air}}
    before = copy.deepcopy(given)
    result: Any = with_air(given, payload)
    assert repr(given) == repr(before), "the given one is left alone"
    kept = {key: value for key, value in result.items() if key != "jetbrains"}
    assert repr(kept) == repr({key: value for key, value in given.items() if key != "jetbrains"})
    assert repr({key: result["jetbrains"][key] for key in jetbrains}) == repr(jetbrains)
    assert result["jetbrains"]["air"].keys() == {*air, *payload, "version"}
    assert {key: result["jetbrains"]["air"][key] for key in payload} == payload
    assert result["jetbrains"]["air"]["version"] == 1


@pytest.mark.contract("NG-024")
@given(METAS, NO_OBJECT, PAYLOADS)
def test_what_is_no_object_is_replaced(meta: Any, odd: Any, payload: Any) -> None:
    wanted = {"air": {"version": 1, **payload}}
    assert with_air({**meta, "jetbrains": odd}, payload)["jetbrains"] == wanted
    assert with_air({**meta, "jetbrains": {"air": odd}}, payload)["jetbrains"] == wanted


@given(METAS)
def test_no_payload_is_no_envelope(meta: Any) -> None:
    assert repr(with_air(meta, {})) == repr(meta)
    assert with_air(meta, {}) is not meta


# ── what it asks for ──────────────────────────────────────────────────────────

FORK = {"version": 1, "messageId": "m1"}


@pytest.mark.contract("TC-056")
@pytest.mark.parametrize(
    ("fork", "point"),
    [
        (FORK, ForkPoint("m1")),
        ({**FORK, "version": 1.0, "messageId": " m1 "}, ForkPoint("m1")),
        ({**FORK, "messageFingerprint": "f", "messageOccurrence": 2}, ForkPoint("m1", "f", 2)),
        ({**FORK, "messageFingerprint": 7, "messageOccurrence": 0}, ForkPoint("m1")),
        ({**FORK, "version": 2}, None),
        ({**FORK, "version": True}, None),
        ({"messageId": "m1"}, None),
        ({"version": 1}, None),
        ({"version": 1, "messageId": "  "}, None),
        ({"version": 1, "messageId": 5}, None),
        ("m1", None),
        (None, None),
    ],
)
def test_where_a_fork_ends(fork: Any, point: ForkPoint | None) -> None:
    assert read_fork_point({"fork": fork}) == point


@pytest.mark.contract("TC-075")
@pytest.mark.parametrize("resume", [False, True], ids=["new", "load"])
@pytest.mark.parametrize("kind", CAPABILITIES)
def test_options_are_read_for_new_sessions_and_for_those_taken_up(kind: str, resume: bool) -> None:
    modes = catalog(auto=True, bypass=False)
    meta = {"claudeCode": {"options": {"model": "opus", "maxTurns": 3}}}
    request = Request("/project", (), [], meta)
    setup = Setup("S", "/project", read_capabilities(CAPABILITIES[kind]), modes, options=request.options)
    described = launch(setup, None, claude_id="C", mode="plan", resume=resume)
    assert (described.model, described.options["max_turns"]) == ("opus", 3)
