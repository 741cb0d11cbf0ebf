"""The names of lasting choices, by value, and the bundles that no name can describe."""

from typing import Any

import pytest

from bridge.permissions.labels import file_label, one_line, readable, shell_label, showable
from bridge.permissions.suggestions import snapshot
from tests.bridge.permissions.build import CWD, HOME, add_directories, add_rules, set_mode


def shell(*updates: dict[str, Any], tool: str = "Bash") -> str | None:
    bundle = snapshot(list(updates))
    assert bundle is not None
    return shell_label(bundle, tool)


def files(tool: str, path: str | None, *updates: dict[str, Any], search: bool = False) -> str | None:
    bundle = snapshot(list(updates))
    assert bundle is not None
    return file_label(bundle, tool, path, cwd=CWD, home=HOME, search=search)


def bash(*commands: str) -> dict[str, Any]:
    return add_rules(*[("Bash", command) for command in commands], to="localSettings")


AGAIN = "Yes, and don't ask again for {} commands"


@pytest.mark.contract("PM-039", "PM-040", "PM-066", "PM-067")
@pytest.mark.parametrize(
    ("updates", "label"),
    [
        ([bash("npm test:*")], AGAIN.format("npm test")),
        ([bash("touch y *")], AGAIN.format("touch y *")),
        ([bash("touch y *", "exit 3")], AGAIN.format("touch y * and exit 3")),
        ([bash("a", "b", "c *")], AGAIN.format("a, b, and c *")),
        ([bash("a", "a:*", "a")], AGAIN.format("a")),
        ([bash("x" * 50)], AGAIN.format("x" * 50)),
        ([bash("x" * 51)], AGAIN.format("similar")),
        ([bash("x" * 24, "y" * 24)], AGAIN.format(f"{'x' * 24} and {'y' * 24}")),
        ([bash("x" * 24, "y" * 25)], AGAIN.format("similar")),
        ([add_rules(("Read", "//etc/**"))], "Yes, allow reading from etc/ from this project"),
        ([add_rules(("Read", "//**"))], "Yes, allow reading from / from this project"),
        ([add_directories("/repos/app")], "Yes, and always allow access to app/ from this project"),
        ([add_directories("/")], "Yes, and always allow access to / from this project"),
        (
            [add_directories("/repos/app"), add_rules(("Read", "//etc/**"))],
            "Yes, and always allow access to app/ and etc/ from this project",
        ),
        (
            [add_rules(("Read", "//a/**"), ("Read", "//b/**"), ("Read", "//c/**"), ("Read", "//d/**"))],
            "Yes, allow reading from a/, b/ and 2 more from this project",
        ),
        (
            [add_rules(("Read", "//etc/**"), ("Bash", "cat:*"))],
            "Yes, and allow access to etc/ and cat commands",
        ),
        (
            [add_rules(("Read", "//etc/**"), ("Bash", "cat"), ("Bash", "ls"))],
            "Yes, and allow etc/ access and cat and ls commands",
        ),
        (
            [add_directories("/repos/codex-acp/src", "/repos/claude-agent-acp/src"), bash("ls -R:*")],
            "Yes, and allow codex-acp/src/ and claude-agent-acp/src/ access and ls -R commands",
        ),
        (
            [add_directories("/a/src", "/src")],
            "Yes, and always allow access to a/src/ and /src/ from this project",
        ),
        ([add_directories("/a/x/", "//a/x")], "Yes, and always allow access to x/ from this project"),
    ],
)
def test_shell_labels_name_the_whole_effect(updates: list[dict[str, Any]], label: str) -> None:
    assert shell(*updates) == label


def test_each_shell_has_its_own_rules() -> None:
    assert shell(add_rules(("PowerShell", "dir")), tool="PowerShell") == AGAIN.format("dir")
    assert shell(add_rules(("Bash", "ls")), tool="PowerShell") is None


