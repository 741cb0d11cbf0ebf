"""INV-H1 … INV-H9 of both forms, whatever comes in which order."""

from collections import Counter
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import ROOT, EndChild, MessageChild, Place, SpawnChild, UpdateChild
from machines.children.delegations import Delegation, StoredAgent
from machines.children.forms.child_forms import FormName
from tests.machines.talk import CANCEL, DEAD, INITIALIZED, OPTIONS, Talk, begin, end, prepared, prompt

AGENTS = ("a", "b", "c")
STATUSES = ("completed", "failed", "killed", "disconnected")


class AnyOrder(RuleBasedStateMachine):
    """A turn with up to three subagents whose frames come in any order, twice, or never."""

    form: FormName = "rfd"

    def __init__(self) -> None:
        super().__init__()
        self.talk = Talk(prompt("T0"), begin("T0"), form=self.form)
        self.numbers = count(1)
        self.turn = 0
        self.launches: list[tuple[str, str | None]] = []
        self.messages: list[tuple[str, str]] = []
        self.calls: list[tuple[str, str]] = []
        self.asks: list[str] = []
        self.told: list[Any] = []
        self.announced: list[str] = []
        self.over: set[str] = set()
        self.open_calls: dict[str, str | None] = {}
        self.states: dict[str, str] = {}
        self.of_before: set[str] = set()
        self.repeats = False

    def feed(self, *events: Any) -> None:
        """Let something happen, and look at what is told."""
        for output in self.talk(*events):
            self.told.append(output)
            self.see(output)

    def see(self, output: Any) -> None:
        """Every output has to fit those before."""
        match output:
            case SpawnChild(parent, session):
                assert session not in self.announced, "INV-H2"
                self.assert_shows(parent)
                self.announced.append(session)
            case EndChild(parent, session):
                assert session in self.announced, "INV-H9"
                assert session not in self.over, "INV-H3"
                self.assert_shows(parent)
                left = [call for call, lane in self.open_calls.items() if self.leads_to(lane, session)]
                assert left == [], "INV-H8"
                self.over.add(session)
            case UpdateChild(parent, session):
                self.assert_shows(parent)
                self.see_state(session, output)
            case MessageChild(session, _, sender):
                assert session in self.announced, "INV-H1"
                assert sender is None or sender == ROOT or sender.child in self.announced
            case o.AskClient(_, place):
                self.assert_shows(place)
            case o.ShowCall(use):
                self.open_calls[use.call] = use.parent
            case o.ReturnCall(result):
                self.open_calls.pop(result.call, None)
            case o.CloseCall(call):
                self.open_calls.pop(call, None)
            case _:
                pass

    def see_state(self, session: str, update: UpdateChild) -> None:
        """INV-H4, but for what is told again."""
        before = self.states.get(session)
        if session not in self.announced:
            of_before = update.state is None and session in self.of_before
            assert update.state == "running" or of_before, "the announcement"
            self.announced.append(session)
        if update.state is None:
            return
        if self.repeats:
            assert update.state == before
            return
        repeats = before == update.state == "idle" and update.error is not None
        assert repeats or before != update.state, "INV-H4"
        self.states[session] = update.state

    def assert_shows(self, place: Place) -> None:
        """INV-H1, INV-H3, INV-H9: announced, and not over."""
        assert place == ROOT or place.child in self.announced, f"INV-H1: {place}"
        assert place.child not in self.over, f"INV-H3: {place}"

    def leads_to(self, lane: str | None, session: str) -> bool:
        agent = self.talk.session._children._agents.by_lane.get(lane or "")
        return agent is not None and session.split(":")[0] == agent.id

    # ── what may happen ──

    def fresh(self, kind: str) -> str:
        return f"{kind}{next(self.numbers)}"

    def lanes(self) -> list[str | None]:
        return [None, *(call for call, _ in self.launches)]

    @rule(pick=st.integers(0, 99), known=st.booleans())
    def launches_one(self, pick: int, known: bool) -> None:
        """A launch; sometimes its frame comes late."""
        lane = self.lanes()[pick % (len(self.launches) + 1)]
        call = self.fresh("c")
        self.launches.append((call, lane))
        if known:
            self.sees_launch(len(self.launches) - 1)

    @rule(outer=st.sampled_from(AGENTS), inner=st.sampled_from(AGENTS))
    def nests(self, outer: str, inner: str) -> None:
        """A subagent that starts another one."""
        for agent in (outer, inner):
            lane = self.launches[-1][0] if agent is inner and self.launches else None
            self.launches.append((self.fresh("c"), lane))
            self.sees_launch(len(self.launches) - 1)
            self.starts_last(agent)

    @initialize(which=st.sampled_from(("none", "told", "untold")))
    def takes_up(self, which: str) -> None:
        """The session is of before: two subagents were there, one of the other."""
        if which == "none":
            return
        outer = StoredAgent("a", Delegation("c0a", None, "Go.", "scout"), "explorer", None, "end_turn")
        inner = StoredAgent("b", Delegation("c0b", "c0a", "Go."), "explorer", "a")
        self.of_before = {"a", "b"}
        if which == "told" and self.form == "rfd":
            self.announced += ["a", "b"]
            self.states |= {"a": "idle", "b": "idle"}
        self.launches += [("c0a", None), ("c0b", "c0a")]
        self.feed(e.AgentsRestored((outer, inner), which == "told", 1000))

    @rule()
    def is_told_again(self) -> None:
        self.repeats = True
        self.feed(e.HistoryAnswered())
        self.repeats = False

    def starts_last(self, agent: str) -> None:
        """The last launch has its subagent."""
        facts = e.TaskFacts("local_agent", subagent_type="explorer")
        self.feed(e.TaskStarted(agent, self.launches[-1][0], True, True, None, "", facts))

    @precondition(lambda self: self.launches)
    @rule(pick=st.integers(0, 99))
    def sees_launch(self, pick: int) -> None:
        call, lane = self.launches[pick % len(self.launches)]
        told = {"description": "Help", "prompt": "Go.", "subagent_type": "explorer"}
        self.feed(e.ToolDispatched(e.ToolUse(call, "Agent", told, lane)))

    @precondition(lambda self: self.launches)
    @rule(
        pick=st.integers(0, 99), agent=st.sampled_from(AGENTS), background=st.booleans(), timed=st.booleans()
    )
    def starts(self, pick: int, agent: str, background: bool, timed: bool) -> None:
        call, _ = self.launches[pick % len(self.launches)]
        facts = e.TaskFacts("local_agent", subagent_type="explorer")
        run = f"{next(self.numbers):04}" if timed else ""
        self.feed(e.TaskStarted(agent, call, True, background, None, run, facts))

    @rule(agent=st.sampled_from(AGENTS))
    def sends(self, agent: str) -> None:
        call = self.fresh("m")
        self.messages.append((call, agent))
        self.feed(e.ToolDispatched(e.ToolUse(call, "SendMessage", {"to": agent, "message": "More."})))

    @precondition(lambda self: self.messages)
    @rule(pick=st.integers(0, 99), signal=st.integers(0, 3))
    def runs_again(self, pick: int, signal: int) -> None:
        call, agent = self.messages[pick % len(self.messages)]
        match signal:
            case 0:
                self.feed(e.TaskStarted(agent, call, True, True))
            case 1:
                self.feed(e.ToolReturned(call, structured={"resumedAgentId": agent}))
            case 2:
                self.feed(e.TaskMoved(agent, "running"))
            case _:
                self.feed(e.TaskEnded(agent, call=call))

    @rule(agent=st.sampled_from(AGENTS), status=st.sampled_from(STATUSES), pick=st.integers(0, 99))
    def ends(self, agent: str, status: str, pick: int) -> None:
        call = self.lanes()[pick % (len(self.launches) + 1)]
        error = "It broke." if pick % 3 else ""
        self.feed(e.TaskEnded(agent, status=status, call=call, error=error))

    @precondition(lambda self: self.launches)
    @rule(pick=st.integers(0, 99), agent=st.sampled_from(AGENTS), asks=st.booleans())
    def works(self, pick: int, agent: str, asks: bool) -> None:
        lane, _ = self.launches[pick % len(self.launches)]
        call = self.fresh("b")
        use = e.ToolUse(call, "Bash", {"command": "ls"}, lane)
        self.calls.append((call, lane))
        self.feed(e.MessageStarted(lane), e.ToolDispatched(use))
        if asks:
            ask = self.fresh("ask")
            self.asks.append(ask)
            self.feed(e.AskReceived(ask, e.ToolUse(call, "Bash"), OPTIONS, agent), prepared(ask))

    @precondition(lambda self: self.calls)
    @rule(pick=st.integers(0, 99), error=st.booleans())
    def returns(self, pick: int, error: bool) -> None:
        call, lane = self.calls[pick % len(self.calls)]
        self.feed(e.ToolReturned(call, "done", is_error=error, parent=lane))

    @precondition(lambda self: self.launches)
    @rule(pick=st.integers(0, 99), error=st.booleans())
    def launch_returns(self, pick: int, error: bool) -> None:
        call, lane = self.launches[pick % len(self.launches)]
        self.feed(e.ToolReturned(call, "done", is_error=error, parent=lane))

    @precondition(lambda self: self.asks)
    @rule(pick=st.integers(0, 99), withdrawn=st.booleans())
    def answers(self, pick: int, withdrawn: bool) -> None:
        ask = self.asks[pick % len(self.asks)]
        self.feed(e.AskWithdrawn(ask) if withdrawn else e.AskAnswered(ask, "allow-once"))

    @rule(rare=st.integers(0, 3))
    def cancels(self, rare: int) -> None:
        if rare == 0:
            self.feed(CANCEL)

    @rule()
    def next_turn(self) -> None:
        self.feed(end(f"T{self.turn}"))
        self.turn += 1
        self.feed(prompt(f"T{self.turn}"), begin(f"T{self.turn}"))

    @rule(rare=st.integers(0, 7))
    def dies(self, rare: int) -> None:
        if rare:
            return
        self.feed(DEAD)
        left = [session for session, state in self.states.items() if state not in {"idle", "unknown"}]
        assert left == [], "INV-H5"
        assert self.form == "rfd" or {*self.announced} == self.over, "INV-H5"
        self.turn += 1
        self.feed(prompt(f"T{self.turn}"), INITIALIZED, begin(f"T{self.turn}"))

    # ── what holds ──

    @invariant()
    def what_is_asked_appears_once(self) -> None:  # INV-H6
        asked = Counter((each.session, each.message) for each in self.told if isinstance(each, MessageChild))
        assert not asked or max(asked.values()) == 1

    @invariant()
    def one_session_for_an_agent(self) -> None:  # INV-H2
        assert self.form == "air" or {*self.announced} <= {*AGENTS}


class AnyOrderOfAir(AnyOrder):
    form = "air"


def case(walk: type[RuleBasedStateMachine]) -> Any:
    made = walk.TestCase
    made.settings = settings(made.settings, max_examples=settings().max_examples, stateful_step_count=40)
    return made


TestAnyOrder = case(AnyOrder)
TestAnyOrderOfAir = case(AnyOrderOfAir)
