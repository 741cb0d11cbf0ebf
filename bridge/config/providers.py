"""Where model requests go: the one provider slot `main`, and what it makes of Claude Code's environment.

Use `read_route` for `providers/set`, `provider_list` for `providers/list`, and `routing_env` with
`routing_settings` for every process that starts while a route is in force (a `providers/set`, else the
gateway of a sign-in). Header values are secrets: nothing here is logged or listed. Rules:
config-and-auth §8.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from wire.rpc import INVALID_PARAMS, WireError

PROVIDER = "main"
SUPPORTED = ("anthropic", "bedrock", "vertex")

_PLACEHOLDER = "acp-proxy"
_NATIVE = {
    "anthropic": "https://api.anthropic.com",
    "bedrock": "https://bedrock-runtime.amazonaws.com",
    "vertex": "https://aiplatform.googleapis.com",
}
_RESET = (
    *("ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"),
    *("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "AWS_REGION"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
)
_SWITCHES = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")


@dataclass(frozen=True, slots=True)
class Route:
    """A configured destination."""

    api_type: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    project: str | None = None
    """With `region`, of Vertex alone."""
    region: str | None = None

    @property
    def host(self) -> str:
        """Host and, where it has one, port."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


def read_route(params: Mapping[str, object]) -> Route:
    """Read `providers/set`; `WireError` says what is wrong (AU-041)."""
    provider, api_type, given = (params.get(key) for key in ("providerId", "apiType", "baseUrl"))
    if provider != PROVIDER:
        message = f'Unknown provider ID "{provider}"; expected "{PROVIDER}".'
        raise _invalid(message, {"providerId": provider})
    if not isinstance(api_type, str) or api_type not in SUPPORTED:
        message = f'Unsupported apiType "{api_type}" for provider "{PROVIDER}".'
        raise _invalid(message, {"apiType": api_type, "supported": list(SUPPORTED)})
    address = read_address(given)
    if address is None:
        raise _invalid("baseUrl must be a non-empty absolute http(s) URL.", {"baseUrl": given})
    headers = read_headers(params.get("headers"))
    if headers is None:
        raise _invalid("headers must be an object of header names to values.")
    if api_type != "vertex":
        return Route(api_type, address, headers)
    vertex = _object(_object(_object(params.get("_meta")).get("claudeCode")).get("vertex"))
    project, region = _text(vertex.get("projectId")), _text(vertex.get("region"))
    if project is None or region is None:
        needs = "non-empty `_meta.claudeCode.vertex.projectId` and `_meta.claudeCode.vertex.region`"
        raise _invalid(f"vertex apiType requires {needs}.")
    return Route(api_type, address, headers, project, region)


def read_address(value: object) -> str | None:
    """An absolute http(s) URL with a host, as it was given; `None` for anything else."""
    if not isinstance(value, str) or re.search(r"[\s\x00-\x1f\x7f]", value):
        return None
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return value if usable else None


def read_headers(value: object) -> dict[str, str] | None:
    """Header names and values, each on one line; `None` when they are anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return None
    fit = all(
        isinstance(name, str) and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
        and isinstance(text, str) and not re.search(r"[\r\n\0]", text)
        for name, text in value.items()
    )  # fmt: skip
    return dict(value) if fit else None


def provider_list(route: Route | None, environ: Mapping[str, str]) -> dict[str, object]:
    """The result of `providers/list` (AU-039, AU-040); `route` is the one in force."""
    current = (route.api_type, route.base_url) if route is not None else _native_route(environ)
    row = {
        "providerId": PROVIDER,
        "supported": list(SUPPORTED),
        "required": False,
        "current": {"apiType": current[0], "baseUrl": current[1]},
    }
    return {"providers": [row]}


def routing_env(route: Route) -> dict[str, str]:
    """The variables of a process on this route: its own, and every other route cleared (AU-046, AU-048)."""
    env = dict.fromkeys(_RESET, "") | dict.fromkeys(_SWITCHES, "0")
    env["ANTHROPIC_CUSTOM_HEADERS"] = "\n".join(f"{name}: {text}" for name, text in route.headers.items())
    match route.api_type:
        case "bedrock":
            env |= {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_BEARER_TOKEN_BEDROCK": _PLACEHOLDER}
            env["ANTHROPIC_BEDROCK_BASE_URL"] = route.base_url
        case "vertex":
            env |= {"CLAUDE_CODE_USE_VERTEX": "1"}
            env["ANTHROPIC_VERTEX_PROJECT_ID"] = route.project or ""
            env["CLOUD_ML_REGION"] = route.region or ""
            if route.base_url.rstrip("/") != _NATIVE["vertex"]:
                env["ANTHROPIC_VERTEX_BASE_URL"] = route.base_url
        case _:
            env |= {"ANTHROPIC_BASE_URL": route.base_url, "ANTHROPIC_AUTH_TOKEN": _PLACEHOLDER}
    return env


def routing_settings(programmatic: Mapping[str, object], route: Route) -> dict[str, object]:
    """The client's settings with the route on top, so that no file brings another one back (AU-047)."""
    env = {**_object(programmatic.get("env")), **routing_env(route)}
    return {**programmatic, "env": env, "apiKeyHelper": ""}


def _native_route(environ: Mapping[str, str]) -> tuple[str, str]:
    if _switched_on(environ.get("CLAUDE_CODE_USE_BEDROCK")):
        return "bedrock", environ.get("ANTHROPIC_BEDROCK_BASE_URL") or _NATIVE["bedrock"]
    if _switched_on(environ.get("CLAUDE_CODE_USE_VERTEX")):
        return "vertex", environ.get("ANTHROPIC_VERTEX_BASE_URL") or _NATIVE["vertex"]
    return "anthropic", environ.get("ANTHROPIC_BASE_URL") or _NATIVE["anthropic"]


def _switched_on(value: str | None) -> bool:
    return (value or "").strip().lower() in ("1", "true", "yes", "on")


def _invalid(detail: str, data: object = None) -> WireError:
    return WireError(INVALID_PARAMS, f"Invalid params: {detail}", data)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
