"""What a session is created with, and how its Claude Code process is started from that."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bridge.capabilities import ClientCapabilities
from bridge.claude.launch import Launch, New, Resume
from bridge.permissions.modes import SessionMode


@dataclass(frozen=True, slots=True)
class Setup:
    """The facts of `session/new` and its like; they outlive every process of the session."""

    id: str
    cwd: str
    client: ClientCapabilities
    modes: tuple[SessionMode, ...]
    mode: str = "default"
    """The one it starts in; Claude Code is always told (decision 13)."""
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Mapping[str, object] = field(default_factory=dict)
    resume: bool = False
    """The session takes up a stored conversation."""


def launch(setup: Setup, *, claude_id: str, mode: str, resume: bool) -> Launch:
    """Describe the process; `claude_id` is the conversation's id in Claude Code's store."""
    client = setup.client
    return Launch(
        cwd=setup.cwd,
        session=Resume(claude_id) if resume else New(claude_id),
        permission_mode=mode,
        allow_bypass=any(row.id == "bypassPermissions" for row in setup.modes),
        add_dirs=setup.add_dirs,
        mcp_servers=setup.mcp_servers,
        disallowed_tools=() if client.elicitation_form else ("AskUserQuestion",),
        forward_subagent_text=client.subagent_form != "none" or client.subagent_transcript,
        file_checkpointing=client.has("agentFileChangeReport"),
        session_mirror=client.air,
    )
