"""Params of requests as models, and what is wrong with them, in words that hold none of their values.

pydantic's own texts quote the input, which may be a secret (`env`, `headers`, `_meta`).
"""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wire.acp.base import Wire
from wire.rpc import INVALID_PARAMS, WireError

W = TypeVar("W", bound=Wire)

MAX_PROBLEMS = 20
"""How many problems are listed of params that have more."""

_MESSAGES = {
    "missing": "is required",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "string_type": "must be a string",
    "bool_type": "must be a boolean",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "union_tag_invalid": "must have one of these in {discriminator}: {expected_tags}",
    "union_tag_not_found": "must have {discriminator}",
    "config_value": "must have a `value` that fits its `type`",
}
"""By pydantic's type of error; the blanks are filled from the model, never from the input."""


def read(model: type[W], params: Mapping[str, object]) -> W:
    """The params of a request; raises WireError -32602 with `{errors: problems}` as data."""
    try:
        return model.parse(params)
    except ValidationError as error:
        raise WireError(INVALID_PARAMS, data={"errors": problems(error, params)}) from None


def problems(error: ValidationError, value: object) -> list[dict[str, str]]:
    """`{path, message}` of the first problems with `value`; a path reads like `prompt[0].text`."""
    details = error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
    return [{"path": _path(detail, value), "message": _message(detail)} for detail in details]


def _path(detail: ErrorDetails, value: object) -> str:
    """pydantic's location without the names of union branches, which are not in the value."""
    path = ""
    for part in detail["loc"]:
        if isinstance(value, list) and isinstance(part, int):
            path += f"[{part}]"
            value = value[part]
        elif isinstance(value, dict) and part in value:
            path += f".{part}"
            value = value[part]
    if detail["type"] == "missing":
        path += f".{detail['loc'][-1]}"
    return path.removeprefix(".")


def _message(detail: ErrorDetails) -> str:
    return _MESSAGES.get(detail["type"], "is not valid").format_map(detail.get("ctx", {}))
