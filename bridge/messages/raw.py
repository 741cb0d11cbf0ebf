"""Tolerant reading of raw frames: what is missing or of another type counts as absent."""

from collections.abc import Mapping

Raw = Mapping[str, object]


def mapping(raw: Raw, key: str) -> Raw:
    """An object, else an empty one."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def text(raw: Raw, key: str) -> str:
    """A string, else an empty one."""
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def optional(raw: Raw, key: str) -> str | None:
    """A string, else None."""
    value = raw.get(key)
    return value if isinstance(value, str) else None


def number(raw: Raw, key: str) -> int | None:
    """A whole number, else None."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def rows(raw: Raw, key: str) -> list[Raw]:
    """The objects of a list."""
    value = raw.get(key)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def said_in(content: object) -> str:
    """The text of a message or a result, whether it is one text or several parts."""
    if isinstance(content, str):
        return content
    return "\n".join(text(part, "text") for part in rows({"content": content}, "content"))


def prompts(raw: Raw) -> tuple[str, ...]:
    """Ids of the messages of ours that a frame is stamped with."""
    many, one = raw.get("user_message_uuids"), raw.get("user_message_uuid")
    uuids = many if isinstance(many, list) and many else [one]
    return tuple(uuid for uuid in uuids if isinstance(uuid, str))


def lane_of(raw: Raw) -> str | None:
    """The conversation that a frame belongs to: a subagent's under its Agent call, else the root."""
    return optional(raw, "parent_tool_use_id")
