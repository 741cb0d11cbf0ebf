"""Which version is spoken, and what a client of ACP v2 is taken for and told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import read_capabilities
from bridge.initialize import (
    EXPERIMENTAL_V2,
    PROTOCOL,
    choose_version,
    declared_capabilities,
    read_version,
    served_versions,
)
from bridge.v2.handshake import client_capabilities, initialize_response, read_client
from tests.support.clients import CAPABILITIES
from tests.support.oracle_v2 import check
from wire import rpc
from wire.rpc import WireError

ONE, TWO, BOTH = frozenset({1}), frozenset({2}), frozenset({1, 2})


@pytest.mark.contract("V2-001", "V2-003", "V2-004", "NG-045")
@pytest.mark.parametrize(
    ("environ", "served"),
    [
        ({}, ONE),
        ({EXPERIMENTAL_V2: "1"}, BOTH),
        ({EXPERIMENTAL_V2: "0"}, ONE),
        ({EXPERIMENTAL_V2: "true"}, ONE),
        ({PROTOCOL: ""}, ONE),
        ({PROTOCOL: "", EXPERIMENTAL_V2: "1"}, BOTH),
        ({PROTOCOL: "v1"}, ONE),
        ({PROTOCOL: "v1", EXPERIMENTAL_V2: "1"}, ONE),
        ({PROTOCOL: "auto"}, BOTH),
        ({PROTOCOL: "v2"}, TWO),
        ({PROTOCOL: "v2", EXPERIMENTAL_V2: "0"}, TWO),
    ],
)
def test_the_environment_says_which_versions_are_served(environ: dict[str, str], served: Any) -> None:
    """Decision 24."""
    assert served_versions(environ) == (served, None)


@pytest.mark.parametrize("value", ["2", "V2", "v3", " v2"])
def test_an_unknown_value_is_v1_and_a_line_without_it(value: str) -> None:
    served, problem = served_versions({PROTOCOL: value, EXPERIMENTAL_V2: "1"})
    assert served == ONE
    assert problem is not None
    assert "v3" not in problem


@pytest.mark.contract("NG-047", "V2-003")
@given(st.integers(0, 65535))
def test_v1_alone_is_spoken_with_everybody(requested: int) -> None:
    assert choose_version(requested, ONE) == 1


@pytest.mark.contract("NG-046", "V2-001", "V2-002")
@given(st.integers(0, 65535))
def test_both_are_spoken_with_whom_wants_them(requested: int) -> None:
    assert choose_version(requested, BOTH) == (2 if requested >= 2 else 1)


@given(st.integers(0, 65535))
def test_v2_alone_is_refused_by_who_wants_less(requested: int) -> None:
    if requested >= 2:
        assert choose_version(requested, TWO) == 2
        return
    with pytest.raises(WireError) as caught:
        choose_version(requested, TWO)
    assert caught.value.code == rpc.VERSION_NOT_SUPPORTED
    assert caught.value.data == {"requested": requested, "supported": [2]}


@pytest.mark.parametrize("version", [None, "2", True, 1.5, -1, 65536, [2]])
def test_a_version_is_an_integer(version: Any) -> None:
    with pytest.raises(WireError) as caught:
        read_version({"protocolVersion": version})
    assert caught.value.code == rpc.INVALID_PARAMS


def test_who_hoped_for_v2_is_understood_on_v1() -> None:
    """W§1.3."""
    params = {
        "protocolVersion": 2,
        "info": {"name": "editor"},
        "capabilities": {
            "auth": {"terminal": {}},
            "elicitation": {"form": {}},
            "_meta": {"terminal-auth": True},
        },
    }
    client = read_capabilities(declared_capabilities(params))
    assert client.boolean_options
    assert client.auth_terminal
    assert client.elicitation_form
    assert client.terminal_auth
    assert not client.v2


def test_what_v1_declares_is_taken_as_it_is() -> None:
    declared: dict[str, Any] = {"elicitation": {"form": {}}}
    assert declared_capabilities({"clientCapabilities": declared, "capabilities": {"auth": {}}}) is declared
    assert declared_capabilities({}) is None


@pytest.mark.contract("V2-025", "NG-051")
def test_a_v2_client_has_much_without_declaring_it() -> None:
    client = client_capabilities({})
    assert client.v2
    assert (client.notices, client.compaction, client.boolean_options) == (True, True, True)
    assert client.subagent_form == "rfd"
    assert client.terminal == "output"
    assert client.diff_patch
    assert not client.elicitation_form
    assert not client.auth_terminal


@pytest.mark.contract("V2-024", "TC-038")
def test_air_is_v1_only() -> None:
    client = client_capabilities(CAPABILITIES["air"])
    assert not client.air
    assert client.air_capabilities == frozenset()
    assert client.subagent_form == "rfd"
    assert client.elicitation_form


@pytest.mark.parametrize(
    ("auth", "offered"), [({"terminal": {}}, True), ({"terminal": None}, False), ({"terminal": True}, False)]
)
def test_markers_are_objects(auth: Any, offered: bool) -> None:
    assert client_capabilities({"auth": auth}).auth_terminal is offered


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({}, "info"),
        ({"info": None}, "info"),
        ({"info": {"name": "x"}}, "info.version"),
        ({"info": {"name": 1, "version": "0"}}, "info.name"),
    ],
)
def test_who_agreed_on_v2_is_read_strictly(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(WireError) as caught:
        read_client({"protocolVersion": 2, **params})
    assert caught.value.code == rpc.INVALID_PARAMS
    assert problem in str(caught.value.data)


def test_broken_capabilities_count_as_none() -> None:
    info = {"name": "x", "version": "0"}
    nothings: list[Any] = [None, [], "all", {"elicitation": 3, "auth": []}]
    for broken in nothings:
        client = read_client({"protocolVersion": 2, "info": info, "capabilities": broken})
        assert client == client_capabilities({})


@pytest.mark.contract("NG-048", "V2-023", "V2-024")
def test_the_answer() -> None:
    methods = [
        {"id": "login", "name": "Log in", "type": "terminal", "args": ["--cli"], "env": {"A": "b"}},
        {"id": "gateway", "name": "Gateway", "_meta": {"gateway": {"protocol": "anthropic"}}},
    ]
    told = initialize_response(methods)
    check(told, "InitializeResponse", "initialize")
    assert "jetbrains" not in str(told)
    assert "steering" not in str(told)
    assert told["authMethods"] == [
        {
            "type": "terminal",
            "methodId": "login",
            "name": "Log in",
            "args": ["--cli"],
            "env": [{"name": "A", "value": "b"}],
        },
        {
            "type": "agent",
            "methodId": "gateway",
            "name": "Gateway",
            "_meta": {"gateway": {"protocol": "anthropic"}},
        },
    ]
