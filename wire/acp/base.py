"""What every ACP model shares. Rules: `acp-wire` §4.5.

Inbound, a required field is strict and an optional one lenient where the schema marks it so:
a broken capability, annotation or `_meta` never fails a request. Extra keys are kept, since
drafts and extensions live there. Outbound, what was set is written, an explicit None as null.
Tags (`type`, `sessionUpdate` …) have no default, so that `exclude_unset` cannot lose them.
"""

from collections.abc import Callable
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

T = TypeVar("T")

Str = StrictStr
Bool = StrictBool
Number = StrictFloat


def _integral(value: object) -> object:
    """JSON has one kind of number: JavaScript peers may write 5 as 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Int = Annotated[StrictInt, BeforeValidator(_integral)]
Count = Annotated[Int, Field(ge=0)]


def or_else(default: Callable[[], object]) -> WrapValidator:
    """`x-deserialize-default-on-error`: an invalid value counts as the default."""

    def validate(value: object, valid: ValidatorFunctionWrapHandler) -> object:
        try:
            return valid(value)
        except ValidationError:
            return default()

    return WrapValidator(validate)


def _none() -> None:
    return None


def _valid_items(value: object, valid: ValidatorFunctionWrapHandler) -> object:
    try:
        return valid(value)
    except ValidationError as error:
        if not isinstance(value, list):
            raise
        bad = {problem["loc"][0] for problem in error.errors(include_url=False, include_input=False)}
        return valid([item for index, item in enumerate(value) if index not in bad])


def _null_as(empty: Callable[[], object]) -> BeforeValidator:
    return BeforeValidator(lambda value: empty() if value is None else value)


Lenient = Annotated[T | None, or_else(_none)]
"""Optional; invalid counts as absent."""
Flag = Annotated[Bool, or_else(bool)]
"""A capability that is off unless it is well-formed."""
ValidItems = Annotated[list[T], WrapValidator(_valid_items)]
"""A list of which the invalid items are skipped (`x-deserialize-skip-invalid-items`)."""
SomeOf = Annotated[ValidItems[T], or_else(list)]
"""The same, and what is no list counts as empty."""
List = Annotated[list[T], _null_as(list)]
"""Null means empty (`x-deserialize-default-on-null`)."""
Map = Annotated[dict[Str, T], _null_as(dict)]
"""Null means empty, as in `List`."""

Meta = Lenient[dict[Str, Any]]
"""`_meta`: free content, never read as arguments."""


def _alias(name: str) -> str:
    return "_meta" if name == "meta" else to_camel(name)


class Wire(BaseModel):
    """An object of the protocol. Built in code by field names, read from the wire by its keys."""

    model_config = ConfigDict(
        alias_generator=_alias,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="allow",
        defer_build=True,
        protected_namespaces=(),
    )

    meta: Meta = None

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read an object that came over the wire; raises pydantic's ValidationError."""
        return cls.model_validate(value, by_alias=True, by_name=False)

    def dump(self) -> dict[str, Any]:
        """The object for the wire: what was set, and None where it was set to None."""
        return self.model_dump(exclude_unset=True)


class Marker(Wire):
    """An object without fields of its own: a capability that is present, or an empty result."""
