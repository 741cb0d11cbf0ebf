"""What a session starts with: settings of the person and the project, the environment, the history."""

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.demo.api import ScriptedApi
from tests.conftest import StartAgent
from tests.e2e.chat import claudes, script
from tests.support.acp_client import AcpClient
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.anyio, pytest.mark.live]


async def begin(client: AcpClient, folder: Path, **more: object) -> tuple[str, dict[str, Any]]:
    """A session, and the current values of its options."""
    request = {"cwd": str(folder), "mcpServers": [], **more}
    opened = await client.request("session/new", request)
    return opened["sessionId"], values(opened)


def values(opened: Json) -> dict[str, Any]:
    return {option["id"]: option["currentValue"] for option in opened["configOptions"]}


def settings(folder: Path, name: str, content: object) -> None:
    path = folder / ".claude" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


async def asked(client: AcpClient, api: ScriptedApi, session: str) -> Json:
    """What the model is asked."""
    await client.prompt(session, script(["Yes."])).result()
    return dict(api.requests[-1].body)


@pytest.fixture
def folder(shared_agent: AcpClient, request: pytest.FixtureRequest) -> Path:
    """A project of the test's own."""
    folder = shared_agent.sandbox.project / str(abs(hash(request.node.name)))
    folder.mkdir(parents=True)
    return folder


@pytest.mark.contract("CF-016")
async def test_without_any_setting(shared_agent: AcpClient, folder: Path) -> None:
    session, told = await begin(shared_agent, folder)
    assert told == {"mode": "default", "model": "default", "effort": "default", "fast": "off"}
    await shared_agent.request("session/close", {"sessionId": session})


async def test_the_settings_of_a_project_count_and_the_local_ones_more(
    shared_agent: AcpClient, shared_api: ScriptedApi, folder: Path
) -> None:
    settings(folder, "settings", {"model": "haiku", "permissions": {"defaultMode": "plan"}})
    settings(folder, "settings.local", {"model": "sonnet", "effortLevel": "high"})
    session, told = await begin(shared_agent, folder)
    assert told == {"mode": "plan", "model": "sonnet", "effort": "high"}
    body = await asked(shared_agent, shared_api, session)
    assert body["model"].startswith("claude-sonnet")
    assert body["output_config"]["effort"] == "high"
    assert "plan mode" in str(body).lower()
    await shared_agent.request("session/close", {"sessionId": session})


@pytest.mark.contract("CF-010")
@pytest.mark.parametrize(
    ("name", "mode", "shown"),
    [
        ("settings", "acceptEdits", "default"),
        ("settings.local", " ACCEPTEDITS ", "acceptEdits"),
        ("settings.local", "manual", "default"),
        ("settings.local", "bogus", "default"),
        ("settings.local", "dontAsk", "default"),
    ],
)
async def test_the_mode_of_the_settings(
    name: str, mode: str, shown: str, shared_agent: AcpClient, folder: Path
) -> None:
    """A committed file may not make it looser; `dontAsk` runs, under the nearest id (decision 31)."""
    settings(folder, name, {"permissions": {"defaultMode": mode}})
    session, told = await begin(shared_agent, folder)
    assert told["mode"] == shown
    mark = len(shared_agent.messages)
    write = {"name": "Write", "input": {"file_path": str(folder / "made"), "content": "x"}}
    await shared_agent.prompt(session, script([write], ["Done."])).result()
    questions = [
        message
        for message in shared_agent.messages[mark:]
        if message.body.get("method") == "session/request_permission"
    ]
    assert len(questions) == (1 if shown == "default" and mode != "dontAsk" else 0)
    assert (folder / "made").exists() is (mode != "dontAsk")
    if mode in {"bogus", "dontAsk"}:
        assert f'"{mode}"' in shared_agent.stderr
    await shared_agent.request("session/close", {"sessionId": session})


@pytest.mark.parametrize(
    "content",
    [
        "{ broken",
        "",
        "[]",
        '{"model": 7, "permissions": "x", "env": []}',
        '{"permissions": {"defaultMode": ["plan"]}}',
        '{"model": "\\ud800"}',
        json.dumps({"x": "y" * 5_000_000}),
    ],
    ids=["broken", "empty", "a list", "wrong types", "a list as mode", "half a character", "huge"],
)
async def test_a_file_that_makes_no_sense_is_as_none(
    content: str, shared_agent: AcpClient, folder: Path
) -> None:
    before = len(shared_agent.stderr)
    settings(folder, "settings.local", content)
    session, told = await begin(shared_agent, folder)
    assert told["mode"] == "default"
    assert (await shared_agent.prompt(session, script(["Yes."])).result())["stopReason"] == "end_turn"
    if content in {"{ broken", "[]"}:
        assert "settings.local.json" in shared_agent.stderr[before:]
    await shared_agent.request("session/close", {"sessionId": session})


async def test_the_list_of_models_may_be_shortened(shared_agent: AcpClient, folder: Path) -> None:
    settings(folder, "settings", {"availableModels": ["sonnet", "claude-haiku-5-5", "sonnet"]})
    opened = await shared_agent.request("session/new", {"cwd": str(folder), "mcpServers": []})
    model = next(option for option in opened["configOptions"] if option["id"] == "model")
    assert [row["value"] for row in model["options"]] == ["default", "sonnet", "claude-haiku-5-5"]
    params = {"sessionId": opened["sessionId"], "configId": "model", "value": "fable"}
    assert (await shared_agent.call("session/set_config_option", params).error()).code == -32602
    await shared_agent.request("session/close", {"sessionId": opened["sessionId"]})


