"""Messages of prompts that were answered while Claude Code may still have them (M7, plain data).

`pending` waits in Claude Code's queue, `started` runs there, `zombie` was cancelled while it
ran and may still bring a result. A result covers all started and zombie messages at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from machines.events import CommandState

Entry = Literal["pending", "started", "zombie"]


@dataclass(slots=True)
class Ledger:
    """Who may still bring a result that belongs to no turn."""

    entries: dict[str, Entry] = field(default_factory=dict)
    unstopped: set[str] = field(default_factory=set)
    """Those that no interrupt was written for yet: their prompts were cancelled alone (M6.1)."""

    def __contains__(self, uuid: str) -> bool:
        return uuid in self.entries

    @property
    def is_empty(self) -> bool:
        """Nothing of an answered prompt is left in Claude Code."""
        return not self.entries

    def orphan(self, uuid: str, *, started: bool, stopped: bool) -> None:
        """Remember the message of a prompt that was answered before Claude Code was done."""
        self.entries[uuid] = "started" if started else "pending"
        if not stopped:
            self.unstopped.add(uuid)

    def stop(self, uuids: Iterable[str]) -> bool:
        """Whether one of these messages still has to be interrupted; it counts as done from now on."""
        found = {uuid for uuid in uuids if uuid in self.entries and uuid in self.unstopped}
        self.unstopped -= found
        return bool(found)

    def move(self, uuid: str, state: CommandState) -> None:
        """Follow `command_lifecycle` of a remembered message."""
        entry = self.entries.get(uuid)
        if entry is None or state == "queued":
            return
        if state == "started":
            self.entries[uuid] = "started"
        elif state == "cancelled" and entry == "started":
            self.entries[uuid] = "zombie"
        else:
            del self.entries[uuid]

    def consume(self, uuids: tuple[str, ...]) -> None:
        """Take in a result that is stamped with these messages."""
        named = any(uuid in self.entries for uuid in uuids)
        self.entries = {
            uuid: entry
            for uuid, entry in self.entries.items()
            if uuid not in uuids and not (named and entry != "pending")
        }

    def consume_unstamped(self) -> bool:
        """Take in a result without stamps; False when it can't be of a remembered message."""
        if not self.entries:
            return False
        if any(entry != "pending" for entry in self.entries.values()):
            self.entries = {uuid: entry for uuid, entry in self.entries.items() if entry == "pending"}
        else:
            del self.entries[next(iter(self.entries))]
        return True

    def clear(self) -> None:
        """A turn became active: what came before it is over."""
        self.entries.clear()
        self.unstopped.clear()
