"""A stored conversation with those of its subagents, each told right behind its launch (R.3, R.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

from bridge.sessions.chain import Transcript, open_transcript
from bridge.sessions.replay.delegated import Delegated
from bridge.sessions.replay.items import Item, ToolUse
from bridge.sessions.replay.reader import replay
from bridge.sessions.replay.subagents import StoredSubagent, replay_subagent
from machines.children.delegations import Delegation


@dataclass(frozen=True, slots=True)
class Told:
    """An item of the conversation, or of the subagent whose launch is the lane."""

    item: Item
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class Launched:
    """The call that was told last starts a subagent; without a history of its own it has none."""

    launch: Delegation
    subagent: StoredSubagent | None


def told(transcript: Transcript, delegated: Delegated) -> Iterator[Told | Launched]:
    """Everything in the order in which a client is told of it; each subagent comes once."""
    waiting = dict(delegated.subagents)
    yield from _told(replay(transcript), None, delegated, waiting)


def _told(
    items: Iterator[Item], lane: str | None, delegated: Delegated, waiting: dict[str, StoredSubagent]
) -> Iterator[Told | Launched]:
    for item in items:
        yield Told(item, lane)
        launch = delegated.launches.get(item.id) if isinstance(item, ToolUse) else None
        if launch is None or launch.lane != lane:
            continue
        subagent = waiting.pop(launch.call, None)
        yield Launched(launch, subagent)
        if subagent is not None:
            yield from _own(subagent, launch.call, delegated, waiting)


def _own(
    subagent: StoredSubagent, lane: str, delegated: Delegated, waiting: dict[str, StoredSubagent]
) -> Iterator[Told | Launched]:
    try:
        with open_transcript(subagent.transcript) as own:
            yield from _told(replay_subagent(subagent, own), lane, delegated, waiting)
    except OSError:
        return  # it went away meanwhile: what was told of it stands
