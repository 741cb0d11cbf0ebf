"""The judge of what the agent sends on ACP v2: as `oracle`, by the schema of that version.

The schema lets unknown keys and kinds pass, since its unions are open. So every object is walked:
a key that its definition does not name, or a kind that only the open branch takes, is a slip.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]  # it ships no types

from tests.support.oracle import META
from wire import rpc

DEFINITIONS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "schema" / "acp-v2.unstable.json").read_text(encoding="utf-8")
)["$defs"]

RESULTS = {
    "initialize": "InitializeResponse",
    "auth/login": "LoginAuthResponse",
    "auth/logout": "LogoutAuthResponse",
    "providers/list": "ListProvidersResponse",
    "providers/set": "SetProviderResponse",
    "providers/disable": "DisableProviderResponse",
    "session/new": "NewSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/fork": "ForkSessionResponse",
    "session/list": "ListSessionsResponse",
    "session/close": "CloseSessionResponse",
    "session/delete": "DeleteSessionResponse",
    "session/prompt": "PromptResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
}
"""By the method of the client's request that is answered."""
REQUESTS = {
    "session/request_permission": "RequestPermissionRequest",
    "elicitation/create": "CreateElicitationRequest",
}
NOTIFICATIONS = {
    "session/update": "UpdateSessionNotification",
    "elicitation/complete": "CompleteElicitationNotification",
    "$/cancel_request": "CancelRequestNotification",
}
EXTENSIONS = {"_auth/status_update": {"authStatus"}, "_claude/sdkMessage": {"sessionId", "message"}}

NOT_META = frozenset({"jetbrains", "steering", "is_mcp_tool_call"}) | {
    key for key in META if key.startswith("terminal_")
}
"""What `_meta` may hold on v1 alone (TC-038, V2-023, V2-024)."""


def check_outgoing(message: Mapping[str, Any], sent_requests: Mapping[Any, str]) -> None:
    """Raise AssertionError unless the agent may send this message on ACP v2."""
    assert message.get("jsonrpc") == "2.0", f"not JSON-RPC 2.0: {message}"
    assert message.keys() <= {"jsonrpc", "id", "method", "params", "result", "error"}
    if "method" not in message:
        _check_answer(message, sent_requests)
        return
    method, params = message["method"], message["params"]
    if method in EXTENSIONS:
        assert params.keys() == EXTENSIONS[method], f"{method}: {sorted(params)}"
        return
    known = REQUESTS if "id" in message else NOTIFICATIONS
    assert method in known, f"{method} is nothing that an agent sends"
    check(params, known[method], method)


def _check_answer(message: Mapping[str, Any], sent_requests: Mapping[Any, str]) -> None:
    if "error" in message:
        check(message["error"], "Error", "error")
        assert message["error"]["code"] in rpc.MESSAGES, f"unknown error code: {message}"
        assert message["error"].get("data", 0) is not None, "data is left out, never null"
        assert message["id"] is None or message["id"] in sent_requests, "an error for an unknown request"
        return
    assert message.get("id") in sent_requests, f"an answer to an unknown request: {message}"
    method = sent_requests[message["id"]]
    assert method in RESULTS, f"{method} is not served"
    check(message["result"], RESULTS[method], method)


def check(value: Any, definition: str, what: str) -> None:
    """Raise AssertionError unless the value is of the definition and holds nothing else."""
    reference = {"$ref": f"#/$defs/{definition}"}
    error = best_match(_validator(json.dumps(reference)).iter_errors(value))
    assert error is None, f"{what}: {error.json_path}: {error.message}"
    slips = list(_slips(value, [reference], what))
    assert not slips, f"what no rule names: {slips}"


def _slips(value: Any, schemas: list[Any], path: str) -> Iterator[str]:
    """Keys and kinds that the schemas, all of which hold for the value, do not name."""
    parts = [part for schema in schemas for part in _parts(schema, value)]
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        for index, item in enumerate(value):
            yield from _slips(item, items, f"{path}[{index}]")
    if not isinstance(value, dict):
        return
    if any(part.get("title") == "other" for part in parts):
        yield f"{path}: an unknown kind"
        return
    open_to = [part["additionalProperties"] for part in parts if part.get("additionalProperties")]
    named = {key for part in parts for key in part.get("properties", {})}
    for key, item in value.items():
        if key == "_meta":
            yield from _meta_slips(item, f"{path}._meta")
        elif key in named:
            below = [part["properties"][key] for part in parts if key in part.get("properties", {})]
            yield from _slips(item, below, f"{path}.{key}")
        elif open_to:
            yield from _slips(item, [each for each in open_to if isinstance(each, dict)], f"{path}.{key}")
        elif named:
            yield f"{path}.{key}"


def _parts(schema: Any, value: Any) -> Iterator[dict[str, Any]]:
    """The schema and all parts of it that hold for the value; of a union, its branches that do."""
    if not isinstance(schema, dict):
        return
    yield schema
    if "$ref" in schema:
        yield from _parts(DEFINITIONS[schema["$ref"].rpartition("/")[2]], value)
    for part in schema.get("allOf", ()):
        yield from _parts(part, value)
    for union in ("anyOf", "oneOf"):
        for branch in schema.get(union, ()):
            if _validator(json.dumps(branch)).is_valid(value):
                yield from _parts(branch, value)


def _meta_slips(meta: Any, path: str) -> Iterator[str]:
    if isinstance(meta, dict):
        for key in meta.keys() - (META - NOT_META):
            yield f"{path}.{key}"


@cache
def _validator(schema: str) -> Any:
    return Draft202012Validator({**json.loads(schema), "$defs": DEFINITIONS})
