"""The model of Claude Code writes what the real one was recorded to write."""

from itertools import count

from machines import events as e
from machines.results.usage import Tokens
from tests.fuzz.claude import Claude
from tests.fuzz.runs import Addition, Command, Drop, Frame, Prompt, Reply, Stop, Text, Tool

YES, ALONE, TOGETHER = 0, 0, 1


def claude(*commands: Command) -> Claude:
    """A process that was started; it has read these commands."""
    ids = count(1)
    it = Claude(lambda kind: f"{kind}{next(ids)}", runs={}, refused=set())
    tell(it, *commands)
    return it


def tell(it: Claude, *commands: Command) -> None:
    """Have it read what the agent writes."""
    it.inbox.extend(commands)
    while it.inbox:
        it.read(YES)


def written(it: Claude) -> list[str]:
    """What it wrote since the last look, in short."""
    frames = [_short(frame) for frame in it.outbox]
    it.outbox.clear()
    return frames


def _short(frame: Frame) -> str:
    match frame.event:
        case e.CommandMoved(uuid, state):
            return f"{state} {uuid}"
        case e.CliStateChanged(state):
            return state
        case e.Requesting(uuids):
            return f"requesting {''.join(uuids)}"
        case e.Echoed(uuid):
            return f"echo {uuid}"
        case e.Result() as result:
            kind = result.terminal_reason or result.subtype
            return f"result {''.join(result.uuids)} {kind}{' of its own' if result.origin else ''}"
        case e.ToolReturned(is_error=is_error):
            return "error" if is_error else "returned"
        case event:
            return type(event).__name__


OPENING = ["requesting A", "echo A", "MessageStarted"]


def running(*more: Command) -> Claude:
    """It runs the prompt A, and has read more since."""
    it = claude(Prompt("A"))
    it.start(ALONE)
    it.request(YES)
    tell(it, *more)
    written(it)
    return it


def use(it: Claude) -> Tool:
    """A streamed and dispatched use of a tool."""
    it.use(YES)
    it.dispatch(it.tools[-1])
    return it.tools[-1]


def test_r01_a_turn_with_a_tool() -> None:
    it = claude(Prompt("A"))
    it.start(ALONE)
    it.request(YES)
    assert written(it) == ["running", "queued A", "started A", *OPENING]

    it.say(YES)
    tool = use(it)
    it.ask(tool, YES)
    assert written(it) == [Text.__name__, "ToolStarted", "ToolDispatched", "requires_action", "AskReceived"]

    tell(it, Reply(tool.ask or "", grants=True))
    it.finish(tool, YES)
    it.go_on(YES)
    it.end(YES)
    assert written(it) == [
        "running",
        "ToolHooked",
        "returned",
        "requesting A",
        "MessageStarted",
        "result A completed",
        "completed A",
        "idle",
    ]


def test_r02_two_waiting_prompts_run_together() -> None:
    it = running(Prompt("B"), Prompt("C"))
    it.end(YES)
    it.start(TOGETHER)
    it.request(YES)
    it.end(YES)

    assert written(it) == [
        "result A completed",
        "completed A",
        *("echo B", "started B", "started C", "requesting BC", "echo C", "MessageStarted"),
        *("result BC completed", "completed B", "completed C", "idle"),
    ]


def test_a_prompt_that_comes_during_a_tool_joins_the_run() -> None:
    it = running()
    tool = use(it)
    tell(it, Prompt("V"))
    it.finish(tool, YES)
    written(it)

    it.go_on(TOGETHER)
    it.end(YES)
    assert written(it) == [
        *("echo V", "started V", "requesting AV", "MessageStarted"),
        *("completed V", "result AV completed", "completed A", "idle"),
    ]


def test_r03_an_interrupt_that_drops_the_queue() -> None:
    it = running(Prompt("B"))
    tell(it, Stop(cancel_queued=True))

    assert written(it) == ["cancelled B", "result A aborted_streaming", "cancelled A", "idle"]


