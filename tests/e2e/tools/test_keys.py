"""Keys of `_meta` in all the traffic of every kind of client: each in its place, none that is gone."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.tools.story import AIR_KINDS, SUMMARY, Story
from tests.support.rpc import Json

pytestmark = [pytest.mark.anyio, pytest.mark.live]

air_clients = pytest.mark.parametrize("story", AIR_KINDS, indirect=True)

OPAQUE = ("rawInput", "rawOutput", "toolResponse")
"""Claude Code's own words, whatever they are."""


def metas(value: Any) -> Iterator[Json]:
    """Every `_meta` in a message."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "_meta":
                yield each
            elif key not in OPAQUE:
                yield from metas(each)
    elif isinstance(value, list):
        for each in value:
            yield from metas(each)


def records(story: Story, namespace: str) -> list[Json]:
    """Every record of `claudeCode` or of `air`."""
    found = [meta for body in story.bodies() for meta in metas(body)]
    if namespace == "air":
        return [meta["jetbrains"]["air"] for meta in found if "jetbrains" in meta]
    return [meta["claudeCode"] for meta in found if "claudeCode" in meta]


@pytest.mark.contract("NG-034", "NG-035", "NG-036", "NG-037")
async def test_no_key_that_is_gone(story: Story) -> None:
    gone = {"goal", "kind", "contextCompaction", "_askUserQuestionCustomAnswer"}
    for body in story.bodies():
        for meta in metas(body):
            assert not gone & meta.keys()
    for record in records(story, "claudeCode"):
        assert not {"title", "subagent", "skill", "skillPath"} & record.keys()
    for record in records(story, "air"):
        assert "diffStats" not in record
    assert records(story, "claudeCode"), "there was something to look at"


@air_clients
@pytest.mark.contract("TC-044")
async def test_a_permission_record_is_on_requests_alone(story: Story) -> None:
    asked = [body for body in story.bodies() if body.get("method") == "session/request_permission"]
    for body in story.bodies():
        told = [meta for meta in metas(body) if "permission" in meta.get("jetbrains", {}).get("air", {})]
        assert told == ([body["params"]["_meta"]] if body in asked else [])
    assert len(asked) > 5


CAPABILITY = {"diffPatch", "recommendedValue", "asyncTasks", "agentFileChangeReport", "sessionFailure"}


@air_clients
@pytest.mark.contract("NG-018", "NG-025", "NG-026")
async def test_a_record_of_air_has_what_its_client_declared(story: Story) -> None:
    told = {key for record in records(story, "air") for key in record} - {"version"}
    always = {"capabilities", "goal", "permission", "commandTitle", "skill", "kind"}
    if story.kind == "airmin":
        always |= {"subagent"}  # else it has a session in place of its call
    assert told >= always | {"contextCompaction"}
    assert told & CAPABILITY == (
        {"diffPatch", "recommendedValue", "asyncTasks"} if story.kind == "air" else set()
    )
    elsewhere = {"customAnswer", "skillPath"}  # on forms and on commands
    assert told <= always | {"contextCompaction"} | CAPABILITY | elsewhere


FIELDS = ("status", "title", "kind", "content", "locations", "rawInput", "rawOutput")


@pytest.mark.contract("TC-102")
async def test_no_client_is_told_a_field_of_a_tool_twice(story: Story) -> None:
    calls: dict[str, Json] = {}
    for update in story.chat.updates():
        id = str(update.get("toolCallId"))
        if id.startswith("toolu_"):
            held = calls.setdefault(id, {})
            news = {key: update[key] for key in FIELDS if key in update}
            assert not [key for key in news if key in held and held[key] == news[key]], update
            held |= news
    assert len(calls) > 20


@pytest.mark.contract("TC-147")
async def test_a_compaction_is_an_update_for_those_who_know_it_and_else_a_call(story: Story) -> None:
    updates = story.chat.updates("compaction_update")
    calls = [call for call in story.chat.calls().values() if call["title"] == "Compact conversation"]
    if story.kind == "rfd":
        assert [update["status"] for update in updates] == ["in_progress", "completed"]
        assert updates[-1]["summary"][0]["text"].startswith(SUMMARY)
        assert calls == []
        return
    (call,) = calls
    assert (updates, call["kind"], call["status"]) == ([], "think", "completed")
    told = [record["contextCompaction"] for record in records(story, "air") if "contextCompaction" in record]
    assert bool(told) == story.is_air
    if told:
        assert told[-1].keys() >= {"version", "trigger", "preTokens"}
    else:
        assert call["rawOutput"]["trigger"] == "manual"


@air_clients
@pytest.mark.contract("TC-038")
async def test_air_speaks_the_first_version(story: Story) -> None:
    assert story.handshake["protocolVersion"] == 1
    assert story.handshake["_meta"]["jetbrains"]["air"]["version"] == 1


@pytest.mark.contract("TC-063", "TC-064")
async def test_who_pays_is_told_to_everybody(story: Story) -> None:
    assert story.handshake["agentCapabilities"]["_meta"]["authStatus"] == {}
    (pushed,) = [body for body in story.bodies() if body.get("method") == "_auth/status_update"]
    assert pushed["params"]["authStatus"]["kind"] == "api_key"
