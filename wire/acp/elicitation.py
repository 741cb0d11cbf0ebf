"""Questions to the user: forms and links. Modes, property types and actions are open."""

from typing import Annotated, Literal

from pydantic import (
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from wire.acp.base import Bool, Count, Int, Lenient, Number, Str, ValidItems, Wire, or_else

# ── the form ──────────────────────────────────────────────────────────────────


class EnumOption(Wire):
    """A choice with a label."""

    const: Str
    title: Str
    description: Lenient[Str] = None


class _Property(Wire):
    title: Lenient[Str] = None
    description: Lenient[Str] = None


class StringPropertySchema(_Property):
    """Text, or one choice of several."""

    type: Literal["string"]
    min_length: Count | None = None
    max_length: Count | None = None
    pattern: Str | None = None
    format: Literal["email", "uri", "date", "date-time"] | None = None
    default: Lenient[Str] = None
    enum: list[Str] | None = None
    one_of: list[EnumOption] | None = None


class NumberPropertySchema(_Property):
    """A number."""

    type: Literal["number"]
    minimum: Number | None = None
    maximum: Number | None = None
    default: Lenient[Number] = None


class IntegerPropertySchema(_Property):
    """A whole number."""

    type: Literal["integer"]
    minimum: Int | None = None
    maximum: Int | None = None
    default: Lenient[Int] = None


class BooleanPropertySchema(_Property):
    """Yes or no."""

    type: Literal["boolean"]
    default: Lenient[Bool] = None


class StringMultiSelectItems(Wire):
    """Choices that are their own labels."""

    type: Literal["string"]
    enum: list[Str]


class TitledMultiSelectItems(Wire):
    """Choices with labels."""

    any_of: list[EnumOption]


def _items_kind(value: object) -> str:
    titled = "anyOf" in value if isinstance(value, dict) else isinstance(value, TitledMultiSelectItems)
    return "titled" if titled else "string"


class MultiSelectPropertySchema(_Property):
    """Several choices."""

    type: Literal["array"]
    min_items: Count | None = None
    max_items: Count | None = None
    items: Annotated[
        Annotated[StringMultiSelectItems, Tag("string")] | Annotated[TitledMultiSelectItems, Tag("titled")],
        Discriminator(_items_kind),
    ]
    default: Lenient[ValidItems[Str]] = None


ElicitationPropertySchema = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema,
    Field(discriminator="type"),
]


def _object() -> str:
    return "object"


class ElicitationSchema(Wire):
    """`requestedSchema`: one property per question."""

    type: Annotated[Literal["object"], or_else(_object)] = "object"
    title: Lenient[Str] = None
    description: Lenient[Str] = None
    properties: dict[Str, ElicitationPropertySchema] = Field(default_factory=dict)
    required: list[Str] | None = None


# ── the request and its answer ────────────────────────────────────────────────


class _Elicitation(Wire):
    """In the scope of a session, and there of a tool call, or of a request of the client."""

    message: Str
    session_id: Str | None = None
    tool_call_id: Lenient[Str] = None
    request_id: Str | Int | None = None


class ElicitationFormMode(_Elicitation):
    """Params of `elicitation/create` with a form."""

    mode: Literal["form"]
    requested_schema: ElicitationSchema


class ElicitationUrlMode(_Elicitation):
    """Params of `elicitation/create` with a link to open."""

    mode: Literal["url"]
    elicitation_id: Str
    url: Str


CreateElicitationRequest = Annotated[ElicitationFormMode | ElicitationUrlMode, Field(discriminator="mode")]

ElicitationContentValue = Str | Bool | Int | Number | list[Str]


class CreateElicitationResponse(Wire):
    """The client's answer to `elicitation/create`: the values, if `action` is `accept`.

    Anything else (`decline`, `cancel`, or an action of a later version) is no answer.
    """

    action: Str
    content: dict[Str, ElicitationContentValue] | None = None

    @field_validator("content", mode="wrap")
    @classmethod
    def _only_when_accepted(
        cls, value: object, valid: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> object:
        return valid(value) if info.data.get("action") == "accept" else None


class CompleteElicitationNotification(Wire):
    """Params of `elicitation/complete`: what a link was opened for is done."""

    elicitation_id: Str
