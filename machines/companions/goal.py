"""The goal that the user set, as the client was told (M12).

1. A goal command publishes what it asks for at once; until it ran, nothing else is published
   (INV-G2), and if it fails, what was published before comes back (INV-G1).
2. Claude Code's own `active_goal` is authoritative; without it the session mirror tells.
3. A goal never holds, settles or changes a prompt.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle, stay
from machines.companions.session_reports import GoalSnapshot, PublishGoal


@dataclass(frozen=True, slots=True)
class Submitted:
    """A goal command was written to Claude Code; without an objective it clears the goal."""

    uuid: str
    objective: str | None


@dataclass(frozen=True, slots=True)
class CommandStarted:
    """Claude Code took the command up."""

    uuid: str


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """The command's own result came."""

    uuid: str
    ok: bool


@dataclass(frozen=True, slots=True)
class CommandDropped:
    """The command was cancelled before it ran, or there is no process left to run it."""

    uuid: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """`active_goal`, or what the mirror says of it; None when there is no goal."""

    goal: GoalSnapshot | None


@dataclass(frozen=True, slots=True)
class Checked:
    """The mirror: the goal was checked and is not met yet."""

    objective: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Reset:
    """The conversation starts anew."""


Input = Submitted | CommandStarted | CommandEnded | CommandDropped | Told | Checked | Reset


class Goal(Lifecycle[Input, PublishGoal]):
    """Lifecycle of the goal of one session."""

    settled = State(initial=True)
    pending = State()
    running = State()

    submit = pending.from_(settled, pending, running, on="publish_expected")
    begin = pending.to(running, cond="is_mine") | stay(pending) | stay(running) | stay(settled)
    finish = (
        settled.from_(pending, running, cond="succeeded")
        | settled.from_(pending, running, cond="failed", on="publish_previous")
        | stay(pending)
        | stay(running)
        | stay(settled)
    )
    drop = (
        settled.from_(pending, running, cond="is_mine", on="publish_previous")
        | stay(pending)
        | stay(running)
        | stay(settled)
    )
    tell = (
        settled.from_(pending, running, cond="matches", on="publish_told")
        | stay(pending)
        | stay(running)
        | stay(settled, "publish_told")
    )
    check = (
        settled.from_(pending, running, cond="checks_expected", on="publish_checked")
        | stay(pending)
        | stay(running)
        | stay(settled, "publish_checked")
    )
    reset = settled.from_(settled, pending, running, on="publish_none")

    triggers: ClassVar[dict[type, str]] = {
        Submitted: "submit",
        CommandStarted: "begin",
        CommandEnded: "finish",
        CommandDropped: "drop",
        Told: "tell",
        Checked: "check",
        Reset: "reset",
    }

    def __init__(self, *listeners: object, start: str | None = None) -> None:
        self.published: GoalSnapshot | None = None
        self.previous: GoalSnapshot | None = None
        self.expected: str | None = None
        self.command = ""
        super().__init__(*listeners, start=start)

    # ── guards ──

    def is_mine(self, cause: CommandStarted | CommandDropped) -> bool:
        """It is about the command that is pending; None means every command."""
        return cause.uuid in {self.command, None}

    def succeeded(self, cause: CommandEnded) -> bool:
        """The pending command did what it was asked for."""
        return cause.uuid == self.command and cause.ok

    def failed(self, cause: CommandEnded) -> bool:
        """The pending command did not."""
        return cause.uuid == self.command and not cause.ok

    def matches(self, cause: Told) -> bool:
        """It tells the goal that the pending command asked for."""
        return (cause.goal.objective if cause.goal is not None else None) == self.expected

    def checks_expected(self, cause: Checked) -> bool:
        """It is about the goal that the pending command asked for."""
        return cause.objective == self.expected

    # ── actions ──

    def publish_expected(self, cause: Submitted) -> None:
        """Tell what the command asks for; a second command keeps what the first would restore."""
        if self.phase == "settled":
            self.previous = self.published
        self.command, self.expected = cause.uuid, cause.objective
        self._publish(GoalSnapshot(cause.objective) if cause.objective is not None else None)

    def publish_previous(self) -> None:
        """Tell what was there before the command failed."""
        self._publish(self.previous)

    def publish_told(self, cause: Told) -> None:
        """Tell what Claude Code says."""
        self._publish(cause.goal)

    def publish_checked(self, cause: Checked) -> None:
        """One more iteration."""
        known = self.published or GoalSnapshot(cause.objective)
        self._publish(replace(known, iterations=(known.iterations or 0) + 1, last_reason=cause.reason))

    def publish_none(self) -> None:
        """There is no goal in a new conversation."""
        if self.published is not None:
            self._publish(None)

    def _publish(self, goal: GoalSnapshot | None) -> None:
        self.published = goal
        self.put(PublishGoal(goal))
