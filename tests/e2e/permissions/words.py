"""What the permission tests say about requests and answers."""

import json
from pathlib import Path
from typing import Any

import anyio

from tests.e2e.chat import Chat
from tests.support.rpc import HANG, Handler, Json

NOISE = ("commands", "usage", "cost", "update", "options")


def select(option: str) -> Handler:
    """Select this option, which has to be offered."""

    def answer(params: Json) -> Json:
        assert option in offered(params), offered(params)
        return {"outcome": {"outcome": "selected", "optionId": option}}

    return answer


def offered(params: Json) -> dict[str, str]:
    """Names of the options by id, in their order."""
    return {option["optionId"]: option["name"] for option in params["options"]}


def told(chat: Chat) -> list[Json]:
    """The tool results that the model got, in all of the conversation."""
    found = []
    for message in chat.requests()[-1].body["messages"]:
        if message["role"] == "user" and isinstance(message["content"], list):
            found += [block for block in message["content"] if block["type"] == "tool_result"]
    return found


def statuses(chat: Chat) -> list[str]:
    """Final status of each call, in the order of their appearance."""
    return [call["status"] for call in chat.calls().values()]


def local_rules(project: Path) -> list[str]:
    """The allow rules in the project's local settings."""
    path = project / ".claude" / "settings.local.json"
    if not path.exists():
        return []
    try:
        rules: list[str] = json.loads(path.read_text())["permissions"]["allow"]
    except ValueError:  # just being written
        return []
    return rules


async def until_rules(project: Path, *rules: str) -> None:
    """Wait until the local settings allow exactly this: Claude Code writes them beside its work."""
    with anyio.fail_after(HANG):
        while sorted(local_rules(project)) != sorted(rules):  # noqa: ASYNC110 - no event tells it
            await anyio.sleep(0.02)


def air(body: Json) -> Any:
    """The record of AIR in a message's `_meta`."""
    return body["_meta"]["jetbrains"]["air"]
