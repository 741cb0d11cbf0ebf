"""What can happen to a subagent in the form of the public draft (M21)."""

from dataclasses import dataclass

from machines.children.child_outputs import ChildStop, Place


@dataclass(frozen=True, slots=True)
class Labels:
    """What a subagent is called; None for what is not known."""

    title: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What it is asked to do, by the call that asks it."""

    call: str
    text: str
    sender: Place | None = None


@dataclass(frozen=True, slots=True)
class Appear:
    """It is known whose subagent it is."""

    parent: Place
    labels: Labels
    lanes: tuple[str, ...] = ()
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Rename:
    """More is known of what it is called."""

    labels: Labels


@dataclass(frozen=True, slots=True)
class Delegate:
    """It is asked again; `asking` when a request of it is open."""

    lanes: tuple[str, ...] = ()
    request: Request | None = None
    asking: bool = False


@dataclass(frozen=True, slots=True)
class Wake:
    """It runs, and nobody says what for."""

    asking: bool = False


@dataclass(frozen=True, slots=True)
class AskOpened:
    """It asks the user something."""


@dataclass(frozen=True, slots=True)
class AsksClosed:
    """The last of its requests ended."""

    withdrawn: bool = False
    """A cancel or the end of the process withdrew it."""


@dataclass(frozen=True, slots=True)
class Spoke:
    """It says something new."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What it was asked is over."""

    stop: ChildStop | None = None
    error: str | None = None
    disconnected: bool = False


@dataclass(frozen=True, slots=True)
class Lose:
    """The process that it ran in is gone."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """It ended, and whose subagent it was is not known: no parent is guessed."""

    lanes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restore:
    """It is of a stored conversation; `shown` when the client was told of it, and how it ended."""

    parent: Place
    labels: Labels
    lanes: tuple[str, ...] = ()
    shown: bool = False
    stop: ChildStop | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Introduce:
    """A subagent of it is about to be announced."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The client was told the history, and now what is true of it."""


Input = (
    Appear | Rename | Delegate | Wake | AskOpened | AsksClosed | Spoke | Finish | Lose | Withdraw
    | Restore | Introduce | Repeat
)  # fmt: skip
