"""The subagents of one session, and the calls that lead to each: plain data of their coordinator."""

from dataclasses import dataclass, field

from machines.children.child_outputs import ChildEnd
from machines.children.delegations import Delegation
from machines.tasks.task_events import TaskEnded, TaskStarted


@dataclass(slots=True, eq=False)
class Agent:
    """One subagent; its id outlives every run."""

    id: str
    start: TaskStarted
    """Of its first run."""
    run: str = ""
    """Its latest one."""
    lanes: list[str] = field(default_factory=list)
    """Every call that its frames may name as their parent."""
    parent: "Agent | None" = None
    """Whose subagent it is: None for the root's, and until it is announced."""
    launch: Delegation | None = None

    def add_lane(self, call: str | None) -> None:
        """Another call leads to it."""
        if call is not None and call not in self.lanes:
            self.lanes.append(call)

    @property
    def name(self) -> str:
        """What it was called by whoever started it."""
        return self.launch.name if self.launch is not None else ""

    @property
    def role(self) -> str:
        """What kind of subagent it is."""
        return self.start.facts.subagent_type or (self.launch.role if self.launch is not None else "")

    @property
    def description(self) -> str:
        """What it is there for, in a few words."""
        return (self.launch.description if self.launch is not None else "") or self.start.facts.description

    @property
    def prompt(self) -> str:
        """What it was asked first."""
        return self.start.facts.prompt or (self.launch.prompt if self.launch is not None else "")


@dataclass(slots=True)
class Agents:
    """All of them, the last one to begin last."""

    by_id: dict[str, Agent] = field(default_factory=dict)
    by_lane: dict[str, Agent] = field(default_factory=dict)

    def add(self, agent: Agent) -> None:
        """It begins, or begins again."""
        self.by_id.pop(agent.id, None)
        self.by_id[agent.id] = agent
        self.by_lane.update(dict.fromkeys(agent.lanes, agent))

    def drop(self, agent: Agent) -> None:
        """It is never shown."""
        del self.by_id[agent.id]
        for lane in agent.lanes:
            self.by_lane.pop(lane, None)

    def last_first(self) -> list[Agent]:
        """Whoever began last comes first."""
        return [*reversed(self.by_id.values())]


def end_of(event: TaskEnded) -> ChildEnd:
    """How a run ended, in one of four words."""
    match event.status:
        case "completed" | "failed" | "disconnected":
            return event.status
        case _:
            return "cancelled"
