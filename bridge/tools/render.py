"""Facts about a call as the fields of ACP: the one place that knows both (`tool-calls` §4–6).

AIR gets each fact in exactly one field; every other client gets the upstream fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bridge.capabilities import ClientCapabilities
from bridge.diffs.final import Change
from bridge.tools.facts import UNDECIDED, CommandOutput, Content, Json, ResultFacts, Update, Updates, UseFacts
from bridge.tools.reading import mapping
from bridge.tools.results import text_item
from machines.events import ToolDenied, ToolProgressed, ToolReturned, ToolUse


@dataclass(frozen=True, slots=True)
class Drawn:
    """A use with its facts, for one client."""

    use: ToolUse
    facts: UseFacts
    client: ClientCapabilities

    @property
    def terminal(self) -> bool:
        """Whether the call is shown as a terminal."""
        return self.facts.command and self.client.terminal != "none"


# ── a use ─────────────────────────────────────────────────────────────────────


def opening(
    drawn: Drawn, *, complete: bool, preview: Content | None = None, keep_text: bool = False
) -> Update:
    """The first report of a call (§4.1); a preview stands in for its own content."""
    call: Update = {"sessionUpdate": "tool_call", "toolCallId": drawn.use.call}
    if drawn.use.name:
        call["name"] = drawn.use.name
    if complete or not drawn.client.air:
        call["rawInput"] = raw_input(drawn, keep_text=keep_text)
    shown = [*preview] if preview else use_content(drawn)
    return {**call, "status": "pending", **_label(drawn), "content": shown, "_meta": _opening_meta(drawn)}


def refinement(drawn: Drawn, *, keep_text: bool = False) -> Update:
    """What the complete input adds (§4.2)."""
    fields = {
        "rawInput": raw_input(drawn, keep_text=keep_text),
        **_label(drawn),
        "content": use_content(drawn),
    }
    return update(drawn.use.call, fields, _use_meta(drawn))


def partial(drawn: Drawn) -> Update:
    """What an input that still streams tells so far (§4.3); AIR waits for the complete one."""
    fields = {} if drawn.client.air else {"rawInput": drawn.use.input}
    return update(drawn.use.call, {**fields, **_label(drawn)}, _use_meta(drawn))


def update(call: str, fields: Json, meta: Json) -> Update:
    """One `tool_call_update`."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields, "_meta": meta}


def raw_input(drawn: Drawn, *, keep_text: bool = False) -> Json:
    """The input; AIR gets no text in it that another field holds (§4.4).

    `keep_text` is for a Write behind the notice that it overwrites a file: nothing else has its text.
    """
    withheld = drawn.facts.withheld if drawn.client.air and not keep_text else ()
    return {key: value for key, value in drawn.use.input.items() if key not in withheld}


def use_content(drawn: Drawn) -> list[Json]:
    """Terminal, change and display copy, in this order (§4.5–4.6)."""
    content = [terminal_item(drawn.use.call)] if drawn.terminal else []
    if drawn.facts.change:
        content.append(drawn.facts.change)
    if not drawn.terminal and not drawn.client.raw_input_rendering:
        content.extend(drawn.facts.display)
    return content


def _label(drawn: Drawn) -> Update:
    facts = drawn.facts
    label: Update = {"title": facts.title, "kind": facts.kind}
    return label if facts.locations is None else {**label, "locations": [*facts.locations]}


def _use_meta(drawn: Drawn) -> Update:
    shown = drawn.facts.air if drawn.client.air else {}
    return with_air(claude_meta(drawn.use), shown)


def _opening_meta(drawn: Drawn) -> Update:
    meta = _use_meta(drawn)
    if drawn.terminal:
        meta |= terminal_info(drawn.use.call)
    if drawn.client.air and drawn.use.name.startswith("mcp__"):
        meta["is_mcp_tool_call"] = True
    return meta


def claude_meta(use: ToolUse, **more: object) -> Update:
    """The upstream keys; the parent is the Agent call whose subagent made this one."""
    parent = {"parentToolUseId": use.parent} if use.parent else {}
    return {"claudeCode": {"toolName": use.name, **parent, **more}}


def with_air(meta: Json, payload: Json) -> Update:
    """A copy of `_meta` with a payload more in the AIR namespace (NG-022 … NG-024); equal without one.

    Every other key stays; a `jetbrains` or `air` that is no object is replaced.
    """
    if not payload:
        return {**meta}
    jetbrains = mapping(meta.get("jetbrains"))
    air = {**mapping(jetbrains.get("air")), "version": 1, **payload}
    return {**meta, "jetbrains": {**jetbrains, "air": air}}


# ── a permission request ──────────────────────────────────────────────────────


