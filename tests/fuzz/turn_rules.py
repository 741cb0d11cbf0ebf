"""The invariants of prompts, their answers, and the work behind them."""

from machines import events as e
from machines import outputs as o
from machines.companions import session_reports as r
from machines.process.query import DIED
from tests.fuzz.effects import call_of
from tests.fuzz.facts import Asked
from tests.fuzz.runs import Run, Text
from tests.fuzz.world import Rule, World

LOSSES = frozenset({o.FailureKind.TRANSPORT_LOST, o.FailureKind.WORKER_SHUTDOWN})
NOT_STARTED = frozenset({o.FailureKind.RESTART_FAILED, o.FailureKind.AUTH_REQUIRED})


class AnsweredOnce(Rule):
    """INV-T1, INV-S2: every prompt gets exactly one answer."""

    def see(self, world: World, output: o.Output) -> None:
        if isinstance(output, o.AnswerPrompt):
            assert world.prompts[output.turn].answer is None, f"{output.turn} is answered twice"

    def end(self, world: World) -> None:
        assert [asked.uuid for asked in world.unanswered()] == [], "LIVE-T2: not answered"


class Inserted(Rule):
    """INV-T7: a prompt is in the conversation once, before its answer; only a stopped one never is."""

    def __init__(self) -> None:
        self.inserted: set[str] = set()

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.InsertPrompt(turn):
                asked = world.prompts[turn]
                assert turn not in self.inserted, f"{turn} is inserted twice"
                assert asked.sent, f"{turn} is inserted before Claude Code has it"
                assert asked.answer is None, f"{turn} is inserted after its answer"
                self.inserted.add(turn)
            case o.AnswerPrompt(turn, outcome):
                ran = outcome.failure is None and outcome.stop_reason != "cancelled"
                assert turn in self.inserted or not ran, f"{turn} is answered and was never inserted"
            case _:
                pass


class RightAnswer(Rule):
    """INV-T5, INV-X3, INV-X5, M4.4: the answer is that of its own end, and of no other work.

    A prompt that the client cancelled is `cancelled`. Any other is answered by its own result
    with what that says; by an idle only when Claude Code lost its result; by the end of the
    process with its cause.
    """

    def see(self, world: World, output: o.Output) -> None:
        if not isinstance(output, o.AnswerPrompt):
            return
        asked, outcome = world.prompts[output.turn], output.outcome
        if asked.cancelled:
            assert (outcome.stop_reason, outcome.failure) == ("cancelled", None), f"INV-T5: {output}"
            return
        if world.is_steered(asked) and not _is_lost(world, asked):
            return  # `Steered`
        if asked.concluded:
            assert outcome == world.runs[asked.uuid].expected, f"M14: {output}"
            return
        if world.is_held(asked) and not world.is_steered(asked):
            assert outcome == o.Outcome(), f"M4.1: {output}"
            return
        run = world.runs.get(asked.uuid)
        silent = run is not None and run.result is None and run.expected == outcome
        refused = asked.uuid in world.refused and _kind(outcome) is o.FailureKind.NO_RESULT
        match world.cause:
            case _ if silent or refused:
                return  # M4.6: behind those before it, or before the next result
            case e.Result():
                self._by_result(world, asked, outcome)
            case e.StreamClosed(end) if world.frame is not None:
                clean = end is e.StreamEnd.ENDED and outcome == o.Outcome()
                lost = outcome.failure is not None and outcome.failure.text in {DIED, "It broke."}
                held = world.is_held(asked) and outcome == o.Outcome()
                assert clean or held or (lost and _kind(outcome) in LOSSES), f"M3: {output}"
            case e.QueryStartFailed() | e.StreamClosed():
                assert _kind(outcome) in NOT_STARTED, f"M2.3: {output}"
            case cause:
                raise AssertionError(f"{cause} answered {output}")

    def _by_result(self, world: World, asked: Asked, outcome: o.Outcome) -> None:
        run = world.frame.run if world.frame is not None else None
        assert run is not None
        assert asked in world.asked_in(run), f"INV-T6: {asked.uuid} is answered by the result of {run.name}"
        if run.hit_alone and outcome == o.Outcome("cancelled"):
            return  # the cancel of another prompt met the run that they shared, or the next one
        assert outcome == run.expected, f"M4.4: {asked.uuid} of {run.name}"


