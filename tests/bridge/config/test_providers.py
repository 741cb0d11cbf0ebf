"""Where model requests go: what a client may set, what is listed, what Claude Code's process gets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.config.providers import (
    Route,
    provider_list,
    read_address,
    read_headers,
    read_route,
    routing_env,
    routing_settings,
)
from tests.support.oracle import check_outgoing
from wire.rpc import INVALID_PARAMS, WireError

GOOD = {"providerId": "main", "apiType": "anthropic", "baseUrl": "https://gw.example/v"}
VERTEX = GOOD | {"apiType": "vertex", "_meta": {"claudeCode": {"vertex": {"projectId": "p", "region": "r"}}}}


def test_reading_a_route() -> None:
    assert read_route(GOOD) == Route("anthropic", "https://gw.example/v")
    assert read_route(GOOD | {"headers": {"X-Extra": "v1"}}).headers == {"X-Extra": "v1"}
    assert read_route(VERTEX) == Route("vertex", "https://gw.example/v", {}, "p", "r")
    assert Route("anthropic", "http://me:pw@127.0.0.1:8931/gw").host == "127.0.0.1:8931"


@pytest.mark.contract("AU-041")
@pytest.mark.parametrize(
    ("change", "message", "data"),
    [
        ({"providerId": "x"}, 'Unknown provider ID "x"; expected "main".', {"providerId": "x"}),
        (
            {"apiType": "openai"},
            'Unsupported apiType "openai" for provider "main".',
            {"apiType": "openai", "supported": ["anthropic", "bedrock", "vertex"]},
        ),
        ({"baseUrl": "ftp://x"}, "baseUrl must be a non-empty absolute http(s) URL.", {"baseUrl": "ftp://x"}),
        ({"headers": ["X"]}, "headers must be an object of header names to values.", None),
        (
            {"apiType": "vertex"},
            "vertex apiType requires non-empty `_meta.claudeCode.vertex.projectId` and "
            "`_meta.claudeCode.vertex.region`.",
            None,
        ),
    ],
)
def test_a_route_that_cannot_be_set(change: dict[str, Any], message: str, data: object) -> None:
    with pytest.raises(WireError) as refused:
        read_route(GOOD | change)
    assert (refused.value.code, refused.value.message) == (INVALID_PARAMS, f"Invalid params: {message}")
    assert refused.value.data == data


@pytest.mark.contract("AU-041")
@pytest.mark.parametrize(
    "vertex",
    [
        None,
        {},
        {"projectId": "p"},
        {"region": "r"},
        {"projectId": " ", "region": "r"},
        {"projectId": 1, "region": "r"},
    ],
)
def test_vertex_needs_a_project_and_a_region(vertex: object) -> None:
    with pytest.raises(WireError, match="vertex apiType requires"):
        read_route(GOOD | {"apiType": "vertex", "_meta": {"claudeCode": {"vertex": vertex}}})


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ("https://a.example", True),
        ("http://127.0.0.1:8931/gw", True),
        ("http://[::1]:1/", True),
        ("HTTPS://a.example", True),
        ("", False),
        ("a.example", False),
        ("/v1", False),
        ("ftp://a.example", False),
        ("https://", False),
        ("https:///path", False),
        ("https://a.example:99999", False),
        ("https://[::1", False),
        (" https://a.example", False),
        ("https://a.example\n", False),
        (None, False),
        (7, False),
    ],
)
def test_addresses(value: object, usable: bool) -> None:
    assert read_address(value) == (value if usable else None)


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        (None, {}),
        ({}, {}),
        ({"X-Extra": "a: b"}, {"X-Extra": "a: b"}),
        ({"": "x"}, None),
        ({"X Y": "x"}, None),
        ({"X": "a\r\nY: b"}, None),
        ({"X": 7}, None),
        ([], None),
        ("X: a", None),
    ],
)
def test_headers(value: object, headers: dict[str, str] | None) -> None:
    assert read_headers(value) == headers


@pytest.mark.contract("AU-039", "AU-040", "AU-042")
@pytest.mark.parametrize(
    ("route", "environ", "api_type", "base_url"),
    [
        (None, {}, "anthropic", "https://api.anthropic.com"),
        (None, {"ANTHROPIC_BASE_URL": "http://x"}, "anthropic", "http://x"),
        (None, {"CLAUDE_CODE_USE_BEDROCK": "1"}, "bedrock", "https://bedrock-runtime.amazonaws.com"),
        (None, {"CLAUDE_CODE_USE_BEDROCK": "0"}, "anthropic", "https://api.anthropic.com"),
        (
            None,
            {"CLAUDE_CODE_USE_BEDROCK": "true", "ANTHROPIC_BEDROCK_BASE_URL": "http://b"},
            "bedrock",
            "http://b",
        ),
        (None, {"CLAUDE_CODE_USE_VERTEX": "1"}, "vertex", "https://aiplatform.googleapis.com"),
        (
            None,
            {"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_BASE_URL": "http://v"},
            "vertex",
            "http://v",
        ),
        (Route("bedrock", "http://gw", {"Authorization": "secret"}), {}, "bedrock", "http://gw"),
    ],
)
def test_the_list_has_one_row(
    route: Route | None, environ: dict[str, str], api_type: str, base_url: str
) -> None:
    result = provider_list(route, environ)

    assert result == {
        "providers": [
            {
                "providerId": "main",
                "supported": ["anthropic", "bedrock", "vertex"],
                "required": False,
                "current": {"apiType": api_type, "baseUrl": base_url},
            }
        ]
    }
    check_outgoing({"jsonrpc": "2.0", "id": 1, "result": result}, {1: "providers/list"})


CLEARED = {
    "ANTHROPIC_BASE_URL": "",
    "ANTHROPIC_BEDROCK_BASE_URL": "",
    "ANTHROPIC_VERTEX_BASE_URL": "",
    "ANTHROPIC_VERTEX_PROJECT_ID": "",
    "CLOUD_ML_REGION": "",
    "AWS_REGION": "",
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_AUTH_TOKEN": "",
    "CLAUDE_CODE_OAUTH_TOKEN": "",
    "CLAUDE_CODE_USE_BEDROCK": "0",
    "CLAUDE_CODE_USE_VERTEX": "0",
    "ANTHROPIC_CUSTOM_HEADERS": "",
}


@pytest.mark.contract("AU-046", "AU-048")
@pytest.mark.parametrize(
    ("route", "own"),
    [
        (
            Route("anthropic", "http://gw", {"X-A": "1", "X-B": "2"}),
            {
                "ANTHROPIC_BASE_URL": "http://gw",
                "ANTHROPIC_AUTH_TOKEN": "acp-proxy",
                "ANTHROPIC_CUSTOM_HEADERS": "X-A: 1\nX-B: 2",
            },
        ),
        (
            Route("bedrock", "http://gw"),
            {
                "CLAUDE_CODE_USE_BEDROCK": "1",
                "AWS_BEARER_TOKEN_BEDROCK": "acp-proxy",
                "ANTHROPIC_BEDROCK_BASE_URL": "http://gw",
            },
        ),
        (
            Route("vertex", "http://gw", {}, "p", "r"),
            {
                "CLAUDE_CODE_USE_VERTEX": "1",
                "ANTHROPIC_VERTEX_PROJECT_ID": "p",
                "CLOUD_ML_REGION": "r",
                "ANTHROPIC_VERTEX_BASE_URL": "http://gw",
            },
        ),
        (
            Route("vertex", "https://aiplatform.googleapis.com/", {}, "p", "r"),
            {"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLOUD_ML_REGION": "r"},
        ),
    ],
)
def test_the_environment_of_each_route(route: Route, own: dict[str, str]) -> None:
    assert routing_env(route) == CLEARED | own


@pytest.mark.contract("AU-047")
def test_the_settings_keep_what_is_not_about_the_route() -> None:
    route = Route("anthropic", "http://gw")
    own = {"model": "opus", "apiKeyHelper": "./key", "env": {"MINE": "1", "ANTHROPIC_API_KEY": "k"}}

    assert routing_settings(own, route) == {
        "model": "opus",
        "apiKeyHelper": "",
        "env": {"MINE": "1", **routing_env(route)},
    }
    assert routing_settings({"env": "x"}, route)["env"] == routing_env(route)
    assert own["apiKeyHelper"] == "./key"


@pytest.mark.contract("AU-040", "CL-014")
@given(st.text(alphabet="abcxyz0189", min_size=6))
def test_header_values_are_in_no_text_about_the_route(secret: str) -> None:
    route = read_route(GOOD | {"headers": {"Authorization": f"Bearer {secret}"}})
    assert secret not in repr(route)
    assert secret not in repr(provider_list(route, {}))
