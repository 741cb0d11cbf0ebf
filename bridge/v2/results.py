"""Results of v1 in the words of ACP v2 (`acp-wire` §8.1)."""

from collections.abc import Mapping

Json = Mapping[str, object]


def opened(result: Json) -> Json:
    """A session that was created, restored or copied: its modes are one of the options."""
    others = {"modes", "configOptions", "availableCommands"}
    told = {key: value for key, value in result.items() if key not in others}
    if isinstance(result.get("configOptions"), list):
        told["configOptions"] = config_options(result["configOptions"])
    if isinstance(result.get("availableCommands"), list):
        told["availableCommands"] = commands(result["availableCommands"])
    return told


def config_options(options: object) -> list[Json]:
    """The whole list."""
    return [_option(option) for option in _rows(options)]


def commands(listed: object) -> list[Json]:
    """The slash commands; one without input has no `input`."""
    return [_command(command) for command in _rows(listed)]


def _option(option: Json) -> Json:
    told = {key: value for key, value in option.items() if key != "id"}
    if option.get("type") == "select":
        told["options"] = [_value(value) for value in _rows(option.get("options"))]
    return {"configId": option.get("id"), **told}


def _value(value: Json) -> Json:
    if "group" not in value:
        return value
    return {"groupId": value["group"], **{key: each for key, each in value.items() if key != "group"}}


def _command(command: Json) -> Json:
    told = {"type": "command", **{key: value for key, value in command.items() if key != "input"}}
    given = command.get("input")
    return {**told, "input": {"type": "text", **given}} if isinstance(given, Mapping) else told


def _rows(value: object) -> list[Json]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
