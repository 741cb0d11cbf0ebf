"""Raw frames to events: what Claude Code said, read once, in its order (`lifecycles` §V.2).

Whatever is missing or malformed in a frame is left out; a kind that nobody knows is counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from bridge.messages.items import (
    Asked,
    Content,
    ConversationReset,
    Item,
    Originated,
    Replied,
    Spoken,
    UsageRead,
)
from bridge.messages.raw import Raw, lane_of, mapping, optional, prompts, rows, text
from bridge.messages.stream import MessageStream, chunk
from bridge.messages.system import SYSTEM, active_goal, goal_status
from bridge.tasks.reading import launched
from machines import events as e
from machines.companions.compaction import SummaryStreamed
from machines.companions.goal import Reset

AUTH_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed"})
LOGIN_TEXT = re.compile(r"\brun /login\b", re.IGNORECASE)
SYNTHETIC = "<synthetic>"

_COMMAND_STATES: Mapping[str, e.CommandState] = {state: state for state in get_args(e.CommandState)}
_TOOL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_IGNORED = frozenset({"keep_alive", "prompt_suggestion", "autocompact_state"})


class FrameReader:
    """Reads the frames of one session; it remembers what a later frame is read with."""

    def __init__(
        self,
        stream: MessageStream,
        is_prompt: Callable[[str], bool],
        *,
        hides_errors: bool = False,
        shows_children: bool = False,
        native_children: bool = False,
    ) -> None:
        self._stream = stream
        self._hides_errors = hides_errors  # a client with failure records reads them there (SF-050)
        self._is_prompt = is_prompt
        self._shows_children = shows_children  # text of subagents is for this client (SA-010, SA-011)
        self._native_children = native_children  # a record of the session tells nothing of theirs
        self._error_kind: str | None = None
        self._error_text = ""
        self._login = False
        self._goal_told = False  # `active_goal` came: it is authoritative, the mirror is not
        self.unknown: Counter[str] = Counter()
        """Kinds of frames that nobody here knows, by how often they came."""

    def read(self, raw: Raw) -> Iterator[Item]:
        """What a frame means, in order."""
        kind = text(raw, "type")
        reader = _READERS.get(kind)
        if reader is not None:
            yield from reader(self, raw)
        elif kind not in _IGNORED:
            self.unknown[kind] += 1

    # ── messages ──

    def _stream_event(self, raw: Raw) -> Iterator[Item]:
        event, lane = mapping(raw, "event"), lane_of(raw)
        match event.get("type"):
            case "message_start":
                message = mapping(event, "message")
                self._stream.start(lane, text(message, "id"))
                yield e.MessageStarted(lane)
                if lane is None:
                    yield UsageRead(message.get("usage"), message.get("model"), starts=True)
            case "content_block_start":
                block = mapping(event, "content_block")
                if block.get("type") in _TOOL_BLOCKS and text(block, "id"):
                    yield e.ToolStarted(e.ToolUse(text(block, "id"), text(block, "name"), {}, lane))
            case "message_delta" if lane is None:
                yield UsageRead(event.get("usage"))
            case "content_block_delta" if mapping(event, "delta").get("type") == "compaction_delta":
                piece = text(mapping(event, "delta"), "content")
                if piece and lane is None:
                    yield SummaryStreamed(text(raw, "uuid"), piece)
            case _:
                pass  # deltas and stops go around the machines

    def _assistant(self, raw: Raw) -> Iterator[Item]:
        message, lane = mapping(raw, "message"), lane_of(raw)
        self._note_error(raw, message)
        message_id = text(message, "id")
        local = raw.get("local_command_source") is not None or message.get("model") == SYNTHETIC
        if not self._stream.streams(lane, message_id) and not local:
            yield e.MessageStarted(lane)
            if lane is None:
                yield UsageRead(message.get("usage"), message.get("model"), starts=True)
        for block in blocks(message):
            yield from self._assistant_block(raw, block, lane, text(raw, "uuid") if local else message_id)

    def _assistant_block(self, raw: Raw, block: Raw, lane: str | None, message_id: str) -> Iterator[Item]:
        kind = text(block, "type")
        if kind in _TOOL_BLOCKS:
            use = e.ToolUse(text(block, "id"), text(block, "name"), mapping(block, "input"), lane)
            if use.call:
                yield e.ToolDispatched(use)
        elif kind.endswith("_tool_result"):
            yield _returned(block, raw)
        elif lane is not None and not self._shows_children:
            return
        elif not self._login and not (self._hides_error(lane) and raw.get("error") is not None):
            shown = text(block, "thinking" if kind == "thinking" else "text")
            synthetic = mapping(raw, "message").get("model") == SYNTHETIC
            if kind == "text" and lane is None and not synthetic:
                yield Spoken(shown)
            rest = self._stream.rest(lane, message_id, kind, shown)
            if rest is not None:
                command = text(mapping(raw, "local_command_run"), "command")
                yield Content(chunk(rest[0], rest[1], message_id, lane), synthetic, command, lane)

    def _hides_error(self, lane: str | None) -> bool:
        return self._hides_errors and not (self._native_children and lane is not None)

    def _note_error(self, raw: Raw, message: Raw) -> None:
        """Remember the kind of an API error: its result does not name it."""
        kind = raw.get("error")
        texts = " ".join(text(block, "text") for block in blocks(message))
        if isinstance(kind, str) and lane_of(raw) is None:
            self._error_kind, self._error_text = kind, texts
        synthetic = message.get("model") == SYNTHETIC
        self._login = kind in AUTH_ERRORS or (synthetic and bool(LOGIN_TEXT.search(texts)))

    def _user(self, raw: Raw) -> Iterator[Item]:
        uuid = text(raw, "uuid")
        if raw.get("isReplay") is True and self._is_prompt(uuid):
            yield e.Echoed(uuid)
            return
        for block in blocks(mapping(raw, "message")):
            if block.get("type") == "tool_result":
                returned = _returned(block, raw)
                yield from launched(returned)
                yield returned

    def _result(self, raw: Raw) -> Iterator[Item]:
        result = read_result(raw, self._error_kind, self._error_text)
        self._error_kind, self._error_text, self._login = None, "", False
        yield Originated(mapping(raw, "origin"))
        yield result

    # ── state ──

    def _command_lifecycle(self, raw: Raw) -> Iterator[Item]:
        state = _COMMAND_STATES.get(text(raw, "state"))
        if state is not None:
            yield e.CommandMoved(text(raw, "command_uuid"), state)
        else:
            self.unknown["command_lifecycle"] += 1

    def _tool_progress(self, raw: Raw) -> Iterator[Item]:
        elapsed, subagent = raw.get("elapsed_time_seconds"), raw.get("subagent_type")
        yield e.ToolProgressed(
            text(raw, "tool_use_id"),
            text(raw, "tool_name"),
            lane_of(raw),
            elapsed if isinstance(elapsed, int | float) else None,
            subagent if isinstance(subagent, str) else None,
            raw.get("subagent_retry"),
        )

    def _conversation_reset(self, raw: Raw) -> Iterator[Item]:
        yield ConversationReset(text(raw, "new_conversation_id"))
        yield Reset()

    def _control_request(self, raw: Raw) -> Iterator[Item]:
        yield Asked(text(raw, "request_id"), mapping(raw, "request"))

    def _control_response(self, raw: Raw) -> Iterator[Item]:
        yield Replied(mapping(raw, "response"))

    def _control_cancel_request(self, raw: Raw) -> Iterator[Item]:
        yield e.AskWithdrawn(text(raw, "request_id"))

    def _system(self, raw: Raw) -> Iterator[Item]:
        subtype = text(raw, "subtype")
        reader = SYSTEM.get(subtype)
        if reader is not None:
            yield from reader(raw)
        else:
            self.unknown[f"system/{subtype}"] += 1

    def _mirror(self, raw: Raw) -> Iterator[Item]:
        if not self._goal_told:
            for entry in rows(raw, "entries"):
                yield from goal_status(entry)

    def _active_goal(self, raw: Raw) -> Iterator[Item]:
        self._goal_told = True
        yield active_goal(raw.get("value"))


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
    "transcript_mirror": FrameReader._mirror,
    "active_goal": FrameReader._active_goal,
}


def read_result(raw: Raw, error_kind: str | None = None, error_text: str = "") -> e.Result:
    """Read a `result` frame; kind and text are those of the assistant's error before it."""
    errors = raw.get("errors")
    said = [str(line) for line in errors] if isinstance(errors, list) else []
    spoken = "\n".join(line for line in said if "[ede_diagnostic]" not in line)
    shown = error_text or text(raw, "result") or spoken
    is_error = raw.get("is_error") is True
    turns, cost = raw.get("num_turns"), raw.get("total_cost_usd")
    usage = raw.get("usage")
    return e.Result(
        uuids=prompts(raw),
        origin=optional(mapping(raw, "origin"), "kind"),
        subtype=text(raw, "subtype"),
        is_error=is_error,
        stop_reason=optional(raw, "stop_reason"),
        terminal_reason=optional(raw, "terminal_reason"),
        num_turns=turns if isinstance(turns, int) else 1,
        text=shown,
        diagnostic=next((line for line in said if "[ede_diagnostic]" in line), None),
        usage=usage if isinstance(usage, Mapping) else None,
        model_usage=mapping(raw, "modelUsage"),
        cost=float(cost) if isinstance(cost, int | float) else None,
        error_kind=error_kind,
        auth_required=is_error and (error_kind in AUTH_ERRORS or bool(LOGIN_TEXT.search(shown))),
    )


def _returned(block: Raw, raw: Raw) -> e.ToolReturned:
    call = text(block, "tool_use_id")
    alone = len([b for b in blocks(mapping(raw, "message")) if b.get("type") == block.get("type")]) == 1
    row = next((row for row in rows(raw, "tool_result_meta") if row.get("id") == call), {})
    return e.ToolReturned(
        call,
        block.get("content"),
        block.get("is_error") is True,
        raw.get("tool_use_result") if alone else None,
        optional(row, "non_execution_kind"),
        optional(row, "user_feedback"),
        lane_of(raw),
    )


def blocks(message: Raw) -> list[Raw]:
    """The content blocks of a message; a plain string has none."""
    return rows(message, "content")
