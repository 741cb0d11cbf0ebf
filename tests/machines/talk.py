"""Short words for what happens to a session, and a session that is told them in order."""

from dataclasses import replace
from typing import Any

from machines import events as e
from machines import outputs as o
from machines.children.forms.child_forms import FormName
from machines.companions.incident import Book
from machines.conversation import Conversation
from machines.process.query import DIED
from machines.results.usage import Tokens, Usage

TASK = "task-notification"
OPTIONS = (e.Option("allow-once", grants=True), e.Option("reject", grants=False))

# ── the client ────────────────────────────────────────────────────────────────


def prompt(turn: str) -> e.PromptReceived:
    return e.PromptReceived(turn)


CANCEL = e.CancelRequested()
CLOSE = e.CloseRequested()


def cancel(turn: str) -> e.PromptCancelRequested:
    return e.PromptCancelRequested(turn)


def answer(ask: str, option: str | None = None, failure: str | None = None) -> e.AskAnswered:
    return e.AskAnswered(ask, option, failure)


# ── Claude Code ───────────────────────────────────────────────────────────────

INITIALIZED = e.QueryInitialized()
IDLE = e.CliStateChanged("idle")
RUNNING = e.CliStateChanged("running")
ACTING = e.CliStateChanged("requires_action")
MESSAGE = e.MessageStarted()
DEAD = e.StreamClosed(e.StreamEnd.DIED, "exit code -9")
FORCE = e.TimerFired(e.Timer.FORCE_CANCEL)


def moved(state: e.CommandState, *turns: str) -> tuple[e.CommandMoved, ...]:
    return tuple(e.CommandMoved(turn, state) for turn in turns)


def begin(turn: str) -> tuple[e.Event, ...]:
    """The frames of a prompt that Claude Code takes up by itself (r01)."""
    return (
        RUNNING,
        *moved("queued", turn),
        *moved("started", turn),
        e.Requesting((turn,)),
        e.Echoed(turn),
        MESSAGE,
    )


def result(*turns: str, used: tuple[int, int] | None = None, **fields: Any) -> e.Result:
    """A result, stamped with turns; `used` are its input and output tokens."""
    fields = {"stop_reason": "end_turn", "terminal_reason": "completed", **fields}
    if used is not None:
        fields["usage"] = {"input_tokens": used[0], "output_tokens": used[1]}
        fields["model_usage"] = {"opus": {"inputTokens": used[0], "outputTokens": used[1]}}
    return e.Result(turns, **fields)


def aborted(*turns: str, reason: str = "aborted_streaming", **fields: Any) -> e.Result:
    """The result of interrupted work."""
    return result(
        *turns,
        subtype="error_during_execution",
        is_error=True,
        stop_reason=None,
        terminal_reason=reason,
        **fields,
    )


def end(turn: str, **fields: Any) -> tuple[e.Event, ...]:
    """Its result and what follows it when nothing else waits."""
    return (result(turn, **fields), *moved("completed", turn), IDLE)


def use(call: str, name: str = "Bash") -> e.ToolUse:
    return e.ToolUse(call, name, {"command": "ls"})


def streamed(call: str, name: str = "Bash") -> e.ToolStarted:
    return e.ToolStarted(e.ToolUse(call, name))


def dispatched(call: str, name: str = "Bash") -> e.ToolDispatched:
    return e.ToolDispatched(use(call, name))


def returned(call: str, **fields: Any) -> e.ToolReturned:
    return e.ToolReturned(call, "done", **fields)


def rejected(call: str) -> e.ToolReturned:
    """The result that an interrupt gives to a tool."""
    return e.ToolReturned(call, "", is_error=True, non_execution_kind="user-rejected")


def hooked(call: str) -> e.ToolHooked:
    return e.ToolHooked(call, "Bash", response={"stdout": "done"})


def asked(ask: str, call: str, name: str = "Bash") -> e.AskReceived:
    return e.AskReceived(ask, use(call, name), OPTIONS)


def prepared(ask: str) -> e.AskPrepared:
    return e.AskPrepared(ask)


def of(kind: type | tuple[type, ...], outputs: list[Any]) -> list[Any]:
    """The outputs of a kind."""
    return [output for output in outputs if isinstance(output, kind)]


# ── what comes of it ──────────────────────────────────────────────────────────

WORKS = o.ReportWork("running")
WAITS = o.ReportWork("requires_action")
DONE = o.ReportWork("idle", o.Outcome())
STOPPED = o.ReportWork("idle", o.Outcome("cancelled"))
START_FORCE = o.StartTimer(e.Timer.FORCE_CANCEL)
STOP_FORCE = o.StopTimer(e.Timer.FORCE_CANCEL)
INTERRUPT = o.Interrupt(cancel_queued=True)
INTERRUPT_ONE = o.Interrupt(cancel_queued=False)
LOST = o.Failure(o.FailureKind.TRANSPORT_LOST, DIED)


def answered(
    turn: str, stop_reason: o.StopReason = "end_turn", used: tuple[int, int] | None = None
) -> o.AnswerPrompt:
    tokens = Tokens(*used) if used is not None else None
    usage = Usage(tokens, (("opus", tokens),)) if tokens is not None else None
    return o.AnswerPrompt(turn, o.Outcome(stop_reason), usage)


def failed(turn: str, failure: o.Failure) -> o.AnswerPrompt:
    return o.AnswerPrompt(turn, o.Outcome(failure=failure))


def ended_badly(failure: o.Failure) -> o.ReportWork:
    return o.ReportWork("idle", o.Outcome(failure=failure))


class Talk:
    """A session that came up; calling it feeds events and gives what has to be done about them.

    What is refused, the rendering of results, and what only ACP v2 tells (that a prompt is in the
    conversation, what work used) are left out unless they are asked for.
    """

    def __init__(
        self,
        *events: Any,
        resume: bool = False,
        starts: bool = True,
        book: Book | None = None,
        async_tasks: bool = False,
        form: FormName = "none",
    ) -> None:
        self.session = Conversation(book=book, async_tasks=async_tasks, form=form)
        self.session.open(resume=resume)
        self.refused: list[o.Ignored] = []
        self.shown: list[o.ShowResult] = []
        self.inserted: list[str] = []
        self.used: list[Usage | None] = []
        """Of each work that ended."""
        if starts:
            self(INITIALIZED)
        self(*events)

    def __call__(self, *events: Any) -> list[Any]:
        outputs: list[Any] = []
        for event in events:
            for each in event if isinstance(event, tuple) else (event,):
                outputs += self.session.handle(each)
        self.refused += [each for each in outputs if isinstance(each, o.Ignored)]
        self.shown += [each for each in outputs if isinstance(each, o.ShowResult)]
        self.inserted += [each.turn for each in outputs if isinstance(each, o.InsertPrompt)]
        self.used += [each.usage for each in of(o.ReportWork, outputs) if each.state == "idle"]
        left_out = o.Ignored | o.ShowResult | o.InsertPrompt
        return [_without_usage(each) for each in outputs if not isinstance(each, left_out)]


def _without_usage(output: Any) -> Any:
    return replace(output, usage=None) if isinstance(output, o.ReportWork) else output
