"""A tiny MCP server on stdio, for tests: `greet`, `environment`, `mixed` and `fail`."""

import base64
import json
import os
import sys
from typing import Any

_TEXT = {"type": "string"}
_PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
    )
).decode()

TOOLS: list[dict[str, Any]] = [
    {
        "name": "greet",
        "description": "Greet somebody.",
        "inputSchema": {"type": "object", "properties": {"who": _TEXT}, "required": ["who"]},
    },
    {
        "name": "environment",
        "description": "Value of a variable, and the arguments of the server.",
        "inputSchema": {"type": "object", "properties": {"name": _TEXT}, "required": ["name"]},
    },
    {
        "name": "mixed",
        "description": "Text, image and link.",
        "inputSchema": {"type": "object", "properties": {}},
    },
    {"name": "fail", "description": "Fail.", "inputSchema": {"type": "object", "properties": {}}},
]


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of one tool."""
    match name:
        case "greet":
            return {"content": [{"type": "text", "text": f"Hello {arguments['who']}!"}]}
        case "environment":
            value = os.environ.get(arguments["name"])
            return {"content": [{"type": "text", "text": json.dumps({"value": value, "args": sys.argv[1:]})}]}
        case "mixed":
            link = {"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"}
            image = {"type": "image", "mimeType": "image/png", "data": _PIXEL}
            return {"content": [{"type": "text", "text": "words"}, image, link]}
        case _:
            return {"content": [{"type": "text", "text": "boom"}], "isError": True}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return call(params["name"], params.get("arguments") or {})
        case _:
            return {}


def serve() -> None:
    """Answer requests until the end of the input."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    serve()
