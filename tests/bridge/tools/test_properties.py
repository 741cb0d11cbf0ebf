"""What holds for every call of every tool, whatever happens to it, for every kind of client."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.diffs.patch import patch_block
from bridge.tools.facts import Content
from bridge.tools.plans import is_plan_tool
from bridge.tools.report import ToolReports
from bridge.tools.reporters import reporter_of
from bridge.tools.tracker import FIELDS, ChangedMeta, FieldTracker, same
from machines.events import ToolDenied, ToolHooked, ToolProgressed, ToolReturned, ToolUse
from tests.bridge.tools.clients import AIR, CLIENTS, Update, check, declared
from tests.bridge.tools.test_titles import TITLES, text
from tests.bridge.tools.test_tracker import Client

PATCH = patch_block("/w/a.txt", "@@ -1 +1 @@\n-x\n+y\n")
NOTICE = text("Overwrites the existing file `/w/a.txt`.")
SAMPLES: dict[str, list[dict[str, Any]]] = {}
for _tool, _given, *_ in TITLES:
    SAMPLES.setdefault(_tool or "Nameless", []).append(_given)
SAMPLES["Write"] += [{"file_path": "/w/a.txt", "content": "text of the file"}]
SAMPLES["Edit"] += [{"file_path": "/w/a.txt", "old_string": "text of", "new_string": "the file"}]
SAMPLES["Skill"] += [{"skill": "demo", "args": "x"}]
SAMPLES["ExitPlanMode"] += [{"plan": "# P", "planFilePath": " "}, {"plan": "# P", "planFilePath": "/gone.md"}]
SAMPLES["NotebookEdit"] += [{"notebook_path": "/w/n.ipynb", "new_source": "print(1)"}]

STRUCTURED: list[Any] = [
    None,
    "User rejected tool use",
    {"stdout": "o", "stderr": "", "interrupted": True},
    {"stdout": "o", "stderr": "e", "backgroundTaskId": "b1"},
    {"status": "completed", "content": [{"type": "text", "text": "report"}]},
    {"type": "text", "file": {"content": "a\nb\n", "startLine": 1}},
    {"type": "update", "filePath": "/w/a.txt", "originalFile": "old", "content": "new"},
    {"filePath": "/w/a.txt", "structuredPatch": [{"newStart": 2, "lines": ["-a", "+b"]}]},
]
RESULTS: list[Any] = ["", "plain text", "Exit code 3\nbad", [], [{"type": "text", "text": "block"}], None]


@dataclass(frozen=True)
class Story:
    """One call, from its first sight to its end."""

    use: ToolUse
    streamed: bool
    cuts: list[int]
    asked: bool
    preview: Content | None
    beats: int
    hook: Any
    hook_first: bool
    end: str
    content: Any
    structured: Any

    def steps(self) -> Iterator[tuple[str, Any]]:
        if self.streamed:
            yield "started", None
            whole = json.dumps(self.use.input)
            edges = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in self.cuts)})
            yield from (("fragment", whole[start:end]) for start, end in pairwise(edges))
        yield "dispatched", None
        if self.asked:
            yield "asked", None
        yield from (("beat", number) for number in range(self.beats))
        ends = ["denied", "returned"] if self.end == "denied" else [self.end]
        if self.hook is not None and self.end == "returned":
            ends = ["hooked", *ends] if self.hook_first else [*ends, "hooked"]
        yield from ((end, None) for end in ends)


def _story(call: str) -> st.SearchStrategy[Story]:
    tools = st.sampled_from(sorted(SAMPLES)).flatmap(
        lambda tool: st.builds(
            lambda given, parent: ToolUse(call, tool, given, parent),
            st.sampled_from(SAMPLES[tool]) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
            st.sampled_from([None, "t0"]),
        )
    )
    return st.builds(
        Story,
        tools,
        streamed=st.booleans(),
        cuts=st.lists(st.integers(0, 500), max_size=6),
        asked=st.booleans(),
        preview=st.sampled_from([None, [PATCH], [NOTICE]]),
        beats=st.integers(0, 2),
        hook=st.sampled_from(STRUCTURED),
        hook_first=st.booleans(),
        end=st.sampled_from(["returned", "returned", "failed", "denied", "closed"]),
        content=st.sampled_from(RESULTS),
        structured=st.sampled_from(STRUCTURED),
    )


STORIES = st.tuples(_story("t1"), _story("t2"), st.lists(st.booleans(), max_size=20))


@dataclass
class Stage:
    """Plays stories to one client and keeps what it got."""

    client: ClientCapabilities
    everything: bool = False
    sent: list[Update] = field(default_factory=list)
    held: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        exact = Change((PATCH,), ({"path": "/w/a.txt", "line": 1},))
        self.reports = ToolReports(self.client, "/w", "/h", final_diff=lambda *_: exact)
        if self.everything:
            self.reports._held = Everything()
            self.reports._sent_meta = NothingLeftOut()

    def play(self, first: Story, second: Story, turns: list[bool]) -> None:
        """The steps of two calls, one after the other or by turns."""
        rests = [list(first.steps()), list(second.steps())]
        stories = [first, second]
        for turn in [*turns, *([False] * len(rests[0])), *([True] * len(rests[1]))]:
            if rests[turn]:
                self.step(stories[turn], *rests[turn].pop(0))

    def step(self, story: Story, step: str, told: Any) -> None:
        use, mine = story.use, self.reports
        failed = step != "returned" or story.end == "denied"
        result = ToolReturned(use.call, story.content, failed, story.structured)
        status = "failed" if failed else "completed"
        steps: dict[str, Callable[[], list[Update]]] = {
            "started": lambda: self._start(use),
            "fragment": lambda: mine.fragment(None, int(use.call[1:]), told),
            "dispatched": lambda: mine.dispatched(use),
            "asked": lambda: self._ask(story),
            "beat": lambda: mine.progressed(ToolProgressed(use.call, use.name, None, told), use.call),
            "denied": lambda: mine.denied(ToolDenied(use.call, use.name, "rule", "no", "No.")),
            "hooked": lambda: mine.hooked(ToolHooked(use.call, use.name, use.input, story.hook)),
            "closed": lambda: mine.closed(use.call, "Cancelled.", "failed"),
            "returned": lambda: mine.returned(result, status),
            "failed": lambda: mine.returned(result, status),
        }
        for update in steps[step]():
            self.sent.append(update)
            if "toolCallId" in update:
                self.held.get(update)

    def _start(self, use: ToolUse) -> list[Update]:
        sent = self.reports.started(ToolUse(use.call, use.name, {}, use.parent))
        self.reports.input_started(None, int(use.call[1:]), use.call)
        return sent

    def _ask(self, story: Story) -> list[Update]:
        edits = reporter_of(story.use.name).edits_file and self.client.diff_patch
        preview = story.preview if edits else None
        sent = self.reports.announced(story.use, preview)
        if preview and story.use.call in self.held.calls:  # the request shows it
            self.held.calls[story.use.call] |= {"content": [*preview]}
        return sent


class Everything(FieldTracker):
    """Leaves out nothing but what a pinned preview keeps out."""

    def reduced(self, update: Update, *, replace_content: bool = False) -> Update | None:
        held = self._calls.get(str(update["toolCallId"]))
        pinned = held is not None and held.pinned and not replace_content
        super().reduced(update, replace_content=replace_content)
        if pinned and update["sessionUpdate"] == "tool_call_update":
            return {key: value for key, value in update.items() if key != "content"}
        return update


class NothingLeftOut(ChangedMeta):
    """Lets every key of `_meta` pass."""

    def reduced(self, update: Update) -> Update | None:
        return update


def meta_of(update: Update) -> dict[str, Any]:
    found: dict[str, Any] = update.get("_meta", {})
    return found


ANY_CLIENT = st.sampled_from([*CLIENTS.values(), declared("diffPatch", "planContentDelta")])
enough = settings(max_examples=150)


def played(client: ClientCapabilities, stories: tuple[Story, Story, list[bool]], **more: Any) -> Stage:
    stage = Stage(client, **more)
    stage.play(*stories)
    return stage


@enough
@pytest.mark.contract("TC-039", "TC-041", "TC-043", "TC-057", "TC-058", "TC-213", "TC-214")
@given(stories=STORIES, client=ANY_CLIENT)
def test_every_update_is_one_that_an_agent_may_send(
    client: ClientCapabilities, stories: tuple[Story, Story, list[bool]]
) -> None:
    for update in played(client, stories).sent:
        check(update)


@enough
@pytest.mark.contract("TC-215", "TC-011")
@given(stories=STORIES, client=ANY_CLIENT)
def test_a_call_opens_once_ends_once_and_says_nothing_after(
    client: ClientCapabilities, stories: tuple[Story, Story, list[bool]]
) -> None:
    for story in stories[:2]:
        mine = [
            update for update in played(client, stories).sent if update.get("toolCallId") == story.use.call
        ]
        if is_plan_tool(story.use.name) and not story.asked:
            assert mine == []
            continue
        assert [update["sessionUpdate"] for update in mine].count("tool_call") == 1
        assert mine[0]["sessionUpdate"] == "tool_call"
        statuses = [update["status"] for update in mine if "status" in update]
        assert statuses in (
            [*start, end]
            for start in (["pending"], ["pending", "in_progress"])
            for end in ("completed", "failed")
        )


@enough
@pytest.mark.contract("TC-091", "TC-012", "TC-087", "TC-191")
@given(stories=STORIES, client=ANY_CLIENT)
def test_the_client_ends_up_with_all_of_it(
    client: ClientCapabilities, stories: tuple[Story, Story, list[bool]]
) -> None:
    sent, whole = played(client, stories), played(client, stories, everything=True)

    assert sent.held.calls.keys() == whole.held.calls.keys()
    for call, state in whole.held.calls.items():
        kept = {key: value for key, value in sent.held.calls[call].items() if key != "sessionUpdate"}
        expected = {key: value for key, value in state.items() if key != "sessionUpdate"}
        assert kept.keys() == expected.keys()
        assert all(same(kept[key], expected[key]) for key in expected)


@enough
@pytest.mark.contract("TC-002", "TC-010", "TC-013", "TC-004", "TC-005", "TC-034", "TC-036", "TC-077")
@given(stories=STORIES, client=ANY_CLIENT)
def test_what_is_for_one_client_does_not_reach_another(
    client: ClientCapabilities, stories: tuple[Story, Story, list[bool]]
) -> None:
    parents = {story.use.call: story.use.parent for story in stories[:2]}
    for update in played(client, stories).sent:
        written = json.dumps(update)
        assert not any(key in written for key in ("contentDelta", "formatted_output", "diffStats"))
        assert ("diffPatch" not in written) or client.diff_patch
        assert ("asyncTasks" not in written) or client.has("asyncTasks")
        assert ("terminal_" not in written) or client.terminal != "none"
        if client.air or update["sessionUpdate"] == "plan":
            continue
        assert "jetbrains" not in written
        assert "is_mcp_tool_call" not in written
        claude = update["_meta"].get("claudeCode", {})
        assert claude.get("parentToolUseId") == parents[update["toolCallId"]]
        assert "toolName" in claude or "terminal_output" in update["_meta"]


@pytest.mark.contract("TC-078", "TC-079", "TC-080", "TC-082", "TC-085", "TC-093", "TC-189", "TC-207")
@given(stories=STORIES, client=st.sampled_from([AIR, CLIENTS["air_bare"], declared("diffPatch")]))
def test_air_finds_each_fact_in_one_place(
    stories: tuple[Story, Story, list[bool]], client: ClientCapabilities
) -> None:
    inputs = {story.use.call: story for story in stories[:2]}
    for update in played(client, stories).sent:
        if update["sessionUpdate"] == "plan":
            continue
        story = inputs[update["toolCallId"]]
        meta = update.get("_meta", {})
        output = "terminal_output" in meta or "terminal_output_delta" in meta
        if not is_plan_tool(story.use.name):
            shown = "content" in update and "status" in update
            assert ("rawOutput" in update) + output + shown <= 1
        raw = update.get("rawInput")
        if raw is None:
            continue
        assert {**raw, **story.use.input} == story.use.input, "complete, or not at all"
        assert raw.get("planFilePath", "a path").strip()
        notice = story.asked and story.preview == [NOTICE]
        if reporter_of(story.use.name).edits_file and "file_path" in raw and not notice:
            assert not raw.keys() & {"content", "file_text", "old_string", "new_string"}


@pytest.mark.contract("TC-060", "TC-070", "TC-072", "TC-090")
@given(stories=STORIES, client=st.sampled_from([CLIENTS["zed"], AIR]))
def test_a_terminal_gets_its_output_then_its_end(
    stories: tuple[Story, Story, list[bool]], client: ClientCapabilities
) -> None:
    for story in stories[:2]:
        stage = played(client, stories)
        told = [
            (key, value)
            for update in stage.sent
            if update.get("toolCallId") == story.use.call
            for key, value in update.get("_meta", {}).items()
            if key.startswith("terminal_")
        ]
        if story.use.name not in ("Bash", "PowerShell"):
            assert told == []
            continue
        assert {value["terminal_id"] for _, value in told} == {story.use.call}
        late = stage.reports.background_ended(story.use.call)
        keys = [key for key, _ in told] + [key for update in late for key in meta_of(update)]
        output = "terminal_output" if client is CLIENTS["zed"] else "terminal_output_delta"
        outputs = [] if story.end == "closed" else [output]
        assert [key for key in keys if key != "claudeCode"] == ["terminal_info", *outputs, "terminal_exit"]


@enough
@given(story=_story("t1"), client=ANY_CLIENT)
def test_history_tells_of_a_call_what_live_reports_told(client: ClientCapabilities, story: Story) -> None:
    """Without hooks, structured results and asks the end is the same."""
    result = ToolReturned("t1", story.content, story.end != "returned")
    live, stored = ToolReports(client, "/w", "/h"), ToolReports(client, "/w", "/h")
    seen, told = Client(), Client()
    for update in [
        *live.dispatched(story.use),
        *live.returned(result, "failed" if result.is_error else "completed"),
    ]:
        if "toolCallId" in update:
            seen.get(update)
    for update in [*stored.replay_use(story.use), *stored.replay_result(result)]:
        check(update)
        if "toolCallId" in update:
            told.get(update)
    assert seen.calls.keys() == told.calls.keys()
    ignored = {"sessionUpdate", *(("content",) if story.use.name == "Write" and client.diff_patch else ())}
    for call, state in seen.calls.items():
        assert {
            key for key in state if key not in ignored and not same(state[key], told.calls[call].get(key))
        } <= {("", "terminal_exit")}
        assert set(FIELDS) & state.keys() >= {"status", "title", "kind"}
