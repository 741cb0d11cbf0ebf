"""Sessions: how they are created, found, restored and ended, and their prompts."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from wire.acp.base import Bool, Count, Lenient, List, SomeOf, Str, ValidItems, Wire
from wire.acp.config import SessionConfigOption, SessionModeState
from wire.acp.content import ContentBlock

# ── MCP servers ───────────────────────────────────────────────────────────────


class EnvVariable(Wire):
    """One variable; its value may be a secret."""

    name: Str
    value: Str


class HttpHeader(Wire):
    """One header; its value may be a secret."""

    name: Str
    value: Str


class McpServerStdio(Wire):
    """A server that is started as a process; it has no tag on v1."""

    name: Str
    command: Str
    args: List[Str]
    env: List[EnvVariable]


class McpServerHttp(Wire):
    """A server over HTTP."""

    type: Literal["http"]
    name: Str
    url: Str
    headers: List[HttpHeader]


class McpServerSse(Wire):
    """A server over server-sent events."""

    type: Literal["sse"]
    name: Str
    url: Str
    headers: List[HttpHeader]


class McpServerAcp(Wire):
    """A server that the client itself is."""

    type: Literal["acp"]
    name: Str
    server_id: Str


def _transport(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("http", "sse", "acp") else "stdio"


McpServer = Annotated[
    Annotated[McpServerStdio, Tag("stdio")]
    | Annotated[McpServerHttp, Tag("http")]
    | Annotated[McpServerSse, Tag("sse")]
    | Annotated[McpServerAcp, Tag("acp")],
    Discriminator(_transport),
]

# ── creation and restoration ──────────────────────────────────────────────────


class SystemPrompt(Wire):
    """`systemPrompt`; `mode` is `append`, `override`, or what a later version adds."""

    mode: Str
    content: list[ContentBlock]


class _Setup(Wire):
    cwd: Str
    additional_directories: List[Str] = Field(default_factory=list)
    system_prompt: SystemPrompt | None = None


class NewSessionRequest(_Setup):
    """Params of `session/new`."""

    mcp_servers: List[McpServer]


class LoadSessionRequest(_Setup):
    """Params of `session/load`: restore and replay."""

    session_id: Str
    mcp_servers: List[McpServer]


class ResumeSessionRequest(_Setup):
    """Params of `session/resume`: restore without replay."""

    session_id: Str
    mcp_servers: List[McpServer] = Field(default_factory=list)


class ForkSessionRequest(ResumeSessionRequest):
    """Params of `session/fork`; the fork point is in `_meta`."""


class LoadSessionResponse(Wire):
    """Result of `session/load`."""

    modes: Lenient[SessionModeState] = None
    config_options: Lenient[ValidItems[SessionConfigOption]] = None


class ResumeSessionResponse(LoadSessionResponse):
    """Result of `session/resume`."""


class NewSessionResponse(LoadSessionResponse):
    """Result of `session/new`."""

    session_id: Str


class ForkSessionResponse(NewSessionResponse):
    """Result of `session/fork`: the id is the new session's."""


# ── the list, and the end ─────────────────────────────────────────────────────


class ListSessionsRequest(Wire):
    """Params of `session/list`."""

    cwd: Str | None = None
    cursor: Str | None = None


class SessionInfo(Wire):
    """One session of the list."""

    session_id: Str
    cwd: Str
    additional_directories: SomeOf[Str] = Field(default_factory=list)
    title: Lenient[Str] = None
    updated_at: Lenient[Str] = None
    archived: Lenient[Bool] = None


class ListSessionsResponse(Wire):
    """One page of `session/list`."""

    sessions: SomeOf[SessionInfo]
    next_cursor: Lenient[Str] = None


class CloseSessionRequest(Wire):
    """Params of `session/close`."""

    session_id: Str


class DeleteSessionRequest(Wire):
    """Params of `session/delete`."""

    session_id: Str


# ── prompts ───────────────────────────────────────────────────────────────────

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class PromptRequest(Wire):
    """Params of `session/prompt`."""

    session_id: Str
    prompt: list[ContentBlock]


class Usage(Wire):
    """Tokens of a turn."""

    total_tokens: Count
    input_tokens: Count
    output_tokens: Count
    thought_tokens: Lenient[Count] = None
    cached_read_tokens: Lenient[Count] = None
    cached_write_tokens: Lenient[Count] = None


class PromptResponse(Wire):
    """Result of `session/prompt`: the end of the turn."""

    stop_reason: StopReason
    usage: Lenient[Usage] = None


class CancelNotification(Wire):
    """Params of `session/cancel`."""

    session_id: Str
