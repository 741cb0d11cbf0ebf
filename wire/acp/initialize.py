"""`initialize`: what the two sides can do. Alone in its module, so that nothing else delays it."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from wire.acp.base import Flag, Int, Lenient, List, Map, Marker, SomeOf, Str, Wire, or_else

ProtocolVersion = Annotated[Int, Field(ge=0, le=65535)]


class Implementation(Wire):
    """Name and version of a side."""

    name: Str
    version: Str
    title: Lenient[Str] = None


# ── the client ────────────────────────────────────────────────────────────────


class FileSystemCapabilities(Wire):
    """`fs`: files that the agent may ask the client for."""

    read_text_file: Flag = False
    write_text_file: Flag = False


class SessionConfigOptionsCapabilities(Wire):
    """`session.configOptions`."""

    boolean: Lenient[Marker] = None


class ClientSessionCapabilities(Wire):
    """`session`: kinds of session content that the client shows."""

    compaction: Lenient[Marker] = None
    config_options: Lenient[SessionConfigOptionsCapabilities] = None
    notices: Lenient[Marker] = None


class AuthCapabilities(Wire):
    """`auth` of the client."""

    terminal: Flag = False


class ElicitationCapabilities(Wire):
    """`elicitation`: the modes of questions that the client shows."""

    form: Lenient[Marker] = None
    url: Lenient[Marker] = None


class ClientCapabilities(Wire):
    """`clientCapabilities`; unknown keys are kept, malformed ones count as absent."""

    fs: Annotated[FileSystemCapabilities, or_else(FileSystemCapabilities)] = Field(
        default_factory=FileSystemCapabilities
    )
    terminal: Flag = False
    session: Lenient[ClientSessionCapabilities] = None
    subagents: Lenient[Marker] = None
    plan: Lenient[Marker] = None
    auth: Annotated[AuthCapabilities, or_else(AuthCapabilities)] = Field(default_factory=AuthCapabilities)
    elicitation: Lenient[ElicitationCapabilities] = None


class InitializeRequest(Wire):
    """Params of `initialize`."""

    protocol_version: ProtocolVersion
    client_capabilities: Annotated[ClientCapabilities, or_else(ClientCapabilities)] = Field(
        default_factory=ClientCapabilities
    )
    client_info: Lenient[Implementation] = None


# ── the agent ─────────────────────────────────────────────────────────────────


class PromptCapabilities(Wire):
    """`promptCapabilities`: content blocks beyond text and links."""

    image: Flag = False
    audio: Flag = False
    embedded_context: Flag = False


class McpCapabilities(Wire):
    """`mcpCapabilities`: transports beyond stdio."""

    http: Flag = False
    sse: Flag = False
    acp: Flag = False


class SessionSystemPromptModeCapabilities(Wire):
    """`systemPrompt.mode`: ways to give a system prompt beyond appending."""

    override: Lenient[Marker] = None


class SessionSystemPromptCapabilities(Wire):
    """`sessionCapabilities.systemPrompt`."""

    mode: Lenient[SessionSystemPromptModeCapabilities] = None


class SessionCapabilities(Wire):
    """`sessionCapabilities`: the optional session methods that are served."""

    list: Lenient[Marker] = None
    delete: Lenient[Marker] = None
    additional_directories: Lenient[Marker] = None
    system_prompt: Lenient[SessionSystemPromptCapabilities] = None
    fork: Lenient[Marker] = None
    resume: Lenient[Marker] = None
    close: Lenient[Marker] = None


class AgentAuthCapabilities(Wire):
    """`auth` of the agent."""

    logout: Lenient[Marker] = None


class AgentCapabilities(Wire):
    """`agentCapabilities`."""

    load_session: Flag = False
    prompt_capabilities: Annotated[PromptCapabilities, or_else(PromptCapabilities)] = Field(
        default_factory=PromptCapabilities
    )
    mcp_capabilities: Annotated[McpCapabilities, or_else(McpCapabilities)] = Field(
        default_factory=McpCapabilities
    )
    session_capabilities: Annotated[SessionCapabilities, or_else(SessionCapabilities)] = Field(
        default_factory=SessionCapabilities
    )
    auth: Annotated[AgentAuthCapabilities, or_else(AgentAuthCapabilities)] = Field(
        default_factory=AgentAuthCapabilities
    )
    providers: Lenient[Marker] = None


class AuthMethodTerminal(Wire):
    """A login that the client runs in a terminal, as the agent's own command with these arguments."""

    type: Literal["terminal"]
    id: Str
    name: Str
    description: Lenient[Str] = None
    args: List[Str] = Field(default_factory=list)
    env: Map[Str] = Field(default_factory=dict)


class AuthMethodAgent(Wire):
    """A login through `authenticate`; it has no tag on v1."""

    id: Str
    name: Str
    description: Lenient[Str] = None


def _auth_kind(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "terminal" if kind == "terminal" else "agent"


AuthMethod = Annotated[
    Annotated[AuthMethodTerminal, Tag("terminal")] | Annotated[AuthMethodAgent, Tag("agent")],
    Discriminator(_auth_kind),
]


class InitializeResponse(Wire):
    """Result of `initialize`."""

    protocol_version: ProtocolVersion
    agent_capabilities: Annotated[AgentCapabilities, or_else(AgentCapabilities)] = Field(
        default_factory=AgentCapabilities
    )
    auth_methods: SomeOf[AuthMethod] = Field(default_factory=list)
    agent_info: Lenient[Implementation] = None
