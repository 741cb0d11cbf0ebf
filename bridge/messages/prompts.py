"""A prompt as the client sent it, turned into what Claude reads (S§10.1).

The order of the blocks is kept; the text of embedded resources goes to the end, as context.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

KNOWN_BLOCKS = frozenset({"text", "resource_link", "resource", "image"})

_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TEXT_TYPES = frozenset(
    "application/" + name
    for name in [
        "json",
        "xml",
        "javascript",
        "typescript",
        "x-yaml",
        "yaml",
        "toml",
        "x-sh",
        "sql",
        "graphql",
    ]
)
_MCP_COMMAND = re.compile(r"^/mcp:([^:\s]+):(\S+)(?:\s+(.*))?$", re.DOTALL)

Block = Mapping[str, object]


def unsupported_block(blocks: Sequence[Block]) -> str | None:
    """The first block type that no Claude content exists for, else None (SE-096)."""
    return next((str(b.get("type")) for b in blocks if b.get("type") not in KNOWN_BLOCKS), None)


def claude_content(blocks: Sequence[Block]) -> list[dict[str, object]]:
    """The content of the user message."""
    content: list[dict[str, object]] = []
    context: list[dict[str, object]] = []
    first_text = True
    for block in blocks:
        match block.get("type"):
            case "text":
                text = str(block.get("text"))
                content.append(_text(_mcp_prompt(text) if first_text else text))
                first_text = False
            case "resource_link":
                content.append(_text(link(str(block.get("uri")), block.get("name"))))
            case "resource":
                _add_resource(block.get("resource"), content, context)
            case "image":
                image = _image(block)
                if image is not None:
                    content.append(image)
    return content + context


def link(uri: str, name: object = None) -> str:
    """A readable link: the client's name first, else the last part of the path without escapes (C59)."""
    if not uri.startswith(("file://", "zed://")):
        return uri
    label = name if isinstance(name, str) and name else unquote(uri.rstrip("/").rpartition("/")[2])
    return f"[@{label or uri}]({uri})"


def _add_resource(
    resource: object, content: list[dict[str, object]], context: list[dict[str, object]]
) -> None:
    if not isinstance(resource, Mapping):
        return
    uri = str(resource.get("uri"))
    text = resource.get("text")
    if isinstance(text, str):
        content.append(_text(link(uri)))
        context.append(_context(uri, text))
        return
    media_type, charset = _media_type(resource.get("mimeType"))
    data = str(resource.get("blob"))
    if media_type in _IMAGE_TYPES or media_type == "application/pdf":
        kind = "image" if media_type in _IMAGE_TYPES else "document"
        content.append(_text(link(uri)))
        content.append({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}})
    elif _is_text(media_type):
        decoded = _decode(data, charset)
        if decoded is not None:
            content.append(_text(link(uri)))
            context.append(_context(uri, decoded))


def _image(block: Block) -> dict[str, object] | None:
    data, uri = block.get("data"), block.get("uri")
    if isinstance(data, str) and data:
        source = {"type": "base64", "media_type": block.get("mimeType"), "data": data}
        return {"type": "image", "source": source}
    if isinstance(uri, str) and uri.startswith("http"):
        return {"type": "image", "source": {"type": "url", "url": uri}}
    return None


def _mcp_prompt(text: str) -> str:
    """An MCP prompt under the name that the client knows, as Claude Code calls it."""
    command = _MCP_COMMAND.match(text)
    if command is None:
        return text
    server, name, arguments = command.groups()
    return f"/{server}:{name} (MCP)" + (f" {arguments}" if arguments else "")


def _media_type(value: object) -> tuple[str, str]:
    from email.message import Message  # slow to import, and few prompts hold a file

    header = Message()
    header["content-type"] = value if isinstance(value, str) else ""
    media_type = header.get_content_type() if isinstance(value, str) and "/" in value else ""
    return ("image/jpeg" if media_type == "image/jpg" else media_type), header.get_content_charset("utf-8")


def _is_text(media_type: str) -> bool:
    return (
        media_type.startswith("text/") or media_type.endswith(("+json", "+xml")) or media_type in _TEXT_TYPES
    )


def _decode(data: str, charset: str) -> str | None:
    try:
        return base64.b64decode(data).decode(charset, "replace").removeprefix("\ufeff")
    except (binascii.Error, ValueError, LookupError):
        return None


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _context(uri: str, text: str) -> dict[str, object]:
    return _text(f'\n<context ref="{uri}">\n{text}\n</context>')
