"""JSON-RPC on the real stdio: whatever a client sends, it gets what the rules say, and goes on."""

import json
from typing import Any

import pytest

from tests.conftest import StartAgent
from tests.e2e.faults.conftest import Stage
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json

pytestmark = pytest.mark.anyio

SECRET = "sk-ant-do-not-repeat"


async def answer_to(client: AcpClient, raw: bytes) -> Json:
    """The answer with id null to bytes that are no request."""
    mark = len(client.messages)
    client.send_raw(raw)
    return (await client.wait_for(lambda body: "method" not in body, since=mark)).body


async def is_alive(client: AcpClient) -> None:
    """The connection serves the next request."""
    assert (await client.call("no/such").error()).code == -32601


@pytest.mark.parametrize(
    "line",
    [
        b"{oops",
        b"\0",
        b'{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":-Infinity}}',
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"jsonrpc":"2.0",',
        b'{"a":"b\nc"}',
        b"'single'",
    ],
    ids=lambda line: repr(line[:20]),
)
async def test_what_is_no_json_is_a_parse_error(line: bytes, shared_agent: AcpClient) -> None:
    answer = await answer_to(shared_agent, line + b"\n")
    assert answer == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    await is_alive(shared_agent)


@pytest.mark.parametrize(
    "value",
    [
        3,
        None,
        True,
        SECRET,
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "a"}],
        {},
        {"id": 1, "method": SECRET},
        {"jsonrpc": "1.0", "id": 1, "method": SECRET},
        {"jsonrpc": "2.0", "id": 1, "method": 7, "params": SECRET},
        {"jsonrpc": "2.0", "id": True, "method": "a", "params": {"key": SECRET}},
        {"jsonrpc": "2.0", "id": {"key": SECRET}, "method": "a"},
    ],
    ids=lambda value: json.dumps(value)[:30],
)
async def test_what_is_no_message_is_an_invalid_request(value: Any, shared_agent: AcpClient) -> None:
    answer = await answer_to(shared_agent, json.dumps(value).encode() + b"\n")
    assert answer["id"] is None
    assert answer["error"]["code"] == -32600
    assert SECRET not in json.dumps(answer)
    await is_alive(shared_agent)


@pytest.mark.parametrize("id", ["text", "", 0, -7, 1.5, 2**63 + 1, "\ud800", "ü\u2028"])
async def test_an_id_comes_back_as_it_was(id: Any, shared_agent: AcpClient) -> None:
    call = shared_agent.expect(id, "no/such")
    shared_agent.send_raw(json.dumps({"jsonrpc": "2.0", "id": id, "method": "no/such"}).encode() + b"\n")
    assert (await call.error()).code == -32601
    assert repr((await call.message()).body["id"]) == repr(id)


async def test_a_request_with_id_null_is_served(shared_agent: AcpClient) -> None:
    answer = await answer_to(shared_agent, b'{"jsonrpc":"2.0","id":null,"method":"no/such"}\n')
    assert (answer["id"], answer["error"]["code"]) == (None, -32601)


@pytest.mark.parametrize("method", ["no/such", "_x", "$/x", "session/cancel", "$/cancel_request", ""])
async def test_a_method_that_is_none_is_named(method: str, shared_agent: AcpClient) -> None:
    error = await shared_agent.call(method, {"sessionId": "s"}).error()
    assert (error.code, error.data) == (-32601, {"method": method})
    assert error.message == f"Method not found: {method}"


async def test_notifications_that_nobody_knows_are_ignored(stage: Stage) -> None:
    chat = await stage.open()
    mark = chat.mark
    prompt = {"sessionId": chat.session, "prompt": [{"type": "text", "text": "never"}]}
    with chat.client.one_write():
        for method in ("no/such", "_x", "$/x", "initialize", "session/new"):
            chat.client.notify(method)
        chat.client.notify("session/prompt", prompt)
        chat.client.notify("session/cancel", {"sessionId": 7})
        chat.client.send({"jsonrpc": "2.0", "method": "session/cancel", "params": [1]})
        chat.client.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": {}}})
        chat.client.notify("$/cancel_request", {"requestId": "nobody's"})
    await is_alive(chat.client)
    assert [m for m in chat.client.messages[mark:] if m.direction == "received"][:-1] == []
    await chat.is_well()


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("session/new", {}, "cwd"),
        ("session/new", {"cwd": {"key": SECRET}, "mcpServers": []}, "cwd"),
        ("session/new", {"cwd": "/", "mcpServers": {"key": SECRET}}, "mcpServers"),
        ("session/new", {"cwd": "/", "mcpServers": [{"name": 5, "command": SECRET}]}, "mcpServers[0]"),
        ("session/new", [SECRET], ""),
        ("session/prompt", {"sessionId": "s", "prompt": SECRET}, "prompt"),
        ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": [SECRET]}]}, "prompt[0]"),
        ("session/prompt", {"prompt": []}, "sessionId"),
        ("session/set_mode", {"sessionId": "s", "modeId": [SECRET]}, "modeId"),
        ("session/close", {"sessionId": 5}, "sessionId"),
    ],
)
async def test_params_that_are_wrong_are_named_and_not_repeated(
    method: str, params: Any, path: str, shared_agent: AcpClient
) -> None:
    call = shared_agent.expect(f"wrong {path} {params}", method)
    body = {"jsonrpc": "2.0", "id": call.id, "method": method, "params": params}
    shared_agent.send_raw(json.dumps(body).encode() + b"\n")
    error = await call.error()
    assert error.code == -32602
    assert any(each["path"].startswith(path) for each in error.data["errors"])
    assert SECRET not in json.dumps(error.data) + error.message


