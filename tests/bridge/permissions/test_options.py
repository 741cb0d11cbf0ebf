"""The answers of each tool family: ids, kinds, names, order, effects."""

from dataclasses import replace
from typing import Any

import pytest

from bridge.permissions.options import (
    Allow,
    KeepPlanning,
    LeavePlan,
    Refuse,
    Situation,
    StartAfresh,
    offer,
    used_percent,
)
from machines.events import Option
from tests.bridge.permissions.build import (
    CWD,
    SITUATION,
    add_directories,
    add_rules,
    ask_for,
    lasting,
    offered,
    set_mode,
    shown,
)

ONCE, NO = ("allow-once", "allow_once", "Yes"), ("reject", "reject_once", "No")


def always(name: str, option: str = "allow-with-updates") -> tuple[str, str, str]:
    return (option, "allow_always", name)


def updates_of(tool: str, tool_input: dict[str, Any] | None = None, **fields: Any) -> list[Any]:
    """What the lasting choices of an ask apply."""
    effects = [choice.effect for choice in offered(tool, tool_input, **fields).choices]
    return [
        each.updates.payload() for each in effects if isinstance(each, Allow) and each.updates is not None
    ]


@pytest.mark.contract("PM-005", "PM-066")
def test_a_command_with_a_describable_bundle() -> None:
    bundle = [add_rules(("Bash", "touch y *"), ("Bash", "exit 3"), to="localSettings")]
    made = offered("Bash", {"command": "touch y; exit 3"}, permission_suggestions=bundle)

    assert shown(made) == [ONCE, always("Yes, and don't ask again for touch y * and exit 3 commands"), NO]
    assert updates_of("Bash", permission_suggestions=bundle) == [bundle]


@pytest.mark.contract("PM-061", "PM-112")
@pytest.mark.parametrize(
    "tool", ["Bash", "PowerShell", "Read", "Glob", "Grep", "Edit", "Write", "NotebookEdit", "mcp__a__b"]
)
@pytest.mark.parametrize(
    "bundle",
    [
        None,
        [],
        [{"type": "unknown"}],
        [add_rules(("Bash", "touch a *")), add_directories(CWD), set_mode("acceptEdits")],
        [set_mode("plan")] * 101,
    ],
)
def test_a_bundle_that_is_not_understood_leaves_two_answers(tool: str, bundle: object) -> None:
    assert shown(offered(tool, {"file_path": "a"}, permission_suggestions=bundle)) == [ONCE, NO]


@pytest.mark.contract("PM-068", "PM-069")
@pytest.mark.parametrize(
    ("tool", "tool_input", "bundle", "name"),
    [
        (
            "Read",
            {"file_path": "/etc/hostname"},
            [add_rules(("Read", "//etc/**"))],
            "Yes, allow reading from etc/ during this session",
        ),
        (
            "Grep",
            {"path": "/etc", "pattern": "x"},
            [add_rules(("Read", "//etc/**"))],
            "Yes, allow reading from etc/ during this session",
        ),
        ("Glob", {"pattern": "*"}, [add_rules(("Read", f"/{CWD}/**"))], "Yes, during this session"),
        ("Edit", {"file_path": "a"}, [set_mode("acceptEdits")], "Yes, allow all edits during this session"),
        (
            "Write",
            {"file_path": "/out/a"},
            [set_mode("acceptEdits"), add_directories("/out")],
            "Yes, allow all edits in out/ during this session",
        ),
        (
            "NotebookEdit",
            {"notebook_path": "a"},
            [set_mode("acceptEdits")],
            "Yes, allow all edits during this session",
        ),
    ],
)
def test_file_tools(tool: str, tool_input: dict[str, Any], bundle: list[Any], name: str) -> None:
    assert shown(offered(tool, tool_input, permission_suggestions=bundle)) == [ONCE, always(name), NO]
    assert updates_of(tool, tool_input, permission_suggestions=bundle) == [bundle]


@pytest.mark.contract("PM-073", "PM-082")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://User@Example.com:8443/x", "example.com"),
        (" http://127.0.0.1:9/x ", "127.0.0.1"),
        ("http://[::1]:9/x", "[::1]"),
        ("http://[0:0::0:1]/", "[::1]"),
        ("https://bücher.example/x", "xn--bcher-kva.example"),
        ("ftp://my_host.local", "my_host.local"),
        ("https://a.example.", "a.example."),
    ],
)
def test_a_fetch_may_be_allowed_for_its_host(url: str, host: str) -> None:
    made = offered("WebFetch", {"url": url}, permission_suggestions=[set_mode("bypassPermissions")])

    assert shown(made) == [ONCE, always(f"Yes, and don't ask again for {host}"), NO]
    assert updates_of("WebFetch", {"url": url}) == [
        [add_rules(("WebFetch", f"domain:{host}"), to="localSettings")]
    ]


