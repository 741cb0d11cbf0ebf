"""Who pays for a session: sign-in methods, the status that clients are told, and the guard against accounts.

Use `auth_methods` for the response of `initialize`, `read_gateway` for `authenticate`. `probed_status` and
`session_status` turn what Claude Code says of the account into a status, `newer_status` keeps what is known
of one identity, and a push is due whenever its payload differs from the last one. `guard` is asked at session
creation and at each turn when the agent runs with `--hide-claude-auth`. Rules: config-and-auth §1.3, §9, §10,
§12.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bridge.capabilities import ClientCapabilities
from bridge.config.providers import Route, read_address, read_headers
from wire.rpc import AUTH_REQUIRED, INVALID_PARAMS, WireError

StatusKind = Literal["gateway", "external", "api_key", "account", "none"]

_REMOTE = ("NO_BROWSER", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "CLAUDE_CODE_REMOTE")
_GATEWAYS = {"gateway": "anthropic", "gateway-bedrock": "bedrock"}
_BACKENDS = {
    "bedrock": "AWS Bedrock",
    "vertex": "Google Vertex AI",
    "foundry": "Azure AI Foundry",
    "anthropicAws": "Anthropic on AWS",
    "anthropicGoogleCloud": "Anthropic on Google Cloud",
    "mantle": "Mantle",
}
_KEY_SOURCES = frozenset({"ANTHROPIC_API_KEY", "apiKeyHelper", "/login managed key"})


@dataclass(frozen=True, slots=True)
class _Login:
    """A sign-in outside the protocol: Claude Code's own, in a terminal."""

    id: str
    name: str
    description: str
    label: str
    args: tuple[str, ...]
    claude: bool
    """It signs in to a Claude account."""
    remote: bool = False
    """Where no browser is at hand."""


_LOGINS = (
    _Login(
        "claude-ai-login",
        "Claude Subscription",
        "Use Claude subscription ",
        "Claude Login",
        ("--cli", "auth", "login", "--claudeai"),
        claude=True,
    ),
    _Login(
        "console-login",
        "Anthropic Console",
        "Use Anthropic Console (API usage billing)",
        "Anthropic Console Login",
        ("--cli", "auth", "login", "--console"),
        claude=False,
    ),
    _Login(
        "claude-login",
        "Log in with Claude",
        "Run `claude /login` in the terminal",
        "Claude Login",
        ("--cli",),
        claude=True,
        remote=True,
    ),
)

# ── methods ───────────────────────────────────────────────────────────────────


def auth_methods(
    client: ClientCapabilities, environ: Mapping[str, str], program: Sequence[str], *, hide_claude: bool
) -> list[dict[str, object]]:
    """The methods that this client can use (AU-001 … AU-004).

    `program` is the command that starts this agent with its own flags.
    """
    methods: list[dict[str, object]] = []
    if client.auth_terminal or client.terminal_auth:
        remote = any(environ.get(name) for name in _REMOTE)
        logins = [login for login in _LOGINS if login.remote is remote and not (hide_claude and login.claude)]
        methods += [_terminal_method(login, program if client.terminal_auth else None) for login in logins]
    if client.gateway_auth:
        methods += [_gateway_method(method, protocol) for method, protocol in _GATEWAYS.items()]
    return methods


def read_gateway(method: str, meta: object) -> Route | None:
    """The route of a gateway sign-in; `None` when it brings none. `WireError` otherwise (AU-005, AU-006)."""
    protocol = _GATEWAYS.get(method)
    if protocol is None:
        raise _invalid(f"Unsupported authentication method: {method}", {"methodId": method})
    gateway = _object(meta).get("gateway")
    if not isinstance(gateway, Mapping):
        return None
    given = gateway.get("baseUrl")
    address = read_address(given)
    if address is None:
        raise _invalid(
            "`_meta.gateway.baseUrl` must be a non-empty absolute http(s) URL.", {"baseUrl": given}
        )
    headers = read_headers(gateway.get("headers"))
    if headers is None:
        raise _invalid("`_meta.gateway.headers` must be an object of header names to values.")
    return Route(protocol, address, headers)


# ── status ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """What `_auth/status_update` tells every client."""

    kind: StatusKind
    label: str
    detail: str | None = None
    email: str | None = None
    organization: str | None = None
    plan: str | None = None

    def payload(self) -> dict[str, object]:
        """The `authStatus` of the notification."""
        status: dict[str, object] = {"kind": self.kind, "label": self.label}
        if self.detail is not None:
            status["detail"] = self.detail
        known = {"email": self.email, "organization": self.organization, "plan": self.plan}
        account = {key: text for key, text in known.items() if text is not None}
        return status | ({"account": account} if account else {})


SIGNED_OUT = AuthStatus("none", "Not logged in")


