"""What the client can do: one immutable object, computed once from `initialize`.

Rendering reads nothing else about the client. Rules: NG-001 … NG-054, `tool-calls` §1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Terminal = Literal["none", "output", "delta"]
SubagentForm = Literal["none", "air", "rfd"]

AIR_CAPABILITIES = (
    "sessionFailure",
    "agentFileChangeReport",
    "nativeSubagentSessions",
    "asyncTasks",
    "recommendedValue",
    "diffPatch",
    "planFile",
)
"""The contract's list, in its order (NG-012)."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """Every choice that depends on the client; the default is a client that declares nothing."""

    v2: bool = False
    """It speaks ACP v2: prompts are answered once they are in the conversation, states of work are told,
    and `bridge.v2` says everything in that version's words."""
    air: bool = False
    """The client is JetBrains AIR: it declared an object, also a malformed one."""
    air_capabilities: frozenset[str] = frozenset()
    """Exact names it declared in a well-formed way; unknown ones do no harm."""
    terminal: Terminal = "none"
    elicitation_form: bool = False
    elicitation_url: bool = False
    notices: bool = False
    compaction: bool = False
    boolean_options: bool = False
    subagents: bool = False
    """It declared `subagents: {}`; see `subagent_form`."""
    subagent_transcript: bool = False
    """It wants the historical flat transcript of subagents on the root session."""
    auth_terminal: bool = False
    terminal_auth: bool = False
    gateway_auth: bool = False

    def has(self, capability: str) -> bool:
        """Whether an AIR capability is active."""
        return capability in self.air_capabilities

    @property
    def diff_patch(self) -> bool:
        """Changes go out as exact git patches."""
        return self.v2 or "diffPatch" in self.air_capabilities

    @property
    def plan_file(self) -> bool:
        """A plan goes out as the path of its file."""
        return "planFile" in self.air_capabilities

    @property
    def raw_input_rendering(self) -> bool:
        """The client renders `rawInput` itself, so display copies are left out."""
        return "rawInputRendering" in self.air_capabilities

    @property
    def session_failure(self) -> bool:
        """Failures go out as typed records."""
        return "sessionFailure" in self.air_capabilities

    @property
    def subagent_form(self) -> SubagentForm:
        """How subagents are shown (SA-001 … SA-006): AIR keeps its draft whichever way it asks."""
        if self.air:
            return "air" if self.subagents or self.has("nativeSubagentSessions") else "none"
        return "rfd" if self.subagents else "none"


def read_capabilities(declared: object) -> ClientCapabilities:
    """Read `clientCapabilities` of `initialize`; whatever is malformed counts as not declared."""
    client = _object(declared)
    meta = _object(client.get("_meta"))
    session = _object(client.get("session"))
    elicitation = _object(client.get("elicitation"))
    auth = _object(client.get("auth"))
    air = _object(meta.get("jetbrains")).get("air")
    return ClientCapabilities(
        air=isinstance(air, Mapping),
        air_capabilities=_air_capabilities(air),
        terminal=_terminal(meta),
        elicitation_form=isinstance(elicitation.get("form"), Mapping),
        elicitation_url=isinstance(elicitation.get("url"), Mapping),
        notices=isinstance(session.get("notices"), Mapping),
        compaction=isinstance(session.get("compaction"), Mapping),
        boolean_options=_object(session.get("configOptions")).get("boolean") is not None,
        subagents=isinstance(client.get("subagents"), Mapping),
        subagent_transcript=meta.get("subagent-transcript") is True,
        auth_terminal=auth.get("terminal") is True,
        terminal_auth=meta.get("terminal-auth") is True,
        gateway_auth=_object(auth.get("_meta")).get("gateway") is True,
    )


def _air_capabilities(air: object) -> frozenset[str]:
    """The declared names, none of a malformed declaration (NG-006 … NG-010)."""
    declaration = _object(air)
    names = declaration.get("capabilities")
    if not _counts(declaration.get("version")) or not isinstance(names, list):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))


def _counts(version: object) -> bool:
    """A finite integer of at least 1; JSON writes 1.0 for the same number."""
    if isinstance(version, bool) or not isinstance(version, int | float):
        return False
    return math.isfinite(version) and version == int(version) and version >= 1


def _terminal(meta: Mapping[str, object]) -> Terminal:
    if meta.get("terminal_output_delta") is True:
        return "delta"
    return "output" if meta.get("terminal_output") is True else "none"


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
