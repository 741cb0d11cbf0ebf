"""The place in which a recording is driven again: what it shows of files, settings and environment."""

import base64
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.compare.recordings.recording import Recording
from tests.compare.scenarios import ECHO_MCP
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

WORKSPACE = "/workspace"
"""Where the recordings were made."""

_API = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a recording does not show: how the agent was started."""

    env: Mapping[str, str | None] = field(default_factory=dict)
    args: Sequence[str] = ()
    settings: Json = field(default_factory=dict)
    skip: str = ""
    """Why it cannot be driven."""


_NO_KEY: dict[str, str | None] = {"ANTHROPIC_API_KEY": None}
_HIDE = ("--hide-claude-auth",)
_GATEWAY = "needs a second gateway with its own models"

SETUPS: Mapping[str, Setup] = {
    "badproxy": Setup({"HTTPS_PROXY": "not a url"}),
    "bedrockenv": Setup(
        {"CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_API_KEY": None, "AWS_REGION": "us-east-1"}
    ),
    "cfg_env_custom_model": Setup({"ANTHROPIC_CUSTOM_MODEL_OPTION": "my-custom-model"}),
    "cfg_env_model": Setup({"ANTHROPIC_MODEL": "sonnet"}),
    "cfg_env_model_unknown": Setup({"ANTHROPIC_MODEL": "my-custom-model"}),
    "cfg_settings1": Setup(settings={"model": "sonnet", "effortLevel": "low"}),
    "cfg_settings2": Setup(
        settings={
            "availableModels": ["sonnet", "claude-haiku-5-5"],
            "disableAutoMode": "disable",
            "permissions": {"disableBypassPermissionsMode": "disable"},
        }
    ),
    "cfg_settings_auto": Setup(settings={"model": "haiku"}),
    "deny": Setup(settings={"permissions": {"deny": ["Bash(rm:*)"]}}),
    "exefalse": Setup({"CLAUDE_CODE_EXECUTABLE": "/bin/false"}),
    "gw_narrow": Setup(skip=_GATEWAY),
    "hide_zed": Setup(args=_HIDE),
    "noexe": Setup({"CLAUDE_CODE_EXECUTABLE": "/nope/claude"}),
    "nokey": Setup(_NO_KEY),
    "nokey_air": Setup(_NO_KEY),
    "nokey_hide": Setup(_NO_KEY, _HIDE),
    "proto_auto_pv2": Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "auto"}),
    "proto_auto_pv99": Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "auto"}),
    "proto_pv0": Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "auto"}),
    "proto_v1_pv2": Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "v1"}),
    "proto_v2_pv1": Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "v2"}),
    "providers": Setup(skip=_GATEWAY),
    "remote_hide": Setup({"NO_BROWSER": "1"}, _HIDE),
    "remote_zed": Setup({"NO_BROWSER": "1"}),
    "think0": Setup({"MAX_THINKING_TOKENS": "0"}),
    "token": Setup({"ANTHROPIC_API_KEY": None, "ANTHROPIC_AUTH_TOKEN": "scripted"}),
}
"""By name of the recording up to a dot; most need nothing."""

_COMMANDS = {
    ".claude/commands/greet.md": "Greet $ARGUMENTS.\n",
    ".claude/skills/myskill/SKILL.md": "---\nname: myskill\ndescription: My skill\n---\nDo it.\n",
    ".claude/skills/demo/SKILL.md": "---\nname: demo\ndescription: Demo skill\n---\nDo the demo.\n",
}
_USED = {"greet": "/greet", "myskill": "/myskill", "demo": '\\"skill\\": \\"demo\\"'}


def setup_of(recording: Recording) -> Setup:
    """How its agent is started; ACP v2 is switched on for who asks for it."""
    known = SETUPS.get(recording.name.partition(".")[0])
    if known is not None:
        return known
    first = next(recording.sent())
    if first.get("params", {}).get("protocolVersion") == 2:
        return Setup({"CLAUDE_AGENT_ACP_PROTOCOL": "auto"})
    return Setup()


def translated(text: str, sandbox: Sandbox) -> str:
    """Text of a client's message with the paths and addresses of this run."""
    text = text.replace(WORKSPACE + "/bin/python", sys.executable)
    text = re.sub(WORKSPACE + r"/(recordings/)?(mcp_echo|mcpsrv)\.py", str(ECHO_MCP), text)
    return _API.sub(sandbox.api_url, text.replace(WORKSPACE + "/", f"{sandbox.root}/"))


def recorded_paths(recording: Recording) -> dict[str, str]:
    """Placeholders for the paths of a recording."""
    return {
        f"{WORKSPACE}/cfg/{recording.name}": "<config>",
        f"{WORKSPACE}/cfg": "<config>",
        f"{WORKSPACE}/bin/python": "<python>",
        f"{WORKSPACE}/recordings/mcp_echo.py": "<mcp>",
        f"{WORKSPACE}/mcpsrv.py": "<mcp>",
        WORKSPACE: "<root>",
        "-workspace": "<root>",
        "/tmp/claude-1000": "<tmp>",
        " # Environment": "",
    }