async def test_settings_of_the_request_outrank_the_files(
    shared_agent: AcpClient, shared_api: ScriptedApi, folder: Path
) -> None:
    settings(folder, "settings.local", {"model": "sonnet", "effortLevel": "high"})
    (folder / "mine.json").write_text('{"model": "haiku"}')
    for given, model in [({"model": "opus", "effortLevel": "max"}, "opus"), ("mine.json", "haiku")]:
        meta = {"claudeCode": {"options": {"settings": given}}}
        session, told = await begin(shared_agent, folder, _meta=meta)
        assert told["model"] == model
        assert told["effort"] == ("max" if model == "opus" else "high")
        body = await asked(shared_agent, shared_api, session)
        assert body["model"].startswith(f"claude-{model}")
        await shared_agent.request("session/close", {"sessionId": session})


async def test_a_settings_file_that_the_request_names_has_to_be_there(
    shared_agent: AcpClient, folder: Path
) -> None:
    (folder / "broken.json").write_text("{ broken")
    before = claudes(shared_agent).keys()
    for name in ("nope.json", "broken.json", str(folder)):
        meta = {"claudeCode": {"options": {"settings": name}}}
        params = {"cwd": str(folder), "mcpServers": [], "_meta": meta}
        error = await shared_agent.call("session/new", params).error()
        assert (error.code, error.message) == (-32603, "Internal error")
        assert error.data == {"details": "The settings file of the request cannot be read."}
    assert claudes(shared_agent).keys() == before


async def test_the_settings_of_the_person(
    start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi
) -> None:
    """The loosest modes may be theirs; the project's file outranks the rest."""
    mine = {"model": "sonnet", "effortLevel": "low", "permissions": {"defaultMode": "bypassPermissions"}}
    written = json.dumps({**mine, "note": "?"}).encode().replace(b"?", b"\xff")  # half of it no UTF-8
    (sandbox.config / "settings.json").write_bytes(written)
    client = await start_agent()
    await client.initialize()
    session, told = await begin(client, sandbox.project)
    assert told == {"mode": "bypassPermissions", "model": "sonnet", "effort": "low"}
    body = await asked(client, api, session)
    assert body["model"].startswith("claude-sonnet")

    settings(sandbox.project, "settings", {"permissions": {"disableBypassPermissionsMode": "disable"}})
    _, told = await begin(client, sandbox.project)
    assert told["mode"] == "default"


@pytest.mark.contract("CF-037", "CF-038")
async def test_the_environment(start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi) -> None:
    """The model by its variable, over every settings file; models, thinking and what is shown of it."""
    (sandbox.config / "settings.json").write_text('{"model": "opus"}')
    config = {"availableModels": ["sonnet", "claude-haiku-4-5"], "env": {"IGNORED": "1"}}
    client = await start_agent(
        env={
            "ANTHROPIC_MODEL": "claude-haiku-4-5",
            "CLAUDE_MODEL_CONFIG": json.dumps(config),
            "MAX_THINKING_TOKENS": "5000",
            "CLAUDE_CODE_THINKING_DISPLAY": "summarized",
        }
    )
    await client.initialize()
    opened = await client.request("session/new", {"cwd": str(sandbox.project), "mcpServers": []})
    (model,) = [option for option in opened["configOptions"] if option["id"] == "model"]
    assert [row["value"] for row in model["options"]] == ["default", "sonnet", "claude-haiku-4-5"]
    assert model["currentValue"] == "claude-haiku-4-5"
    body = await asked(client, api, opened["sessionId"])
    assert body["model"] == "claude-haiku-4-5"
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 5000, "display": "summarized"}

    given = {"claudeCode": {"options": {"thinking": {"type": "disabled"}}}}
    session, _ = await begin(client, sandbox.project, _meta=given)
    assert (await asked(client, api, session))["thinking"] == {"type": "disabled"}


async def test_an_environment_that_makes_no_sense(
    start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi
) -> None:
    client = await start_agent(
        env={"MAX_THINKING_TOKENS": "-1", "CLAUDE_CODE_THINKING_DISPLAY": "loud", "CLAUDE_MODEL_CONFIG": "{}"}
    )
    await client.initialize()
    session, _ = await begin(client, sandbox.project)
    await asked(client, api, session)
    for name in ("MAX_THINKING_TOKENS", "CLAUDE_CODE_THINKING_DISPLAY"):
        assert f"{name} is n" in client.stderr

    broken = await start_agent(env={"CLAUDE_MODEL_CONFIG": "[1]"})
    await broken.initialize()
    error = await broken.call("session/new", {"cwd": str(sandbox.project), "mcpServers": []}).error()
    assert error.code == -32603
    assert "CLAUDE_MODEL_CONFIG must be a JSON object" in f"{error.message} {error.data}"


@pytest.mark.contract("CF-037")
async def test_choices_come_back_with_the_session(
    start_agent: StartAgent, sandbox: Sandbox, api: ScriptedApi
) -> None:
    """The model and the mode are stored with the conversation, and outranked by the environment."""
    first = await start_agent()
    await first.initialize()
    session, _ = await begin(first, sandbox.project)
    for option, value in [("model", "haiku"), ("mode", "acceptEdits")]:
        params = {"sessionId": session, "configId": option, "value": value}
        await first.request("session/set_config_option", params)
    await asked(first, api, session)
    await first.close()

    request = {"sessionId": session, "cwd": str(sandbox.project), "mcpServers": []}
    for env, model in [({}, "haiku"), ({"ANTHROPIC_MODEL": "sonnet"}, "sonnet")]:
        again = await start_agent(env=env)
        await again.initialize()
        told = values(await again.request("session/load", request))
        assert (told["model"], told["mode"]) == (model, "acceptEdits")
        assert (await asked(again, api, session))["model"].startswith(f"claude-{model}")
        await again.close()
