"""JSON-RPC as a test sees it: messages in order, calls on their way, answers to questions."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
RequestId = int | str | float | None
Handler = Callable[[Json], Json | None]
"""Answers a request of the agent: its result, or `None` to leave it open."""

HANG = 60.0
"""Seconds after which a wait is a hang, on a loaded machine too."""


class RpcError(Exception):
    """An error response."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')} {error.get('data', '')}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class AgentGoneError(Exception):
    """The agent closed its output while the test waited for a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the order of its arrival or departure; `at` is seconds since the start."""

    seq: int
    at: float
    direction: Literal["sent", "received"]
    body: Json


class Call:
    """A request to the agent on its way."""

    def __init__(self, id: RequestId, answer: "asyncio.Future[Message]") -> None:
        self.id = id
        self._answer = answer

    @property
    def done(self) -> bool:
        """Whether the response is there."""
        return self._answer.done()

    async def message(self, within: float = HANG) -> Message:
        """The response as it came."""
        return await asyncio.wait_for(asyncio.shield(self._answer), within)

    async def result(self, within: float = HANG) -> Json:
        """The result; raises `RpcError` for an error."""
        body = (await self.message(within)).body
        if "error" in body:
            raise RpcError(body["error"])
        result: Json = body["result"]
        return result

    async def error(self, within: float = HANG) -> RpcError:
        """The error; fails for a result."""
        body = (await self.message(within)).body
        assert "error" in body, f"expected an error, got {body}"
        return RpcError(body["error"])


def choose(*kinds: str) -> Handler:
    """Select the first offered option of one of these kinds, else answer `cancelled`."""

    def answer(params: Json) -> Json:
        offered = {option["kind"]: option["optionId"] for option in reversed(params["options"])}
        selected = next((offered[kind] for kind in kinds if kind in offered), None)
        if selected is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": selected}}

    return answer


ALLOW = choose("allow_once", "allow_always")
ALLOW_ALWAYS = choose("allow_always", "allow_once")
REJECT = choose("reject_once", "reject_always")
REJECT_ALWAYS = choose("reject_always", "reject_once")
CANCELLED = choose()


def never(_: Json) -> None:
    """Leave the question open."""
