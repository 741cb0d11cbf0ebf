"""How much Claude thinks, from the environment.

Use at session creation: the answer goes into the SDK's `thinking` option unless the client's own options have
one; the warnings go to stderr. Rules: config-and-auth §6.
"""

from collections.abc import Mapping

_TOKENS = "MAX_THINKING_TOKENS"
_DISPLAY = "CLAUDE_CODE_THINKING_DISPLAY"


def thinking(environ: Mapping[str, str]) -> tuple[dict[str, object] | None, tuple[str, ...]]:
    """The option, `None` for Claude Code's own choice, and a line for each value that cannot be used."""
    warnings: list[str] = []
    budget = _budget(environ.get(_TOKENS, ""), warnings)
    display = _display(environ.get(_DISPLAY, ""), warnings)
    option: dict[str, object] | None
    match budget:
        case 0:
            option = {"type": "disabled"}
        case None:
            option = {"type": "adaptive", **display} if display else None
        case _:
            option = {"type": "enabled", "budget_tokens": budget, **display}
    return option, tuple(warnings)


def _budget(text: str, warnings: list[str]) -> int | None:
    digits = text.strip()
    if not digits:
        return None
    if digits.isascii() and digits.isdigit() and len(digits) <= 9:
        return int(digits)
    warnings.append(f"{_TOKENS} is not a number of tokens; it is ignored.")
    return None


def _display(text: str, warnings: list[str]) -> dict[str, object]:
    if text in ("summarized", "omitted"):
        return {"display": text}
    if text:
        warnings.append(f"{_DISPLAY} is neither summarized nor omitted; it is ignored.")
    return {}
