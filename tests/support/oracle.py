"""The judge of what the agent sends: every message of every end-to-end test is checked.

Shapes come from the protocol's own schema. It lets unknown keys pass, so a second look through
our models finds those: a typo in an optional key, or data that no rule names (`acp-wire` §7).
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]  # it ships no types
from pydantic import BaseModel, TypeAdapter, ValidationError

from wire import rpc
from wire.acp import auth, base, config, elicitation, initialize, session, tools, updates

DEFINITIONS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "schema" / "acp-v1.unstable.json").read_text(encoding="utf-8")
)["$defs"]


class CancelRequest(base.Wire):
    """Params of `$/cancel_request`; our own ids are integers."""

    request_id: base.Count


Shape = tuple[str, Any]
"""A definition of the schema, and our model of it."""

RESULTS: dict[str, Shape] = {
    "initialize": ("InitializeResponse", initialize.InitializeResponse),
    "authenticate": ("AuthenticateResponse", base.Marker),
    "logout": ("LogoutResponse", base.Marker),
    "providers/list": ("ListProvidersResponse", auth.ListProvidersResponse),
    "providers/set": ("SetProviderResponse", base.Marker),
    "providers/disable": ("DisableProviderResponse", base.Marker),
    "session/new": ("NewSessionResponse", session.NewSessionResponse),
    "session/load": ("LoadSessionResponse", session.LoadSessionResponse),
    "session/resume": ("ResumeSessionResponse", session.ResumeSessionResponse),
    "session/fork": ("ForkSessionResponse", session.ForkSessionResponse),
    "session/list": ("ListSessionsResponse", session.ListSessionsResponse),
    "session/close": ("CloseSessionResponse", base.Marker),
    "session/delete": ("DeleteSessionResponse", base.Marker),
    "session/prompt": ("PromptResponse", session.PromptResponse),
    "session/set_mode": ("SetSessionModeResponse", base.Marker),
    "session/set_config_option": (
        "SetSessionConfigOptionResponse",
        config.SetSessionConfigOptionResponse,
    ),
}
"""By the method of the client's request that is answered."""

REQUESTS: dict[str, Shape] = {
    "session/request_permission": ("RequestPermissionRequest", tools.RequestPermissionRequest),
    "elicitation/create": ("CreateElicitationRequest", elicitation.CreateElicitationRequest),
}
NOTIFICATIONS: dict[str, Shape] = {
    "elicitation/complete": (
        "CompleteElicitationNotification",
        elicitation.CompleteElicitationNotification,
    ),
    "$/cancel_request": ("CancelRequestNotification", CancelRequest),
}

# ── beyond the schema ─────────────────────────────────────────────────────────

Keys = tuple[frozenset[str], frozenset[str]]
"""Required and optional keys of an extension."""


def _keys(required: str, optional: str = "") -> Keys:
    return frozenset(required.split()), frozenset(optional.split())


EXTENSION_RESULTS = {
    "_session/steering": _keys("outcome", "reason"),
    "_session/goal": _keys(""),
    "_session/async_task/stop": _keys("stopped"),
}
EXTENSION_NOTIFICATIONS = {
    "_auth/status_update": _keys("authStatus"),
    "_claude/sdkMessage": _keys("sessionId message"),
}
AIR_UPDATES = {
    "subagent_spawned": _keys("subagentSessionId name task capabilities", "prompt"),
    "subagent_state_update": _keys("subagentSessionId state"),
    "async_task_spawned": _keys(
        "asyncTaskId name taskType description showInTranscript canStop", "outputFilePath toolCallId"
    ),
    "async_task_progress": _keys(
        "asyncTaskId", "description summary lastToolName usage outputFilePath toolCallId"
    ),
    "async_task_state_update": _keys("asyncTaskId state", "summary"),
}
"""Kinds of `session/update` that only AIR gets, and that no schema has."""

BEYOND_MODELS = frozenset({("SessionCapabilities", "subagents")})
"""Keys that are sent although the schema does not have them: model and key."""

META = frozenset(
    {
        *("claudeCode", "jetbrains", "steering", "quota", "authStatus", "gateway", "terminal-auth"),
        *("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"),
        *("is_mcp_tool_call", "mcp_output_delta"),
        *("_claude/model", "_claude/origin", "_claude/rateLimit", "_claude/askUserQuestionOption"),
    }
)
"""What `_meta` may hold."""
META_AIR = frozenset(
    {
        *("version", "capabilities", "goal", "diffPatch", "permission", "recommendedValue"),
        *("asyncTasks", "agentFileChangeReport", "sessionFailure", "commandTitle", "subagent"),
        *("skill", "skillPath", "contextCompaction", "customAnswer", "kind"),
    }
)
"""What `_meta.jetbrains.air` may hold."""
META_CLAUDE_CODE_REMOVED = frozenset({"title", "subagent", "skill", "skillPath"})
"""What `_meta.claudeCode` held once and must not hold again (TC-057, NG-036)."""

OPAQUE = frozenset({"rawInput", "rawOutput", "message"})
"""Values that belong to Claude Code, whatever they hold."""

# ── the check ─────────────────────────────────────────────────────────────────


def check_outgoing(message: Mapping[str, Any], sent_requests: Mapping[Any, str]) -> None:
    """Raise AssertionError unless the agent may send this message.

    `sent_requests` has the method of every request that the client sent, by id.
    """
    assert message.get("jsonrpc") == "2.0", f"not JSON-RPC 2.0: {message}"
    if "method" not in message:
        _check_answer(message, sent_requests)
        return
    method, params = message["method"], message.get("params")
    _check_keys(message, _keys("jsonrpc method params", "id"), method)
    assert isinstance(params, dict), f"{method}: params are no object"
    if "id" in message:
        assert type(message["id"]) is int, f"{method}: the id of a request counts from 0"
        assert method in REQUESTS, f"{method} is no request of an agent"
        _check_shape(params, REQUESTS[method], method)
    elif method == "session/update":
        _check_update(params)
        method = f"{method} {params['update']['sessionUpdate']}"
    elif method in EXTENSION_NOTIFICATIONS:
        _check_keys(params, EXTENSION_NOTIFICATIONS[method], method)
    else:
        assert method in NOTIFICATIONS, f"{method} is no notification of an agent"
        _check_shape(params, NOTIFICATIONS[method], method)
    _check_meta(params, method)


