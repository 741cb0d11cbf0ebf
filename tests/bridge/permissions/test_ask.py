"""Reading `can_use_tool`: every field at its place, none of them trusted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.permissions.ask import read_ask
from machines.events import ToolUse
from tests.bridge.permissions.build import ask_for

FRAME: dict[str, Any] = {
    "type": "control_request",
    "request_id": "req-7",
    "request": {
        "subtype": "can_use_tool",
        "tool_name": "mcp__echo__greet",
        "display_name": "Greet",
        "input": {"who": "Bob"},
        "permission_suggestions": [{"type": "setMode", "mode": "plan", "destination": "session"}],
        "blocked_path": "/x",
        "decision_reason": "because",
        "decision_reason_type": "other",
        "tool_use_id": "toolu_9",
        "agent_id": "a1",
        "mcp_server": {"name": "echo", "source": "dynamic", "more": 1},
        "default_to_no": True,
    },
}


def test_reads_every_field_of_a_request() -> None:
    ask = read_ask(FRAME, parent="toolu_agent")

    assert ask.id == "req-7"
    assert ask.use == ToolUse("toolu_9", "mcp__echo__greet", {"who": "Bob"}, "toolu_agent")
    assert (ask.agent, ask.display_name, ask.blocked_path) == ("a1", "Greet", "/x")
    assert (ask.reason, ask.reason_type, ask.default_to_no) == ("because", "other", True)
    assert ask.mcp_server == {"name": "echo", "source": "dynamic"}
    assert ask.suggestions == FRAME["request"]["permission_suggestions"]
    assert not ask.no_persistent


@pytest.mark.contract("PM-063", "PM-064", "PM-065")
@pytest.mark.parametrize(
    "mark",
    [
        {"matched_ask_rule": {"source": "userSettings", "tool_name": "WebFetch"}},
        {"matched_ask_rule": {}},
        {"suppress_always_allow_rule": True},
        {"decision_reason_type": "rule", "decision_reason_rule_source": "userSettings"},
    ],
)
def test_each_mark_of_an_ask_rule_forbids_lasting_choices(mark: dict[str, Any]) -> None:
    assert ask_for("Bash", **mark).no_persistent


@pytest.mark.parametrize(
    "mark",
    [
        {"matched_ask_rule": None},
        {"suppress_always_allow_rule": False},
        {"suppress_always_allow_rule": "true"},
        {"decision_reason_type": "subcommandResults"},
        {"decision_reason_type": 3},
    ],
)
def test_other_values_leave_lasting_choices(mark: dict[str, Any]) -> None:
    assert not ask_for("Bash", **mark).no_persistent


def test_a_call_without_an_id_is_named_after_its_request() -> None:
    assert read_ask({"request_id": "r", "request": {"tool_name": "Bash"}}).use.call == "r"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([*FRAME["request"], "matched_ask_rule", "suppress_always_allow_rule"])


@given(st.dictionaries(FIELDS, ANYTHING), ANYTHING)
def test_reading_never_fails(fields: dict[str, Any], rest: Any) -> None:
    ask = read_ask({"request_id": rest, "request": FRAME["request"] | fields})
    assert isinstance(ask.use.name, str)
    assert isinstance(ask.use.input, dict)
    read_ask({"request": rest})
