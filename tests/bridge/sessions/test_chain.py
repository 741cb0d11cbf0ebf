import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.sessions.chain import Node, active_chain, open_transcript
from tests.bridge.sessions.histories import History, call, identity

ID = identity(7)


def chain_of(history: History, folder: Path, lines: Iterable[bytes] | None = None) -> list[str]:
    """The uuids of the prompts, answers and results of the active chain."""
    path = folder / "t.jsonl"
    path.write_bytes(b"\n".join(history.lines() if lines is None else lines) + b"\n")
    with open_transcript(path) as transcript:
        return [node.uuid for node in active_chain(transcript.nodes) if node.is_turn]


def turns(history: History) -> list[str]:
    return [record["uuid"] for record in history.records if record["type"] in ("user", "assistant")]


def conversation(count: int = 3) -> History:
    """Turns with what Claude Code writes between them."""
    history = History(ID)
    for number in range(count):
        history.note("queue-operation", operation="enqueue")
        history.prompt(f"prompt {number}")
        history.add("attachment", attachment={"type": "date"})
        history.answer("I look.", call(f"toolu_{number}"))
        history.results(f"toolu_{number}")
        history.add("system", subtype="local_command", content="x")
        history.answer("Done.")
        history.note("last-prompt", lastPrompt="x")
    return history


def test_the_chain_is_the_conversation_in_its_order(tmp_path: Path) -> None:
    history = conversation()
    history.add("attachment", attachment={"type": "prompt_snapshot"})
    assert chain_of(history, tmp_path) == turns(history)


@settings(deadline=None)
@given(st.integers(0))
def test_the_order_of_the_lines_does_not_matter(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    history = conversation()
    lines = history.lines()
    Random(seed).shuffle(lines)
    assert chain_of(history, tmp_path_factory.mktemp("t"), lines) == turns(history)


@settings(deadline=None)
@given(
    st.integers(0, 26),
    st.sampled_from([b"", b"{broken", b'{"uuid":3}', b"\0" * 50, b'{"uuid":"x","type":"user"']),
)
def test_a_broken_line_costs_no_more_than_itself(
    tmp_path_factory: pytest.TempPathFactory, place: int, broken: bytes
) -> None:
    history = conversation()
    lines = history.lines()
    lost = history.records[place].get("uuid")
    lines[place] = broken
    chain = chain_of(history, tmp_path_factory.mktemp("t"), lines)
    assert [uuid for uuid in turns(history) if uuid != lost] == chain


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_last_line_that_is_still_being_written_is_left_out(tmp_path: Path, cut: int) -> None:
    history = conversation()
    history.records = history.records[:-1]
    path = tmp_path / "t"
    path.write_bytes(b"\n".join(history.lines())[:-cut])
    with open_transcript(path) as transcript:
        chain = [node.uuid for node in active_chain(transcript.nodes) if node.is_turn]
    assert chain == turns(history)[:-1]


def test_a_last_line_without_its_end_counts_when_it_is_whole(tmp_path: Path) -> None:
    history = conversation()
    path = tmp_path / "t"
    path.write_bytes(b"\n".join(history.lines()))
    with open_transcript(path) as transcript:
        assert [node.uuid for node in active_chain(transcript.nodes) if node.is_turn] == turns(history)


def test_dead_branches_are_left_out_and_the_last_branch_counts(tmp_path: Path) -> None:
    history = conversation(1)
    fork, kept = history.leaf, turns(history)
    history.prompt("taken back")
    history.answer("never mind")
    history.leaf = fork
    history.prompt("instead")
    history.answer("yes")
    assert chain_of(history, tmp_path) == kept + turns(history)[-2:]


def test_subagents_teams_and_meta_records_are_no_leaf(tmp_path: Path) -> None:
    history = conversation(1)
    kept = turns(history)
    for fields in ({"isSidechain": True}, {"teamName": "t"}, {"isMeta": True}):
        history.add("user", parent=kept[1], message={"role": "user", "content": "x"}, **fields)
    assert chain_of(history, tmp_path) == kept


def test_a_conversation_that_ends_with_a_meta_record_alone_still_ends_there(tmp_path: Path) -> None:
    history = conversation(1)
    history.add("user", message={"role": "user", "content": "x"}, isMeta=True)
    assert chain_of(history, tmp_path) == turns(history)


def test_a_subagent_s_own_file_is_its_main_thread(tmp_path: Path) -> None:
    history = History(ID)
    history.prompt("look", isSidechain=True, agentId="a1")
    history.answer("found", isSidechain=True, agentId="a1")
    history.write(tmp_path / "agent.jsonl")
    with open_transcript(tmp_path / "agent.jsonl") as transcript:
        assert active_chain(transcript.nodes) == []
        assert [node.uuid for node in active_chain(transcript.nodes, of_agent=True)] == turns(history)


def test_a_compaction_begins_anew(tmp_path: Path) -> None:
    history = conversation(2)
    history.compact("all of it")
    start = len(turns(history)) - 1
    history.prompt("go on")
    history.compact("all of that too")
    again = len(turns(history)) - 1
    history.prompt("and on")
    history.answer("yes")
    assert chain_of(history, tmp_path) == turns(history)[again:]
    assert again > start


def test_a_boundary_that_names_a_parent_begins_anew_too(tmp_path: Path) -> None:
    history = conversation(1)
    before = history.leaf
    history.compact("all of it")
    history.records[-2]["parentUuid"] = before
    history.answer("yes")
    assert chain_of(history, tmp_path) == turns(history)[-2:]


def test_what_a_compaction_preserved_comes_behind_its_summary(tmp_path: Path) -> None:
    history = conversation(1)
    kept = turns(history)[-2:]
    history.compact("the rest", preserved=[*kept, "gone", kept[0]])
    summary = turns(history)[-1]
    history.prompt("go on")
    assert chain_of(history, tmp_path) == [summary, *kept, turns(history)[-1]]


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.data())
@example([3], None)
def test_all_calls_and_results_of_parallel_tools_are_there_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject | None
) -> None:
    history = History(ID)
    for number, size in enumerate(sizes):
        history.prompt(f"prompt {number}")
        calls = [f"toolu_{number}_{each}" for each in range(size)]
        history.answer("I look.", *map(call, calls))
        history.results(*(data.draw(st.permutations(calls)) if data else calls))
    history.answer("Done.")
    path = history.write(tmp_path_factory.mktemp("t") / "t.jsonl")
    with open_transcript(path) as transcript:
        chain = active_chain(transcript.nodes)
    assert sorted(node.uuid for node in chain) == sorted(turns(history))
    places = {
        each: place
        for place, node in enumerate(chain)
        for each in (*node.calls, *(f"{a}!" for a in node.answers))
    }
    assert all(places[each] < places[f"{each}!"] for each in places if not each.endswith("!"))
    prompts = [place for place, node in enumerate(chain) if node.type == "user" and not node.answers]
    assert all(
        start < places[each] < end
        for number, (start, end) in enumerate(pairwise([*prompts, len(chain)]))
        for each in places
        if each.startswith(f"toolu_{number}_")
    )


