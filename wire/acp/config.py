"""Modes and config options of a session, and the requests that change them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from wire.acp.base import Bool, Lenient, SomeOf, Str, Wire


class SessionMode(Wire):
    """One mode that the session can be in."""

    id: Str
    name: Str
    description: Lenient[Str] = None


class SessionModeState(Wire):
    """`modes`: where the session is and where it can go."""

    current_mode_id: Str
    available_modes: SomeOf[SessionMode]


class SessionConfigSelectOption(Wire):
    """One value of a selector."""

    value: Str
    name: Str
    description: Lenient[Str] = None


class SessionConfigSelectGroup(Wire):
    """Values of a selector under one heading."""

    group: Str
    name: Str
    options: SomeOf[SessionConfigSelectOption]


class _ConfigOption(Wire):
    id: Str
    name: Str
    description: Lenient[Str] = None
    category: Lenient[Str] = None


class SessionConfigSelect(_ConfigOption):
    """An option with a list of values."""

    type: Literal["select"]
    current_value: Str
    options: list[SessionConfigSelectOption] | list[SessionConfigSelectGroup]


class SessionConfigBoolean(_ConfigOption):
    """An option that is on or off."""

    type: Literal["boolean"]
    current_value: Bool


SessionConfigOption = Annotated[SessionConfigSelect | SessionConfigBoolean, Field(discriminator="type")]


class SetSessionModeRequest(Wire):
    """Params of `session/set_mode`."""

    session_id: Str
    mode_id: Str


class SetSessionConfigOptionRequest(Wire):
    """Params of `session/set_config_option`: a boolean with `type: "boolean"`, else a value id."""

    session_id: Str
    config_id: Str
    type: Literal["boolean"] | None = None
    value: Str | Bool

    @model_validator(mode="after")
    def _value_fits_type(self) -> Self:
        if isinstance(self.value, bool) != (self.type == "boolean"):
            raise PydanticCustomError("config_value", "value and type do not fit")
        return self


class SetSessionConfigOptionResponse(Wire):
    """Result of `session/set_config_option`: the whole list."""

    config_options: SomeOf[SessionConfigOption]
