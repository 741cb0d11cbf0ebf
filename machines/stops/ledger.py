"""Messages of prompts that were answered while Claude Code may still have them (M7, plain data).

`pending` waits in Claude Code's queue, `started` runs there, `zombie` was cancelled while it
ran and may still bring a result. A result covers all started and zombie messages at once.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from machines.events import CommandState

Entry = Literal["pending", "started", "zombie"]

BEHIND_ALL = sys.maxsize
"""The place of a message that was added to a prompt: it may run after all that were received since."""

CYCLE = ""
"""Stands for work that Claude Code started itself, which a cancel gave up and which may go on."""


@dataclass(slots=True)
class Orphan:
    """One such message."""

    place: int
    """Of its prompt in the order received: Claude Code takes messages up in that order."""
    entry: Entry = "pending"
    stopped: bool = True
    """An interrupt was written for it; not so when its prompt was cancelled alone (M6.1)."""


@dataclass(slots=True)
class Ledger:
    """Who may still bring a result that belongs to no turn."""

    orphans: dict[str, Orphan] = field(default_factory=dict)

    def __contains__(self, uuid: str) -> bool:
        return uuid in self.orphans

    def may_run(self, uuids: Sequence[str] = (), *, marked: bool) -> bool:
        """What runs may be of such messages, all that it names if any; `marked` when each tells its start."""
        if uuids:
            return self.orphans.keys() >= {*uuids}
        return any(orphan.entry != "pending" or not marked for orphan in self.orphans.values())

    def add(self, uuid: str, orphan: Orphan) -> None:
        """Remember the message of a prompt that was answered before Claude Code was done."""
        self.orphans[uuid] = orphan

    def stop(self, uuids: Iterable[str] | None = None) -> bool:
        """Whether an interrupt is due for these messages, which run together, or for all.

        One that was written for any of them meets all; from now on they count as stopped. None is
        due when they run together with another one.
        """
        named = [*(self.orphans if uuids is None else uuids)]
        found = [self.orphans[uuid] for uuid in named if uuid in self.orphans]
        due = bool(found) and len(found) == len(named) and not any(orphan.stopped for orphan in found)
        for orphan in found:
            orphan.stopped = True
        return due

    def move(self, uuid: str, state: CommandState) -> None:
        """Follow `command_lifecycle` of a remembered message."""
        orphan = self.orphans.get(uuid)
        if orphan is None or state == "queued":
            return
        if state == "started":
            orphan.entry = "started"
        elif state == "cancelled" and orphan.entry == "started":
            orphan.entry = "zombie"
        else:
            del self.orphans[uuid]

    def end_cycle(self) -> None:
        """Work that Claude Code started itself is over."""
        self.orphans.pop(CYCLE, None)

    def consume(self, uuids: tuple[str, ...]) -> None:
        """Take in a result that is stamped with these messages."""
        if any(uuid in self.orphans for uuid in uuids):
            self._drop_running()
        for uuid in uuids:
            self.orphans.pop(uuid, None)

    def consume_unstamped(self, head: int | None) -> bool:
        """Take in a result without stamps; False when it can't be of a remembered message.

        `head` is the place of the first prompt that waits: what came after it is not its turn yet.
        """
        if any(orphan.entry != "pending" for orphan in self.orphans.values()):
            self._drop_running()
            return True
        first = min(self.orphans, key=lambda uuid: self.orphans[uuid].place, default=None)
        if first is None or (head is not None and self.orphans[first].place > head):
            return False
        del self.orphans[first]
        return True

    def clear(self, before: int | None = None) -> None:
        """A turn became active: what came before it is over. Without a place, everything is."""
        self.orphans = {
            uuid: orphan
            for uuid, orphan in self.orphans.items()
            if before is not None and orphan.place > before
        }

    def _drop_running(self) -> None:
        self.orphans = {uuid: orphan for uuid, orphan in self.orphans.items() if orphan.entry == "pending"}