def test_a_call_that_two_answers_claim_places_no_result(tmp_path: Path) -> None:
    history = History(ID)
    history.prompt("go")
    history.answer(call("toolu_1"))
    lost = history.leaf
    history.answer(call("toolu_1"))
    history.add(
        "user",
        parent=lost,
        message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]},
    )
    history.leaf = turns(history)[2]
    history.answer("Done.")
    assert chain_of(history, tmp_path) == [*turns(history)[:3], turns(history)[4]]


NODES = st.lists(
    st.builds(
        Node,
        uuid=st.sampled_from("abcdefgh"),
        parent=st.none() | st.sampled_from("abcdefghx"),
        type=st.sampled_from(["user", "assistant", "system", "attachment", "new kind", ""]),
        agent=st.none() | st.just("") | st.just("a1"),
        hidden=st.booleans(),
        message_id=st.none() | st.sampled_from("mn"),
        calls=st.lists(st.sampled_from("12"), max_size=2).map(tuple),
        answers=st.lists(st.sampled_from("12"), max_size=2).map(tuple),
        is_boundary=st.booleans(),
        preserved=st.none() | st.just(("a", ("b", "c", "x"))),
    ),
    max_size=12,
)


@given(NODES, st.booleans())
def test_any_graph_gives_a_chain_without_repeats(nodes: list[Node], of_agent: bool) -> None:
    chain = active_chain(nodes, of_agent=of_agent)
    assert len({node.uuid for node in chain}) == len(chain)
    assert all(node in nodes for node in chain)
    main = [node for node in nodes if of_agent or node.agent is None]
    latest = {node.uuid: node for node in main}.values()
    assert bool(chain) == any(node.is_turn for node in latest)


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "c", "b": "a", "c": "b"}])
def test_a_cycle_shows_each_record_once(parents: dict[str, str]) -> None:
    nodes = [Node(uuid, parent, "user") for uuid, parent in parents.items()]
    assert sorted(node.uuid for node in active_chain(nodes)) == sorted(parents)


def test_a_long_chain_takes_linear_time() -> None:
    nodes = [
        Node(str(k), str(k - 1) if k else None, "attachment" if k % 3 else "user") for k in range(200_000)
    ]
    ends = [Node(f"end {k}", str(k), "attachment") for k in range(0, 200_000, 2)]
    assert len(active_chain([*nodes, *ends])) == 199_999


def test_a_record_of_a_file_that_changed_under_the_reader_is_gone(tmp_path: Path) -> None:
    path = conversation(2).write(tmp_path / "t.jsonl")
    with open_transcript(path) as transcript:
        assert all((transcript.record(node) or {})["uuid"] == node.uuid for node in transcript.nodes)
        path.write_bytes(b"{}\n" * 10_000)
        assert all(transcript.record(node) is None for node in transcript.nodes)
        path.write_bytes(b"")
        assert all(transcript.record(node) is None for node in transcript.nodes)


def test_odd_shapes_of_records_are_taken_as_they_come(tmp_path: Path) -> None:
    records = [
        {"uuid": "a", "type": 3, "message": "x", "parentUuid": 7},
        {
            "uuid": "b",
            "type": "assistant",
            "message": {"content": [3, {"type": "tool_use", "id": 4}], "id": ""},
        },
        {
            "uuid": "c",
            "type": "system",
            "subtype": "compact_boundary",
            "compactMetadata": {"preservedMessages": 3},
        },
        {"uuid": "", "type": "user"},
        {"uuid": ["x"]},
        {"message": {"content": {"uuid": "no record of its own"}}},
    ]
    path = tmp_path / "t"
    path.write_text("\n".join(map(json.dumps, records)))
    with open_transcript(path) as transcript:
        assert [node.uuid for node in transcript.nodes] == ["a", "b", "c"]
        assert [node.uuid for node in active_chain(transcript.nodes)] == ["b"]
