"""One generation of a subagent in AIR's form: announced once, ended once, then silent (M20)."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from machines.children.child_outputs import ROOT, ChildEnd, EndChild, Place, RouteChild, SpawnChild
from machines.children.forms.air_child import AirChild, Extend, Finish, Generation, Restore, Spawn
from tests.machines.tables import Refused, Row, Walk, every, in_any_order, missing, refusals, step

IT = Generation("a:generation:2", "scout", "Look around", "Look around")
SPAWN, EXTEND = Spawn(Place("p"), ("c1",)), Extend(("c1", "c2"))
ENDS: tuple[ChildEnd, ...] = ("completed", "failed", "cancelled", "disconnected")
SAMPLES = (SPAWN, EXTEND, Restore(), *(Finish(ROOT, end) for end in ENDS))

SPAWNED = (
    SpawnChild(Place("p"), "a:generation:2", "scout", "Look around", "Look around"),
    RouteChild("a:generation:2", ("c1",)),
)
ROUTED = (RouteChild("a:generation:2", ("c1", "c2")),)

ROWS = (
    Row("M20 parent known", "registered", SPAWN, "live", SPAWNED),
    Row("M20 another lane", "registered", EXTEND, "registered"),
    Row("M20 another lane", "live", EXTEND, "live", ROUTED),
    Row("R.5 of before", "registered", Restore(), "disconnected"),
    Row("R.5 of before", "live", Restore(), "live"),
    *(Row("M20 end", "live", Finish(ROOT, end), end, (EndChild(ROOT, IT.session, end),)) for end in ENDS),
)
REFUSED: Refused = {("live", Spawn), ("registered", Finish)}


def at(state: str) -> AirChild:
    return AirChild(IT, start=state)


@every(ROWS)
def test_table(row: Row) -> None:
    assert step(at, row) == (row.then, row.outputs)


def test_every_transition_has_a_row() -> None:
    assert missing(AirChild, ROWS) == set()


def test_totality() -> None:
    assert refusals(AirChild, at, SAMPLES) == REFUSED


class AnyOrder(Walk):
    rows, refused = ROWS, REFUSED

    def create(self) -> AirChild:
        return AirChild(IT)

    def predict(self, state: str, event: Any) -> tuple[str, tuple[object, ...]]:
        match event:
            case Spawn():
                return "live", SPAWNED
            case Restore():
                return ("disconnected" if state == "registered" else state), ()
            case Extend():
                return state, ROUTED if state == "live" else ()
            case _:
                return event.state, (EndChild(event.parent, IT.session, event.state),)

    @rule(event=st.sampled_from(SAMPLES))
    def any_event(self, event: object) -> None:
        self.handle(event)
        kinds = [type(each) for each in self.outputs]
        assert kinds.count(SpawnChild) <= 1, "INV-H2: announced once"
        assert kinds.count(EndChild) <= 1
        assert EndChild not in kinds[:-1], "INV-H3: nothing after its end"


TestAnyOrder = in_any_order(AnyOrder)