@pytest.mark.contract("PM-112")
@pytest.mark.parametrize(
    "url",
    [
        None,
        7,
        "",
        "example.com/path",
        "localhost:8080/x",
        "file:///etc/hostname",
        "https://",
        "https://evil.example\\@good.example/x",
        "https://good.example\n.evil.example/",
        "https://a b/",
        "https://a.example:99999/",
        "https://a.example:x/",
        "https://ex%61mple.com/",
        "https://exa\u202emple.com/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "https://" + "a" * 5000 + ".example/",
        "https://a..example/",
    ],
)
def test_a_url_whose_host_is_in_doubt_may_be_allowed_only_once(url: object) -> None:
    assert shown(offered("WebFetch", {"url": url})) == [ONCE, NO]


@pytest.mark.contract("PM-046", "PM-047", "PM-074")
def test_a_skill_may_be_allowed_exactly_or_with_any_arguments() -> None:
    made = offered("Skill", {"skill": " deploy to prod "})

    assert shown(made) == [
        ONCE,
        always("Yes, and don't ask again for deploy to prod", "allow-skill-exact"),
        always("Yes, and don't ask again for deploy:* commands", "allow-skill-prefix"),
        NO,
    ]
    assert updates_of("Skill", {"skill": "deploy to prod"}) == [
        [add_rules(("Skill", "deploy to prod"), to="localSettings")],
        [add_rules(("Skill", "deploy:*"), to="localSettings")],
    ]


@pytest.mark.contract("PM-074")
@pytest.mark.parametrize(
    ("skill", "names"),
    [
        ("deploy", ["Yes, and don't ask again for deploy"]),
        ("", []),
        (None, []),
        (["deploy"], []),
        ("x" * 1001, []),
        ("de\nploy", []),
        ("de\u202eploy", []),
        ("de\x07ploy", []),
    ],
)
def test_a_skill_name_that_cannot_be_shown_is_allowed_only_once(skill: object, names: list[str]) -> None:
    assert lasting(offered("Skill", {"skill": skill})) == names


@pytest.mark.contract("PM-075")
def test_entering_plan_mode() -> None:
    assert shown(offered("EnterPlanMode", permission_suggestions=[set_mode("plan")])) == [
        ("allow-once", "allow_once", "Yes, enter plan mode"),
        ("reject", "reject_once", "No, start implementing now"),
    ]


LOCAL_HOST = [add_rules(("SandboxNetworkAccess", "example.com"), to="localSettings")]


@pytest.mark.contract("PM-077")
def test_a_network_host_may_be_allowed_by_the_exact_rule() -> None:
    made = offered("SandboxNetworkAccess", {"host": " example.com "}, permission_suggestions=LOCAL_HOST)
    assert shown(made) == [ONCE, always("Yes, and don't ask again for example.com"), NO]


@pytest.mark.contract("PM-077", "PM-112")
@pytest.mark.parametrize(
    "bundle",
    [
        [add_rules(("SandboxNetworkAccess", "other.com"), to="localSettings")],
        [add_rules(("SandboxNetworkAccess", "example.com"), to="session")],
        [add_rules(("SandboxNetworkAccess", "example.com"), to="localSettings", behavior="deny")],
        [add_rules(("SandboxNetworkAccess", None), to="localSettings")],
        [add_rules(("SandboxNetworkAccess", "example.com"), ("Bash", "ls"), to="localSettings")],
        [*LOCAL_HOST, set_mode("acceptEdits")],
    ],
)
def test_any_other_network_bundle_is_not_offered(bundle: list[Any]) -> None:
    made = offered("SandboxNetworkAccess", {"host": "example.com"}, permission_suggestions=bundle)
    assert shown(made) == [ONCE, NO]


@pytest.mark.contract("PM-078", "PM-079")
@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("mcp__echo__greet", "Yes, and don't ask again for Greet commands"),
        ("mcp__computer-use__click", "Yes, and don't ask again for Greet"),
    ],
)
def test_an_mcp_tool_may_be_allowed_as_a_whole(tool: str, name: str) -> None:
    bundle = [add_rules((tool, None), to="localSettings")]
    made = offered(tool, permission_suggestions=bundle, display_name=" Greet ")

    assert shown(made) == [ONCE, always(name), NO]
    assert updates_of(tool, permission_suggestions=bundle) == [bundle]


