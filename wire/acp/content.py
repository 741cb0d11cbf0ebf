"""Content blocks: what prompts, messages and tool calls are made of. Closed on v1."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from wire.acp.base import Int, Lenient, Number, Str, ValidItems, Wire

Role = Literal["assistant", "user"]


class Annotations(Wire):
    """Hints for who a block is for."""

    audience: Lenient[ValidItems[Role]] = None
    last_modified: Lenient[Str] = None
    priority: Lenient[Number] = None


class TextContent(Wire):
    """Text, usually Markdown."""

    type: Literal["text"]
    text: Str
    annotations: Lenient[Annotations] = None


class ImageContent(Wire):
    """An image in base64."""

    type: Literal["image"]
    data: Str
    mime_type: Str
    uri: Lenient[Str] = None
    annotations: Lenient[Annotations] = None


class AudioContent(Wire):
    """Audio in base64."""

    type: Literal["audio"]
    data: Str
    mime_type: Str
    annotations: Lenient[Annotations] = None


class ResourceLink(Wire):
    """A resource that is named and not included."""

    type: Literal["resource_link"]
    name: Str
    uri: Str
    title: Lenient[Str] = None
    description: Lenient[Str] = None
    mime_type: Lenient[Str] = None
    size: Lenient[Int] = None
    annotations: Lenient[Annotations] = None


class TextResourceContents(Wire):
    """The text of an included resource."""

    uri: Str
    text: Str
    mime_type: Lenient[Str] = None


class BlobResourceContents(Wire):
    """The bytes of an included resource in base64."""

    uri: Str
    blob: Str
    mime_type: Lenient[Str] = None


def _resource_kind(value: object) -> str:
    if isinstance(value, dict):
        return "blob" if "blob" in value and "text" not in value else "text"
    return "blob" if isinstance(value, BlobResourceContents) else "text"


Resource = Annotated[
    Annotated[TextResourceContents, Tag("text")] | Annotated[BlobResourceContents, Tag("blob")],
    Discriminator(_resource_kind),
]


class EmbeddedResource(Wire):
    """A resource with its content."""

    type: Literal["resource"]
    resource: Resource
    annotations: Lenient[Annotations] = None


ContentBlock = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource,
    Field(discriminator="type"),
]
