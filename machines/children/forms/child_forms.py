"""The forms in which subagents are shown, and what each has to know how to do (M20, M21)."""

from collections.abc import Collection
from typing import Literal, Protocol

from machines.children.agents import Agent
from machines.children.child_outputs import Place
from machines.children.delegations import Delegation, StoredAgent
from machines.children.forms.air_children import AirChildren
from machines.children.forms.rfd_children import RfdChildren
from machines.feed import Feed
from machines.tasks.task_events import TaskEnded
from machines.tools.calls import Calls

FormName = Literal["none", "air", "rfd"]


class ChildForm(Protocol):
    """Drives the lifecycle of each subagent of one session, in one form."""

    hides_launches: bool
    """The subagent is shown in place of the call that starts it."""
    ends_at_cancel: bool
    """A cancel ends every subagent, whatever Claude Code does with it."""

    def register(self, agent: Agent) -> None:
        """It began; whose it is may not be known yet."""

    def restore(self, agent: Agent, stored: StoredAgent, *, shown: bool, at: int) -> None:
        """It is of a stored conversation, which the client was told or not."""

    def is_shown(self, agent: Agent) -> bool:
        """It was announced, here or in a history that was told."""

    def repeat(self, agent: Agent) -> None:
        """The client was told the history: now what is true of it."""

    def is_waiting(self, agent: Agent) -> bool:
        """It is not announced yet."""

    def is_over(self, agent: Agent) -> bool:
        """Nothing of it is shown any more."""

    def place(self, agent: Agent) -> Place:
        """Where a subagent of it is announced."""

    def announce(self, agent: Agent, parent: Place) -> None:
        """Its place is known."""

    def rename(self, agent: Agent) -> None:
        """More is known of what it is called."""

    def delegate(self, agent: Agent, delegation: Delegation | None, text: str, sender: Place | None) -> None:
        """It is asked again, by a call or by nobody knows what."""

    def wake(self, agent: Agent, delegation: Delegation | None) -> None:
        """It runs, as a patch of its task says; `delegation` is the likely reason."""

    def ask(self, agent: Agent) -> None:
        """It asks the user something."""

    def close_asks(self, asking: Collection[str], *, withdrawn: bool) -> None:
        """These agents have an open request; of the others the last one ended."""

    def speak(self, agent: Agent) -> None:
        """It begins a message."""

    def finish(self, agent: Agent, event: TaskEnded) -> None:
        """A run of it ended."""

    def cancel(self, agent: Agent) -> None:
        """The user cancelled everything."""

    def lose(self, agent: Agent, *, cancelled: bool) -> None:
        """The process is gone."""


def form_of(name: FormName, feed: Feed, calls: Calls) -> ChildForm | None:
    """The form of a client; without one subagents show on the root."""
    match name:
        case "air":
            return AirChildren(feed, calls)
        case "rfd":
            return RfdChildren(feed, calls)
        case "none":
            return None
