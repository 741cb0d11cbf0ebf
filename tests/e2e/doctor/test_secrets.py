"""Secrets of the environment, of settings and of the client reach no log, no trace and no error."""

import json
from pathlib import Path

import pytest

from tests.conftest import StartAgent
from tests.support.clients import CAPABILITIES
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]

HEADERS = [{"name": "Authorization", "value": "Bearer MARK-mcp-header"}]
SERVERS = [
    {"type": "http", "name": "web", "url": "http://127.0.0.1:9/mcp", "headers": HEADERS},
    {
        "name": "local",
        "command": "/nonexistent",
        "args": ["--token", "MARK-mcp-argument"],
        "env": [{"name": "TOKEN", "value": "MARK-mcp-variable"}],
    },
]
GATEWAY = {"auth": {"_meta": {"gateway": True}}}


@pytest.mark.contract("CL-014")
async def test_no_secret_is_logged_traced_or_told(
    start_agent: StartAgent, sandbox: Sandbox, tmp_path: Path
) -> None:
    settings = {"env": {"MY_TOKEN": "MARK-setting"}, "apiKeyHelper": "echo MARK-helper"}
    (sandbox.config / "settings.json").write_text(json.dumps(settings))
    trace = tmp_path / "trace.jsonl"
    client = await start_agent(
        env={
            "CLAUDE_ACP_LOG": "debug",
            "CLAUDE_AGENT_LOGS": str(tmp_path / "logs"),
            "CLAUDE_ACP_TRACE": str(trace),
            "ANTHROPIC_AUTH_TOKEN": "MARK-token",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Key: MARK-header",
            "AWS_SECRET_ACCESS_KEY": "MARK-aws",
        }
    )
    await client.initialize({**CAPABILITIES["plain"], **GATEWAY})
    options = {"env": {"OTHER_TOKEN": "MARK-option"}}
    session = await client.new_session(mcpServers=SERVERS, _meta={"claudeCode": {"options": options}})
    await client.prompt(session, "hi").result()
    headers = {"X-Key": "MARK-route-header"}
    gateway = {"gateway": {"baseUrl": client.sandbox.api_url, "headers": headers}}
    calls = [
        client.call("providers/set", {"providerId": "main", "apiType": "anthropic", "headers": headers}),
        client.call("authenticate", {"methodId": "gateway", "_meta": gateway}),
    ]
    answers = [(await call.message()).body for call in calls]
    assert "MARK" not in json.dumps(answers)
    await client.close()

    log = (tmp_path / "logs" / "agent.log").read_text()
    assert "Claude ACP started" in log
    assert trace.stat().st_size > 0
    for outlet in (client.stderr, log, trace.read_text()):
        assert [line for line in outlet.splitlines() if "MARK" in line] == []
