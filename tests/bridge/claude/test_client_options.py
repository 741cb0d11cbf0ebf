"""The client's own options: what they may change, what stays the agent's."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
from hypothesis import given
from hypothesis import strategies as st

from bridge.claude.client_options import _FIELDS, _INITIALIZE, with_client_options
from bridge.claude.launch import New, Resume, initialize_fields, sdk_options
from tests.bridge.claude.bench import plain_launch

PLAIN = replace(plain_launch(Path("/p")), session=New("S"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"agent": "reviewer"},
        {"cwd": "/q", "permissionMode": "bypassPermissions", "includePartialMessages": False},
        {"sessionId": "T", "resume": "T", "forkSession": True, "continue": True, "resumeSessionAt": "M"},
        {"pathToClaudeCodeExecutable": "/bin/false", "executable": "bun", "permissionPromptToolName": "x"},
        {"allowDangerouslySkipPermissions": True, "extraArgs": {"dangerously-skip-permissions": None}},
        {"extraArgs": {"permission-mode": "plan", "resume": "T", "session-id": "T"}},
        {"hooks": {"PostToolUse": []}, "settings": {"model": "x"}, "unknown": 1},
        {"maxTurns": "3", "maxBudgetUsd": True, "tools": "Bash", "env": ["A"], "mcpServers": 5, "model": 7},
        {"thinking": {"type": "enabled"}, "plugins": [{"type": "npm"}], "skills": "some", "taskBudget": {}},
    ],
)
@pytest.mark.contract("SE-009")
def test_what_the_agent_controls_or_nobody_can_read_changes_nothing(options: Mapping[str, object]) -> None:
    assert with_client_options(PLAIN, options) == PLAIN


@pytest.mark.contract("SE-013")
def test_setting_sources_of_the_client_win() -> None:
    assert PLAIN.setting_sources == ("user", "project", "local")
    assert with_client_options(PLAIN, {"settingSources": ["user"]}).setting_sources == ("user",)
    assert with_client_options(PLAIN, {"settingSources": []}).setting_sources == ()


@pytest.mark.contract("SE-012")
def test_lists_hold_the_client_first_and_nothing_twice() -> None:
    launch = replace(PLAIN, disallowed_tools=("AskUserQuestion",), add_dirs=("/acp", "/both"))
    merged = with_client_options(
        launch,
        {"disallowedTools": ["Bash", "AskUserQuestion"], "additionalDirectories": ["/both", "/client"]},
    )
    assert merged.disallowed_tools == ("Bash", "AskUserQuestion")
    assert merged.add_dirs == ("/both", "/client", "/acp")
    assert with_client_options(PLAIN, {"disallowedTools": ["Bash"]}).disallowed_tools == ("Bash",)


def test_servers_variables_and_flags_of_the_agent_win_over_the_client_s() -> None:
    launch = replace(PLAIN, mcp_servers={"a": {"url": "acp"}}, env={"A": "acp"}, flags={"f": None})
    merged = with_client_options(
        launch,
        {
            "mcpServers": {"b": {"url": "client"}, "a": {"url": "client"}},
            "env": {"B": "client", "A": "client", "C": 3},
            "extraArgs": {"f": "client", "g": None, "h": 3},
        },
    )
    assert list(merged.mcp_servers.items()) == [("b", {"url": "client"}), ("a", {"url": "acp"})]
    assert merged.env == {"B": "client", "A": "acp"}
    assert merged.flags == {"f": None, "g": None}


def test_tools_are_the_client_s_or_the_launch_s() -> None:
    none_at_all = replace(PLAIN, tools=())
    assert with_client_options(none_at_all, {}).tools == ()
    assert with_client_options(none_at_all, {"tools": ["Bash"]}).tools == ("Bash",)
    preset = {"type": "preset", "preset": "claude_code"}
    assert with_client_options(none_at_all, {"tools": preset}).tools is None


def test_a_system_prompt_replaces_or_completes() -> None:
    assert with_client_options(PLAIN, {"systemPrompt": "Only this."}).system_prompt == "Only this."
    merged = with_client_options(PLAIN, {"systemPrompt": {"type": "x", "append": "And this."}})
    assert merged.system_prompt == {"type": "preset", "preset": "claude_code", "append": "And this."}


@pytest.mark.contract("SE-016", "SE-018")
@pytest.mark.parametrize("option", [None, True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_subagent_text_is_forwarded_for_either_who_wants_it(wanted: bool, option: bool | None) -> None:
    launch = replace(PLAIN, forward_subagent_text=wanted, file_checkpointing=wanted)
    merged = with_client_options(launch, {"forwardSubagentText": option, "enableFileCheckpointing": option})
    assert merged.forward_subagent_text is (wanted or option is True)
    assert merged.file_checkpointing is (wanted or option is True)


def test_only_a_no_to_bypass_has_a_meaning() -> None:
    launch = replace(PLAIN, allow_bypass=True)
    for value, allowed in ((True, True), (False, False), ("false", True), (None, True)):
        merged = with_client_options(launch, {"allowDangerouslySkipPermissions": value})
        assert merged.allow_bypass is allowed


def test_a_resumed_history_may_be_cut() -> None:
    merged = with_client_options(replace(PLAIN, session=Resume("S")), {"resumeSessionAt": "M"})
    assert merged.session == Resume("S", at="M")


@pytest.mark.contract("SE-020")
def test_everything_else_passes_through() -> None:
    agents = {"reviewer": {"description": "d", "prompt": "p"}}
    merged = with_client_options(
        replace(PLAIN, options={"thinking": {"type": "adaptive"}}),
        {
            "maxTurns": 3,
            "maxBudgetUsd": 0.5,
            "model": "opus",
            "effort": "high",
            "skills": ["a"],
            "agents": agents,
            "thinking": {"type": "enabled", "budgetTokens": 9, "display": "summarized"},
            "plugins": [{"type": "local", "path": "/plugin"}],
            "promptSuggestions": False,
            "managedSettings": {"m": 1},
            "debug": True,
            "persistSession": False,
        },
    )
    assert (merged.model, merged.effort) == ("opus", "high")
    assert merged.options == {
        "max_turns": 3,
        "max_budget_usd": 0.5,
        "skills": ["a"],
        "thinking": {"type": "enabled", "budget_tokens": 9, "display": "summarized"},
        "plugins": [{"type": "local", "path": "/plugin"}],
    }
    assert merged.initialize == {"skills": ["a"], "agents": agents, "promptSuggestions": False}
    assert merged.flags == {"managed-settings": '{"m": 1}', "debug": None, "no-session-persistence": None}


NAMES = [
    *sorted((_FIELDS.keys() | _INITIALIZE.keys()) - {"skills"}),
    *("additionalDirectories", "allowDangerouslySkipPermissions", "debug", "debugFile", "disallowedTools"),
    *("effort", "enableFileCheckpointing", "env", "extraArgs", "forwardSubagentText", "managedSettings"),
    *("mcpServers", "model", "persistSession", "resumeSessionAt", "settingSources", "systemPrompt", "tools"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["enabled", "local"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "path", "total", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8))
def test_no_option_can_break_the_start_on_our_side(options: Mapping[str, object]) -> None:
    merged = with_client_options(PLAIN, options)
    initialize_fields(merged)
    sdk = ClaudeAgentOptions(**sdk_options(merged, {}, 0), cli_path="claude")  # type: ignore[arg-type] # keyword names are what is tested
    transport = SubprocessCLITransport(prompt=None, options=sdk)  # type: ignore[arg-type] # nothing is sent
    assert transport._build_command()[0] == "claude"


def test_a_skill_that_cannot_stand_on_a_command_line_is_refused_by_the_sdk() -> None:
    merged = with_client_options(PLAIN, {"skills": ["a,b"]})
    sdk = ClaudeAgentOptions(**sdk_options(merged, {}, 0), cli_path="claude")  # type: ignore[arg-type] # keyword names are what is tested
    with pytest.raises(ValueError, match="Invalid skill name 'a,b'"):
        SubprocessCLITransport(prompt=None, options=sdk)._build_command()  # type: ignore[arg-type] # nothing is sent
