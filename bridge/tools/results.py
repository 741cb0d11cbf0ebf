"""The blocks of a tool result as the content of a tool call (`tool-calls` §5.1–5.3)."""

import json
import re
from collections.abc import Mapping

from bridge.tools.facts import Content, Item, Json
from bridge.tools.reading import mapping, mappings, text

_KIB = 1024
_LINE_START_FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def text_item(shown: str) -> Item:
    """One text item of `content`."""
    return {"type": "content", "content": {"type": "text", "text": shown}}


def md_fence(shown: str) -> str:
    """The text in a Markdown fence that no line of it can close (§4.8)."""
    longest = max((len(run) for run in _LINE_START_FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{shown}{'' if shown.endswith(chr(10)) else chr(10)}{fence}"


def converted(content: object, *, fenced: bool = False) -> Content | None:
    """The result's blocks one by one, as errors are shown when `fenced`; None when there are none."""
    return [item(block, fenced=fenced) for block in blocks(content)] or None


def blocks(content: object) -> list[Json]:
    """The blocks of a tool result, whose content may be a string, one block or a list."""
    match content:
        case None | "":
            return []
        case list():
            return [_block(found) for found in content]
        case _:
            return [_block(content)]


def joined_text(content: object) -> str | None:
    """The text of a result that holds nothing but text; None when it holds other blocks."""
    found = blocks(content)
    if not found or any(block.get("type") != "text" for block in found):
        return None
    return "\n".join(text(block.get("text")) for block in found)


def _block(found: object) -> Json:
    return found if isinstance(found, Mapping) else {"type": "text", "text": str(found)}


def item(block: Json, *, fenced: bool = False) -> Json:
    """One block as an item of `content`; an image is never fenced."""
    source = mapping(block.get("source"))
    if block.get("type") == "image" and source.get("type") == "base64":
        image = {
            "type": "image",
            "data": text(source.get("data")),
            "mimeType": text(source.get("media_type")),
        }
        return {"type": "content", "content": image}
    shown = block_text(block)
    return text_item(f"```\n{shown}\n```" if fenced else shown)


def block_text(block: Json) -> str:
    """A block as text; binary data is named, never shown."""
    kind = text(block.get("type"))
    if kind.endswith("_error"):
        return _error(kind, block)
    match kind:
        case "text":
            return text(block.get("text"))
        case "image":
            url = text(mapping(block.get("source")).get("url"))
            return f"[image: {url}]" if url else "[image: file reference]"
        case "document":
            return _document(block)
        case "tool_reference":
            return f"Tool: {text(block.get('tool_name'))}"
        case "tool_search_tool_search_result":
            found = [text(tool.get("tool_name")) for tool in mappings(block.get("tool_references"))]
            return f"Tools found: {', '.join(found) or 'none'}"
        case _:
            return _server_text(kind, block)


def _server_text(kind: str, block: Json) -> str:
    """The results of tools that the API runs itself."""
    match kind:
        case "web_search_result":
            return f"{text(block.get('title'))} ({text(block.get('url'))})"
        case "web_fetch_result":
            return f"Fetched: {text(block.get('url'))}"
        case "code_execution_result" | "bash_code_execution_result":
            return f"Output: {text(block.get('stdout')) or text(block.get('stderr'))}"
        case "text_editor_code_execution_view_result":
            return text(block.get("content"))
        case "text_editor_code_execution_create_result":
            return "File updated" if block.get("is_file_update") else "File created"
        case "text_editor_code_execution_str_replace_result":
            lines = block.get("lines")
            return "\n".join(map(str, lines)) if isinstance(lines, list) else ""
        case _:
            return json.dumps(block, ensure_ascii=False, separators=(",", ":"))


def _error(kind: str, block: Json) -> str:
    message = text(block.get("error_message"))
    explained = message and kind.startswith(("tool_search_", "text_editor_"))
    return f"Error: {text(block.get('error_code'))}{f' - {message}' if explained else ''}"


def _document(block: Json) -> str:
    source = mapping(block.get("source"))
    title = text(block.get("title"))
    label = f'document "{title}"' if title else "document"
    data = text(source.get("data"))
    match source.get("type"):
        case "url":
            return f"[{label}: {text(source.get('url'))}]"
        case "base64":
            return f"[{label}: {text(source.get('media_type'))}, {_size(len(data) * 3 // 4)}]"
        case "text":
            return f"[{label}: {text(source.get('media_type'))}, {_size(len(data.encode(errors='replace')))}]"
        case _:
            return f"[{label}]"


def _size(count: int) -> str:
    if count < _KIB:
        return f"{count} B"
    if count < _KIB * _KIB:
        return f"{count / _KIB:.1f} KB"
    return f"{count / _KIB / _KIB:.1f} MB"
