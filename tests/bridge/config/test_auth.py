"""Who pays: the methods of a client, the status that is told, the guard against Claude accounts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.config.auth import (
    SIGNED_OUT,
    AuthStatus,
    auth_methods,
    gateway_status,
    guard,
    newer_status,
    probed_status,
    read_gateway,
    session_status,
)
from bridge.config.providers import Route
from wire.rpc import AUTH_REQUIRED, INVALID_PARAMS, WireError

PROGRAM = ("/usr/bin/python3", "-m", "claude_acp", "--hide-claude-auth")
ZED = ClientCapabilities(terminal_auth=True)
SIMPLE = ClientCapabilities(auth_terminal=True)
GATEWAY = ClientCapabilities(gateway_auth=True)


def ids(
    client: ClientCapabilities, *, environ: dict[str, str] | None = None, hide: bool = False
) -> list[object]:
    return [each["id"] for each in auth_methods(client, environ or {}, PROGRAM, hide_claude=hide)]


@pytest.mark.contract("AU-001", "AU-002", "AU-003", "AU-004")
@pytest.mark.parametrize(
    ("client", "environ", "hide", "methods"),
    [
        (ClientCapabilities(), {}, False, []),
        (SIMPLE, {}, False, ["claude-ai-login", "console-login"]),
        (ZED, {}, False, ["claude-ai-login", "console-login"]),
        (ZED, {}, True, ["console-login"]),
        (ZED, {"SSH_TTY": "/dev/pts/0"}, False, ["claude-login"]),
        (ZED, {"SSH_TTY": "/dev/pts/0"}, True, []),
        (ZED, {"SSH_TTY": ""}, False, ["claude-ai-login", "console-login"]),
        (GATEWAY, {}, True, ["gateway", "gateway-bedrock"]),
        (
            ClientCapabilities(auth_terminal=True, gateway_auth=True),
            {},
            False,
            ["claude-ai-login", "console-login", "gateway", "gateway-bedrock"],
        ),
    ],
)
def test_which_methods_a_client_gets(
    client: ClientCapabilities, environ: dict[str, str], hide: bool, methods: list[str]
) -> None:
    assert ids(client, environ=environ, hide=hide) == methods


@pytest.mark.contract("AU-002")
@pytest.mark.parametrize(
    "name", ["NO_BROWSER", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "CLAUDE_CODE_REMOTE"]
)
def test_what_makes_a_session_remote(name: str) -> None:
    assert ids(SIMPLE, environ={name: "1"}) == ["claude-login"]


@pytest.mark.contract("TC-073")
def test_the_methods_in_full() -> None:
    claude, console = auth_methods(ZED, {}, PROGRAM, hide_claude=False)
    (remote,) = auth_methods(SIMPLE, {"NO_BROWSER": "1"}, PROGRAM, hide_claude=False)
    _, bedrock = auth_methods(GATEWAY, {}, PROGRAM, hide_claude=False)

    assert claude == {
        "description": "Use Claude subscription ",
        "name": "Claude Subscription",
        "id": "claude-ai-login",
        "type": "terminal",
        "args": ["--cli", "auth", "login", "--claudeai"],
        "_meta": {
            "terminal-auth": {
                "command": "/usr/bin/python3",
                "args": ["-m", "claude_acp", "--hide-claude-auth", "--cli", "auth", "login", "--claudeai"],
                "label": "Claude Login",
            }
        },
    }
    assert (console["name"], console["description"]) == (
        "Anthropic Console",
        "Use Anthropic Console (API usage billing)",
    )
    assert console["args"] == ["--cli", "auth", "login", "--console"]
    assert remote == {
        "description": "Run `claude /login` in the terminal",
        "name": "Log in with Claude",
        "id": "claude-login",
        "type": "terminal",
        "args": ["--cli"],
    }
    assert bedrock == {
        "id": "gateway-bedrock",
        "name": "Custom model gateway",
        "description": "Use a custom gateway to authenticate and access models",
        "_meta": {"gateway": {"protocol": "bedrock"}},
    }


@pytest.mark.contract("AU-005")
def test_a_gateway_sign_in() -> None:
    meta = {"gateway": {"baseUrl": "http://127.0.0.1:8931/gw", "headers": {"X": "1"}}}

    assert read_gateway("gateway", meta) == Route("anthropic", "http://127.0.0.1:8931/gw", {"X": "1"})
    assert read_gateway("gateway-bedrock", {"gateway": {"baseUrl": "http://b"}}) == Route(
        "bedrock", "http://b"
    )
    for nothing in (None, {}, {"gateway": None}, 7):
        assert read_gateway("gateway", nothing) is None


@pytest.mark.contract("AU-006")
@pytest.mark.parametrize(
    ("method", "gateway", "message", "data"),
    [
        ("zz", None, "Unsupported authentication method: zz", {"methodId": "zz"}),
        (
            "console-login",
            None,
            "Unsupported authentication method: console-login",
            {"methodId": "console-login"},
        ),
        (
            "gateway",
            {"baseUrl": ""},
            "`_meta.gateway.baseUrl` must be a non-empty absolute http(s) URL.",
            {"baseUrl": ""},
        ),
        (
            "gateway",
            {"baseUrl": "http://x", "headers": ["X"]},
            "`_meta.gateway.headers` must be an object of header names to values.",
            None,
        ),
    ],
)
def test_a_sign_in_that_cannot_be_used(method: str, gateway: object, message: str, data: object) -> None:
    with pytest.raises(WireError) as refused:
        read_gateway(method, {"gateway": gateway})
    assert (refused.value.code, refused.value.message) == (INVALID_PARAMS, f"Invalid params: {message}")
    assert refused.value.data == data


KEY = AuthStatus("api_key", "Anthropic API key", "ANTHROPIC_API_KEY")
MAX = {"subscriptionType": "max", "apiProvider": "firstParty"}


@pytest.mark.contract("AU-019", "AU-020", "AU-021")
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"loggedIn": False, "apiProvider": "firstParty"}, SIGNED_OUT),
        ({"loggedIn": True, "apiProvider": "firstParty", "apiKeySource": "ANTHROPIC_API_KEY"}, KEY),
        (
            {"loggedIn": True, "apiKeySource": "apiKeyHelper", "subscriptionType": "max"},
            AuthStatus("api_key", "Anthropic API key", "apiKeyHelper"),
        ),
        (
            {"loggedIn": True, "apiProvider": "bedrock", "apiKeySource": "x"},
            AuthStatus("external", "AWS Bedrock"),
        ),
        ({"loggedIn": False, "apiProvider": "vertex"}, AuthStatus("external", "Google Vertex AI")),
        ({"loggedIn": True, "apiProvider": "foundry"}, AuthStatus("external", "Azure AI Foundry")),
        ({"loggedIn": True, "apiProvider": "anthropicAws"}, AuthStatus("external", "Anthropic on AWS")),
        (
            {"loggedIn": True, "apiProvider": "anthropicGoogleCloud"},
            AuthStatus("external", "Anthropic on Google Cloud"),
        ),
        ({"loggedIn": True, "apiProvider": "mantle"}, AuthStatus("external", "Mantle")),
        ({"loggedIn": True, "apiProvider": "newcloud"}, AuthStatus("external", "newcloud")),
        ({"loggedIn": True, "apiProvider": "gateway"}, gateway_status()),
        (
            {"loggedIn": True, **MAX, "email": "a@b.c", "orgName": "Org"},
            AuthStatus("account", "Claude Max", None, "a@b.c", "Org", "max"),
        ),
        ({"loggedIn": True, "apiProvider": "firstParty", "authMethod": "oauth_token"}, None),
        ({"loggedIn": "yes", "apiKeySource": "x"}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_reading_the_probe(answer: object, status: AuthStatus | None) -> None:
    assert probed_status(answer) == status


@pytest.mark.contract("AU-023", "AU-024")
@pytest.mark.parametrize(
    ("account", "status"),
    [
        ({"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"}, KEY),
        ({"apiProvider": "bedrock"}, AuthStatus("external", "AWS Bedrock")),
        (MAX | {"organization": "Org"}, AuthStatus("account", "Claude Max", None, None, "Org", "max")),
        ({"tokenSource": "none", "apiProvider": "firstParty"}, None),
        ({"tokenSource": "ANTHROPIC_AUTH_TOKEN", "apiProvider": "firstParty"}, None),
        ({"apiKeySource": 7}, None),
        ({}, None),
        (None, None),
    ],
)
def test_reading_the_account_of_a_session(account: object, status: AuthStatus | None) -> None:
    assert session_status(account, overridden=False) == status
    assert session_status(account, overridden=True) is None


@pytest.mark.contract("AU-022")
@pytest.mark.parametrize(
    ("plan", "label"),
    [
        ("max", "Claude Max"),
        ("claude_max", "Claude Max"),
        ("Claude Pro", "Claude Pro"),
        ("team_premium", "Claude Team Premium"),
        ("ENTERPRISE", "Claude Enterprise"),
        ("claude", "Claude"),
    ],
)
def test_labels_of_plans(plan: str, label: str) -> None:
    status = session_status({"subscriptionType": plan}, overridden=False)
    assert status is not None
    assert (status.label, status.payload()["account"]) == (label, {"plan": plan})


@pytest.mark.contract("AU-022")
@given(st.text(min_size=1).filter(str.strip))
def test_a_plan_label_has_one_claude(plan: str) -> None:
    status = session_status({"subscriptionType": plan}, overridden=False)
    assert status is not None
    assert [word.lower() for word in status.label.split()].count("claude") == 1
    assert status.plan == plan


def test_payloads() -> None:
    assert SIGNED_OUT.payload() == {"kind": "none", "label": "Not logged in"}
    assert gateway_status("127.0.0.1:8931").payload() == {
        "kind": "gateway",
        "label": "Custom model gateway",
        "detail": "127.0.0.1:8931",
    }
    assert AuthStatus("account", "Claude Max", None, "a@b.c", None, "max").payload() == {
        "kind": "account",
        "label": "Claude Max",
        "account": {"email": "a@b.c", "plan": "max"},
    }


RICH = AuthStatus("account", "Claude Max", None, "a@b.c", "Org", "max")
POOR = AuthStatus("account", "Claude Max", None, None, None, "max")


@pytest.mark.contract("AU-015", "AU-026")
@pytest.mark.parametrize(
    ("known", "read", "after"),
    [
        (None, POOR, POOR),
        (RICH, POOR, RICH),
        (POOR, RICH, RICH),
        (
            RICH,
            AuthStatus("account", "Claude Pro", None, "x@y.z", None, "pro"),
            AuthStatus("account", "Claude Pro", None, "x@y.z", None, "pro"),
        ),
        (
            RICH,
            AuthStatus("account", "Claude Pro", None, "a@b.c", None, "pro"),
            AuthStatus("account", "Claude Pro", None, "a@b.c", "Org", "pro"),
        ),
        (RICH, KEY, KEY),
        (
            KEY,
            AuthStatus("api_key", "Anthropic API key", "apiKeyHelper"),
            AuthStatus("api_key", "Anthropic API key", "apiKeyHelper"),
        ),
        (gateway_status("h:1"), gateway_status(), gateway_status("h:1")),
        (
            AuthStatus("external", "AWS Bedrock"),
            AuthStatus("external", "Mantle"),
            AuthStatus("external", "Mantle"),
        ),
        (RICH, SIGNED_OUT, SIGNED_OUT),
    ],
)
def test_what_is_known_after_another_reading(
    known: AuthStatus | None, read: AuthStatus, after: AuthStatus
) -> None:
    assert newer_status(known, read) == after


STATUSES = st.sampled_from([RICH, POOR, KEY, SIGNED_OUT, gateway_status(), gateway_status("h:1")])


@pytest.mark.contract("AU-026")
@given(STATUSES, STATUSES)
def test_reading_the_same_again_changes_nothing(known: AuthStatus, read: AuthStatus) -> None:
    once = newer_status(known, read)
    assert newer_status(once, read) == once
    assert once.kind == read.kind


REFUSALS: dict[str, tuple[str, object]] = {
    "subscription": (
        "This integration does not support using claude.ai subscriptions.",
        {"reason": "claude_subscription_not_supported"},
    ),
    "credential": ("Sign in with an API key or a Console account to use this integration.", None),
}


@pytest.mark.contract("AU-029", "AU-030", "AU-031", "AU-032", "AU-033", "AU-035")
@pytest.mark.parametrize(
    ("account", "outcome"),
    [
        (MAX, "subscription"),
        (MAX | {"tokenSource": "none"}, "subscription"),
        (MAX | {"apiKeySource": "other"}, "subscription"),
        ({"subscriptionType": "pro"}, "subscription"),
        (MAX | {"tokenSource": "ANTHROPIC_AUTH_TOKEN"}, None),
        (MAX | {"apiKeySource": "ANTHROPIC_API_KEY"}, None),
        (MAX | {"apiKeySource": "apiKeyHelper"}, None),
        (MAX | {"apiKeySource": "/login managed key"}, None),
        (MAX | {"apiProvider": "bedrock"}, None),
        ({"tokenSource": "none", "apiProvider": "firstParty"}, "credential"),
        ({"apiKeySource": "other"}, "credential"),
        ({"apiKeySource": ["ANTHROPIC_API_KEY"]}, "credential"),
        ({}, "credential"),
        (None, None),
        ("account", None),
    ],
)
def test_the_guard(account: Any, outcome: str | None) -> None:
    assert guard(account, overridden=True) is None
    refusal = guard(account, overridden=False)
    if outcome is None:
        assert refusal is None
        return
    assert refusal is not None
    text, data = REFUSALS[outcome]
    assert (refusal.code, refusal.message) == (AUTH_REQUIRED, f"Authentication required: {text}")
    assert refusal.data == data
