"""`initialize` on ACP v2: what its client is taken for, and what it is told (`acp-wire` §8.2.1).

Many things that a v1 client has to declare are always there. AIR and steering are not. As on v1, it
is read without models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bridge.capabilities import ClientCapabilities, read_capabilities
from bridge.initialize import AGENT_INFO, AGENT_META
from wire.rpc import INVALID_PARAMS, WireError

PROTOCOL_VERSION = 2


def read_client(params: Mapping[str, object]) -> ClientCapabilities:
    """What the client can do; raises WireError for one that does not say who it is (`acp-wire` §1.3)."""
    info = params.get("info")
    if not isinstance(info, Mapping):
        raise _missing("info", "must be an object" if "info" in params else "is required")
    for key in ("name", "version"):
        if not isinstance(info.get(key), str):
            raise _missing(f"info.{key}", "must be a string" if key in info else "is required")
    return client_capabilities(_object(params.get("capabilities")))


def client_capabilities(capabilities: Mapping[str, object]) -> ClientCapabilities:
    """What a v2 client can do; an AIR declaration is without effect (V2-024)."""
    auth = _object(capabilities.get("auth"))
    meta = {key: value for key, value in _object(capabilities.get("_meta")).items() if key != "jetbrains"}
    declared = {
        "elicitation": capabilities.get("elicitation"),
        "auth": {**auth, "terminal": isinstance(auth.get("terminal"), Mapping)},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "subagents": {},
        "_meta": {**meta, "terminal_output": True, "terminal_output_delta": False},
    }
    return replace(read_capabilities(declared), v2=True)


def initialize_response(auth_methods: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """The result of `initialize`; listing, resuming, closing and prompting need no marker."""
    session: dict[str, object] = {
        "prompt": {"image": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}},
        "delete": {},
        "fork": {},
        "additionalDirectories": {},
    }
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "info": dict(AGENT_INFO),
        "capabilities": {"session": session, "providers": {}, "_meta": dict(AGENT_META)},
        "authMethods": [_auth_method(method) for method in auth_methods],
    }


def _auth_method(method: Mapping[str, object]) -> dict[str, object]:
    told = {key: value for key, value in method.items() if key not in {"id", "type", "env"}}
    env = _object(method.get("env"))
    listed = {"env": [{"name": name, "value": value} for name, value in env.items()]} if env else {}
    return {"type": method.get("type", "agent"), "methodId": method["id"], **told, **listed}


def _missing(path: str, message: str) -> WireError:
    return WireError(INVALID_PARAMS, data={"errors": [{"path": path, "message": message}]})


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
