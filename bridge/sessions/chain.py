"""Which records of a transcript are the conversation: the active chain since the last compaction.

Every record names its parent, so a transcript is a forest: answers that were taken back, retried
or cancelled are dead branches, the results of parallel calls fork from the chain. The rules are
those by which Claude Code resumes (`sessions` §8, §14):

1. The leaf is the last answer or prompt of the main thread that nothing in the file continues.
2. The chain is the way from the leaf to the root. A compaction starts a root of its own.
3. What a compaction preserved word for word comes behind its summary.
4. Calls and results of an answer on the chain belong to it also when the way passed them by.

Damage costs no more than itself: where a parent is missing, the record before it in the file
takes its place, and a cycle ends the way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bridge.sessions.records import Line, Record, parse, read_lines


@dataclass(frozen=True, slots=True)
class Node:
    """What the chain needs to know of a record, and where its line is."""

    uuid: str
    parent: str | None
    type: str
    line: tuple[int, int] = (0, 0)
    """Offset and length in bytes."""
    agent: str | None = None
    """The subagent that wrote it; empty for one without a name, None in the main thread."""
    hidden: bool = False
    """Never a leaf: written for the model (`isMeta`) or by a member of a team."""
    message_id: str | None = None
    """The id of the answer that it is a part of; only answers have one."""
    model: str | None = None
    calls: tuple[str, ...] = ()
    """Tool calls that it makes."""
    answers: tuple[str, ...] = ()
    """Tool calls whose results it holds."""
    is_boundary: bool = False
    """The conversation was compacted here."""
    preserved: tuple[str, tuple[str, ...]] | None = None
    """Of a boundary: the record behind which preserved ones belong, and these."""

    @property
    def is_turn(self) -> bool:
        """A prompt, a result or a part of an answer."""
        return self.type in ("user", "assistant")


class Transcript:
    """An open transcript: an index of its records, which are read again one by one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        end = file.seek(0, 2)
        self.nodes = tuple(node for line in read_lines(file, end) if (node := _read_node(line)))
        """In the order of the file."""

    def holds(self, node: Node, *words: bytes) -> bool:
        """Whether one of the words stands anywhere in the record; far cheaper than to parse it."""
        offset, length = node.line
        self._file.seek(offset)
        line = self._file.read(length)
        return any(word in line for word in words)

    def record(self, node: Node) -> Record | None:
        """The whole record; None if the file is no longer what it was."""
        offset, length = node.line
        self._file.seek(offset)
        record = parse(self._file.read(length))
        return record if record and record.get("uuid") == node.uuid else None


@contextmanager
def open_transcript(path: Path) -> Iterator[Transcript]:
    """The transcript as it is now; raises `OSError` when it cannot be read."""
    with path.open("rb") as file:
        yield Transcript(file)


def active_chain(nodes: Sequence[Node], *, of_agent: bool = False) -> list[Node]:
    """The conversation in its order, from the last compaction on.

    `of_agent`: the file is a subagent's own, so its records are the main thread.
    """
    main = [node for node in nodes if of_agent or node.agent is None]
    known = {node.uuid: node for node in main}
    places = {node.uuid: place for place, node in enumerate(main)}
    leaf = _leaf(main, known, places)
    if leaf is None:
        return []
    chain = _with_preserved(_way_up(leaf, main, known, places), known)
    return _with_parallel_parts(chain, main)


def _leaf(main: Sequence[Node], known: Mapping[str, Node], places: Mapping[str, int]) -> Node | None:
    continued = {node.parent for node in main}
    nearest: dict[str, Node | None] = {}
    ends = (node for uuid, node in known.items() if uuid not in continued)
    leaves = [leaf for end in ends if (leaf := _nearest_turn(end, known, nearest))]
    candidates = leaves or [node for node in known.values() if node.is_turn]  # all in cycles
    shown = [node for node in candidates if not node.hidden]
    return max(shown or candidates, key=lambda node: places[node.uuid], default=None)


def _nearest_turn(
    node: Node | None, known: Mapping[str, Node], nearest: dict[str, Node | None]
) -> Node | None:
    """The node or its nearest ancestor that is a turn; `nearest` keeps the search linear."""
    passed: list[str] = []
    while node is not None and not node.is_turn and node.uuid not in nearest:
        nearest[node.uuid] = None  # also ends a cycle
        passed.append(node.uuid)
        node = known.get(node.parent or "")
    found = node if node is None or node.is_turn else nearest[node.uuid]
    nearest.update(dict.fromkeys(passed, found))
    return found


