"""Which subagents a stored conversation started, what each was asked later, and how each ended.

Rules: `lifecycles` R.3 … R.5, `sessions` §8.4. A subagent is told at its launch with all that it
ever did, so what follows in the conversation has to be known before. Only the launches that can be
reached from the conversation count; each subagent is visited once.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from bridge.sessions.chain import Node, Transcript, open_transcript
from bridge.sessions.replay.items import TaskEnd, ToolResult, ToolUse
from bridge.sessions.replay.reader import replay
from bridge.sessions.replay.subagents import StoredSubagent, replay_subagent
from machines.children.delegations import Delegation, Delegations, resumed_agent
from machines.tools import tool_events as t

DEEPEST = 32
"""How many subagents may have started one another; whoever is further down is not told."""

_DELEGATING = (b'"Agent"', b'"Task"', b'"SendMessage"')
_NOTIFYING = (b"<task-notification>",)


@dataclass(slots=True)
class Delegated:
    """What the calls of a conversation say of its subagents; a lane is the launch of one."""

    launches: dict[str, Delegation] = field(default_factory=dict)
    """Every launch, in the order of the conversations."""
    subagents: dict[str, StoredSubagent] = field(default_factory=dict)
    """Those with a transcript and a file about their launch, by launch; whoever started one comes first."""
    results: dict[str, ToolResult] = field(default_factory=dict)
    """Of launches."""
    sent: dict[str, list[Delegation]] = field(default_factory=dict)
    """The messages that reached a subagent, by its id or by the name that they were sent to."""
    ends: dict[str, TaskEnd] = field(default_factory=dict)
    """The last notification of each subagent, by its id."""

    @property
    def missing(self) -> int:
        """How many that were started have no history."""
        failed = {call for call, result in self.results.items() if result.is_error}
        return len(self.launches.keys() - self.subagents.keys() - failed)

    def parent(self, launch: Delegation) -> StoredSubagent | None:
        """Whose subagent it is; None for the root's."""
        return self.subagents.get(launch.lane) if launch.lane is not None else None

    def asked(self, subagent: StoredSubagent) -> list[Delegation]:
        """The messages that reached a subagent."""
        launch = self.launches[subagent.call or ""]
        names = {subagent.agent_id: None, launch.name or subagent.name: None}
        return [each for name in names if name for each in self.sent.get(name, ())]

    def end(self, launch: Delegation) -> TaskEnd | None:
        """The last notification of the subagent, if its end was notified."""
        stored = self.subagents.get(launch.call)
        found = self.ends.get(stored.agent_id) if stored is not None else None
        return found or next((end for end in self.ends.values() if end.call == launch.call), None)


def delegated(transcript: Transcript, subagents: Sequence[StoredSubagent]) -> Delegated:
    """Read all that the conversation and its subagents delegated; skips what delegates nothing."""
    found = Delegated()
    by_call = {subagent.call: subagent for subagent in subagents if subagent.call is not None}
    _survey(found, transcript, None)
    waiting = deque((call, 1) for call in found.launches)
    while waiting:
        call, depth = waiting.popleft()
        subagent = by_call.pop(call, None)
        if subagent is None or depth > DEEPEST:
            continue
        found.subagents[call] = subagent
        known = set(found.launches)
        try:
            with open_transcript(subagent.transcript) as own:
                _survey(found, own, subagent)
        except OSError:
            del found.subagents[call]  # as if it had no history
        waiting.extend((launch, depth + 1) for launch in found.launches if launch not in known)
    return found


def _survey(found: Delegated, transcript: Transcript, subagent: StoredSubagent | None) -> None:
    """Read one conversation: of a subagent, or with None the main one."""
    lane = subagent.call if subagent is not None else None
    delegations = Delegations()
    calls: set[str] = set()

    def matters(node: Node) -> bool:
        if node.type == "user":
            answers = not calls.isdisjoint(node.answers)
            return answers or (not node.answers and transcript.holds(node, *_NOTIFYING))
        if not node.calls or not transcript.holds(node, *_DELEGATING):
            return False
        calls.update(node.calls)
        return True

    read = replay(transcript, only=matters)
    for item in read if subagent is None else replay_subagent(subagent, transcript, matters):
        match item:
            case ToolUse(id, name, input):
                delegation = delegations.note(t.ToolUse(id, name, input, lane))
                if delegation is not None and not delegation.to:
                    found.launches.setdefault(id, delegation)
            case ToolResult(call) if call in found.launches:
                found.results[call] = item
            case ToolResult(call) if (delegation := delegations.get(call)) is not None:
                _deliver(found, delegation, item)
            case TaskEnd(task):
                found.ends[task] = item
            case _:
                pass


def _deliver(found: Delegated, message: Delegation, result: ToolResult) -> None:
    """A message that reached a subagent."""
    if not result.is_error:
        agent = resumed_agent(t.ToolReturned(result.call, result.content, structured=result.structured))
        found.sent.setdefault(agent or message.to, []).append(message)
