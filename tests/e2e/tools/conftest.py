"""The story of each kind of client, played once in a run and looked at by many tests."""

from collections.abc import Awaitable, Callable

import pytest

from bridge.demo.api import ScriptedApi
from tests.e2e.tools.story import KINDS, Story, play, respond
from tests.support.acp_client import run_agent
from tests.support.sandbox import Sandbox

Tell = Callable[[str], Awaitable[Story]]
"""`await tell("air")`: the story of that kind of client."""


@pytest.fixture(scope="session")
def stories() -> dict[str, Story]:
    """What was played so far; the agents are gone by then."""
    return {}


@pytest.fixture
async def tell(
    agent_command: list[str], stories: dict[str, Story], tmp_path_factory: pytest.TempPathFactory
) -> Tell:
    """Plays a story when a test first wants it."""

    async def told(kind: str) -> Story:
        if kind not in stories:
            async with ScriptedApi(respond) as api:
                sandbox = Sandbox(tmp_path_factory.mktemp(kind), api.url).create()
                async with run_agent(agent_command, sandbox) as client:
                    stories[kind] = await play(kind, client, api, sandbox.project)
        return stories[kind]

    return told


@pytest.fixture(params=KINDS)
async def story(request: pytest.FixtureRequest, tell: Tell) -> Story:
    """Each kind's story, or those that a test names."""
    return await tell(request.param)


@pytest.fixture
async def air(tell: Tell) -> Story:
    """The story of AIR with all capabilities."""
    return await tell("air")


@pytest.fixture
async def airmin(tell: Tell) -> Story:
    """The story of AIR without a capability."""
    return await tell("airmin")
