"""What a client is told about wrong params: where and what, and never a value."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.json_values import json_values
from wire.acp.base import Wire
from wire.acp.config import SetSessionConfigOptionRequest
from wire.acp.initialize import InitializeRequest
from wire.acp.session import ListSessionsRequest, NewSessionRequest, PromptRequest
from wire.params import MAX_PROBLEMS, read
from wire.rpc import WireError


def errors(model: type[Wire], params: dict[str, Any]) -> dict[str, str]:
    """The problems that a client would be told, by path."""
    with pytest.raises(WireError) as refused:
        read(model, params)
    assert (refused.value.code, refused.value.message) == (-32602, "Invalid params")
    assert refused.value.__cause__ is None
    assert isinstance(refused.value.data, dict)
    return {problem["path"]: problem["message"] for problem in refused.value.data["errors"]}


def test_good_params_become_a_model() -> None:
    assert read(ListSessionsRequest, {}).cwd is None


BLOCKS = "'text', 'image', 'audio', 'resource_link', 'resource'"


@pytest.mark.parametrize(
    ("model", "params", "expected"),
    [
        (PromptRequest, {}, {"sessionId": "is required", "prompt": "is required"}),
        (
            PromptRequest,
            {"sessionId": 5, "prompt": {}},
            {"sessionId": "must be a string", "prompt": "must be an array"},
        ),
        (
            PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "text"}, {"type": "text", "text": 1}, 5]},
            {
                "prompt[0].text": "is required",
                "prompt[1].text": "must be a string",
                "prompt[2]": "must be an object",
            },
        ),
        (
            PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "SECRET"}, {}]},
            {
                "prompt[0]": f"must have one of these in 'type': {BLOCKS}",
                "prompt[1]": "must have 'type'",
            },
        ),
        (
            PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "resource", "resource": {"uri": "u"}}]},
            {"prompt[0].resource.text": "is required"},
        ),
        (
            NewSessionRequest,
            {
                "cwd": "/w",
                "mcpServers": [
                    {"type": "http", "name": "a", "url": "u", "headers": [{"name": "A", "value": 5}]},
                    {"name": "b", "command": "c", "args": [], "env": [{"name": "SECRET"}]},
                ],
                "systemPrompt": "SECRET",
            },
            {
                "mcpServers[0].headers[0].value": "must be a string",
                "mcpServers[1].env[0].value": "is required",
                "systemPrompt": "must be an object",
            },
        ),
        (InitializeRequest, {"protocolVersion": -1}, {"protocolVersion": "must be at least 0"}),
        (InitializeRequest, {"protocolVersion": 70000}, {"protocolVersion": "must be at most 65535"}),
        (InitializeRequest, {"protocolVersion": "1"}, {"protocolVersion": "must be an integer"}),
        (
            SetSessionConfigOptionRequest,
            {"sessionId": "s", "configId": "c", "type": "SECRET", "value": "v"},
            {"type": "must be 'boolean'"},
        ),
        (
            SetSessionConfigOptionRequest,
            {"sessionId": "s", "configId": "c", "value": True},
            {"": "must have a `value` that fits its `type`"},
        ),
        (PromptRequest, {"sessionId": "s", "prompt": [], "\ud800": 1}, {"": "is not valid"}),
    ],
)
def test_each_problem_has_its_place(
    model: type[Wire], params: dict[str, Any], expected: dict[str, str]
) -> None:
    assert errors(model, params) == expected


def test_a_flood_of_problems_is_cut() -> None:
    assert len(errors(PromptRequest, {"sessionId": "s", "prompt": [0] * 1000})) == MAX_PROBLEMS


SECRET = "hunter2"


def poisoned(value: object) -> object:
    """The value with a secret in place of each scalar."""
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    return [poisoned(item) for item in value] if isinstance(value, list) else SECRET


blocks = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "text", "resource", "data", "uri", "annotations"), json_values)
)


@given(st.lists(json_values | blocks), st.sampled_from([PromptRequest, NewSessionRequest, InitializeRequest]))
def test_no_problem_holds_a_value(prompt: list[object], model: type[Wire]) -> None:
    params: dict[str, Any] = {
        "sessionId": [SECRET],
        "prompt": poisoned(prompt),
        "mcpServers": poisoned(prompt),
        "protocolVersion": SECRET,
    }
    assert SECRET not in str(errors(model, params))
