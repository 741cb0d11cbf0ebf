"""The other side of the connection: requests matched with their answers, both ways.

Nothing here waits: what arrives is handed on in its order, and what is sent is in the order of
the calls. Rules: `acp-wire` §5.1, §5.2, §6 rule 1.
"""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, ParamSpec, Protocol, assert_never

from wire import rpc
from wire.lines import Line, Oversize, encode

log = logging.getLogger(__name__)

CANCEL = "$/cancel_request"

Cause = Literal["eof", "broken"]
"""Why the connection closed: the client's input ended, or nobody reads our output."""


_INTERNAL_ERROR = (rpc.INTERNAL_ERROR, rpc.MESSAGES[rpc.INTERNAL_ERROR])

A = ParamSpec("A")

Translate = Callable[[Mapping[str, object]], Mapping[str, object]]
"""From a result to the one that is sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The client's answer to a request: an object, or a code and a message; neither is unreadable."""

    result: Mapping[str, object] | None = None
    error: tuple[int, str] | None = None


class Inbound:
    """One request of the client. It gets exactly one response: a later one is logged and dropped."""

    def __init__(self, request: rpc.Request, settle: Callable[["Inbound", dict[str, object]], None]) -> None:
        self.id = request.id
        self.method = request.method
        self._params: object = request.params
        self._settle = settle
        self._answered = False
        self._translate: Translate | None = None

    @property
    def params(self) -> Mapping[str, object]:
        """The params, empty if there are none; raises WireError -32602 if they are no object."""
        params = _object(self._params)
        if params is None:
            problem = {"path": "", "message": "must be an object"}
            raise rpc.WireError(rpc.INVALID_PARAMS, data={"errors": [problem]})
        return params

    @property
    def answered(self) -> bool:
        """Whether the response was sent."""
        return self._answered

    def read_as(self, params: Mapping[str, object], translate: Translate) -> None:
        """Let whoever serves it see other params; its result is translated before it is sent."""
        self._params, self._translate = params, translate

    def respond(self, result: Mapping[str, object]) -> None:
        """Answer with a result."""
        if self._translate is not None and not self._answered:
            result = self._translate(result)
        self._answer(rpc.success(self.id, result))

    def fail(self, code: int, message: str, data: object | None = None) -> None:
        """Answer with an error; `data` must not repeat what the client sent."""
        self._answer(rpc.failure(self.id, code, message, data))

    def reject(self, error: Exception) -> None:
        """Answer with what was raised: a WireError as it is, anything else as a logged internal error."""
        if isinstance(error, rpc.WireError):
            self.fail(error.code, error.message, error.data)
            return
        log.error("%s failed", self.method, exc_info=error)
        if not self._answered:
            # The text of an exception may hold paths and tokens.
            self.fail(*_INTERNAL_ERROR, {"details": type(error).__name__})

    def _answer(self, response: dict[str, object]) -> None:
        if self._answered:
            log.warning("dropped a second answer to %s", self.method)
            return
        self._answered = True
        self._settle(self, response)


class Handler(Protocol):
    """The agent. What it raises ends up in the log, and in the answer if a request waits for one."""

    def request(self, inbound: Inbound) -> None:
        """A request, before anything that arrived after it; a WireError raised here is its answer."""

    def notification(self, method: str, params: Mapping[str, object]) -> None:
        """A notification other than `$/cancel_request`."""

    def cancelled(self, inbound: Inbound) -> None:
        """`$/cancel_request` named this request, which is not answered yet."""

    def closed(self, cause: Cause) -> None:
        """No answer will come any more; after `broken` nothing that is sent arrives either."""


class Port(Protocol):
    """Where a session sends: the peer, or what says the same in another version of the protocol."""

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""

    def request(self, method: str, params: Mapping[str, object], on_answer: Callable[[Answer], None]) -> int:
        """Send a request and return its id; `on_answer` is called at most once."""

    def withdraw(self, request_id: int) -> None:
        """Stop waiting for an answer and tell the client."""


