"""The JSON-RPC errors that failures of a session become (M4.4, M3)."""

from machines.events import StartFailure
from machines.outputs import Failure, FailureKind
from wire import rpc

Error = tuple[int, str, object | None]

_OWN_SENTENCE = frozenset(
    {FailureKind.TRANSPORT_LOST, FailureKind.WORKER_SHUTDOWN, FailureKind.RESTART_FAILED}
)
"""Their text is a whole sentence to the user, not the detail of an internal error."""

_DATA_KINDS = {FailureKind.NO_RESULT: "no_result", FailureKind.INCOMPLETE_CALL: "incomplete_tool_call"}


def prompt_error(failure: Failure) -> Error:
    """Code, message and data of a prompt that failed."""
    if failure.kind is FailureKind.AUTH_REQUIRED:
        return rpc.AUTH_REQUIRED, "Authentication required", None
    if failure.kind in _OWN_SENTENCE:
        return rpc.INTERNAL_ERROR, failure.text, None
    kind = _DATA_KINDS.get(failure.kind, failure.error_kind or "unknown")
    return rpc.INTERNAL_ERROR, f"Internal error: {failure.text}", {"errorKind": kind}


def open_error(kind: StartFailure, text: str, session: str) -> Error:
    """Code, message and data of a session that could not be opened."""
    match kind:
        case StartFailure.UNKNOWN_SESSION:
            return rpc.RESOURCE_NOT_FOUND, "Resource not found", {"sessionId": session}
        case StartFailure.AUTH_REQUIRED:
            return rpc.AUTH_REQUIRED, "Authentication required", None
        case StartFailure.FAILED:
            return rpc.INTERNAL_ERROR, f"Internal error: {text}", None
