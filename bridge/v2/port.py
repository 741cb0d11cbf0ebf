"""Where sessions send on ACP v2: each update and request of v1 goes out in v2's words."""

from collections.abc import Callable, Mapping

from bridge.peer import Answer, Peer
from bridge.v2.updates import Updates

Json = Mapping[str, object]


class TranslatingPort:
    """The peer of a v2 client, for an agent that speaks v1."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.updates = Updates()

    def notify(self, method: str, params: Json) -> None:
        """Send a notification; an update may become several, or none."""
        update = params.get("update")
        if method != "session/update" or not isinstance(update, Mapping):
            self._peer.notify(method, params)
            return
        for session, each in self.updates.translate(str(params["sessionId"]), update):
            self._peer.notify(method, {"sessionId": session, "update": each})

    def request(self, method: str, params: Json, on_answer: Callable[[Answer], None]) -> int:
        """Send a request and return its id."""
        if method == "session/request_permission":
            return self._peer.request(method, self._permission(params), _refusing(params, on_answer))
        return self._peer.request(method, params, on_answer)

    def withdraw(self, request_id: int) -> None:
        """Stop waiting for an answer and tell the client."""
        self._peer.withdraw(request_id)

    def _permission(self, params: Json) -> Json:
        """The texts of the approval, and the call as its subject (§8.2.11)."""
        call = params.get("toolCall")
        if not isinstance(call, Mapping):
            return params
        subject = self.updates.calls.subject(str(params["sessionId"]), call)
        told = {key: value for key, value in params.items() if key != "toolCall"}
        return {**told, "subject": {"type": "tool_call", "toolCall": subject}}


def _refusing(params: Json, on_answer: Callable[[Answer], None]) -> Callable[[Answer], None]:
    """Whatever selects nothing is a refusal of the user: a cancel does not wait for answers (M9)."""
    options = params.get("options")
    listed = options if isinstance(options, list) else []
    refusal = next((each["optionId"] for each in listed if str(each["kind"]).startswith("reject")), None)

    def answered(answer: Answer) -> None:
        outcome = _mapping(_mapping(answer.result).get("outcome"))
        if answer.error is None and outcome.get("outcome") != "selected" and refusal is not None:
            answer = Answer({"outcome": {"outcome": "selected", "optionId": refusal}})
        on_answer(answer)

    return answered


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}
