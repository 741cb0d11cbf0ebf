"""What travels between client and agent, told on a screen as a person would tell it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from bridge.demo.client import Direction, Json
from bridge.demo.screen import Screen

_ENDS = {"completed": "good", "failed": "bad"}


@dataclass(slots=True)
class Heard:
    """What a prompt brought so far."""

    text: str = ""
    thought: str = ""
    questions: list[str] = field(default_factory=list)
    output: str = ""
    diffs: list[Json] = field(default_factory=list)


class Narrator:
    """Follows the messages of a session and keeps what the tour wants to check."""

    def __init__(self, screen: Screen, *, raw: bool, trace: Path | None) -> None:
        self.heard = Heard()
        self._screen = screen
        self._raw = raw
        self._trace = trace
        self._trace_at = 0
        self._calls: dict[str, Json] = {}
        self._keys: dict[str, list[str]] = {}
        self._announced: set[str] = set()
        self._awaited: tuple[str, anyio.Event] | None = None

    def start(self) -> None:
        """A new prompt begins."""
        self.heard = Heard()

    async def wait_text(self, text: str) -> None:
        """Return once the answer holds a text."""
        self._awaited = (text, anyio.Event())
        await self._awaited[1].wait()

    def say(self, text: str) -> None:
        """What the person at the client says or does."""
        if not self._raw:
            self._screen.client(text)

    def remark(self, text: str) -> None:
        """What came of it."""
        if not self._raw:
            self._screen.agent(text, "dim")

    def observe(self, direction: Direction, body: Json) -> None:
        """One message on the wire."""
        self.show_transitions()
        if self._raw:
            arrow = "→" if direction == "sent" else "←"
            self._screen.line(f"{arrow} {json.dumps(body, ensure_ascii=False)}", "plain")
        if direction == "received" and body.get("method") == "session/update":
            self._update(body["params"]["update"])

    def ask(self, params: Json) -> Json:
        """A permission question; the option that allows it once."""
        call = self._merge(params["toolCall"])
        self._announce(call)
        title = str(call.get("title"))
        self.heard.questions.append(title)
        choices = "  ".join(f"[{option['name']}]" for option in params["options"])
        self._tell("? May I?  " + choices, "bold")
        chosen: Json = next(option for option in params["options"] if option["kind"] == "allow_once")
        return chosen

    def show_transitions(self) -> None:
        """The transitions that the agent noted since the last look."""
        if self._trace is None or not self._trace.exists():
            return
        with self._trace.open("rb") as trace:
            trace.seek(self._trace_at)
            for line in trace:
                if not line.endswith(b"\n"):
                    break  # still being written
                self._trace_at += len(line)
                self._transition(line)

    def _transition(self, line: bytes) -> None:
        try:
            step = json.loads(line)
        except ValueError:
            return
        if isinstance(step, dict) and step.get("type") == "transition":
            source, target = step.get("source"), step.get("target")
            path = f"stays {target}" if source == target else f"{source} → {target}"
            name = self._short(str(step.get("lifecycle")))
            self._screen.line(f"    · {name:<14}{path}  ({step.get('event')})")

    def _short(self, lifecycle: str) -> str:
        """A lifecycle's name with a number in place of its key."""
        name, _, key = lifecycle.partition(":")
        if not key:
            return name
        keys = self._keys.setdefault(name, [])
        if key not in keys:
            keys.append(key)
        return f"{name} {keys.index(key) + 1}"

    def _update(self, update: Json) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                text = _text(update["content"])
                self.heard.text += text
                if self._awaited is not None and self._awaited[0] in self.heard.text:
                    self._awaited[1].set()
                self._stream(text, thought=False)
            case "agent_thought_chunk":
                text = _text(update["content"])
                self.heard.thought += text
                self._stream(text, thought=True)
            case "tool_call" | "tool_call_update":
                self._tool_call(self._merge(update))
            case _:
                pass  # titles, usage and commands are for an editor's margins

    def _tool_call(self, call: Json) -> None:
        status = call.get("status")
        if status in ("in_progress", *_ENDS):
            self._announce(call)
        if status not in _ENDS or call.get("told"):
            return
        call["told"] = True
        output = "\n".join(_texts(call))
        self.heard.output += output
        if output:
            self._tell(output, "dim")
        self._tell(
            "✓ done" if status == "completed" else "✗ failed", "good" if status == "completed" else "bad"
        )

    def _announce(self, call: Json) -> None:
        """Show a call once, as soon as it says what it does, and its change once it is known."""
        id, title = call["toolCallId"], str(call.get("title"))
        if id not in self._announced:
            self._announced.add(id)
            name = str(call.get("name") or call.get("kind"))
            self._tell(f"⚙ {title}" if title.startswith(name) else f"⚙ {name}: {title}", "bold")
        diffs = _diffs(call)
        if diffs and "diffs" not in call:
            call["diffs"] = diffs
            self.heard.diffs += diffs
            for diff in diffs:
                self._show_diff(diff)

    def _show_diff(self, diff: Json) -> None:
        if not self._raw:
            self._screen.diff(Path(diff["path"]).name, diff.get("oldText"), diff["newText"])

    def _merge(self, report: Json) -> Json:
        call = self._calls.setdefault(report["toolCallId"], {})
        call.update({key: value for key, value in report.items() if value is not None})
        return call

    def _stream(self, text: str, *, thought: bool) -> None:
        if not self._raw:
            self._screen.stream(text, "dim" if thought else "plain")

    def _tell(self, text: str, style: Any) -> None:
        if not self._raw:
            self._screen.agent(text, style)


def _text(content: Json) -> str:
    return str(content.get("text", ""))


def _texts(call: Json) -> list[str]:
    """Texts of a call's content without the fences of their code blocks."""
    texts = [_text(item["content"]) for item in call.get("content", []) if item.get("type") == "content"]
    lines = [line for text in texts for line in text.strip().split("\n")]
    return [line for line in lines if not line.startswith("```")]


def _diffs(call: Json) -> list[Json]:
    return [item for item in call.get("content", []) if item.get("type") == "diff"]
