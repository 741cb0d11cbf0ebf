"""Raw frames to events: what Claude Code said, read once, in its order (`lifecycles` §V.2).

Whatever is missing or malformed in a frame is left out; a kind that nobody knows is counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from bridge.messages.stream import MessageStream
from machines import events as e

Raw = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Content:
    """Text of the conversation: it goes to the client as it is, unless a cancel dropped it."""

    update: dict[str, object]
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class UsageRead:
    """Token counts of a root message; `model` is given where one starts."""

    usage: object
    model: object = None
    starts: bool = False


@dataclass(frozen=True, slots=True)
class ModeReported:
    """Claude Code is in this permission mode."""

    mode: str


@dataclass(frozen=True, slots=True)
class CommandsListed:
    """The slash commands changed."""

    commands: object


@dataclass(frozen=True, slots=True)
class Initialized:
    """`system/init`, which comes before every turn."""

    raw: Raw


@dataclass(frozen=True, slots=True)
class ConversationReset:
    """Claude Code went on under another conversation id (`/clear`)."""

    id: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A control request that wants an answer."""

    request_id: str
    request: Raw


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply to a control request, at its place among the frames."""

    response: Raw


Fact = Content | UsageRead | ModeReported | CommandsListed | Initialized | ConversationReset | Asked | Replied
Item = e.Event | Fact

AUTH_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed"})
LOGIN_TEXT = re.compile(r"\brun /login\b", re.IGNORECASE)
SYNTHETIC = "<synthetic>"

_COMMAND_STATES: Mapping[str, e.CommandState] = {state: state for state in get_args(e.CommandState)}
_CLI_STATES: Mapping[str, e.CliState] = {state: state for state in get_args(e.CliState)}
_TOOL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_IGNORED = frozenset({"keep_alive", "transcript_mirror", "prompt_suggestion"})


class FrameReader:
    """Reads the frames of one session; it remembers what a later frame is read with."""

    def __init__(self, stream: MessageStream, is_prompt: Callable[[str], bool]) -> None:
        self._stream = stream
        self._is_prompt = is_prompt
        self._error_kind: str | None = None
        self._login = False
        self.unknown: Counter[str] = Counter()
        """Kinds of frames that nobody here knows, by how often they came."""

    def read(self, raw: Raw) -> Iterator[Item]:
        """What a frame means, in order."""
        kind = _str(raw, "type")
        reader = _READERS.get(kind)
        if reader is not None:
            yield from reader(self, raw)
        elif kind not in _IGNORED:
            self.unknown[kind] += 1

    # ── messages ──

    def _stream_event(self, raw: Raw) -> Iterator[Item]:
        event, lane = _dict(raw, "event"), _parent(raw)
        match event.get("type"):
            case "message_start":
                message = _dict(event, "message")
                self._stream.start(lane, _str(message, "id"))
                yield e.MessageStarted(lane)
                if lane is None:
                    yield UsageRead(message.get("usage"), message.get("model"), starts=True)
            case "content_block_start":
                block = _dict(event, "content_block")
                if block.get("type") in _TOOL_BLOCKS:
                    yield e.ToolStarted(e.ToolUse(_str(block, "id"), _str(block, "name"), {}, lane))
            case "message_delta" if lane is None:
                yield UsageRead(event.get("usage"))
            case _:
                pass  # deltas and stops go around the machines

    def _assistant(self, raw: Raw) -> Iterator[Item]:
        message, lane = _dict(raw, "message"), _parent(raw)
        self._note_error(raw, message)
        message_id = _str(message, "id")
        local = raw.get("local_command_source") is not None or message.get("model") == SYNTHETIC
        if not self._stream.streams(lane, message_id) and not local:
            yield e.MessageStarted(lane)
            if lane is None:
                yield UsageRead(message.get("usage"), message.get("model"), starts=True)
        for block in _blocks(message):
            yield from self._assistant_block(raw, block, lane, _str(raw, "uuid") if local else message_id)

    def _assistant_block(self, raw: Raw, block: Raw, lane: str | None, message_id: str) -> Iterator[Item]:
        kind = _str(block, "type")
        if kind in _TOOL_BLOCKS:
            use = e.ToolUse(_str(block, "id"), _str(block, "name"), _dict(block, "input"), lane)
            yield e.ToolDispatched(use)
        elif kind.endswith("_tool_result"):
            yield _returned(block, raw)
        elif not self._login:
            text = block.get("thinking") if kind == "thinking" else block.get("text")
            rest = self._stream.rest(lane, message_id, kind, text if isinstance(text, str) else "")
            if rest is not None:
                yield Content(chunk(rest[0], rest[1], message_id, lane), lane)

    def _note_error(self, raw: Raw, message: Raw) -> None:
        """Remember the kind of an API error: its result does not name it."""
        kind = raw.get("error")
        self._error_kind = kind if isinstance(kind, str) else self._error_kind
        texts = " ".join(_str(block, "text") for block in _blocks(message))
        synthetic = message.get("model") == SYNTHETIC
        self._login = kind in AUTH_ERRORS or (synthetic and bool(LOGIN_TEXT.search(texts)))

    def _user(self, raw: Raw) -> Iterator[Item]:
        uuid = _str(raw, "uuid")
        if raw.get("isReplay") is True and self._is_prompt(uuid):
            yield e.Echoed(uuid)
            return
        for block in _blocks(_dict(raw, "message")):
            if block.get("type") == "tool_result":
                yield _returned(block, raw)

    def _result(self, raw: Raw) -> Iterator[Item]:
        result = read_result(raw, self._error_kind)
        self._error_kind, self._login = None, False
        yield result

    # ── state ──

    def _command_lifecycle(self, raw: Raw) -> Iterator[Item]:
        state = _COMMAND_STATES.get(_str(raw, "state"))
        if state is not None:
            yield e.CommandMoved(_str(raw, "command_uuid"), state)
        else:
            self.unknown["command_lifecycle"] += 1

    def _tool_progress(self, raw: Raw) -> Iterator[Item]:
        elapsed, subagent = raw.get("elapsed_time_seconds"), raw.get("subagent_type")
        yield e.ToolProgressed(
            _str(raw, "tool_use_id"),
            _str(raw, "tool_name"),
            _parent(raw),
            elapsed if isinstance(elapsed, int | float) else None,
            subagent if isinstance(subagent, str) else None,
            raw.get("subagent_retry"),
        )

    def _conversation_reset(self, raw: Raw) -> Iterator[Item]:
        yield ConversationReset(_str(raw, "new_conversation_id"))

    def _control_request(self, raw: Raw) -> Iterator[Item]:
        yield Asked(_str(raw, "request_id"), _dict(raw, "request"))

    def _control_response(self, raw: Raw) -> Iterator[Item]:
        yield Replied(_dict(raw, "response"))

    def _control_cancel_request(self, raw: Raw) -> Iterator[Item]:
        yield e.AskWithdrawn(_str(raw, "request_id"))

    def _system(self, raw: Raw) -> Iterator[Item]:
        match raw.get("subtype"):
            case "init":
                yield Initialized(raw)
            case "status":
                mode = raw.get("permissionMode")
                if isinstance(mode, str):
                    yield ModeReported(mode)
                if raw.get("status") == "requesting":
                    yield e.Requesting(_uuids(raw))
            case "session_state_changed":
                state = _CLI_STATES.get(_str(raw, "state"))
                if state is not None:
                    yield e.CliStateChanged(state)
            case "permission_denied":
                yield e.ToolDenied(
                    _str(raw, "tool_use_id"),
                    _str(raw, "tool_name"),
                    _optional(raw, "decision_reason_type"),
                    _optional(raw, "decision_reason"),
                    _optional(raw, "message"),
                )
            case "commands_changed":
                yield CommandsListed(raw.get("commands"))
            case "worker_shutting_down":
                yield e.WorkerShuttingDown()
            case subtype:
                self.unknown[f"system/{subtype}"] += 1


_READERS: Mapping[str, Callable[[FrameReader, Raw], Iterator[Item]]] = {
    "stream_event": FrameReader._stream_event,
    "assistant": FrameReader._assistant,
    "user": FrameReader._user,
    "result": FrameReader._result,
    "system": FrameReader._system,
    "command_lifecycle": FrameReader._command_lifecycle,
    "tool_progress": FrameReader._tool_progress,
    "conversation_reset": FrameReader._conversation_reset,
    "control_request": FrameReader._control_request,
    "control_response": FrameReader._control_response,
    "control_cancel_request": FrameReader._control_cancel_request,
}


def chunk(kind: str, text: str, message_id: str, lane: str | None = None) -> dict[str, object]:
    """One chunk of a message; on the root session a subagent's text names its Agent call."""
    update: dict[str, object] = {
        "sessionUpdate": kind,
        "content": {"type": "text", "text": text},
        "messageId": message_id,
    }
    if lane is not None:
        update["_meta"] = {"claudeCode": {"parentToolUseId": lane}}
    return update