@pytest.mark.contract("PM-079", "PM-112")
@pytest.mark.parametrize(
    "bundle",
    [
        [add_rules(("mcp__echo__other", None))],
        [add_rules(("mcp__echo__greet", "x"))],
        [add_rules(("mcp__echo__greet", None), ("mcp__echo__other", None))],
        [add_rules(("mcp__echo__greet", None), behavior="deny")],
        [add_rules(("mcp__echo__greet", None)), set_mode("acceptEdits")],
    ],
)
def test_an_mcp_bundle_for_more_than_this_tool_is_not_offered(bundle: list[Any]) -> None:
    assert shown(offered("mcp__echo__greet", permission_suggestions=bundle)) == [ONCE, NO]


@pytest.mark.contract("PM-080", "PM-081", "PM-082", "PM-111")
@pytest.mark.parametrize(
    "tool", ["WebSearch", "Agent", "Task", "ReviewArtifact", "Workflow", "Monitor", "ToolOfTomorrow"]
)
def test_other_tools_may_be_allowed_as_a_whole(tool: str) -> None:
    fields: dict[str, Any] = {"permission_suggestions": [set_mode("bypassPermissions")]}

    assert shown(offered(tool, **fields)) == [
        ONCE,
        always(f"Yes, and don't ask again for {tool} commands"),
        NO,
    ]
    assert updates_of(tool, **fields) == [[add_rules((tool, None), to="localSettings")]]
    assert lasting(offered(tool, display_name="Web")) == ["Yes, and don't ask again for Web commands"]


@pytest.mark.contract("PM-022", "PM-112")
@pytest.mark.parametrize("display", ["", "  ", "a\nb", "a\u202eb", "x" * 10_000, "a\x00"])
def test_a_display_name_that_cannot_be_shown_gives_way_to_the_tool(display: str) -> None:
    assert lasting(offered("WebSearch", display_name=display)) == [
        "Yes, and don't ask again for WebSearch commands"
    ]


@pytest.mark.parametrize("tool", ["", "a\nb", "x" * 513, "a\u202eb"])
def test_a_tool_whose_name_cannot_be_shown_is_allowed_only_once(tool: str) -> None:
    assert shown(offered(tool)) == [ONCE, NO]


@pytest.mark.contract("PM-039", "PM-112")
@pytest.mark.parametrize("command", ["ls\nrm -rf /", "ls\u202e", "ls\u2066", "ls\u2028"])
def test_a_rule_that_cannot_be_shown_is_not_offered(command: str) -> None:
    bundle = [add_rules(("Bash", command), to="localSettings")]
    assert shown(offered("Bash", permission_suggestions=bundle)) == [ONCE, NO]


def test_a_huge_label_is_not_offered() -> None:
    directories = [add_directories("/" + "a" * 4000)]
    assert shown(offered("Bash", permission_suggestions=directories)) == [ONCE, NO]


@pytest.mark.contract("PM-063", "PM-065")
@pytest.mark.parametrize(
    "mark",
    [
        {"matched_ask_rule": {"source": "userSettings"}},
        {"suppress_always_allow_rule": True},
        {"decision_reason_type": "rule"},
    ],
)
@pytest.mark.parametrize(
    ("tool", "tool_input", "bundle"),
    [
        ("Bash", {}, [add_rules(("Bash", "ls"))]),
        ("Write", {"file_path": "a"}, [set_mode("acceptEdits")]),
        ("WebFetch", {"url": "https://a.example"}, []),
        ("Skill", {"skill": "a b"}, []),
        ("SandboxNetworkAccess", {"host": "example.com"}, LOCAL_HOST),
        ("mcp__a__b", {}, [add_rules(("mcp__a__b", None))]),
        ("WebSearch", {}, []),
    ],
)
def test_an_ask_rule_keeps_asking(
    mark: dict[str, Any], tool: str, tool_input: dict[str, Any], bundle: list[Any]
) -> None:
    assert lasting(offered(tool, tool_input, permission_suggestions=bundle)) != []
    assert shown(offered(tool, tool_input, permission_suggestions=bundle, **mark)) == [ONCE, NO]


@pytest.mark.contract("PM-020", "PM-051")
def test_with_default_to_no_the_decline_comes_first() -> None:
    assert [option for option, _, _ in shown(offered("WebSearch", default_to_no=True))] == [
        "reject",
        "allow-once",
        "allow-with-updates",
    ]


@pytest.mark.contract("PM-083")
def test_a_question_is_no_permission() -> None:
    with pytest.raises(ValueError, match="question"):
        offered("AskUserQuestion")


PLAN = {"plan": " do it \n"}
MANUAL = ("exit-plan-default", "allow_once", "Yes, manually approve edits")
KEEP = ("reject", "reject_once", "No, keep planning")
AUTO = ("exit-plan-auto", "allow_always", "Yes, and use auto mode")
BYPASS = ("exit-plan-bypass", "allow_always", "Yes, and bypass permissions")
ACCEPT = ("exit-plan-accept-edits", "allow_always", "Yes, auto-accept edits")


