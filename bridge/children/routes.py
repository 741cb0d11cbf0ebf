"""Which session an update goes to: the root, or that of the subagent whose lane it comes on.

A lane is the id of the call that a subagent's frames name as their parent. What comes on a lane
that leads nowhere yet waits, within limits, until its subagent is announced.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bridge.view.client import SessionClient

Update = Mapping[str, object]

PER_LANE = 32
LANES = 64
IN_ALL = 256
"""How many updates wait: on one lane, on how many lanes, and together (Routing 3)."""

_REMEMBERED = 4096

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Child:
    """The session of a subagent."""

    session: str
    is_over: bool = False


Owner = _Child | str | None
"""A subagent's session, a lane that leads nowhere yet, or the root."""


class Routes:
    """Sends the updates of one session, each where it belongs; `native` when subagents have sessions."""

    def __init__(self, client: SessionClient, *, native: bool) -> None:
        self._client = client
        self._native = native
        self._children: dict[str, _Child] = {}
        self._lanes: dict[str, _Child] = {}
        self._owners: dict[str, Owner] = {}
        self._waiting: dict[str, list[Update]] = {}
        self.dropped = 0
        """Updates that found no room, or whose subagent had ended."""

    def leads_to_child(self, lane: str | None) -> bool:
        """What comes on the lane is a subagent's, and never shown on the root."""
        return self._native and lane is not None

    def update(self, update: Update, lane: str | None = None) -> None:
        """Send an update of the root, or of whoever the lane leads to; a call stays where it appeared."""
        owner = self._owner(update, lane)
        match owner:
            case None:
                self._client.update(update)
            case _Child(session, is_over=False):
                self._client.update_in(session, update)
            case _Child(session):
                self._drop(f"the subagent {session} is over")
            case str():
                self._hold(owner, update)

    def open(self, session: str, lanes: Iterable[str]) -> None:
        """These lanes lead to the session; what waited on them goes first (Routing 4)."""
        child = self._children.setdefault(session, _Child(session))
        lanes = tuple(lanes)
        self._lanes.update(dict.fromkeys(lanes, child))
        for lane in lanes:
            for update in self._waiting.pop(lane, []):
                self.update(update, lane)

    def close(self, session: str) -> None:
        """Nothing more is shown in the session (INV-H3)."""
        if session in self._children:
            self._children[session].is_over = True

    def forget(self, lanes: Iterable[str | None]) -> None:
        """What waits on the lanes is nobody's."""
        for lane in lanes:
            if lane is not None:
                self._waiting.pop(lane, None)

    def surface(self, call: str, lane: str | None = None) -> None:
        """A request on the root is about to name the call: one without a place is of the root (Routing 1)."""
        owner = self._owners.get(call, lane)
        if owner is None or isinstance(owner, _Child) or owner in self._lanes:
            return
        self._own(call, None)
        waiting = self._waiting.get(owner, [])
        for update in [each for each in waiting if each.get("toolCallId") == call]:
            waiting.remove(update)
            self._client.update(update)

    def _owner(self, update: Update, lane: str | None) -> Owner:
        if not self._native:
            return None
        call = update.get("toolCallId")
        owner: Owner = lane
        if isinstance(call, str):
            owner = self._owners.get(call, lane)
        if isinstance(owner, str):
            owner = self._lanes.get(owner, owner)
        if isinstance(call, str) and (owner is not None or call in self._owners):
            self._own(call, owner)
        return owner

    def _own(self, call: str, owner: Owner) -> None:
        self._owners.pop(call, None)
        self._owners[call] = owner
        while len(self._owners) > _REMEMBERED:
            del self._owners[next(iter(self._owners))]

    def _hold(self, lane: str, update: Update) -> None:
        held = self._waiting.get(lane, [])
        full = lane not in self._waiting and len(self._waiting) >= LANES
        if full or len(held) >= PER_LANE or sum(map(len, self._waiting.values())) >= IN_ALL:
            self._drop(f"no room for what waits on {lane}")
            return
        held.append(update)
        self._waiting[lane] = held

    def _drop(self, reason: str) -> None:
        self.dropped += 1
        log.info("dropped an update (%d): %s", self.dropped, reason)