def request(
    drawn: Drawn,
    preview: Content | None,
    blocked_path: str | None,
    mcp_server: Json | None,
    *,
    keep_text: bool,
) -> Update:
    """The `toolCall` of a permission request (`permissions` §3)."""
    use, air = drawn.use, drawn.client.air
    server = {"mcpServer": mcp_server} if mcp_server else {}
    locations = _request_locations(drawn, blocked_path)
    call: Update = {"toolCallId": use.call, "title": drawn.facts.title}
    call["rawInput"] = raw_input(drawn, keep_text=keep_text)
    if not air:
        call |= {"name": use.name, "status": "pending", "kind": drawn.facts.kind}
    if preview or not air:
        call["content"] = [*preview] if preview else use_content(drawn)
    if locations is not None:
        call["locations"] = locations
    if server or not air:
        call["_meta"] = {"claudeCode": server} if air else claude_meta(use, **server)
    return call


def _request_locations(drawn: Drawn, blocked_path: str | None) -> list[Json] | None:
    known = [*(drawn.facts.locations or ())]
    if blocked_path and all(location.get("path") != blocked_path for location in known):
        return [*known, {"path": blocked_path}]
    return None if drawn.client.air or drawn.facts.locations is None else known


# ── a result ──────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result with its facts and what the bridge knows about it."""

    result: ToolReturned
    facts: ResultFacts
    status: str
    backgrounded: bool = False
    """The command goes on in the background."""
    ends_later: bool = False
    """The end of its terminal will be told when the background task ends."""


def outcome(drawn: Drawn, end: Outcome) -> Updates:
    """The end of a call: the output of its terminal, then the rest with the status (§5.7)."""
    client, call = drawn.client, drawn.use.call
    goes_on = end.backgrounded and client.has("asyncTasks")
    told: Json = {"asyncTasks": {"backgrounded": True}} if goes_on else {}
    command = end.facts.command if drawn.terminal else None
    carried = command is not None and command.text is not None
    fields: Update = {"status": end.status, **_outcome_fields(drawn, end, carried=carried)}
    meta = with_air(_result_meta(drawn.use, end.result), told)
    if command is not None and not end.ends_later:
        meta |= terminal_exit(call, _exit_code(command, end, air=client.air))
    final = update(call, fields, meta)
    if command is None or command.text is None:
        return [final]
    output = {**_parent_meta(drawn.use), **terminal_output(call, command.text, client)}
    return [update(call, {}, with_air(output, told)), final]


def _parent_meta(use: ToolUse) -> Update:
    return {"claudeCode": {"parentToolUseId": use.parent}} if use.parent else {}


def late_exit(use: ToolUse) -> Update:
    """The end of a terminal whose command went on in the background; its code is not known."""
    return update(use.call, {}, {**_parent_meta(use), **terminal_exit(use.call, None)})


def _result_meta(use: ToolUse, result: ToolReturned) -> Update:
    reason = {"nonExecutionKind": result.non_execution_kind} if result.non_execution_kind else {}
    feedback = {"userFeedback": result.user_feedback} if result.user_feedback else {}
    return claude_meta(use, **reason, **feedback)


def _outcome_fields(drawn: Drawn, end: Outcome, *, carried: bool) -> Update:
    facts, air = end.facts, drawn.client.air
    content = None if carried else facts.content
    if carried and not air:
        content = [terminal_item(drawn.use.call)]
    raw = _raw_output(end, air=air, shown=bool(content)) if not carried else None
    fields: Update = {}
    if raw is not None:
        fields["rawOutput"] = raw
    if facts.title is not None:
        fields["title"] = facts.title
    if content is not None:
        fields["content"] = [*content]
    if facts.plan_file is not None:
        rest = {key: value for key, value in drawn.use.input.items() if key != "plan"}
        fields["rawInput"] = {**rest, "planFilePath": facts.plan_file}
    return fields


def _raw_output(end: Outcome, *, air: bool, shown: bool) -> object:
    decided = end.facts.raw_output
    if air and decided is not UNDECIDED:
        return decided
    if air and shown:
        return None
    raw = end.result.content if decided is UNDECIDED or decided is None else decided
    return None if air and raw in ("", []) else raw


def bare_outcome(drawn: Drawn, result: ToolReturned, **fields: object) -> Update:
    """The end of a call whose result is told elsewhere."""
    return update(drawn.use.call, fields, _result_meta(drawn.use, result))


def merged(opening: Update, end: Update) -> Update:
    """A call that is over when it is first reported."""
    fields = {key: value for key, value in end.items() if key != "sessionUpdate"}
    return {**opening, **fields}


# ── a terminal ───────────────────────────────────────────────────────────────


def terminal_item(call: str) -> Json:
    """The item of `content` that shows the terminal of a call; its id is the id of the call."""
    return {"type": "terminal", "terminalId": call}


