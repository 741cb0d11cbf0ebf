"""Glob and Grep: what is looked for, and where."""

from bridge.tools.facts import Json, UseFacts
from bridge.tools.reading import first_text
from bridge.tools.reporters.reporter import Reporter, UseView


class Glob(Reporter):
    """Files by their names."""

    tools = ("Glob",)

    def use(self, use: UseView) -> UseFacts:
        path, pattern = first_text(use.input, "path"), first_text(use.input, "pattern")
        return UseFacts(
            title=" ".join(["Find", *(f"`{part}`" for part in (path, pattern) if part)]),
            kind="search",
            locations=[{"path": path}] if path else [],
        )


class Grep(Reporter):
    """Files by their text; the title is the grep command that does the same (§3.1)."""

    tools = ("Grep",)

    def use(self, use: UseView) -> UseFacts:
        return UseFacts(title=" ".join(["grep", *_arguments(use.input)]), kind="search")


def _arguments(asked: Json) -> list[str]:
    parts = [flag for flag in ("-i", "-n") if _on(asked.get(flag))]
    parts += [f"{flag} {asked[flag]}" for flag in ("-A", "-B", "-C") if _given(asked.get(flag))]
    if mode := _mode(asked):
        parts.append(mode)
    if _given(asked.get("head_limit")):
        parts.append(f"| head -{asked['head_limit']}")
    if glob := first_text(asked, "glob"):
        parts.append(f'--include="{glob}"')
    if kind := first_text(asked, "type"):
        parts.append(f"--type={kind}")
    if _on(asked.get("multiline")):
        parts.append("-P")
    if pattern := first_text(asked, "pattern"):
        parts.append(f'"{pattern}"')
    if path := first_text(asked, "path", "file_path"):
        parts.append(path)
    return parts


def _mode(asked: Json) -> str:
    match first_text(asked, "output_mode"):
        case "files_with_matches":
            return "-l"
        case "count":
            return "-c"
        case "":  # the CLI also takes the flags of grep itself
            return next((flag for flag in ("-l", "-c") if _on(asked.get(flag))), "")
        case _:
            return ""


def _on(value: object) -> bool:
    return value is True or value == "true"


def _given(value: object) -> bool:
    """A count, which a model may also write as a string."""
    return isinstance(value, int | str) and not isinstance(value, bool) and value != ""