class Steered(Rule):
    """M4.5: a turn that was added to ends with its last message, or when something else comes before that.

    Its answer is that of a result of its own, or plain when a message broke that off. It is the
    answer of the prompts that shared a result with it, too.
    """

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.AnswerSteer(_, outcome) if outcome != "injected":
                first = world.runs_first()
                lost = first is not None and first.uuid in world.refused  # and waits for those before it
                assert first is None or lost or world.conversation.phase != "ready", "a turn runs"
            case o.SendSteer(_, "now"):
                assert world.open_requests() == [], "M4.5: it would take a request away"
            case o.AnswerPrompt(turn):
                asked = world.prompts[turn]
                if world.is_steered(asked) and not asked.cancelled:
                    self._see_answer(world, asked, output.outcome)
            case _:
                pass

    def _see_answer(self, world: World, asked: Asked, outcome: o.Outcome) -> None:
        if _is_lost(world, asked):
            return  # `RightAnswer`
        runs = {run for each in world.kin(asked) for run in world.runs_of(each)}
        own = outcome in {o.Outcome(), *(run.expected for run in runs)}
        refused = asked.uuid in world.refused and _kind(outcome) is o.FailureKind.NO_RESULT
        assert own or refused, f"{asked.uuid}: {outcome}"
        waiting = [uuid for uuid in asked.steers if not self._is_done(world, uuid)]
        run = world.frame.run if world.frame is not None else None
        overtaken = run is not None and any(world.asked_by(uuid) is not asked for uuid in run.members)
        overtaken = overtaken or isinstance(world.cause, e.PromptCancelRequested)  # it hid who was first
        assert waiting == [] or overtaken or asked.concluded, f"{asked.uuid} is answered without {waiting}"

    def _is_done(self, world: World, uuid: str) -> bool:
        run = world.runs.get(uuid)
        return uuid in world.refused if run is None else world.has_ended(run)


class Held(Rule):
    """M4.1: a prompt that waits for its subagents is not done before them, unless another takes its place."""

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.AnswerPrompt(turn, outcome) if outcome == o.Outcome():
                self._see_end(world, world.prompts[turn])
            case r.PreviewFiles(turn):
                self._see_end(world, world.prompts[turn])
            case _:
                pass

    def _see_end(self, world: World, asked: Asked) -> None:
        if asked.concluded or world.is_steered(asked) or not world.holds(asked):
            return
        run = world.frame.run if world.frame is not None else None
        overtaken = run is not None and run.members and asked not in world.asked_in(run)
        overtaken = overtaken or isinstance(world.cause, e.PromptCancelRequested)  # it hid who was first
        shared = world.asked_in(world.runs[asked.uuid])
        waits = any(other.answer is None and other.number > asked.number for other in shared)
        assert overtaken or waits, f"{asked.uuid} is answered before its subagents"

    def rest(self, world: World) -> None:
        for asked in world.unanswered():
            if world.is_held(asked) and not world.is_steered(asked):
                assert any(each.agents for each in world.kin(asked)), f"{asked.uuid} waits for nothing"


class Fifo(Rule):
    """INV-T2: prompts are written and answered in the order received; cancelled and refused ones aside."""

    def __init__(self) -> None:
        self.last_sent = -1
        self.cancelled: list[int] = []

    def before(self, world: World, event: e.Event) -> None:
        self.cancelled = []

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.SendPrompt(turn):
                asked = world.prompts[turn]
                assert asked.number > self.last_sent, f"{turn} is written out of order"
                assert asked.answer is None
                assert world.process == "live"
                self.last_sent = asked.number
            case o.AnswerPrompt(turn):
                asked = world.prompts[turn]
                if asked.cancelled:
                    self.cancelled.append(asked.number)
                    return
                if turn in world.refused:
                    return
                earlier = [
                    other.uuid
                    for other in world.unanswered()
                    if other.number < asked.number and not other.cancelled and other.uuid not in world.refused
                ]
                assert earlier == [], f"{turn} is answered before {earlier}"
            case _:
                pass

    def rest(self, world: World) -> None:
        queued = self.cancelled[:-1]  # the active one comes last, after the queued ones
        assert queued == sorted(queued)
        if world.conversation.phase == "ready":
            assert [asked.uuid for asked in world.unanswered() if not asked.sent] == []


