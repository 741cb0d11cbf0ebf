"""A session with subagents: what Claude Code says of them, and in short what the client is told."""

from typing import Any, get_args

from machines import events as e
from machines import outputs as o
from machines.children.child_outputs import (
    ChildOutput,
    EndChild,
    ForgetChild,
    MessageChild,
    RouteChild,
    ShowFailedLaunch,
    SpawnChild,
    UpdateChild,
)
from machines.children.forms.child_forms import FormName
from tests.machines.talk import (
    OPTIONS,
    Talk,
    begin,
    prepared,
    prompt,
)

CHILD = get_args(ChildOutput)
NEWS = (*CHILD, o.ShowCall, o.RefineCall, o.ReturnCall, o.CloseCall, o.AskClient, o.AnswerPrompt)


def launch(call: str, lane: str | None = None, **input: str) -> e.ToolDispatched:
    told = {"description": "Help", "prompt": "Go.", "subagent_type": "explorer", **input}
    return e.ToolDispatched(e.ToolUse(call, "Agent", told, lane))


def message(call: str, to: str, lane: str | None = None) -> e.ToolDispatched:
    told = {"to": to, "message": f"More by {call}."}
    return e.ToolDispatched(e.ToolUse(call, "SendMessage", told, lane))


def resumed(call: str, agent: str) -> e.ToolReturned:
    return e.ToolReturned(call, structured={"success": True, "resumedAgentId": agent})


def started(
    agent: str, call: str | None, *, run: str = "", background: bool = False, **facts: str
) -> e.TaskStarted:
    told = e.TaskFacts("local_agent", subagent_type="explorer", prompt=facts.get("prompt", ""))
    return e.TaskStarted(agent, call, True, background, None, run, told)


def ended(agent: str, status: str = "completed", **more: Any) -> e.TaskEnded:
    return e.TaskEnded(agent, status=status, **more)


def child_call(call: str, lane: str) -> e.ToolDispatched:
    return e.ToolDispatched(e.ToolUse(call, "Bash", {"command": "ls"}, lane))


def asks(ask: str, call: str, agent: str) -> tuple[Any, ...]:
    return (e.AskReceived(ask, e.ToolUse(call, "Bash", {"command": "ls"}), OPTIONS, agent), prepared(ask))


def talk(form: FormName, *events: Any) -> Talk:
    return Talk(prompt("A"), begin("A"), *events, form=form)


def news(outputs: list[Any]) -> list[Any]:
    """What concerns subagents and calls."""
    return [each for each in outputs if isinstance(each, NEWS)]


def said(outputs: list[Any]) -> list[str]:
    """The same in short."""
    return [_short(each) for each in news(outputs)]


def _short(output: Any) -> str:
    match output:
        case SpawnChild(parent, session):
            return f"{parent.child or 'root'} spawned {session}"
        case EndChild(parent, session, state):
            return f"{parent.child or 'root'} {state} {session}"
        case UpdateChild(parent, session, _, _, state, stop, error):
            words = (parent.child or "root", session, state or "renamed", stop, error)
            return " ".join(word for word in words if word)
        case MessageChild(session, id, sender):
            return f"{session} {id} from {'nobody' if sender is None else sender.child or 'root'}"
        case RouteChild(session, lanes):
            return f"{','.join(lanes)} to {session}"
        case ForgetChild(lanes):
            return f"forget {','.join(lanes)}"
        case ShowFailedLaunch(use):
            return f"failed {use.call}"
        case o.ShowCall(use) | o.RefineCall(use):
            return f"{type(output).__name__} {use.call}"
        case o.ReturnCall(result, status):
            return f"{status} {result.call}"
        case o.CloseCall(call):
            return f"close {call}"
        case o.AskClient(ask, place):
            return f"ask {ask} on {place.child or 'root'}"
        case _:
            return str(output.outcome.stop_reason)


RUNNING = ["ShowCall c1", "root a running", "a c1 from root", "c1 to a"]
SPAWNED = ["root spawned a", "c1 to a"]


def working(form: FormName, *more: Any) -> Talk:
    """A subagent that works."""
    return talk(form, launch("c1", name="scout"), started("a", "c1", run="1"), *more)
