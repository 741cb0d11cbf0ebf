"""The scripted API over its socket: which request gets which answer."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from anyio import to_thread

from bridge.demo.api import SUMMARY, ApiRequest, ScriptedApi, serve_in_thread
from bridge.demo.script import CLOSING, GREETING

pytestmark = pytest.mark.anyio


def ask(
    url: str, *messages: tuple[str, Any], stream: bool = False, path: str = "/v1/messages", **more: Any
) -> tuple[int, Any]:
    """Status and body of one request; `messages` are pairs of role and content."""
    body = {
        "model": "model-1",
        "tools": [{"name": "Bash"}],
        "stream": stream,
        "messages": [{"role": role, "content": content} for role, content in messages],
        **more,
    }
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, text if stream else json.loads(text)
    finally:
        connection.close()


def text_of(answer: tuple[int, Any]) -> str:
    """The text of a message that was answered with status 200."""
    status, body = answer
    assert status == 200, body
    return "".join(block.get("text", "") for block in body["content"])


def texts(*parts: str) -> list[dict[str, str]]:
    """Content of several text blocks."""
    return [{"type": "text", "text": part} for part in parts]


RESULT = [{"type": "tool_result", "tool_use_id": "t", "content": "out"}]
TWO_STEPS = 'go SCRIPT [["first"], ["second"]]'


async def test_each_request_of_a_prompt_gets_the_next_step(api: ScriptedApi) -> None:
    turn: list[tuple[str, Any]] = [("user", TWO_STEPS)]
    answers = []
    for _ in range(3):
        answers.append(text_of(await to_thread.run_sync(ask, api.url, *turn)))
        turn += [("assistant", answers[-1]), ("user", RESULT)]
    assert answers == ["first", "second", CLOSING]
    assert [request.step for request in api.requests] == [0, 1, 2]


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([("user", "hello")], GREETING),
        ([("user", TWO_STEPS), ("system", "# Environment")], "first"),
        ([("user", texts('SCRIPT [[{"error": 400}]]', TWO_STEPS))], "first"),
        ([("user", texts(TWO_STEPS, "<system-reminder>x</system-reminder>"))], "first"),
        (
            [("user", TWO_STEPS), ("assistant", "x"), ("user", texts("[Request interrupted by user]", "hi"))],
            GREETING,
        ),
        ([("user", TWO_STEPS), ("assistant", "x"), ("user", "Output token limit hit. Resume")], "second"),
        (
            [
                ("user", TWO_STEPS),
                ("assistant", "x"),
                ("user", [*RESULT, *texts("The user sent a new message while you were working:\nhurry")]),
            ],
            "second",
        ),
        (
            [
                ("user", TWO_STEPS),
                ("assistant", "x"),
                (
                    "user",
                    [
                        *RESULT,
                        *texts('The user sent a new message while you were working:\nSCRIPT [["new"]]'),
                    ],
                ),
            ],
            "new",
        ),
    ],
)
async def test_the_prompt_decides_whatever_stands_around_it(
    api: ScriptedApi, messages: list[tuple[str, Any]], answer: str
) -> None:
    assert text_of(await to_thread.run_sync(ask, api.url, *messages)) == answer


async def test_a_failure_happens_as_often_as_it_says(api: ScriptedApi) -> None:
    prompt = ("user", 'SCRIPT [[{"error": 529, "times": 2, "headers": {"retry-after": "0"}}, "ok"]]')
    statuses = [(await to_thread.run_sync(ask, api.url, prompt))[0] for _ in range(3)]
    assert statuses == [529, 529, 200]


async def test_the_same_prompt_at_another_place_fails_again(api: ScriptedApi) -> None:
    failing = 'SCRIPT [[{"error": 400, "times": 1}, "ok"]]'
    first = await to_thread.run_sync(ask, api.url, ("user", texts(failing)))
    merged = await to_thread.run_sync(ask, api.url, ("user", texts(failing, failing)))
    assert (first[0], merged[0]) == (400, 400)


async def test_requests_beside_the_conversation_are_kept_apart(api: ScriptedApi) -> None:
    title = await to_thread.run_sync(ask, api.url, ("user", f"<session>\n{TWO_STEPS}\n</session>"))
    compact = await to_thread.run_sync(
        ask, api.url, ("user", TWO_STEPS), ("user", "CRITICAL: Respond with TEXT ONLY. Summarize.")
    )
    assert json.loads(text_of(title)) == {"title": "Scripted session"}
    assert text_of(compact) == SUMMARY
    assert api.requests == []
    assert [request.kind for request in api.side_requests] == ["title", "compact"]


async def test_an_answer_keeps_to_the_schema_that_is_asked_for(api: ScriptedApi) -> None:
    schema = {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "reason": {"type": "string"},
            "impossible": {"type": "boolean"},
        },
        "required": ["ok", "reason"],
    }

    def verdict() -> tuple[int, Any]:
        return ask(api.url, ("user", "Met?"), tools=[], output_config={"format": {"schema": schema}})

    answer = json.loads(text_of(await to_thread.run_sync(verdict)))
    assert answer["ok"] is True
    assert set(answer) == {"ok", "reason"}


async def test_a_function_may_decide(api: ScriptedApi) -> None:
    def respond(request: ApiRequest) -> list[Any] | None:
        return ["decided"] if request.prompt == "you decide" else None

    api.respond = respond
    assert text_of(await to_thread.run_sync(ask, api.url, ("user", "you decide"))) == "decided"
    assert text_of(await to_thread.run_sync(ask, api.url, ("user", "hello"))) == GREETING


async def test_a_malformed_directive_is_a_clear_error(api: ScriptedApi) -> None:
    status, body = await to_thread.run_sync(ask, api.url, ("user", "SCRIPT [[1]]"))
    assert status == 400
    assert "not 1" in body["error"]["message"]


async def test_tokens_are_counted_and_anything_else_is_harmless(api: ScriptedApi) -> None:
    def count() -> tuple[int, Any]:
        return ask(api.url, ("user", "x" * 400), path="/v1/messages/count_tokens?beta=true")

    assert (await to_thread.run_sync(count))[1]["input_tokens"] > 100

    def head() -> int:
        connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=30)
        connection.request("HEAD", "/")
        status = connection.getresponse().status
        connection.close()
        return status

    assert await to_thread.run_sync(head) == 200


async def test_a_cut_breaks_the_connection_within_the_stream(api: ScriptedApi) -> None:
    def cut() -> tuple[int, Any]:
        return ask(api.url, ("user", 'SCRIPT [["part", {"cut": true}]]'), stream=True)

    with pytest.raises(http.client.IncompleteRead) as raised:
        await to_thread.run_sync(cut)
    assert b"part" in raised.value.partial


async def test_a_hang_sends_headers_and_then_nothing(api: ScriptedApi) -> None:
    def hang() -> int:
        connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=1)
        body = {
            "stream": True,
            "tools": [1],
            "messages": [{"role": "user", "content": 'SCRIPT [[{"hang": true}]]'}],
        }
        connection.request("POST", "/v1/messages", json.dumps(body))
        response = connection.getresponse()
        with pytest.raises(TimeoutError):
            response.read()
        connection.close()
        return response.status

    assert await to_thread.run_sync(hang) == 200
    assert text_of(await to_thread.run_sync(ask, api.url, ("user", "hello"))) == GREETING


def test_it_serves_from_a_thread() -> None:
    with serve_in_thread() as api:
        assert text_of(ask(api.url, ("user", "hello"))) == GREETING
        assert len(api.requests) == 1
