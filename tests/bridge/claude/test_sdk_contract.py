"""What we rely on in the SDK beyond its documentation; an upgrade that breaks it fails here first."""

import inspect
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

from bridge.claude.launch import Fork, Launch, New, Resume, sdk_options
from bridge.claude.tap import TapTransport
from tests.bridge.claude.bench import plain_launch

SIX = {"connect", "write", "read_messages", "close", "is_ready", "end_input"}


def argv(launch: Launch) -> list[str]:
    options = ClaudeAgentOptions(**sdk_options(launch, {}, euid=0), cli_path="claude")  # type: ignore[arg-type] # keyword names are what is tested
    return SubprocessCLITransport(_nothing(), options)._build_command()


def test_the_transport_has_the_six_methods_of_the_tap() -> None:
    assert Transport.__abstractmethods__ == SIX
    assert not TapTransport.__abstractmethods__


def test_the_private_transport_takes_a_stream_and_options_and_shows_its_process() -> None:
    assert list(inspect.signature(SubprocessCLITransport).parameters) == ["prompt", "options"]
    transport = SubprocessCLITransport(_nothing(), ClaudeAgentOptions())
    assert (transport._process, transport._stderr_task) == (None, None)
    found = transport._find_bundled_cli()
    assert found is not None
    assert os.access(found, os.X_OK)


@pytest.mark.anyio
async def test_the_handshake_is_one_line() -> None:
    class Recorder(Transport):
        written: list[str]
        asked: str

        async def connect(self) -> None:
            self.written = []

        async def write(self, data: str) -> None:
            self.written.append(data)
            self.asked = json.loads(data)["request_id"]

        async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
            while not self.written:
                await _pause()
            response = {"subtype": "success", "request_id": self.asked, "response": {"models": []}}
            yield {"type": "control_response", "response": response}
            await _pause(60)

        async def close(self) -> None: ...
        async def end_input(self) -> None: ...
        def is_ready(self) -> bool:
            return True

    transport = Recorder()
    client = ClaudeSDKClient(ClaudeAgentOptions(), transport=transport)
    await client.connect()
    assert await client.get_server_info() == {"models": []}
    await client.disconnect()

    [line] = transport.written
    assert line.endswith("\n")
    assert json.loads(line)["type"] == "control_request"
    assert json.loads(line)["request"] == {"subtype": "initialize", "hooks": None}


def test_the_command_line_of_a_plain_launch(tmp_path: Path) -> None:
    launch = replace(plain_launch(tmp_path), session=New("S"))

    assert argv(launch) == [
        *("claude", "--output-format", "stream-json", "--verbose", "--tools", "default"),
        *("--permission-prompt-tool", "stdio", "--permission-mode", "default", "--session-id=S"),
        *("--include-partial-messages", "--setting-sources=user,project,local"),
        *("--replay-user-messages", "--input-format", "stream-json"),
    ]


def test_the_command_line_of_everything_at_once(tmp_path: Path) -> None:
    launch = plain_launch(
        tmp_path,
        session=Resume("S", at="M", drops_turn="T"),
        permission_mode="plan",
        model="opus",
        effort="high",
        settings={"model": "x"},
        setting_sources=(),
        system_prompt={"type": "preset", "preset": "claude_code", "append": "More."},
        add_dirs=("/a", "/b"),
        mcp_servers={"m": {"type": "stdio", "command": "c"}},
        tools=(),
        disallowed_tools=("AskUserQuestion",),
        session_mirror=True,
        flags={"debug": None},
        options={"max_turns": 3, "thinking": {"type": "enabled", "budget_tokens": 5}},
    )

    assert argv(launch) == [
        *("claude", "--output-format", "stream-json", "--verbose", "--append-system-prompt", "More."),
        *("--tools", "", "--max-turns", "3", "--disallowedTools", "AskUserQuestion", "--model", "opus"),
        *("--permission-prompt-tool", "stdio", "--permission-mode", "plan", "--resume=S"),
        *("--settings", '{"model": "x"}', "--add-dir", "/a", "--add-dir", "/b"),
        *("--mcp-config", '{"mcpServers": {"m": {"type": "stdio", "command": "c"}}}'),
        *("--include-partial-messages", "--resume-session-at=M", "--resume-drops-turn=T"),
        *("--setting-sources=", "--debug", "--replay-user-messages", "--session-mirror"),
        *("--max-thinking-tokens", "5", "--effort", "high", "--input-format", "stream-json"),
    ]


def test_the_command_line_of_a_fork(tmp_path: Path) -> None:
    flags = argv(plain_launch(tmp_path, session=Fork("OLD", "NEW")))
    assert {"--resume=OLD", "--fork-session", "--session-id=NEW"} <= set(flags)


async def _pause(seconds: float = 0.01) -> None:
    import anyio

    await anyio.sleep(seconds)


async def _nothing() -> AsyncIterator[dict[str, Any]]:
    return
    yield
