"""Differences from the reference 0.101.0 that are meant: each rule names what asks for it.

`Decision n` is a decision of the specification, `XX-000` a row of the product's contract, `S§` and the
like a rule of the specification. What no rule explains is a fault, or a rule is missing.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.compare.report import Difference


@dataclass(frozen=True, slots=True)
class Rule:
    """Explains differences: patterns for the message's title and the field's path, and whose it is."""

    reason: str
    title: str = ""
    path: str = ""
    side: Literal["", "both", "reference", "ours", "moved"] = ""
    value: str = ""
    """What either value has to hold."""
    only: str = ""
    """The recordings in which it holds."""

    def explains(self, found: Difference, recording: str) -> bool:
        """Whether this difference is meant."""
        if (self.side and self.side != found.side) or not re.match(self.only, recording):
            return False
        told = f"{found.reference}\n{found.ours}"
        if found.entry is not None:
            told = "\n".join(f"{path}={value}" for path, value in found.entry.fields.items())
        return bool(
            re.search(self.title, found.title)
            and (not self.path or (found.side == "both" and re.search(self.path, found.path)))
            and re.search(self.value, told)
        )


_BAD_PARAMS = r"\.data\.(errors\[|.*\b_errors\b)"

_GONE = r"\nabsent$"
"""Only the reference has the field."""
_NEW = r"^absent\n"
"""Only ours has the field."""
_RFD = r"(live|load)_rfd|\d+-.*-rfd|5\d-v2"
_V2 = r"5\d-v2"

RULES: Sequence[Rule] = (
    Rule("decision 2: the name", "result of initialize", r"\b(agentInfo|info)\.(name|title|version)$"),
    Rule("NG-040: no system prompt capability", "result of initialize", r"\.systemPrompt\b"),
    Rule("AU: how our own program signs in", "result of initialize", r"terminal-auth\.(command|args)"),
    Rule("TC-029: the seven capabilities", "result of initialize", r"air\.capabilities\[\d+\]"),
    Rule("CF-001: no ultracode, no agent option", r"", r"configOptions\.(ultracode|agent)\."),
    Rule("CF-001: no ultracode, no agent option", "session/set_config_option #[346]$", only="cfg_agents"),
    Rule(
        "CF-001: no ultracode, no agent option", "session/set_config_option #(19|21)$", only="cfg_(air|plain)"
    ),
    Rule(
        "another Claude Code: its models",
        r"",
        r"configOptions\.model\.options",
        value=r"(?i)Fable[ -]5[-.][12]",
    ),
    Rule("PM-035: the tool's name", "session/request_permission", r"toolCall\._meta\.claudeCode\.toolName$"),
    Rule(
        "decision 27: the title is asked for later",
        r"",
        r"(cost\.amount|model_usage\[0\]\.token_count\.\w+)$",
    ),
    Rule("W§5: which parameter is wrong, without its value", "^error of ", _BAD_PARAMS),
    Rule(
        "W§5: an unknown method is named without quotes",
        "^error of ",
        r"error\.message$",
        value="Method not found",
    ),
    Rule("decision 38: goals are AIR's", "^error of _session/goal", r"error\.(code|message|data\.method)$"),
    Rule("NG-035: only in the AIR namespace", "elicitation/create", r"\._askUserQuestionCustomAnswer\."),
    Rule(
        "W§9: options of children are skipped",
        r"^config_option_update in <(child|session) \d+>$",
        side="reference",
    ),
    Rule(
        "TC-011: the terminal is told once",
        "^tool_call_update .* failed",
        r"content\[0\]\.(type|terminalId)$",
        value=_GONE,
    ),
    Rule("INV-N4: the first handshake holds", "^result of initialize #3", only="noinit"),
    Rule(
        "NG-047, W§1: who asks for less than 2 gets v1",
        "of initialize #1$",
        only="proto_pv0",
    ),
    Rule("NG-046, W§1: who asks for 2 or more gets v2", "of initialize #1$", only="proto_auto_pv99"),
    Rule(
        "AU-030: no credential",
        "of session/new",
        value="Authentication required: Sign in|currentModeId=.auto",
    ),
    Rule(
        "SE-027: an unknown session",
        r"^error of session/(load|resume) #1[47]$",
        r"error\.(code|message|data\.(details|sessionId))$",
        only="bad_new",
    ),
    Rule(
        "C§11: what to do, in our words",
        "^error of session/new",
        r"error\.(message|data\.details)$",
        only="noexe|exefalse",
    ),
    Rule("NG-040: no system prompt feature", r"session/new #1[02]$", only="bad_new"),
    Rule("NG-040: no system prompt feature", r"^config_option_update", side="ours", only="bad_new"),
    Rule("the scripted API has no gateway that fails", "providers/set #43$", only="bad_new"),
    Rule("the recording lacks the line that is no JSON", "^error of nobody", only="bad_new"),
    Rule("decision 1: AIR has no `mcp` key", "^tool_call ", r"air\.(mcp\.\w+|version)$", only=r"mcp\."),
    Rule("another MCP server answers", "^tool_call_update ", r"\.(text|type|data)$", only=r"mcp\."),
    Rule(
        "decision 11: usage that is not known",
        "^result of session/prompt",
        r"result\.(usage|_meta\.quota\.token_count)\.",
        value=r"^0\nabsent$",
    ),
    Rule(
        "decision 11: usage that is not known",
        "^result of session/prompt",
        r"quota\.model_usage\b",
        value=_GONE,
    ),
    Rule(
        "decision 15: AIR gets what was read",
        "^tool_call_update .* completed",
        r"content\[0\]",
        value=_NEW,
        only=r".*air",
    ),
    Rule("measured time", "^agent_message_chunk ## Usage"),
    Rule(
        "another Claude Code: its counts",
        "^agent_message_chunk ## Context Usage|^compaction_update|^usage_update$",
        r"(text|postTokens|\.used)$",
        only="live_",
    ),
    Rule("another MCP server answers", "MCP servers", value="demo"),
    Rule("the recorded model took more for its prompt", "", r"\.(task|prompt|text)$", value='"child say hi'),
    Rule(
        "C§5.2: a fork has the model of its source",
        "^result of session/fork #16",
        "configOptions",
        only="hist_make",
    ),
    Rule("W§9: how a subagent is called", "^subagent_update", r"\.(title|description)$"),
    Rule("SA-025: a child is not cancelled", "^subagent_update", r"\.capabilities\.cancel$"),
    Rule("W§9, decision 16: the child alone gets its task", "^session_message", side="reference"),
    Rule("W§9, decision 16: the child alone gets its task", "^session_message", side="ours"),
    Rule(
        "W§9, decision 16: the child alone gets its task",
        "^session_message",
        r"\.(sender|recipient)MessageId$",
    ),
    Rule(
        "W§9, decision 16: the Agent call stays",
        "^tool_call",
        side="ours",
        value='"(Agent|SendMessage)"',
        only=_RFD,
    ),
    Rule(
        "S§A1, decision 1: no task for a turn",
        "^async_task",
        side="reference",
        value="autonomous-turn",
    ),
    Rule("decision 17: four more tools", "^tool_call_update", "total_deferred_tools$"),
    Rule("SE-100: the model is known", "^usage_update$", r"_claude/model$", only="plan_clear"),
    Rule("TC-011: the path is told once", "^tool_call_update .* completed", r"planFilePath$", only=r".*air"),
    Rule(
        "decision 1: no empty path when a plan is left",
        "^tool_call .* completed",
        side="reference",
        value='planFilePath=""',
    ),
    Rule(
        "schema v1: load and resume answer without an id",
        "^result of session/(load|resume)",
        r"result\.sessionId$",
    ),
    Rule("luck: who comes first, stream or approval", "<call 4>", only=r"edit\.air$"),
    Rule("luck: when the account is known", "^_auth/status_update$", side="moved"),
    Rule("luck: when the account is known", "^error of session/load #6", side="moved", only="delete_plain"),
    Rule("another recording's sessions are in the store", "^result of session/list", r"result\.sessions"),
    Rule("the command of another version", "^user_message_chunk /(mcp__demo|demo:hello)"),
    Rule(
        "another recording went on with the session",
        "chunk (hello from mock|after resume|in fork)",
        only="load_|fork",
    ),
    Rule("another Claude Code: a steered command moves to the background", only="08-steer-mid-tool"),
    Rule("W§9, decision 16: the child alone gets its task", "^session_message", r"callId$", only=_RFD),
    Rule(
        "SA-051, SA-052: the child in the background is stopped",
        "^subagent_update idle",
        side="ours",
        only="22-",
    ),
    Rule("SA-056: a stopped child's call is closed", r"failed in <session \d+>", side="ours", only=_RFD),
    Rule("SA-056: a stopped child's call is closed", r"failed in <session \d+>", side="moved", only=_RFD),
    Rule("decision 22, SA-027: a child's call is closed", r"failed in <child \d+>", side="ours"),
    Rule("TC-013: a complete `_meta`", "^tool_call_update .* failed", r"claudeCode\.toolName$", value=_NEW),
    Rule("M11: a compaction ends once, with its facts", "^compaction_update", side="reference", only="26-"),
    Rule(
        "M11: a compaction ends once, with its facts",
        "^tool_call_update",
        value="contextCompaction",
        only="27-",
    ),
    Rule(
        "M11: a compaction ends once, with its facts",
        "^tool_call_update",
        r"air\.(version|contextCompaction\.version)$",
        only="27-",
    ),
    Rule("another Claude Code: its counts", "", r"(postTokens|\.used)$", only="2[678]-compact"),
    Rule(
        "decision 20: what is deleted is gone",
        "session/load #17$|chunk|^tool_call|^subagent",
        side="reference",
        only="fork",
    ),
    Rule("S§5.3: a fork point that is no text is none", "session/fork #12$", only="fork"),
    Rule("S§8.4: a subagent has its own name", "^subagent_spawned", r"\.name$", only="18-"),
    Rule(
        "SA-014: what a child says is in its session",
        r"^agent_message_chunk .* in <child \d+>",
        side="ours",
        only="18-",
    ),
    Rule(
        "decision 10: a dead process ends no session", "^(error|result) of session/prompt #", only=r"3[345]-"
    ),
    Rule(
        "decision 10: a dead process ends no session",
        "^(agent_message_chunk|notice|usage_update|session_info)",
        side="ours",
        only=r"3[345]-",
    ),
    Rule(
        "W§5: which parameter is wrong, without its value", "^error of _session/steering", r"error\.message$"
    ),
    Rule(
        "luck: the line that is no JSON came in between", "session/list #str1$", side="moved", only="bad_new"
    ),
    Rule("L§finish rules: open calls are closed", "^tool_call_update .* failed$", side="ours", only="35-"),
    Rule("another Claude Code: its counts", "^tool_call_update", r"rawOutput\.postTokens$", only="live_"),
    Rule(
        "another MCP server answers",
        "^agent_message_chunk",
        value='claudeCode.server="(demo|broken)"',
        only="live_",
    ),
    Rule("the recorded model took more for its prompt", "^user_message_chunk child say hi", only="load_air"),
    Rule(
        "S§8: a compaction is told as one",
        "^(user_message_chunk This session|compaction_update)",
        only="load_compact_air",
    ),
    Rule(
        "luck: who comes first, text or option",
        "^(config_option_update|agent_message_chunk done with tool)$",
        side="moved",
        only="live_air",
    ),
    Rule("W§5: which parameter is wrong, without its value", "^error of initialize", r"error\.data$"),
    Rule(
        "C§5.2: the model that runs is the current one",
        "^result of session/new #5",
        "configOptions",
        only="meta",
    ),
    Rule("another Claude Code: its own frames", "^_claude/sdkMessage"),
    Rule("SA-014: what a child says is in its session", r"^agent_message_chunk", side="moved", only="18-"),
    Rule(
        "AU-023: an account without identity says nothing",
        "^_auth/status_update",
        side="reference",
        only="token",
    ),
    Rule(
        "SE-097: a text has a message id", "^agent_message_chunk( .*Notice.*|)$", value="Notice:", only="38-"
    ),
    Rule("decision 20: what is deleted is gone", "^error of session/load #17", side="ours", only="fork"),
    Rule("W§9: ACP v2's background comes later", "^(state|subagent)_update", r"\.background\b", only=_V2),
    Rule(
        "W§9: ACP v2's background comes later",
        "^(state|terminal)_update",
        side="reference",
        value="background|capabilities",
        only=_V2,
    ),
    Rule(
        "NG-004: the whole response of a tool",
        "^tool_call_update",
        side="ours",
        value="toolResponse",
        only=_V2,
    ),
    Rule("W§9, decision 16: the Agent call stays", "^tool_call_update <call 1>", side="ours", only="51-"),
    Rule(
        "luck: root and background child run side by side",
        side="moved",
        only=r"agent\.|live_rfd|1[5678]-|2[23]-|5[12]-",
    ),
    Rule(
        "W§9: ACP v2's background comes later",
        "^terminal_update",
        r"\.(output\.data|exitStatus)$",
        only="52-",
    ),
    Rule("W§9, decision 16: the Agent call stays", "^tool_call_update <call 2>", side="ours", only="52-"),
    Rule(
        "decision 11: usage that is not known",
        "^state_update idle",
        r"update\.(usage|_meta\.quota\.token_count)\.",
        value=r"^0\nabsent$",
    ),
    Rule("decision 11: usage that is not known", "^state_update idle", r"quota\.model_usage\b", value=_GONE),
    Rule("luck: what still comes before the end", "^_auth/status_update$", only="(remote|nokey)_hide"),
    Rule("W§5: an error without paths", "^error of session/new #23", r"data\.details$", only="meta"),
    Rule(
        "INV-X1: nothing of stopped work behind `cancelled`",
        "^usage_update cost",
        side="reference",
        only="29-",
    ),
    Rule("luck: root and background child run side by side", "cost$", r"_claude/origin\.", only="17-"),
    Rule("S§10.3: no usage that did not change", "^usage_update$", side="reference", value=r"^(?!.*cost)"),
)


def sort_out(found: Sequence[Difference], recording: str) -> tuple[Counter[str], list[Difference]]:
    """How often each reason holds, and what nothing explains."""
    reasons: Counter[str] = Counter()
    rest: list[Difference] = []
    for difference in found:
        reason = next((rule.reason for rule in RULES if rule.explains(difference, recording)), None)
        if reason is None:
            rest.append(difference)
        else:
            reasons[reason] += 1
    return reasons, rest
