"""What a launch asks of Claude Code: environment, flags, options, initialize fields."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions

from bridge.claude.launch import (
    HOOKS,
    command_flags,
    environment,
    initialize_fields,
    may_bypass,
    sdk_options,
)
from tests.bridge.claude.bench import plain_launch

ROOT, USER = 0, 1000
PLAIN = plain_launch(Path("/p"))
BYPASS = "allow-dangerously-skip-permissions"
TODO = "CLAUDE_CODE_ENABLE_TODO_TOOLS"


@pytest.mark.contract("SE-014")
def test_to_do_tools_are_on_unless_the_user_said_something() -> None:
    assert environment(PLAIN, {})[TODO] == "1"
    assert TODO not in environment(PLAIN, {TODO: "0"})
    assert environment(replace(PLAIN, env={TODO: ""}), {})[TODO] == ""


def test_what_the_agent_needs_outranks_every_other_variable() -> None:
    env = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "0", "CLAUDE_CODE_STARTUP_FAILURE_RESULTS": "0", "A": "b"}
    assert environment(replace(PLAIN, env=env), {"A": "c"}) == {
        "A": "b",
        "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
        "CLAUDE_CODE_STARTUP_FAILURE_RESULTS": "1",
        TODO: "1",
    }


@pytest.mark.contract("CF-015")
def test_root_may_bypass_only_in_a_sandbox() -> None:
    assert may_bypass({}, USER)
    assert may_bypass({"IS_SANDBOX": "1"}, ROOT)
    assert not may_bypass({}, ROOT)
    # Claude Code takes no other value for a yes.
    assert not any(may_bypass({"IS_SANDBOX": value}, ROOT) for value in ("", "0", "true", "yes"))


def test_the_bypass_flag_needs_the_session_and_the_user() -> None:
    asking = replace(PLAIN, allow_bypass=True)
    assert BYPASS not in command_flags(PLAIN, {}, USER)
    assert command_flags(asking, {}, USER)[BYPASS] is None
    assert BYPASS not in command_flags(asking, {}, ROOT)
    assert BYPASS in command_flags(asking, {"IS_SANDBOX": "1"}, ROOT)
    assert BYPASS in command_flags(replace(asking, env={"IS_SANDBOX": "1"}), {}, ROOT)


def test_prompts_are_always_replayed_and_entries_mirrored_on_demand() -> None:
    assert command_flags(PLAIN, {}, USER) == {"replay-user-messages": None}
    mirrored = replace(PLAIN, session_mirror=True, flags={"debug": "api", "replay-user-messages": "x"})
    assert command_flags(mirrored, {}, USER) == {
        "debug": "api",
        "replay-user-messages": None,
        "session-mirror": None,
    }


def test_hooks_are_called_back_under_their_own_names() -> None:
    fields = initialize_fields(PLAIN)
    assert fields == {"hooks": {name: [{"matcher": None, "hookCallbackIds": [name]}] for name in HOOKS}}
    assert initialize_fields(replace(PLAIN, hooks=())) == {}


def test_initialize_takes_what_has_no_flag() -> None:
    launch = replace(
        PLAIN,
        hooks=("PostCompact",),
        forward_subagent_text=True,
        system_prompt={"type": "preset", "preset": "claude_code", "excludeDynamicSections": True},
        initialize={"promptSuggestions": False, "supportedDialogKinds": ["d"]},
    )
    assert initialize_fields(launch) == {
        "promptSuggestions": False,
        "supportedDialogKinds": ["d"],
        "hooks": {"PostCompact": [{"matcher": None, "hookCallbackIds": ["PostCompact"]}]},
        "forwardSubagentText": True,
        "excludeDynamicSections": True,
    }


def test_the_options_are_those_of_the_sdk() -> None:
    launch = replace(PLAIN, settings={"a": 1}, file_checkpointing=True, options={"max_turns": 2})
    options = ClaudeAgentOptions(**sdk_options(launch, {}, USER))  # type: ignore[arg-type] # this is what is tested

    assert options.permission_prompt_tool_name == "stdio"
    assert options.include_partial_messages
    assert options.max_buffer_size == 64 * 1024 * 1024
    assert options.enable_file_checkpointing
    assert options.max_turns == 2
    assert options.system_prompt == {"type": "preset", "preset": "claude_code"}
    assert options.setting_sources == ["user", "project", "local"]
    assert json.loads(options.settings or "") == {"a": 1}
    assert options.can_use_tool is None
    assert options.hooks is None