@pytest.mark.contract("PM-061", "PM-062", "PM-112")
@pytest.mark.parametrize(
    "updates",
    [
        [bash("touch a *"), add_directories(CWD), set_mode("acceptEdits")],
        [set_mode("acceptEdits")],
        [add_directories("/a", to="localSettings")],
        [{"type": "removeDirectories", "directories": ["/a"], "destination": "session"}],
        [add_rules(("Bash", None))],
        [add_rules(("Bash", ":*"))],
        [add_rules(("Read", "/**"))],
        [add_rules(("Bash", "ls"), ("Edit", "/a"))],
        [add_rules(("Bash", "ls"), behavior="deny")],
        [add_rules(("Bash", "ls"), behavior="ask")],
        [bash("ls"), {"type": "replaceRules", "rules": [], "behavior": "allow", "destination": "session"}],
        [
            {
                "type": "removeRules",
                "rules": [{"toolName": "Bash"}],
                "behavior": "allow",
                "destination": "session",
            }
        ],
    ],
)
def test_a_shell_bundle_that_no_name_describes(updates: list[dict[str, Any]]) -> None:
    assert shell(*updates) is None


READ_HERE, EDIT_HERE = "Yes, during this session", "Yes, allow all edits during this session"


@pytest.mark.contract("PM-068", "PM-069", "PM-072")
@pytest.mark.parametrize(
    ("tool", "path", "updates", "label"),
    [
        (
            "Read",
            "/etc/hostname",
            [add_rules(("Read", "//etc/**"))],
            "Yes, allow reading from etc/ during this session",
        ),
        (
            "Read",
            "/etc/hostname",
            [add_rules(("Read", "//etc/hostname"))],
            "Yes, allow reading from etc/ during this session",
        ),
        (
            "Read",
            "/etc/ssl/x",
            [add_rules(("Read", "//etc/**"))],
            "Yes, allow reading from etc/ during this session",
        ),
        (
            "Read",
            "/etc/ssl/x",
            [add_rules(("Read", "//etc/**"), ("Read", "//etc/ssl/**"))],
            "Yes, allow reading from ssl/ during this session",
        ),
        ("Read", "/x", [add_rules(("Read", "//**"))], "Yes, allow reading from / during this session"),
        (
            "Read",
            f"{HOME}/n/a",
            [add_rules(("Read", "~/n/**"))],
            "Yes, allow reading from n/ during this session",
        ),
        ("Read", f"{CWD}/src/a.py", [add_rules(("Read", "src/**"))], READ_HERE),
        ("Read", "src/a.py", [add_rules(("Read", f"/{CWD}/**"))], READ_HERE),
        ("Read", "/etc/hostname", [add_rules(("Read", None))], READ_HERE),
        ("Read", None, [add_rules(("Read", None))], READ_HERE),
        ("Edit", f"{CWD}/a.py", [set_mode("acceptEdits")], EDIT_HERE),
        ("Edit", "a.py", [set_mode("acceptEdits")], EDIT_HERE),
        ("Edit", None, [set_mode("acceptEdits")], EDIT_HERE),
        (
            "Edit",
            "/out/a",
            [set_mode("acceptEdits"), add_directories("/out")],
            "Yes, allow all edits in out/ during this session",
        ),
        (
            "Edit",
            "/link/s/a",
            [set_mode("acceptEdits"), add_directories("/link/s", "/real/s")],
            "Yes, allow all edits in s/ during this session",
        ),
        (
            "Edit",
            "/a",
            [set_mode("acceptEdits"), add_directories("/")],
            "Yes, allow all edits in / during this session",
        ),
        ("Edit", f"{CWD}/a.py", [add_rules(("Edit", "*.py")), add_rules(("Edit", None))], EDIT_HERE),
    ],
)
def test_file_labels(tool: str, path: str | None, updates: list[dict[str, Any]], label: str) -> None:
    assert files(tool, path, *updates) == label


def test_a_search_names_the_folder_it_searches() -> None:
    assert files("Read", "/etc", add_rules(("Read", "//etc/**")), search=True) == (
        "Yes, allow reading from etc/ during this session"
    )
    assert files("Read", CWD, add_rules(("Read", f"/{CWD}/**")), search=True) == READ_HERE


OWN = "Yes, and allow Claude to edit its own settings for this session"


