"""The rules of the models that no schema states (`acp-wire` §4.5)."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from tests.wire.json_values import json_values, texts
from wire.acp.config import SessionConfigSelect, SetSessionConfigOptionRequest
from wire.acp.content import BlobResourceContents, EmbeddedResource, TextContent, TextResourceContents
from wire.acp.elicitation import (
    BooleanPropertySchema,
    CreateElicitationResponse,
    ElicitationFormMode,
    ElicitationSchema,
    MultiSelectPropertySchema,
    TitledMultiSelectItems,
)
from wire.acp.initialize import AuthMethodAgent, AuthMethodTerminal, InitializeRequest, InitializeResponse
from wire.acp.session import (
    McpServerAcp,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    NewSessionRequest,
    PromptRequest,
)
from wire.acp.tools import RequestPermissionResponse, SelectedPermissionOutcome
from wire.acp.updates import (
    IdleStateUpdate,
    SessionInfoUpdate,
    SessionNotification,
    SubagentUpdate,
    WorkingState,
)


def prompt(*blocks: object) -> PromptRequest:
    """A prompt of these blocks."""
    return PromptRequest.parse({"sessionId": "s", "prompt": list(blocks)})


# ── what comes in ─────────────────────────────────────────────────────────────


def test_a_broken_capability_never_fails_initialize() -> None:
    request = InitializeRequest.parse(
        {
            "protocolVersion": 1,
            "clientInfo": "Zed",
            "clientCapabilities": {
                "fs": {"readTextFile": "yes", "writeTextFile": True},
                "terminal": "no",
                "session": {"notices": {}, "compaction": 7},
                "elicitation": [],
                "_meta": "x",
            },
        }
    )
    client = request.client_capabilities
    assert (client.fs.read_text_file, client.fs.write_text_file, client.terminal) == (False, True, False)
    assert client.session is not None
    assert client.session.notices is not None
    assert client.session.compaction is None
    assert (request.client_info, client.elicitation, client.meta) == (None, None, None)


@pytest.mark.parametrize("declared", [None, [], "x", 5])
def test_capabilities_that_are_no_object_count_as_none(declared: object) -> None:
    request = InitializeRequest.parse({"protocolVersion": 1, "clientCapabilities": declared})
    assert request.client_capabilities.fs.read_text_file is False


@pytest.mark.parametrize(("version", "read"), [(0, 0), (1, 1), (1.0, 1), (65535, 65535)])
def test_a_protocol_version_is_a_16_bit_integer(version: object, read: int) -> None:
    assert InitializeRequest.parse({"protocolVersion": version}).protocol_version == read


@pytest.mark.parametrize("version", ["1", True, None, -1, 65536, 1.5, [1]])
def test_another_protocol_version_is_refused(version: object) -> None:
    with pytest.raises(ValidationError):
        InitializeRequest.parse({"protocolVersion": version})


def test_unknown_keys_are_kept_and_written_again() -> None:
    sent = {"protocolVersion": 1, "clientCapabilities": {"future": {"a": [1]}, "session": {"x": None}}}
    assert InitializeRequest.parse(sent).dump() == sent


def test_keys_of_the_wire_are_no_field_names() -> None:
    with pytest.raises(ValidationError):
        PromptRequest.parse({"session_id": "s", "prompt": []})


def test_meta_is_never_read_as_arguments() -> None:
    request = PromptRequest.parse(
        {"sessionId": "s", "prompt": [], "meta": {"a": 1}, "_meta": {"prompt": [1], "sessionId": "other"}}
    )
    assert (request.session_id, request.prompt) == ("s", [])
    assert request.meta == {"prompt": [1], "sessionId": "other"}


@pytest.mark.parametrize("block", [{"type": "bogus"}, {"text": "x"}, {"type": "text"}, "text", None])
def test_an_unknown_or_broken_content_block_is_refused(block: object) -> None:
    with pytest.raises(ValidationError):
        prompt({"type": "text", "text": "ok"}, block)


def test_broken_annotations_do_not_fail_a_prompt() -> None:
    annotations = {"audience": ["user", 5], "priority": "x"}
    (block,) = prompt({"type": "text", "text": "x", "annotations": annotations}).prompt
    assert block.annotations is not None
    assert (block.annotations.audience, block.annotations.priority) == (["user"], None)


@given(texts)
def test_any_text_comes_through_a_prompt(text: str) -> None:
    sent = {"sessionId": text, "prompt": [{"type": "text", "text": text}], "_meta": {text: text}}
    assert PromptRequest.parse(sent).dump() == sent


@pytest.mark.parametrize(
    ("resource", "kind"),
    [
        ({"uri": "u", "text": "t"}, TextResourceContents),
        ({"uri": "u", "blob": "b"}, BlobResourceContents),
        ({"uri": "u", "text": "t", "blob": "b"}, TextResourceContents),
    ],
)
def test_a_resource_is_told_by_its_content(resource: dict[str, str], kind: type) -> None:
    (block,) = prompt({"type": "resource", "resource": resource}).prompt
    assert isinstance(block, EmbeddedResource)
    assert isinstance(block.resource, kind)


def test_mcp_servers_are_told_by_their_tag_and_stdio_has_none() -> None:
    http: dict[str, Any] = {"name": "b", "url": "u", "headers": None}
    request = NewSessionRequest.parse(
        {
            "cwd": "/w",
            "mcpServers": [
                {"name": "a", "command": "c", "args": None, "env": [{"name": "K", "value": "v"}]},
                {"name": "a", "command": "c", "args": ["x"], "env": [], "type": "stdio"},
                http | {"type": "http"},
                http | {"type": "sse"},
                {"type": "acp", "name": "d", "serverId": "i"},
            ],
        }
    )
    kinds = [type(server) for server in request.mcp_servers]
    assert kinds == [McpServerStdio, McpServerStdio, McpServerHttp, McpServerSse, McpServerAcp]


def test_a_new_session_needs_its_mcp_servers_but_null_is_none_of_them() -> None:
    assert NewSessionRequest.parse({"cwd": "/w", "mcpServers": None}).mcp_servers == []
    with pytest.raises(ValidationError):
        NewSessionRequest.parse({"cwd": "/w"})


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"value": "high"}, "high"),
        ({"type": None, "value": "high"}, "high"),
        ({"type": "boolean", "value": False}, False),
    ],
)
def test_a_config_value_is_a_value_id_or_a_boolean_by_its_type(change: dict[str, Any], value: object) -> None:
    request = SetSessionConfigOptionRequest.parse({"sessionId": "s", "configId": "c", **change})
    assert request.value is value


@pytest.mark.parametrize(
    "change",
    [{"value": True}, {"type": "boolean", "value": "on"}, {"type": "id", "value": "high"}, {"value": 5}, {}],
)
def test_another_config_value_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SetSessionConfigOptionRequest.parse({"sessionId": "s", "configId": "c", **change})


def test_a_permission_answer_selects_or_cancels() -> None:
    answer = RequestPermissionResponse.parse({"outcome": {"outcome": "selected", "optionId": "a"}})
    assert isinstance(answer.outcome, SelectedPermissionOutcome)
    assert answer.outcome.option_id == "a"
    RequestPermissionResponse.parse({"outcome": {"outcome": "cancelled"}})


@pytest.mark.parametrize("outcome", [None, "selected", {}, {"outcome": "selected"}, {"outcome": "allow"}])
def test_another_permission_answer_is_refused(outcome: object) -> None:
    with pytest.raises(ValidationError):
        RequestPermissionResponse.parse({"outcome": outcome})


@pytest.mark.parametrize("value", ["a", 5, 1.5, True, ["a", "b"]])
def test_the_values_of_an_accepted_form_keep_their_type(value: object) -> None:
    answer = CreateElicitationResponse.parse({"action": "accept", "content": {"q": value}})
    assert answer.content is not None
    assert answer.content["q"] == value
    assert type(answer.content["q"]) is type(value)


@pytest.mark.parametrize("action", ["decline", "cancel", "later"])
def test_what_was_not_accepted_has_no_values(action: str) -> None:
    assert CreateElicitationResponse.parse({"action": action, "content": {"q": {}}}).content is None


def test_an_accepted_form_with_broken_values_is_refused() -> None:
    with pytest.raises(ValidationError):
        CreateElicitationResponse.parse({"action": "accept", "content": {"q": {}}})


@given(json_values)
def test_any_json_is_a_prompt_or_is_refused(value: object) -> None:
    for sent in (value, {"sessionId": "s", "prompt": value}, {"sessionId": "s", "prompt": [value]}):
        try:
            PromptRequest.parse(sent)
        except ValidationError:
            continue
        assert isinstance(sent, dict)


# ── what goes out ─────────────────────────────────────────────────────────────


def test_what_was_set_is_written_and_null_only_on_purpose() -> None:
    info = SessionInfoUpdate(session_update="session_info_update", title=None)
    assert info.dump() == {"sessionUpdate": "session_info_update", "title": None}
    text = TextContent(type="text", text="x", meta={"k": 1})
    assert text.dump() == {"type": "text", "text": "x", "_meta": {"k": 1}}


def test_an_update_is_told_by_its_kind() -> None:
    state = {"state": "idle", "stopReason": None}
    update = {"sessionUpdate": "subagent_update", "sessionId": "c", "state": state}
    notification = SessionNotification.parse({"sessionId": "s", "update": update})
    assert isinstance(notification.update, SubagentUpdate)
    assert isinstance(notification.update.state, IdleStateUpdate)
    for kind in ("bogus", "subagent_spawned", None):
        with pytest.raises(ValidationError):
            SessionNotification.parse({"sessionId": "s", "update": update | {"sessionUpdate": kind}})


def test_a_state_of_a_later_version_is_kept() -> None:
    update = SubagentUpdate.parse(
        {"sessionUpdate": "subagent_update", "sessionId": "c", "state": {"state": "_napping", "until": 5}}
    )
    assert isinstance(update.state, WorkingState)
    assert update.dump()["state"] == {"state": "_napping", "until": 5}


def test_models_that_were_built_in_code_find_their_place_in_unions() -> None:
    """Untagged unions tell objects apart by class."""
    terminal = AuthMethodTerminal(type="terminal", id="t", name="T")
    agent = AuthMethodAgent(id="a", name="A")
    result = InitializeResponse(protocol_version=1, auth_methods=[terminal, agent])
    assert [method["id"] for method in result.dump()["authMethods"]] == ["t", "a"]
    stdio = McpServerStdio(name="n", command="c", args=[], env=[])
    assert NewSessionRequest(cwd="/w", mcp_servers=[stdio]).dump()["mcpServers"] == [stdio.dump()]
    blob = BlobResourceContents(uri="u", blob="b")
    text = TextResourceContents(uri="u", text="t")
    resources = [EmbeddedResource(type="resource", resource=resource) for resource in (blob, text)]
    assert [block.dump()["resource"] for block in resources] == [blob.dump(), text.dump()]
    idle = IdleStateUpdate(state="idle")
    update = SubagentUpdate(session_update="subagent_update", session_id="c", state=idle)
    assert update.dump()["state"] == {"state": "idle"}


def test_a_form_is_written_by_its_questions() -> None:
    choices = {"anyOf": [{"const": "a", "title": "A"}]}
    questions = {
        "q": {"type": "array", "items": choices},
        "r": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
        "s": {"type": "boolean"},
    }
    form = {"type": "object", "properties": questions, "required": ["q"]}
    sent = {"mode": "form", "message": "m", "sessionId": "s", "requestedSchema": form}
    request = ElicitationFormMode.parse(sent)
    assert request.dump() == sent
    titled = TitledMultiSelectItems.parse(choices)
    built = ElicitationSchema(
        properties={
            "q": MultiSelectPropertySchema(type="array", items=titled),
            "s": BooleanPropertySchema(type="boolean"),
        }
    )
    assert built.dump()["properties"] == {"q": questions["q"], "s": questions["s"]}


def test_groups_of_values_are_told_from_values() -> None:
    value = {"value": "v", "name": "V"}
    option = {"id": "m", "name": "Model", "type": "select", "currentValue": "v"}
    for options in ([value], [{"group": "g", "name": "G", "options": [value]}]):
        sent = option | {"options": options}
        assert SessionConfigSelect.parse(sent).dump() == sent


def test_initialize_is_answered_without_the_other_models() -> None:
    """Start-up is the whole speed of a client that runs one process per command."""
    imports = "import sys, wire.params, wire.lines, wire.acp.initialize"
    code = f"{imports}; print(*(name for name in sys.modules if 'acp' in name))"
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert set(shown.stdout.split()) == {"wire.acp", "wire.acp.base", "wire.acp.initialize"}