class CancelledAtOnce(Rule):
    """M6 (6), M6.1: after a cancel only the active prompt may still wait for its end, with a timer."""

    def rest(self, world: World) -> None:
        waiting = [asked.uuid for asked in world.unanswered() if asked.cancelled]
        assert waiting in ([], [world.conversation.active_turn]), "a queued prompt was not answered"
        running = e.Timer.FORCE_CANCEL in world.timers
        assert running == bool(waiting), "LIVE-T1: the force timer runs exactly while a cancel waits"


class Reported(Rule):
    """INV-R1: one report for each that was asked for, before the answer of its prompt."""

    def __init__(self) -> None:
        self.reports: set[str] = set()

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case r.ReportFiles(request):
                assert request not in self.reports, f"INV-R1: {request} is reported twice"
                self.reports.add(request)
            case o.AnswerPrompt(turn):
                report = world.prompts[turn].report
                assert report in {None, *self.reports}, f"INV-R1: {turn} is answered before its report"
            case _:
                pass


class Silence(Rule):
    """INV-T4, INV-X1: after its end nothing of a work reaches the client but a hook of a finished call."""

    def see(self, world: World, output: o.Output) -> None:
        match output:
            case o.ShowPlan() | o.ShowPlanResult():
                run = world.frame.run if world.frame is not None else None
            case o.ShowCall(_, _, ask) if ask is not None:
                run = world.requests[ask].run
            case o.ShowCall():
                run = world.frame.run if world.frame is not None else None
            case o.AskClient(ask) | o.AskForm(ask):
                run = world.requests[ask].run
            case o.ReportHook() if world.calls[call_of(output)].final is o.ReturnCall:
                return
            case (
                o.RefineCall()
                | o.ReportProgress()
                | o.ReportHook()
                | o.ReturnCall()
                | o.DenyCall()
                | o.CloseCall()
            ):
                run = world.calls[call_of(output)].run
            case _:
                return
        assert not world.is_over(run) or _garbled(run), f"{output} after the end of its work"

    def text(self, world: World, run: Run | None, *, shown: bool) -> None:
        assert not shown or not world.is_over(run) or _garbled(run), "text after the end of its work"


class NothingDropped(Rule):
    """INV-X3: what no cancel met reaches the client, and no part of it is refused by a lifecycle."""

    def text(self, world: World, run: Run | None, *, shown: bool) -> None:
        assert shown or not self._counts(world, run), "text was dropped"

    def see(self, world: World, output: o.Output) -> None:
        if not isinstance(output, o.Ignored) or world.frame is None or world.frame.odd:
            return
        event = world.frame.event
        if isinstance(event, e.AskWithdrawn) and world.requests[event.ask].replied:
            return  # it was on its way when the client answered
        assert not self._counts(world, world.frame.run), f"{output} of work that no cancel met"

    def rest(self, world: World) -> None:
        frame = world.frame
        if frame is None or isinstance(frame.event, Text) or not self._counts(world, frame.run):
            return
        match frame.event:
            case e.ToolStarted(use) | e.ToolDispatched(use) if use.name == "Bash":
                assert use.call in world.calls, "a call was not shown"
            case e.AskReceived(ask):
                assert world.requests[ask].replied is None, "an ask was refused"
            case e.FormReceived(ask):
                assert world.requests[ask].requested is o.AskForm, "a question was not asked"
            case _:
                pass

    def _counts(self, world: World, run: Run | None) -> bool:
        served = world.process == "live" and world.conversation.phase == "ready"
        if run is None or not served:
            return False
        stops = run.members and all(asked.cancelled for asked in world.asked_in(run))
        return not (run.touched or run.garbled or stops or world.is_over(run))


class OneActive(Rule):
    """INV-T3: at most one turn is active."""

    def rest(self, world: World) -> None:
        turn = world.conversation.active_turn
        assert world.active_turns() == ([turn] if turn is not None else [])


def _is_lost(world: World, asked: Asked) -> bool:
    """The process took its answer away."""
    return isinstance(world.cause, e.StreamClosed | e.QueryStartFailed) and not asked.concluded


def _kind(outcome: o.Outcome) -> o.FailureKind | None:
    return outcome.failure.kind if outcome.failure is not None else None


def _garbled(run: Run | None) -> bool:
    return run is not None and run.garbled


TURN_RULES: tuple[type[Rule], ...] = (
    AnsweredOnce,
    Inserted,
    RightAnswer,
    Steered,
    Fifo,
    CancelledAtOnce,
    Held,
    Reported,
    Silence,
    NothingDropped,
    OneActive,
)
