"""The models of the recordings: what they answered to which prompts, for our own scripted API.

Three of them: `SCRIPT [[…]]` (the language of `bridge.demo.script`), `… @@[[…]]@@` with keys of its own, and
words in front of the prompt (`BASH: ls`, `READ: path`, `AGENT: task`, `THINK`).
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from bridge.demo.api import ApiRequest
from bridge.demo.script import MARKER
from tests.compare.recordings.recording import Recording
from tests.support.rpc import Json

PLAN_FILE = "{PLANFILE}"
"""Stands in a prompt for the plan file whose path Claude Code tells the model."""

_PLAN_PATH = re.compile(r"/[^\s\"'`\\]*/plans/[\w.-]+\.md")
_MARK = "@@[["
_AFTER_SCRIPT = "all done"
_WORDS: dict[str, Callable[[str], Sequence[Any]]] = {
    "BASH:": lambda text: ["running", _use("Bash", command=text, description="run it")],
    "READ:": lambda text: [_use("Read", file_path=text)],
    "AGENT:": lambda text: [
        "delegating",
        _use("Agent", description="sub job", prompt=text, subagent_type="general-purpose"),
    ],
    "THINK": lambda _: [{"thinking": "let me think hard", "size": 100}, "thought result"],
}
_GREETING = "hello from mock"
_AFTER_WORDS = "done with tool"
_SUMMARY = "Mock summary of the conversation."
_SUMMARY_OF_MARKED = "SUMMARY BODY one two three"
_USAGE = {"usage": {"output_tokens": 5}}
"""Set, so that it holds from the first event on."""
_WORD_USAGE = {"usage": {"output_tokens": 5, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 3}}


@dataclass(frozen=True, slots=True)
class Model:
    """The model of a recording, as `ScriptedApi` asks it."""

    worded: bool = False
    """No prompt of the recording has a script: it is the model of the words."""

    def __call__(self, asked: ApiRequest) -> Sequence[Any] | None:
        """What the model answered; `None` leaves it to the scripted API."""
        match asked.kind:
            case "count":
                return None
            case "compact":
                is_marked = _MARK in json.dumps(asked.body)
                return [f"<summary>{_SUMMARY_OF_MARKED if is_marked else _SUMMARY}</summary>"]
            case "title":
                return [json.dumps({"title": "Mock generated title"})]
            case "side":
                return [_GREETING, _WORD_USAGE if self.worded else _USAGE]
            case "turn":
                return [*_step(asked), _WORD_USAGE if self.worded else _USAGE]
            case _:
                assert_never(asked.kind)


def model_of(recording: Recording) -> Model:
    """The one of the three that answered in a recording."""
    sent = json.dumps([*recording.sent()])
    return Model(worded=MARKER + "[" not in sent and _MARK not in sent)


def _step(asked: ApiRequest) -> Sequence[Any]:
    if MARKER + "[" in asked.prompt:
        return _script(asked)
    if marked := _last_marked(asked):
        steps, step = marked
        return _translated(steps[step]) if step < len(steps) else [f"beyond-{step}"]
    if MARKER + "[" in json.dumps(asked.body.get("messages", [])):
        return [_AFTER_SCRIPT]
    return _worded(asked)


def _last_marked(asked: ApiRequest) -> tuple[Sequence[Any], int] | None:
    """The newest script of the second language, which later prompts without one go on with."""
    answers = 0
    for message in reversed(asked.body.get("messages", [])):
        if message["role"] == "assistant":
            answers += 1
            continue
        for text in reversed(_texts(message["content"])):
            if _MARK in text:
                steps, _ = json.JSONDecoder().raw_decode(text, text.find(_MARK) + 2)
                return steps, answers
    return None


def _texts(content: str | Sequence[Json]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


def _script(asked: ApiRequest) -> Sequence[Any]:
    at = asked.prompt.find(MARKER + "[") + len(MARKER)
    steps, _ = json.JSONDecoder().raw_decode(asked.prompt, at)
    if asked.step >= len(steps):
        return [_AFTER_SCRIPT]
    step = json.dumps(steps[asked.step])
    if PLAN_FILE in step and (path := _PLAN_PATH.search(json.dumps(asked.body))):
        step = step.replace(PLAN_FILE, path[0])
    return list(json.loads(step))


def _translated(items: Sequence[Json]) -> list[Any]:
    """A step of the second language in the first."""
    step: list[Any] = []
    for item in items:
        if "text" in item:
            step.append({"text": item["text"], "pace": item.get("wd", 0)})
        elif "thinking" in item:
            step.append({"thinking": item["thinking"]})
        elif "tool" in item:
            step.append(_use(item["tool"], **item["in"]))
        elif "http" in item:
            step.append({"error": item["http"], "message": f"mock {item['http']}"})
        if "stop" in item:
            step.append({"stop": item["stop"]})
    return step


def _worded(asked: ApiRequest) -> Sequence[Any]:
    for word, step in _WORDS.items():
        if asked.prompt.startswith(word) and not (word == "AGENT:" and "haiku" in asked.body["model"]):
            if asked.step == 0:
                return step(asked.prompt.removeprefix(word).strip())
            return [_AFTER_WORDS if asked.step == 1 else _GREETING]
    return [_GREETING]


def _use(name: str, /, **input: Any) -> Json:
    return {"name": name, "input": input}
