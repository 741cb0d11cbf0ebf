"""How prompts, goals and openings are answered: results, errors, and the records of failures (M4.4, M13)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.config.startup_errors import sign_in_error, startup_error
from bridge.peer import Inbound
from bridge.view.client import SessionClient
from bridge.view.session_info import air, failure_record
from bridge.view.usage import prompt_usage
from machines.events import StartFailure
from machines.outputs import AnswerPrompt, Failure, FailureKind
from wire import rpc

Error = tuple[int, str, object | None]

_OWN_SENTENCE = frozenset(
    {FailureKind.TRANSPORT_LOST, FailureKind.WORKER_SHUTDOWN, FailureKind.RESTART_FAILED}
)
"""Their text is a whole sentence to the user, not the detail of an internal error."""

_DATA_KINDS = {FailureKind.NO_RESULT: "no_result", FailureKind.INCOMPLETE_CALL: "incomplete_tool_call"}


@dataclass(frozen=True, slots=True)
class Message:
    """A prompt, or a message that is added to one: what it says, and what waits for it."""

    blocks: Sequence[Mapping[str, object]]
    inbound: Inbound | None = None
    """The request of a prompt; None for one that nobody waits for."""
    answer: Callable[[AnswerPrompt], None] | None = None
    """Answers the prompt."""
    inserted: Callable[[SessionClient], None] | None = None
    """Tells that the prompt is in the conversation."""
    steered: Callable[[str], None] | None = None
    """Answers the request that added the message."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the session's configuration, and the request that wants it."""

    inbound: Inbound
    apply: Callable[[Callable[[str | None], None]], None]
    """Carries it out, then tells the error or None."""
    result: Callable[[], Mapping[str, object]]
    """The answer once it went through."""

    def answer(self, error: str | None) -> None:
        """Answer the request."""
        if error is not None:
            self.inbound.fail(rpc.INTERNAL_ERROR, f"Internal error: {error}")
        else:
            self.inbound.respond(self.result())


def answer_prompt(inbound: Inbound, output: AnswerPrompt) -> None:
    """Answer `session/prompt`; a failure with a record ends the turn, any other is an error."""
    outcome, usage = output.outcome, prompt_usage(output.usage)
    if outcome.failure is None:
        inbound.respond({"stopReason": outcome.stop_reason, **usage})
    elif outcome.incident is None:
        inbound.fail(*failure_error(outcome.failure))
    else:
        record = air({"sessionFailure": failure_record(outcome.incident)})
        known = usage.get("_meta")
        meta = {**(known if isinstance(known, Mapping) else {}), **record}
        inbound.respond({"stopReason": "end_turn", **usage, "_meta": meta})


def answer_goal(inbound: Inbound, output: AnswerPrompt) -> None:
    """Answer `_session/goal` whose command ran as a prompt of its own."""
    if output.outcome.failure is not None:
        inbound.fail(*failure_error(output.outcome.failure))
    else:
        inbound.respond({})


def failure_error(failure: Failure) -> Error:
    """Code, message and data of a request that failed with its session's work."""
    if failure.kind is FailureKind.AUTH_REQUIRED:
        return _error(sign_in_error(failure.text, failure.error_kind))
    if failure.kind in _OWN_SENTENCE:
        return rpc.INTERNAL_ERROR, failure.text, None
    kind = _DATA_KINDS.get(failure.kind, failure.error_kind or "unknown")
    return rpc.INTERNAL_ERROR, f"Internal error: {failure.text}", {"errorKind": kind}


def open_error(kind: StartFailure, text: str, reason: str | None, session: str) -> Error:
    """Code, message and data of a session that could not be opened."""
    match kind:
        case StartFailure.UNKNOWN_SESSION:
            return rpc.RESOURCE_NOT_FOUND, "Resource not found", {"sessionId": session}
        case StartFailure.AUTH_REQUIRED:
            return _error(sign_in_error(text, reason))
        case StartFailure.WITHDRAWN:
            return rpc.REQUEST_CANCELLED, "Request cancelled", None
        case StartFailure.FAILED:
            return _error(startup_error(text, reason))


def _error(error: rpc.WireError) -> Error:
    return error.code, error.message, error.data
