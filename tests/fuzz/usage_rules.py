"""The invariants of what prompts used."""

from machines import events as e
from machines import outputs as o
from machines.results.usage import Tokens, Usage
from tests.fuzz.claude import MODEL
from tests.fuzz.runs import Run
from tests.fuzz.world import Rule, World


class Accounted(Rule):
    """CY-022, CY-023, INV-T6, INV-T8: usage is that of the own result, on the last one answered by it."""

    def __init__(self) -> None:
        self.answers: list[o.AnswerPrompt] = []
        self.held: list[o.AnswerPrompt] = []

    def before(self, world: World, event: e.Event) -> None:
        self.answers, self.held = [], []

    def see(self, world: World, output: o.Output) -> None:
        if isinstance(output, o.AnswerPrompt):
            held = world.is_held(world.prompts[output.turn])
            (self.held if held else self.answers).append(output)

    def rest(self, world: World) -> None:
        run = world.frame.run if world.frame is not None else None
        by_result = [
            answer
            for answer in self.answers
            if isinstance(world.cause, e.Result) and run is not None and answer.turn in run.members
        ]
        if any(world.is_steered(world.prompts[answer.turn]) for answer in (*self.answers, *self.held)):
            for answer in (*self.answers, *self.held):
                self._see_steered(world, answer)
            return
        for answer in self.held:
            assert answer.usage == _usage(world.runs[answer.turn]), f"INV-T8: {answer}"
        for answer in self.answers:
            if world.prompts[answer.turn].concluded:
                self._see_concluded(world, answer)
            elif not by_result or answer is not by_result[-1]:
                assert answer.usage is None
        if by_result and run is not None and not any(world.prompts[uuid].concluded for uuid in run.members):
            waits = any(world.prompts[uuid].answer is None for uuid in run.members)  # and it has the usage
            assert by_result[-1].usage == (None if waits else _usage(run))

    def _see_steered(self, world: World, answer: o.AnswerPrompt) -> None:
        """What it used is that of all its results; of prompts that share some, each has what it has."""
        asked = world.prompts[answer.turn]
        failed = asked.cancelled or answer.outcome.failure is not None
        if failed or asked.concluded or world.kin(asked) != {asked}:
            return
        used = Tokens()
        for run in dict.fromkeys(world.runs_of(asked)):
            used = used.plus(run.tokens) if world.has_ended(run) else used
        assert answer.usage == (Usage(used, ((MODEL, used),)) if used != Tokens() else None), (
            f"INV-T8: {answer}"
        )

    def _see_concluded(self, world: World, answer: o.AnswerPrompt) -> None:
        """It waited for reports: what it used was known before."""
        run = world.runs[answer.turn]
        last = max(run.members, key=lambda uuid: world.prompts[uuid].number)
        if answer.turn != last:
            others = [world.prompts[uuid] for uuid in run.members]
            assert answer.usage is None or all(other.cancelled for other in others if other.uuid == last)
        elif not world.prompts[last].cancelled:
            assert answer.usage == _usage(run)


def _usage(run: Run) -> Usage | None:
    return Usage(run.tokens, ((MODEL, run.tokens),)) if run.tokens != Tokens() else None