def gateway_status(host: str | None = None) -> AuthStatus:
    """The status under a gateway; `host` with its port."""
    return AuthStatus("gateway", "Custom model gateway", host)


def probed_status(answer: object) -> AuthStatus | None:
    """Read the JSON of `auth status --json`; `None` when it does not say who pays (AU-019, AU-020)."""
    said = _object(answer)
    signed_in = said.get("loggedIn")
    if not isinstance(signed_in, bool):
        return None
    return _status(said, organization=said.get("orgName")) or (None if signed_in else SIGNED_OUT)


def session_status(account: object, *, overridden: bool) -> AuthStatus | None:
    """Read the `account` of the initialize reply (AU-023, AU-024).

    `None` without identity, and while a provider override or a gateway is in force.
    """
    return (
        None if overridden else _status(_object(account), organization=_object(account).get("organization"))
    )


def newer_status(known: AuthStatus | None, read: AuthStatus) -> AuthStatus:
    """What is known after a reading: the same identity loses nothing, another one replaces all (AU-026)."""
    if known is None or not _same_identity(known, read):
        return read
    return replace(
        read,
        detail=read.detail or known.detail,
        email=read.email or known.email,
        organization=read.organization or known.organization,
    )


# ── the guard of --hide-claude-auth ───────────────────────────────────────────


def guard(account: object, *, overridden: bool) -> WireError | None:
    """Why this account may not be used under `--hide-claude-auth`; `None` lets it pass (AU-029 … AU-033).

    `overridden`: a provider override or a gateway pays. An account that is no object says nothing and
    passes; the caller warns once a session (AU-035).
    """
    if overridden or not isinstance(account, Mapping):
        return None
    if _bills_subscription(account):
        message = "This integration does not support using claude.ai subscriptions."
        return _auth_required(message, {"reason": "claude_subscription_not_supported"})
    if _token_source(account) or _backend(account) or _has_key(account):
        return None
    return _auth_required("Sign in with an API key or a Console account to use this integration.")


def _bills_subscription(account: Mapping[str, object]) -> bool:
    return (
        _text(account.get("subscriptionType")) is not None
        and _token_source(account) is None
        and _backend(account) is None
        and not _has_key(account)
    )


def _has_key(account: Mapping[str, object]) -> bool:
    return _text(account.get("apiKeySource")) in _KEY_SOURCES


def _token_source(account: Mapping[str, object]) -> str | None:
    """Claude Code says `none` when there is no token (AU-032)."""
    source = _text(account.get("tokenSource"))
    return None if source == "none" else source


def _backend(account: Mapping[str, object]) -> str | None:
    """The provider, where it is not Anthropic itself."""
    provider = _text(account.get("apiProvider"))
    return None if provider == "firstParty" else provider


def _status(account: Mapping[str, object], organization: object) -> AuthStatus | None:
    """The first that applies: another backend, an API key, a subscription (AU-020 … AU-022)."""
    backend = _backend(account)
    if backend == "gateway":
        return gateway_status()
    if backend is not None:
        return AuthStatus("external", _BACKENDS.get(backend, backend))
    source = _text(account.get("apiKeySource"))
    if source is not None:
        return AuthStatus("api_key", "Anthropic API key", source)
    plan = _text(account.get("subscriptionType"))
    if plan is None:
        return None
    return AuthStatus(
        "account", _plan_label(plan), None, _text(account.get("email")), _text(organization), plan
    )


def _plan_label(plan: str) -> str:
    words = [word for word in plan.replace("_", " ").replace("-", " ").split() if word.lower() != "claude"]
    return " ".join(["Claude", *(word[:1].upper() + word[1:].lower() for word in words)])


def _same_identity(one: AuthStatus, other: AuthStatus) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "account":
        return one.email is None or other.email is None or one.email == other.email
    same_detail = one.detail is None or other.detail is None or one.detail == other.detail
    return one.label == other.label and same_detail


def _terminal_method(login: _Login, program: Sequence[str] | None) -> dict[str, object]:
    method: dict[str, object] = {"description": login.description, "name": login.name, "id": login.id}
    method |= {"type": "terminal", "args": list(login.args)}
    if program is not None:
        restart = {"command": program[0], "args": [*program[1:], *login.args], "label": login.label}
        method["_meta"] = {"terminal-auth": restart}
    return method


def _gateway_method(method: str, protocol: str) -> dict[str, object]:
    return {
        "id": method,
        "name": "Custom model gateway",
        "description": "Use a custom gateway to authenticate and access models",
        "_meta": {"gateway": {"protocol": protocol}},
    }


def _auth_required(detail: str, data: object = None) -> WireError:
    return WireError(AUTH_REQUIRED, f"Authentication required: {detail}", data)


def _invalid(detail: str, data: object = None) -> WireError:
    return WireError(INVALID_PARAMS, f"Invalid params: {detail}", data)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