def fresh(option: str, name: str) -> tuple[str, str, str]:
    return (f"exit-plan-clear-{option}", "allow_always", name)


@pytest.mark.contract("PM-076", "PM-092", "PM-093")
@pytest.mark.parametrize(
    ("changes", "plan", "options"),
    [
        ({}, PLAN, [MANUAL, fresh("auto", "Yes, clear context and use auto mode"), AUTO, BYPASS, KEEP]),
        (
            {"context_used": 0},
            PLAN,
            [MANUAL, fresh("auto", "Yes, clear context (0% used) and use auto mode"), AUTO, BYPASS, KEEP],
        ),
        ({}, {}, [MANUAL, AUTO, BYPASS, KEEP]),
        ({}, {"plan": " \n"}, [MANUAL, AUTO, BYPASS, KEEP]),
        ({}, {"plan": 7}, [MANUAL, AUTO, BYPASS, KEEP]),
        ({"in_turn": False}, PLAN, [MANUAL, AUTO, BYPASS, KEEP]),
        (
            {"mode_before_plan": "bypassPermissions", "context_used": 37},
            PLAN,
            [
                MANUAL,
                fresh("bypass", "Yes, clear context (37% used) and bypass permissions"),
                BYPASS,
                AUTO,
                KEEP,
            ],
        ),
        (
            {"modes": ("default", "auto")},
            PLAN,
            [MANUAL, fresh("auto", "Yes, clear context and use auto mode"), AUTO, KEEP],
        ),
        (
            {"modes": ("default", "bypassPermissions")},
            PLAN,
            [MANUAL, fresh("bypass", "Yes, clear context and bypass permissions"), BYPASS, KEEP],
        ),
        (
            {"modes": ("default", "acceptEdits", "plan")},
            PLAN,
            [MANUAL, fresh("accept-edits", "Yes, clear context and auto-accept edits"), ACCEPT, KEEP],
        ),
    ],
)
def test_leaving_plan_mode(
    changes: dict[str, Any], plan: dict[str, Any], options: list[tuple[str, str, str]]
) -> None:
    assert shown(offer(ask_for("ExitPlanMode", plan), replace(SITUATION, **changes))) == options


@pytest.mark.contract("PM-038", "PM-048", "PM-049")
def test_the_effects_of_the_plan_answers() -> None:
    made = offer(ask_for("ExitPlanMode", PLAN), SITUATION)

    assert {choice.id: choice.effect for choice in made.choices} == {
        "exit-plan-default": LeavePlan("default"),
        "exit-plan-clear-auto": StartAfresh("auto", "do it"),
        "exit-plan-auto": LeavePlan("auto"),
        "exit-plan-bypass": LeavePlan("bypassPermissions"),
        "reject": KeepPlanning(),
    }
    assert made.rendered()[0] == {
        "optionId": "exit-plan-default",
        "name": "Yes, manually approve edits",
        "kind": "allow_once",
    }
    assert made.options()[1] == Option("exit-plan-clear-auto", grants=False)


@pytest.mark.contract("PM-020")
def test_a_plan_that_defaults_to_no_starts_with_keep_planning() -> None:
    made = offer(ask_for("ExitPlanMode", PLAN, default_to_no=True), SITUATION)
    assert [choice.id for choice in made.choices][:2] == ["reject", "exit-plan-default"]


@pytest.mark.contract("PM-044", "PM-050")
def test_the_effects_of_the_plain_answers() -> None:
    made = offered("Bash")
    assert [choice.effect for choice in made.choices] == [Allow(), Refuse()]
    assert made.options() == (Option("allow-once", grants=True), Option("reject", grants=False))


@pytest.mark.contract("PM-007", "PM-052")
@pytest.mark.parametrize("option", ["Allow-once", "allow-once ", "", "exit-plan-auto", "allow-with-updates"])
def test_only_the_exact_id_is_a_choice(option: str) -> None:
    made = offered("Bash")
    assert made.choice(option) is None
    found = made.choice("allow-once")
    assert found is not None
    assert found.name == "Yes"


@pytest.mark.parametrize(
    ("used", "size", "percent"),
    [
        (0, 200, 0),
        (1, 200, 1),
        (50, 200, 25),
        (300, 200, 100),
        (-1, 200, 0),
        (None, 200, None),
        (1, None, None),
        (1, 0, None),
    ],
)
def test_the_used_share_of_the_context(used: int | None, size: int | None, percent: int | None) -> None:
    assert used_percent(used, size) == percent


def test_a_situation_needs_only_folders() -> None:
    assert [each.id for each in offer(ask_for("Bash"), Situation(cwd="/", home="/")).choices] == [
        "allow-once",
        "reject",
    ]
