"""What was streamed of a message, so that its consolidated form brings only the rest (S§10.2).

Claude Code streams the blocks of a message and repeats each block in a consolidated frame. A
lane is one conversation: the root (None), or a subagent under the id of its Agent call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ChunkKind = Literal["agent_message_chunk", "agent_thought_chunk"]

_KINDS: Mapping[str, ChunkKind] = {"text": "agent_message_chunk", "thinking": "agent_thought_chunk"}


@dataclass(slots=True)
class _Message:
    id: str
    blocks: dict[int, tuple[ChunkKind, list[str]]] = field(default_factory=dict)
    """Text blocks in their order; a consolidated one is taken out."""
    dropped: bool = False
    """A cancel stopped it midway: nothing more of it is shown."""


@dataclass(slots=True)
class MessageStream:
    """The message that streams on each lane, and whether a turn has shown anything yet."""

    lanes: dict[str | None, _Message] = field(default_factory=dict)
    delivered: bool = False
    """The active turn has put text on the screen."""

    def start(self, lane: str | None, message_id: str) -> None:
        """A message begins to stream."""
        self.lanes[lane] = _Message(message_id)

    def streams(self, lane: str | None, message_id: str) -> bool:
        """The message is the one that streams on the lane."""
        message = self.lanes.get(lane)
        return message is not None and message.id == message_id

    def message_id(self, lane: str | None) -> str | None:
        """Id of the message that streams on the lane."""
        message = self.lanes.get(lane)
        return message.id if message is not None else None

    def drop(self, lane: str | None) -> None:
        """Show nothing more of the message that streams, also after the cancel is over (M6)."""
        message = self.lanes.get(lane)
        if message is not None:
            message.dropped = True

    def append(self, lane: str | None, index: int, block: str, text: str) -> ChunkKind | None:
        """Remember a delta; None when there is nothing to show (C12)."""
        kind = _KINDS.get(block)
        message = self.lanes.get(lane)
        if kind is None or not text or message is None or message.dropped:
            return None
        entry = message.blocks.get(index)
        if entry is None:
            entry = message.blocks[index] = (kind, [])
        entry[1].append(text)
        self.delivered = True
        return kind

    def rest(self, lane: str | None, message_id: str, block: str, text: str) -> tuple[ChunkKind, str] | None:
        """What of a consolidated block was not streamed; each streamed block counts once."""
        kind = _KINDS.get(block)
        if kind is None or not text:
            return None
        message = self.lanes.get(lane)
        if message is not None and message.id == message_id:
            if message.dropped:
                return None
            for index, (streamed_kind, parts) in message.blocks.items():
                if streamed_kind == kind:
                    del message.blocks[index]
                    text = text[_common_prefix("".join(parts), text) :]
                    break
        if not text:
            return None
        self.delivered = True
        return kind, text

    def reset(self) -> None:
        """A turn became active; the message that streams goes on."""
        self.delivered = False


def chunk(kind: str, text: str, message_id: str, lane: str | None = None) -> dict[str, object]:
    """One chunk of a message; on the root session a subagent's text names its Agent call."""
    update: dict[str, object] = {
        "sessionUpdate": kind,
        "content": {"type": "text", "text": text},
        "messageId": message_id,
    }
    if lane is not None:
        update["_meta"] = {"claudeCode": {"parentToolUseId": lane}}
    return update


def _common_prefix(streamed: str, text: str) -> int:
    if text.startswith(streamed):
        return len(streamed)
    return next((i for i, (a, b) in enumerate(zip(streamed, text, strict=False)) if a != b), len(text))