def own_paths(sandbox: Sandbox) -> dict[str, str]:
    """Placeholders for the paths of a sandbox."""
    root = str(sandbox.root)
    return {
        str(sandbox.config): "<config>",
        sys.executable: "<python>",
        str(ECHO_MCP): "<mcp>",
        root: "<root>",
        re.sub(r"[^A-Za-z0-9]", "-", root): "<root>",
        f"/tmp/claude-{os.getuid()}": "<tmp>",
    }


def furnish(recording: Recording, sandbox: Sandbox, siblings: Sequence[Recording] = ()) -> None:
    """Make the folders and files that a recording shows to have been there before it.

    Siblings are the same scene with other clients, who may have seen more of a file.
    """
    for folder in _folders(recording):
        Path(translated(folder, sandbox)).mkdir(parents=True, exist_ok=True)
    project = sandbox.root / "proj"
    project.mkdir(exist_ok=True)
    (project / "f.txt").write_text("hi\n")
    shown = [(path.replace(one.name, recording.name), told) for one in siblings for path, told in _files(one)]
    for path, content in [*shown, *_files(recording)]:
        place = Path(translated(path, sandbox))
        if place.is_relative_to(sandbox.root):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    _store_sessions(recording, sandbox)
    _give_commands(recording, sandbox)
    _give_settings(recording, sandbox)


def _folders(recording: Recording) -> Iterator[str]:
    for asked, answer in recording.answered():
        cwd = (asked.get("params") or {}).get("cwd")
        if isinstance(cwd, str) and cwd.startswith(WORKSPACE) and "result" in answer:
            yield cwd


def _files(recording: Recording) -> Iterator[tuple[str, bytes]]:
    """Files that were read or changed, as they were when a tool saw them first."""
    seen: set[str] = set()
    calls: dict[str, str] = {}
    for message in recording.told():
        update = (message.get("params") or {}).get("update") or {}
        given = update.get("rawInput") or {}
        path = given.get("file_path") or given.get("notebook_path") if isinstance(given, dict) else None
        if isinstance(path, str):
            calls[update["toolCallId"]] = path
        response = update.get("_meta", {}).get("claudeCode", {}).get("toolResponse")
        told = _content(response) if isinstance(response, dict) else _from_result(update)
        path = calls.get(update.get("toolCallId", ""))
        if path is None or path in seen:
            continue
        if told is not None:
            seen.add(path)
            yield path, told
        elif update.get("status") == "completed":
            seen.add(path)


def _content(response: Json) -> bytes | None:
    """The file of a tool's response, if that has it from its first line on."""
    file = response.get("file")
    if isinstance(file, dict) and "base64" in file:
        return base64.b64decode(file["base64"])
    if isinstance(file, dict) and file.get("startLine", 1) == 1 and "content" in file:
        return str(file["content"]).encode()
    before = response.get("originalFile")
    return before.encode() if isinstance(before, str) else None


def _from_result(update: Json) -> bytes | None:
    """The file of a numbered listing, or of an image, in a tool's result."""
    output = update.get("rawOutput")
    if isinstance(output, list) and output and "source" in output[0]:
        return base64.b64decode(output[0]["source"]["data"])
    if not isinstance(output, str) or update.get("status") != "completed":
        return None
    if "the file exists but the contents are empty" in output:
        return b""
    lines = [re.fullmatch(r" *(\d+)[\t→](.*)", line) for line in output.split("\n")]
    if not all(lines) or not lines[0] or lines[0][1] != "1":
        return None
    return "\n".join(line[2] for line in lines if line).encode()


def _store_sessions(recording: Recording, sandbox: Sandbox) -> None:
    """A transcript for each session that is listed although no recording of the folder began it."""
    known = recording.made() | recording.needed()
    for asked, answer in recording.answered():
        if asked["method"] != "session/list" or recording.needed():
            continue
        for row in (answer.get("result") or {}).get("sessions", []):
            if row["sessionId"] not in known:
                known.add(row["sessionId"])
                _store(row, Path(translated(row["cwd"], sandbox)), sandbox)


def _store(row: Json, cwd: Path, sandbox: Sandbox) -> None:
    folder = sandbox.config / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(cwd))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row['sessionId']}.jsonl"
    message = {"role": "user", "content": row["title"]}
    told = {"type": "user", "uuid": row["sessionId"], "cwd": str(cwd), "message": message}
    path.write_text(json.dumps(told) + "\n")
    changed = datetime.fromisoformat(row["updatedAt"]).timestamp()
    os.utime(path, (changed, changed))


def _give_commands(recording: Recording, sandbox: Sandbox) -> None:
    sent = json.dumps([*recording.sent()])
    for path, content in _COMMANDS.items():
        name = next(name for name in _USED if name in path)
        if _USED[name] in sent or _USED[name] in json.dumps(sent):
            for folder in {translated(folder, sandbox) for folder in _folders(recording)}:
                place = Path(folder, path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(content)


def _give_settings(recording: Recording, sandbox: Sandbox) -> None:
    """Settings that were there, and the mode that the first session began in."""
    settings: dict[str, Any] = dict(setup_of(recording).settings)
    modes = (
        (answer.get("result") or {}).get("modes", {}).get("currentModeId")
        for _, answer in recording.answered()
    )
    mode = next((mode for mode in modes if mode), None)
    if mode is not None:
        settings["permissions"] = {"defaultMode": mode, **settings.get("permissions", {})}
    if settings:
        (sandbox.config / "settings.json").write_text(json.dumps(settings))
