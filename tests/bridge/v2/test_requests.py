"""Requests of ACP v2 in the terms of v1: what the served method sees, and what is sent back."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.methods import opening
from bridge.methods.table import METHODS
from bridge.peer import Answer, Inbound
from bridge.v2 import port as ports
from bridge.v2 import requests, results
from bridge.v2.updates import Updates
from tests.support.oracle_v2 import DEFINITIONS, check
from tests.support.rpc import Json
from wire import rpc
from wire.acp.base import Wire
from wire.acp.session import LoadSessionRequest, NewSessionRequest
from wire.acp.v2 import requests as w

ANYTHING: Any = None


class Client:
    """Where everything goes; it keeps what it is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Mapping[str, object]]] = []
        self.asked: list[Any] = []

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        self.sent.append((method, params))

    def request(self, method: str, params: Mapping[str, object], on_answer: Any) -> int:
        self.sent.append((method, params))
        self.asked.append(on_answer)
        return 7

    def withdraw(self, request_id: int) -> None:
        self.sent.append(("withdrawn", {"id": request_id}))


def serve(method: str, params: Json, monkeypatch: pytest.MonkeyPatch, served: str, result: Json) -> Any:
    """Serve one request; what the method of v1 saw, what was answered, what was told before."""
    seen: list[Any] = []
    answers: list[Any] = []

    def stand_in(_: Any, inbound: Inbound) -> None:
        seen.append(dict(inbound.params))
        inbound.respond(result)

    monkeypatch.setattr(opening, served, stand_in)
    client = Client()
    inbound = Inbound(rpc.Request(1, method, params), lambda _, answer: answers.append(answer))
    requests.methods(client, Updates())[method](ANYTHING, inbound)
    return seen[0], answers[0]["result"], client.sent


@pytest.mark.contract("NG-049", "V2-005")
def test_servers_have_the_form_of_v1(monkeypatch: pytest.MonkeyPatch) -> None:
    params = {
        "cwd": "/w",
        "_meta": {"claudeCode": {"options": {}}},
        "mcpServers": [
            {"type": "stdio", "name": "a", "command": "/bin/a", "env": [{"name": "K", "value": "v"}]},
            {"type": "http", "name": "b", "url": "http://b", "headers": [{"name": "H", "value": "v"}]},
        ],
    }
    seen, told, _ = serve("session/new", params, monkeypatch, "new", {"sessionId": "s", "modes": {}})
    assert seen["mcpServers"] == [
        {"name": "a", "command": "/bin/a", "args": [], "env": [{"name": "K", "value": "v"}]},
        {"type": "http", "name": "b", "url": "http://b", "headers": [{"name": "H", "value": "v"}]},
    ]
    assert seen["_meta"] == params["_meta"]
    NewSessionRequest.parse(seen)
    assert told == {"sessionId": "s"}


@pytest.mark.contract("SE-036", "V2-007")
@pytest.mark.parametrize(
    ("replay", "served"), [(None, "resume"), ({"type": "start"}, "load")], ids=["without", "from the start"]
)
def test_a_resume_replays_if_it_says_so(replay: Any, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"cwd": "/w", "sessionId": "s", "replayFrom": replay}
    options: list[Json] = [{"id": "mode", "name": "Mode", "type": "select", "currentValue": "a"}]
    options[0]["options"] = [{"value": "a", "name": "A"}]
    result = {"modes": {}, "configOptions": options, "availableCommands": []}
    seen, told, _ = serve("session/resume", params, monkeypatch, served, result)
    LoadSessionRequest.parse(seen)
    assert "replayFrom" not in seen
    check(told, "ResumeSessionResponse", "session/resume")
    assert told["configOptions"][0]["configId"] == "mode"


def test_an_unknown_place_to_replay_from_is_refused() -> None:
    params = {"cwd": "/w", "sessionId": "s", "replayFrom": {"type": "yesterday"}}
    inbound = Inbound(rpc.Request(1, "session/resume", params), lambda *_: None)
    with pytest.raises(rpc.WireError) as caught:
        requests.methods(Client(), Updates())["session/resume"](ANYTHING, inbound)
    assert (caught.value.code, caught.value.data) == (rpc.INVALID_PARAMS, {"type": "yesterday"})


@pytest.mark.contract("NG-048", "V2-023", "GL-035")
def test_the_methods_are_those_of_the_table() -> None:
    gone = {"session/load", "session/set_mode", "authenticate", "logout"}
    kept = {method for method in METHODS if not method.startswith("_")} - gone
    assert set(requests.methods(Client(), Updates())) == kept | {"auth/login", "auth/logout"}


