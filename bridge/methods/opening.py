"""How sessions come to be: `session/new`, `load`, `resume` and `fork` (S§2 … S§5)."""

import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from bridge.claude.launch import Fork
from bridge.config.settings import (
    Settings,
    programmatic_settings,
    read_settings,
    read_tier,
    settings_paths,
)
from bridge.config.thinking import thinking
from bridge.live.setup import Setup
from bridge.methods.requested import check_folders, mcp_servers, meta_of
from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from bridge.permissions.modes import SessionMode, bypass_allowed, catalog, start_mode
from bridge.sessions.chain import open_transcript
from bridge.sessions.folders import config_folder, find_transcript
from bridge.sessions.fork import find_fork_record, read_fork_point
from bridge.sessions.listing import stored_title
from bridge.sessions.recall import LastChoices, last_choices
from wire import rpc
from wire.acp.session import (
    ForkSessionRequest,
    LoadSessionRequest,
    McpServer,
    NewSessionRequest,
    ResumeSessionRequest,
)
from wire.params import read

if TYPE_CHECKING:
    from machines.children.delegations import AgentsRestored

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What the four requests have in common."""

    cwd: str
    add_dirs: tuple[str, ...]
    servers: Sequence[McpServer]
    meta: Mapping[str, object]

    @property
    def options(self) -> Mapping[str, object]:
        """The SDK options that a client passes on (S§3.3)."""
        options = meta_of(self.meta, "claudeCode", "options")
        return options if isinstance(options, Mapping) else {}

    def fingerprint(self) -> str:
        """The same for requests that one process can serve (SE-022 … SE-026)."""
        skills = self.options.get("skills")
        options = {key: value for key, value in self.options.items() if key not in _ATTACHING}
        if isinstance(skills, list):
            options["skills"] = sorted(str(skill) for skill in skills)
        servers = sorted((server.dump() for server in self.servers), key=lambda server: str(server["name"]))
        parts = [self.cwd, servers, list(self.add_dirs), options]
        rest = {key: self.meta.get(key) for key in ("additionalRoots", "systemPrompt", "disableBuiltInTools")}
        emit = meta_of(self.meta, "claudeCode", "emitRawSDKMessages")
        return json.dumps([*parts, rest, emit], sort_keys=True, default=str)


_ATTACHING = frozenset(
    {
        "agent",
        "continue",
        "cwd",
        "executable",
        "forkSession",
        "includePartialMessages",
        "loadTimeoutMs",
        "permissionMode",
        "resume",
        "resumeDropsTurn",
        "resumeSessionAt",
        "sessionId",
        "title",
    }
)
"""Options that say how to attach to a session, or that the agent controls."""


def new(sessions: Sessions, inbound: Inbound) -> None:
    """Create a session with an empty conversation; a `resume` option takes up a stored one."""
    params = read(NewSessionRequest, inbound.params)
    request = _request(params.cwd, params.additional_directories, params.mcp_servers, params.meta)
    resumed = request.options.get("resume")
    if isinstance(resumed, str):
        sessions.later_in_order(resumed, _open_stored, inbound, request, resumed, False)
        return
    sessions.later(_open_new, inbound, request)


def load(sessions: Sessions, inbound: Inbound) -> None:
    """Restore a session and tell its history before the answer."""
    params = read(LoadSessionRequest, inbound.params)
    request = _request(params.cwd, params.additional_directories, params.mcp_servers, params.meta)
    sessions.later_in_order(params.session_id, _open_stored, inbound, request, params.session_id, True)


def resume(sessions: Sessions, inbound: Inbound) -> None:
    """Restore a session without telling its history."""
    params = read(ResumeSessionRequest, inbound.params)
    request = _request(params.cwd, params.additional_directories, params.mcp_servers, params.meta)
    sessions.later_in_order(params.session_id, _open_stored, inbound, request, params.session_id, False)


def fork(sessions: Sessions, inbound: Inbound) -> None:
    """Create a session whose conversation begins as a copy of another one's."""
    params = read(ForkSessionRequest, inbound.params)
    request = _request(params.cwd, params.additional_directories, params.mcp_servers, params.meta)
    sessions.later(_open_fork, inbound, request, params.session_id)


async def _open_new(sessions: Sessions, inbound: Inbound, request: Request) -> None:
    setup = await _setup(sessions, request, sessions.host.new_id())
    await sessions.open(setup, inbound)


async def _open_stored(sessions: Sessions, inbound: Inbound, request: Request, id: str, replay: bool) -> None:
    transcript = await to_thread.run_sync(find_transcript, sessions.projects, id)
    if inbound.answered:  # the session was closed meanwhile
        return
    live = sessions.get(id)
    if live is not None and not live.is_closing and live.setup.fingerprint == request.fingerprint():
        if replay and transcript is not None:
            live.load_again(inbound, transcript)
        else:
            live.answer_open(inbound)
        return
    mode = live.mode if live is not None else None
    if live is not None:
        await sessions.close(live)
        transcript = await to_thread.run_sync(find_transcript, sessions.projects, id)  # the end may store it
    if transcript is None and live is None:
        raise rpc.WireError(rpc.RESOURCE_NOT_FOUND, data={"sessionId": id})
    choices = await to_thread.run_sync(last_choices, transcript) if transcript is not None else LastChoices()
    setup = await _setup(sessions, request, id, choices, explicit=mode)
    if sessions.client.v2 and transcript is not None:
        setup = replace(setup, title=await to_thread.run_sync(stored_title, transcript))
    replay = replay and transcript is not None
    if transcript is not None and not replay and sessions.client.subagent_form != "none":
        setup = replace(setup, agents=await to_thread.run_sync(_restored, sessions, transcript))
    await sessions.open(replace(setup, transcript=transcript, replay=replay), inbound)


