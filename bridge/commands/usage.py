"""`/usage` as Markdown, from Claude Code's own numbers (S§12.1).

Only what is shown is read. A number that is not finite, negative, or a percentage above 100 makes
the whole answer unusable: Claude Code's own text is shown then (SE-106, SE-107).
"""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from bridge.commands.markdown import escaped
from bridge.messages.raw import Raw, mapping, optional, rows

CELLS = 20
TOP_SERVERS = 3

_WINDOWS = (("five_hour", "5-hour limit"), ("seven_day", "Weekly · all models"))
_MODEL_WINDOWS = (("seven_day_opus", "Weekly · Opus"), ("seven_day_sonnet", "Weekly · Sonnet"))
_TOKENS = (
    ("inputTokens", "Input"),
    ("outputTokens", "Output"),
    ("cacheReadInputTokens", "Cache read"),
    ("cacheCreationInputTokens", "Cache write"),
)


def usage_markdown(reply: Raw) -> str | None:
    """The reply to `get_usage` for a reader; None when it can't be read."""
    try:
        return "\n\n".join(_blocks(reply))
    except (TypeError, ValueError):
        return None


def _blocks(reply: Raw) -> Iterator[str]:
    yield "## Usage"
    if plan := optional(reply, "subscription_type"):
        yield f"> Claude {escaped(plan)} subscription usage"
    limits = [*_limits(mapping(reply, "rate_limits"))] if reply.get("rate_limits_available") is True else []
    if limits:
        yield "### Limits"
        yield from limits
    yield "---"
    yield "### This session"
    session = reply.get("session")
    if not isinstance(session, Mapping):
        raise TypeError("no session")
    yield from _session(session)
    if isinstance(reply.get("behaviors"), Mapping):
        yield from _behaviors(mapping(reply, "behaviors"))


def _limits(windows: Raw) -> Iterator[str]:
    listed = [(label, mapping(windows, key)) for key, label in _WINDOWS]
    if scoped := rows(windows, "model_scoped"):
        listed += [(f"Weekly · {escaped(str(row.get('display_name')))}", row) for row in scoped]
    else:
        listed += [(label, mapping(windows, key)) for key, label in _MODEL_WINDOWS]
    for label, window in listed:
        if window.get("utilization") is not None:
            share = _percent(window["utilization"])
            resets = optional(window, "resets_at")
            ends = f" · Resets {_moment(resets)}" if resets else ""
            yield f"**{label}** — **{_shown(share)}%**{ends}"
            yield f"`{bar(share)}`"


def _session(session: Raw) -> Iterator[str]:
    cost = Decimal(_number(session.get("total_cost_usd"))).quantize(Decimal("0.01"), ROUND_HALF_UP)
    worked, active = (duration(_number(session.get(f"total_{kind}duration_ms"))) for kind in ("api_", ""))
    yield f"| Cost | API time | Active |\n|:--|:--|:--|\n| ${cost} | {worked} | {active} |"
    models = session.get("model_usage")
    if not isinstance(models, Mapping) or not all(isinstance(row, Mapping) for row in models.values()):
        raise TypeError("no usage by model")
    sums = [
        f"| {label} | {count(sum(_number(row.get(key)) for row in models.values()))} |"
        for key, label in _TOKENS
    ]
    yield "\n".join(["| Breakdown | Tokens |", "|:--|--:|", *sums])


def _behaviors(behaviors: Raw) -> Iterator[str]:
    yield "---"
    yield "### What’s using your limits?"
    yield "> Approximate, overlapping measures · this machine only · excludes claude.ai"
    for key, label in (("day", "Last 24h"), ("week", "Last 7d")):
        span = mapping(behaviors, key)
        requests, sessions = (_number(span.get(f"{what}_count")) for what in ("request", "session"))
        yield f"**{label}** · {_shown(requests)} requests · {_shown(sessions)} sessions"
        if advice := [_recommendation(row) for row in rows(span, "recommendations")]:
            yield "\n".join(advice)
        if servers := rows(span, "mcp_servers"):
            yield _servers(servers)


def _recommendation(row: Raw) -> str:
    detail = optional(row, "detail")
    more = f" · {escaped(detail)}" if detail else ""
    return f"- **{_shown(_percent(row.get('pct')))}%** {escaped(str(row.get('title')))}{more}"


def _servers(servers: list[Raw]) -> str:
    shares = [(_percent(row.get("pct")), escaped(str(row.get("name")))) for row in servers]
    top = sorted(shares, key=lambda share: -share[0])[:TOP_SERVERS]
    lines = [f"| {name} | `{bar(share)}` {_shown(share)}% |" for share, name in top]
    return "\n".join(["| MCP server | Usage |", "|:--|--:|", *lines])


def bar(percent: float) -> str:
    """Twenty cells; whatever is above zero fills one at least."""
    filled = math.floor(percent * CELLS / 100 + 0.5)
    filled = max(filled, 1) if percent > 0 else 0
    return "█" * filled + "░" * (CELLS - filled)


def duration(milliseconds: float) -> str:
    """Whole seconds: `12s`, `3m`, `3m 5s`."""
    minutes, seconds = divmod(math.floor(milliseconds / 1000 + 0.5), 60)
    if not minutes:
        return f"{seconds}s"
    return f"{minutes}m {seconds}s" if seconds else f"{minutes}m"


def count(tokens: float) -> str:
    """A count in short: `999`, `1.2K`, `1.5M`."""
    value = Decimal(tokens)
    units = ("", "K", "M", "B", "T")
    for unit in units:
        rounded = value.quantize(Decimal("0.1") if unit else Decimal(1), ROUND_HALF_UP)
        if rounded < 1000 or unit == units[-1]:
            return f"{rounded:f}".removesuffix(".0") + unit
        value /= 1000
    raise AssertionError("the last unit takes everything")


def _moment(time: str) -> str:
    try:
        at = datetime.fromisoformat(time).astimezone()
    except (ValueError, OverflowError, OSError):
        return escaped(time)
    return escaped(f"{at:%b} {at.day}, {at.hour % 12 or 12}:{at:%M %p %Z}")


def _percent(value: object) -> float:
    share = _number(value)
    if share > 100:
        raise ValueError("more than everything")
    return share


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("not a number")
    if not math.isfinite(value) or value < 0:
        raise ValueError("not a count")
    return value


def _shown(number: float) -> str:
    """With one decimal at most."""
    return f"{Decimal(number).quantize(Decimal('0.1'), ROUND_HALF_UP):f}".removesuffix(".0")
