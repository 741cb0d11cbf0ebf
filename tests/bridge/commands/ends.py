"""What the tests of commands put in place of a process and a client."""

from collections.abc import Callable, Mapping
from typing import Any

from bridge.claude.errors import ControlError
from bridge.peer import Answer

Json = dict[str, Any]
OnReply = Callable[[Mapping[str, object] | Exception], None]


class Process:
    """Keeps control requests; a test answers them, or says beforehand what they get."""

    def __init__(self) -> None:
        self.asked: list[Json] = []
        self.open: list[tuple[str, OnReply]] = []
        self.answers: dict[str, list[Mapping[str, object] | Exception]] = {}
        """By subtype; the last one stays."""

    def request(self, subtype: str, on_reply: OnReply, **fields: object) -> None:
        self.asked.append({"subtype": subtype, **fields})
        answers = self.answers.get(subtype)
        if answers is None:
            self.open.append((subtype, on_reply))
        else:
            on_reply(answers.pop(0) if len(answers) > 1 else answers[0])

    def answer(self, reply: Mapping[str, object] | Exception) -> None:
        """Answer the oldest request that is open."""
        self.open.pop(0)[1](reply)


class Client:
    """Keeps what it is asked, and how each link ended."""

    def __init__(self) -> None:
        self.links: list[Json] = []
        self.ends: list[str] = []
        self.answers: list[Callable[[Answer], None]] = []

    def request(self, method: str, params: Json, on_answer: Callable[[Answer], None]) -> int:
        assert method == "elicitation/create"
        self.links.append(params)
        self.answers.append(on_answer)
        return len(self.links) - 1

    def complete(self, elicitation: str) -> None:
        self.ends.append(f"complete {elicitation}")

    def withdraw(self, request: int) -> None:
        self.ends.append(f"withdrawn {request}")


def servers(**status: str) -> Json:
    """A reply to `mcp_status`."""
    return {"mcpServers": [{"name": name, "status": state} for name, state in status.items()]}


REFUSED = ControlError("Server not found: x")
