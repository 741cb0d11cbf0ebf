"""Which of the client's `_meta.claudeCode.options` reach Claude Code, and how (`sessions` §3.3).

The names are those of the TypeScript SDK. What the agent controls is in no table here, and a value
of the wrong type counts as not given. `settings` are merged by whoever builds the launch.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from bridge.claude.launch import PRESET, Launch, Resume, Session

_T = TypeVar("_T")
_Reader = Callable[[object], object]
"""Answers the value to use, None for one that cannot be used."""


def with_client_options(launch: Launch, options: Mapping[str, object]) -> Launch:
    """Answer `launch` with the client's options merged in.

    The launch holds what the ACP request and the agent want. It outranks the client's variables
    and its MCP servers of the same name, and stands behind the client's directories and tools.
    """
    return replace(
        launch,
        session=_session(launch, options),
        model=launch.model or _text(options.get("model")),
        effort=launch.effort or _text(options.get("effort")),
        setting_sources=_given(_texts(options.get("settingSources")), launch.setting_sources),
        system_prompt=_given(_prompt(options.get("systemPrompt")), launch.system_prompt),
        add_dirs=_joined(options.get("additionalDirectories"), launch.add_dirs),
        mcp_servers={**(_object(options.get("mcpServers")) or {}), **launch.mcp_servers},
        tools=_tools(options.get("tools"), launch.tools),
        disallowed_tools=_joined(options.get("disallowedTools"), launch.disallowed_tools),
        env={**_variables(options.get("env")), **launch.env},
        flags={**_flags(options), **launch.flags},
        options={**launch.options, **_read(_FIELDS, options)},
        initialize={**launch.initialize, **_read(_INITIALIZE, options)},
        allow_bypass=launch.allow_bypass and options.get("allowDangerouslySkipPermissions") is not False,
        forward_subagent_text=launch.forward_subagent_text or options.get("forwardSubagentText") is True,
        file_checkpointing=launch.file_checkpointing or options.get("enableFileCheckpointing") is True,
    )


def _session(launch: Launch, options: Mapping[str, object]) -> Session:
    """The cut of a resumed history; which session it is, is not the client's option to say."""
    if not isinstance(launch.session, Resume):
        return launch.session
    at, drops = _text(options.get("resumeSessionAt")), _text(options.get("resumeDropsTurn"))
    return replace(launch.session, at=launch.session.at or at, drops_turn=launch.session.drops_turn or drops)


def _flags(options: Mapping[str, object]) -> dict[str, str | None]:
    """Command line flags: the client's own, and options that exist only as a flag."""
    own = _object(options.get("extraArgs")) or {}
    flags = {
        name: value
        for name, value in own.items()
        if name not in _CONTROLLED_FLAGS and isinstance(value, str | None)
    }
    if (managed := _object(options.get("managedSettings"))) is not None:
        flags["managed-settings"] = json.dumps(managed)
    if (debug := options.get("debug")) is True or isinstance(debug, str):
        flags["debug"] = debug if isinstance(debug, str) else None
    if (file := _text(options.get("debugFile"))) is not None:
        flags["debug-file"] = file
    if options.get("persistSession") is False:
        flags["no-session-persistence"] = None
    return flags


_CONTROLLED_FLAGS = frozenset(
    {
        "allow-dangerously-skip-permissions",
        "continue",
        "dangerously-skip-permissions",
        "fork-session",
        "input-format",
        "output-format",
        "permission-mode",
        "permission-prompt-tool",
        "permission-prompts",
        "print",
        "resume",
        "session-id",
    }
)
"""Flags that would take a decision of the agent's back."""


def _read(table: Mapping[str, tuple[str, _Reader]], options: Mapping[str, object]) -> dict[str, object]:
    read = {ours: reader(options.get(theirs)) for theirs, (ours, reader) in table.items()}
    return {name: value for name, value in read.items() if value is not None}


def _prompt(value: object) -> str | Mapping[str, object] | None:
    if isinstance(value, Mapping):
        return {**value, **PRESET}
    return _text(value)


def _tools(value: object, otherwise: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names of the tools; the preset object stands for Claude Code's own set."""
    return None if isinstance(value, Mapping) else _given(_texts(value), otherwise)


def _given(value: _T | None, otherwise: _T) -> _T:
    return otherwise if value is None else value


def _joined(value: object, ours: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(_texts(value) or ()), *ours]))


def _variables(value: object) -> dict[str, str]:
    return {name: text for name, text in (_object(value) or {}).items() if isinstance(text, str)}


def _thinking(value: object) -> Mapping[str, object] | None:
    match value:
        case {"type": "enabled", "budgetTokens": int(budget)}:
            thinking: dict[str, object] = {"type": "enabled", "budget_tokens": budget}
        case {"type": "adaptive" | "disabled" as kind}:
            thinking = {"type": kind}
        case _:
            return None
    if isinstance(value, Mapping) and isinstance(value.get("display"), str):
        thinking["display"] = value["display"]
    return thinking


def _plugins(value: object) -> list[Mapping[str, object]] | None:
    plugins = [plugin for plugin in value if _is_plugin(plugin)] if isinstance(value, list) else []
    return plugins or None


def _is_plugin(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "local" and isinstance(value.get("path"), str)


def _budget(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, Mapping) and _number(value.get("total")) is not None else None


def _skills(value: object) -> list[str] | str | None:
    return "all" if value == "all" else _list(value)


def _list(value: object) -> list[str] | None:
    listed = _texts(value)
    return None if listed is None else list(listed)


def _texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _object(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, Mapping) else None


_FIELDS: Mapping[str, tuple[str, _Reader]] = {
    "allowedTools": ("allowed_tools", _list),
    "betas": ("betas", _list),
    "fallbackModel": ("fallback_model", _text),
    "includeHookEvents": ("include_hook_events", _flag),
    "maxBudgetUsd": ("max_budget_usd", _number),
    "maxThinkingTokens": ("max_thinking_tokens", _count),
    "maxTurns": ("max_turns", _count),
    "outputFormat": ("output_format", _object),
    "plugins": ("plugins", _plugins),
    "sandbox": ("sandbox", _object),
    "skills": ("skills", _skills),
    "strictMcpConfig": ("strict_mcp_config", _flag),
    "taskBudget": ("task_budget", _budget),
    "thinking": ("thinking", _thinking),
}
"""Option of the TypeScript SDK → field of the Python SDK's options."""

_INITIALIZE: Mapping[str, tuple[str, _Reader]] = {
    "agentProgressSummaries": ("agentProgressSummaries", _flag),
    "agents": ("agents", _object),
    "perTaskStopAffordance": ("perTaskStopAffordance", _flag),
    "planModeInstructions": ("planModeInstructions", _text),
    "promptSuggestions": ("promptSuggestions", _flag),
    "skills": ("skills", _list),
    "title": ("title", _text),
    "toolAliases": ("toolAliases", _object),
}
"""Option of the TypeScript SDK → field of the initialize request."""
