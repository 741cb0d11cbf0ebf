"""What the doctor must not show, and what it may show of an address."""

import pytest

from bridge.doctor.secrets import find_secrets, shown_address

pytestmark = pytest.mark.contract("CL-014")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://user:word@proxy.example.com:3128/x?token=1#y", "http://proxy.example.com:3128"),
        ("https://[::1]:1/", "https://[::1]:1"),
        ("proxy.example.com:3128", None),
        ("socks5://host:1", None),
        ("http://", None),
        ("http://bad host", None),
        ("http://host:port", None),
        ("", None),
    ],
)
def test_of_an_address_scheme_host_and_port_are_shown(value: str, shown: str | None) -> None:
    assert shown_address(value) == shown


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("ANTHROPIC_API_KEY", "sk-1234", {"sk-1234"}),
        ("ANTHROPIC_AUTH_TOKEN", "t-1234", {"t-1234"}),
        ("CLAUDE_CODE_OAUTH_TOKEN", "o-1234", {"o-1234"}),
        ("AWS_SECRET_ACCESS_KEY", "a-1234", {"a-1234"}),
        ("apiKeyHelper", "echo k-1234", {"echo k-1234"}),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-A: one1\nX-B: two2", {"X-A: one1", "one1", "X-B: two2", "two2"}),
        ("HTTPS_PROXY", "http://name:password1@host:1", {"password1", "http://name:password1@host:1"}),
        ("ANTHROPIC_BASE_URL", "https://host/v1/0123456789abcdef", {"0123456789abcdef"}),
        ("ANTHROPIC_BASE_URL", "no address 1", {"no address 1"}),
        ("WEBHOOK", "https://host/?t=0123456789abcdef", {"0123456789abcdef"}),
    ],
)
def test_credentials_are_found_by_name_and_in_addresses(name: str, value: str, secrets: set[str]) -> None:
    assert secrets <= {*find_secrets({name: value})}


def test_they_are_found_at_any_depth_of_settings() -> None:
    settings = {
        "env": {"MY_TOKEN": "one-1"},
        "mcpServers": {"x": {"headers": {"Authorization": "two-2"}, "args": ["--k", "http://u:three-333@h"]}},
        "tokens": ["four-4", {"password": "five-5"}],
    }

    assert {"one-1", "three-333", "four-4", "five-5"} <= {*find_secrets(settings)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin"),
        ("HTTPS_PROXY", "http://proxy.example.com:3128"),
        ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/"),
    ],
)
def test_what_the_doctor_shows_itself_is_no_secret(name: str, value: str) -> None:
    assert [*find_secrets({name: value})] == []
