"""What a Claude Code process delivers: its frames in the order it wrote them, and its end."""

from collections.abc import Mapping
from dataclasses import dataclass

from machines.process.process_events import StreamEnd

OUR_REQUESTS = "acp-"
"""Prefix of the ids of our own control requests; those of the SDK begin with `req_`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of Claude Code's stdout, uninterpreted; `seq` counts from 1 for each process."""

    seq: int
    raw: Mapping[str, object]

    @property
    def type(self) -> str:
        """`assistant`, `system`, `control_request` …; empty when the frame names none."""
        return _text(self.raw.get("type"))

    @property
    def subtype(self) -> str:
        """The second half of the kind, which control frames keep in their inner object."""
        match self.type:
            case "control_request":
                inner = self.raw.get("request")
            case "control_response":
                inner = self.raw.get("response")
            case _:
                inner = self.raw
        return _text(inner.get("subtype")) if isinstance(inner, Mapping) else ""


@dataclass(frozen=True, slots=True)
class Closed:
    """The last item of a process: nothing follows, and the process is gone."""

    seq: int
    end: StreamEnd
    exit_code: int | None = None
    """Negative for a signal; None when the process was ended because its stream broke."""
    text: str = ""
    """How it ended, with the last lines of its stderr; empty when it was told to end."""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
