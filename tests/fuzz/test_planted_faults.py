"""The fuzz fails when a fault is planted: a net that nothing falls through is worth trusting.

Faults, each with the invariant that it breaks:

1. a prompt is settled by the result of other work (INV-T6)
2. a cancel forgets to withdraw an open request (INV-P2, LIVE-P1)
3. the tokens of a cycle are counted for a prompt (INV-T6, INV-T8)
4. a prompt is answered twice (INV-T1)
5. a queued prompt is dropped by a cancel without an answer (LIVE-T2)
6. the last open call is not closed when its work ends (INV-F2, LIVE-C1)
7. the cancel window is not cleared by new work (INV-X3)
8. what waits is written in the reverse order (INV-T2)
9. what waits is not written when a lost process was replaced (INV-S6)
10. an option that was not offered grants (INV-P3)
11. a cancelled prompt that runs after all is shown (INV-X1)
12. a call whose work was stopped is shown as if nothing had happened (M6)
13. a prompt that runs together with another is never told to be in the conversation (INV-T7)
14. what was added to a prompt outlives the prompt's cancel (M6.1, INV-X1)
15. a turn ends with the half that an added message broke off (M4.5)
16. a turn keeps the output of a prompt that takes its place (M4.1, INV-T2)
17. a prompt is answered before the subagents that it started (M4.1)
18. a prompt is answered by the follow-up of one subagent while another still runs (M4.1)
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import machines.turns.holding
import machines.turns.steering
import machines.turns.work
from machines import outputs as o
from machines.permissions.asks import Asks
from machines.permissions.permission import Permission
from machines.results.attribution import Own, attribute
from machines.results.usage import Tally, Tokens, read_tokens
from machines.stops.stops import Stops
from machines.tools.calls import Calls
from machines.tools.tool_call import Close
from machines.turns.intake import Intake
from machines.turns.turn import Turn
from machines.turns.turns import Turns
from machines.turns.work import Work
from tests.fuzz.session import Session

EXAMPLES = 5_000

Plant = Callable[[pytest.MonkeyPatch], None]


def settle_at_the_wrong_result(patch: pytest.MonkeyPatch) -> None:
    def wrong(result: Any, turns: Turns, ledger: Any) -> Any:
        active = turns.active
        return Own((active,)) if active is not None else attribute(result, turns, ledger)

    patch.setattr(machines.turns.work, "attribute", wrong)


def forget_the_withdrawal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Asks, "cancel_all", lambda *_: None)


def count_the_tokens_of_cycles(patch: pytest.MonkeyPatch) -> None:
    read = Tally.read

    def reads_all(self: Tally, usage: Any, models: Any, *, own: bool) -> None:
        read(self, usage, models, own=own)
        assert self.totals is not None
        if own:
            self.own = self.own.plus(self.totals.pop("of cycles", Tokens()))
        else:
            self.totals["of cycles"] = read_tokens(usage)

    patch.setattr(Tally, "read", reads_all)


def answer_twice(patch: pytest.MonkeyPatch) -> None:
    def twice(self: Turn) -> None:
        for _ in range(2):
            self.put(o.AnswerPrompt(self.uuid, self.outcome, self.usage))

    patch.setattr(Turn, "answer", twice)


def drop_a_queued_prompt(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Turn, "answer_cancelled", lambda self: None)


def leave_a_call_open(patch: pytest.MonkeyPatch) -> None:
    def all_but_the_last(self: Any, occasion: Any, keep: Any = lambda use: False) -> bool:
        closing = [call for call in self._open.values() if not keep(call.use)][:-1]
        for call in closing:
            self._feed(call, Close(occasion))
            self._end(call.use.call)
        return False

    patch.setattr(Calls, "close_all", all_but_the_last)


def keep_the_window(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Work, "renew", lambda self: None)


def write_in_reverse(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Turns, "__iter__", lambda self: iter(tuple(self.by_uuid.values())[::-1]))


def lose_what_waits(patch: pytest.MonkeyPatch) -> None:
    send = Intake.send_waiting

    def send_one(self: Any) -> None:
        if sum(turn.phase == "received" for turn in self._turns) == 1:
            send(self)

    patch.setattr(Intake, "send_waiting", send_one)


def grant_what_was_not_offered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Permission, "grants", lambda self, cause: cause.option is not None)


def show_what_was_cancelled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stops, "_hide_orphan", lambda self: None)


def show_a_new_call(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Work, "admits", lambda self, parent: True)


def forget_who_joins(patch: pytest.MonkeyPatch) -> None:
    insert = Turn.insert

    def only_active(self: Turn, target: Any) -> None:
        if target.id == "working":
            insert(self)

    patch.setattr(Turn, "insert", only_active)


def forget_what_was_added(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stops, "_disown_steers", lambda *_, **__: None)


def end_with_the_first_half(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machines.turns.steering, "ends_turn", lambda *_: True)


def keep_who_takes_its_place(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Work, "hand_off", lambda self, active: None)


def leave_subagents_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machines.turns.holding, "waits", lambda *_: False)


def forget_the_other_subagent(patch: pytest.MonkeyPatch) -> None:
    def is_free(turn: Turn | None, tasks: Any) -> bool:
        return turn is not None and turn.phase == "held"

    patch.setattr(machines.turns.holding, "is_free", is_free)


PLANTS: tuple[Plant, ...] = (
    settle_at_the_wrong_result,
    forget_the_withdrawal,
    count_the_tokens_of_cycles,
    answer_twice,
    drop_a_queued_prompt,
    leave_a_call_open,
    keep_the_window,
    write_in_reverse,
    lose_what_waits,
    grant_what_was_not_offered,
    show_what_was_cancelled,
    show_a_new_call,
    forget_who_joins,
    forget_what_was_added,
    end_with_the_first_half,
    keep_who_takes_its_place,
    leave_subagents_alone,
    forget_the_other_subagent,
)


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_the_fuzz_finds_a_planted_fault(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            Session,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=20,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=[*HealthCheck],
            ),
        )
