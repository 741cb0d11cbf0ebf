"""What of a stored text a person wrote: Claude Code's own marks are taken out.

Rules: `sessions` §8.2 and §8.3. Every function takes time linear in the length of the text.
"""

import re

from machines.results.usage_limits import USAGE_LIMIT_PREFIXES

_MARKS = (
    "command-name",
    "command-message",
    "command-args",
    "local-command-stdout",
    "local-command-stderr",
    "system-reminder",
    "task-notification",
)
_TAG = re.compile(f"<(/?)({'|'.join(_MARKS)})>")

_HIDDEN_COMMANDS = frozenset(
    ["/context", "/heapdump", "/extra-usage", "/compact", "/model", "/mcp", "/status", "/usage"]
)

_LOGIN = re.compile(r"\brun /login\b", re.IGNORECASE)

_ANALYSIS = re.compile(r"<analysis>.*</analysis>\s*", re.DOTALL)
_SUMMARY_START = "This session is being continued from a previous conversation"
_SUMMARY_ENDS = (
    "\nIf you need specific details from before compaction",
    "\nContinue the conversation from where it left off",
    "\nPlease continue the conversation from where we left it off",
    "\nRecent messages are preserved verbatim",
    "\nThe messages after this summary are the most recent messages",
)


def visible_text(text: str) -> str:
    """The text as a person sees it, empty if there is nothing to see (SE-063 … SE-065).

    White space around the marks stays. A text of marks alone that invokes a command reads as the
    command, unless it is one that Claude Code answers by itself.
    """
    if "<" not in text:
        return text if text.strip() else ""
    rest = without_marks(text)
    return rest if rest.strip() else _invocation(text)


def without_marks(text: str) -> str:
    """The text without the marked parts around it; one inside of what a person wrote is a quotation.

    Each opening tag goes up to the nearest closing one; white space between the parts stays.
    """
    parts = _marked_parts(text)
    first, start = 0, 0
    blanks: list[str] = []
    while first < len(parts) and not text[start : parts[first][0]].strip():
        blanks.append(text[start : parts[first][0]])
        start = parts[first][1]
        first += 1
    last, stop = len(parts), len(text)
    tail: list[str] = []
    while last > first and not text[parts[last - 1][1] : stop].strip():
        tail.append(text[parts[last - 1][1] : stop])
        stop = parts[last - 1][0]
        last -= 1
    return "".join([*blanks, text[start:stop], *reversed(tail)])


def without_any_mark(text: str) -> str:
    """The text without all marked parts: nobody quotes in what Claude Code wrote by itself."""
    kept, start = [], 0
    for first, stop in _marked_parts(text):
        kept.append(text[start:first])
        start = stop
    return "".join([*kept, text[start:]])


def between(text: str, opening: str, closing: str) -> str | None:
    """What stands between the first opening and the closing that is next to it."""
    start = text.find(opening)
    stop = text.find(closing, start + len(opening))
    return text[start + len(opening) : stop] if start >= 0 and stop >= 0 else None


def is_usage_limit(text: str) -> bool:
    """Whether a synthetic answer says that the usage is spent (SE-068)."""
    return text.startswith(USAGE_LIMIT_PREFIXES)


def is_login_request(text: str) -> bool:
    """Whether a synthetic answer asks for a login (SE-067)."""
    return _LOGIN.search(text) is not None and not is_usage_limit(text)


def summary_body(text: str) -> str | None:
    """The summary inside the text that continues a compacted conversation; None if it is not framed so."""
    text = _ANALYSIS.sub("", without_any_mark(text))
    if not text.startswith(_SUMMARY_START):
        return None
    _, found, body = text.partition("Summary:\n")
    if not found:
        body = between(text, "<summary>", "</summary>") or ""
    ends = [end for mark in _SUMMARY_ENDS if (end := body.rfind(mark)) >= 0]
    return body[: min(ends, default=len(body))].strip() or None


def _marked_parts(text: str) -> list[tuple[int, int]]:
    """Start and end of each part that goes, in order, none inside another."""
    closings: dict[str, list[int]] = {}  # ends of the closing tags, the nearest last
    openings: list[tuple[int, str]] = []
    for tag in _TAG.finditer(text):
        if tag[1]:
            closings.setdefault(tag[2], []).append(tag.end())
        else:
            openings.append((tag.start(), tag[2]))
    for ends in closings.values():
        ends.reverse()
    parts: list[tuple[int, int]] = []
    for start, mark in openings:
        ends = closings.get(mark, [])
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and (not parts or start >= parts[-1][1]):
            parts.append((start, ends.pop()))
    return parts


def _invocation(text: str) -> str:
    """The command that a text of marks alone stands for, as it was typed."""
    if "<local-command-stdout>" in text or "<local-command-stderr>" in text:
        return ""
    name = (between(text, "<command-name>", "</command-name>") or "").strip()
    if not name.startswith("/") or name.split()[0] in _HIDDEN_COMMANDS:
        return ""
    arguments = (between(text, "<command-args>", "</command-args>") or "").strip()
    return f"{name} {arguments}" if arguments else name
