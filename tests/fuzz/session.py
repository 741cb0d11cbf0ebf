"""The state machine of the fuzz: client, Claude Code, the channel between them, time and death."""

from collections.abc import Callable, Iterator

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from machines import events as e
from tests.fuzz import channel
from tests.fuzz.shown_rules import SHOWN_RULES
from tests.fuzz.turn_rules import TURN_RULES
from tests.fuzz.usage_rules import Accounted
from tests.fuzz.world import World

PICKS = st.integers(0, 255)
ANSWERS = ("allow", "always", "reject", "cancelled", "error", "unoffered", "allow", "reject")
ENDS = (e.StreamEnd.DIED, e.StreamEnd.ENDED, e.StreamEnd.BROKEN)
STARTS = (
    e.QueryInitialized(),
    e.QueryInitialized(),
    e.QueryInitialized(),
    e.QueryStartFailed(e.StartFailure.FAILED, "exit code 1"),
    e.QueryStartFailed(e.StartFailure.AUTH_REQUIRED, "Please run /login"),
    e.QueryStartFailed(e.StartFailure.UNKNOWN_SESSION, "No conversation found"),
    e.StreamClosed(e.StreamEnd.DIED, "exit code 1"),
)
LONG = 400
"""Moves after which everything must have come to rest."""


def _lives(session: "Session") -> bool:
    return session.world.process == "live"


