"""The handshake: what the client asks for, and what it is told about the agent (NG rows).

It is read without the protocol's models, whose import would cost more than the answer.
"""

from collections.abc import Mapping, Sequence

from bridge.capabilities import ClientCapabilities
from wire.rpc import INVALID_PARAMS, WireError

VERSION = "0.1.0"
"""Of the distribution; `pyproject.toml` takes it from here, since asking for it at run time costs more."""

PROTOCOL_VERSION = 1

WORKING: Sequence[str] = (
    "sessionFailure",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "recommendedValue",
    "diffPatch",
    "planFile",
)
"""The AIR capabilities that work by now, in the contract's order (NG-013)."""


SESSION_CAPABILITIES = ("additionalDirectories", "close", "delete", "fork", "list", "resume")


def check_version(params: Mapping[str, object]) -> None:
    """Raise WireError unless `protocolVersion` is an integer of 0 … 65535 (W§1.2)."""
    requested = params.get("protocolVersion")
    if "protocolVersion" not in params:
        problem = "is required"
    elif isinstance(requested, bool) or not isinstance(requested, int | float) or requested != int(requested):
        problem = "must be an integer"
    elif not 0 <= requested <= 65535:
        problem = "must be from 0 to 65535"
    else:
        return
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
            "_meta": {"claudeCode": {"promptQueueing": True}, "authStatus": {}},
            "promptCapabilities": {"image": True, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "auth": {"logout": {}},
            "providers": {},
            "loadSession": True,
            "sessionCapabilities": sessions,
        },
        "agentInfo": {"name": "claude-acp", "title": "Claude Agent", "version": VERSION},
        "authMethods": list(auth_methods),
    }
    return {**response, "_meta": meta}
