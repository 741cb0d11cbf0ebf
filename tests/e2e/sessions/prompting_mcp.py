"""An MCP server on stdio with one prompt, `hello`, whose answer the scripted model is told."""

import json
import sys
from typing import Any

PROMPT = {
    "name": "hello",
    "description": "Greet somebody.",
    "arguments": [{"name": "who", "description": "Whom.", "required": True}],
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"prompts": {}},
                "serverInfo": {"name": "demo", "version": "1"},
            }
        case "prompts/list":
            return {"prompts": [PROMPT]}
        case "prompts/get":
            who = params["arguments"]["who"]
            told = f'Say hello to {who}. SCRIPT [["Hello {who}!"]]'
            return {"messages": [{"role": "user", "content": {"type": "text", "text": told}}]}
        case _:
            return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