class Session(RuleBasedStateMachine):
    """One session, in any order of what everyone may do."""

    world: World

    @initialize(marks=st.integers(0, 5), resume=st.booleans(), early=st.integers(0, 7))
    def open(self, marks: int, resume: bool, early: int) -> None:
        """The session is created; in a few examples things happen before its process answers."""
        self.world = World([each() for each in (*TURN_RULES, Accounted, *SHOWN_RULES)], marks=marks > 0)
        self.world.open(resume=resume)
        if early:
            self.world.start_ends(e.QueryInitialized())

    # ── the client ──

    @precondition(lambda self: len(self.world.unanswered()) < 4)
    @rule(pick=PICKS)
    def prompts(self, pick: int) -> None:
        self.world.prompt(report=pick % 4 == 3)

    @precondition(lambda self: self.world.prompts)
    @rule(pick=PICKS)
    def interferes(self, pick: int) -> None:
        """The client cancels everything or one prompt, changes a setting, or rarely closes."""
        kind, pick = pick % 8, pick // 8
        if kind < 3:
            self.world.cancel()
        elif kind < 6:
            prompts = (self.world.unanswered() or [*self.world.prompts.values()])[-3:]
            self.world.cancel_prompt(prompts[pick % len(prompts)])
        elif pick or len(self.world.prompts) < 3:
            self.world.change()
        else:
            self.world.close()

    @precondition(lambda self: self.world.marks and len(self.world.steers) < 4)
    @rule(pick=PICKS)
    def steers(self, pick: int) -> None:
        """The client adds a message to what runs; without marks nothing tells whose result is whose."""
        self.world.steer(prompts=pick % 4 == 3 and len(self.world.unanswered()) < 4)

    @precondition(lambda self: any(request.requested for request in self.world.requests.values()))
    @rule(pick=PICKS)
    def answers(self, pick: int) -> None:
        self._answer(pick)

    def _answer(self, pick: int) -> None:
        requests = self.world.open_requests() or [
            request for request in self.world.requests.values() if request.requested
        ]
        answer, pick = ANSWERS[pick % len(ANSWERS)], pick // len(ANSWERS)
        self.world.answer(requests[pick % len(requests)], answer)

    # ── Claude Code ──

    @precondition(_lives)
    @rule(picks=st.lists(PICKS, min_size=1, max_size=12))
    def works(self, picks: list[int]) -> None:
        """Claude Code acts and is heard at once, and sometimes so is the user."""
        for pick in picks:
            if pick % 6 == 5 and self.world.open_requests():
                self._answer(pick // 6)
            channel.act(self.world, pick)
            while self.world.deliver() or self._prepares():
                pass

    @precondition(_lives)
    @rule(picks=st.lists(PICKS, min_size=1, max_size=8))
    def works_unheard(self, picks: list[int]) -> None:
        """Claude Code acts, and its frames are under way."""
        for pick in picks:
            channel.act(self.world, pick)

    @precondition(lambda self: self.world.claude is not None and self.world.claude.outbox)
    @rule(frames=st.integers(1, 8))
    def is_heard(self, frames: int) -> None:
        """Some of its frames arrive."""
        for _ in range(frames):
            self.world.deliver()

    @precondition(_lives)
    @rule(pick=PICKS)
    def goes_wrong(self, pick: int) -> None:
        """A frame comes twice, is lost, changes places, or comes late; rarely the process ends."""
        kind, pick = pick % 8, pick // 8
        claude = self.world.claude
        if kind == 0 and claude is not None and not claude.dead:
            self.world.die(ENDS[pick % len(ENDS)], keep=pick // 4, warned=pick % 5 == 0)
        elif claude is not None and claude.outbox:
            channel.disturb(self.world, pick)

    # ── what ends by itself ──

    @precondition(lambda self: any(True for _ in self._ends()))
    @rule(pick=PICKS)
    def ends(self, pick: int) -> None:
        """A timer, a preview, a change, the start or the stop of a process."""
        ends = [*self._ends()]
        ends[pick % len(ends)](pick // len(ends))

    def _ends(self) -> Iterator[Callable[[int], object]]:
        world = self.world
        if world.process == "starting":
            yield lambda pick: world.start_ends(STARTS[pick % len(STARTS)])
        if world.process == "stopping":
            yield lambda _: world.stopped()
        if world.preparing:
            yield lambda _: world.prepare()
        if world.previews:
            yield world.preview
        if "applied" in world.changes.values():
            yield lambda _: world.finish_change()
        for timer in sorted(world.timers, key=lambda timer: timer.value):
            yield lambda _, timer=timer: world.fire(timer)  # type: ignore[misc]

    def _prepares(self) -> bool:
        if self.world.preparing:
            self.world.prepare()
            return True
        return False

    # ── the end ──

    def teardown(self) -> None:
        """Let everything come to rest in one of four ways; then what must happen has happened."""
        if not hasattr(self, "world") or self.world.broken:
            return
        ways = (self._finish, self._cancel_in_silence, self._lose, self._close)
        ways[self.world.handled % len(ways)]()
        self._finish()
        for each in self.world.rules:
            each.end(self.world)

    def _finish(self) -> None:
        """Claude Code works to its end, and every question is answered."""
        world = self.world
        if world.claude is not None:
            world.claude.whims = False
        for _ in range(LONG):
            if world.process == "starting":
                world.start_ends(e.QueryInitialized())
            elif world.process == "stopping":
                world.stopped()
            elif world.preparing:
                world.prepare()
            elif world.previews:
                world.preview(0)
            elif world.open_requests():
                world.answer(world.open_requests()[0], "allow")
            elif "applied" in world.changes.values():
                world.finish_change()
            elif not (world.deliver() or channel.act_to_the_end(world)):
                return
        raise AssertionError("it does not come to rest")

    def _cancel_in_silence(self) -> None:
        """LIVE-T1: Claude Code says nothing more after a cancel; the timer answers all."""
        self.world.cancel()
        while self.world.timers:
            self.world.fire(self.world.timers.copy().pop())
        assert self.world.unanswered() == [], "LIVE-T1"

    def _lose(self) -> None:
        """LIVE-T2: the process dies; whatever waits then starts another."""
        if self.world.process == "live" and self.world.claude is not None and not self.world.claude.dead:
            self.world.die(e.StreamEnd.DIED, keep=0, warned=False)
            self.world.deliver()
            assert self.world.unanswered() == [], "LIVE-T2"

    def _close(self) -> None:
        """LIVE-T2: the session closes."""
        self.world.close()
        assert self.world.unanswered() == [], "LIVE-T2"
        if e.Timer.TEARDOWN in self.world.timers:
            self.world.fire(e.Timer.TEARDOWN)
        assert self.world.conversation.phase == "closed"