def test_lists_of_a_result_are_there_or_left_out() -> None:
    """§4.5.7: arrays or nothing, never null."""
    assert results.opened({"configOptions": None, "availableCommands": None}) == {}


# ── requests of the agent ─────────────────────────────────────────────────────

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CALL = {"toolCallId": "t", "title": "ls", "status": "pending", "kind": "execute", "name": "Bash"}


@pytest.mark.contract("V2-019", "PM-117")
def test_a_permission_request_has_its_texts_and_its_subject() -> None:
    client: Any = Client()
    params = {
        "sessionId": "s",
        "title": "ls",
        "description": "Reason: it asks",
        "toolCall": {**CALL, "_meta": {"claudeCode": {"toolName": "Bash"}}},
        "options": OPTIONS,
    }
    assert ports.TranslatingPort(client).request("session/request_permission", params, print) == 7
    ((method, sent),) = client.sent
    check(sent, "RequestPermissionRequest", method)
    assert sent == {
        "sessionId": "s",
        "title": "ls",
        "description": "Reason: it asks",
        "options": OPTIONS,
        "subject": {
            "type": "tool_call",
            "toolCall": {"toolCallId": "t", "title": "ls", "kind": "execute", "name": "Bash"},
        },
    }


REFUSED = Answer({"outcome": {"outcome": "selected", "optionId": "no"}})


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        (Answer({"outcome": {"outcome": "cancelled"}}), REFUSED),
        (Answer({"outcome": {"outcome": "_own", "optionId": "yes"}}), REFUSED),
        (Answer({"outcome": "yes"}), REFUSED),
        (Answer({}), REFUSED),
        (Answer(), REFUSED),
        (Answer(error=(-32603, "Bad.")), Answer(error=(-32603, "Bad."))),
        (REFUSED, REFUSED),
        (
            Answer({"outcome": {"outcome": "selected", "optionId": "yes"}}),
            Answer({"outcome": {"outcome": "selected", "optionId": "yes"}}),
        ),
    ],
)
def test_only_what_is_selected_can_be_an_approval(answer: Answer, heard: Answer) -> None:
    """§4.5.12."""
    client: Any = Client()
    answers: list[Answer] = []
    params = {"sessionId": "s", "title": "ls", "toolCall": CALL, "options": OPTIONS}
    ports.TranslatingPort(client).request("session/request_permission", params, answers.append)
    client.asked[0](answer)
    assert answers == [heard]


def test_everything_else_goes_out_as_it_is() -> None:
    client: Any = Client()
    port = ports.TranslatingPort(client)
    port.notify("_auth/status_update", {"authStatus": {}})
    port.request("elicitation/create", {"message": "m"}, print)
    port.withdraw(7)
    assert client.sent == [
        ("_auth/status_update", {"authStatus": {}}),
        ("elicitation/create", {"message": "m"}),
        ("withdrawn", {"id": 7}),
    ]


# ── the models against the schema ─────────────────────────────────────────────

MODELS: tuple[type[Wire], ...] = (
    w.NewSessionRequest,
    w.ForkSessionRequest,
    w.ResumeSessionRequest,
    w.PromptRequest,
    w.SetSessionConfigOptionRequest,
    w.McpServerStdio,
    w.McpServerHttp,
)
LEFT_OUT = {
    "systemPrompt": "overriding the system prompt is not offered",
    "type": "in the union",
    "value": "",
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_fields_of_a_model_are_those_of_the_schema(model: type[Wire]) -> None:
    definition = DEFINITIONS[model.__name__]
    fields = {str(field.alias): field for field in model.model_fields.values()}
    assert fields.keys() - LEFT_OUT.keys() == definition["properties"].keys() - LEFT_OUT.keys()
    required = {key for key, field in fields.items() if field.is_required()} - LEFT_OUT.keys()
    assert required == set(definition["required"])


@given(st.sampled_from(["id", "boolean", "other", None]), st.none() | st.booleans() | st.text(max_size=3))
def test_the_value_of_an_option_fits_its_type(kind: str | None, value: Any) -> None:
    params = {"sessionId": "s", "configId": "c", "type": kind, "value": value}
    fits = (kind == "id" and isinstance(value, str)) or (kind == "boolean" and isinstance(value, bool))
    try:
        w.SetSessionConfigOptionRequest.parse(params)
    except ValueError:
        assert not fits
    else:
        assert fits
