"""A conversation on ACP v2: a prompt is answered at once, and its work ends with a state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.e2e.chat import Chat
from tests.support.rpc import Json


@dataclass(frozen=True, slots=True)
class V2Chat:
    """One session of a v2 client."""

    chat: Chat

    @property
    def session(self) -> str:
        """Its id."""
        return self.chat.session

    @property
    def mark(self) -> int:
        """The place where the next message will be."""
        return self.chat.mark

    async def ask(self, prompt: str | Sequence[Json], **more: Any) -> Json:
        """Send a prompt and wait for the end of its work: the state that tells it."""
        mark = self.mark
        call = self.chat.prompt(prompt, **more)
        await call.result()
        return await self.ended(since=mark)

    async def state(self, state: str, *, since: int = 0) -> Json:
        """The first state of that name of the session, from a place on."""

        def fits(body: Json) -> bool:
            params = body.get("params") or {}
            update = params.get("update") or {}
            own = params.get("sessionId") == self.session
            return own and update.get("sessionUpdate") == "state_update" and update.get("state") == state

        message = await self.chat.client.wait_for(fits, since=since)
        told: Json = message.body["params"]["update"]
        return told

    async def ended(self, *, since: int = 0) -> Json:
        """The next end of work."""
        return await self.state("idle", since=since)

    def order(self, *, since: int | None = None, without: Sequence[str] = ()) -> list[str]:
        """What happened, a word or two for each."""
        noise = ("commands", "usage", "cost", "update", "session_info_update", *without)
        return self.chat.order(since=since, without=noise)

    def updates(self, kind: str | None = None, *, since: int | None = None) -> list[Json]:
        """Payloads of its updates."""
        return self.chat.updates(kind, since=since)

    def told(self) -> list[Json]:
        """Payloads of its updates, and the calls that its permission requests are about."""
        told: list[Json] = []
        for message in self.chat.client.messages[self.chat.start :]:
            params = message.body.get("params") or {}
            if message.direction == "received" and params.get("sessionId") == self.session:
                subject = params.get("subject", {}).get("toolCall")
                told.append(subject or params.get("update") or {})
        return told

    def call(self, index: int = 0) -> Json:
        """One of its tool calls, as an editor of v2 holds it in the end: null clears, `_meta` is patched.

        The subject of a permission request counts like an update.
        """
        calls = [each for each in self.told() if "toolCallId" in each]
        ids = list(dict.fromkeys(each["toolCallId"] for each in calls))
        return merged([each for each in calls if each["toolCallId"] == ids[index]])


def merged(updates: Sequence[Json]) -> Json:
    """What upserts make of an entity."""
    held: Json = {}
    for update in updates:
        for key, value in update.items():
            if key == "_meta" and isinstance(value, dict):
                held["_meta"] = {**held.get("_meta", {}), **value}
            elif value is None:
                held.pop(key, None)
            else:
                held[key] = value
    if "_meta" in held:
        held["_meta"] = {key: value for key, value in held["_meta"].items() if value is not None}
    return held
