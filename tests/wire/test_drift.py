"""The models against the protocol's schema: the same fields, and the same values accepted.

Every definition with properties is either modelled or left out for a reason (`acp-wire` §7 rule 2),
and each property of a model is tried with values that fit and values that do not (§4.5).
"""

import copy
import importlib
import pkgutil
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import ValidationError

import wire.acp
from tests.support.oracle import DEFINITIONS, validator
from wire.acp import config, elicitation, tools, updates
from wire.acp.base import Marker, Wire

MODELS: dict[str, type[Wire]] = {
    name: model
    for module in pkgutil.iter_modules(wire.acp.__path__)
    for name, model in vars(importlib.import_module(f"wire.acp.{module.name}")).items()
    if isinstance(model, type) and issubclass(model, Wire) and not name.startswith("_") and model is not Wire
}

COMPOSED: dict[type[Wire], tuple[str, ...]] = {
    config.SessionConfigSelect: ("SessionConfigOption", "SessionConfigSelect"),
    config.SessionConfigBoolean: ("SessionConfigOption", "SessionConfigBoolean"),
    elicitation.ElicitationFormMode: ("CreateElicitationRequest", "ElicitationFormMode"),
    elicitation.ElicitationUrlMode: ("CreateElicitationRequest", "ElicitationUrlMode"),
    elicitation.CreateElicitationResponse: ("CreateElicitationResponse", "ElicitationAcceptAction"),
    tools.ToolCallChange: ("ToolCallUpdate",),
    tools.CancelledPermissionOutcome: (),
    updates.IdleStateUpdate: ("IdleStateUpdate", "ErrorStopReason"),
    updates.WorkingState: ("RunningStateUpdate", "RequiresActionStateUpdate", "UnknownStateUpdate"),
}
"""Models that are not made of the one definition with their name."""

SCOPE = frozenset({"sessionId", "toolCallId", "requestId"})
"""`ElicitationSessionScope` or `ElicitationRequestScope`, part of both modes of elicitation."""

TAGS = frozenset({"type", "sessionUpdate", "state", "mode", "action", "outcome"})
"""Tags that stand in the union around a definition and in our model itself."""

SKIPPED_PROPERTIES = {
    ("SessionCapabilities", "archive"): "session/archive is not served",
    ("SessionCapabilities", "status"): "session/status is not served",
    ("SessionCapabilities", "title"): "session/set_title is not served",
    ("AgentAuthCapabilities", "status"): "auth/status is not served, `_auth/status_update` is pushed",
    ("ListSessionsRequest", "archived"): "session/archive is not served",
}

NOT_SERVED = (
    "ReadTextFile WriteTextFile MessageMcp Archive Unarchive SessionStatus SetSessionTitle AuthStatus"
)
TERMINALS = "CreateTerminal TerminalOutput ReleaseTerminal WaitForTerminalExit KillTerminal"
SKIPPED_DEFINITIONS = {
    **{
        f"{name}{kind}": "methods that the agent neither serves nor calls"
        for name in f"{NOT_SERVED} {TERMINALS}".split()
        for kind in ("Request", "Response", "Notification")
    },
    "ArchiveSessionRequest": "session/archive is not served",
    "UnarchiveSessionRequest": "session/archive is not served",
    "AuthStatusUpdateNotification": "`_auth/status_update` is pushed",
    "AuthAccount": "of auth/status",
    "TerminalExitStatus": "of terminal/output",
    "McpError": "of mcp/message",
    "CancelRequestNotification": "read and written by the envelope",
    "ElicitationSessionScope": "in both modes of elicitation",
    "ElicitationRequestScope": "in both modes of elicitation",
}


def without_fields(definition: dict[str, Any]) -> bool:
    """Markers and empty results; two markers of the schema do not even have `_meta`."""
    return definition.get("type") == "object" and definition.get("properties", {}).keys() <= {"_meta"}


def definitions_of(model: type[Wire]) -> tuple[str, ...]:
    """The definitions that a model is made of."""
    return COMPOSED.get(model, () if model is Marker else (model.__name__,))


def properties_of(model: type[Wire]) -> dict[str, Any]:
    """What the schema says about a model's fields."""
    found: dict[str, Any] = {}
    for name in definitions_of(model):
        found |= DEFINITIONS[name].get("properties", {})
    skipped = {key for name, key in SKIPPED_PROPERTIES if name in definitions_of(model)}
    return {key: schema for key, schema in found.items() if key not in skipped}


def required_of(model: type[Wire]) -> set[str]:
    """The keys without which the schema refuses an object."""
    return {key for name in definitions_of(model) for key in DEFINITIONS[name].get("required", ())}


def alias(model: type[Wire], field: str) -> str:
    """The key of a field."""
    return str(model.model_fields[field].alias)


