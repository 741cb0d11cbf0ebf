#!/usr/bin/env python3
"""A Claude Code that does what a file says: stream-json on stdio, for `CLAUDE_CODE_EXECUTABLE`.

It needs nothing but the standard library. Variables it reads:

    FAKE_CLI_SCENARIO   path of a scenario (JSON); without one every prompt gets the plain turn
    FAKE_CLI_LOG        path; one JSON line for each start ({"argv", "cwd", "env", "pid"}) and for
                        each line that was read ({"in"})

`install(folder, scenario)` writes a scenario and answers the environment for it. A scenario is an
object; every key may be left out:

    "start"        steps played before anything is read: an early exit, frames, words on stderr
    "initialize"   fields over the default reply
    "turns"        lists of steps; each user message plays the next list, verbatim. When they are
                   used up, or for null, it gets the plain turn
    "replies"      subtype of a control request → what it answers: an object is a success payload,
                   {"error": "text", "code": "…"} an error, {"steps": […]} is played instead of an
                   answer (it may hold the answer), null is silence, for "initialize" too
    "ignore"       some of "interrupt", "eof", "sigterm": it takes no notice of them
    "exit_code"    status after the end of its input (default 0)

A step is a frame, or an object with "do":

    {"do": "sleep", "seconds": 0.2}      an interrupt ends it early
    {"do": "await", "what": "reply"}     until a control_response (`"id"` names which), the next
                                         "message" ($NEXT is its uuid, $NEXT_TEXT its text), or
                                         "nothing"; the end of the input ends any of them
    {"do": "raw", "text": "{oops\\n"}     text as it stands
    {"do": "stderr", "text": "…"}        a line on stderr
    {"do": "fill", "bytes": 2000000}     a frame of type `filler` with that much text
    {"do": "many", "count": 9, "frame": {…}}   one frame repeated; $N is its number
    {"do": "child", "seconds": 5}        a child that holds stdout and stderr open
    {"do": "exit", "code": 3}            the end, at once
    {"do": "die", "signal": 9}           the end by a signal
    {"do": "plain", "text": "…"}         the plain turn for the current message

Frames may hold $UUID (of the message being answered), $TEXT (its text), $SESSION, $CWD, $NEW (a
fresh uuid), $REQUEST (id of the control request that is answered by steps). The plain turn is what
the real one writes, with the prompt's own text as the answer. Unless ignored, an interrupt ends any
turn as it does there: reply, marker, aborted result, idle; `cancel_queued` drops what waits.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SCENARIO = "FAKE_CLI_SCENARIO"
LOG = "FAKE_CLI_LOG"
PATH = Path(__file__).resolve()
MODEL = "claude-opus-5-5"
VERSION = "2.1.332"
LOGGED = ("CLAUDE", "ANTHROPIC", "IS_SANDBOX", "TEST_")
CAPABILITIES = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1"]  # of system/init
INITIALIZE: Json = {
    "commands": [{"name": "compact", "description": "Compact the conversation", "argumentHint": ""}],
    "agents": [{"name": "general-purpose", "description": "Does anything"}],
    "models": [{"value": "default", "resolvedModel": MODEL, "displayName": "Default", "description": ""}],
    "account": {"tokenSource": "ANTHROPIC_API_KEY", "apiKeySource": "ANTHROPIC_API_KEY"},
    "claude_code_version": VERSION,
    "current_permission_mode": "default",
}


def install(folder: Path, scenario: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Write `scenario` into `folder`; answer the environment that runs it and logs to `log.jsonl`."""
    file = folder / "scenario.json"
    file.write_text(json.dumps(scenario or {}))
    return {"CLAUDE_CODE_EXECUTABLE": str(PATH), SCENARIO: str(file), LOG: str(folder / "log.jsonl")}


def received(folder: Path) -> list[Json]:
    """The lines that the fake has read, in order, over all of its starts."""
    return [entry["in"] for entry in logged(folder) if "in" in entry]