def terminal_info(call: str) -> Json:
    """What the first report says about the terminal."""
    return {"terminal_info": {"terminal_id": call}}


def terminal_output(call: str, data: str, client: ClientCapabilities) -> Json:
    """The whole output, under the key that the client asked for."""
    key = "terminal_output_delta" if client.terminal == "delta" else "terminal_output"
    return {key: {"terminal_id": call, "data": data}}


def terminal_exit(call: str, code: int | None) -> Json:
    """The end of the command."""
    return {"terminal_exit": {"terminal_id": call, "exit_code": code, "signal": None}}


def _exit_code(output: CommandOutput, end: Outcome, *, air: bool) -> int | None:
    """AIR always gets a number, 1 for every failure; others the code where it is known."""
    if air:
        return 1 if end.result.is_error or output.interrupted else output.exit_code or 0
    return None if end.backgrounded else output.exit_code


# ── everything else ───────────────────────────────────────────────────────────


def status(drawn: Drawn, value: str) -> Update:
    """A change of the status and of nothing else."""
    return update(drawn.use.call, {"status": value}, claude_meta(drawn.use))


def progress(drawn: Drawn, beat: ToolProgressed) -> Update:
    """A beat of a call that runs (§6.1).

    A beat of an unknown call that fell back to this one keeps its own tool name, as upstream has it,
    except for AIR.
    """
    facts = {
        "elapsedTimeSeconds": beat.elapsed,
        "subagentType": beat.subagent_type,
        "subagentRetry": beat.subagent_retry,
    }
    told = {key: value for key, value in facts.items() if value is not None}
    foreign = beat.call != drawn.use.call and not drawn.client.air
    name = {"toolName": beat.name} if foreign else {}
    return update(
        drawn.use.call, {"status": "in_progress"}, claude_meta(drawn.use, **name, toolResponse=told)
    )


def hook(drawn: Drawn, response: object, change: Change | None) -> Update | None:
    """What a PostToolUse hook adds (§6.2); None when that is nothing for this client."""
    fields: Update = {}
    if change is not None:
        fields = {"content": [*change.content], "locations": [*change.locations]}
    if not drawn.client.air:
        return update(drawn.use.call, fields, claude_meta(drawn.use, toolResponse=response))
    markers = _markers(response)
    if not markers and change is None:
        return None
    told = {"toolResponse": markers} if markers else {}
    return update(drawn.use.call, fields, claude_meta(drawn.use, **told))


def _markers(response: object) -> Update:
    if not isinstance(response, Mapping):
        return {}
    markers: Update = {}
    if isinstance(response.get("status"), str):
        markers["status"] = response["status"]
    if isinstance(response.get("isAsync"), bool):
        markers["isAsync"] = response["isAsync"]
    return markers


def denial(drawn: Drawn, denied: ToolDenied) -> Update:
    """A rule or a mode refused the call (§6.3); AIR reads the reason in `content` alone."""
    why = denied.reason or denied.message
    told = {"decisionReasonType": denied.reason_type}
    if not drawn.client.air:
        told |= {"decisionReason": denied.reason, "message": denied.message}
    elif denied.reason and denied.message and denied.reason != denied.message:
        told["message"] = denied.message
    response = {key: value for key, value in told.items() if value is not None}
    fields = {
        "status": "failed",
        "content": [text_item(f"Permission denied: {why}" if why else "Permission denied")],
    }
    return update(
        drawn.use.call, fields, claude_meta(drawn.use, **({"toolResponse": response} if response else {}))
    )


def closing(drawn: Drawn, text: str, value: str) -> Update:
    """The end of a call that got no result (§6.4)."""
    meta = claude_meta(drawn.use)
    if drawn.terminal:
        meta |= terminal_exit(drawn.use.call, 1 if drawn.client.air else None)
    return update(drawn.use.call, {"status": value, "content": [text_item(text)]}, meta)


def memory_recall(call: str, mode: str, memories: Sequence[Json]) -> Update:
    """Memories that Claude Code put into the context by itself (§6.7)."""
    synthesized = mode == "synthesize"
    count = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}"
    shown: Update = {
        "sessionUpdate": "tool_call",
        "toolCallId": call,
        "status": "completed",
        "title": f"Recalled {'synthesized memory' if synthesized else count}",
        "kind": "read",
    }
    if synthesized:
        shown["content"] = [text_item(str(memory["content"])) for memory in memories if memory.get("content")]
    else:
        shown["locations"] = [{"path": memory["path"]} for memory in memories if memory.get("path")]
    return {**shown, "_meta": {"claudeCode": {"toolName": "memory_recall", "toolResponse": {"mode": mode}}}}