every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def test_every_definition_is_modelled_or_left_out_for_a_reason() -> None:
    modelled = {name for model in MODELS.values() for name in definitions_of(model)}
    for name, definition in DEFINITIONS.items():
        if "properties" in definition and not without_fields(definition):
            assert name in modelled or name in SKIPPED_DEFINITIONS, name
    assert not modelled & SKIPPED_DEFINITIONS.keys()


@every_model
def test_a_model_has_the_fields_of_its_definition(model: type[Wire]) -> None:
    keys = {alias(model, field) for field in model.model_fields} | {"_meta"}
    expected = properties_of(model).keys() | {"_meta"}
    extra = keys - expected - TAGS
    if issubclass(model, elicitation._Elicitation):
        extra -= SCOPE
    if model is config.SetSessionConfigOptionRequest:
        extra -= {"value"}  # in the union of the two kinds
    assert not extra
    assert expected <= keys


@every_model
def test_a_model_requires_what_its_definition_requires(model: type[Wire]) -> None:
    required = {alias(model, name) for name, field in model.model_fields.items() if field.is_required()}
    if model is config.SetSessionConfigOptionRequest:
        required -= {"value"}
    assert required - TAGS == required_of(model) - TAGS


# ── values ────────────────────────────────────────────────────────────────────


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without a reference at its top."""
    return resolved(DEFINITIONS[schema["$ref"].rpartition("/")[2]]) if "$ref" in schema else schema


def sample(schema: dict[str, Any], optional: bool = False) -> Any:
    """A value that fits: the first branch of each union, and only what is required unless `optional`."""
    schema = resolved(schema)
    if "const" in schema:
        return schema["const"]
    values = [sample(part, optional) for part in schema.get("allOf", ())]
    values += [sample(schema[union][0], optional) for union in ("oneOf", "anyOf") if union in schema]
    kind = schema.get("type", "object" if "properties" in schema else None)
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        keys = properties if optional else schema.get("required", ())
        values.append({key: sample(properties[key], optional) for key in keys if key in properties})
        merged: dict[str, Any] = {}
        for value in values:
            merged |= value
        return merged
    if values:
        return values[0]
    scalars = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, None: {"any": ["thing"]}}
    return [sample(schema["items"], optional)] if kind == "array" else scalars[kind]


def sample_of(model: type[Wire], optional: bool = False) -> dict[str, Any]:
    """A value that fits the model."""
    value: dict[str, Any] = {}
    for name in definitions_of(model):
        value |= sample({**DEFINITIONS[name], "oneOf": [{}], "anyOf": [{}]}, optional)
    for name, field in model.model_fields.items():
        literal = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        if field.is_required() and alias(model, name) not in value:
            value[alias(model, name)] = literal[0] if literal else "accept"  # an open tag
    keys = {alias(model, name) for name in model.model_fields}
    return {key: item for key, item in value.items() if key in keys}


@every_model
def test_what_the_schema_allows_is_read_and_written_without_loss(model: type[Wire]) -> None:
    for optional in (False, True):
        value = sample_of(model, optional)
        assert model.parse(copy.deepcopy(value)).dump() == value


CANDIDATES: tuple[Any, ...] = (
    None, True, -1, 0, 5.0, 5.5, 65536, "", "text", [], ["text"], [None], {}, {"text": 1},
)  # fmt: skip

every_property = pytest.mark.parametrize(
    ("model", "key"),
    [
        pytest.param(model, key, id=f"{name}.{key}")
        for name, model in MODELS.items()
        for key in properties_of(model)
    ],
)


@every_property
def test_a_property_takes_the_values_that_the_schema_takes(model: type[Wire], key: str) -> None:
    schema = properties_of(model)[key]
    valid = validator(schema).is_valid
    (field,) = (name for name in model.model_fields if alias(model, name) == key)
    default = model.model_fields[field].get_default(call_default_factory=True)
    for candidate in (*CANDIDATES, sample(schema), sample(schema, optional=True)):
        value = {**sample_of(model), key: copy.deepcopy(candidate)}
        if valid(candidate):
            assert model.parse(value).dump()[key] == candidate
        elif candidate is None and "x-deserialize-default-on-null" in schema:
            assert not getattr(model.parse(value), field)
        elif isinstance(candidate, list) and "x-deserialize-skip-invalid-items" in schema:
            items = validator(schema["items"]).is_valid
            assert model.parse(value).dump()[key] == [item for item in candidate if items(item)]
        elif "x-deserialize-default-on-error" in schema:
            read = getattr(model.parse(value), field)
            assert read == ([] if model.model_fields[field].is_required() else default)
        else:
            with pytest.raises(ValidationError):
                model.parse(value)
