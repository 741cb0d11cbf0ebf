"""The subagents that have a session of their own: who is shown where, and what each of them hears.

1. Whose subagent it is follows from the call that started it; until that is known, nothing of it is
   told (INV-H1), and no parent is guessed.
2. A subagent of a subagent waits until its parent is announced (INV-H9).
3. The end of an earlier run ends nothing (INV-H7); the task table filters those.
4. Without a form nothing is tracked: everything shows on the root.
"""

from collections.abc import Collection

from machines.children.agents import Agent, Agents
from machines.children.child_outputs import ROOT, Place, ShowFailedLaunch
from machines.children.delegations import LAUNCHES, AgentsRestored, Delegation, Delegations
from machines.children.forms.child_forms import ChildForm
from machines.events import ToolUse
from machines.feed import Feed
from machines.outputs import (
    CloseCall,
    DenyCall,
    Ignored,
    RefineCall,
    ReportHook,
    ReportProgress,
    ReturnCall,
    ShowCall,
)
from machines.tasks.live_tasks import LiveTasks
from machines.tasks.task_events import TaskEnded, TaskEvent, TaskFacts, TaskMoved, TaskStarted
from machines.tools.calls import Calls

CallOutput = ShowCall | RefineCall | ReportProgress | ReportHook | ReturnCall | DenyCall | CloseCall

_REMEMBERED = 1024