def _check_answer(message: Mapping[str, Any], sent_requests: Mapping[Any, str]) -> None:
    assert "id" in message, f"neither a call nor an answer: {message}"
    if "error" in message:
        _check_keys(message, _keys("jsonrpc id error"), "error")
        _check_error(message["error"])
        assert message["id"] is None or message["id"] in sent_requests, "an error for an unknown request"
        return
    _check_keys(message, _keys("jsonrpc id result"), "result")
    assert message["id"] in sent_requests, f"an answer to an unknown request: {message['id']!r}"
    method, result = sent_requests[message["id"]], message["result"]
    assert isinstance(result, dict), f"{method}: the result is no object"
    if method in EXTENSION_RESULTS:
        _check_keys(result, EXTENSION_RESULTS[method], method)
    else:
        assert method in RESULTS, f"{method} is not served"
        _check_shape(result, RESULTS[method], method)
    _check_meta(result, method)


def _check_error(error: Any) -> None:
    _check_keys(error, _keys("code message", "data"), "error")
    assert error["code"] in rpc.MESSAGES, f"unknown error code {error['code']}"
    assert isinstance(error["message"], str), "the message of an error is text"
    assert error["message"], "an error without words"
    assert error.get("data", 0) is not None, "data is left out, never null"


def _check_update(params: dict[str, Any]) -> None:
    update = params.get("update")
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    assert isinstance(kind, str), "session/update without a kind"
    if kind in AIR_UPDATES:
        required, optional = AIR_UPDATES[kind]
        _check_keys(params, _keys("sessionId update"), kind)
        _check_keys(update, (required | {"sessionUpdate"}, optional | {"_meta"}), kind)
        return
    branch = _branch(kind)
    assert branch is not None, f"unknown kind of update: {kind}"
    _validate(update, branch, kind)
    _check_model(params, updates.SessionNotification, kind)


def _check_shape(value: dict[str, Any], shape: Shape, what: str) -> None:
    definition, model = shape
    _validate(value, _definition(definition), what)
    _check_model(value, model, what)


def _validate(value: Any, schema: Any, what: str) -> None:
    error = best_match(schema.iter_errors(value))
    assert error is None, f"{what}: {error.json_path}: {error.message}"


def _check_model(value: dict[str, Any], model: Any, what: str) -> None:
    try:
        parsed = _adapter(model).validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise AssertionError(f"{what}: our model refuses it: {error}") from None
    extras = list(_extras(parsed, what))
    assert not extras, f"keys that no rule names: {extras}"
    # What the leniency of a model left out is wrong too, whatever the schema says.
    assert parsed.dump() == value, f"{what}: the model reads something else"


def _extras(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for key in value.model_extra or ():
            if (type(value).__name__, key) not in BEYOND_MODELS:
                yield f"{path}.{key}"
        for name in value.model_fields_set & type(value).model_fields.keys():
            if name != "meta":
                yield from _extras(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _extras(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _extras(item, f"{path}.{key}")


def _check_meta(value: Any, what: str) -> None:
    """Every `_meta`, wherever it is, but not inside what belongs to Claude Code."""
    if isinstance(value, list):
        for item in value:
            _check_meta(item, what)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "_meta" and item is not None:
                _check_meta_keys(item, what)
            elif key not in OPAQUE:
                _check_meta(item, what)


def _check_meta_keys(meta: dict[str, Any], what: str) -> None:
    assert meta.keys() <= META, f"{what}: unknown in _meta: {sorted(meta.keys() - META)}"
    removed = meta.get("claudeCode", {}).keys() & META_CLAUDE_CODE_REMOVED
    assert not removed, f"{what}: removed from _meta.claudeCode: {sorted(removed)}"
    if "jetbrains" in meta:
        assert meta["jetbrains"].keys() == {"air"}, f"{what}: unknown in _meta.jetbrains"
        air = meta["jetbrains"]["air"]
        changes_only = what.endswith("tool_call_update")  # AIR merges these
        assert air.get("version", 1 if changes_only else None) == 1, f"{what}: AIR's _meta without version"
        assert air.keys() <= META_AIR, f"{what}: unknown in AIR's _meta: {sorted(air.keys() - META_AIR)}"


def _check_keys(value: Any, keys: Keys, what: str) -> None:
    required, optional = keys
    assert isinstance(value, dict), f"{what}: no object"
    assert required <= value.keys(), f"{what}: without {sorted(required - value.keys())}"
    unknown = value.keys() - required - optional
    assert not unknown, f"{what}: keys that no rule names: {sorted(unknown)}"


def validator(schema: Mapping[str, Any]) -> Any:
    """A validator of `jsonschema` for one part of the protocol's schema."""
    return Draft202012Validator({**schema, "$defs": DEFINITIONS})


@cache
def _definition(name: str) -> Any:
    return validator({"$ref": f"#/$defs/{name}"})


@cache
def _branch(kind: str) -> Any:
    """One kind of update alone: faster than trying them all, and the error is about it."""
    for branch in DEFINITIONS["SessionUpdate"]["oneOf"]:
        if branch["properties"]["sessionUpdate"]["const"] == kind:
            return validator(branch)
    return None


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)
