"""What holds for every ask and every answer, whatever Claude Code and the client send (permissions §12)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.permissions.ask import Ask
from bridge.permissions.options import Allow, offer
from bridge.permissions.outcome import Failure, Reply, answered
from bridge.permissions.presentation import request_params
from tests.bridge.permissions.build import SITUATION, add_directories, add_rules, ask_for, set_mode
from tests.support.oracle import check_outgoing

TOOLS = st.sampled_from(
    [
        *(
            "Bash",
            "PowerShell",
            "Read",
            "Glob",
            "Grep",
            "Edit",
            "Write",
            "NotebookEdit",
            "WebFetch",
            "WebSearch",
        ),
        *("Skill", "EnterPlanMode", "ExitPlanMode", "SandboxNetworkAccess", "Agent", "Workflow"),
        *("mcp__a__b", "mcp__computer-use__click", "ToolOfTomorrow"),
    ]
)
TEXTS = st.sampled_from(
    ["ls", "touch a *", "a b", "//etc/**", "/out", "a\nb", "a\u202eb", "x" * 10_001, "", " "]
)
UPDATES = st.one_of(
    st.builds(
        lambda rules, to, behavior: add_rules(*rules, to=to, behavior=behavior),
        st.lists(st.tuples(TOOLS, TEXTS | st.none()), max_size=3),
        st.sampled_from(["session", "localSettings", "userSettings", "nowhere"]),
        st.sampled_from(["allow", "allow", "deny", "ask", "maybe"]),
    ),
    st.builds(lambda paths: add_directories(*paths), st.lists(TEXTS, max_size=3)),
    st.builds(set_mode, st.sampled_from(["acceptEdits", "bypassPermissions", "yolo"])),
    st.none() | st.integers() | st.just({"type": "grantAll", "destination": "session"}),
)
INPUTS = st.dictionaries(
    st.sampled_from(["command", "file_path", "notebook_path", "path", "url", "skill", "plan", "host"]),
    TEXTS
    | st.sampled_from(["https://a.example/x", "/etc/hostname", "a.example"])
    | st.none()
    | st.integers(),
)
MARKS = st.fixed_dictionaries(
    {},
    optional={
        "matched_ask_rule": st.just({"source": "userSettings"}),
        "suppress_always_allow_rule": st.booleans(),
        "decision_reason_type": st.sampled_from(["rule", "other"]),
        "default_to_no": st.booleans(),
        "display_name": TEXTS,
        "decision_reason": TEXTS,
        "blocked_path": TEXTS,
    },
)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    suggestions = draw(st.lists(UPDATES, max_size=4) | st.none())
    fields = draw(MARKS) | {"permission_suggestions": suggestions}
    return ask_for(draw(TOOLS), draw(INPUTS), **fields)


@pytest.mark.contract("PM-051", "PM-052", "PM-053")
@given(asks())
def test_every_list_has_one_decline_and_a_single_allow(ask: Ask) -> None:
    choices = offer(ask, SITUATION).choices
    kinds = [choice.kind for choice in choices]

    assert len({choice.id for choice in choices}) == len(choices)
    assert kinds.count("reject_once") == 1
    assert "allow_once" in kinds
    grouped = sorted(kinds, key=["allow_once", "allow_always", "reject_once"].index)
    assert kinds == (grouped if not ask.default_to_no else [grouped[-1], *grouped[:-1]])


@pytest.mark.contract("PM-059", "PM-063", "PM-112")
@given(asks())
def test_names_can_be_read_and_lasting_choices_respect_ask_rules(ask: Ask) -> None:
    choices = offer(ask, SITUATION).choices

    assert all(choice.name.isprintable() for choice in choices)
    if ask.no_persistent:
        assert not any(isinstance(choice.effect, Allow) and choice.effect.updates for choice in choices)


@pytest.mark.contract("PM-041", "PM-060", "PM-109", "PM-110")
@given(asks(), st.sampled_from(["allow-once", "allow-with-updates", "reject", "exit-plan-auto", "bogus"]))
def test_updates_come_only_from_the_choice_that_was_offered(ask: Ask, option: str) -> None:
    made = offer(ask, SITUATION)
    reply = answered(made, option).reply
    choice = made.choice(option)

    if choice is None:
        assert reply == Failure(f"Permission option was not offered: {option}")
        return
    assert isinstance(reply, Reply)
    updates = reply.payload.get("updatedPermissions")
    match choice.effect:
        case Allow(bundle) if bundle is not None:
            assert updates == bundle.payload()
            assert choice.kind == "allow_always"
        case Allow():
            assert updates is None
        case _:
            assert updates is None or ask.use.name == "ExitPlanMode"


@pytest.mark.contract("PM-001", "PM-012", "TC-002")
@given(asks())
def test_every_request_is_valid_and_only_air_sees_its_namespace(ask: Ask) -> None:
    made = offer(ask, SITUATION)
    call: dict[str, Any] = {"toolCallId": ask.use.call, "title": "t", "content": []}
    plain = request_params("s", made, call, ClientCapabilities())
    air = request_params("s", made, call, ClientCapabilities(air=True))

    for params in (plain, air):
        request = {"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params}
        check_outgoing(request, {})
    assert "jetbrains" not in repr(plain)
    assert "jetbrains" in repr(air["_meta"])


@pytest.mark.contract("PM-059", "PM-062", "PM-112")
@given(
    st.sampled_from(["Bash", "Read", "Edit", "mcp__a__b"]),
    st.sampled_from(
        [
            {"type": "removeDirectories", "directories": ["/a"], "destination": "session"},
            set_mode("bypassPermissions"),
            add_rules(("Bash", "ls"), behavior="deny"),
            {"type": "grantAll", "destination": "session"},
        ]
    ),
    st.integers(0, 1),
)
def test_one_part_that_no_name_describes_leaves_two_answers(tool: str, odd: dict[str, Any], at: int) -> None:
    good = {
        "Bash": add_rules(("Bash", "ls")),
        "Read": add_rules(("Read", "//etc/**")),
        "Edit": set_mode("acceptEdits"),
        "mcp__a__b": add_rules(("mcp__a__b", None)),
    }[tool]
    bundle = [good, odd] if at else [odd, good]

    whole = offer(ask_for(tool, {"file_path": "/etc/x"}, permission_suggestions=[good]), SITUATION)
    mixed = offer(ask_for(tool, {"file_path": "/etc/x"}, permission_suggestions=bundle), SITUATION)
    assert len(whole.choices) == 3
    assert len(mixed.choices) == 2