class Children:
    """All subagents of one session, for one client."""

    def __init__(self, feed: Feed, calls: Calls, form: ChildForm | None) -> None:
        self._feed = feed
        self._calls = calls
        self._form = form
        self._agents = Agents()
        self._delegations = Delegations()
        self._hidden: dict[str, ToolUse] = {}

    # ── where something belongs ──

    @property
    def keeps_requests(self) -> bool:
        """A cancel leaves the requests of a subagent in the background to its end (INV-X4)."""
        return self._form is not None and not self._form.ends_at_cancel

    def place_of(self, agent: str | None) -> Place:
        """Where a request of an agent is shown: on the root, unless the agent has a session."""
        found = self._agents.by_id.get(agent) if agent is not None else None
        if self._form is None or found is None or not self._form.is_shown(found):
            return ROOT
        return self._form.place(found)

    def lane_of(self, agent: str | None) -> str | None:
        """The lane that an agent's frames come on."""
        found = self._agents.by_id.get(agent) if agent is not None else None
        return next(iter(found.lanes), None) if found is not None else None

    def is_over(self, lane: str | None) -> bool:
        """Nothing new of that subagent is shown any more (INV-H3)."""
        agent = self._agents.by_lane.get(lane) if lane is not None else None
        return self._form is not None and agent is not None and self._form.is_over(agent)

    # ── subagents of a stored conversation ──

    def restore(self, event: AgentsRestored, tasks: LiveTasks) -> None:
        """These ran before, and may run again here (R.5)."""
        tasks.restore({stored.id: stored.launch.call for stored in event.agents})
        if self._form is None:
            return
        for stored in event.agents:
            agent = self._agents.by_id.get(stored.id)
            if agent is None:
                facts = TaskFacts(subagent_type=stored.role)
                start = TaskStarted(stored.id, stored.launch.call, True, facts=facts)
                agent = Agent(stored.id, start, launch=stored.launch)
                agent.parent = self._agents.by_id.get(stored.parent or "")
                agent.add_lane(stored.launch.call)
                self._agents.add(agent)
                self._delegations.by_call.setdefault(stored.launch.call, stored.launch)
            elif self._form.is_waiting(agent):
                continue  # it runs, and is announced as soon as its parent is known
            self._form.restore(agent, stored, shown=event.shown, at=event.at)

    def repeat(self) -> None:
        """Tell what each does now, to a client that was told the history (R.4)."""
        if self._form is not None:
            for agent in self._agents.by_id.values():
                self._form.repeat(agent)

    # ── calls ──

    def show(self, output: CallOutput) -> None:
        """Pass on what a call reports, unless the subagent is shown in its place (SA-015)."""
        if self._form is None or not self._form.hides_launches:
            self._feed.put(output)
            return
        match output:
            case ShowCall(use, ask=None) if use.name in LAUNCHES:
                self._hide(use)
            case RefineCall(use) if use.call in self._hidden:
                self._hide(use)
            case ReturnCall(result, "failed") if result.call in self._hidden:
                if result.call not in self._agents.by_lane:
                    self._feed.put(ShowFailedLaunch(self._hidden[result.call], result))
            case _ if _call_of(output) in self._hidden:
                pass
            case _:
                self._feed.put(output)

    def reveal(self, use: ToolUse, ask: str) -> None:
        """A request is about to name a launch: it has to be there."""
        if self._hidden.pop(use.call, None) is not None:
            self._feed.put(ShowCall(use, ask=ask))

    def dispatched(self, use: ToolUse) -> None:
        """A whole tool use came: maybe the one that a subagent waits for."""
        delegation = self._delegations.note(use) if self._form is not None else None
        if self._form is None or delegation is None or delegation.to:
            return
        agent = self._agents.by_lane.get(use.call)
        if agent is not None and agent.start.call == use.call:
            agent.launch = delegation
            if not self._form.is_waiting(agent):
                self._form.rename(agent)
        self._announce_all()

    # ── runs ──

    def follow(self, event: TaskEvent) -> None:
        """Something happened to a task."""
        if self._form is None:
            return
        agent = self._agents.by_id.get(event.task)
        match event:
            case TaskStarted(is_subagent=True) if agent is None:
                self._register(event)
            case TaskStarted(is_subagent=True) if agent is not None:
                self._start_again(agent, event)
            case TaskMoved(status="running") if agent is not None and not self._form.is_waiting(agent):
                self._agents.add(agent)
                self._form.wake(agent, self._last_message(agent))
            case TaskEnded() if agent is not None:
                waited = self._form.is_waiting(agent)
                self._form.finish(agent, event)
                if waited and not self._form.is_over(agent):
                    self._agents.drop(agent)
            case _:
                pass

    def resume(self, task: str, call: str) -> None:
        """The result of a message says that a subagent runs again."""
        agent = self._agents.by_id.get(task)
        if agent is not None:
            self._delegate(agent, call, "")

    def speak(self, lane: str | None) -> None:
        """A message of a subagent begins."""
        agent = self._agents.by_lane.get(lane) if lane is not None else None
        if self._form is not None and agent is not None:
            self._form.speak(agent)

    # ── requests ──

    def ask(self, agent: str | None) -> None:
        """A request of the agent is about to be sent."""
        found = self._agents.by_id.get(agent) if agent is not None else None
        if self._form is not None and found is not None:
            self._form.ask(found)

    def sync_requests(self, asking: Collection[str], *, withdrawn: bool) -> None:
        """These agents have an open request; of the others the last one ended."""
        if self._form is not None:
            self._form.close_asks(asking, withdrawn=withdrawn)

    # ── how all of them end ──

    def cancel(self) -> None:
        """The user cancelled everything: the innermost hears it first."""
        if self._form is not None:
            for agent in self._agents.last_first():
                self._form.cancel(agent)

    def lose(self, *, cancelled: bool) -> None:
        """The process is gone, or its conversation: whoever began last ends first (INV-H5)."""
        if self._form is None:
            return
        for agent in self._agents.last_first():
            waited = self._form.is_waiting(agent)
            self._form.lose(agent, cancelled=cancelled)
            if waited and not self._form.is_over(agent):
                self._agents.drop(agent)

    # ── steps ──

    def _hide(self, use: ToolUse) -> None:
        self._hidden[use.call] = use
        while len(self._hidden) > _REMEMBERED:
            del self._hidden[next(iter(self._hidden))]

    def _register(self, event: TaskStarted) -> None:
        assert self._form is not None
        if event.call is not None and self._calls.was_dropped(event.call):
            return  # a cancel stopped the work that starts it: nothing new appears (INV-X1)
        agent = Agent(event.task, event, event.run, launch=self._delegations.launch(event.call))
        agent.add_lane(event.call)
        self._agents.add(agent)
        self._form.register(agent)
        self._announce_all()

    def _announce_all(self) -> None:
        """Announce whoever can be; each may be what another one waits for."""
        while any(self._announce(agent) for agent in tuple(self._agents.by_id.values())):
            pass

    def _announce(self, agent: Agent) -> bool:
        form = self._form
        if form is None or not form.is_waiting(agent):
            return False
        above = self._parent(agent)
        if above is None or (above.agent is not None and form.is_waiting(above.agent)):
            return False
        agent.parent = above.agent
        form.announce(agent, form.place(above.agent) if above.agent is not None else ROOT)
        return True

    def _parent(self, agent: Agent) -> "_Above | None":
        """Whose subagent it is; None while nobody knows."""
        if agent.start.call is None:
            return _Above(self._agents.by_id.get(agent.start.parent or ""))
        if agent.launch is None:
            agent.launch = self._delegations.launch(agent.start.call)
        return self._maker(agent.launch)

    def _maker(self, delegation: Delegation | None) -> "_Above | None":
        if delegation is None:
            return None
        if delegation.lane is None:
            return _Above(None)
        agent = self._agents.by_lane.get(delegation.lane)
        return _Above(agent) if agent is not None else None

    def _start_again(self, agent: Agent, event: TaskStarted) -> None:
        assert self._form is not None
        if event.run and event.run == agent.run:
            self._feed.put(Ignored("Child", "started", event))
            return
        agent.run = event.run
        if self._form.is_waiting(agent):
            agent.add_lane(event.call)
            self._agents.add(agent)
        else:
            self._delegate(agent, event.call, event.facts.prompt)

    def _delegate(self, agent: Agent, call: str | None, text: str) -> None:
        assert self._form is not None
        delegation = self._delegations.get(call)
        agent.add_lane(call)
        self._agents.add(agent)
        if delegation is None and call is not None:
            delegation = Delegation(call, None, text)
            sender = None
        else:
            above = self._maker(delegation)
            sender = None if above is None else self._place(above)
        prompt = text or (delegation.prompt if delegation is not None else "")
        self._form.delegate(agent, delegation, prompt, sender)

    def _place(self, above: "_Above") -> Place | None:
        if above.agent is None:
            return ROOT
        assert self._form is not None
        return self._form.place(above.agent) if self._form.is_shown(above.agent) else None

    def _last_message(self, agent: Agent) -> Delegation | None:
        names = {agent.id, agent.name} - {""}
        sent = [each for each in self._delegations.by_call.values() if each.to in names]
        return sent[-1] if sent else None


class _Above:
    """Who made a call: a subagent, or with None the root."""

    __slots__ = ("agent",)

    def __init__(self, agent: Agent | None) -> None:
        self.agent = agent


def _call_of(output: CallOutput) -> str:
    match output:
        case ShowCall(use) | RefineCall(use):
            return use.call
        case ReportProgress(target=call) | CloseCall(call=call):
            return call
        case ReportHook(hook):
            return hook.call
        case ReturnCall(result):
            return result.call
        case DenyCall(denial):
            return denial.call
