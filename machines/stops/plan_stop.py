"""An answer to a plan that interrupts the turn, until its interruption arrives (M2.1, plain data)."""

from dataclasses import dataclass

from machines.events import PlanStopped, Result, ToolReturned


@dataclass(slots=True)
class PlanStop:
    """Which plan was answered, and whether its call has its result; it dies at the next result."""

    answer: PlanStopped | None = None
    seen: bool = False

    def begin(self, answer: PlanStopped) -> None:
        """The user rejected a plan, or accepted it for a fresh conversation."""
        self.answer, self.seen = answer, False

    def end(self) -> None:
        """A cancel or a result came: nothing is expected any more."""
        self.answer = None

    def accepts(self, result: ToolReturned) -> bool:
        """Whether a call's error stands for an accepted plan; notes that it came."""
        if self.answer is None or result.call != self.answer.call:
            return False
        self.seen = True
        return self.answer.afresh

    def restarts(self, result: Result) -> bool:
        """Whether a result is the interruption behind which the plan goes on afresh."""
        words = (result.diagnostic or "").split()
        interrupted = "result_type=user" in words and "stop_reason=tool_use" in words
        return self.answer is not None and self.answer.afresh and self.seen and interrupted