def _way_up(
    leaf: Node, main: Sequence[Node], known: Mapping[str, Node], places: Mapping[str, int]
) -> list[Node]:
    """From the last boundary or the root down to the leaf."""
    way: list[Node] = []
    seen: set[str] = set()
    node: Node | None = leaf
    while node is not None and node.uuid not in seen:
        way.append(node)
        seen.add(node.uuid)
        if node.is_boundary or node.parent is None:
            break
        before = places[node.uuid] - 1
        node = known.get(node.parent) or (main[before] if before >= 0 else None)
    return way[::-1]


def _with_preserved(chain: list[Node], known: Mapping[str, Node]) -> list[Node]:
    if not chain[0].preserved:
        return chain
    anchor, uuids = chain[0].preserved
    seen = {node.uuid for node in chain}
    kept = [known[uuid] for uuid in dict.fromkeys(uuids) if uuid in known and uuid not in seen]
    return _inserted(chain, {anchor: kept})


def _with_parallel_parts(chain: list[Node], main: Sequence[Node]) -> list[Node]:
    """Put in, behind the last part of each answer, its other parts and the results of its calls."""
    on_chain = {node.uuid for node in chain}
    answered = {call for node in chain for call in node.answers}
    anchors = {node.message_id: node.uuid for node in chain if node.message_id}
    owners = _call_owners(main)
    added: dict[str, tuple[list[Node], list[Node]]] = {}
    for node in main:
        if node.uuid in on_chain:
            continue
        on_chain.add(node.uuid)
        owner = next(
            (owner for call in node.answers if call not in answered and (owner := owners.get(call))), ""
        )
        anchor = anchors.get(node.message_id or owner)
        if anchor is not None:
            added.setdefault(anchor, ([], []))[bool(node.answers)].append(node)
            answered.update(node.answers)
    return _inserted(chain, {anchor: [*parts, *results] for anchor, (parts, results) in added.items()})


def _call_owners(main: Iterable[Node]) -> dict[str, str | None]:
    """The answer that makes each call; None where two claim it."""
    owners: dict[str, str | None] = {}
    for node in main:
        for call in node.calls:
            owners[call] = node.message_id if owners.get(call, node.message_id) == node.message_id else None
    return owners


def _inserted(chain: list[Node], behind: Mapping[str, list[Node]]) -> list[Node]:
    return [each for node in chain for each in (node, *behind.get(node.uuid, ()))]


def _read_node(line: Line) -> Node | None:
    """The node of a line that holds a record with an id."""
    if b'"uuid"' not in line.data:
        return None
    record = parse(line.data)
    uuid = _text(record, "uuid")
    if record is None or not uuid:
        return None
    kind = _text(record, "type") or ""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    is_answer = kind == "assistant"
    is_boundary = kind == "system" and record.get("subtype") == "compact_boundary"
    return Node(
        uuid=uuid,
        parent=_text(record, "parentUuid"),
        type=kind,
        line=(line.offset, len(line.data)),
        agent=(_text(record, "agentId") or "") if record.get("isSidechain") else None,
        hidden=bool(record.get("isMeta") or record.get("teamName")),
        message_id=(_text(message, "id") or uuid) if is_answer else None,
        model=_text(message, "model") if is_answer else None,
        calls=_ids(blocks, "tool_use", "id"),
        answers=_ids(blocks, "tool_result", "tool_use_id"),
        is_boundary=is_boundary,
        preserved=_preserved(record.get("compactMetadata")) if is_boundary else None,
    )


def _preserved(metadata: object) -> tuple[str, tuple[str, ...]] | None:
    kept = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
    anchor = _text(kept, "anchorUuid")
    uuids = kept.get("uuids") if isinstance(kept, dict) else None
    if not anchor or not isinstance(uuids, list):
        return None
    return anchor, tuple(uuid for uuid in uuids if isinstance(uuid, str))


def _ids(blocks: Iterable[Record], kind: str, key: str) -> tuple[str, ...]:
    found = (block[key] for block in blocks if block.get("type") == kind and key in block)
    return tuple(each for each in found if isinstance(each, str))


def _text(values: object, key: str) -> str | None:
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, str) else None
