"""What each kind of client is told in the handshake."""

import pytest

from tests.conftest import StartAgent
from tests.support.rpc import Json

pytestmark = pytest.mark.anyio

GOAL = {"version": 1, "controlMethod": "_session/goal", "actions": ["set", "clear"]}
NOT_AIR: list[Json] = [
    {},
    {"_meta": None},
    {"_meta": {"jetbrains": None}},
    {"_meta": {"jetbrains": {"air": [1]}}},
    {"_meta": {"jetbrains": {"air": "1"}}},
]
AIR: list[Json] = [
    {"_meta": {"jetbrains": {"air": {}}}},
    {"_meta": {"jetbrains": {"air": {"version": "1", "capabilities": "all"}}}},
    {"_meta": {"jetbrains": {"air": {"version": 1, "capabilities": ["diffPatch", 7, None]}}}},
]


@pytest.mark.contract("NG-016", "NG-017", "NG-038", "NG-039", "NG-044", "TC-007", "TC-009", "TC-035")
@pytest.mark.parametrize("capabilities", NOT_AIR, ids=str)
async def test_a_client_that_is_not_air(capabilities: Json, start_agent: StartAgent) -> None:
    client = await start_agent()
    told = await client.initialize(capabilities)
    assert told["protocolVersion"] == 1
    assert (told["agentInfo"]["name"], told["agentInfo"]["title"]) == ("claude-acp", "Claude Agent")
    assert told["agentInfo"]["version"]
    assert told["_meta"] == {"steering": {"supported": True}}
    agent = told["agentCapabilities"]
    assert agent["_meta"]["claudeCode"] == {"promptQueueing": True}
    assert agent["promptCapabilities"] == {"image": True, "embeddedContext": True}
    assert agent["mcpCapabilities"] == {"http": True, "sse": True}
    assert agent["loadSession"] is True
    names = ["additionalDirectories", "close", "delete", "fork", "list", "resume"]
    assert agent["sessionCapabilities"] == {name: {} for name in names}


@pytest.mark.contract("NG-011", "NG-015", "NG-016", "TC-027", "TC-028", "TC-030", "TC-031", "GL-002")
@pytest.mark.parametrize("capabilities", AIR, ids=str)
async def test_an_air_client(capabilities: Json, start_agent: StartAgent) -> None:
    client = await start_agent()
    told = await client.initialize(capabilities)
    assert told["_meta"]["steering"] == {"supported": True}
    air = told["_meta"]["jetbrains"]["air"]
    assert air.keys() == {"version", "capabilities", "goal"}
    assert (air["version"], air["goal"]) == (1, GOAL)
    order = [
        *("sessionFailure", "agentFileChangeReport", "nativeSubagentSessions", "asyncTasks"),
        *("recommendedValue", "diffPatch", "planFile"),
    ]
    assert air["capabilities"] == [name for name in order if name in air["capabilities"]]
    assert told["agentCapabilities"]["sessionCapabilities"].keys() >= {"close", "list"}


async def test_capabilities_of_a_wrong_shape_are_none(start_agent: StartAgent) -> None:
    client = await start_agent()
    odd: Json = {"elicitation": 5, "session": [], "subagents": "x", "_meta": {"terminal_output": {"a": 1}}}
    assert (await client.initialize(odd))["protocolVersion"] == 1
