"""The handshake: what the client asks for, and what it is told about the agent (NG rows).

It is read without the protocol's models, whose import would cost more than the answer.
"""

from collections.abc import Mapping, Sequence

from bridge.capabilities import ClientCapabilities
from wire.rpc import INVALID_PARAMS, VERSION_NOT_SUPPORTED, WireError

VERSION = "0.1.0"
"""Of the distribution; `pyproject.toml` takes it from here, since asking for it at run time costs more."""

PROTOCOL_VERSION = 1

PROTOCOL = "CLAUDE_AGENT_ACP_PROTOCOL"
EXPERIMENTAL_V2 = "CLAUDE_AGENT_ACP_EXPERIMENTAL_V2"

Versions = frozenset[int]

_SERVED: Mapping[str, Versions] = {"v1": frozenset({1}), "v2": frozenset({2}), "auto": frozenset({1, 2})}

WORKING: Sequence[str] = (
    "sessionFailure",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "asyncTasks",
    "recommendedValue",
    "diffPatch",
    "planFile",
)
"""The AIR capabilities that work by now, in the contract's order (NG-013)."""


SESSION_CAPABILITIES = ("additionalDirectories", "close", "delete", "fork", "list", "resume")


AGENT_INFO: Mapping[str, str] = {"name": "claude-acp", "title": "Claude Agent", "version": VERSION}
AGENT_META: Mapping[str, object] = {"claudeCode": {"promptQueueing": True}, "authStatus": {}}
"""`_meta` of the agent's capabilities."""


def served_versions(environ: Mapping[str, str]) -> tuple[Versions, str | None]:
    """The versions that are served, and what is wrong with the variable that says so (decision 24)."""
    wanted = environ.get(PROTOCOL)
    if wanted:
        if wanted in _SERVED:
            return _SERVED[wanted], None
        return _SERVED["v1"], f"{PROTOCOL} must be v1, v2 or auto; ACP v1 is served"
    return _SERVED["auto" if environ.get(EXPERIMENTAL_V2) == "1" else "v1"], None


def choose_version(requested: int, served: Versions) -> int:
    """The version that both sides speak; raises WireError -32022 when there is none (W§1.2)."""
    if requested >= 2 and 2 in served:
        return 2
    if 1 in served:
        return 1
    data = {"requested": requested, "supported": sorted(served)}
    raise WireError(VERSION_NOT_SUPPORTED, data=data)


def declared_capabilities(params: Mapping[str, object]) -> object:
    """`clientCapabilities`; a client that hoped for v2 declared them in its form (W§1.3)."""
    declared = params.get("capabilities")
    if "clientCapabilities" in params or not isinstance(declared, Mapping):
        return params.get("clientCapabilities")
    auth = declared.get("auth")
    terminal = isinstance(auth, Mapping) and isinstance(auth.get("terminal"), Mapping)
    given = {key: declared[key] for key in ("elicitation", "_meta") if key in declared}
    return {**given, "session": {"configOptions": {"boolean": {}}}, "auth": {"terminal": terminal}}


def read_version(params: Mapping[str, object]) -> int:
    """`protocolVersion`; raises WireError unless it is an integer of 0 … 65535 (W§1.2)."""
    requested = params.get("protocolVersion")
    if "protocolVersion" not in params:
        problem = "is required"
    elif isinstance(requested, bool) or not isinstance(requested, int | float) or requested != int(requested):
        problem = "must be an integer"
    elif not 0 <= requested <= 65535:
        problem = "must be from 0 to 65535"
    else:
        return int(requested)
    raise WireError(INVALID_PARAMS, data={"errors": [{"path": "protocolVersion", "message": problem}]})


def initialize_response(
    client: ClientCapabilities, auth_methods: Sequence[Mapping[str, object]] = ()
) -> dict[str, object]:
    """The result of `initialize` on ACP v1."""
    sessions: dict[str, object] = {name: {} for name in SESSION_CAPABILITIES}
    meta: dict[str, object] = {"steering": {"supported": True}}
    if client.air:
        sessions["subagents"] = {}  # decision 23
        goal = {"version": 1, "controlMethod": "_session/goal", "actions": ["set", "clear"]}
        air = {"version": 1, "capabilities": list(WORKING), "goal": goal}
        meta = {"jetbrains": {"air": air}, **meta}
    response: dict[str, object] = {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": {
            "_meta": dict(AGENT_META),
            "promptCapabilities": {"image": True, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "auth": {"logout": {}},
            "providers": {},
            "loadSession": True,
            "sessionCapabilities": sessions,
        },
        "agentInfo": dict(AGENT_INFO),
        "authMethods": list(auth_methods),
    }
    return {**response, "_meta": meta}
