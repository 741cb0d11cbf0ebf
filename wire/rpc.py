"""JSON-RPC 2.0: one line of text to one message, and messages to plain objects.

Nothing here raises on what a peer sends: a line that is no message becomes `Invalid`, an
answer that is none becomes `Stray`. No error repeats what was received, since it may hold
secrets. Rules: `acp-wire` §5.1.
"""

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeGuard

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
VERSION_NOT_SUPPORTED = -32022

MESSAGES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    INTERNAL_ERROR: "Internal error",
    REQUEST_CANCELLED: "Request cancelled",
    AUTH_REQUIRED: "Authentication required",
    RESOURCE_NOT_FOUND: "Resource not found",
    VERSION_NOT_SUPPORTED: "Unsupported protocol version",
}
"""The message of each code when nothing more is said."""

Id = str | int | float | None
"""An id as the peer wrote it. `null` and fractions are served on v1; booleans are no ids."""


class WireError(Exception):
    """A request that cannot be served: what the client is told about it."""

    def __init__(self, code: int, message: str | None = None, data: object = None) -> None:
        self.code = code
        self.message = MESSAGES[code] if message is None else message
        self.data = data
        super().__init__(self.message)


def method_not_found(method: str) -> WireError:
    """The refusal of a method that is not served."""
    return WireError(METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants one answer. `params` is whatever was sent; absent is None."""

    id: Id
    method: str
    params: object = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A call without an answer."""

    method: str
    params: object = None


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request; `error` is a code and a message, and None on success."""

    id: str | int | float
    result: object = None
    error: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is no message; it is answered with this error and `id: null`."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Stray:
    """What was meant as an answer and cannot be one; it is logged and never answered."""

    reason: str


Message = Request | Notification | Response | Invalid | Stray


def parse(line: str) -> Message:
    """Read one line; whatever is wrong with it is in the value returned."""
    try:
        value = _DECODER.decode(line)
    except (ValueError, RecursionError):
        return Invalid(PARSE_ERROR, MESSAGES[PARSE_ERROR])
    if isinstance(value, list):
        return _invalid("JSON-RPC batches are not supported")
    if not isinstance(value, dict):
        return _invalid("a message is an object")
    if "method" not in value and not value.keys().isdisjoint(("id", "result", "error")):
        return _response(value)
    return _call(value)


def key(id: Hashable) -> Hashable:
    """What tells ids apart: in Python `1 == 1.0 == True`, on the wire they are three things."""
    return type(id), id


def request(id: Id, method: str, params: Mapping[str, object]) -> dict[str, object]:
    """A request, ready to be encoded."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def notification(method: str, params: Mapping[str, object]) -> dict[str, object]:
    """A notification, ready to be encoded."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def success(id: Id, result: Mapping[str, object]) -> dict[str, object]:
    """A successful answer, ready to be encoded."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: Id, code: int, message: str, data: object = None) -> dict[str, object]:
    """An error answer, ready to be encoded; `data` is left out when it is None."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": error}


def _call(value: dict[str, object]) -> Request | Notification | Invalid:
    method = value.get("method")
    if value.get("jsonrpc") != "2.0":
        return _invalid('"jsonrpc" must be "2.0"')
    if not isinstance(method, str):
        return _invalid('"method" must be a string')
    if "id" not in value:
        return Notification(method, value.get("params"))
    id = value["id"]
    if id is None or _is_scalar(id):
        return Request(id, method, value.get("params"))
    return _invalid('"id" must be a string, a number or null')


def _response(value: dict[str, object]) -> Response | Stray:
    """Some peers write both members and leave one null, so null beside the other is absence."""
    id, error = value.get("id"), value.get("error")
    if not _is_scalar(id):
        return Stray("without a usable id")
    if error is None:
        return Response(id, value["result"]) if "result" in value else Stray("without a result or an error")
    if value.get("result") is not None:
        return Stray("with a result and an error")
    return Response(id, error=_error(error))


def _error(error: object) -> tuple[int, str]:
    """Whatever a peer sends as an error, the request failed."""
    fields = error if isinstance(error, dict) else {}
    code, message = fields.get("code"), fields.get("message")
    return (
        code if isinstance(code, int) and not isinstance(code, bool) else INTERNAL_ERROR,
        message if isinstance(message, str) else MESSAGES[INTERNAL_ERROR],
    )


def _invalid(reason: str) -> Invalid:
    return Invalid(INVALID_REQUEST, f"{MESSAGES[INVALID_REQUEST]}: {reason}")


def _is_scalar(id: object) -> TypeGuard[str | int | float]:
    return isinstance(id, str | int | float) and not isinstance(id, bool)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(literal: str) -> float:
    """A number beyond a double would come back as `Infinity`, which is no JSON."""
    number = float(literal)
    if math.isinf(number):
        raise ValueError(literal)
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
