"""Envelopes: what each kind of line becomes (`acp-wire` §5.1)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.json_values import json_values
from wire import rpc
from wire.rpc import Invalid, Notification, Request, Response, Stray, WireError, parse

PARSE_ERROR = Invalid(-32700, "Parse error")


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":',
        "\0",
        '{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}',
        '{"jsonrpc":"2.0","id":NaN,"method":"a"}',
        '{"jsonrpc":"2.0","method":"a","params":{"x":-Infinity}}',
        '{"jsonrpc":"2.0","id":1e400,"method":"a"}',
        '{"jsonrpc":"2.0","method":"a\tb"}',
        "[" * 200_000,
        '{"jsonrpc":"2.0","id":' + "9" * 5_000 + ',"method":"a"}',
        "",
    ],
    ids=["cut", "nul", "two", "nan", "infinity", "overflow", "raw tab", "deep", "huge int", "empty"],
)
def test_a_line_that_is_no_json_is_a_parse_error(line: str) -> None:
    assert parse(line) == PARSE_ERROR


@pytest.mark.parametrize("line", ["[]", '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]'])
def test_a_batch_is_refused_by_name(line: str) -> None:
    assert parse(line) == Invalid(-32600, "Invalid request: JSON-RPC batches are not supported")


@pytest.mark.parametrize("line", ["null", "5", '"secret"', "true", "{}", '{"jsonrpc":"2.0"}'])
def test_a_value_that_is_no_message_is_an_invalid_request(line: str) -> None:
    message = parse(line)
    assert isinstance(message, Invalid)
    assert message.code == -32600
    assert "secret" not in message.message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id":1,"method":"m"}', "jsonrpc"),
        ('{"jsonrpc":"1.0","id":1,"method":"m"}', "jsonrpc"),
        ('{"jsonrpc":2.0,"method":"m"}', "jsonrpc"),
        ('{"jsonrpc":"2.0","id":1,"method":5}', "method"),
        ('{"jsonrpc":"2.0","id":1,"method":null}', "method"),
        ('{"jsonrpc":"2.0","id":true,"method":"m"}', "id"),
        ('{"jsonrpc":"2.0","id":{"token":"secret"},"method":"m"}', "id"),
        ('{"jsonrpc":"2.0","id":[],"method":"m"}', "id"),
    ],
)
def test_a_broken_envelope_names_the_member_and_repeats_nothing(line: str, problem: str) -> None:
    message = parse(line)
    assert isinstance(message, Invalid)
    assert message.code == -32600
    assert f'"{problem}"' in message.message
    assert "secret" not in message.message


@pytest.mark.parametrize(
    "text", ["null", '"a"', "0", "-7", "1.5", "9007199254740993", "1" * 400], ids=lambda text: text[:20]
)
def test_an_id_comes_back_as_it_was_written(text: str) -> None:
    message = parse(f'{{"jsonrpc":"2.0","id":{text},"method":"m"}}')
    assert isinstance(message, Request)
    assert json.dumps(rpc.success(message.id, {})["id"]) == text


def test_params_are_kept_as_they_are() -> None:
    assert parse('{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}') == Request(1, "m", [1])
    assert parse('{"jsonrpc":"2.0","id":1,"method":"m"}') == Request(1, "m", None)
    assert parse('{"jsonrpc":"2.0","method":"m","params":{"a":1,"a":2}}') == Notification("m", {"a": 2})


def test_a_method_beside_a_result_is_still_a_request() -> None:
    assert parse('{"jsonrpc":"2.0","id":1,"method":"m","result":{}}') == Request(1, "m")


def test_a_lone_surrogate_is_read() -> None:
    assert parse('{"jsonrpc":"2.0","method":"\\ud800"}') == Notification("\ud800")


@pytest.mark.parametrize(
    ("line", "response"),
    [
        ('{"jsonrpc":"2.0","id":0,"result":{}}', Response(0, {})),
        ('{"jsonrpc":"2.0","id":"a","result":null}', Response("a")),
        ('{"id":0,"result":{"x":1}}', Response(0, {"x": 1})),
        ('{"jsonrpc":"2.0","id":0,"result":{},"error":null}', Response(0, {})),
        (
            '{"jsonrpc":"2.0","id":0,"result":null,"error":{"code":1,"message":"m"}}',
            Response(0, None, (1, "m")),
        ),
        ('{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"m"}}', Response(0, None, (-32800, "m"))),
        ('{"jsonrpc":"2.0","id":0,"error":{"code":true}}', Response(0, None, (-32603, "Internal error"))),
        ('{"jsonrpc":"2.0","id":0,"error":"boom"}', Response(0, None, (-32603, "Internal error"))),
    ],
)
def test_an_answer_is_read_as_generously_as_it_can_be(line: str, response: Response) -> None:
    assert parse(line) == response


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":5}',
        '{"jsonrpc":"2.0","result":{}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"dislike"}}',
        '{"jsonrpc":"2.0","id":true,"result":{}}',
        '{"jsonrpc":"2.0","id":[],"result":{}}',
        '{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":"m"}}',
    ],
)
def test_an_answer_that_cannot_be_one_is_stray_and_never_an_error(line: str) -> None:
    assert isinstance(parse(line), Stray)


def test_ids_that_python_takes_for_equal_are_told_apart() -> None:
    assert len({rpc.key(1), rpc.key(1.0), rpc.key(True), rpc.key("1"), rpc.key(None)}) == 5


def test_an_error_answer_has_data_only_when_there_is_some() -> None:
    assert rpc.failure(None, -32700, "Parse error") == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "Parse error"},
    }
    assert rpc.failure("a", -32002, "m", {"sessionId": "s"})["error"] == {
        "code": -32002,
        "message": "m",
        "data": {"sessionId": "s"},
    }


def test_calls_are_written_with_their_members() -> None:
    assert rpc.request(0, "m", {"x": 1}) == {"jsonrpc": "2.0", "id": 0, "method": "m", "params": {"x": 1}}
    assert rpc.notification("m", {}) == {"jsonrpc": "2.0", "method": "m", "params": {}}


def test_a_refusal_says_the_standard_words_unless_told_otherwise() -> None:
    assert WireError(rpc.AUTH_REQUIRED).message == "Authentication required"
    refusal = rpc.method_not_found("x/y")
    assert (refusal.code, str(refusal), refusal.data) == (-32601, "Method not found: x/y", {"method": "x/y"})


@given(json_values)
def test_any_json_is_read_without_an_exception(value: object) -> None:
    line = json.dumps(value)
    message = parse(line)
    assert isinstance(message, Request | Notification | Response | Invalid | Stray)
    assert message != PARSE_ERROR


MEMBERS = {
    "jsonrpc": st.sampled_from(["2.0", "1.0", 2, None]),
    "id": json_values,
    "method": st.text() | json_values,
    "params": json_values,
    "result": json_values,
    "error": json_values | st.fixed_dictionaries({}, optional={"code": json_values, "message": json_values}),
}


@given(st.fixed_dictionaries({}, optional=MEMBERS))
def test_any_envelope_is_read_and_what_is_wrong_is_not_repeated(members: dict[str, object]) -> None:
    match parse(json.dumps(members)):
        case Request(id, method, params):
            assert [id, method, params] == [members["id"], members["method"], members.get("params")]
        case Notification(method, params):
            assert [method, params] == [members["method"], members.get("params")]
            assert "id" not in members
        case Response(id):
            assert id == members["id"]
            assert "method" not in members
        case Invalid(code, message):
            assert (code, message.split(":")[0]) == (-32600, "Invalid request")
        case Stray():
            assert "method" not in members


@given(st.text())
def test_any_text_is_read_without_an_exception(line: str) -> None:
    parse(line)
