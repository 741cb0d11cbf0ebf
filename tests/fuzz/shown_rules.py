"""The invariants of calls, requests, the foreground, and of the session around them."""

from machines import events as e
from machines import outputs as o
from tests.fuzz.effects import call_of
from tests.fuzz.runs import Run
from tests.fuzz.world import Rule, World

REPORTS = (o.RefineCall, o.ReportProgress, o.ReportHook, o.ReturnCall, o.DenyCall, o.CloseCall)
NEW = (o.ShowCall, o.ShowPlan, o.RefineCall, o.PrepareAsk, o.AskClient, o.AskForm)


class Calls(Rule):
    """INV-C1, INV-C2, INV-C4, TC-215: shown first, one final status, nothing but a hook after it."""

    def see(self, world: World, output: o.Output) -> None:
        if isinstance(output, o.ShowCall):
            assert output.use.call not in world.calls, f"{output} again"
        elif isinstance(output, o.AskClient | o.AskForm):
            call = world.requests[output.ask].call
            assert call is None or call in world.calls, f"INV-C4: {output}"
        elif isinstance(output, REPORTS):
            assert call_of(output) in world.calls, f"INV-C1: {output}"
            self._see_report(world, output)

    def _see_report(self, world: World, output: o.Output) -> None:
        call = world.calls[call_of(output)]
        match output:
            case o.ReportHook() if call.final is not None:
                assert call.final is o.ReturnCall, f"a hook of a closed call: {output}"
                assert not call.hooked, f"a second late hook: {output}"
            case o.ReturnCall():
                assert call.final in {None, o.DenyCall}, f"INV-C2: {output}"
            case _:
                assert call.final is None, f"INV-C2: {output}"

    def end(self, world: World) -> None:
        assert [call.id for call in world.open_calls()] == [], "LIVE-C1"


class EndsWhole(Rule):
    """INV-X2, INV-F2, LIVE-P1: what the client holds open of a work is final before its end is told."""

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.ReportWork("idle"):
                assert [call.id for call in world.open_calls()] == [], "INV-F2"
                assert [request.ask for request in world.open_requests()] == [], "LIVE-P1"
            case o.AnswerPrompt(turn) if turn in world.runs:
                asked = world.prompts[turn]
                for run in world.runs_of(asked):
                    others = [each.uuid for each in world.asked_in(run) if each.answer is None]
                    its_own = run.cycle or asked.concluded  # what was added runs for itself behind the end
                    if others == [turn] and (run.over or not its_own):
                        self._see_end(world, run)
            case _:
                pass

    def _see_end(self, world: World, run: Run) -> None:
        open_calls = [call.id for call in world.open_calls() if call.run is run]
        requests = [request.ask for request in world.open_requests() if request.run is run]
        assert (open_calls, requests) == ([], []), "INV-X2"


class NothingNew(Rule):
    """M6: while a cancel is in effect only results of open calls come through."""

    def __init__(self) -> None:
        self.stopping = False

    def before(self, world: World, event: e.Event) -> None:
        self.stopping = world.conversation.cancelled

    def see(self, world: World, output: o.Output) -> None:
        assert not (self.stopping and isinstance(output, NEW)), f"{output} during a cancel"


class Requests(Rule):
    """INV-P1, INV-P2, INV-P3: asked once, ended once, answered once; only an offered option grants."""

    def __init__(self) -> None:
        self.accepts: str | None = None

    def before(self, world: World, event: e.Event) -> None:
        self.accepts = None
        if isinstance(event, e.AskAnswered | e.FormAnswered):
            request = world.requests[event.ask]
            self.accepts = event.ask if request.is_open else None

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.AskClient(ask) | o.AskForm(ask):
                request = world.requests[ask]
                assert request.requested is request.replied is None, f"asked twice: {output}"
            case o.WithdrawRequest(ask):
                assert world.requests[ask].is_open, f"INV-P2: {output}"
            case o.ReplyAsk() | o.AbortAsk() | o.ReplyForm() | o.DenyAsk():
                self._see_reply(world, output)
            case _:
                pass

    def _see_reply(self, world: World, output: o.ReplyAsk | o.AbortAsk | o.ReplyForm | o.DenyAsk) -> None:
        request = world.requests[output.ask]
        assert request.replied is None, f"INV-P1: {output}"
        assert not request.gone, f"nobody waits for {output}"
        if isinstance(output, o.DenyAsk):
            assert request.requested is None, f"{output} after it was asked"
            return
        assert request.is_open, f"{output} without an open request"
        assert self.accepts == output.ask, f"{output} without an answer"
        if isinstance(output, o.ReplyAsk):
            assert output.option in {option.id for option in request.options}, f"INV-P3: {output}"
            (answer,) = request.answered
            assert isinstance(answer, e.AskAnswered)
            assert answer.option == output.option, f"INV-P3: {output}"

    def rest(self, world: World) -> None:
        if self.accepts is not None:
            assert not world.requests[self.accepts].is_open, "an answer was not taken"

    def end(self, world: World) -> None:
        assert [request.ask for request in world.open_requests()] == [], "LIVE-P1"
        lost = [each.ask for each in world.requests.values() if each.replied is None and not each.gone]
        assert lost == [], "INV-P1: Claude Code still waits"


