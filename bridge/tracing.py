"""A trace that a bug report can carry: every event, transition and output as a line of JSON.

Texts are replaced by their lengths, unless `CLAUDE_ACP_TRACE_TEXT=1` asks for them. What ids,
names and states say is kept, since an order of events can't be read without them.
"""

import dataclasses
import json
import logging
from collections.abc import Callable, Mapping
from enum import Enum
from typing import IO

from machines.trace import Step

TRACE = "CLAUDE_ACP_TRACE"
TRACE_TEXT = "CLAUDE_ACP_TRACE_TEXT"

_NAMES = """
type session turn uuid uuids call parent agent ask change name state phase kind option options id
target status stop_reason terminal_reason subtype origin error_kind reason_type
non_execution_kind lifecycle event source end timer method sessionId sessionUpdate toolCallId
messageId stopReason optionId subagent_type
"""
_PLAIN = frozenset(_NAMES.split())
"""Fields whose texts are never the user's."""

log = logging.getLogger(__name__)


class Trace:
    """Writes to one file for the whole process; a file that can't be written ends the trace."""

    def __init__(self, path: str, *, with_text: bool, now: Callable[[], float]) -> None:
        self._file: IO[str] | None = open(path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed at exit
        self._with_text = with_text
        self._now = now

    def step(self, session: str, step: Step) -> None:
        """A transition of a machine."""
        self._write("transition", session, dataclasses.asdict(step))

    def event(self, session: str, event: object) -> None:
        """Something that a session is told."""
        self._write("event", session, self._record(event))

    def output(self, session: str, output: object) -> None:
        """Something that a session has to do."""
        self._write("output", session, self._record(output))

    def _record(self, value: object) -> dict[str, object]:
        fields = self._redacted(value)
        return {"name": type(value).__name__, "fields": fields}

    def _redacted(self, value: object, *, plain: bool = False) -> object:
        match value:
            case str():
                return value if plain or self._with_text else {"chars": len(value)}
            case Enum():
                return value.value
            case Mapping():
                return {str(k): self._redacted(v, plain=k in _PLAIN) for k, v in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self._redacted(item, plain=plain) for item in value]
            case _ if dataclasses.is_dataclass(value):
                names = [field.name for field in dataclasses.fields(value)]
                return {name: self._redacted(getattr(value, name), plain=name in _PLAIN) for name in names}
            case _:
                return value

    def _write(self, kind: str, session: str, record: Mapping[str, object]) -> None:
        if self._file is None:
            return
        line = {"t": round(self._now(), 6), "type": kind, "session": session, **record}
        try:
            self._file.write(json.dumps(line, default=str) + "\n")
        except OSError as error:
            log.error("the trace ends: %s", error.strerror)
            self._file = None