@pytest.mark.contract("PM-070")
@pytest.mark.parametrize(
    ("path", "updates", "label"),
    [
        (".claude/settings.json", [add_rules(("Edit", ".claude/**"))], OWN),
        (f"{HOME}/.claude/agents/a.md", [add_rules(("Edit", "~/.claude/**"))], OWN),
        (f"{CWD}/.claude/x", [add_rules(("Edit", None))], OWN),
        (f"{CWD}/.claude/x", [set_mode("acceptEdits")], None),
        (f"{HOME}/.claude/x", [set_mode("acceptEdits")], None),
        (
            f"{HOME}/.claude/x",
            [set_mode("acceptEdits"), add_directories(f"{HOME}/.claude")],
            "Yes, allow all edits in .claude/ during this session",
        ),
        (f"{CWD}/.claudette/x", [set_mode("acceptEdits")], EDIT_HERE),
    ],
)
def test_claudes_own_settings_need_a_grant_of_their_own(
    path: str, updates: list[dict[str, Any]], label: str | None
) -> None:
    assert files("Edit", path, *updates) == label


@pytest.mark.contract("PM-071", "PM-072")
@pytest.mark.parametrize(
    ("tool", "path", "updates"),
    [
        ("Read", "/etc/hostname", [add_rules(("Read", "//etc/**"), to="localSettings")]),
        ("Read", "/etc/hostname", [add_rules(("Read", "//usr/**"))]),
        ("Read", "/etcetera/x", [add_rules(("Read", "//etc/**"))]),
        ("Read", "/etc/hostname", [add_rules(("Read", "//etc/*.conf"))]),
        ("Read", "/etc/../usr/x", [add_rules(("Read", "//etc/**"))]),
        ("Read", "/etc/hostname", [add_rules(("Read", "//etc/**"), ("Edit", "//etc/**"))]),
        ("Read", "/etc/hostname", [add_rules(("Read", "//etc/**"), behavior="deny")]),
        ("Read", "/etc/hostname", [add_directories("/etc")]),
        ("Read", "a.py", [set_mode("acceptEdits")]),
        ("Read", None, [add_rules(("Read", "//etc/**"))]),
        ("Edit", "a.py", [set_mode("acceptEdits", to="userSettings")]),
        ("Edit", "a.py", [set_mode("bypassPermissions")]),
        ("Edit", "a.py", [set_mode("acceptEdits"), add_rules(("Read", None))]),
        ("Edit", "a.py", [set_mode("acceptEdits"), add_directories("/", to="localSettings")]),
        ("Edit", None, [add_directories("/out")]),
    ],
)
def test_a_file_bundle_that_no_name_describes(
    tool: str, path: str | None, updates: list[dict[str, Any]]
) -> None:
    assert files(tool, path, *updates) is None


@pytest.mark.parametrize("flaw", ["\n", "\r", "\t", "\x07", "\x85", "\u2028", "\u202e", "\u2066", "\ud800"])
def test_a_label_that_would_not_read_as_it_is_cannot_be_shown(flaw: str) -> None:
    assert showable("Yes, and don't ask again for ls commands")
    assert showable("Ja, für «日本» und \u200f עברית")
    assert not showable(f"Yes, and don't ask again for l{flaw}s commands")


def test_a_label_has_an_end() -> None:
    assert showable("x" * 4000)
    assert not showable("x" * 4001)
    assert not showable("")


@pytest.mark.contract("PM-021", "PM-022")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" example.com ", "example.com"),
        ("a\x00b\x1b[1mc\x7f", "ab[1mc"),
        ("a \n\t b", "a b"),
        ("exe\u202etxt.", "exetxt."),
        ("x" * 160, "x" * 160),
        ("x" * 161, None),
        (" \n", None),
        ("\x07", None),
        (None, None),
        (7, None),
    ],
)
def test_compact_text(text: object, line: str | None) -> None:
    assert one_line(text) == line


def test_readable_text_keeps_its_lines() -> None:
    assert readable(" a\n  b\x00\u202e ") == "a\n  b"
