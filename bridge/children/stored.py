"""What is stored of a subagent: what it is called, and how its last run ended (§8.4)."""

from collections.abc import Mapping
from dataclasses import replace

from bridge.messages.raw import said_in, text
from bridge.sessions.replay.delegated import Delegated
from bridge.sessions.replay.items import ToolResult
from bridge.sessions.replay.subagents import StoredSubagent
from machines.children.child_outputs import ChildEnd, ChildStop
from machines.children.delegations import Delegation, StoredAgent

_REFUSED = "The user doesn't want to"
"""How the result of a call begins that the user refused or stopped."""
_IN_BACKGROUND = "Async agent launched"
"""How the result of a launch begins that did not wait for the subagent."""


STOPS: Mapping[ChildEnd, ChildStop | None] = {
    "completed": "end_turn",
    "cancelled": "cancelled",
    "failed": "error",
    "disconnected": None,
}
"""The end of a run in the words of the public draft."""


def stored_agents(delegated: Delegated) -> tuple[StoredAgent, ...]:
    """All that may be asked again, whoever started one first (R.5)."""
    return tuple(_agent(delegated, call) for call in delegated.subagents)


def _agent(delegated: Delegated, call: str) -> StoredAgent:
    launch, subagent = delegated.launches[call], delegated.subagents[call]
    known = replace(
        launch,
        name=launch.name or subagent.name or "",
        description=launch.description or subagent.description or "",
    )
    parent = delegated.parent(launch)
    state, error = outcome(delegated, launch)
    stop = STOPS[state] if state is not None else None
    above = parent.agent_id if parent is not None else None
    return StoredAgent(subagent.agent_id, known, subagent.role or launch.role, above, stop, error)


def title_of(launch: Delegation, subagent: StoredSubagent) -> str | None:
    """Its name with its role, or the role alone (SA-030, SA-031)."""
    name, role = launch.name or subagent.name, subagent.role or launch.role
    return f"{name} ({role})" if name and role else name or role or None


def outcome(delegated: Delegated, launch: Delegation) -> tuple[ChildEnd | None, str | None]:
    """How its last run ended and why it failed; None when nobody knows.

    A notification counts first, then that the user stopped it, then the result of the launch.
    """
    notified, subagent = delegated.end(launch), delegated.subagents.get(launch.call)
    if notified is not None:
        return _notified(notified.status), notified.summary if notified.status == "failed" else None
    if subagent is not None and subagent.was_stopped:
        return "cancelled", None
    result = delegated.results.get(launch.call)
    return _returned(result) if result is not None else (None, None)


def _notified(status: str) -> ChildEnd:
    match status:
        case "completed" | "failed" | "disconnected":
            return status
        case _:
            return "cancelled"


def _returned(result: ToolResult) -> tuple[ChildEnd | None, str | None]:
    said = said_in(result.content)
    structured = result.structured if isinstance(result.structured, Mapping) else {}
    if result.is_error:
        return ("cancelled", None) if said.startswith(_REFUSED) else ("failed", said or None)
    waited = text(structured, "status") != "async_launched" and not said.startswith(_IN_BACKGROUND)
    return ("completed" if waited else None), None