def read_result(raw: Raw, error_kind: str | None) -> e.Result:
    """Read a `result` frame; `error_kind` is what the assistant's error before it was called."""
    errors = raw.get("errors")
    texts = [str(text) for text in errors] if isinstance(errors, list) else []
    text = _str(raw, "result") or "\n".join(text for text in texts if "[ede_diagnostic]" not in text)
    is_error = raw.get("is_error") is True
    turns, cost = raw.get("num_turns"), raw.get("total_cost_usd")
    usage = raw.get("usage")
    return e.Result(
        uuids=_uuids(raw),
        origin=_optional(_dict(raw, "origin"), "kind"),
        subtype=_str(raw, "subtype"),
        is_error=is_error,
        stop_reason=_optional(raw, "stop_reason"),
        terminal_reason=_optional(raw, "terminal_reason"),
        num_turns=turns if isinstance(turns, int) else 1,
        text=text,
        usage=usage if isinstance(usage, Mapping) else None,
        model_usage=_dict(raw, "modelUsage"),
        cost=float(cost) if isinstance(cost, int | float) else None,
        error_kind=error_kind,
        auth_required=is_error and (error_kind in AUTH_ERRORS or bool(LOGIN_TEXT.search(text))),
    )


def read_hook(request: Raw) -> e.ToolHooked | None:
    """A PostToolUse hook as an event; other hooks say nothing about a call."""
    told = _dict(request, "input")
    if told.get("hook_event_name") != "PostToolUse":
        return None
    return e.ToolHooked(
        _str(told, "tool_use_id") or _str(request, "tool_use_id"),
        _str(told, "tool_name"),
        _dict(told, "tool_input"),
        told.get("tool_response"),
        _optional(told, "agent_id"),
    )


def _returned(block: Raw, raw: Raw) -> e.ToolReturned:
    call = _str(block, "tool_use_id")
    alone = len([b for b in _blocks(_dict(raw, "message")) if b.get("type") == block.get("type")]) == 1
    meta = raw.get("tool_result_meta")
    rows = meta if isinstance(meta, list) else []
    row = next((row for row in rows if isinstance(row, Mapping) and row.get("id") == call), {})
    return e.ToolReturned(
        call,
        block.get("content"),
        block.get("is_error") is True,
        raw.get("tool_use_result") if alone else None,
        _optional(row, "non_execution_kind"),
        _optional(row, "user_feedback"),
        _parent(raw),
    )


def _uuids(raw: Raw) -> tuple[str, ...]:
    many, one = raw.get("user_message_uuids"), raw.get("user_message_uuid")
    uuids = many if isinstance(many, list) and many else [one]
    return tuple(uuid for uuid in uuids if isinstance(uuid, str))


def _parent(raw: Raw) -> str | None:
    return _optional(raw, "parent_tool_use_id")


def _blocks(message: Raw) -> list[Raw]:
    content = message.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _dict(raw: Raw, key: str) -> Raw:
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def _str(raw: Raw, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _optional(raw: Raw, key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) else None
