"""An MCP server on stdio: its tool `order` asks the user with a form or a link, and gives back the answer.

Arguments of the tool: the params of `elicitation/create`.
"""

import json
import sys
from typing import Any


def send(**message: Any) -> None:
    """Write one message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def result(message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request that needs nothing from the user."""
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asking", "version": "1"},
            }
        case "tools/list":
            schema = {"type": "object", "properties": {}, "additionalProperties": True}
            return {"tools": [{"name": "order", "description": "Order.", "inputSchema": schema}]}
        case _:
            return {}


def serve() -> None:
    """Answer requests until the end of the input."""
    calls: dict[str, Any] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call":
            question = f"question-{message['id']}"
            calls[question] = message["id"]
            send(id=question, method="elicitation/create", params=message["params"].get("arguments") or {})
        elif "method" in message and "id" in message:
            send(id=message["id"], result=result(message))
        elif message.get("id") in calls:
            answer = json.dumps(message.get("result") or message.get("error"))
            send(id=calls.pop(message["id"]), result={"content": [{"type": "text", "text": answer}]})


if __name__ == "__main__":
    serve()
