"""What subagents are asked to do, and by which calls: plain data between the calls and the subagents."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from machines.children.child_outputs import ChildStop
from machines.tools.tool_events import ToolReturned, ToolUse

LAUNCHES = frozenset({"Agent", "Task"})
"""The tools that start a subagent."""

MESSAGE = "SendMessage"
"""The tool that has one run again."""

_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class Delegation:
    """A call that has a subagent work: a launch, or with `to` a message to one."""

    call: str
    lane: str | None
    """Who made it: None for the root, else the launch of the subagent that did."""
    prompt: str = ""
    name: str = ""
    description: str = ""
    role: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """A subagent of a stored conversation: it ran in another process, and may run again in this one."""

    id: str
    launch: Delegation
    role: str = ""
    parent: str | None = None
    """Whose subagent it is: None for the root's."""
    stop: ChildStop | None = None
    """How its last run ended, as far as that is known."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AgentsRestored:
    """The subagents of the stored conversation that a session takes up, whoever started one first."""

    agents: tuple[StoredAgent, ...]
    shown: bool
    """The client was told of each, and that it is idle."""
    at: int = 0
    """Milliseconds since 1970: what distinguishes generations from those of before (M20)."""


@dataclass(frozen=True, slots=True)
class HistoryAnswered:
    """The request that had the history told was answered."""


@dataclass(slots=True)
class Delegations:
    """Those of one session, by their calls; the last so many."""

    by_call: dict[str, Delegation] = field(default_factory=dict)

    def note(self, use: ToolUse) -> Delegation | None:
        """Remember a use, if it is one."""
        if use.name in LAUNCHES:
            told = {key: _text(use.input, key) for key in ("prompt", "name", "description")}
            delegation = Delegation(use.call, use.parent, role=_text(use.input, "subagent_type"), **told)
        elif use.name == MESSAGE:
            text = _text(use.input, "message") or _text(use.input, "content")
            delegation = Delegation(use.call, use.parent, text, to=_text(use.input, "to"))
        else:
            return None
        self.by_call.pop(use.call, None)
        self.by_call[use.call] = delegation
        while len(self.by_call) > _REMEMBERED:
            del self.by_call[next(iter(self.by_call))]
        return delegation

    def get(self, call: str | None) -> Delegation | None:
        """The delegation of a call."""
        return self.by_call.get(call) if call is not None else None

    def launch(self, call: str | None) -> Delegation | None:
        """The delegation of a call that starts a subagent."""
        found = self.get(call)
        return found if found is not None and not found.to else None


def resumed_agent(result: ToolReturned) -> str | None:
    """The subagent that a result of SendMessage says runs again."""
    told = result.structured
    if not isinstance(told, Mapping) or "resumedAgentId" not in told:
        told = _told_in_text(result.content)
    agent = told.get("resumedAgentId")
    return agent if isinstance(agent, str) and agent and not result.is_error else None


def _told_in_text(content: object) -> Mapping[str, object]:
    blocks = content if isinstance(content, list) else [{"text": content}]
    for block in blocks:
        text = block.get("text") if isinstance(block, Mapping) else None
        if isinstance(text, str) and "resumedAgentId" in text:
            try:
                told = json.loads(text)
            except ValueError:
                continue
            if isinstance(told, Mapping):
                return told
    return {}


def _text(input: Mapping[str, object], key: str) -> str:
    value = input.get(key)
    return value if isinstance(value, str) else ""
