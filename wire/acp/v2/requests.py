"""Params of the client's requests on ACP v2 (`acp-wire` §2.1, §4.5, §8.1).

Where a client agreed on the version, its required fields are read strictly. Unions are open: a
kind that this release does not know is kept with its tag, and whoever serves the request decides.
"""

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from wire.acp.base import Bool, List, Str, Wire
from wire.acp.content import ContentBlock
from wire.acp.session import EnvVariable, HttpHeader


class Unknown(Wire):
    """A member of an open union that this release does not know."""

    type: Str


# ── sessions ──────────────────────────────────────────────────────────────────


class McpServerStdio(Wire):
    """A server that is started as a process."""

    type: Literal["stdio"]
    name: Str
    command: Str
    args: List[Str] = Field(default_factory=list)
    env: List[EnvVariable] = Field(default_factory=list)


class McpServerHttp(Wire):
    """A server over HTTP."""

    type: Literal["http"]
    name: Str
    url: Str
    headers: List[HttpHeader] = Field(default_factory=list)


def _known(*tags: str) -> Discriminator:
    """By its `type`; anything but these is `Unknown`, which wants a text there."""

    def tag(value: object) -> str:
        kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        return kind if kind in tags else "other"

    return Discriminator(tag)


McpServer = Annotated[
    Annotated[McpServerStdio, Tag("stdio")]
    | Annotated[McpServerHttp, Tag("http")]
    | Annotated[Unknown, Tag("other")],
    _known("stdio", "http"),
]


class NewSessionRequest(Wire):
    """Params of `session/new`."""

    cwd: Str
    additional_directories: List[Str] = Field(default_factory=list)
    mcp_servers: List[McpServer] = Field(default_factory=list)


class ForkSessionRequest(NewSessionRequest):
    """Params of `session/fork`."""

    session_id: Str


class ReplayFromStart(Wire):
    """The whole history."""

    type: Literal["start"]


class ResumeSessionRequest(ForkSessionRequest):
    """Params of `session/resume`; with `replay_from` it tells the history."""

    replay_from: (
        Annotated[
            Annotated[ReplayFromStart, Tag("start")] | Annotated[Unknown, Tag("other")], _known("start")
        ]
        | None
    ) = None


class PromptRequest(Wire):
    """Params of `session/prompt`."""

    session_id: Str
    prompt: Annotated[list[ContentBlock], Field(min_length=1)]


class SetSessionConfigOptionRequest(Wire):
    """Params of `session/set_config_option`; the type of the value is always named."""

    session_id: Str
    config_id: Str
    type: Literal["id", "boolean"]
    value: Str | Bool

    @model_validator(mode="after")
    def _value_fits_type(self) -> Self:
        if isinstance(self.value, bool) != (self.type == "boolean"):
            raise PydanticCustomError("config_value", "value and type do not fit")
        return self
