"""Which frames a client gets as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.messages.forwarding import wanted_frames

INIT = {"type": "system", "subtype": "init"}
RESULT = {"type": "result", "subtype": "success", "origin": {"kind": "human"}}
PRIVATE = ["control_request", "control_response", "control_cancel_request", "keep_alive", "transcript_mirror"]


@pytest.mark.contract("SE-008")
@pytest.mark.parametrize(
    ("setting", "taken"),
    [
        (True, [INIT, RESULT]),
        ([{"type": "result"}], [RESULT]),
        ([{"type": "system", "subtype": "init"}], [INIT]),
        ([{"type": "system", "subtype": "status"}], []),
        ([{"type": "result", "origin": "human"}], [RESULT]),
        ([{"type": "result", "origin": "peer"}], []),
        ([{"type": "system", "origin": "human"}], []),
        ([{"type": "x"}, {"type": "result"}, 5, "system", {"subtype": "init"}], [RESULT]),
        ([{"type": "system", "subtype": 5}], []),
    ],
)
def test_a_setting_names_frames(setting: object, taken: list[object]) -> None:
    wanted = wanted_frames(setting)
    assert wanted is not None
    assert [raw for raw in (INIT, RESULT) if wanted(raw)] == taken


@pytest.mark.parametrize("setting", [None, False, [], {}, {"type": "result"}, "all", 1, ["result"]])
def test_anything_else_forwards_nothing(setting: object) -> None:
    assert wanted_frames(setting) is None


@pytest.mark.parametrize("kind", PRIVATE)
def test_what_is_said_to_the_agent_alone_is_never_forwarded(kind: str) -> None:
    for setting in (True, [{"type": kind}]):
        wanted = wanted_frames(setting)
        assert wanted is not None
        assert not wanted({"type": kind})


@given(
    st.dictionaries(
        st.sampled_from(["type", "subtype", "origin"]), st.one_of(st.text(), st.none(), st.lists(st.none()))
    )
)
def test_a_frame_of_any_shape_is_no_error(raw: dict[str, object]) -> None:
    wanted = wanted_frames([{"type": "result", "subtype": "success", "origin": "human"}])
    assert wanted is not None
    assert not wanted(raw)