def _restored(sessions: Sessions, transcript: Path) -> "AgentsRestored | None":
    """The subagents that may be asked again although their history is not told (SA-097).

    Imported here: the methods are there before the code of sessions.
    """
    from bridge.children.stored import stored_agents
    from bridge.sessions.replay.delegated import delegated
    from bridge.sessions.replay.subagents import stored_subagents
    from machines.children.delegations import AgentsRestored

    subagents = stored_subagents(transcript)
    if not subagents:
        return None
    try:
        with open_transcript(transcript) as stored:
            agents = stored_agents(delegated(stored, subagents))
    except OSError:
        return None  # whether that is a failure is for Claude Code to say
    return AgentsRestored(agents, shown=False, at=int(sessions.host.clock().timestamp() * 1000))


async def _open_fork(sessions: Sessions, inbound: Inbound, request: Request, source: str) -> None:
    transcript = await to_thread.run_sync(find_transcript, sessions.projects, source)
    if transcript is None:
        raise rpc.WireError(rpc.RESOURCE_NOT_FOUND, data={"sessionId": source})
    at = await to_thread.run_sync(_fork_record, request, transcript, source)
    choices = await to_thread.run_sync(last_choices, transcript, at)
    id = sessions.host.new_id()
    setup = await _setup(sessions, request, id, choices)
    await sessions.open(replace(setup, fork=Fork(source, id, at)), inbound)


def _fork_record(request: Request, transcript: Path, source: str) -> str | None:
    """The record that the copy ends with, if the request names one (SE-038 … SE-051)."""
    point = read_fork_point(meta_of(request.meta, "jetbrains", "air"))
    if point is None:
        return None
    with open_transcript(transcript) as stored:
        record = find_fork_record(point, stored, {})
    if record is None:
        text = f"Invalid params: Fork point message {point.message_id} was not found in session {source}"
        raise rpc.WireError(rpc.INVALID_PARAMS, text, {"messageId": point.message_id})
    return record


def _request(
    cwd: str, additional: Sequence[str], servers: Sequence[McpServer], meta: Mapping[str, object] | None
) -> Request:
    """Read and check a request before any side effect."""
    known = meta or {}
    check_folders(cwd, additional)
    roots = known.get("additionalRoots")
    if not additional and isinstance(roots, list):
        additional = [root for root in roots if isinstance(root, str)]
    return Request(cwd, tuple(additional), servers, known)


async def _setup(
    sessions: Sessions,
    request: Request,
    id: str,
    choices: LastChoices | None = None,
    *,
    explicit: str | None = None,
) -> Setup:
    """Read the settings and decide what the session starts with (C§4.2)."""
    settings = await to_thread.run_sync(_read_settings, sessions, request)
    thinks, ignored = thinking(os.environ)
    for problem in (*settings.problems, *ignored):
        log.warning("%s", problem)
    choices = choices or LastChoices()
    modes = _modes(settings, request)
    start = start_mode(modes, explicit=explicit, transcript=choices.mode, setting=settings.default_mode)
    for warning in start.warnings:
        log.warning("%s", warning)
    return Setup(
        id=id,
        cwd=request.cwd,
        client=sessions.client,
        modes=modes,
        mode=start.mode,
        settings=settings,
        model=choices.model,
        effort=choices.effort,
        add_dirs=request.add_dirs,
        mcp_servers=mcp_servers(request.servers),
        meta=request.meta,
        options=request.options,
        thinking=thinks,
        fingerprint=request.fingerprint(),
    )


def _read_settings(sessions: Sessions, request: Request) -> Settings:
    config_dir = str(config_folder(os.environ, Path(sessions.host.home)))
    given = request.options.get("settings")
    if isinstance(given, str) and not given.lstrip().startswith("{"):
        given = _settings_file(os.path.join(request.cwd, given))
    try:
        own = programmatic_settings(given, os.environ.get("CLAUDE_MODEL_CONFIG"))
    except ValueError as error:
        raise rpc.WireError(rpc.INTERNAL_ERROR, f"Internal error: {error}") from None
    return read_settings(settings_paths(request.cwd, config_dir, sys.platform), own)


def _settings_file(path: str) -> Mapping[str, object]:
    """The settings file that a request names; unlike the others, it has to be there (S§3.3)."""
    tier = read_tier(path)
    if tier.problem is not None or not os.path.exists(path):
        details = "The settings file of the request cannot be read."
        raise rpc.WireError(rpc.INTERNAL_ERROR, data={"details": details})
    return tier.values


def _modes(settings: Settings, request: Request) -> tuple[SessionMode, ...]:
    uid = os.geteuid() if hasattr(os, "geteuid") else None
    bypass = bypass_allowed(
        disabled=settings.bypass_disabled,
        uid=uid,
        sandbox=os.environ.get("IS_SANDBOX") == "1",  # nothing else counts for Claude Code
        requested=request.options.get("allowDangerouslySkipPermissions"),
    )
    return catalog(auto=not settings.auto_disabled, bypass=bypass)
