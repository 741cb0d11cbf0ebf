"""The real Claude Code CLI takes the scripted API for the real one."""

import json
from typing import Any

import anyio
import pytest

from bridge.demo.api import ScriptedApi
from tests.support.sandbox import Sandbox, bundled_cli

pytestmark = [pytest.mark.anyio, pytest.mark.live]

HANG = 120.0


async def run_cli(sandbox: Sandbox, prompt: str, *options: str) -> list[dict[str, Any]]:
    """The frames of one prompt on a CLI of its own."""
    command = [str(bundled_cli()), "-p", prompt, "--output-format", "stream-json", "--verbose", *options]
    env = sandbox.environment({"CLAUDE_CODE_MAX_RETRIES": "3"})
    with anyio.fail_after(HANG):
        done = await anyio.run_process(command, cwd=sandbox.project, env=env, check=False)
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def spoken(frames: list[dict[str, Any]]) -> list[str]:
    """Text blocks of the assistant, in order."""
    blocks = [
        block for frame in frames if frame["type"] == "assistant" for block in frame["message"]["content"]
    ]
    return [block["text"] for block in blocks if block["type"] == "text"]


async def test_text_thinking_tools_and_usage_arrive(api: ScriptedApi, sandbox: Sandbox) -> None:
    (sandbox.project / "note.txt").write_text("a note")
    read = {"name": "Read", "input": {"file_path": str(sandbox.project / "note.txt")}}
    script = [
        [{"thinking": "I think."}, "I look.", read, {**read, "pieces": 1}],
        ["It is a note.", {"usage": {"input_tokens": 4321, "output_tokens": 17}}],
    ]
    frames = await run_cli(sandbox, f"SCRIPT {json.dumps(script)}")
    assert spoken(frames) == ["I look.", "It is a note."]
    result = frames[-1]
    assert result["result"] == "It is a note."
    assert result["usage"]["input_tokens"] == 4331
    assert result["usage"]["output_tokens"] == 22
    results = [
        block for block in api.requests[1].body["messages"][-1]["content"] if block["type"] == "tool_result"
    ]
    assert ["a note" in str(block["content"]) for block in results] == [True, True]


async def test_errors_that_pass_are_retried(api: ScriptedApi, sandbox: Sandbox) -> None:
    script = [[{"error": 529, "times": 2, "headers": {"retry-after": "0"}}, "Back again."]]
    frames = await run_cli(sandbox, f"SCRIPT {json.dumps(script)}")
    assert frames[-1]["result"] == "Back again."
    assert len(api.requests) == 3
    retries = [frame for frame in frames if frame.get("subtype") == "api_retry"]
    assert [retry["error_status"] for retry in retries] == [529, 529]


async def test_a_lasting_error_is_the_result(sandbox: Sandbox) -> None:
    frames = await run_cli(sandbox, 'SCRIPT [[{"error": 403, "message": "not for you"}]]')
    assert frames[-1]["is_error"] is True
    assert "not for you" in frames[-1]["result"]


async def test_a_stream_that_is_cut_is_asked_for_again(sandbox: Sandbox) -> None:
    frames = await run_cli(sandbox, 'SCRIPT [[{"cut": true, "times": 1}, "Whole."]]')
    assert frames[-1]["result"] == "Whole."


async def test_the_cli_goes_on_after_max_tokens_with_the_next_step(sandbox: Sandbox) -> None:
    frames = await run_cli(sandbox, 'SCRIPT [["Half", {"stop": "max_tokens"}], [" and half."]]')
    assert spoken(frames) == ["Half", " and half."]


async def test_a_subagent_follows_the_script_of_its_own_prompt(api: ScriptedApi, sandbox: Sandbox) -> None:
    child = {"description": "Look", "prompt": 'SCRIPT [["The report."]]', "run_in_background": False}
    script = [[{"name": "Agent", "input": {**child, "subagent_type": "general-purpose"}}], ["Done."]]
    frames = await run_cli(sandbox, f"SCRIPT {json.dumps(script)}")
    assert frames[-1]["result"] == "Done."
    assert "The report." in str(api.requests[-1].body["messages"][-1])


async def test_many_deltas_arrive_one_by_one(sandbox: Sandbox) -> None:
    frames = await run_cli(sandbox, 'SCRIPT [[{"many": [500, 10]}]]', "--include-partial-messages")
    streamed = [frame["event"] for frame in frames if frame["type"] == "stream_event"]
    pieces = [event["delta"]["text"] for event in streamed if event["type"] == "content_block_delta"]
    assert pieces == ["xxxxxxxxx "] * 500
