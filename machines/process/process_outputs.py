"""What a session tells its Claude Code process: messages, replies, its start and its end."""

from dataclasses import dataclass
from typing import Literal

from machines.children.child_outputs import ROOT, Place


@dataclass(frozen=True, slots=True)
class StartQuery:
    """Start a process; `resume` takes up the stored conversation of the session."""

    resume: bool = False


@dataclass(frozen=True, slots=True)
class ReplaceQuery:
    """Drop the process and start another one with an empty conversation (M2.1)."""


@dataclass(frozen=True, slots=True)
class RecreateQuery:
    """Drop the process and start another one that takes up the conversation."""


@dataclass(frozen=True, slots=True)
class DropQuery:
    """Drop a process that was to replace another; the session is lost until work comes."""


@dataclass(frozen=True, slots=True)
class ContinuePlan:
    """Write the approved plan as the message of a turn that goes on."""

    turn: str


@dataclass(frozen=True, slots=True)
class StopQuery:
    """Stop the process; its end is `QueryStopped`."""


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Write the user message of a turn."""

    turn: str


@dataclass(frozen=True, slots=True)
class SendSteer:
    """Write a message into the running turn; `now` interrupts what is being generated."""

    steer: str
    priority: Literal["now", "next", "later"]


@dataclass(frozen=True, slots=True)
class AnswerSteer:
    """Answer a steering request."""

    steer: str
    outcome: Literal["injected", "startedNewTurn", "promptRequired"]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop what runs, and with `cancel_queued` drop what waits; its reply is never awaited."""

    cancel_queued: bool


@dataclass(frozen=True, slots=True)
class CancelMessage:
    """Drop one message that Claude Code has not started."""

    uuid: str


@dataclass(frozen=True, slots=True)
class PrepareAsk:
    """Find out what a permission request has to show; its end is `AskPrepared`."""

    ask: str


@dataclass(frozen=True, slots=True)
class ReplyAsk:
    """Reply with what the offered option means."""

    ask: str
    option: str


@dataclass(frozen=True, slots=True)
class DenyAsk:
    """Reply that the tool may not run, without having asked."""

    ask: str
    text: str


@dataclass(frozen=True, slots=True)
class AbortAsk:
    """Reply with an error: the tool does not run, the turn goes on."""

    ask: str
    text: str


@dataclass(frozen=True, slots=True)
class AskForm:
    """Send the `elicitation/create` request of a question."""

    ask: str
    place: Place = ROOT
    """The session that it is sent in."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """Reply with what the client answered to a form."""

    ask: str
    answer: object


@dataclass(frozen=True, slots=True)
class ApplyChange:
    """Carry out a change of mode or configuration; its end is `ChangeFinished`."""

    change: str
