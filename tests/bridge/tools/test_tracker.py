"""What the client holds is not sent again, and nothing else is left out (`tool-calls` §8)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tools.tracker import FIELDS, ChangedMeta, FieldTracker, same
from tests.bridge.tools.clients import Update

APPENDED = ("terminal_output", "terminal_output_delta", "terminal_exit", "mcp_output_delta")

VALUES = st.sampled_from(
    [1, True, 1.0, "x", None, [], [1], [True], {}, {"a": 1}, {"a": True, "b": [1]}, {"b": [1], "a": True}]
)
AIR_META = st.dictionaries(st.sampled_from(["version", "commandTitle", "skill"]), VALUES, min_size=1)
META = st.fixed_dictionaries(
    {},
    optional={
        "claudeCode": st.dictionaries(st.sampled_from(["toolName", "toolResponse"]), VALUES, min_size=1),
        "jetbrains": st.fixed_dictionaries({"air": AIR_META}, optional={"more": VALUES}),
        "is_mcp_tool_call": st.just(True),
        "terminal_info": st.just({"terminal_id": "t"}),
        "terminal_output_delta": st.just({"terminal_id": "t", "data": "x"}),
    },
)
UPDATES = st.builds(
    lambda kind, call, fields, meta: {"sessionUpdate": kind, "toolCallId": call, **fields, "_meta": meta},
    st.sampled_from(["tool_call", "tool_call_update", "tool_call_update", "tool_call_update"]),
    st.sampled_from(["t1", "t2"]),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3),
    META,
)
CALL: Update = {"sessionUpdate": "tool_call", "toolCallId": "t", "content": [], "title": "a", "_meta": {}}


class Client:
    """Merges what it gets, as AIR does with `_meta` too, and appends terminal data."""

    def __init__(self) -> None:
        self.calls: dict[str, dict[Any, Any]] = {}
        self.appended: list[Any] = []

    def get(self, update: Update | None) -> None:
        if update is None:
            return
        meta = update.get("_meta", {})
        fields = {key: value for key, value in update.items() if key != "_meta"}
        self.appended += [(key, value) for key, value in meta.items() if key in APPENDED]
        leaves = {
            (space, key): value
            for space, values in _spaces(meta)
            for key, value in values.items()
            if key not in APPENDED
        }
        start = {} if update["sessionUpdate"] == "tool_call" else self.calls.get(update["toolCallId"], {})
        self.calls[update["toolCallId"]] = start | fields | leaves


def _spaces(meta: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    jetbrains = meta.get("jetbrains", {})
    top = {key: value for key, value in meta.items() if key not in ("claudeCode", "jetbrains")}
    beside = {key: value for key, value in jetbrains.items() if key != "air"}
    return [
        ("", top),
        ("claude", meta.get("claudeCode", {})),
        ("air", jetbrains.get("air", {})),
        ("jb", beside),
    ]


@pytest.mark.contract("TC-011", "TC-012", "TC-079", "TC-087", "TC-088", "TC-089", "TC-090", "TC-091")
@given(st.lists(UPDATES, max_size=14))
def test_what_is_left_out_changes_nothing_for_the_client(updates: list[Update]) -> None:
    fields, meta = FieldTracker(), ChangedMeta()
    whole, reduced, air = Client(), Client(), Client()
    for update in updates:
        kept = fields.reduced(update)
        final = meta.reduced(kept) if kept else None
        whole.get(update)
        reduced.get(kept)
        air.get(final)
        call = update["toolCallId"]
        assert same(_told(whole, call), _told(reduced, call))
        assert same(_told(whole, call), _told(air, call))
    assert whole.appended == reduced.appended == air.appended


def _meta(update: Update) -> dict[str, Any]:
    found: dict[str, Any] = update.get("_meta", {})
    return found


def _told(client: Client, call: str) -> dict[str, Any]:
    return {str(key): value for key, value in client.calls.get(call, {}).items() if key != "sessionUpdate"}


@pytest.mark.contract("TC-011", "TC-012", "TC-013", "TC-087")
@given(st.lists(UPDATES, max_size=14))
def test_no_update_repeats_a_field_and_each_keeps_its_meta(updates: list[Update]) -> None:
    tracker = FieldTracker()
    client = Client()
    for call in ("t1", "t2"):
        client.get(tracker.reduced({**CALL, "toolCallId": call}))
    for update in updates:
        kept = tracker.reduced(update)
        held = client.calls.get(update["toolCallId"])
        if kept and held is not None and update["sessionUpdate"] == "tool_call_update":
            repeated = [key for key in FIELDS if key in kept and key in held and same(kept[key], held[key])]
            assert repeated == []
        assert kept is None or kept["_meta"] == update["_meta"]
        client.get(kept)


@pytest.mark.contract("TC-088", "TC-089", "TC-090")
@given(st.lists(UPDATES, max_size=14))
def test_air_gets_no_key_of_meta_twice_and_no_empty_update(updates: list[Update]) -> None:
    meta, client = ChangedMeta(), Client()
    for update in updates:
        kept = meta.reduced(update)
        if kept is None or update["sessionUpdate"] == "tool_call":
            client.get(kept)
            continue
        held = client.calls.get(update["toolCallId"])
        told = {
            (space, key): value for space, values in _spaces(_meta(kept)) for key, value in values.items()
        }
        if held is not None:
            assert kept.keys() - {"sessionUpdate", "toolCallId"}
            assert "_meta" not in kept or kept["_meta"]
            again = {
                at for at, value in told.items() if at in held and same(held[at], value) and at[0] != "jb"
            }
            assert again <= {("", key) for key in APPENDED}
        client.get(kept)


def changed(**fields: object) -> Update:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **fields, "_meta": {}}


@pytest.mark.contract("TC-191", "TC-192")
def test_a_pinned_preview_stays_until_something_may_replace_it() -> None:
    tracker = FieldTracker()
    tracker.reduced(CALL)
    tracker.pin("t", [{"type": "diff"}])

    assert tracker.reduced(changed(content=[], title="b")) == changed(title="b")
    assert tracker.reduced(changed(content=[{"type": "diff"}]), replace_content=True) is None, (
        "the client has it"
    )
    assert tracker.reduced(changed(content=[])) == changed(content=[]), "it is no longer pinned"


def test_a_forgotten_call_does_not_come_back() -> None:
    tracker = FieldTracker()
    tracker.reduced(CALL)
    tracker.forget("t")
    tracker.pin("t", [{"type": "diff"}])

    assert tracker.reduced(changed(title="a")) == changed(title="a"), "an unknown call passes unchanged"
    assert tracker.reduced(changed(title="a")) == changed(title="a")


@pytest.mark.contract("TC-012")
def test_a_repeated_key_of_meta_alone_is_no_news() -> None:
    tracker = FieldTracker()
    meta = {"claudeCode": {"toolName": "Read"}}
    tracker.reduced({**CALL, "_meta": meta})

    assert tracker.reduced({**changed(title="a"), "_meta": meta}) is None
    output = {**meta, "terminal_output": {"terminal_id": "t", "data": ""}}
    assert tracker.reduced({**changed(), "_meta": output}) == {**changed(), "_meta": output}


def test_air_is_remembered_for_2048_calls() -> None:
    meta = ChangedMeta()
    told = {"claudeCode": {"toolName": "Read"}}
    for number in range(2049):
        meta.reduced({"sessionUpdate": "tool_call", "toolCallId": f"t{number}", "_meta": told})

    assert meta.reduced({**changed(), "toolCallId": "t2048", "_meta": told}) is None
    assert meta.reduced({**changed(), "toolCallId": "t1", "_meta": told}) is None
    passed = {**changed(), "toolCallId": "t0", "_meta": told}
    assert meta.reduced(passed) == passed, "the first was the longest unused"


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (1, 1.0, True),
        (1, True, False),
        ([0], [False], False),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({}, [], False),
        ("1", 1, False),
        (None, False, False),
    ],
)
def test_values_are_compared_as_json(left: object, right: object, equal: bool) -> None:
    assert same(left, right) is same(right, left) is equal