def test_r04_an_interrupt_that_keeps_the_queue() -> None:
    it = running(Prompt("B"))
    tell(it, Stop(cancel_queued=False))
    it.start(ALONE)

    assert written(it) == ["result A aborted_streaming", "cancelled A", "started B"]


def test_r06_an_interrupt_while_it_asks() -> None:
    it = running()
    it.ask(use(it), YES)
    written(it)
    tell(it, Stop(cancel_queued=True))

    assert written(it) == ["AskWithdrawn", "error", "result A aborted_tools", "cancelled A", "idle"]


def test_an_interrupt_before_anything_started_only_drops_the_queue() -> None:
    kept = claude(Prompt("A"), Stop(cancel_queued=False))
    dropped = claude(Prompt("A"), Stop(cancel_queued=True))

    assert written(kept) == ["running", "queued A"]
    assert kept.queue == ["A"]
    assert written(dropped) == ["running", "queued A", "cancelled A", "idle"]


def test_r07_a_message_that_does_not_wait_takes_the_place_of_what_runs() -> None:
    it = running(Prompt("B"))
    tell(it, Addition("S", "now"))
    it.start(ALONE)
    it.request(YES)

    assert written(it) == [
        *("queued S", "result A aborted_streaming", "cancelled A"),
        *("started S", "requesting S", "echo S", "MessageStarted"),
    ]
    assert it.queue == ["B"]


def test_a_message_that_waits_longest_comes_behind_every_prompt_and_joins_nothing() -> None:
    it = running(Addition("S", "later"), Prompt("B"))
    assert it.queue == ["B", "S"]

    it.go_on(TOGETHER)
    it.go_on(TOGETHER)
    assert it.queue == ["S"]


def test_a_message_that_waits_can_be_dropped() -> None:
    it = running(Prompt("B"), Drop("B"), Drop("A"))

    assert it.queue == []
    assert it.run is not None


def test_r08_a_task_in_the_background_brings_a_cycle() -> None:
    it = running()
    it.background = 1
    it.spent = it.spent.plus(it.spent)
    it.end(YES)
    written(it)

    it.start_cycle(YES)
    it.request(YES)
    it.end(YES)
    assert written(it)[-4:] == ["requesting ", "MessageStarted", "result  completed of its own", "idle"]


def test_r11_a_subagent_in_the_background_outlives_its_run_and_brings_a_cycle() -> None:
    it = running()
    it.launch(YES)
    it.spent = Tokens(7)
    it.end(YES)
    assert written(it) == ["ToolDispatched", "TaskStarted", "returned", "result A completed", "completed A"]

    it.go_on_behind(YES)
    it.end_agent(YES)
    it.start_cycle(YES)
    it.request(YES)
    it.end(YES)
    assert written(it) == [
        *("MessageStarted", "TaskEnded", "requesting ", "MessageStarted"),
        *("result  completed of its own", "idle"),
    ]


def test_r09_a_prompt_joins_the_cycle() -> None:
    it = claude()
    it.start_cycle(YES)
    it.request(YES)
    tell(it, Prompt("B"))
    written(it)

    it.go_on(TOGETHER)
    it.end(YES)
    assert written(it) == [
        *("echo B", "started B", "requesting B", "MessageStarted"),
        *("completed B", "result B completed of its own", "idle"),
    ]


def test_an_older_one_tells_nothing_of_messages_and_runs_them_one_by_one() -> None:
    ids = count(1)
    it = Claude(lambda kind: f"{kind}{next(ids)}", runs={}, refused=set(), marks=False)
    tell(it, Prompt("A"), Prompt("B"), Stop(cancel_queued=True), Drop("B"))
    it.start(TOGETHER)
    it.request(YES)
    it.end(YES)

    assert written(it) == ["running", "requesting ", "echo A", "MessageStarted", "result  completed"]
    assert it.queue == ["B"]
