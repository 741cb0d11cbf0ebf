"""The work of a session as a client of ACP v2 follows it: prompts as they begin, then states (M4.1, M5).

Such a client gets the answer to a prompt once that is in the conversation, and how its turn ended
as a state. No other client is told any of this.
"""

from collections.abc import Mapping, Sequence

from bridge.live.answers import failure_error
from bridge.peer import Inbound
from bridge.view.client import SessionClient
from bridge.view.usage import prompt_usage
from machines.outputs import AnswerPrompt, ReportWork
from wire import rpc

Update = dict[str, object]


class WorkView:
    """Tells the states of one session's work."""

    def __init__(self, client: SessionClient, *, followed: bool) -> None:
        self._client = client
        self._followed = followed
        self._state = "idle"

    def report(self, output: ReportWork) -> None:
        """The state changed."""
        self._state = output.state
        if self._followed:
            self._client.update(state_update(output))

    def repeat(self) -> None:
        """A client takes up the session: where its work is, without an end of its own."""
        self._client.update({"sessionUpdate": "state_update", "state": self._state})


def state_update(output: ReportWork) -> Update:
    """The state; the end of work has its reason, and what was used as far as that is known."""
    told: Update = {"sessionUpdate": "state_update", "state": output.state}
    if output.outcome is None:
        return told
    told |= prompt_usage(output.usage)
    if output.outcome.failure is None:
        return {**told, "stopReason": output.outcome.stop_reason}
    code, message, data = failure_error(output.outcome.failure)
    error = (
        {"code": code, "message": message}
        if data is None
        else {"code": code, "message": message, "data": data}
    )
    return {**told, "stopReason": "error", "error": error}


def insert_prompt(
    client: SessionClient, inbound: Inbound, blocks: Sequence[Mapping[str, object]], turn: str
) -> None:
    """The prompt is in the conversation: it is told where it stands, then answered (§6.9)."""
    if not inbound.answered:
        client.update({"sessionUpdate": "user_message", "messageId": turn, "content": [*blocks]})
        inbound.respond({"messageId": turn})


def answer_unless_inserted(inbound: Inbound, output: AnswerPrompt) -> None:
    """A prompt that ended before it was in the conversation has failed, whatever its end was."""
    if inbound.answered:
        return
    outcome = output.outcome
    if outcome.failure is not None:
        inbound.fail(*failure_error(outcome.failure))
    elif outcome.stop_reason == "cancelled":
        inbound.fail(rpc.REQUEST_CANCELLED, rpc.MESSAGES[rpc.REQUEST_CANCELLED])
    else:
        inbound.fail(
            rpc.INTERNAL_ERROR,
            "Internal error: The prompt ended before it was in the conversation.",
            {"stopReason": outcome.stop_reason},
        )
