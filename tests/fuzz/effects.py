"""What each output does to the world of the fuzz."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from machines import outputs as o
from machines.companions import session_reports as r
from tests.fuzz.facts import Call
from tests.fuzz.runs import Addition, Drop, Prompt, Reply, Stop

if TYPE_CHECKING:
    from tests.fuzz.world import World


def carry_out(world: "World", output: o.Output) -> None:
    """Do what an output says."""
    act = _ACTS.get(type(output))
    if act is not None:
        act(world, output)


def call_of(output: Any) -> str:
    """The call that an output reports on."""
    match output:
        case o.ReturnCall(result):
            return result.call
        case o.DenyCall(denial):
            return denial.call
        case o.ReportHook(hook):
            return hook.call
        case o.ReportProgress(_, target):
            return target
        case o.RefineCall(use) | o.ShowCall(use):
            return use.call
    return str(output.call)


def _answer_prompt(world: "World", output: o.AnswerPrompt) -> None:
    asked = world.prompts[output.turn]
    asked.answer = output
    if not asked.cancelled:
        world.left.update({*asked.steers} - world.taken_up)
    if asked.concluded:  # what was taken up since then
        began = [steer for steer in asked.steers if steer in world.runs]
        world.left.update(steer for steer in began if not world.runs[steer].over)


def _close(world: "World", output: o.AnswerClose) -> None:
    world.closed = True


def _start(world: "World", output: o.StartQuery) -> None:
    world.start()


def _stop(world: "World", output: o.StopQuery) -> None:
    world.process = "stopping"
    world.lose_asks()


def _send(world: "World", output: o.SendPrompt) -> None:
    world.prompts[output.turn].sent = True
    world.write(Prompt(output.turn))


def _answer_steer(world: "World", output: o.AnswerSteer) -> None:
    match output.outcome:
        case "injected":
            turn = world.runs_first()
            assert turn is not None, "added to a turn that is being stopped"
            turn.steers.append(output.steer)
            world.steers[output.steer] = turn
        case "startedNewTurn":
            world.add_prompt(output.steer)
        case "promptRequired":
            pass


def _add(world: "World", output: o.SendSteer) -> None:
    world.write(Addition(output.steer, output.priority))


def _interrupt(world: "World", output: o.Interrupt) -> None:
    world.touch(alone=not output.cancel_queued)
    world.write(Stop(output.cancel_queued))


def _drop(world: "World", output: o.CancelMessage) -> None:
    world.write(Drop(output.uuid))


def _prepare(world: "World", output: o.PrepareAsk) -> None:
    world.preparing.append(output.ask)


def _preview(world: "World", output: r.PreviewFiles) -> None:
    world.previews.append(output.turn)
    for asked in world.kin(world.prompts[output.turn]):
        told = [asked.uuid, *(steer for steer in asked.steers if steer in world.taken_up)]
        over = all(world.has_ended(world.runs[uuid]) for uuid in told if uuid in world.runs)
        asked.concluded = asked.answer is None and over and asked.uuid not in world.active_turns()


def _ask(world: "World", output: o.AskClient | o.AskForm) -> None:
    world.requests[output.ask].requested = type(output)


def _reply(world: "World", output: o.ReplyAsk | o.DenyAsk | o.AbortAsk | o.ReplyForm) -> None:
    request = world.requests[output.ask]
    request.replied = type(output)
    if request.is_open:
        request.settled = type(output)
    chosen = getattr(output, "option", None)
    grants = isinstance(output, o.ReplyForm) or any(
        option.grants and option.id == chosen for option in request.options
    )
    world.write(Reply(output.ask, grants))


def _withdraw(world: "World", output: o.WithdrawRequest) -> None:
    world.requests[output.ask].settled = type(output)


def _show(world: "World", output: o.ShowCall) -> None:
    frame = world.frame
    run = world.requests[output.ask].run if output.ask is not None else frame.run if frame else None
    world.calls[output.use.call] = Call(output.use.call, run)


def _end_call(world: "World", output: o.ReturnCall | o.DenyCall | o.CloseCall) -> None:
    world.calls[call_of(output)].final = type(output)


def _hook(world: "World", output: o.ReportHook) -> None:
    call = world.calls[call_of(output)]
    call.hooked = call.final is not None


def _report(world: "World", output: o.ReportWork) -> None:
    world.work = output.state
    if output.state == "idle":
        for run in world.met():
            if run.cycle and run.touched and run.seen:
                run.over = True


def _start_timer(world: "World", output: o.StartTimer) -> None:
    world.timers.add(output.timer)


def _stop_timer(world: "World", output: o.StopTimer) -> None:
    world.timers.discard(output.timer)


def _apply(world: "World", output: o.ApplyChange) -> None:
    world.changes[output.change] = "applied"


def _fail_change(world: "World", output: o.FailChange) -> None:
    world.changes[output.change] = "failed"


_ACTS: dict[type, Callable[["World", Any], None]] = {
    o.AnswerPrompt: _answer_prompt,
    o.AnswerClose: _close,
    o.StartQuery: _start,
    o.StopQuery: _stop,
    o.SendPrompt: _send,
    o.AnswerSteer: _answer_steer,
    o.SendSteer: _add,
    o.Interrupt: _interrupt,
    o.CancelMessage: _drop,
    o.PrepareAsk: _prepare,
    r.PreviewFiles: _preview,
    o.AskClient: _ask,
    o.AskForm: _ask,
    o.ReplyAsk: _reply,
    o.DenyAsk: _reply,
    o.AbortAsk: _reply,
    o.ReplyForm: _reply,
    o.WithdrawRequest: _withdraw,
    o.ShowCall: _show,
    o.ReturnCall: _end_call,
    o.DenyCall: _end_call,
    o.CloseCall: _end_call,
    o.ReportHook: _hook,
    o.ReportWork: _report,
    o.StartTimer: _start_timer,
    o.StopTimer: _stop_timer,
    o.ApplyChange: _apply,
    o.FailChange: _fail_change,
}