class Foreground(Rule):
    """INV-F1, INV-F3, INV-F4, INV-T7: reports alternate, and say whether work waits for the user."""

    def __init__(self) -> None:
        self.turn: str | None = None
        self.began = self.idled = False

    def before(self, world: World, event: e.Event) -> None:
        self.began, self.idled = False, world.work == "idle"

    def see(self, world: World, output: o.Output) -> None:
        if isinstance(output, o.ReportWork):
            assert output.state in _AFTER[world.work], f"INV-F1: {world.work} → {output.state}"
            assert (output.outcome is not None) == (output.state == "idle")
            self.began = self.began or world.work == "idle"
            self.idled = self.idled or output.state == "idle"

    def rest(self, world: World) -> None:
        turn = world.conversation.active_turn
        if self.began:
            starts = turn is not None or isinstance(world.cause, e.MessageStarted | e.Result)
            assert starts, f"INV-T7: {world.cause} began work"
        if turn is not None and self.turn not in {None, turn}:
            shared = world.prompts[turn] in world.kin(world.prompts[self.turn])
            assert self.idled or shared, "INV-F3: a turn follows another without an end of its work"
        self.turn = turn
        if turn is not None and world.work == "idle":
            runs = world.runs_of(world.prompts[turn])
            held = runs and all(world.has_ended(run) for run in runs)
            assert held, "a turn is active and nothing runs"
        waits = bool(world.open_requests())
        if world.work == "running":
            assert not waits, "INV-F4"
        if world.work == "requires_action":
            assert waits or world.conversation.cancelled, "INV-F4"

    def end(self, world: World) -> None:
        assert world.work == "idle"


class Interrupts(Rule):
    """CY-020, CY-021: a cancel of all is one interrupt that drops the queue, of one never is."""

    def __init__(self) -> None:
        self.due = False
        self.seen = 0
        self.stopped: set[str] = set()

    def before(self, world: World, event: e.Event) -> None:
        self.seen = 0
        works = world.work != "idle" or any(asked.sent for asked in world.unanswered())
        self.due = isinstance(event, e.CancelRequested) and works and world.conversation.phase == "ready"

    def see(self, world: World, output: o.Output) -> None:
        match output, world.cause:
            case o.Interrupt(cancel_queued), e.CancelRequested():
                assert cancel_queued
                self.seen += 1
            case o.Interrupt(cancel_queued), e.PromptCancelRequested():
                assert not cancel_queued
                self.seen += 1
            case o.Interrupt(cancel_queued), _:
                self._see_late(world, cancel_queued)
            case o.CancelMessage(uuid), cause:
                assert cause == e.PromptCancelRequested(world.asked_by(uuid).uuid)
                assert world.asked_by(uuid).sent
            case _:
                pass

    def _see_late(self, world: World, cancel_queued: bool) -> None:
        """A message that was cancelled alone starts after all."""
        match world.cause:
            case e.Requesting(uuids):
                started = uuids
            case e.Echoed(uuid) if not world.marks:
                started = (uuid,)
            case cause:
                raise AssertionError(f"{cause} interrupts")
        assert not cancel_queued
        assert all(world.asked_by(uuid).cancelled == "alone" for uuid in started), "INV-X5"
        assert self.stopped.isdisjoint(started), "interrupted twice"
        self.stopped.update(started)

    def rest(self, world: World) -> None:
        assert self.seen <= 1
        assert self.seen or not self.due, "a cancel interrupted nothing"


class Lifespan(Rule):
    """INV-S1, INV-S3, INV-S6, INV-N1: one process at a time, for work; told once; silent after the end."""

    def __init__(self) -> None:
        self.opened = 0
        self.lost = False
        self.told = False

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.StartQuery(resume):
                assert world.process == "none", "INV-S1"
                if world.claude is not None:
                    waits = any(state == "waits" for state in world.changes.values())
                    nothing_stored = isinstance(world.cause, e.QueryStartFailed)
                    assert resume != nothing_stored
                    assert nothing_stored or waits or world.unanswered(), "INV-S6: a start without work"
                    self.lost, self.told = True, False
            case o.TellRestarted():
                assert self.lost, "INV-S6: nothing was lost"
                assert not self.told, "INV-S6: told twice"
                self.told = True
            case o.SendPrompt():
                assert self.told or not self.lost, "M2.3: sent before the client was told"
            case o.AnswerOpen() | o.RefuseOpen():
                self.opened += 1
            case _:
                pass
        late = (o.Ignored, o.AnswerPrompt, o.AnswerSteer, o.FailChange, o.StopTimer)
        assert not world.closed or isinstance(output, late), f"INV-S3: {output}"

    def rest(self, world: World) -> None:
        assert self.opened == (world.conversation.phase != "creating"), "INV-N1: the open request"

    def end(self, world: World) -> None:
        assert world.timers == set()


class Changes(Rule):
    """INV-S5: changes are applied one at a time, in their order, and each is answered."""

    def see(self, world: World, output: o.Output) -> None:
        if isinstance(output, o.ApplyChange | o.FailChange):
            waits = [change for change, state in world.changes.items() if state == "waits"]
            assert waits[:1] == [output.change], "out of order"
        if isinstance(output, o.ApplyChange):
            assert "applied" not in world.changes.values(), "two at a time"

    def end(self, world: World) -> None:
        assert {*world.changes.values()} <= {"done", "failed"}, "a change was not answered"


_AFTER = {
    "idle": {"running"},
    "running": {"requires_action", "idle"},
    "requires_action": {"running", "idle"},
}

SHOWN_RULES: tuple[type[Rule], ...] = (
    Calls,
    EndsWhole,
    NothingNew,
    Requests,
    Foreground,
    Interrupts,
    Lifespan,
    Changes,
)
