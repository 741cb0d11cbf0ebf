"""`/usage` as Markdown: what is shown, and what makes an answer unusable."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.commands.usage import bar, count, duration, usage_markdown

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def row(*counts: object) -> Json:
    keys = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return dict(zip(keys, counts, strict=True))


def reply(**more: object) -> Json:
    session = {
        "total_cost_usd": 0.0042,
        "total_api_duration_ms": 900,
        "total_duration_ms": 4100,
        "model_usage": {"a": row(100, 50, 20, 30), "b": row(20, 10, 4, 6)},
    }
    return {"session": session, "rate_limits_available": False, "rate_limits": None, **more}


def limits(**windows: object) -> Json:
    return reply(rate_limits_available=True, rate_limits=windows)


def window(share: object, resets: object = None) -> Json:
    return {"utilization": share, "resets_at": resets}


def span(servers: dict[str, float], **more: object) -> Json:
    listed = [{"name": name, "pct": share} for name, share in servers.items()]
    return {"request_count": 12, "session_count": 3, "mcp_servers": listed, **more}


@pytest.mark.contract("SE-105", "SE-108")
def test_without_limits_there_is_the_session_alone() -> None:
    assert usage_markdown(reply()) == (
        "## Usage\n\n---\n\n### This session\n\n"
        "| Cost | API time | Active |\n|:--|:--|:--|\n| $0.00 | 1s | 4s |\n\n"
        "| Breakdown | Tokens |\n|:--|--:|\n"
        "| Input | 120 |\n| Output | 60 |\n| Cache read | 24 |\n| Cache write | 36 |"
    )


@pytest.mark.contract("SE-108")
def test_the_limits_have_their_order_and_those_without_a_share_are_left_out() -> None:
    windows = {
        "seven_day_sonnet": window(3),
        "seven_day_opus": window(None),
        "seven_day": window(41, "2026-12-02T09:00:00+02:00"),
        "five_hour": window(12.5, "2026-11-30T17:05:00Z"),
    }
    shown = usage_markdown({**limits(**windows), "subscription_type": "max"})
    assert shown is not None
    assert shown.startswith(
        "## Usage\n\n> Claude max subscription usage\n\n### Limits\n\n"
        "**5-hour limit** — **12.5%** · Resets Nov 30, 5:05 PM UTC\n\n`███░░░░░░░░░░░░░░░░░`\n\n"
        "**Weekly · all models** — **41%** · Resets Dec 2, 7:00 AM UTC\n\n`████████░░░░░░░░░░░░`\n\n"
        "**Weekly · Sonnet** — **3%**\n\n`█░░░░░░░░░░░░░░░░░░░`\n\n---\n\n"
    )


@pytest.mark.contract("SE-108")
def test_windows_by_model_replace_those_of_the_families() -> None:
    scoped = [{"display_name": "Fable", **window(7)}, {"display_name": "Idle", **window(None)}]
    shown = usage_markdown(limits(seven_day_opus=window(9), model_scoped=scoped)) or ""
    assert "**Weekly · Fable** — **7%**" in shown
    assert "Opus" not in shown
    assert "Idle" not in shown


@pytest.mark.contract("SE-109", "SE-110")
def test_the_three_servers_that_use_most_are_named_and_nothing_breaks_their_table() -> None:
    servers = {"a|b": 1.0, "c": 50.0, "d\ne": 7.0, "f": 8.5}
    advice = [{"pct": 40, "title": "A *long* chat", "detail": "use_clear"}]
    behaviors = {"day": span(servers, recommendations=advice), "week": span({})}
    shown = usage_markdown(reply(behaviors=behaviors)) or ""
    _, told = shown.split("### What’s using your limits?\n\n")
    assert told == (
        "> Approximate, overlapping measures · this machine only · excludes claude.ai\n\n"
        "**Last 24h** · 12 requests · 3 sessions\n\n"
        "- **40%** A \\*long\\* chat · use\\_clear\n\n"
        "| MCP server | Usage |\n|:--|--:|\n"
        "| c | `██████████░░░░░░░░░░` 50% |\n"
        "| f | `██░░░░░░░░░░░░░░░░░░` 8.5% |\n"
        "| d e | `█░░░░░░░░░░░░░░░░░░░` 7% |\n\n"
        "**Last 7d** · 12 requests · 3 sessions"
    )


@pytest.mark.contract("SE-110")
@given(st.text(min_size=1))
def test_a_name_stays_on_its_line_and_in_its_cell(name: str) -> None:
    behaviors = {"day": span({name: 5.0}), "week": span({})}
    shown = usage_markdown(reply(behaviors=behaviors)) or ""
    (line,) = [line for line in shown.split("\n") if line.endswith("5% |")]
    cell = line.removeprefix("| ").removesuffix(f" | `{bar(5)}` 5% |")
    assert not re.search(r"(?<!\\)(?:\\\\)*[|*_`<>\[\]]", cell)


@pytest.mark.contract("SE-107")
@pytest.mark.parametrize("share", [-1, 100.5, float("nan"), float("inf"), "7", True])
def test_a_share_that_cannot_be_makes_the_answer_unusable(share: object) -> None:
    assert usage_markdown(limits(five_hour=window(share))) is None


@pytest.mark.contract("SE-106", "SE-107")
@pytest.mark.parametrize(
    "session",
    [
        None,
        {},
        {**reply()["session"], "total_cost_usd": None},
        {**reply()["session"], "total_duration_ms": -1},
        {**reply()["session"], "model_usage": {"a": {"inputTokens": 1}}},
        {**reply()["session"], "model_usage": [row(1, 1, 1, 1)]},
    ],
)
def test_a_broken_session_makes_the_answer_unusable(session: object) -> None:
    assert usage_markdown(reply(session=session)) is None


@pytest.mark.contract("SE-107")
def test_what_is_not_shown_is_not_checked() -> None:
    unread = {"five_hour": window("?")}
    assert usage_markdown(reply(rate_limits=unread, lines=object())) == usage_markdown(reply())


@pytest.mark.contract("SE-107")
@given(st.dictionaries(st.text(), st.one_of(st.none(), st.floats(), st.text(), st.lists(st.integers()))))
def test_no_answer_is_an_error(answer: Json) -> None:
    assert usage_markdown(answer) is None or "session" in answer


@pytest.mark.contract("SE-109")
@given(st.floats(0, 100))
def test_a_bar_has_twenty_cells_and_the_least_use_is_seen(share: float) -> None:
    shown = bar(share)
    assert len(shown) == 20
    assert ("█" in shown) == (share > 0)
    assert abs(shown.count("█") - share / 5) <= 1


@pytest.mark.contract("SE-109")
@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(0, "0s"), (499, "0s"), (12_400, "12s"), (59_600, "1m"), (180_000, "3m"), (185_400, "3m 5s")],
)
def test_durations(milliseconds: int, shown: str) -> None:
    assert duration(milliseconds) == shown


@pytest.mark.contract("SE-109")
@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(0, "0"), (999, "999"), (1000, "1K"), (1050, "1.1K"), (1234, "1.2K"), (999_940, "999.9K"),
     (999_950, "1M"), (1_499_999, "1.5M"), (2_500_000_000, "2.5B"), (10**18, "1000000T")],
)  # fmt: skip
def test_counts(tokens: int, shown: str) -> None:
    assert count(tokens) == shown