@pytest.mark.contract("SE-027", "SE-058")
async def test_a_session_that_nobody_knows(shared_agent: AcpClient) -> None:
    for id in ("nobody", "", "../../etc", "5b0d8ba1-6b0e-4c9a-8d1e-3a1f6f2c9b11"):
        session = {"sessionId": id}
        prompt = {**session, "prompt": [{"type": "text", "text": "hi"}]}
        for method, params in (
            ("session/prompt", prompt),
            ("session/set_mode", {**session, "modeId": "plan"}),
        ):
            error = await shared_agent.call(method, params).error()
            assert (error.code, error.message, error.data) == (-32002, "Resource not found", session)
        assert await shared_agent.request("session/close", session) == {}


async def test_lines_may_be_odd(stage: Stage) -> None:
    chat = await stage.open()
    text = "a\u2028b\u0085c \x7f \U0001f600"
    prompt = {"sessionId": chat.session, "prompt": [{"type": "text", "text": text}]}
    line = json.dumps(
        {"jsonrpc": "2.0", "id": "odd", "method": "session/prompt", "params": prompt}, ensure_ascii=False
    )
    call = chat.client.expect("odd", "session/prompt")
    chat.client.send_raw(b"\n\r\n   \n\xef\xbb\xbf" + line.encode() + b"\r\n\n")
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text() == text

    mark = chat.mark
    call = chat.client.expect("bad", "session/prompt")
    line = json.dumps({"jsonrpc": "2.0", "id": "bad", "method": "session/prompt", "params": prompt})
    chat.client.send_raw(line.replace("\\u2028", "BAD").encode().replace(b"BAD", b"\xff\xfe") + b"\n")
    assert (await call.result())["stopReason"] == "end_turn"
    assert chat.text(since=mark) == "a\ufffd\ufffdb\u0085c \x7f \U0001f600"


async def test_a_message_may_come_byte_by_byte(shared_agent: AcpClient) -> None:
    call = shared_agent.expect("slow", "no/such")
    for byte in b'{"jsonrpc":"2.0","id":"slow","method":"no/such"}\n':
        shared_agent.send_raw(bytes([byte]))
        assert shared_agent.process.stdin is not None
        await shared_agent.process.stdin.drain()
    assert (await call.error()).code == -32601


async def test_a_line_over_the_limit_is_refused_and_one_below_is_served(shared_agent: AcpClient) -> None:
    big = json.dumps({"jsonrpc": "2.0", "id": "big", "method": "no/such", "params": {"x": "y" * 31_000_000}})
    call = shared_agent.expect("big", "no/such")
    shared_agent.send_raw(big.encode() + b"\n")
    assert (await call.error()).code == -32601
    answer = await answer_to(shared_agent, b'{"x":"' + b"y" * 34_000_000 + b'"}\n')
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "33554432" in answer["error"]["message"]
    await is_alive(shared_agent)


async def test_two_requests_with_one_id_are_both_answered(stage: Stage) -> None:
    chat = await stage.open()
    prompt = {"sessionId": chat.session, "prompt": [{"type": "text", "text": "twice"}]}
    calls = [chat.client.call("session/prompt", prompt, id="same") for _ in range(2)]
    assert [(await call.result())["stopReason"] for call in calls] == ["end_turn", "end_turn"]
    assert chat.text() == "twicetwice"


@pytest.mark.parametrize(
    "body",
    [
        {"id": 4711, "result": {}},
        {"id": "4711", "result": {}},
        {"id": 4711, "error": {"code": 1, "message": "x"}},
        {"id": 4711, "result": {}, "error": {"code": 1, "message": "x"}},
        {"id": 4711},
        {"id": None, "error": {"code": -32700, "message": "x"}},
        {"id": 4711, "error": "text"},
    ],
)
async def test_an_answer_that_nobody_waits_for_is_ignored(body: Json, shared_agent: AcpClient) -> None:
    mark = len(shared_agent.messages)
    shared_agent.send_raw(json.dumps({"jsonrpc": "2.0", **body}).encode() + b"\n")
    await is_alive(shared_agent)
    assert len([m for m in shared_agent.messages[mark:] if m.direction == "received"]) == 1


# ── the handshake ─────────────────────────────────────────────────────────────


async def test_nothing_is_served_before_the_handshake_and_nothing_said(start_agent: StartAgent) -> None:
    client = await start_agent()
    for method in ("session/new", "session/list", "no/such"):
        error = await client.call(method, {"cwd": "/", "mcpServers": []}).error()
        assert (error.code, error.data) == (-32600, "first ACP request must be initialize")
    client.notify("session/cancel", {"sessionId": "s"})
    first = await client.initialize("air")
    assert [body["id"] for body in client.received] == [1, 2, 3, 4]
    assert await client.initialize("bare") == first


@pytest.mark.contract("NG-047")
@pytest.mark.parametrize("version", [0, 2, 65535])
async def test_every_version_gets_the_one_that_is_spoken(version: int, start_agent: StartAgent) -> None:
    client = await start_agent()
    wrong_ones: list[Any] = [-1, 65536, "1", None, 1.5, True, {}]
    for wrong in wrong_ones:
        error = await client.call("initialize", {"protocolVersion": wrong}).error()
        assert error.code == -32602
        assert error.data["errors"][0]["path"] == "protocolVersion"
    assert (await client.initialize(protocolVersion=version))["protocolVersion"] == 1
