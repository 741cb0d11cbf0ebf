"""What happens between Claude Code and the agent: moves, and frames that come wrong."""

from dataclasses import replace

from machines import events as e
from tests.fuzz.runs import Frame, Text
from tests.fuzz.world import World

LOSABLE = (e.Requesting, e.Echoed, e.ToolStarted, e.ToolProgressed, e.ToolHooked, e.CliStateChanged)
"""Frames without which Claude Code is still understood, if only one kind of them is missing."""

TELLING = (e.Requesting, e.Echoed)
"""Losing one of them hides for a while where a message is."""

LATE = (e.ToolReturned, e.ToolHooked, e.ToolProgressed, e.ToolDenied, e.AskWithdrawn, e.Echoed)
"""Frames that may come long after their work ended."""

EITHER_ORDER = (
    (e.Result, e.CommandMoved),
    (e.CommandMoved, e.Result),
    (e.ToolHooked, e.ToolReturned),
    (e.CommandMoved, e.CommandMoved),
    (e.Requesting, e.Echoed),
    (e.Echoed, e.CommandMoved),
    (e.AskWithdrawn, e.CliStateChanged),
)
"""Frames that no version of Claude Code promises to order."""


def act(world: World, pick: int) -> bool:
    """Claude Code does one of its moves; False when there is none."""
    return world.process == "live" and world.claude is not None and world.claude.act(pick)


def act_to_the_end(world: World) -> bool:
    """Claude Code does the move that leads to its end."""
    claude = world.claude
    if claude is None or world.process != "live" or claude.dead:
        return False
    moves = claude.moves()
    if not moves:
        return False
    run_ends = claude.end in moves
    (claude.end if run_ends else claude.read if claude.inbox else moves[-1])(0)
    return True


def disturb(world: World, pick: int) -> None:
    """Do to the oldest frame under way what the number picks, if it may happen to it."""
    assert world.claude is not None
    outbox, (kind, rest) = world.claude.outbox, divmod(pick, 64)
    match kind:
        case 0:
            _repeat(world)
        case 1:
            _lose(world)
        case 2:
            _swap(world)
        case _:
            late = [frame for frame in world.delivered if isinstance(frame.event, LATE)]
            if late and world.process == "live":
                frame = late[rest % len(late)]
                if frame.run is None or world.is_over(frame.run):
                    outbox.appendleft(replace(frame, odd=True))


def _repeat(world: World) -> None:
    assert world.claude is not None
    frame = world.claude.outbox[0]
    once = (Text, e.AskReceived, e.FormReceived, e.StreamClosed)
    if not isinstance(frame.event, once) and (world.marks or not isinstance(frame.event, e.Result)):
        world.claude.outbox.insert(1, replace(frame, odd=True))


def _lose(world: World) -> None:
    assert world.claude is not None
    frame = world.claude.outbox[0]
    if not isinstance(frame.event, LOSABLE) or frame.event == e.CliStateChanged("idle"):
        return
    if isinstance(frame.event, TELLING):
        if not world.marks or frame.run is None or frame.run.garbled:
            return
        frame.run.garbled = True
    world.claude.outbox.popleft()


def _swap(world: World) -> None:
    assert world.claude is not None
    outbox = world.claude.outbox
    if len(outbox) < 2:
        return
    first, second = outbox[0], outbox[1]
    if (type(first.event), type(second.event)) in EITHER_ORDER and _of_two(first, second):
        outbox[0], outbox[1] = second, first


def _of_two(first: Frame, second: Frame) -> bool:
    """Two frames about one message keep their order."""
    both = isinstance(first.event, e.CommandMoved) and isinstance(second.event, e.CommandMoved)
    return not both or first.event.uuid != second.event.uuid  # type: ignore[union-attr]
