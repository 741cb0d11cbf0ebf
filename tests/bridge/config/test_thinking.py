"""The thinking option that the environment asks for."""

import pytest

from bridge.config.thinking import thinking


@pytest.mark.parametrize(
    ("tokens", "display", "option", "warnings"),
    [
        (None, None, None, 0),
        ("", "", None, 0),
        ("0", None, {"type": "disabled"}, 0),
        ("0", "omitted", {"type": "disabled"}, 0),
        ("8000", None, {"type": "enabled", "budget_tokens": 8000}, 0),
        (" 8000 ", "summarized", {"type": "enabled", "budget_tokens": 8000, "display": "summarized"}, 0),
        (None, "omitted", {"type": "adaptive", "display": "omitted"}, 0),
        ("-1", None, None, 1),
        ("many", "omitted", {"type": "adaptive", "display": "omitted"}, 1),
        ("1e5", None, None, 1),
        ("٣", None, None, 1),
        ("9" * 5000, None, None, 1),
        (None, "Omitted", None, 1),
        ("x", "y", None, 2),
    ],
)
def test_the_option(
    tokens: str | None, display: str | None, option: dict[str, object] | None, warnings: int
) -> None:
    given = {"MAX_THINKING_TOKENS": tokens, "CLAUDE_CODE_THINKING_DISPLAY": display}
    found, told = thinking({name: value for name, value in given.items() if value is not None})

    assert found == option
    assert len(told) == warnings
