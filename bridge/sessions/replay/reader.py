"""Records to replay items, one record at a time.

Rules: `sessions` §8.1 … §8.3. What is not named there shows nothing: attachments, system records,
records written for the model, subagents' records, anything of a shape not known.
"""

from collections.abc import Callable, Iterator
from typing import Any

from bridge.sessions.chain import Node, Transcript, active_chain
from bridge.sessions.records import Record
from bridge.sessions.replay.cleaning import (
    between,
    is_login_request,
    is_usage_limit,
    summary_body,
    visible_text,
    without_any_mark,
)
from bridge.sessions.replay.items import (
    AgentText,
    AgentThought,
    Asked,
    CompactionSummary,
    Item,
    TaskEnd,
    ToolResult,
    ToolUse,
    UsageLimit,
    UserImage,
    UserText,
)

SYNTHETIC = "<synthetic>"

FILLER = "No response requested."
"""Stored where an interrupted conversation goes on, so that the roles alternate; never shown live."""

_FRAMED = "The coordinator sent a message"
"""How a message to a subagent begins; the rest of that line and the last paragraph are the frame."""

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")

Blocks = list[dict[str, Any]]


def replay(
    transcript: Transcript, *, of_agent: bool = False, only: Callable[[Node], bool] | None = None
) -> Iterator[Item]:
    """The items of the active conversation, in its order; holds one record at a time.

    `of_agent`: the transcript is a subagent's own. `only`: which records matter.
    """
    chain = active_chain(transcript.nodes, of_agent=of_agent)
    last_answer = max((place for place, node in enumerate(chain) if _is_real_answer(node)), default=-1)
    prompt: str | None = None
    for place, node in enumerate(chain):
        if not node.is_turn or (node.hidden and node.type == "assistant") or (only and not only(node)):
            continue
        record = transcript.record(node)
        if record is None:
            continue
        if record.get("isMeta"):
            yield from _asked(record, node) if of_agent else ()
            continue
        if node.type == "user":
            prompt = prompt if node.answers else node.uuid
            yield from _user_items(record, node)
        elif limit := None if of_agent else _usage_limit(record, node):
            yield UsageLimit(node.message_id or node.uuid, node.uuid, limit, prompt, place > last_answer)
        else:
            yield from _agent_items(record, node)


def _is_real_answer(node: Node) -> bool:
    return node.model is not None and not node.model.startswith("<")


def _user_items(record: Record, node: Node) -> Iterator[Item]:
    blocks = _blocks(record)
    if record.get("isCompactSummary"):
        yield from _summary(blocks, node)
    elif _is_task_notification(record):
        yield from _task_ends(blocks)
    else:
        structured = record.get("toolUseResult") if len(node.answers) == 1 else None
        for block in blocks:
            yield from _user_block(block, node, structured)


def _user_block(block: dict[str, Any], node: Node, structured: Any) -> Iterator[Item]:
    match block.get("type"):
        case "text":
            if text := visible_text(_text(block, "text")):
                yield UserText(node.uuid, text)
        case "image":
            if image := _image(block.get("source"), node.uuid):
                yield image
        case "tool_result":
            if call := _text(block, "tool_use_id"):
                yield ToolResult(call, block.get("content"), block.get("is_error") is True, structured)


def _image(source: object, message_id: str) -> UserImage | None:
    match source:
        case {"type": "base64", "data": str(data), "media_type": str(mime_type)}:
            return UserImage(message_id, data, mime_type)
        case {"type": "url", "url": str(url)}:
            return UserImage(message_id, uri=url)
        case _:
            return None


def _summary(blocks: Blocks, node: Node) -> Iterator[Item]:
    text = "\n".join(_text(block, "text") for block in blocks if block.get("type") == "text")
    if (shown := without_any_mark(text)).strip():
        yield CompactionSummary(node.uuid, shown, summary_body(text))


def _asked(record: Record, node: Node) -> Iterator[Item]:
    """A message of whoever coordinates the subagent: Claude Code words it for the model."""
    origin = record.get("origin")
    if isinstance(origin, dict) and origin.get("kind") == "coordinator":
        text = "\n".join(_text(block, "text") for block in _blocks(record) if block.get("type") == "text")
        framed = text.partition("\n")[2].rpartition("\n\n")[0]
        yield Asked(node.uuid, framed if text.startswith(_FRAMED) and framed else text)


def _is_task_notification(record: Record) -> bool:
    """Whether background work reported; with a `subkind` it is a prompt like any other."""
    origin = record.get("origin")
    return (
        isinstance(origin, dict) and origin.get("kind") == "task-notification" and not origin.get("subkind")
    )


def _task_ends(blocks: Blocks) -> Iterator[Item]:
    for block in blocks:
        fields = _text(block, "text").partition("<result>")[0]  # the report may hold anything
        task, status = _field(fields, "task-id"), _field(fields, "status")
        if task and status and fields.lstrip().startswith("<task-notification>"):
            yield TaskEnd(task, status, _field(fields, "tool-use-id"), _field(fields, "summary"))


def _field(text: str, name: str) -> str | None:
    return (between(text, f"<{name}>", f"</{name}>") or "").strip() or None


def _usage_limit(record: Record, node: Node) -> str | None:
    """The text of a usage limit in place of an answer (SE-068, SE-069)."""
    if node.model != SYNTHETIC:
        return None
    texts = [_text(block, "text") for block in _blocks(record) if block.get("type") == "text"]
    return "".join(texts) if texts and is_usage_limit(texts[0]) else None


def _agent_items(record: Record, node: Node) -> Iterator[Item]:
    blocks = _blocks(record)
    if node.model == SYNTHETIC and len(blocks) == 1 and _is_no_answer(_text(blocks[0], "text")):
        return
    message_id = node.message_id or node.uuid
    for block in blocks:
        match block.get("type"):
            case "text":
                if text := _text(block, "text"):
                    yield AgentText(message_id, text)
            case "thinking":
                if text := _text(block, "thinking"):
                    yield AgentThought(message_id, text)
            case kind if kind in _CALLS:
                yield from _tool_use(block)
            case str(kind) if kind.endswith("_tool_result") and _text(block, "tool_use_id"):
                yield ToolResult(_text(block, "tool_use_id"), [block], block.get("is_error") is True)


def _is_no_answer(text: str) -> bool:
    """Whether Claude Code wrote it for itself: a demand to sign in, or the filler behind an interruption."""
    return is_login_request(text) or text.strip() == FILLER


def _tool_use(block: dict[str, Any]) -> Iterator[Item]:
    call, name, given = _text(block, "id"), _text(block, "name"), block.get("input")
    if call:
        yield ToolUse(call, name, given if isinstance(given, dict) else {})


def _blocks(record: Record) -> Blocks:
    """The content blocks of the message; a plain text is one block."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
