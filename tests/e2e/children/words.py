"""What the tests of subagents say: who works, where something was told, and in which order."""

from collections.abc import Iterator
from typing import Any

from tests.e2e.chat import NOISE, SLEEP, Chat, _update, bash, script, use
from tests.support.rpc import Json

BEGAN = f"touch began; {SLEEP}"
"""A command that says when it runs, and does not end by itself."""

ANNOUNCED = {"subagent_update": "sessionId", "subagent_spawned": "subagentSessionId"}


def agent(*steps: list[Any], background: bool = False, **more: Any) -> Json:
    """A call of a subagent that does what the steps say."""
    told = {"description": "Help", "prompt": script(*steps), "subagent_type": "general-purpose", **more}
    return use("Agent", **told, run_in_background=background)


def stuck(**more: Any) -> Json:
    """A subagent with a command that does not end by itself."""
    return agent(["Child hi.", bash(BEGAN)], ["No."], **more)


def updates(chat: Chat, since: int | None = None) -> list[tuple[str, Json]]:
    """Every update of the conversation with its session, the subagents' too."""
    bodies = [message.body for message in chat.client.messages[chat.start if since is None else since :]]
    told = [body["params"] for body in bodies if body.get("method") == "session/update"]
    return [(params["sessionId"], params["update"]) for params in told]


def children(chat: Chat) -> list[str]:
    """The sessions of its subagents, in the order they were announced."""
    found = [
        update[ANNOUNCED[update["sessionUpdate"]]]
        for _, update in updates(chat)
        if update["sessionUpdate"] in ANNOUNCED
    ]
    return [*dict.fromkeys(found)]


def of(chat: Chat, session: str, kind: str | None = None) -> list[Json]:
    """The updates of one session."""
    return [u for where, u in updates(chat) if where == session and kind in (None, u["sessionUpdate"])]


def requests(chat: Chat, method: str = "session/request_permission") -> list[Json]:
    """Params of every request of the conversation, its subagents' too."""
    bodies = [message.body for message in chat.client.messages[chat.start :]]
    return [body["params"] for body in bodies if body.get("method") == method and "id" in body]


def calls(chat: Chat, session: str) -> list[tuple[str, str]]:
    """Name and final status of each call of a session, in the order they appeared."""
    shown = of(chat, session, "tool_call")
    names = [call["_meta"]["claudeCode"]["toolName"] for call in shown]
    ends = [chat.client.tool_call(call["toolCallId"], session)["status"] for call in shown]
    return [*zip(names, ends, strict=True)]


def order(chat: Chat, since: int | None = None) -> list[str]:
    """What happened, with the number of the subagent in whose session it did; repeats are said once."""
    told: list[str] = []
    for word in _words(chat, chat.start if since is None else since):
        if told[-1:] != [word]:
            told.append(word)
    return told


def _words(chat: Chat, since: int) -> Iterator[str]:
    numbers = {session: f"{n} " for n, session in enumerate(children(chat), 1)} | {chat.session: ""}
    asked: dict[Any, str] = {}
    for message in chat.client.messages[chat.start :]:
        body = message.body
        word = _word(body, numbers, asked, sent=message.direction == "sent")
        if word is not None and word.split()[-1] not in NOISE and message.seq >= since:
            yield word


def _word(body: Json, numbers: dict[str, str], asked: dict[Any, str], *, sent: bool) -> str | None:
    params = body.get("params") or {}
    match body.get("method"):
        case "session/update" if params["sessionId"] in numbers:
            return numbers[params["sessionId"]] + _told(params["update"], numbers)
        case "session/request_permission" | "elicitation/create":
            asked[False, body["id"]] = numbers[params["sessionId"]]
            return numbers[params["sessionId"]] + "asks"
        case "session/prompt":
            asked[True, body["id"]] = ""
        case "session/cancel":
            return "cancel"
        case "$/cancel_request":
            return asked.get((False, params["requestId"]), "") + "withdrawn"
        case None if (not sent, body["id"]) in asked:
            where = asked.pop((not sent, body["id"]))
            return f"{where}answered" if sent else str(body.get("result", {}).get("stopReason", "error"))
    return None


def _told(update: Json, numbers: dict[str, str]) -> str:
    match update["sessionUpdate"]:
        case "subagent_spawned":
            return f"{numbers[update['subagentSessionId']]}spawned"
        case "subagent_state_update":
            return f"{numbers[update['subagentSessionId']]}{update['state']}"
        case "subagent_update":
            state = update.get("state", {"state": "renamed"})
            words = (state["state"], state.get("stopReason"))
            return numbers[update["sessionId"]] + " ".join(word for word in words if word)
        case "session_message":
            return "message"
        case _:
            return _update(update)