def logged(folder: Path) -> list[Json]:
    """Everything in the log: starts and lines."""
    file = folder / "log.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


class Interrupted(Exception):  # noqa: N818 - not an error
    """The turn that plays was interrupted."""


class FakeCli:
    """One run: a thread reads stdin and answers control requests, the main thread plays turns."""

    def __init__(self, scenario: Json, session: str) -> None:
        self.scenario = scenario
        self.ignore = scenario.get("ignore", [])
        self.turns = deque(scenario.get("turns", []))
        self.session = session
        self.messages: deque[Json] = deque()
        self.replies: deque[str] = deque()
        self.message: Json = {}
        self.playing = False
        self.interrupted = False
        self.eof = False
        self.news = threading.Condition()
        self.output = threading.Lock()

    def run(self) -> int:
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            with self.news:
                self.news.wait_for(lambda: self.messages or self.eof)
                if not self.messages:
                    return int(self.scenario.get("exit_code", 0))
                self.message = self.messages.popleft()
                self.playing, self.interrupted = True, False
            try:
                turn = self.turns.popleft() if self.turns else None
                self.play([{"do": "plain"}] if turn is None else turn)
            except Interrupted:
                self.interrupted = False
                self._write_all(self._aborted_tail())
            self.playing = False

    # ── what comes in ─────────────────────────────────────────────────────────

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            log({"in": message})
            if message["type"] == "control_request":
                self._control(message["request_id"], message["request"])
                continue
            with self.news:
                if message["type"] == "user":
                    self.messages.append(message)
                else:
                    self.replies.append(message["response"]["request_id"])
                    self.write(message)  # the real one replays answers, too
                self.news.notify_all()
        with self.news:
            self.eof = "eof" not in self.ignore
            self.news.notify_all()

    def _control(self, request_id: str, request: Json) -> None:
        subtype = request["subtype"]
        planned = self.scenario.get("replies", {})
        answer = planned[subtype] if subtype in planned else self._default_answer(subtype, request)
        response: Json = {"subtype": "success", "request_id": request_id, "response": answer}
        if answer is None:
            return
        if "error" in answer:
            response = {"subtype": "error", "request_id": request_id, "error": answer["error"]}
            response |= {"error_code": answer["code"]} if "code" in answer else {}
        if "steps" in answer:
            self.play(answer["steps"], {"$REQUEST": request_id})
        else:
            self.write({"type": "control_response", "response": response})
        if subtype == "interrupt" and "interrupt" not in self.ignore and self.playing:
            with self.news:
                self.interrupted = True
                self.news.notify_all()

    def _default_answer(self, subtype: str, request: Json) -> Json | None:
        match subtype:
            case "initialize":
                return {**INITIALIZE, "pid": os.getpid(), **self.scenario.get("initialize", {})}
            case "interrupt":
                return self._interrupt(bool(request.get("cancel_queued")))
            case "set_permission_mode":
                mode = request["mode"]
                self.write(self._frame("system", subtype="status", status=None, permissionMode=mode))
                return {"mode": mode}
            case "set_model":
                return {"model": request.get("model") or MODEL}
            case "cancel_async_message":
                return {"cancelled": self._drop(request["message_uuid"])}
            case "generate_session_title":
                return {"title": "Scripted session"}
            case _:
                return {}

    def _interrupt(self, cancel_queued: bool) -> Json:
        waiting = [str(message.get("uuid")) for message in self.messages]
        if not cancel_queued:
            return {"still_queued": waiting}
        return {"still_queued": [], "cancelled": [uuid for uuid in waiting if self._drop(uuid)]}

    def _drop(self, uuid: str) -> bool:
        with self.news:
            found = next((message for message in self.messages if message.get("uuid") == uuid), None)
            if found is None:
                return False
            self.messages.remove(found)
        self.write(self._lifecycle("cancelled", uuid))
        return True

    # ── what goes out ─────────────────────────────────────────────────────────

    def write(self, frame: Json) -> None:
        self._write_text(json.dumps(frame, ensure_ascii=False) + "\n")

    def _write_text(self, text: str) -> None:
        try:
            with self.output:
                sys.stdout.buffer.write(text.encode())
                sys.stdout.buffer.flush()
        except OSError:
            leave(0)

    def _write_all(self, frames: Iterator[Json]) -> None:
        """Write the frames of a turn; an interrupt stops it between two of them."""
        for frame in frames:
            if self.interrupted:
                raise Interrupted
            self.write(frame)

    def play(self, steps: list[Json], names: Mapping[str, str] | None = None) -> None:
        """Play steps for the current message, or for the control request that `names` holds."""
        known = {"$SESSION": self.session, "$CWD": os.getcwd(), **(names or {})}
        known |= {"$UUID": self.message.get("uuid", ""), "$TEXT": text_of(self.message)}
        for step in steps:
            if self.interrupted and names is None:
                raise Interrupted
            if "do" in step:
                known.update(self._do(step, known))
            else:
                self.write(fill(step, known))

    def _do(self, step: Json, known: Mapping[str, str]) -> Mapping[str, str]:
        match step["do"]:
            case "sleep":
                self._until(lambda: False, step["seconds"])
            case "await":
                return self._await(step)
            case "plain":
                self._write_all(self._plain_turn(step.get("text", known["$TEXT"])))
            case "child":
                subprocess.Popen(["sleep", str(step["seconds"])], stdin=subprocess.DEVNULL)
            case "exit":
                leave(step.get("code", 1))
            case "die":
                os.kill(os.getpid(), step.get("signal", signal.SIGKILL))
                time.sleep(10)
            case _:
                self._emit(step, known)
        return {}

    def _emit(self, step: Json, known: Mapping[str, str]) -> None:
        match step["do"]:
            case "raw":
                self._write_text(step["text"])
            case "stderr":
                print(step["text"], file=sys.stderr, flush=True)
            case "fill":
                self.write({"type": "filler", "text": "x" * step["bytes"]})
            case "many":
                self._write_all(fill(step["frame"], {**known, "$N": str(n)}) for n in range(step["count"]))
            case unknown:
                raise ValueError(f"unknown step: {unknown}")

    def _await(self, step: Json) -> Mapping[str, str]:
        match step:
            case {"what": "reply"}:
                wanted = step.get("id")
                self._until(lambda: any(wanted in (None, reply) for reply in self.replies))
                self.replies.remove(wanted or self.replies[0])
            case {"what": "message"}:
                self._until(lambda: bool(self.messages))
                message = self.messages.popleft()
                return {"$NEXT": message.get("uuid", ""), "$NEXT_TEXT": text_of(message)}
            case _:
                self._until(lambda: False)
        return {}

    def _until(self, met: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait for a condition or a time; an interrupt of the turn ends either."""
        with self.news:
            self.news.wait_for(lambda: met() or self.interrupted or (self.eof and seconds is None), seconds)
            if self.interrupted:
                raise Interrupted
            if self.eof and not met() and seconds is None:
                leave(self.scenario.get("exit_code", 0))

    # ── the turns of the real one ─────────────────────────────────────────────

    def _plain_turn(self, text: str) -> Iterator[Json]:
        uuid, usage = self.message.get("uuid", ""), {"input_tokens": 10, "output_tokens": 5}
        message = {"id": f"msg_{new_id()}", "type": "message", "role": "assistant", "model": MODEL}
        block = {"type": "text", "text": text}
        events: list[Json] = [
            {"type": "message_start", "message": {**message, "content": [], "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
        stream = [self._frame("stream_event", event=event, parent_tool_use_id=None) for event in events]
        content = {**message, "content": [block], "stop_reason": None, "usage": usage}
        yield self._frame("system", subtype="session_state_changed", state="running")
        yield from (self._lifecycle(state, uuid) for state in ("queued", "started"))
        init = {"cwd": os.getcwd(), "model": MODEL, "claude_code_version": VERSION}
        yield self._frame("system", subtype="init", capabilities=CAPABILITIES, **init)
        yield self._frame("system", subtype="status", status="requesting", user_message_uuids=[uuid])
        yield {**self.message, "isReplay": True, "session_id": self.session}
        yield from stream[:3]
        yield self._frame("assistant", message=content, parent_tool_use_id=None)
        yield from stream[3:]
        yield self._result("success", result=text, stop_reason="end_turn", terminal_reason="completed")
        yield self._lifecycle("completed", uuid)
        yield self._frame("system", subtype="session_state_changed", state="idle")

    def _aborted_tail(self) -> Iterator[Json]:
        marker = {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}
        yield self._frame("user", message=marker, parent_tool_use_id=None)
        yield self._result("error_during_execution", errors=[], terminal_reason="aborted_streaming")
        yield self._lifecycle("cancelled", self.message.get("uuid", ""))
        yield self._frame("system", subtype="session_state_changed", state="idle")

    def _result(self, subtype: str, **fields: Any) -> Json:
        uuid = self.message.get("uuid", "")
        fields |= {"user_message_uuid": uuid, "user_message_uuids": [uuid], "permission_denials": []}
        fields |= {
            "usage": {"input_tokens": 10, "output_tokens": 5},
            "modelUsage": {},
            "total_cost_usd": 0.001,
        }
        return self._frame("result", subtype=subtype, is_error=subtype != "success", num_turns=1, **fields)

    def _lifecycle(self, state: str, uuid: str) -> Json:
        return self._frame("command_lifecycle", command_uuid=uuid, state=state)

    def _frame(self, type: str, **fields: Any) -> Json:
        return {"type": type, **fields, "session_id": self.session, "uuid": new_id()}


def fill(value: Any, known: Mapping[str, str]) -> Any:
    """Put names in the place of placeholders, all the way down; unknown ones stay."""
    match value:
        case str():
            found = {**known, "$NEW": new_id()}
            return re.sub(r"\$[A-Z_]+", lambda name: found.get(name[0], name[0]), value)
        case list():
            return [fill(item, known) for item in value]
        case dict():
            return {key: fill(item, known) for key, item in value.items()}
        case _:
            return value


def text_of(message: Json) -> str:
    """The text of a user message, blocks joined."""
    content = message.get("message", {}).get("content", "")
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def new_id() -> str:
    return str(uuid.uuid4())


def leave(code: int) -> None:
    """End without waiting for the thread that reads."""
    sys.stderr.flush()
    os._exit(code)


def log(entry: Json) -> None:
    """Append to the log that `logged` reads."""
    if path := os.environ.get(LOG):
        with open(path, "a") as file:
            file.write(json.dumps(entry) + "\n")


def main(argv: list[str]) -> None:
    """Behave like `claude`, as far as the scenario and the flags say."""
    if "--version" in argv:
        print(f"{VERSION} (Claude Code)")
        return
    known = {name: value for name, value in os.environ.items() if name.startswith(LOGGED)}
    log({"argv": argv, "cwd": os.getcwd(), "env": known, "pid": os.getpid()})
    path = os.environ.get(SCENARIO)
    scenario = json.loads(Path(path).read_text()) if path else {}
    if "sigterm" in scenario.get("ignore", []):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    flags = dict(argument.split("=", 1) for argument in argv if argument.startswith("--") and "=" in argument)
    cli = FakeCli(scenario, flags.get("--session-id") or flags.get("--resume") or new_id())
    cli.play(scenario.get("start", []))
    leave(cli.run())


if __name__ == "__main__":
    main(sys.argv[1:])
