"""What a stored session was left in, model, effort and mode, read from the end of its transcript."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.sessions.records import Record, parse, read_backward

_OF_MODEL = (b'"assistant"',)
_OF_MODE = (b'"permissionMode"', b'"plan_mode_exit"', b'"human"')
"""What stands in the records that tell; the many others are not parsed."""


@dataclass(frozen=True, slots=True)
class LastChoices:
    """What is known of each; a concrete model id, a mode id as Claude Code writes it, a level of effort."""

    model: str | None = None
    mode: str | None = None
    effort: str | None = None


def last_choices(path: Path, end: str | None = None) -> LastChoices:
    """Model and effort of the last answer and the mode of the last prompt of the main thread.

    `end` is the uuid of the record with which a copy ends: what stands behind it tells nothing.
    Rules: `sessions` §4.5 and `config-and-auth` §4.2 (SE-029 … SE-033). A transcript that cannot
    be read tells nothing. Reads backward and no further than both need.
    """
    search = _Search(end)
    try:
        with path.open("rb") as file:
            for line in read_backward(file, file.seek(0, os.SEEK_END)):
                if any(mark in line for mark in search.marks) and (record := parse(line)):
                    search.see(record)
                if search.is_over:
                    break
    except OSError:
        pass
    return LastChoices(search.model, search.mode, search.effort)


class _Search:
    """What the records seen so far, the last ones first, have told."""

    def __init__(self, end: str | None) -> None:
        self._end = end
        self.model: str | None = None
        self.mode: str | None = None
        self.effort: str | None = None
        self._mode_is_settled = False
        self._plan_was_left = False

    @property
    def is_over(self) -> bool:
        return self.model is not None and self._mode_is_settled

    @property
    def marks(self) -> tuple[bytes, ...]:
        """What a line holds that can still tell something."""
        if self._end is not None:
            return (self._end.encode(),)
        of_model = _OF_MODEL if self.model is None else ()
        return of_model if self._mode_is_settled else of_model + _OF_MODE

    def see(self, record: Record) -> None:
        if self._end is not None and record.get("uuid") == self._end:
            self._end = None
        if self._end is not None or record.get("isSidechain"):
            return
        match record.get("type"):
            case "assistant":
                if self.model is None and (model := _concrete_model(record.get("message"))):
                    effort = record.get("effort")
                    self.model, self.effort = model, effort if isinstance(effort, str) else None
            case "user":
                self._see_prompt(record)
            case "attachment":
                attachment = record.get("attachment")
                if isinstance(attachment, dict) and attachment.get("type") == "plan_mode_exit":
                    self._plan_was_left = True

    def _see_prompt(self, record: Record) -> None:
        if self._mode_is_settled:
            return
        mode, origin = record.get("permissionMode"), record.get("origin")
        if isinstance(mode, str) and mode:
            self.mode = None if mode == "plan" and self._plan_was_left else mode
            self._mode_is_settled = True
        elif isinstance(origin, dict) and origin.get("kind") == "human":
            self._mode_is_settled = True  # an older one would be of another time


def _concrete_model(message: Any) -> str | None:
    """The model of an answer, unless it stands in angle brackets for none (SE-030)."""
    model = message.get("model") if isinstance(message, dict) else None
    return model if isinstance(model, str) and model and not model.startswith("<") else None
