"""What a session is created with, and how its Claude Code process is started from that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.capabilities import ClientCapabilities
from bridge.claude.client_options import with_client_options
from bridge.claude.launch import PRESET, Fork, Launch, New, Resume
from bridge.config.providers import Route, routing_env, routing_settings
from bridge.config.settings import Settings
from bridge.permissions.modes import SessionMode
from bridge.sessions.folders import find_transcript

if TYPE_CHECKING:
    from machines.children.delegations import AgentsRestored


@dataclass(frozen=True, slots=True)
class Setup:
    """The facts of `session/new` and its like; they outlive every process of the session."""

    id: str
    cwd: str
    client: ClientCapabilities
    modes: tuple[SessionMode, ...]
    mode: str = "default"
    """The one it starts in; Claude Code is always told (decision 13)."""
    settings: Settings = field(default_factory=Settings)
    """What the settings files said when the session was made."""
    model: str | None = None
    """The model of the stored conversation."""
    effort: str | None = None
    """The level of effort of its last answer."""
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Mapping[str, object] = field(default_factory=dict)
    transcript: Path | None = None
    """The stored conversation that the session takes up."""
    agents: "AgentsRestored | None" = None
    """The subagents of that conversation, if the client is not told it."""
    title: tuple[str, str] | None = None
    """The title of that conversation and when it was stored, for a client that is told at once."""
    replay: bool = False
    """The client is told that conversation before the session is open."""
    fork: Fork | None = None
    """The session is a copy of another one."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """`_meta` of the request."""
    options: Mapping[str, object] = field(default_factory=dict)
    """`_meta.claudeCode.options` of the request (S§3.3)."""
    thinking: Mapping[str, object] | None = None
    """How much Claude thinks, as the environment has it; the client's option outranks it (C§6)."""
    fingerprint: str = ""
    """What of the request decides whether a live session can serve another one (S§4.2)."""

    @property
    def shows_children(self) -> bool:
        """The text of subagents is shown: in their own sessions, or on this one (SA-010, SA-011)."""
        if self.client.subagent_form != "none":
            return True
        return self.client.subagent_transcript or self.options.get("forwardSubagentText") is True


def launch(setup: Setup, route: Route | None, *, claude_id: str, mode: str, resume: bool) -> Launch:
    """Describe the process; `claude_id` is the conversation's id in Claude Code's store."""
    client = setup.client
    described = Launch(
        cwd=setup.cwd,
        session=Resume(claude_id) if resume else setup.fork or New(claude_id),
        permission_mode=mode,
        allow_bypass=any(row.id == "bypassPermissions" for row in setup.modes),
        add_dirs=setup.add_dirs,
        mcp_servers=setup.mcp_servers,
        disallowed_tools=() if client.elicitation_form else ("AskUserQuestion",),
        forward_subagent_text=client.subagent_form != "none" or client.subagent_transcript,
        file_checkpointing=client.has("agentFileChangeReport"),
        session_mirror=client.air,
        settings=setup.settings.programmatic or None,
        options={} if setup.thinking is None else {"thinking": setup.thinking},
    )
    described = with_client_options(_with_metadata(described, setup.meta), setup.options)
    return described if route is None else _routed(described, route)


def is_stored(resumed: Launch, projects: Path) -> bool:
    """Whether Claude Code has a transcript of the conversation; `projects` is its usual folder of them."""
    folder = resumed.env.get("CLAUDE_CONFIG_DIR")
    return find_transcript(Path(folder, "projects") if folder else projects, resumed.session.id) is not None


def _routed(described: Launch, route: Route) -> Launch:
    """No variable and no settings file brings another route back (AU-046, AU-047)."""
    settings = routing_settings(described.settings or {}, route)
    return replace(described, env={**described.env, **routing_env(route)}, settings=settings)


def _with_metadata(described: Launch, meta: Mapping[str, object]) -> Launch:
    """The system prompt and the tools that the request's metadata asks for (S§3.2)."""
    prompt = meta.get("systemPrompt")
    if isinstance(prompt, str):
        described = replace(described, system_prompt=prompt)
    elif isinstance(prompt, Mapping):
        described = replace(described, system_prompt={**prompt, **PRESET})
    if meta.get("disableBuiltInTools") is True:
        described = replace(described, tools=())
    return described
