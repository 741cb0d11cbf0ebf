"""`/mcp`: what is asked for, whom an action is for, and the list of servers."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.commands.markdown import code
from bridge.commands.mcp import (
    McpCommand,
    McpServer,
    outcome_lines,
    read_mcp,
    read_servers,
    short_error,
    status_list,
    targets,
    useful_sentences,
)

TERMINAL = "Reconnect, enable, and disable aren't available in this session."


def server(name: str, status: str, **more: Any) -> McpServer:
    return McpServer(name, status, **more)


SERVERS = [
    server("good", "connected", tools=2),
    server("bad", "failed", error="MCP error -3: Connection failed: ENOENT: no such\nfile. Twice. Thrice."),
    server("shut", "needs-auth"),
    server("slow", "pending"),
    server("off", "disabled"),
    server("odd", "half_way"),
    server("twin", "connected", scope="user", tools=1),
    server("twin", "disabled", scope="project"),
]  # fmt: skip


# ── the command ───────────────────────────────────────────────────────────────


@pytest.mark.contract("SE-111", "SE-112")
@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("/mcp", McpCommand()),
        ("  /mcp\n", McpCommand()),
        ("/mcp reconnect", McpCommand("reconnect")),
        ("/mcp RECONNECT all", McpCommand("reconnect")),
        ("/mcp enable all", McpCommand("enable")),
        ("/mcp disable two  words", McpCommand("disable", "two words")),
        ("/mcp reconnect ALL", McpCommand("reconnect", "ALL")),
        ("/mcp enable", McpCommand("enable", lacks_server=True)),
        ("/mcp frob", None),
        ("/mcp:demo:hello", None),
        ("/mcpx", None),
        ("say /mcp", None),
        ("", None),
    ],
)
def test_a_prompt_is_read(prompt: str, command: McpCommand | None) -> None:
    assert read_mcp(prompt) == command


@pytest.mark.contract("SE-112")
@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("/mcp reconnect", ["bad", "shut", "slow"]),
        ("/mcp enable all", ["off", "twin"]),
        ("/mcp disable all", ["good", "bad", "shut", "slow", "odd", "twin"]),
        ("/mcp reconnect good", ["good"]),
        ("/mcp reconnect nosuch", []),
        ("/mcp enable", []),
    ],
)
def test_an_action_is_for_the_servers_that_it_fits_each_once(prompt: str, names: list[str]) -> None:
    command = read_mcp(prompt)
    assert command is not None
    assert targets(command, SERVERS) == names


@pytest.mark.contract("SE-112", "SE-113")
@pytest.mark.parametrize(
    ("prompt", "errors", "said", "lines"),
    [
        ("/mcp reconnect", {"a": None, "b": "Error: gone"}, TERMINAL,
         "- Reconnected `a`\n- Couldn't reconnect `b`: gone"),
        ("/mcp enable a", {"a": None}, f"Mind this. {TERMINAL}", "Mind this.\n\n- Enabled `a`"),
        ("/mcp disable a", {"a": None}, TERMINAL, "- Disabled `a`"),
        ("/mcp reconnect x", {}, TERMINAL, "There's no MCP server named `x`."),
        ("/mcp reconnect x", {}, 'There\'s no MCP server named "x". Run `/mcp` in the terminal to see them.',
         'There\'s no MCP server named "x".'),
        ("/mcp disable", {}, TERMINAL, "Name a server or `all`, for example `/mcp disable <server>`."),
        ("/mcp reconnect", {}, TERMINAL,
         "Every MCP server is connected or disabled. There is nothing to reconnect."),
        ("/mcp enable all", {}, TERMINAL, "Every MCP server is already enabled."),
        ("/mcp disable all", {}, TERMINAL, "Every MCP server is already disabled."),
    ],
)  # fmt: skip
def test_what_became_of_an_action(prompt: str, errors: dict[str, str | None], said: str, lines: str) -> None:
    command = read_mcp(prompt)
    assert command is not None
    assert outcome_lines(command, errors, said) == lines


def test_sentences_for_a_terminal_are_dropped() -> None:
    said = "2 servers are known. Use `/mcp` in the terminal for details. Or run `/mcp reconnect all` here."
    assert useful_sentences(said) == "2 servers are known."


# ── the list ──────────────────────────────────────────────────────────────────


@pytest.mark.contract("SE-113")
def test_the_list_has_groups_in_their_order_and_says_what_to_do() -> None:
    assert status_list(SERVERS) == (
        "**MCP servers:** 8 (1 failed, 1 needs authentication, 1 connecting, 2 connected, 1 half\\_way, "
        "2 disabled)\n\n"
        "**Failed**\n- `bad`: ENOENT: no such file. Twice.\n\n"
        "**Needs authentication**\n- `shut`\n\n"
        "**Connecting**\n- `slow`\n\n"
        "**Connected**\n- `good`: 2 tools\n- `twin` (user): 1 tool\n\n"
        "**Half\\_way**\n- `odd`\n\n"
        "**Disabled:** `off`, `twin` (project)\n\n"
        "Run `/mcp reconnect <server>` to reconnect one server, or `/mcp reconnect` to reconnect every "
        "server that is not connected and not disabled."
    )


@pytest.mark.contract("SE-113")
def test_a_list_without_trouble_gives_no_advice() -> None:
    servers = [server("a", "connected", tools=0), server("b", "needs-auth"), server("c", "needs-auth")]
    assert status_list(servers[:1]) == "**MCP servers:** 1 (1 connected)\n\n**Connected**\n- `a`: 0 tools"
    assert status_list(servers).startswith("**MCP servers:** 3 (2 need authentication, 1 connected)")
    assert status_list([]) == "No MCP servers are configured."


@pytest.mark.contract("SE-113")
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("a: b", "a: b"),
        ("SDK auth failed: ECONNREFUSED: Unable. Is it up? No.", "ECONNREFUSED: Unable. Is it up?"),
        ("std::io: bad thing", "bad thing"),
        ("Error: 404: Not Found", "Not Found"),
        ("-32000: 404", "-32000: 404"),
        ("error 404: 503", "error 404: 503"),
        ("Connection failed", "Connection failed"),
        ("Request failed with code 401: Unauthorized", "Request failed with code 401: Unauthorized"),
        ("Is it failed. error: x", "Is it failed. error: x"),
        ("One! Two? Three.", "One! Two?"),
        ("v1.2 of it. then e.g. more", "v1.2 of it. then e.g."),
        ("posix_spawn *x*", "posix\\_spawn \\*x\\*"),
        ("x" * 161, "x" * 159 + "…"),
        ("😀" * 160, "😀" * 160),
        (" ", ""),
    ],
)  # fmt: skip
def test_an_error_is_cut_to_its_cause(error: str, shown: str) -> None:
    assert short_error(error) == shown


@pytest.mark.contract("SE-113")
@given(st.text().filter(str.split))
def test_a_name_is_one_code_span(name: str) -> None:
    shown = code(name)
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    assert shown.endswith(fence)
    inside = shown[len(fence) : -len(fence)]
    assert fence not in re.findall(r"`+", inside)
    assert inside.strip() == " ".join(name.split())


def test_a_reply_is_read_whatever_it_lacks() -> None:
    row = {"name": "a", "status": "failed", "scope": "user", "error": "no", "tools": [{"name": "t"}]}
    assert read_servers({"mcpServers": [row, {"name": "b"}, 5]}) == [
        McpServer("a", "failed", "user", "no", 1),
        McpServer("b", ""),
    ]
    assert read_servers({"mcpServers": None}) == []