class Peer:
    """The client, as the agent sees it.

    `send` takes whole lines and never blocks. `serve` makes the handler, which may keep the peer.
    """

    only_proper_ids = False
    """Requests have a text or an integer for an id, as ACP v2 has it."""

    def __init__(self, send: Callable[[bytes], None], serve: Callable[["Peer"], Handler]) -> None:
        self._send = send
        self._inbound: dict[Hashable, list[Inbound]] = {}
        self._outbound: dict[int, Callable[[Answer], None] | None] = {}
        self._sent = 0
        self._closed: set[Cause] = set()
        self._handler = serve(self)

    @property
    def pending(self) -> tuple[Inbound, ...]:
        """The requests of the client that have no answer yet."""
        return tuple(inbound for same_id in self._inbound.values() for inbound in same_id)

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        self._write(rpc.notification(method, params))

    def request(self, method: str, params: Mapping[str, object], on_answer: Callable[[Answer], None]) -> int:
        """Send a request and return its id; ids count from 0.

        `on_answer` is called at most once, and never after `withdraw` or the end of the connection.
        """
        id = self._sent
        self._sent += 1
        if self._closed:
            return id
        if self._write(rpc.request(id, method, params)):
            self._outbound[id] = on_answer
        else:
            self._guard(on_answer, Answer(error=_INTERNAL_ERROR))
        return id

    def withdraw(self, request_id: int) -> None:
        """Stop waiting for an answer and tell the client; no effect on a request that has ended."""
        if self._outbound.get(request_id) is not None:
            self._outbound[request_id] = None  # the id is known until its late answer came
            self.notify(CANCEL, {"requestId": request_id})

    def receive(self, line: Line) -> None:
        """Handle one line of the client."""
        if isinstance(line, Oversize):
            limit = f"message exceeds {line.limit} bytes"
            self._write(rpc.failure(None, rpc.INVALID_REQUEST, f"Invalid request: {limit}"))
            return
        match rpc.parse(line):
            case rpc.Request() as request:
                self._requested(request)
            case rpc.Notification(method, params):
                self._notified(method, params)
            case rpc.Response() as response:
                self._responded(response)
            case rpc.Invalid(code, message):
                self._write(rpc.failure(None, code, message))
            case rpc.Stray(reason):
                log.warning("ignored an answer %s", reason)
            case other:
                assert_never(other)

    def close(self, cause: Cause) -> None:
        """End the connection: what still waits for the client is dropped. Once for each cause."""
        if cause not in self._closed and "broken" not in self._closed:
            self._closed.add(cause)
            self._outbound.clear()
            self._guard(self._handler.closed, cause)

    # ── what arrives ──────────────────────────────────────────────────────────

    def _requested(self, request: rpc.Request) -> None:
        if self.only_proper_ids and not isinstance(request.id, str | int):
            problem = "Invalid request: ACP v2 request IDs must be strings or integers"
            self._write(rpc.failure(None, rpc.INVALID_REQUEST, problem))
            return
        inbound = Inbound(request, self._settle)
        self._inbound.setdefault(rpc.key(request.id), []).append(inbound)
        try:
            self._handler.request(inbound)
        except Exception as error:
            inbound.reject(error)

    def _notified(self, method: str, params: object) -> None:
        fields = _object(params)
        if fields is None:
            log.warning("ignored a notification whose params are no object")
        elif method == CANCEL:
            self._cancel(fields.get("requestId"))
        else:
            self._guard(self._handler.notification, method, fields)

    def _cancel(self, request_id: object) -> None:
        """Every request in flight with that id, should the client have used it twice."""
        if not isinstance(request_id, Hashable):
            log.warning("ignored a cancellation without a usable id")
            return
        for inbound in tuple(self._inbound.get(rpc.key(request_id), ())):
            self._guard(self._handler.cancelled, inbound)

    def _responded(self, response: rpc.Response) -> None:
        # The ids are ours, so a peer that writes 1 as 1.0 means the same one.
        if isinstance(response.id, str) or response.id not in self._outbound:
            log.warning("ignored an answer to an unknown request")
            return
        on_answer = self._outbound.pop(int(response.id))
        if on_answer is not None:
            result = response.result if isinstance(response.result, dict) else None
            self._guard(on_answer, Answer(result, response.error))

    # ── what is sent ──────────────────────────────────────────────────────────

    def _settle(self, inbound: Inbound, response: dict[str, object]) -> None:
        same_id = self._inbound[rpc.key(inbound.id)]
        same_id.remove(inbound)
        if not same_id:
            del self._inbound[rpc.key(inbound.id)]
        if not self._write(response):
            self._write(rpc.failure(inbound.id, *_INTERNAL_ERROR))

    def _write(self, message: dict[str, object]) -> bool:
        """Whether the message could be written as JSON; one that cannot is a fault of ours."""
        try:
            line = encode(message)
        except (ValueError, TypeError, RecursionError) as error:
            log.error("dropped a message that is no JSON: %s", type(error).__name__)
            return False
        self._send(line)
        return True

    def _guard(self, call: Callable[A, None], *args: A.args, **kwargs: A.kwargs) -> None:
        """One faulty reaction does not end the connection."""
        try:
            call(*args, **kwargs)
        except rpc.WireError as error:
            log.warning("ignored a message of the client: %s", error.message)
        except Exception:
            log.exception("a message of the client could not be handled")


def _object(params: object) -> Mapping[str, object] | None:
    if params is None:
        return {}
    return params if isinstance(params, dict) else None
