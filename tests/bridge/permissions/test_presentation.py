"""The request that a client sees: headings, the record for AIR, the input that other clients get."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.permissions.presentation import Heading, blocked_path, heading, request_params, title_override
from tests.bridge.permissions.build import add_rules, ask_for, offered

AIR, PLAIN = ClientCapabilities(air=True), ClientCapabilities()


@pytest.mark.contract("PM-001", "PM-011", "PM-013", "PM-015", "PM-017", "PM-024")
def test_the_request_of_a_read_outside_for_air() -> None:
    made = offered(
        "Read",
        {"file_path": "/etc/hostname"},
        permission_suggestions=[add_rules(("Read", "//etc/**"))],
        decision_reason="Path is outside allowed working directories",
        title="Claude wants to read",
        description="/etc/hostname",
    )
    call = {
        "toolCallId": "toolu_1",
        "title": "Read /etc/hostname",
        "rawInput": {"file_path": "/etc/hostname"},
    }

    assert request_params("s", made, dict(call), AIR) == {
        "sessionId": "s",
        "toolCall": call,
        "options": [
            {"optionId": "allow-once", "name": "Yes", "kind": "allow_once"},
            {
                "optionId": "allow-with-updates",
                "name": "Yes, allow reading from etc/ during this session",
                "kind": "allow_always",
            },
            {"optionId": "reject", "name": "No", "kind": "reject_once"},
        ],
        "_meta": {
            "jetbrains": {
                "air": {
                    "version": 1,
                    "permission": {
                        "version": 1,
                        "title": "Read /etc/hostname",
                        "description": "Reason: Path is outside allowed working directories",
                    },
                }
            }
        },
    }


@pytest.mark.contract("PM-012", "PM-108")
def test_other_clients_get_no_record() -> None:
    made = offered("Bash", {"command": "ls"}, decision_reason="why", default_to_no=True)
    params = request_params("s", made, {"toolCallId": "toolu_1", "title": "ls", "content": []}, PLAIN)

    assert set(params) == {"sessionId", "toolCall", "options"}
    assert params["toolCall"] == {"toolCallId": "toolu_1", "title": "ls", "content": []}


@pytest.mark.contract("PM-018", "PM-019")
def test_the_record_holds_only_what_is_known() -> None:
    made = offered("Bash", {"command": "ls"}, description="List", title="Run ls", default_to_no=True)
    params = request_params("s", made, {"toolCallId": "toolu_1", "title": "ls"}, AIR)

    assert params["_meta"] == {
        "jetbrains": {"air": {"version": 1, "permission": {"version": 1, "title": "ls", "defaultToNo": True}}}
    }


@pytest.mark.contract("PM-014", "PM-016", "PM-021", "PM-022", "PM-023")
@pytest.mark.parametrize(
    ("tool", "title", "shown"),
    [
        ("Bash", "echo  a\n\x07b ", "echo  a\n\x07b "),
        ("PowerShell", "x" * 20_000, "x" * 20_000),
        ("Bash", "", "Use tool?"),
        ("ExitPlanMode", "Approve Plan", "Ready to code?"),
        ("Read", " Read\na\x00  b ", "Read a b"),
        ("Read", "x" * 4000, "x" * 4000),
        ("Read", "x" * 4001, "Use tool?"),
        ("Read", "\n", "Use tool?"),
        ("Read", None, "Use tool?"),
        ("Read", "Read exe\u202etxt.sh", "Read exetxt.sh"),
    ],
)
def test_the_title_of_the_approval(tool: str, title: object, shown: str) -> None:
    assert heading(ask_for(tool), title) == Heading(shown)


@pytest.mark.contract("PM-017", "PM-021", "PM-022")
@pytest.mark.parametrize(
    ("reason", "description"),
    [
        (" needs a look ", "Reason: needs a look"),
        ("two\nlines", "Reason: two\nlines"),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", "Reason: red link"),
        ("x" * 4000, "Reason: " + "x" * 4000),
        ("x" * 4001, None),
        (" \x00 ", None),
        ("", None),
        (None, None),
        (["x"], None),
    ],
)
def test_the_reason_is_the_description(reason: object, description: str | None) -> None:
    assert heading(ask_for("Read", decision_reason=reason), "t").description == description


@pytest.mark.contract("PM-025", "PM-026", "PM-027")
@pytest.mark.parametrize(
    ("tool", "tool_input", "display", "title"),
    [
        ("SandboxNetworkAccess", {"host": " example.com "}, "Network", "example.com"),
        ("SandboxNetworkAccess", {"host": "x" * 161}, None, None),
        ("SandboxNetworkAccess", {"host": 7}, None, None),
        ("mcp__computer-use__click", {}, " Click  the\nscreen ", "Click the screen"),
        ("mcp__computer-use__click", {}, None, None),
        ("mcp__echo__greet", {}, "Greet", None),
        ("Bash", {"host": "example.com"}, "Bash", None),
    ],
)
def test_which_calls_get_another_title(
    tool: str, tool_input: dict[str, Any], display: str | None, title: str | None
) -> None:
    assert title_override(ask_for(tool, tool_input, display_name=display)) == title


@pytest.mark.contract("PM-032")
@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/w/a  b.txt", "/w/a  b.txt"),
        ("/" + "x" * 4095, "/" + "x" * 4095),
        ("/" + "x" * 4096, None),
        ("", None),
        ("  ", None),
        ("/w/a\nb", None),
        ("/w/a\u2028b", None),
        ("/w/a\x00", None),
        (None, None),
        (["/w"], None),
    ],
)
def test_a_blocked_path_is_exact_or_ignored(raw: object, path: str | None) -> None:
    assert blocked_path(ask_for("Bash", blocked_path=raw)) == path


HOST_INPUT = {"host": "example.com", "ports": [443]}
JSON_BLOCK = '```json\n{\n  "host": "example.com",\n  "ports": [\n    443\n  ]\n}\n```'


@pytest.mark.contract("PM-037")
@pytest.mark.parametrize(
    ("tool", "tool_input", "client", "content", "shown"),
    [
        ("SandboxNetworkAccess", HOST_INPUT, PLAIN, [], JSON_BLOCK),
        ("mcp__computer-use__click", HOST_INPUT, PLAIN, None, JSON_BLOCK),
        ("mcp__computer-use__click", {}, PLAIN, [], "```json\n{}\n```"),
        ("mcp__computer-use__click", {"t": "ü"}, PLAIN, [], '```json\n{\n  "t": "ü"\n}\n```'),
        ("SandboxNetworkAccess", {"host": ""}, PLAIN, [], None),
        ("SandboxNetworkAccess", HOST_INPUT, AIR, None, None),
        ("mcp__echo__greet", HOST_INPUT, PLAIN, [], None),
    ],
)
def test_input_without_a_form_of_its_own_is_shown_as_json(
    tool: str, tool_input: dict[str, Any], client: ClientCapabilities, content: object, shown: str | None
) -> None:
    call = {"toolCallId": "toolu_1", "title": "t"} | ({} if content is None else {"content": content})
    params = request_params("s", offered(tool, tool_input), call, client)

    block = {"type": "content", "content": {"type": "text", "text": shown}}
    assert params["toolCall"] == (call if shown is None else {**call, "content": [block]})


def test_content_of_its_own_stays() -> None:
    call: dict[str, object] = {"toolCallId": "toolu_1", "content": [{"type": "content", "content": {}}]}
    made = offered("SandboxNetworkAccess", HOST_INPUT)
    assert request_params("s", made, call, PLAIN)["toolCall"] == call


@pytest.mark.contract("PM-014", "PM-022")
@given(st.text(), st.text() | st.none() | st.integers())
def test_a_record_never_has_an_empty_or_cut_text(title: str, reason: object) -> None:
    texts = heading(ask_for("Write", decision_reason=reason), title)

    assert 0 < len(texts.title) <= 4000
    assert len(texts.title.splitlines()) == 1
    if texts.description is not None:
        assert texts.description.startswith("Reason: ")
        assert texts.description.removeprefix("Reason: ").strip()
