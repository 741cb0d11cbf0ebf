"""How one Claude Code process is started: one immutable description, read by pure functions.

Rules: `sessions` §3, `claude-sdk` §3, decisions 13, 17 and 18.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

HOOKS = ("PostToolUse", "PostCompact", "PostModelSwitch", "TaskCreated", "TaskCompleted", "SubagentStart")
"""The hooks that the agent listens to; the callback id of each is its name."""

PRESET: Mapping[str, object] = {"type": "preset", "preset": "claude_code"}
"""Claude Code's own system prompt; the same shape names its own set of tools."""

BYPASS_FLAG = "allow-dangerously-skip-permissions"


@dataclass(frozen=True, slots=True)
class New:
    """A session that starts empty, under this UUID."""

    id: str


@dataclass(frozen=True, slots=True)
class Resume:
    """A stored session that goes on; `at` cuts its history after that message."""

    id: str
    at: str | None = None
    drops_turn: str | None = None
    """The turn that the cut is known to drop."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A copy of a stored session, under a UUID of its own."""

    source: str
    id: str
    at: str | None = None


Session = New | Resume | Fork


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Everything that is fixed when a process starts."""

    cwd: str
    session: Session
    permission_mode: str
    """Always passed on: without it Claude Code reads its settings, escalating ones too."""
    allow_bypass: bool = False
    """The session may switch to `bypassPermissions` later."""
    cli_path: str | None = None
    """The executable; None means `CLAUDE_CODE_EXECUTABLE`, else the one of the SDK."""
    model: str | None = None
    effort: str | None = None
    settings: Mapping[str, object] | None = None
    """Settings that outrank the files of user and project, merged by the caller."""
    setting_sources: tuple[str, ...] = ("user", "project", "local")
    system_prompt: str | Mapping[str, object] = field(default_factory=lambda: PRESET)
    """A text replaces Claude Code's prompt; a preset object may append to it."""
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Mapping[str, object] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    """None means Claude Code's own set, an empty tuple none at all."""
    disallowed_tools: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Over the environment of this process."""
    hooks: tuple[str, ...] = HOOKS
    file_checkpointing: bool = False
    forward_subagent_text: bool = False
    session_mirror: bool = False
    """Transcript entries arrive as frames too; goals are read from them."""
    flags: Mapping[str, str | None] = field(default_factory=dict)
    """Further command line flags, without the dashes; None for one that takes no value."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the SDK's options, by their Python names."""
    initialize: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the initialize request."""


def may_bypass(environ: Mapping[str, str], euid: int) -> bool:
    """Whether Claude Code starts at all with the bypass flag: not as root outside a sandbox."""
    return euid != 0 or environ.get("IS_SANDBOX") == "1"


def environment(launch: Launch, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables to set over `environ`; To-do tools are on unless the user decided (decision 17)."""
    ours = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", "CLAUDE_CODE_STARTUP_FAILURE_RESULTS": "1"}
    todo = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
    if todo not in environ and todo not in launch.env:
        ours[todo] = "1"
    return {**launch.env, **ours}


def command_flags(launch: Launch, environ: Mapping[str, str], euid: int) -> dict[str, str | None]:
    """The flags for which the SDK has no option of its own."""
    flags = {**launch.flags, "replay-user-messages": None}
    if launch.session_mirror:
        flags["session-mirror"] = None
    if launch.allow_bypass and may_bypass({**environ, **launch.env}, euid):
        flags[BYPASS_FLAG] = None
    return flags


def sdk_options(launch: Launch, environ: Mapping[str, str], euid: int) -> dict[str, object]:
    """The keyword arguments of `ClaudeAgentOptions`."""
    return {
        **launch.options,
        **_session_options(launch.session),
        "cwd": launch.cwd,
        "permission_mode": launch.permission_mode,
        "permission_prompt_tool_name": "stdio",
        "include_partial_messages": True,
        "model": launch.model,
        "effort": launch.effort,
        "settings": None if launch.settings is None else json.dumps(launch.settings),
        "setting_sources": list(launch.setting_sources),
        "system_prompt": launch.system_prompt,
        "add_dirs": list(launch.add_dirs),
        "mcp_servers": dict(launch.mcp_servers),
        "tools": PRESET if launch.tools is None else list(launch.tools),
        "disallowed_tools": list(launch.disallowed_tools),
        "env": environment(launch, environ),
        "enable_file_checkpointing": launch.file_checkpointing,
        "extra_args": command_flags(launch, environ, euid),
        # The replay of a prompt with an image is one line (C45).
        "max_buffer_size": 64 << 20,
    }


def initialize_fields(launch: Launch) -> dict[str, object]:
    """What the SDK's initialize request is completed with: hooks, and what only that request takes."""
    fields = dict(launch.initialize)
    if launch.hooks:
        fields["hooks"] = {name: [{"matcher": None, "hookCallbackIds": [name]}] for name in launch.hooks}
    if launch.forward_subagent_text:
        fields["forwardSubagentText"] = True
    if isinstance(launch.system_prompt, Mapping):
        excluded = launch.system_prompt.get("excludeDynamicSections")
        if isinstance(excluded, bool):
            fields["excludeDynamicSections"] = excluded
    return fields


def _session_options(session: Session) -> dict[str, object]:
    match session:
        case New(id):
            return {"session_id": id}
        case Resume(id, at, drops_turn):
            return {"resume": id, "resume_session_at": at, "resume_drops_turn": drops_turn}
        case Fork(source, id, at):
            return {"resume": source, "fork_session": True, "session_id": id, "resume_session_at": at}
