"""The record at which a fork ends: found by the id of an answer, or by its text.

Rules: `sessions` §5.3 (SE-038 … SE-052).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bridge.sessions.chain import Node, Transcript, active_chain
from bridge.sessions.records import Record

_SEGMENT = re.compile(r"(.+):segment:[0-9]+", re.DOTALL)

Groups = dict[str, list[Node]]
"""The records of each answer by its id, in the order of the file."""


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """An answer as the client names it; `occurrence` counts equal texts on its branch, from 1."""

    message_id: str
    fingerprint: str | None = None
    occurrence: int | None = None


def read_fork_point(air: object) -> ForkPoint | None:
    """The `fork` object of `_meta.jetbrains.air`; None means the whole session (SE-038, SE-039)."""
    fork = air.get("fork") if isinstance(air, Mapping) else None
    if not isinstance(fork, Mapping) or isinstance(fork.get("version"), bool) or fork.get("version") != 1:
        return None
    message_id = _trimmed(fork.get("messageId"))
    if not message_id:
        return None
    return ForkPoint(
        message_id, _trimmed(fork.get("messageFingerprint")), _positive(fork.get("messageOccurrence"))
    )


def find_fork_record(
    point: ForkPoint, transcript: Transcript, live: Mapping[str, str] | None = None
) -> str | None:
    """The uuid of the last record that the fork keeps; None if no answer matches.

    `live` holds the records of answers of this run. The order of the places is SE-041; in each,
    the id as given goes before the id without its segment.
    """
    stored = _grouped(node for node in transcript.nodes if node.agent is None)
    active = _grouped(active_chain(transcript.nodes))
    ids = [point.message_id]
    if segment := _SEGMENT.fullmatch(point.message_id):
        ids.append(segment[1])
    for place in (live or {}, _last_records(active), _last_records(stored)):
        if found := next((place[each] for each in ids if each in place), None):
            return found
    return _by_fingerprint(point, transcript, stored) if point.fingerprint else None


def fingerprint(texts: Iterable[str]) -> str:
    """The fingerprint of a message that consists of these texts (SE-042, SE-049)."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return f"sha256:{digest.hexdigest()}"


def _by_fingerprint(point: ForkPoint, transcript: Transcript, stored: Groups) -> str | None:
    """The single answer with the text, or the single one that is the so-manyth on its branch."""
    equal = {
        message_id: nodes
        for message_id, nodes in stored.items()
        if fingerprint(_texts(transcript, nodes)) == point.fingerprint
    }
    if len(equal) > 1:
        parents = {node.uuid: node for node in transcript.nodes}
        equal = {
            message_id: nodes
            for message_id, nodes in equal.items()
            if point.occurrence
            and _occurrence(nodes[-1], parents, equal, point.occurrence) == point.occurrence
        }
    return next(iter(equal.values()))[-1].uuid if len(equal) == 1 else None


def _occurrence(node: Node, parents: Mapping[str, Node], equal: Groups, most: int) -> int:
    """How many of the equal answers are on the way from the node to its root, `most` + 1 at most."""
    met: set[str] = set()
    seen: set[str] = set()
    step: Node | None = node
    while step is not None and step.uuid not in seen and len(met) <= most:
        seen.add(step.uuid)
        if step.message_id in equal:
            met.add(step.message_id)
        step = parents.get(step.parent or "")
    return len(met)


def _grouped(nodes: Iterable[Node]) -> Groups:
    groups: Groups = {}
    for node in nodes:
        if node.message_id:
            groups.setdefault(node.message_id, []).append(node)
    return groups


def _last_records(groups: Groups) -> dict[str, str]:
    return {message_id: nodes[-1].uuid for message_id, nodes in groups.items()}


def _texts(transcript: Transcript, nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        yield from _text_blocks(transcript.record(node) or {})


def _text_blocks(record: Record) -> Iterator[str]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _trimmed(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _positive(value: object) -> int | None:
    """An integer of at least 1 (SE-045); JSON writes 1.0 for the same number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 1 and value == value // 1 and value != float("inf") else None
