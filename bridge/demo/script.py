"""The script language: what a prompt tells the scripted model to answer.

A directive is the word `SCRIPT`, a blank and a JSON list of steps, anywhere in a prompt:

    Please look. SCRIPT [["I look.", {"name": "Bash", "input": {"command": "ls"}}], ["Done."]]

Each step is one response of the Messages API; the next step answers the next request of the same
prompt (after a tool result, a stop hook, a background notice). A step is a list of items, which
are streamed in their order:

    "text"                                    a text block, one delta a word
    {"text": "…", "size": 5, "pace": 0.2}     deltas of `size` characters, `pace` seconds apart
    {"thinking": "…", "pace": 0.1}            a thinking block; "" leaves only its signature
    {"name": "Bash", "input": {}, "pieces": 3, "pace": 0.1, "id": "toolu_1"}
                                              a tool call, its input streamed in `pieces` fragments
    {"many": [100000, 20], "pace": 0}         a text block of 100,000 deltas of 20 characters
    {"delay": 1.5}                            a pause in seconds; in front, before the headers
    {"error": 529, "times": 2, "message": "…", "headers": {"retry-after": "1"}}
                                              an HTTP error; behind content, an `error` event
    {"hang": true, "times": 1}                headers, then silence until the client goes
    {"cut": true, "times": 1}                 the socket closes in the middle of the stream
    {"event": {"type": "ping"}}               one event of the stream, as it stands
    {"stop": "max_tokens"}                    the stop reason, if not the natural one
    {"usage": {"input_tokens": 40000}}        usage numbers that replace the defaults

`times` lets an error, hang or cut happen for the first so many requests of the step; without it,
it always happens. A step that the script does not hold is answered with `CLOSING`, a prompt
without a directive with `GREETING`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MARKER = "SCRIPT "
GREETING = "Hello! This is the scripted model speaking."
CLOSING = "All done."

_DECODER = json.JSONDecoder()


class ScriptError(ValueError):
    """A directive that cannot be read; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text block; `size` 0 means one delta a word, `pace` is seconds between deltas."""

    text: str
    size: int = 0
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block, signed at its end."""

    thinking: str
    size: int = 0
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool use whose input comes in `pieces` fragments."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    pieces: int = 3
    pace: float = 0.0
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Many:
    """A text block of `count` equal deltas of `size` characters."""

    count: int
    size: int
    pace: float = 0.0

    @property
    def delta(self) -> str:
        """The text of each delta."""
        return "x" * (self.size - 1) + " "


@dataclass(frozen=True, slots=True)
class Delay:
    """A pause in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Error:
    """An API error: the HTTP answer, or an event once the stream has begun."""

    status: int
    message: str = "The script asked for this error."
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence until the client closes the connection."""

    times: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed without an end of the stream."""

    times: int | None = None


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One event of the stream, passed through."""

    event: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stop:
    """The stop reason of the message."""

    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage numbers of the message."""

    numbers: Mapping[str, int]


Item = Text | Thinking | ToolCall | Many | Delay | Error | Hang | Cut | RawEvent | Stop | Usage
Step = tuple[Item, ...]
Script = tuple[Step, ...]


def find_script(text: str) -> Script | None:
    """The directive of a prompt, `None` if it has none.

    Raises `ScriptError` for a directive that is malformed.
    """
    at = text.find(MARKER + "[")
    if at < 0:
        return None
    try:
        steps, _ = _DECODER.raw_decode(text, at + len(MARKER))
    except ValueError as error:
        raise ScriptError(f"the directive is not JSON: {error}") from error
    return read_script(steps)


def read_script(steps: Sequence[Any]) -> Script:
    """Read a script given as plain data."""
    if not all(isinstance(step, list) for step in steps):
        raise ScriptError("a script is a list of steps, and each step is a list of items")
    return tuple(read_step(step) for step in steps)


def read_step(items: Sequence[Any]) -> Step:
    """Read one step given as plain data."""
    return tuple(_read_item(item) for item in items)


def without_spent(step: Step, tries: int) -> Step:
    """The step as it stands after `tries` earlier requests: failures that are used up are gone."""
    return tuple(item for item in step if not _is_spent(item, tries))


def deltas(block: Text | Thinking) -> Iterator[str]:
    """The pieces in which a block is streamed; joined, they are its text."""
    text = block.thinking if isinstance(block, Thinking) else block.text
    if block.size:
        return (text[at : at + block.size] for at in range(0, len(text), block.size))
    return _words(text)


def _words(text: str) -> Iterator[str]:
    """Words with the blank behind them."""
    start = 0
    while start < len(text):
        blank = text.find(" ", start)
        end = len(text) if blank < 0 else blank + 1
        yield text[start:end]
        start = end


def _is_spent(item: Item, tries: int) -> bool:
    return isinstance(item, Error | Hang | Cut) and item.times is not None and tries >= item.times


def _read_item(item: Any) -> Item:
    if isinstance(item, str):
        return Text(item)
    if not isinstance(item, Mapping):
        raise ScriptError(f"an item is a text or an object, not {item!r}")
    for key, (build, allowed) in _ITEMS.items():
        if key in item:
            more = {name: value for name, value in item.items() if name != key}
            if unknown := more.keys() - set(allowed):
                raise ScriptError(f"{key!r} does not take {sorted(unknown)}")
            try:
                return build(item[key], more)
            except (TypeError, ValueError, IndexError) as error:
                raise ScriptError(f"{key!r} has a wrong value: {error}") from error
    raise ScriptError(f"no item has the keys {sorted(item)}")


_ITEMS: Mapping[str, tuple[Callable[[Any, dict[str, Any]], Item], tuple[str, ...]]] = {
    "text": (lambda value, more: Text(str(value), **more), ("size", "pace")),
    "thinking": (lambda value, more: Thinking(str(value), **more), ("size", "pace")),
    "name": (lambda value, more: ToolCall(str(value), **more), ("input", "pieces", "pace", "id")),
    "many": (lambda value, more: Many(int(value[0]), int(value[1]), **more), ("pace",)),
    "delay": (lambda value, more: Delay(float(value), **more), ()),
    "error": (lambda value, more: Error(int(value), **more), ("times", "message", "headers")),
    "hang": (lambda _, more: Hang(**more), ("times",)),
    "cut": (lambda _, more: Cut(**more), ("times",)),
    "event": (lambda value, more: RawEvent(dict(value), **more), ()),
    "stop": (lambda value, more: Stop(str(value), **more), ()),
    "usage": (lambda value, more: Usage(dict(value), **more), ()),
}
