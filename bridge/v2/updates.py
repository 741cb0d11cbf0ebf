"""`session/update` of v1 in the words of ACP v2 (`acp-wire` §3.1, §8.2).

One update becomes none, one or a few; their order is that of the list.
"""

from collections.abc import Mapping

from bridge.v2 import results
from bridge.v2.tools import ToolCalls

Json = Mapping[str, object]
Update = Mapping[str, object]
Sent = tuple[str, Update]
"""The session that an update is for, and the update."""

PLAN = "plan"
"""Id of the one plan of a session."""

_MESSAGES = {
    "user_message_chunk": "user_message",
    "agent_message_chunk": "agent_message",
    "agent_thought_chunk": "agent_thought",
}
_SAME = frozenset(
    {
        *("user_message", "session_info_update", "usage_update", "notice", "state_update"),
        *("compaction_update", "compaction_summary_chunk", "session_message", "session_message_chunk"),
    }
)
"""Kinds that both versions say in the same way."""
STATES = frozenset({"running", "requires_action", "idle", "unknown"})
STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"})


class Updates:
    """The updates of a connection, with what has to be remembered to tell them."""

    def __init__(self) -> None:
        self.calls = ToolCalls()
        self._replays: dict[str, set[tuple[str, str]]] = {}
        """Messages that were told of a history, by the session that replays it."""
        self._minted: dict[tuple[str, str], int] = {}

    def replay_begins(self, session: str) -> None:
        """What the client holds of the messages that follow is told anew."""
        self._replays[session] = set()

    def replay_ends(self, session: str) -> None:
        """The history is told."""
        self._replays.pop(session, None)

    def forget(self, session: str) -> None:
        """The session ended."""
        self.calls.forget(session)
        self._replays.pop(session, None)
        self._minted = {key: count for key, count in self._minted.items() if key[0] != session}

    def translate(self, session: str, update: Update) -> list[Sent]:
        """What is sent for one update; raises ValueError for a kind or a state that no rule names."""
        kind = str(update.get("sessionUpdate"))
        if kind == "subagent_update":
            return self._subagent(session, update)
        return [(session, each) for each in self._one(session, kind, update)]

    def _one(self, session: str, kind: str, update: Update) -> list[Update]:
        match kind:
            case _ if kind in _MESSAGES:
                return self._chunk(session, kind, update)
            case "tool_call" | "tool_call_update":
                return [*self.calls.updates(session, update)]
            case "plan":
                plan = {"type": "items", "planId": PLAN, "entries": update.get("entries")}
                return [{**_without(update, "entries"), "sessionUpdate": "plan_update", "plan": plan}]
            case "config_option_update":
                return [{**update, "configOptions": results.config_options(update.get("configOptions"))}]
            case "available_commands_update":
                return [{**update, "availableCommands": results.commands(update.get("availableCommands"))}]
            case "current_mode_update":
                return []  # the mode is a config option
            case _ if kind in _SAME:
                return [update]
            case _:
                raise ValueError(f"no update of ACP v2 for {kind}")

    def _chunk(self, session: str, kind: str, update: Update) -> list[Update]:
        """A chunk names its message; the first one of a replayed message empties it (§8.2.9)."""
        message = update.get("messageId")
        if not isinstance(message, str) or not message:
            count = self._minted[session, kind] = self._minted.get((session, kind), 0) + 1
            message = f"{kind.removesuffix('_chunk')}:{count}"
        chunk = {**update, "messageId": message}
        told = self._replays.get(session)
        if told is None or (kind, message) in told:
            return [chunk]
        told.add((kind, message))
        return [{"sessionUpdate": _MESSAGES[kind], "messageId": message, "content": []}, chunk]

    def _subagent(self, session: str, update: Update) -> list[Sent]:
        """A state is told on the subagent's own stream too, right after (V2-027, V2-028)."""
        state = update.get("state")
        if not isinstance(state, Mapping):
            return [(session, update)]
        _check(state)
        return [(session, update), (str(update["sessionId"]), {"sessionUpdate": "state_update", **state})]


def _check(state: Json) -> None:
    if state.get("state") not in STATES:
        raise ValueError(f"no state of a subagent: {state.get('state')}")
    if state.get("stopReason", "end_turn") not in STOP_REASONS:
        raise ValueError(f"no stop reason of a subagent: {state.get('stopReason')}")


def _without(update: Update, *keys: str) -> dict[str, object]:
    return {key: value for key, value in update.items() if key not in keys}
